"""Canaries in every field of a result reach no file, no failure text and no report."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import callsheet
from callsheet import (
    AgentResult,
    Recorder,
    ToolCall,
    TraceEntry,
    _snapshots,
    assert_argument_flows,
    assert_budget,
    assert_calls,
    assert_confirmed,
    assert_headers,
    assert_model_used,
    assert_no_duplicate_calls,
    assert_no_loop,
    assert_no_tool_calls,
    assert_only_tools,
    assert_response_consistent,
    assert_response_contains,
    assert_response_equals,
    assert_response_matches,
    assert_snapshot,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
    assert_trajectory,
    validate_tools,
)
from callsheet._tree import trajectory_tree
from callsheet.match import Called
from callsheet.order import InOrder, Never


@dataclass
class Login:
    user: str
    password: str


ARGS = {
    "password": "canary-01",
    "login": {"api_key": "canary-02", "list": [{"token": "canary-03"}]},
    "headers": [["Authorization", "canary-04"]],
    "url": "https://u:canary-05@host.example/x?token=canary-06",
    "note": "use Bearer canary-07",
    "who": "bob",
}
ANSWER = {
    "access_token": "canary-08",
    "nested": ["Cookie: sid=canary-09"],
    "object": Login("bob", "canary-10"),
}
CALL = ToolCall(
    "login",
    ARGS,
    ANSWER,
    error="failed with api_key=canary-11",
    id="call_1",
    turn=0,
    raw_args='{"password": "canary-12"}',
    seen_by_model='{"access_token": "canary-13"}',
    metadata={"secret": "canary-14"},
)
RESULT = AgentResult(
    "Your password: canary-15 and sk-canary-16161616",
    [CALL],
    "nova",
    {"Authorization": "Bearer canary-17", "X-Access-Token": "canary-18", "X-Site-Id": "1"},
    [
        TraceEntry("user", "my password is set; token=canary-19", metadata={"cookie": "canary-20"}),
        TraceEntry("tool", tool_call=CALL, turn=0),
        TraceEntry("assistant", "Your password: canary-15", turn=0),
    ],
    {"api_key": "canary-21"},
    output={"client_secret": "canary-22"},
    error="Authorization: Bearer canary-23",
)

TWICE = AgentResult("password: canary-24", [CALL, CALL, CALL])

FAILING: list[Callable[[], Any]] = [
    lambda: assert_tool_calls(RESULT, [{"name": "login", "args": {"password": "canary-99", "who": "eve"}}]),
    lambda: assert_tool_calls(RESULT, [{"name": "logout", "args": ARGS}], strict_order=False),
    lambda: assert_tool_calls(RESULT, [{"name": "login", "args": {**ARGS, "login": {}}}]),
    lambda: assert_tool_calls(RESULT, [{"name": "login", "args": {"login": Login("x", "canary-99")}}]),
    lambda: assert_tool_call_count(RESULT, 7),
    lambda: assert_no_tool_calls(RESULT),
    lambda: assert_tool_call_order(RESULT, ["a", "b"]),
    lambda: assert_tool_args_contain(RESULT, "login", {"password": "canary-99"}),
    lambda: assert_tool_args_contain(RESULT, "login", {"login": {"api_key": "canary-99"}}),
    lambda: assert_response_contains(RESULT, "token=canary-99"),
    lambda: assert_response_matches(RESULT, "nothing like it"),
    lambda: assert_response_equals(RESULT, "Your password: canary-99"),
    lambda: assert_headers(RESULT, {"Authorization": "Bearer canary-99", "X-Access-Token": "canary-99"}),
    lambda: assert_headers(RESULT, {"X-Site-Id": "2"}, exact=True),
    lambda: assert_model_used(RESULT, "mini"),
    lambda: assert_trajectory(RESULT, [{"role": "user", "content": "token=canary-99"}]),
    lambda: assert_trajectory(RESULT, [{"role": "tool", "name": "login", "args": {}}], mode="subset"),
    lambda: assert_calls(RESULT, InOrder(Called("login", password="canary-99"), "logout")),
    lambda: assert_calls(RESULT, Never("login")),
    lambda: assert_no_duplicate_calls(TWICE),
    lambda: assert_no_loop(TWICE, repeats=2),
    lambda: assert_only_tools(RESULT, ["logout"]),
    lambda: assert_confirmed(TWICE, "login", by="login"),
    lambda: assert_argument_flows(TWICE, "login", "login", answer="access_token", argument="password"),
    lambda: assert_response_consistent(RESULT, lambda response, made: False),
    lambda: assert_budget(RESULT, tool_calls=0),
]


@pytest.mark.parametrize("failing", FAILING, ids=range(len(FAILING)))
def test_no_failure_text_shows_a_secret(failing: Callable[[], Any]) -> None:
    with pytest.raises(AssertionError) as raised:
        failing()
    assert "canary" not in str(raised.value)


def test_no_verdict_of_a_validation_shows_a_secret() -> None:
    policy = {"login": {"password": "canary-99", "login": {"api_key": "canary-99"}}}
    verdict = validate_tools(RESULT, expected=["login"], validate_args=policy)
    assert len(verdict.failures) == 2
    assert "canary" not in str(verdict.failures)
    assert "canary" not in json.dumps(verdict.to_dict())


def test_different_secrets_are_told_apart() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_headers(RESULT, {"X-Access-Token": "canary-99"})
    first, second = (part.split("]")[0] for part in str(raised.value).split("[redacted ")[1:])
    assert first != second


def test_no_snapshot_holds_or_shows_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    for value in (RESULT, RESULT.tool_calls, RESULT.to_dict(), RESULT.trajectory()):
        monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun())
        assert_snapshot(value, "a", snapshot_dir=tmp_path, include_model=True, update=True)
        assert "canary" not in (tmp_path / "a.json").read_text()
        with pytest.raises(AssertionError) as raised:
            assert_snapshot({"other": RESULT.to_dict()}, "a", snapshot_dir=tmp_path)
        assert "canary" not in str(raised.value)


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_no_recording_holds_a_secret(format: Any, tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.record(RESULT, label="token=canary-24")
    for path in recorder.export(tmp_path, format=format):
        assert "canary" not in path.read_text()
        assert "canary" not in path.name


def test_no_trajectory_tree_shows_a_secret() -> None:
    assert "canary" not in trajectory_tree(RESULT)


def test_no_report_of_pytest_holds_a_secret(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(callsheet.__file__).parents[1]))
    # The plugin is installed in some environments and only importable in others.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        f"""
        from callsheet import AgentRunner, FakeModel, MockTool, assert_tool_calls

        ARGS = {json.dumps(ARGS)}

        def test_it():
            model = FakeModel([{{"tool_calls": [{{"name": "login", "args": ARGS}}]}}, "password: canary-25"])
            tool = MockTool("login", response={{"token": "canary-26"}})
            result = AgentRunner([tool], model).sync_invoke("api_key=canary-27", access_token="canary-28")
            check(result)

        def check(result):
            assert_tool_calls(result, [])
        """
    )
    result = pytester.runpytest_subprocess(
        "-p", "callsheet.pytest_plugin", "-p", "no:cacheprovider", "--tb=line", "--junitxml=out.xml"
    )
    result.assert_outcomes(failed=1)
    assert "login" in result.stdout.str()
    assert "canary" not in result.stdout.str()
    assert "canary" not in (pytester.path / "out.xml").read_text()
