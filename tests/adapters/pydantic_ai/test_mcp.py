"""MCP servers: mocked ones are never started or connected to; opened ones are judged tool by tool."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic_ai import RunContext
from pydantic_ai.mcp import MCPToolset

from callsheet import FakeModel, MockTool, UnknownMockError, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, agent, hits, refund

REFUND = {"tool_calls": [{"name": "charge", "args": {"order": "A1"}}]}


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def in_memory() -> MCPToolset[Any]:
    from fastmcp.server import FastMCP

    server = FastMCP("shop")

    @server.tool
    def charge(order: str) -> str:
        """Charge an order."""
        hits["charge"] += 1
        return f"REAL {order}"

    return MCPToolset(server, id="shop")


@pytest.fixture
def stdio(tmp_path: Path) -> tuple[MCPToolset[Any], Path]:
    """Give a server that leaves a mark when it is started."""
    mark = tmp_path / "started"
    script = tmp_path / "server.py"
    script.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    return MCPToolset(StdioTransport(sys.executable, [str(script)])), mark


def wrapped(clerk: Any, *mocks: MockTool, steps: Any = (REFUND, "done"), **options: Any) -> PydanticAIAdapter:
    return PydanticAIAdapter(clerk, tools=mocks, model=FakeModel(list(steps)), **options)


CHARGE = MockTool(
    "charge",
    "Charge an order.",
    {"order": {"type": "string"}},
    response=lambda args: f"charged {args['order']}",
)


@pytest.mark.parametrize("path", PATHS)
def test_mocked_process_is_never_started(stdio: Any, path: str) -> None:
    server, mark = stdio
    clerk = agent(toolsets=[server])
    with wrapped(clerk, CHARGE).session() as session:
        assert PATHS[path](clerk) == "done"
    (call,) = session.tool_calls
    assert (call.response, call.kind, call.mocked, call.outcome) == ("charged A1", "mcp", True, "success")
    assert not mark.exists()
    assert not server.is_running


def test_mocked_address_is_never_connected_to() -> None:
    clerk = agent(toolsets=[MCPToolset("http://127.0.0.1:9/mcp", id="far")])
    assert wrapped(clerk, CHARGE, offline=False).sync_invoke("x").tool_calls[0].response == "charged A1"


def test_mocked_server_in_memory_is_not_called() -> None:
    result = wrapped(agent(toolsets=[in_memory()]), CHARGE).sync_invoke("x")
    assert result.tool_calls[0].response == "charged A1"
    assert not hits


def test_server_made_by_a_function_stays_closed(stdio: Any) -> None:
    server, mark = stdio
    clerk = agent()

    @clerk.toolset
    def tools(ctx: RunContext[Any]) -> Any:
        return server.prefixed("shop")

    call = {"tool_calls": [{"name": "shop_charge", "args": {}}]}
    result = wrapped(clerk, MockTool("shop_charge", response="ok"), steps=(call, "done")).sync_invoke("x")
    assert result.tool_calls[0].response == "ok"
    assert not mark.exists()


def test_stand_in_is_offered_to_the_model_as_the_mock_describes_it() -> None:
    given = wrapped(agent(toolsets=[in_memory()], tools=[refund]), CHARGE)
    given.sync_invoke("x")
    assert given.model is not None
    offered = {tool["name"]: tool for tool in given.model.call_log[0]["tools"]}
    assert list(offered) == ["charge", "refund"] or list(offered) == ["refund", "charge"]
    assert offered["charge"]["description"] == "Charge an order."
    assert offered["charge"]["parameters"]["required"] == ["order"]


def test_arguments_are_checked_against_the_mock() -> None:
    bad = {"tool_calls": [{"name": "charge", "args": {"ordre": "A1"}}]}
    result = wrapped(agent(toolsets=[in_memory()]), CHARGE, steps=(bad, "done")).sync_invoke("x")
    assert result.tool_calls[0].outcome == "invalid"


def test_tool_of_a_closed_server_without_a_mock_is_unknown_to_the_agent(stdio: Any) -> None:
    server, mark = stdio
    result = wrapped(agent(toolsets=[server])).sync_invoke("x")
    assert result.tool_calls[0].outcome == "unknown"
    assert not mark.exists()


def test_spied_tool_opens_the_server_and_runs() -> None:
    result = wrapped(agent(toolsets=[in_memory()]), MockTool.spy("charge")).sync_invoke("x")
    assert result.tool_calls[0].response == "REAL A1"
    assert result.tool_calls[0].kind == "mcp"
    assert hits == {"charge": 1}


def test_spied_function_tool_opens_no_server(stdio: Any) -> None:
    server, mark = stdio
    clerk = agent(toolsets=[server], tools=[refund])
    call = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}
    wrapped(clerk, MockTool.spy("refund"), steps=(call, "done")).sync_invoke("x")
    assert hits == {"refund": 1}
    assert not mark.exists()


def test_opened_server_is_judged_tool_by_tool() -> None:
    other = {"tool_calls": [{"name": "charge", "args": {"order": "A1"}}]}
    clerk = agent(toolsets=[in_memory()])
    given = wrapped(clerk, MockTool("charge", response="mocked"), unmocked="real", steps=(other, "done"))
    assert given.sync_invoke("x").tool_calls[0].response == "mocked"
    assert not hits


def test_mock_of_no_tool_of_an_opened_server_is_refused() -> None:
    given = wrapped(
        agent(toolsets=[in_memory()]), MockTool("chrage", response=1), unmocked="real", steps=("done",)
    )
    with pytest.raises(UnknownMockError, match="Did you mean 'charge'"):
        given.sync_invoke("x")


def test_entering_the_agent_in_a_session_opens_nothing(stdio: Any) -> None:
    server, mark = stdio
    clerk = agent(toolsets=[server])

    async def inside() -> None:
        with wrapped(clerk, CHARGE).session():
            async with clerk:
                assert (await clerk.run("x")).output == "done"

    asyncio.run(inside())
    assert not mark.exists()


def test_server_left_after_its_session_was_never_opened(stdio: Any) -> None:
    server, mark = stdio
    clerk = agent(toolsets=[server])

    async def main() -> None:
        with wrapped(clerk, CHARGE).session() as session:
            await clerk.__aenter__()
            await server.__aenter__()
            assert (await clerk.run("x")).output == "done"
        assert session.tool_calls
        await server.__aexit__(None, None, None)
        await clerk.__aexit__(None, None, None)

    asyncio.run(main())
    assert not mark.exists()
    assert not server.is_running


def test_server_opened_before_the_session_stays_open_and_unused() -> None:
    server = in_memory()
    clerk = agent(toolsets=[server])

    async def main() -> None:
        async with server:
            result = await wrapped(clerk, CHARGE).invoke("x")
            assert result.tool_calls[0].response == "charged A1"
            assert server.is_running
            assert [tool.name for tool in await server.list_tools()] == ["charge"]
        assert not server.is_running

    asyncio.run(main())
    assert not hits


def test_patches_of_the_server_are_taken_out() -> None:
    gc.collect()
    before = [vars(MCPToolset)[name] for name in ("__aenter__", "__aexit__", "get_tools")]
    wrapped(agent(toolsets=[in_memory()]), CHARGE).sync_invoke("x")
    gc.collect()
    assert [vars(MCPToolset)[name] for name in ("__aenter__", "__aexit__", "get_tools")] == before


def test_unmocked_tool_beside_a_closed_server_is_refused(stdio: Any) -> None:
    server, mark = stdio
    call = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(agent(toolsets=[server], tools=[refund]), steps=(call,)).sync_invoke("x")
    assert not hits
    assert not mark.exists()
