"""The pytest plugin: fixtures, markers, and what a failing test's agent did.

Loads nothing of callsheet but a journal at start-up; everything else comes with its first use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from callsheet import _journal

if TYPE_CHECKING:
    from callsheet._fake_model import FakeModel
    from callsheet._runner import AgentRunner
    from callsheet._server import MockMCPServer

_COUNTS = ("runs", "tool_calls", "mocked", "real", "refused")
_MARKERS = {
    "agent_behavior": "a test of what an agent does when all goes well",
    "agent_error": "a test of what an agent does when something fails",
    "agent_multi_turn": "a test of a conversation of several turns",
    "agent_offline(allow=()): a test that may not use the network, but for the hosts allowed": "",
}
_totals = pytest.StashKey[dict[str, int]]()
_steps_before = pytest.StashKey[dict[int, int]]()


@pytest.fixture
def mock_mcp_server() -> MockMCPServer:
    """Give an empty `callsheet.MockMCPServer`."""
    from callsheet._server import MockMCPServer

    return MockMCPServer()


@pytest.fixture
def fake_model() -> FakeModel:
    """Give a `callsheet.FakeModel` without a script, which answers an empty text."""
    from callsheet._fake_model import FakeModel

    return FakeModel()


@pytest.fixture
def agent_runner() -> Callable[..., AgentRunner]:
    """Give `callsheet.AgentRunner`, the loop for agents without a framework, to be called with options."""
    from callsheet._runner import AgentRunner

    return AgentRunner


@pytest.fixture
def wrap_agent() -> Iterator[Callable[..., Any]]:
    """Give `callsheet.wrap`, whose sessions still open at the end of the test are closed."""
    from callsheet._discovery import wrap

    adapters: list[Any] = []

    def wrap_and_keep(agent: Any, **options: Any) -> Any:
        adapters.append(wrap(agent, **options))
        return adapters[-1]

    yield wrap_and_keep
    with ExitStack() as closing:
        for adapter in adapters:
            closing.callback(adapter.close)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for name, meaning in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}" if meaning else name)
    config.stash[_totals] = dict.fromkeys(_COUNTS, 0)
    if config.getoption("callsheet_update"):
        from callsheet import _snapshots

        _snapshots.run.update = True


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots anew, and the setting that closes the network to every test."""
    group = parser.getgroup("callsheet", "tests of tool-using agents")
    group.addoption(
        "--callsheet-update",
        action="store_true",
        help="Write every snapshot anew instead of comparing with it.",
    )
    parser.addini("callsheet_offline", "Close the network to every test.", type="bool", default=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Keep a journal of the sessions of each test, and note how far those of wider fixtures are."""
    item.stash[_steps_before] = {id(session): len(session.trace) for session in _open_sessions()}
    with _journal.kept():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Close the network where that was asked for, and fail a test that a violation would have passed by."""
    allow = _offline_rules(item)
    if allow is None:
        given = yield
    else:
        from callsheet._offline import offline

        with offline(allow):
            given = yield
    _raise_unheard()
    return given


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach to a failing test what its agents did, and to every test what it counted."""
    report = yield
    journal = _journal.current
    if journal is None or not (journal.results or _open_sessions()):
        return report
    if report.failed:
        _attach_trajectories(report, journal, item.stash[_steps_before])
    if call.when == "teardown":
        report.user_properties.extend((f"callsheet_{name}", count) for name, count in _count(journal).items())
    return report


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `assert result.tool_calls == [...]` as callsheet's own assertions would."""
    if op != "==" or "callsheet._values" not in sys.modules:
        return None
    from callsheet._explain import explain_comparison

    return explain_comparison(left, right)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say in one line what all tests together ran, mocked and refused."""
    totals = config.stash[_totals]
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in _own_properties(report):
                totals[name] += value
    if totals["runs"] or totals["refused"]:
        terminalreporter.write_line(
            f"callsheet: {totals['runs']} runs, {totals['tool_calls']} tool calls "
            f"({totals['mocked']} mocked, {totals['real']} real), {totals['refused']} refused"
        )

    for line in _snapshot_lines(config):
        terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the controller of an xdist worker what the worker did with snapshots."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and "callsheet._snapshots" in sys.modules:
        from callsheet._snapshot_report import packed

        output["callsheet_snapshots"] = packed()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what an xdist worker did with snapshots as this process's own."""
    given = getattr(node, "workeroutput", {}).get("callsheet_snapshots")
    if given is not None:
        from callsheet._snapshot_report import unpack

        unpack(given)


def _snapshot_lines(config: pytest.Config) -> list[str]:
    if "callsheet._snapshots" not in sys.modules:
        return []
    from callsheet._snapshot_report import lines

    # Which snapshots nobody asserts on can only be told when every test had its chance.
    whole = config.args_source is not config.ArgsSource.ARGS and not config.getoption("keyword")
    return lines(whole_suite=whole and not config.getoption("markexpr"), root=config.rootpath)


def _own_properties(report: Any) -> Iterator[tuple[str, int]]:
    if getattr(report, "when", None) != "teardown":
        return
    for name, value in report.user_properties:
        if name.startswith("callsheet_"):
            yield name.removeprefix("callsheet_"), value


def _offline_rules(item: pytest.Item) -> tuple[str, ...] | None:
    marker = item.get_closest_marker("agent_offline")
    if marker is not None:
        return tuple(marker.kwargs.get("allow", ()))
    return () if item.config.getini("callsheet_offline") else None


def _open_sessions() -> list[Any]:
    scope = sys.modules.get("callsheet._scope")
    return list(scope.open_sessions.values()) if scope is not None else []


def _raise_unheard() -> None:
    for session in _open_sessions():
        session.raise_violations()
    if _journal.current is not None and _journal.current.unheard:
        raise _journal.current.unheard[0]


def _attach_trajectories(
    report: pytest.TestReport, journal: _journal.Journal, steps_before: dict[int, int]
) -> None:
    from callsheet._tree import trajectory_tree

    took_part = [s for s in _open_sessions() if len(s.trace) != steps_before.get(id(s))]
    results = [*journal.results, *(session.result for session in took_part)]
    if results:
        trees = [trajectory_tree(result) for result in results]
        report.sections.append(("callsheet trajectory", "\n\n".join(trees)))


def _count(journal: _journal.Journal) -> dict[str, int]:
    calls = [call for result in journal.results for call in result.tool_calls]
    ran = [call for call in calls if call.outcome in ("success", "failed")]
    mocked = sum(call.mocked for call in ran)
    # A handoff or a sub-agent is no tool that could have done harm; its own tools are counted.
    real = sum(not call.mocked and call.kind not in ("agent", "handoff") for call in ran)
    counts = (len(journal.results), len(calls), mocked, real, journal.refused)
    return dict(zip(_COUNTS, counts, strict=True))
