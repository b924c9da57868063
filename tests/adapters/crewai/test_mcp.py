"""Servers that bring tools: one whose tools are mocked is not started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from crewai import Crew
from crewai.mcp import MCPServerStdio
from mcp import StdioServerParameters

from callsheet import FakeModel, MockTool, ScriptError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, calls, run

SERVER = str(Path(__file__).with_name("mcp_server.py"))
LOOKUP = calls("lookup", key="a")
MOCK = MockTool("lookup", parameters={"key": {"type": "string"}}, response="MOCK")


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def lines(log):
    return log.read_text().splitlines() if log.exists() else []


def of_agent(log):
    """Give an agent that names its server."""

    def build(**options):
        return crews.agent(tools=[], mcps=[MCPServerStdio(command=sys.executable, args=[SERVER, str(log)])])

    return build


def of_application(log):
    """Give an agent whose application starts the server itself, and stops it never."""

    def build(**options):
        from crewai_tools import MCPServerAdapter

        parameters = StdioServerParameters(command=sys.executable, args=[SERVER, str(log)])
        with MCPServerAdapter(parameters) as tools:
            return crews.agent(tools=list(tools), **options)

    return build


BOTH_WAYS = pytest.mark.parametrize("way", [of_agent, of_application], ids=["mcps", "tools adapter"])


@BOTH_WAYS
def test_mocked_server_is_not_started(way, log):
    model = FakeModel([LOOKUP, "done"])
    result = run(way(log), model, MOCK, message="go")
    assert [(call.name, call.kind, call.response) for call in result.tool_calls] == [
        ("lookup", "mcp", "MOCK")
    ]
    assert [offered["name"] for offered in model.call_log[0]["tools"]] == ["lookup"]
    assert lines(log) == []


@BOTH
def test_agent_that_writes_its_calls_as_text_is_offered_the_mock(native, log):
    agent = crews.agent(native=native, tools=[], mcps=[MCPServerStdio(command="/no/such", args=[])])
    result = run(agent, FakeModel([LOOKUP, "done"]), MOCK, message="go")
    assert [(call.name, call.response) for call in result.tool_calls] == [("lookup", "MOCK")]
    assert agent.tools == []


@BOTH_WAYS
def test_server_nobody_mocked_is_not_started_either(way, log):
    with pytest.raises(ScriptError, match="offers no tools"):
        CrewAIAdapter(way(log), model=FakeModel([LOOKUP, "never"])).sync_invoke("go")
    assert lines(log) == []


@pytest.mark.parametrize("options", [{"unmocked": "real"}, {}], ids=["unmocked", "spy"])
def test_server_that_may_run_is_started_and_recorded(options, log):
    mocks = [] if options else [MockTool.spy("lookup")]
    result = run(of_agent(log), FakeModel(default_response=step), *mocks, message="go", **options)
    (call,) = result.tool_calls
    assert (call.response, call.mocked, call.kind) == ("REAL a", False, "mcp")
    assert lines(log) == ["started", "started", "lookup a"]


def test_server_that_was_started_before_the_session_is_not_asked(log):
    from crewai_tools import MCPServerAdapter

    parameters = StdioServerParameters(command=sys.executable, args=[SERVER, str(log)])
    with MCPServerAdapter(parameters) as tools:
        agent = crews.agent(tools=list(tools))
        result = run(agent, FakeModel([LOOKUP, "done"]), MOCK, message="go")
        assert result.tool_calls[0].response == "MOCK"
        with pytest.raises(UnmockedToolError, match="lookup"):
            run(agent, FakeModel([LOOKUP, "never"]), message="go")
        assert lines(log) == ["started"]
        assert tools[0].run(key="b") == "REAL b"


def step(request):
    """Call whatever the server's tool is named by CrewAI, then answer."""
    if "REAL" in str(request.messages[-1]):
        return "done"
    return calls(request.tools[0]["name"], key="a")


LATE = """
import sys
from callsheet import FakeModel, MockTool
from callsheet_crewai import CrewAIAdapter
from crewai import Agent
from mcp import StdioServerParameters

with CrewAIAdapter(lambda: None, tools=[MockTool("lookup", response="MOCK")], model=FakeModel()).session():
    assert "crewai_tools" not in sys.modules
    from crewai_tools import MCPServerAdapter
    with MCPServerAdapter(StdioServerParameters(command="/no/such/server", args=[])) as tools:
        assert tools[0].run(key="a") == "MOCK"
"""


def test_server_of_a_package_imported_inside_the_session_is_not_started():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_integration_apps_are_not_asked_for_their_tools():
    crew = Crew(agents=[who := crews.agent(tools=[], apps=["gmail"])], tasks=[crews.task(who, "Write")])
    send = MockTool("gmail_send", response="sent")
    result = run(crew, FakeModel([calls("gmail_send", to="ada"), "done"]), send)
    assert [(call.name, call.response) for call in result.tool_calls] == [("gmail_send", "sent")]
