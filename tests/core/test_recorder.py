"""`Recorder` keeps results and writes them, redacted, to files that stay where they belong."""

import errno
import gc
import json
import os
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import AgentResult, ArtifactError, OptionError, Recorder, ToolCall, TraceEntry
from callsheet._recorder import _FORMATS

CALL = ToolCall("login", {"user": "bob", "password": "canary1"}, {"token": "canary2", "on": date(2026, 1, 2)})
RESULT = AgentResult(
    "Hello, your api_key=canary3",
    [CALL],
    "nova",
    {"Authorization": "Bearer canary4"},
    [TraceEntry("user", "my password: canary5"), TraceEntry("tool", tool_call=CALL)],
    {"turns": 1},
)


@pytest.fixture
def recorder() -> Recorder:
    recorder = Recorder()
    recorder.record(RESULT, label="login flow")
    recorder.record(AgentResult("bye"))
    return recorder


def test_recordings_are_kept_in_order_as_plain_data(recorder: Recorder) -> None:
    assert recorder.count == len(recorder.recordings) == 2
    entry = recorder.get(0)
    assert entry["label"] == "login flow"
    assert entry["response"] == RESULT.response
    assert entry["tool_calls"][0]["name"] == "login"
    assert [step["role"] for step in entry["trace"]] == ["user", "tool"]
    assert entry["headers"] == RESULT.headers
    assert recorder.get(-1)["response"] == "bye"
    recorder.clear()
    assert recorder.count == 0


def test_recording_gives_the_entry_and_takes_sessions() -> None:
    recorder = Recorder()
    assert recorder.record(SimpleNamespace(result=RESULT))["response"] == RESULT.response  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="dict is no AgentResult"):
        recorder.record({})  # type: ignore[arg-type]


def test_a_position_that_is_not_there_is_named(recorder: Recorder) -> None:
    with pytest.raises(IndexError, match="No recording 7; there are 2"):
        recorder.get(7)


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_each_recording_becomes_a_file_without_secrets(
    recorder: Recorder, tmp_path: Path, format: Any
) -> None:
    paths = recorder.export(tmp_path / "deep" / "recordings", format=format)
    assert [path.name for path in paths] == [f"000-login-flow.{format}", f"001-recording.{format}"]
    text = paths[0].read_text()
    assert "canary" not in text
    entry = json.loads(text) if format == "json" else yaml.safe_load(text)
    assert entry["label"] == "login flow"
    assert entry["tool_calls"][0]["args"] == {"user": "bob", "password": "[redacted]"}
    assert entry["tool_calls"][0]["response"]["on"] == {"$date": "2026-01-02"}
    assert recorder.get(0)["headers"] == {"Authorization": "Bearer canary4"}


def test_exporting_again_writes_the_same_files(recorder: Recorder, tmp_path: Path) -> None:
    assert recorder.export(str(tmp_path)) == recorder.export(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_two_recorders_never_share_a_file(recorder: Recorder, tmp_path: Path) -> None:
    other = Recorder()
    other.record(AgentResult("other"), label="login flow")
    recorder.export(tmp_path)
    assert [path.name for path in other.export(tmp_path)] == ["000-login-flow-2.json"]
    assert json.loads((tmp_path / "000-login-flow.json").read_text())["response"].startswith("Hello")


def test_a_recorder_that_is_gone_frees_its_names(tmp_path: Path) -> None:
    for _ in range(2):
        recorder = Recorder()
        recorder.record(AgentResult("x"), label="again")
        recorder.export(tmp_path)
        del recorder
        gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["000-again.json"]


def test_workers_of_xdist_write_beside_each_other(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw3")
    assert recorder.export(tmp_path)[0].name == "gw3-000-login-flow.json"


@pytest.mark.parametrize(
    "label",
    ["../../escape", "/etc/passwd", "a\0b", "C:\\x", "con", "..", "ü" * 500, "x" * 10_000, "", "a\nb"],
)
def test_no_label_leads_out_of_the_directory(label: str, tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.record(AgentResult("x"), label=label)
    (path,) = recorder.export(tmp_path / "recordings")
    assert path.parent == tmp_path / "recordings"
    assert json.loads(path.read_text())["label"] == label


def test_a_value_without_a_written_form_fails_before_anything_is_written(
    recorder: Recorder, tmp_path: Path
) -> None:
    recorder.record(AgentResult("x", [ToolCall("a", {}, {"handle": object()})]))
    with pytest.raises(ArtifactError, match=r"tool_calls\[0\]\.response\.handle"):
        recorder.export(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="format='xml' is not known; give one of 'json', 'yaml'"):
        recorder.export(tmp_path, format="xml")  # type: ignore[arg-type]


def test_a_full_disk_is_named(recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactError, match="No space left"):
        recorder.export(tmp_path)


texts = st.text() | st.sampled_from(
    ["yes", "1e3", "~", "null", "=", "1:30", "- a", "a: b", "#", "2026-01-02", "\x85"]
)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)


@given(trees)
@settings(max_examples=150)
@pytest.mark.parametrize("format", ["json", "yaml"])
def test_both_formats_give_back_what_was_written(format: str, tree: Any) -> None:
    text = _FORMATS[format]({"tree": tree}).encode("utf-8", "backslashreplace").decode()
    assert (json.loads(text) if format == "json" else yaml.safe_load(text)) == {"tree": tree}
