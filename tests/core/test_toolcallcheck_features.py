"""A checklist: every feature of the harness that callsheet takes over, one test each, in its page's order.

The names and behaviours are those toolcallcheck documents; its users change only the import.
"""

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from callsheet import (
    AgentResult,
    AgentRunner,
    Conversation,
    FakeModel,
    MockMCPServer,
    MockTool,
    NetworkBlockedError,
    Recorder,
    ScenarioBuilder,
    ToolCall,
    ToolResponseBuilder,
    TraceEntry,
    UserMessageBuilder,
    _snapshots,
    assert_headers,
    assert_model_used,
    assert_no_tool_calls,
    assert_response_contains,
    assert_response_equals,
    assert_response_matches,
    assert_snapshot,
    assert_tool_args_contain,
    assert_tool_call_count,
    assert_tool_call_order,
    assert_tool_calls,
    assert_trajectory,
    clear_assertions,
    list_assertions,
    offline,
    register_assertion,
    run_custom_assertion,
    scenario,
)
from callsheet.adapters import (
    FrameworkAdapter,
)
from callsheet.markers import agent_behavior, agent_error, agent_multi_turn, agent_offline


@pytest.fixture
def desk() -> MockMCPServer:
    """A ferry company's desk."""
    server = MockMCPServer()
    server.add_tool(
        MockTool(
            name="find_ferry",
            description="Ferries between two ports",
            parameters={"to": {"type": "string"}, "day": {"type": "string", "required": False}},
            response={"ferries": ["M7"]},
        )
    )
    server.add_tools([MockTool(name="book", response={"ref": "B-1"}), MockTool(name="mail", response=True)])
    return server


def calls(*named: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args} for name, args in named]}


@pytest.fixture
def booked(desk: MockMCPServer) -> AgentResult:
    model = FakeModel(
        responses=[
            calls(("find_ferry", {"to": "Bergen"})),
            calls(
                ("book", {"ferry": "M7", "seats": 2, "stamp": "x1"}), ("book", {"ferry": "M7", "seats": 1})
            ),
            {"content": "Booked as B-1."},
        ]
    )
    runner = AgentRunner(mcp_server=desk, model=model, model_name="harbour-1")
    return runner.sync_invoke("Two to Bergen", access_token="jwt", site_id="42", metadata={"case": "happy"})


# Mocks


def test_tools_are_registered_listed_and_looked_up(desk: MockMCPServer) -> None:
    assert desk.tool_names == ["find_ferry", "book", "mail"]
    assert [tool["name"] for tool in desk.list_tools()] == desk.tool_names
    assert len(desk) == 3
    assert "book" in desk
    tool = desk.get_tool("book")
    assert tool is not None
    assert tool.name == "book"
    assert desk.get_tool("nothing") is None


def test_a_tool_can_be_called_directly_and_is_logged(desk: MockMCPServer) -> None:
    assert desk.call_tool("find_ferry", {"to": "Bergen"}) == {"result": {"ferries": ["M7"]}}
    (entry,) = desk.call_log
    assert (entry["name"], entry["args"]) == ("find_ferry", {"to": "Bergen"})
    assert entry["result"] == {"ferries": ["M7"]}
    desk.reset()
    assert desk.call_log == []


def test_errors_are_injected_as_text_as_mapping_and_after_successes() -> None:
    server = MockMCPServer(
        [
            MockTool(name="down", error="closed"),
            MockTool(name="coded", error={"code": 503, "message": "closed"}),
            MockTool(name="flaky", response={"ok": 1}, error="timeout", error_after=2),
        ]
    )
    assert server.call_tool("down") == {"error": {"message": "closed"}}
    assert server.call_tool("coded") == {"error": {"code": 503, "message": "closed"}}
    assert [list(server.call_tool("flaky")) for _ in range(3)] == [["result"], ["result"], ["error"]]


def test_parameters_are_validated(desk: MockMCPServer) -> None:
    assert desk.call_tool("find_ferry", {"day": "Monday"}) == {"error": "Missing required parameters: to"}
    assert desk.call_tool("swim", {}) == {"error": "Unknown tool: swim"}


