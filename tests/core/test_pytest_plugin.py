"""The plugin, inside a pytest of its own."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import callsheet
import tests.core.toy_adapter  # noqa: F401 - see below
from callsheet import _snapshots, pytest_plugin

ROOT = Path(__file__).parents[2]

# A pytest inside this process forgets the modules it was the first to import. Of callsheet there would
# then be two: so everything it may import is imported here.
for _module in pkgutil.walk_packages(callsheet.__path__, "callsheet."):
    if "_child_site" not in _module.name:
        importlib.import_module(_module.name)

TOY = """
import pytest
from callsheet import FakeModel, MockTool, Session
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyTool

CALL = {"tool_calls": [{"name": "search", "args": {"q": "rome"}}]}

def desk(**options):
    search = ToyTool("search", lambda q: "real", {"type": "object"})
    return ToyAdapter(ToyAgent("Desk", tools=[search]), **{"model": FakeModel([CALL, "done"]), **options})
"""


@pytest.fixture
def inner(pytester, monkeypatch):
    """Give a function that runs a test module under the plugin and nothing else of this suite's.

    In this process, where coverage sees it, unless it needs processes of its own.
    """
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'core'}:{ROOT}")
    monkeypatch.syspath_prepend(ROOT)
    # The plugin is installed in some environments and only importable in others.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(code, *args, plugins=("callsheet.pytest_plugin",), ini="[pytest]\n", own_process=False):
        monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun())
        pytester.makeini(ini)
        pytester.makepyfile(TOY + code)
        loaded = [part for plugin in plugins for part in ("-p", plugin)]
        if own_process:
            return pytester.runpytest_subprocess(*loaded, *args)
        return pytester.runpytest_inprocess(*loaded, *args)

    return run


def test_a_failing_test_shows_what_its_agents_did(inner):
    result = inner(
        """
def test_it():
    result = desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")
    assert result.response == "nothing"
"""
    )
    result.stdout.fnmatch_lines(
        [
            "*callsheet trajectory*",
            "user: 'find it'",
            "Desk",
            "  search(q='rome') -> 'row' [[]mocked[]]",
            "  assistant: 'done'",
        ]
    )
    result.assert_outcomes(failed=1)


def test_a_session_of_a_wider_fixture_is_shown_where_it_took_part(inner):
    result = inner(
        """
import asyncio
from tests.core.toy_framework import ToyRunner

@pytest.fixture(scope="module")
def adapter():
    return desk(tools=[MockTool("search", response="row")])

@pytest.fixture(scope="module")
def session(adapter):
    with adapter.session() as session:
        yield session

def test_agent(adapter, session):
    asyncio.run(ToyRunner().run(adapter.agent, "find it"))
    assert 0

def test_other(session):
    assert 0
"""
    )
    result.assert_outcomes(failed=2)
    assert result.stdout.str().count("callsheet trajectory") == 1
    assert result.stdout.str().count("user: 'find it'") == 1


def test_a_failing_unittest_shows_its_trajectory_once(inner):
    result = inner(
        """
from callsheet.unittest import AgentTestCase

class Tests(AgentTestCase):
    def test_it(self):
        result = desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")
        self.assertResponseEquals(result, "nothing")
"""
    )
    result.assert_outcomes(failed=1)
    assert result.stdout.str().count("callsheet trajectory") == 1


def test_a_passing_test_shows_nothing_but_the_count(inner):
    result = inner(
        """
def test_mocked():
    desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")

def test_real():
    desk(unmocked="real").sync_invoke("find it")

def test_refused():
    with pytest.raises(BaseException, match="No mock"):
        desk().sync_invoke("find it")

def test_without_agents():
    pass
"""
    )
    result.assert_outcomes(passed=4)
    assert "trajectory" not in result.stdout.str()
    result.stdout.fnmatch_lines(["callsheet: 3 runs, 3 tool calls (1 mocked, 1 real), 1 refused"])


def test_a_suite_without_agents_has_no_line_of_ours(inner):
    result = inner("def test_it(): pass")
    assert "callsheet:" not in result.stdout.str()


def test_counts_are_properties_of_the_junit_report(inner, pytester):
    inner(
        """
def test_it():
    desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")
""",
        "--junit-xml=report.xml",
    )
    report = (pytester.path / "report.xml").read_text(encoding="utf-8")
    for name, count in {"runs": 1, "tool_calls": 1, "mocked": 1, "real": 0, "refused": 0}.items():
        assert f'<property name="callsheet_{name}" value="{count}"' in report


def test_counts_of_xdist_workers_are_added_up(inner):
    result = inner(
        """
