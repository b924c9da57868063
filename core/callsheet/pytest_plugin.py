"""The pytest plugin: fixtures, markers, and what a failing test's agent did.

Loads nothing of callsheet but a journal at start-up; everything else comes with its first use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from callsheet import _journal

if TYPE_CHECKING:
    from callsheet._fake_model import FakeModel
    from callsheet._server import MockMCPServer

_COUNTS = ("runs", "tool_calls", "mocked", "real", "refused")
_MARKERS = {
    "agent_behavior": "a test of what an agent does when all goes well",
    "agent_error": "a test of what an agent does when something fails",
    "agent_multi_turn": "a test of a conversation of several turns",
    "agent_offline(allow=()): a test that may not use the network, but for the hosts allowed": "",
}
_totals = pytest.StashKey[dict[str, int]]()


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
def wrap_agent() -> Iterator[Callable[..., Any]]:
    """Give `callsheet.wrap`, whose sessions still open at the end of the test are closed."""
    from callsheet._discovery import wrap

    adapters: list[Any] = []

    def wrap_and_keep(agent: Any, **options: Any) -> Any:
        adapters.append(wrap(agent, **options))
        return adapters[-1]

    yield wrap_and_keep
    for adapter in adapters:
        adapter.close()


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for name, meaning in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}" if meaning else name)
    config.stash[_totals] = dict.fromkeys(_COUNTS, 0)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini setting that closes the network to every test."""
    parser.addini("callsheet_offline", "Close the network to every test.", type="bool", default=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Keep a journal of the sessions of each test."""
    _journal.begin()
    try:
        return (yield)
    finally:
        _journal.end()


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
        _attach_trajectories(report, journal)
    if call.when == "teardown":
        report.user_properties.extend((f"callsheet_{name}", count) for name, count in _count(journal).items())
    return report


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


def _attach_trajectories(report: pytest.TestReport, journal: _journal.Journal) -> None:
    from callsheet._tree import trajectory_tree

    results = [*journal.results, *(session.result for session in _open_sessions())]
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
