"""`assert_snapshot` takes, compares and updates snapshots, and refuses what would not be a test."""

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from dirty_equals import IsInt

import callsheet
from callsheet import AgentResult, ArtifactError, OptionError, ToolCall, _snapshots, assert_snapshot

RESULT = AgentResult(
    "It is 7 degrees.",
    [ToolCall("weather", {"city": "Oslo"}, {"temp": 7}, id="call_a1", duration=0.1)],
    "nova",
    headers={"Authorization": "Bearer canary-header"},
)


@pytest.fixture(autouse=True)
def _own_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun())
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("CALLSHEET_UPDATE", raising=False)
    monkeypatch.chdir(tmp_path)


def stored(name: str) -> Any:
    return json.loads(Path(".callsheet_snapshots", f"{name}.json").read_text(encoding="utf-8"))


def test_the_first_run_takes_the_snapshot_and_later_ones_compare() -> None:
    assert_snapshot(RESULT, "summary")
    assert stored("summary") == {
        "response": "It is 7 degrees.",
        "tool_calls": [{"name": "weather", "args": {"city": "Oslo"}, "response": {"temp": 7}}],
    }
    assert_snapshot(RESULT, "summary")
    with pytest.raises(AssertionError) as raised:
        assert_snapshot(AgentResult("It is 8 degrees.", RESULT.tool_calls), "summary")
    text = str(raised.value)
    assert text.startswith("Snapshot 'summary' differs")
    assert '  response\n    - "It is 7 degrees."\n    + "It is 8 degrees."' in text
    assert "CALLSHEET_UPDATE=1 or pytest --callsheet-update" in text


def test_what_is_kept_can_be_chosen() -> None:
    assert_snapshot(RESULT, "short", include_tool_calls=False)
    assert stored("short") == {"response": "It is 7 degrees."}
    assert_snapshot(RESULT, "full", include_model=True)
    assert stored("full")["model_used"] == "nova"


def test_a_failed_run_keeps_its_error() -> None:
    assert_snapshot(AgentResult("", error="max turns"), "failed")
    assert stored("failed")["error"] == "max turns"


@pytest.mark.parametrize(
    "value", [SimpleNamespace(result=RESULT), RESULT.tool_calls, tuple(RESULT.tool_calls)]
)
def test_sessions_and_tool_calls_are_taken_too(value: Any) -> None:
    assert_snapshot(value, "calls")
    assert stored("calls")["tool_calls"] == [
        {"name": "weather", "args": {"city": "Oslo"}, "response": {"temp": 7}}
    ]


def test_any_value_can_be_a_snapshot() -> None:
    value = {"when": datetime(2020, 1, 2, tzinfo=UTC), "pair": (1, 2), "none": []}
    assert_snapshot(value, "value")
    assert_snapshot(value, "value")
    with pytest.raises(AssertionError, match=r"pair"):
        assert_snapshot({**value, "pair": [1, 2]}, "value")


def test_the_directory_can_be_given_and_names_make_subdirectories(tmp_path: Path) -> None:
    assert_snapshot(1, "flows/one", snapshot_dir="golden")
    assert (tmp_path / "golden" / "flows" / "one.json").read_text() == "1\n"


def test_the_run_may_set_the_place_of_all_directories(tmp_path: Path) -> None:
    _snapshots.run.directory = tmp_path / "root"
    assert_snapshot(1, "one")
    assert (tmp_path / "root" / ".callsheet_snapshots" / "one.json").exists()