@pytest.mark.parametrize("number", range(6))
def test_it(number):
    desk(tools=[MockTool("search", response=number)]).sync_invoke("find it")
""",
        "-n2",
        plugins=("callsheet.pytest_plugin", "xdist"),
    )
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["callsheet: 6 runs, 6 tool calls (6 mocked, 0 real), 0 refused"])


def test_a_session_left_open_is_shown_and_its_broken_promise_fails_the_test(inner):
    result = inner(
        """
kept = []

def test_it():
    session = desk().session()
    kept.append(session)
    session.open()
    from callsheet.adapters import ToolRequest
    try:
        session.answer_tool(ToolRequest(name="search", args={}), lambda: "real")
    except BaseException:
        pass
""",
        own_process=True,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*UnmockedToolError: No mock for tool 'search'*", "*search() !! denied*"])


def test_a_stream_left_to_the_collector_fails_the_test(inner):
    result = inner(
        """
import asyncio

def test_it():
    async def abandoned():
        adapter = desk(model=FakeModel([CALL, "done"]))
        session = adapter.session()
        async def events():
            session.open()
            try:
                yield 1
            finally:
                session.close(GeneratorExit())
        stream = events()
        await anext(stream)
        from callsheet import UnmockedToolError
        session.poison(UnmockedToolError("seen by nobody"))
        try:
            await stream.aclose()
        except BaseException:
            pass

    asyncio.run(abandoned())
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*UnmockedToolError: seen by nobody*"])


def test_the_fixtures_are_ready_to_use(inner):
    result = inner(
        """
from callsheet import MockMCPServer

def test_it(mock_mcp_server, fake_model):
    assert isinstance(mock_mcp_server, MockMCPServer)
    assert len(mock_mcp_server) == 0
    assert fake_model.generate([]) == {"content": ""}
""",
        "--fixtures-per-test",
    )
    result.stdout.fnmatch_lines(["mock_mcp_server*", "*empty*callsheet.MockMCPServer*"])
    assert inner("def test_it(mock_mcp_server, fake_model): pass").ret == 0


def test_wrap_agent_closes_what_the_test_left_open(inner):
    result = inner(
        """
from importlib.metadata import EntryPoint, EntryPoints
from callsheet._scope import open_sessions

POINT = EntryPoint("toy", "tests.core.toy_adapter:ToyAdapter", "callsheet.adapters")

@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints([POINT]))

def test_open(wrap_agent):
    adapter = wrap_agent(ToyAgent("Desk"), model=FakeModel())
    adapter.session().open()
    kept.append(adapter)

def test_closed():
    assert not open_sessions

kept = []
"""
    )
    result.assert_outcomes(passed=2)


