"""MCP servers: connected ones are listed as they are, others have the tools the test declares."""

from __future__ import annotations

import asyncio
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner
from agents.mcp import MCPServerStdio, MCPUtil, create_static_tool_filter
from mcp.types import Tool

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, MemoryServer, process_server

SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "files", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer = {"tools": [{"name": "read", "inputSchema": {"type": "object", "properties":
                  {"path": {"type": "string"}}, "required": ["path"]}}]}
    elif asked["method"] == "tools/call":
        open(sys.argv[1], "w").close()
        answer = {"content": [{"type": "text", "text": "REAL"}]}
    else:
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    folder = tmp_path / "left"
    folder.mkdir()
    return Canary(folder)


def asks(name: str, **args: Any) -> FakeModel:
    return FakeModel([{"tool_calls": [{"name": name, "args": args}]}, "done"])


def test_application_that_connects_in_the_session_starts_no_process(canary: Canary) -> None:
    server = process_server(canary)
    agent = Agent(name="Desk", mcp_servers=[server])

    async def application() -> None:
        async with server:
            await Runner.run(agent, "go")

    with OpenAIAgentsAdapter(
        agent, tools=[MockTool("read", response="x")], model=asks("read")
    ).session() as session:
        asyncio.run(application())
    assert (session.tool_calls[0].name, session.tool_calls[0].kind) == ("read", "mcp")
    assert not canary.hits


def test_server_of_which_nothing_is_mocked_offers_nothing_and_is_not_started(canary: Canary) -> None:
    agent = Agent(name="Desk", mcp_servers=[process_server(canary)])
    model = FakeModel(["done"])
    OpenAIAgentsAdapter(agent, model=model).sync_invoke("go")
    assert model.call_log[0]["tools"] == []
    assert not canary.hits


def test_declared_tool_is_offered_with_the_mocks_schema_and_description(canary: Canary) -> None:
    agent = Agent(name="Desk", mcp_servers=[process_server(canary)])
    mock = MockTool("read", "Read a file", {"path": {"type": "string"}}, "text")
    model = asks("read", path="a")
    OpenAIAgentsAdapter(agent, tools=[mock], model=model).sync_invoke("go")
    (offered,) = model.call_log[0]["tools"]
    assert (offered["name"], offered["description"]) == ("read", "Read a file")
    assert offered["parameters"]["required"] == ["path"]


def test_call_the_declared_schema_does_not_accept_is_invalid(canary: Canary) -> None:
    agent = Agent(name="Desk", mcp_servers=[process_server(canary)])
    mock = MockTool("read", parameters={"path": {"type": "string"}}, response="text")
    result = OpenAIAgentsAdapter(agent, tools=[mock], model=asks("read")).sync_invoke("go")
    assert result.tool_calls[0].outcome == "invalid"


def test_each_of_several_servers_has_the_tools_named_with_it(canary: Canary) -> None:
    servers = [process_server(canary, name=name) for name in ("one", "two")]
    agent = Agent(name="Desk", mcp_servers=servers)
    mocks = [
        MockTool("one.read", response=1),
        MockTool("two.write", response=2),
        MockTool("plain", response=3),
    ]
    steps = [{"tool_calls": ["read", "write", "plain"]}, "done"]
    result = OpenAIAgentsAdapter(agent, tools=mocks, model=FakeModel(steps)).sync_invoke("go")
    assert [call.response for call in result.tool_calls] == [1, 2, 3]
    assert not canary.hits


def test_tools_that_bear_their_servers_name_are_mocked_by_either_name(canary: Canary) -> None:
    # Servers' names in tools' names came after the floor.
    supported = "include_server_in_tool_names" in signature(MCPUtil.get_all_function_tools).parameters
    for named in ("lookup", "mcp_memory__lookup") if supported else ("lookup",):
        for server in (MemoryServer(canary, False), process_server(canary, name="memory")):
            agent = Agent(
                name="Desk", mcp_servers=[server], mcp_config={"include_server_in_tool_names": True}
            )
            model = FakeModel(["done"])
            OpenAIAgentsAdapter(agent, tools=[MockTool(named, response=1)], model=model).sync_invoke("go")
            (offered,) = [tool["name"] for tool in model.call_log[0]["tools"]]
            model = asks(offered, q="x")
            result = OpenAIAgentsAdapter(agent, tools=[MockTool(named, response=1)], model=model).sync_invoke(
                "go"
            )
            assert result.tool_calls[0].response == 1
    assert not canary.hits