def test_a_response_may_depend_on_the_arguments() -> None:
    def answer(args: dict[str, Any]) -> dict[str, int]:
        return {"price": 900 if args.get("to") == "Bergen" else 400}

    server = MockMCPServer([MockTool(name="price", response=answer)])
    assert server.call_tool("price", {"to": "Bergen"}) == {"result": {"price": 900}}
    assert server.call_tool("price", {}) == {"result": {"price": 400}}


# The runner and its result


def test_a_runner_runs_async_and_sync(desk: MockMCPServer) -> None:
    for run in (
        lambda runner: asyncio.run(runner.invoke("hello")),
        lambda runner: runner.sync_invoke("hello"),
    ):
        runner = AgentRunner(mcp_server=desk, model=FakeModel(responses=[{"content": "Ahoy!"}]))
        assert run(runner).response == "Ahoy!"


def test_a_runner_is_configured_by_mapping_file_and_arguments(desk: MockMCPServer, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("model_name: from-file\ntimeout: 30\n")
    for config, expected in (
        ({"model_name": "from-dict", "timeout": 30}, "from-dict"),
        (str(file), "from-file"),
    ):
        runner = AgentRunner(
            mcp_server=desk,
            model=FakeModel(),
            config=config,
            default_headers={"X-Version": "1"},
            max_turns=5,
        )
        result = runner.sync_invoke("hi")
        assert result.model_used == expected
        assert result.headers == {"X-Version": "1"}


def test_rights_and_headers_are_in_the_result(desk: MockMCPServer) -> None:
    result = AgentRunner(desk, FakeModel()).sync_invoke(
        "hi", access_token="jwt", site_id="42", headers={"X-Route": "cheap"}, metadata={"case": "happy"}
    )
    assert result.headers == {"X-Access-Token": "jwt", "X-Site-Id": "42", "X-Route": "cheap"}
    assert result.metadata["case"] == "happy"


def test_the_result_holds_what_happened(booked: AgentResult) -> None:
    assert booked.response == "Booked as B-1."
    assert booked.tool_call_count == len(booked.tool_calls) == 3
    assert booked.tool_names == ["find_ferry", "book", "book"]
    assert booked.model_used == "harbour-1"
    assert all(isinstance(entry, TraceEntry) for entry in booked.trace)
    assert (booked.metadata["turns"], booked.metadata["case"]) == (3, "happy")
    call = booked.get_tool_call("book")
    assert isinstance(call, ToolCall)
    assert (call.name, call.args["seats"], call.response, call.error) == ("book", 2, {"ref": "B-1"}, None)
    assert len(booked.get_all_tool_calls("book")) == 2
    assert booked.get_tool_call("swim") is None
    assert json.dumps(booked.to_dict())


# Assertions


def test_assertions_about_tool_calls(booked: AgentResult) -> None:
    search = {"name": "find_ferry", "args": {"to": "Bergen"}}
    first = {"name": "book", "args": {"ferry": "M7", "seats": 2, "stamp": "x1"}}
    second = {"name": "book", "args": {"ferry": "M7", "seats": 1}}
    assert_tool_calls(booked, [search, first, second])
    assert_tool_calls(booked, [second, search, first], strict_order=False)
    assert_tool_call_count(booked, 3)
    assert_tool_call_order(booked, ["find_ferry", "book"])
    assert_tool_args_contain(booked, "book", {"ferry": "M7", "seats": 2})
    assert_tool_args_contain(booked, "book", {"seats": 1}, call_index=1)
    assert_no_tool_calls(AgentRunner().sync_invoke("hi"))
    for failing in (
        lambda: assert_tool_calls(booked, [first, search, second]),
        lambda: assert_tool_call_count(booked, 2),
        lambda: assert_no_tool_calls(booked),
        lambda: assert_tool_call_order(booked, ["book", "find_ferry"]),
        lambda: assert_tool_args_contain(booked, "book", {"seats": 9}),
    ):
        with pytest.raises(AssertionError):
            failing()


def test_assertions_about_the_response_headers_and_model(booked: AgentResult) -> None:
    assert_response_contains(booked, "B-1")
    assert_response_matches(booked, r"B-\d")
    assert_response_equals(booked, "Booked as B-1.")
    assert_headers(booked, {"X-Access-Token": "jwt"})
    assert_headers(booked, {"X-Access-Token": "jwt", "X-Site-Id": "42"}, exact=True)
    assert_model_used(booked, "harbour-1")
    for failing in (
        lambda: assert_response_contains(booked, "B-2"),
        lambda: assert_response_matches(booked, r"C-\d"),
        lambda: assert_response_equals(booked, "Booked"),
        lambda: assert_headers(booked, {"X-Access-Token": "jwt"}, exact=True),
        lambda: assert_model_used(booked, "harbour-2"),
    ):
        with pytest.raises(AssertionError):
            failing()


def test_trajectories_in_every_mode(booked: AgentResult) -> None:
    user = {"role": "user", "content": "Two to Bergen"}
    search = {"role": "tool", "name": "find_ferry", "args": {"to": "Bergen"}}
    first = {"role": "tool", "name": "book", "args": {"ferry": "M7", "seats": 2, "stamp": "x1"}}
    second = {"role": "tool", "name": "book", "args": {"ferry": "M7", "seats": 1}}
    said = {"role": "assistant", "content": "Booked as B-1."}
    assert_trajectory(booked, [user, search, first, second, said])
    assert_trajectory(booked, [first], mode="subset")
    assert_trajectory(booked, [user, said], mode="ordered_subset")
    with pytest.raises(AssertionError):
        assert_trajectory(booked, [said, user], mode="ordered_subset")


def test_a_failure_is_a_diff_in_lines(booked: AgentResult) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_tool_calls(booked, [{"name": "find_ferry", "args": {"to": "Oslo"}}])
    text = str(raised.value)
    assert "Tool calls do not match" in text
    assert "find_ferry(to='Oslo')" in text
    assert "find_ferry(to='Bergen')" in text
    with pytest.raises(AssertionError, match="Response does not contain expected substring"):
        assert_response_contains(booked, "nothing")


# The scripted model


def test_a_script_rules_and_a_default() -> None:
    model = FakeModel(
        responses=[{"content": "first"}],
        rules=[(r"bergen", {"content": "north"}), (r"cancel (\w+)", calls(("cancel", {})))],
        default_response={"content": "pardon?"},
    )
    said = [
        model.generate([{"role": "user", "content": text}]) for text in ("x", "To Bergen", "cancel it", "x")
    ]
    assert [step.get("content") for step in said] == ["first", "north", None, "pardon?"]
    assert said[2]["tool_calls"][0]["name"] == "cancel"
    assert model.call_count == len(model.call_log) == 4
    assert {"messages", "tools", "headers"} <= set(model.call_log[0])
    model.reset()
    assert model.call_count == 0


# Several turns


def test_a_conversation_keeps_its_state(desk: MockMCPServer) -> None:
    model = FakeModel(
        responses=[{"content": "How many?"}, calls(("book", {"seats": 2})), {"content": "Booked."}]
    )
    conversation = Conversation(AgentRunner(mcp_server=desk, model=model))

    async def talk() -> None:
        assert_no_tool_calls(await conversation.say("To Bergen"))
        assert_response_contains(await conversation.say("Two"), "Booked")

    asyncio.run(talk())
    assert conversation.turn_count == len(conversation.results) == 2
    assert conversation.last_result is conversation.results[-1]
    assert len(conversation.all_tool_calls) == 1
    assert [message["role"] for message in conversation.history] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    conversation.reset()
    assert (conversation.turn_count, conversation.history) == (0, [])


# Snapshots and recordings


@pytest.fixture
def _snapshots_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(_snapshots, "run", _snapshots.SnapshotRun())


@pytest.mark.usefixtures("_snapshots_here")
def test_snapshots_are_taken_compared_and_updated(
    booked: AgentResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_snapshot(booked, "booking")
    file = tmp_path / ".callsheet_snapshots" / "booking.json"
    assert json.loads(file.read_text())["response"] == "Booked as B-1."
    assert_snapshot(booked, "booking")
    other = AgentResult("Sorry.")
    with pytest.raises(AssertionError):
        assert_snapshot(other, "booking")
    assert_snapshot(other, "no_tools", include_tool_calls=False)
    assert_snapshot(booked, "full", include_model=True)
    assert_snapshot(other, "booking", update=True)
    assert_snapshot(other, "booking")
    monkeypatch.setenv("CALLSHEET_UPDATE", "1")
    assert_snapshot(booked, "full", include_model=False)


@pytest.mark.parametrize(("format", "load"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_recordings_are_kept_and_exported(
    booked: AgentResult, tmp_path: Path, format: Any, load: Any
) -> None:
    recorder = Recorder()
    recorder.record(booked, label="booking")
    assert recorder.count == 1
    entry = recorder.get(0)
    assert entry["response"] == booked.response
    assert len(entry["tool_calls"]) == 3
    assert entry["trace"]
    recorder.export(str(tmp_path) + os.sep, format=format)
    (file,) = tmp_path.glob(f"*.{format}")
    assert load(file.read_text())["response"] == booked.response
    recorder.clear()
    assert recorder.recordings == []


# Builders, scenarios, assertions of one's own


def test_builders(desk: MockMCPServer) -> None:
    message = (
        UserMessageBuilder("hi")
        .with_token("jwt")
        .with_site("42")
        .with_header("X-A", "1")
        .with_metadata("k", 1)
    )
    result = asyncio.run(AgentRunner(desk, FakeModel()).invoke(**message.build()))
    assert result.headers == {"X-Access-Token": "jwt", "X-Site-Id": "42", "X-A": "1"}
    tool = (
        ToolResponseBuilder("create")
        .with_description("Creates")
        .with_param("name", "string")
        .with_response({"ok": True})
        .with_error("late", after=3)
        .build()
    )
    assert tool.name == "create"
    built = (
        ScenarioBuilder("happy")
        .with_tool(tool)
        .with_model_responses([calls(("create", {"name": "a"})), {"content": "Created."}])
        .with_message("Create a")
        .with_token("jwt")
        .with_model_name("harbour-1")
        .build()
    )
    result = asyncio.run(built.runner.invoke(**built.invocation))
    assert result.response == "Created."


@scenario([{"id": "asks", "to": "Bergen", "finds": True}, {"id": "greets", "to": None, "finds": False}])
def test_scenarios(case: dict[str, Any], desk: MockMCPServer) -> None:
    script = [calls(("find_ferry", {"to": case["to"]}))] if case["finds"] else []
    result = AgentRunner(desk, FakeModel(responses=[*script, {"content": "ok"}])).sync_invoke("hi")
    assert (result.tool_call_count > 0) == case["finds"]


@pytest.fixture
def _no_assertions() -> Iterator[None]:
    clear_assertions()
    yield
    clear_assertions()


@pytest.mark.usefixtures("_no_assertions")
def test_assertions_of_ones_own(booked: AgentResult) -> None:
    def assert_short(result: AgentResult, limit: int = 100) -> None:
        assert len(result.response) <= limit

    register_assertion("short", assert_short)
    assert "short" in list_assertions()
    run_custom_assertion("short", booked)
    with pytest.raises(AssertionError):
        run_custom_assertion("short", booked, limit=3)


# Offline, markers, adapters


def test_offline_blocks_and_allows() -> None:
    with pytest.raises(NetworkBlockedError), offline():
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with offline(allow=["localhost", "127.0.0.1"]), socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


@agent_behavior
@agent_error
@agent_multi_turn
@agent_offline
def test_markers(request: pytest.FixtureRequest) -> None:
    names = {mark.name for mark in request.node.iter_markers()}
    assert {"agent_behavior", "agent_error", "agent_multi_turn", "agent_offline"} <= names


def test_an_adapter_of_ones_own_needs_no_base_class() -> None:
    class Mine:
        @property
        def framework_name(self) -> str:
            return "mine"

        async def invoke(
            self,
            message: str,
            *,
            tools: Any = None,
            headers: Mapping[str, str] | None = None,
            metadata: Mapping[str, Any] | None = None,
        ) -> AgentResult:
            return AgentResult(f"echo {message}")

    assert isinstance(Mine(), FrameworkAdapter)
    assert asyncio.run(Mine().invoke("hi")).response == "echo hi"