@pytest.mark.parametrize("way", ["argument", "environment", "run"])
def test_updating_writes_the_new_run(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_snapshot("old", "a")
    if way == "environment":
        monkeypatch.setenv("CALLSHEET_UPDATE", "1")
    _snapshots.run.update = way == "run"
    assert_snapshot("new", "a", update=True if way == "argument" else None)
    assert stored("a") == "new"
    assert [path.name for path in _snapshots.run.updated] == ["a.json"]


def test_updating_leaves_a_snapshot_alone_that_still_holds() -> None:
    Path(".callsheet_snapshots").mkdir()
    file = Path(".callsheet_snapshots/a.json")
    file.write_text('{"b":   1}')
    assert_snapshot({"b": 1}, "a", update=True)
    assert file.read_text() == '{"b":   1}'
    assert not _snapshots.run.updated


def test_updating_repairs_a_broken_file_and_makes_a_missing_one() -> None:
    Path(".callsheet_snapshots").mkdir()
    Path(".callsheet_snapshots/a.json").write_text("<<<<<<<")
    assert_snapshot(1, "a", update=True)
    assert_snapshot(2, "b", update=True)
    assert (stored("a"), stored("b")) == (1, 2)
    assert [path.name for path in _snapshots.run.created] == ["b.json"]


def test_one_name_for_two_contents_is_noticed_when_updating() -> None:
    assert_snapshot(1, "a")
    assert_snapshot(1, "a", update=True)
    with pytest.raises(AssertionError, match="asserted on twice"):
        assert_snapshot(2, "a", update=True)
    assert stored("a") == 1


@pytest.mark.parametrize("off", ["", "0", "false", "No"])
def test_a_variable_set_to_no_is_not_set(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLSHEET_UPDATE", off)
    monkeypatch.setenv("CI", off)
    assert_snapshot(1, "a")
    with pytest.raises(AssertionError):
        assert_snapshot(2, "a")


def test_a_missing_snapshot_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError, match=r"'a' does not exist .*CI is set.*commit the file"):
        assert_snapshot(1, "a")
    assert not Path(".callsheet_snapshots").exists()
    assert_snapshot(1, "a", update=True)
    assert_snapshot(1, "a")


def test_a_missing_snapshot_fails_when_updating_is_ruled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLSHEET_UPDATE", "1")
    with pytest.raises(AssertionError, match="update=False"):
        assert_snapshot(1, "a", update=False)


def test_secrets_reach_neither_the_file_nor_the_failure() -> None:
    def result(answer: str) -> AgentResult:
        call = ToolCall(
            "login",
            {"password": "canary1", "url": "https://u:canary2@host.example"},
            {"headers": [("Authorization", "canary3")], b"key": b"sk-canary-4444444"},
            error="Bearer canary-5555",
        )
        return AgentResult(f"{answer} api_key=canary6", [call])

    assert_snapshot(result("a"), "login", include_model=True)
    text = Path(".callsheet_snapshots/login.json").read_text()
    assert "canary" not in text
    assert text.count("[redacted]") >= 5
    with pytest.raises(AssertionError) as raised:
        assert_snapshot(result("b"), "login", include_model=True)
    assert "canary" not in str(raised.value)


def volatile_result() -> AgentResult:
    id_ = f"call_{uuid4().hex}"
    now = datetime.now(UTC).isoformat()
    response = {"id": str(uuid4()), "at": now, "took": 0.01234567, "self": repr(object())}
    return AgentResult(f"made {id_}", [ToolCall("make", {}, response, id=id_)])


def test_equal_runs_are_equal_though_their_ids_and_times_differ() -> None:
    assert_snapshot(volatile_result(), "a")
    assert_snapshot(volatile_result(), "a")
    assert stored("a")["response"] == "made [id 1]"
    assert stored("a")["tool_calls"][0]["response"] == {
        "id": "[id 2]",
        "at": "[now]",
        "took": "[duration]",
        "self": "<object object at [address]>",
    }


def test_volatile_values_can_be_kept() -> None:
    result = volatile_result()
    assert_snapshot(result, "a", normalize=False)
    assert stored("a")["response"] == result.response
    assert_snapshot(result, "a")
    with pytest.raises(AssertionError):
        assert_snapshot(volatile_result(), "a")


def test_matchers_stand_for_the_parts_that_vary() -> None:
    def result(seat: Any) -> AgentResult:
        return AgentResult("ok", [ToolCall("book", {"seat": seat}), ToolCall("book", {"seat": 2})])

    matchers = {"tool_calls[*].args.seat": IsInt(gt=0)}
    assert_snapshot(result(1), "a", matchers=matchers)
    assert_snapshot(result(17), "a", matchers=matchers)
    assert stored("a")["tool_calls"][0]["args"] == {"seat": {"$matches": "IsInt"}}
    with pytest.raises(AssertionError, match=r"tool_calls\[0\]\.args\.seat: -1 is not IsInt\(gt=0\)"):
        assert_snapshot(result(-1), "a", matchers=matchers)
    with pytest.raises(AssertionError, match="matchers"):
        assert_snapshot(result(-1), "new", matchers=matchers)
    assert not Path(".callsheet_snapshots/new.json").exists()
    with pytest.raises(AssertionError, match="differs"):
        assert_snapshot(result(1), "a")


def test_a_matcher_can_stand_for_a_value_without_a_written_form() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

        def __repr__(self) -> str:
            return "Anything()"

    assert_snapshot({"a b": [object()], "c": 1}, "a", matchers={"['a b'][0]": Anything()})
    assert_snapshot({"a b": [object()], "c": 1}, "a", matchers={"['a b'].0": Anything()})


def test_a_matcher_that_names_nothing_is_a_mistake() -> None:
    with pytest.raises(OptionError, match=r"'tool_calls\[0\]\.args\.seta'.*names nothing in snapshot 'a'"):
        assert_snapshot(RESULT, "a", matchers={"tool_calls[0].args.seta": 1})
    assert not Path(".callsheet_snapshots").exists()


def test_a_value_without_a_written_form_fails_with_its_path() -> None:
    result = AgentResult("x", [ToolCall("a", {}, {"handle": object()})])
    with pytest.raises(ArtifactError, match=r"tool_calls\[0\]\.response\.handle is a object"):
        assert_snapshot(result, "a")
    assert not Path(".callsheet_snapshots").exists()


@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a\0", "a\nb", ""])
def test_a_name_can_not_leave_the_directory(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        assert_snapshot(1, name)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_file_is_an_error_of_its_own() -> None:
    Path(".callsheet_snapshots").mkdir()
    for content in ("<<<<<<< HEAD\n1\n=======\n", "[" * 100_000, ""):
        Path(".callsheet_snapshots/a.json").write_text(content)
        with pytest.raises(ArtifactError, match="not a snapshot any more"):
            assert_snapshot(1, "a")


def test_a_file_that_can_not_be_read_is_an_error_of_its_own() -> None:
    Path(".callsheet_snapshots/a.json").mkdir(parents=True)
    with pytest.raises(ArtifactError, match="Can not read"):
        assert_snapshot(1, "a")


def test_a_full_disk_keeps_the_old_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_snapshot("old", "a")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactError, match="No space left"):
        assert_snapshot("new", "a", update=True)
    assert stored("a") == "old"


def test_ten_megabytes_are_written_compared_and_shown_in_a_few_lines() -> None:
    big = "word " * 2_000_000
    assert_snapshot(AgentResult(big), "big")
    assert_snapshot(AgentResult(big), "big")
    with pytest.raises(AssertionError) as raised:
        assert_snapshot(AgentResult(big + "!"), "big")
    assert len(str(raised.value)) < 1500


def test_odd_texts_survive_the_file() -> None:
    value = ["\ud800", "\x00\x1b[31m", "\u2028", "ß", '"\\']
    assert_snapshot(value, "odd")
    assert_snapshot(value, "odd")
    assert stored("odd") == value


def test_snapshots_nobody_asked_for_are_found() -> None:
    assert_snapshot(1, "used")
    assert_snapshot(1, "deep/used")
    Path(".callsheet_snapshots/stale.json").write_text("1")
    Path(".callsheet_snapshots/deep/stale.json").write_text("1")
    Path(".callsheet_snapshots/notes.txt").write_text("")
    names = [path.relative_to(Path.cwd() / ".callsheet_snapshots") for path in _snapshots.run.unused()]
    assert names == [Path("deep/stale.json"), Path("stale.json")]


def test_a_failing_assertion_counts_as_use() -> None:
    assert_snapshot(1, "a")
    with pytest.raises(AssertionError):
        assert_snapshot(2, "a")
    assert _snapshots.run.unused() == []


def test_many_processes_may_take_the_same_snapshot_at_once(tmp_path: Path) -> None:
    code = "from callsheet import assert_snapshot; assert_snapshot({'text': 'x' * 100_000}, 'shared')"
    core = str(Path(callsheet.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": core}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment) for _ in range(4)
    ]
    assert [process.wait() for process in processes] == [0] * 4
    assert [path.name for path in (tmp_path / ".callsheet_snapshots").iterdir()] == ["shared.json"]


def test_losing_the_race_for_a_new_snapshot_compares_with_the_winner(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_process_wins(path: Path, text: str) -> bool:
        path.parent.mkdir()
        path.write_text('"theirs"')
        return False

    monkeypatch.setattr(_snapshots, "write_new", other_process_wins)
    with pytest.raises(AssertionError, match="theirs"):
        assert_snapshot("ours", "a")
    assert not _snapshots.run.created