def test_filters_of_a_server_apply_to_declared_tools(canary: Canary) -> None:
    static = create_static_tool_filter(blocked_tool_names=["write"])

    def dynamic(context: Any, tool: Any) -> bool:
        return bool(context.agent.name == "Desk" and tool.name == "read")

    for tool_filter in (static, dynamic):
        agent = Agent(name="Desk", mcp_servers=[process_server(canary, tool_filter=tool_filter)])
        model = FakeModel(["done"])
        mocks = [MockTool("read", response=1), MockTool("write", response=2)]
        with pytest.raises(Exception, match="write"):
            OpenAIAgentsAdapter(agent, tools=mocks, model=model).sync_invoke("go")
        assert [tool["name"] for tool in model.call_log[0]["tools"]] == ["read"]


def test_unmocked_tool_of_a_server_in_this_process_is_refused(canary: Canary) -> None:
    agent = Agent(name="Desk", mcp_servers=[MemoryServer(canary, False)])
    with pytest.raises(UnmockedToolError, match="lookup"):
        OpenAIAgentsAdapter(agent, model=asks("lookup", q="x")).sync_invoke("go")
    assert not canary.hits


def real_server(canary: Canary) -> MCPServerStdio:
    return MCPServerStdio(
        params={"command": sys.executable, "args": ["-c", SERVER, str(canary.folder / "called")]},
        client_session_timeout_seconds=20,
    )


def test_tools_of_a_running_server_are_listed_by_it_and_answered_by_mocks(canary: Canary) -> None:
    async def main() -> Any:
        async with real_server(canary) as server:
            agent = Agent(name="Desk", mcp_servers=[server])
            model = asks("read", path="a")
            adapter = OpenAIAgentsAdapter(agent, tools=[MockTool("read", response="mocked")], model=model)
            result = await adapter.invoke("go")
            assert model.call_log[0]["tools"][0]["parameters"]["required"] == ["path"]
            return result

    assert asyncio.run(main()).tool_calls[0].response == "mocked"
    assert not canary.hits


def test_spied_tool_of_a_server_lets_it_start_and_run(canary: Canary) -> None:
    server = real_server(canary)
    agent = Agent(name="Desk", mcp_servers=[server])

    async def application() -> None:
        async with server:
            await Runner.run(agent, "go")

    adapter = OpenAIAgentsAdapter(
        agent, tools=[MockTool.spy("read")], model=asks("read", path="a"), offline=False
    )
    with adapter.session() as session:
        asyncio.run(application())
    assert session.tool_calls[0].response == {"type": "text", "text": "REAL"}
    assert canary.hits == 1


class TwoArguments(MemoryServer):
    """Has a tool with an argument that may be left out."""

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[Tool]:
        arguments = {"q": {"type": "string"}, "limit": {"type": "integer"}}
        schema = {"type": "object", "properties": arguments, "required": ["q"]}
        return [Tool.model_validate({"name": "lookup", "inputSchema": schema})]


@pytest.mark.parametrize("strict", [False, True])
def test_argument_the_server_does_not_demand_may_be_left_out(canary: Canary, strict: bool) -> None:
    server = TwoArguments(canary, False)
    agent = Agent(name="Desk", mcp_servers=[server], mcp_config={"convert_schemas_to_strict": strict})
    (described,) = asyncio.run(server.list_tools())
    MCPUtil.to_function_tool(described, server, strict)
    # The conversion of earlier versions changes what the server said, and demands it from then on.
    demanded = described.model_dump(by_alias=True)["inputSchema"]["required"]
    left_out = "success" if demanded == ["q"] else "invalid"
    for args, outcome in (({"q": "x"}, left_out), ({"limit": 1}, "invalid")):
        adapter = OpenAIAgentsAdapter(
            agent, tools=[MockTool("lookup", response=1)], model=asks("lookup", **args)
        )
        assert adapter.sync_invoke("go").tool_calls[0].outcome == outcome
    assert not canary.hits


def test_same_tool_of_two_servers_is_mocked_by_either_servers_name(canary: Canary) -> None:
    if "include_server_in_tool_names" not in signature(MCPUtil.get_all_function_tools).parameters:
        return
    servers = [MemoryServer(canary, False, name=name) for name in ("one", "two")]
    agent = Agent(name="Desk", mcp_servers=servers, mcp_config={"include_server_in_tool_names": True})
    step = {"tool_calls": [{"name": f"mcp_{n}__lookup", "args": {"q": "x"}} for n in ("one", "two")]}
    for template in ("{}.lookup", "mcp_{}__lookup"):
        mocks = [MockTool(template.format(name), response=name) for name in ("one", "two")]
        result = OpenAIAgentsAdapter(agent, tools=mocks, model=FakeModel([step, "done"])).sync_invoke("go")
        assert [call.response for call in result.tool_calls] == ["one", "two"]
    with pytest.raises(UnmockedToolError, match="mcp_two__lookup"):
        OpenAIAgentsAdapter(agent, tools=mocks[:1], model=FakeModel([step, "done"])).sync_invoke("go")
    assert not canary.hits