def test_the_markers_are_registered_and_offline_is_enforced(inner):
    result = inner(
        """
import socket

def connects():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as plug:
        plug.connect(server.getsockname())

@pytest.mark.agent_offline
def test_closed():
    connects()

@pytest.mark.agent_offline(allow=["127.0.0.1"])
def test_allowed():
    connects()

@pytest.mark.agent_behavior
@pytest.mark.agent_error
@pytest.mark.agent_multi_turn
def test_open():
    connects()
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*NetworkBlockedError*"])


def test_the_network_can_be_closed_to_every_test(inner):
    result = inner(
        """
import socket

def test_it():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as plug:
        plug.connect(server.getsockname())
""",
        ini="[pytest]\ncallsheet_offline = true\n",
    )
    result.assert_outcomes(failed=1)


def test_markers_are_listed(inner):
    inner("", "--markers").stdout.fnmatch_lines(["@pytest.mark.agent_offline*hosts allowed*"])


SNAPSHOT = """
from callsheet import AgentResult, assert_snapshot

def test_it():
    assert_snapshot(AgentResult(response=TEXT), "answer")
"""


def test_snapshots_are_taken_compared_and_written_anew(inner, pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    inner(SNAPSHOT.replace("TEXT", "'one'")).stdout.fnmatch_lines(
        ["callsheet: 1 snapshots created, 0 updated"]
    )
    inner(SNAPSHOT.replace("TEXT", "'one'")).assert_outcomes(passed=1)
    inner(SNAPSHOT.replace("TEXT", "'two'")).assert_outcomes(failed=1)
    updated = inner(SNAPSHOT.replace("TEXT", "'two'"), "--callsheet-update")
    updated.stdout.fnmatch_lines(["callsheet: 0 snapshots created, 1 updated"])
    inner(SNAPSHOT.replace("TEXT", "'two'")).assert_outcomes(passed=1)


@pytest.mark.parametrize("args", [(), ("-n1",)], ids=["alone", "xdist"])
def test_snapshots_nobody_asserts_on_are_told(inner, pytester, monkeypatch, args):
    monkeypatch.delenv("CI", raising=False)
    plugins = ("callsheet.pytest_plugin", "xdist")
    code = SNAPSHOT.replace("TEXT", "'one'")
    inner(code, plugins=plugins)
    (pytester.path / ".callsheet_snapshots" / "old.json").write_text("{}", encoding="utf-8")
    told = ["callsheet: 1 snapshots nobody asserted on*", "  .callsheet_snapshots?old.json"]
    inner(code, *args, plugins=plugins).stdout.fnmatch_lines(told)
    for part in (["-k", "it"], ["-m", "not slow"], ["test_snapshots_nobody_asserts_on_are_told.py"]):
        assert "nobody asserted on" not in inner(code, *args, *part, plugins=plugins).stdout.str()


def test_a_worker_tells_its_controller_about_snapshots(monkeypatch, tmp_path):
    monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun(created={tmp_path / "a.json"}))
    worker = SimpleNamespace(config=SimpleNamespace(workeroutput={}))
    pytest_plugin.pytest_sessionfinish(worker)
    monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun())
    pytest_plugin.pytest_testnodedown(worker.config)
    pytest_plugin.pytest_testnodedown(SimpleNamespace())
    assert _snapshots.run.created == {tmp_path / "a.json"}


def test_a_run_without_snapshots_has_nothing_to_tell(monkeypatch):
    monkeypatch.delitem(sys.modules, "callsheet._snapshots")
    assert pytest_plugin._snapshot_lines(SimpleNamespace()) == []


def test_comparisons_of_tool_calls_are_explained(inner):
    result = inner(
        """
def test_it():
    result = desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")
    assert result.tool_calls == [{"name": "book"}]

def test_not_ours():
    assert [1] == [2]

def test_no_equality():
    assert 1 > 2
"""
    )
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*Tool calls differ*"])


def test_help_lists_the_option(inner):
    inner("", "--help").stdout.fnmatch_lines(["*--callsheet-update*Write every snapshot anew*"])


def test_agent_runner_is_the_loop_for_agents_without_a_framework(inner):
    result = inner(
        """
def test_it(agent_runner, fake_model):
    assert agent_runner(model=fake_model).sync_invoke("hi").response == ""
"""
    )
    result.assert_outcomes(passed=1)


def test_without_the_plugin_there_is_no_trace(inner):
    result = inner("def test_it(): pass", plugins=())
    assert "callsheet" not in result.stdout.str().replace("test_without_the_plugin", "")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("plugin", ["pytest_asyncio.plugin", "anyio.pytest_plugin"])
def test_async_tests_work(inner, plugin):
    mark = "pytest.mark.asyncio" if "asyncio" in plugin else "pytest.mark.anyio"
    # Older versions of pytest-asyncio warn where it is not set.
    scope = "asyncio_default_fixture_loop_scope = function\n" if "asyncio" in plugin else ""
    result = inner(
        f"""
@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
def session():
    # Set by a sync fixture, so in a context the async test may not have.
    with desk(tools=[MockTool("search", response="row")]).session() as session:
        yield session

@{mark}
async def test_it():
    result = await desk(tools=[MockTool("search", response="row")]).invoke("find it")
    assert result.response == "done"

@{mark}
async def test_a_session_of_a_fixture(session):
    from tests.core.toy_framework import ToyRunner
    search = ToyTool("search", lambda q: "real", {{"type": "object"}})
    await ToyRunner().run(ToyAgent("Desk", tools=[search]), "find it")
    assert session.tool_calls[0].response == "row"
""",
        plugins=("callsheet.pytest_plugin", plugin),
        ini=f"[pytest]\n{scope}",
    )
    result.assert_outcomes(passed=2)


def test_start_up_loads_the_plugin_and_a_journal_only(inner, pytester):
    result = inner(
        """
import sys

def test_it():
    pass
""",
        "-q",
    )
    assert result.ret == 0
    code = (
        "import sys, pytest; before = set(sys.modules); import callsheet.pytest_plugin;"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('callsheet')))"
    )
    done = pytester.run(sys.executable, "-c", code)
    done.stdout.fnmatch_lines(["['callsheet', 'callsheet._journal', 'callsheet.pytest_plugin']"])
