"""`AgentRunner`: the loop from message to answer, for agents without a framework."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callsheet import (
    AgentResult,
    AgentRunner,
    Conversation,
    FakeModel,
    MockConfigError,
    MockMCPServer,
    MockTool,
    ModelRequest,
    NetworkBlockedError,
    OptionError,
    ScriptError,
    ScriptExhaustedError,
    UnmockedToolError,
    UnusedScriptError,
    assert_no_tool_calls,
    assert_tool_calls,
    assert_trajectory,
)
from callsheet.adapters import FrameworkAdapter


def search_then(answer: str, **args: Any) -> FakeModel:
    return FakeModel([{"tool_calls": [{"name": "search", "args": args}]}, answer])


SEARCH = MockTool("search", "Finds things", {"query": {"type": "string"}}, response={"hits": 3})


@pytest.fixture
def server() -> MockMCPServer:
    return MockMCPServer([MockTool("search", "Finds", {"query": {"type": "string"}}, response={"hits": 3})])


def test_a_run_asks_the_model_runs_its_calls_and_gives_the_answer(server: MockMCPServer) -> None:
    model = search_then("Three hits.", query="otter")
    result = asyncio.run(AgentRunner(server, model).invoke("Find otters"))
    assert result.response == result.output == "Three hits."
    assert_tool_calls(result, [{"name": "search", "args": {"query": "otter"}}])
    assert result.tool_calls[0].response == {"hits": 3}
    assert result.tool_calls[0].seen_by_model == '{"hits": 3}'
    assert result.metadata["turns"] == 2
    assert result.model_used is None
    assert result.error is None
    assert_trajectory(
        result,
        [
            {"role": "user", "content": "Find otters"},
            {"role": "tool", "name": "search", "args": {"query": "otter"}},
            {"role": "assistant", "content": "Three hits."},
        ],
    )
    assert server.call_log == [{"name": "search", "args": {"query": "otter"}, "result": {"hits": 3}}]


def test_the_model_sees_the_conversation_and_the_tools(server: MockMCPServer) -> None:
    model = search_then("ok", query="x")
    AgentRunner(server, model, model_name="nova").sync_invoke("hi")
    first, second = model.call_log
    assert first["messages"] == [{"role": "user", "content": "hi"}]
    assert first["tools"][0]["name"] == "search"
    assert first["tools"][0]["description"] == "Finds"
    assert first["tools"][0]["parameters"]["properties"] == {"query": {"type": "string"}}
    assert first["model"] == "nova"
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]
    call = second["messages"][1]["tool_calls"][0]
    assert call["function"] == {"name": "search", "arguments": '{"query": "x"}'}
    assert second["messages"][2] == {"role": "tool", "tool_call_id": call["id"], "content": '{"hits": 3}'}


def test_calls_of_one_reply_are_one_batch(server: MockMCPServer) -> None:
    calls = [{"name": "search", "args": {"query": "a"}}, {"name": "search", "args": {"query": "b"}}]
    result = AgentRunner(server, FakeModel([{"tool_calls": calls, "content": "Looking"}, "ok"])).sync_invoke(
        "x"
    )
    assert [[call.args["query"] for call in batch] for batch in result.batches] == [["a", "b"]]
    assert len({call.id for call in result.tool_calls}) == 2


def test_two_runs_of_one_script_give_equal_trajectories() -> None:
    def run() -> Any:
        return AgentRunner([SEARCH], search_then("ok", query="x")).sync_invoke("hi")

    first, second = run(), run()
    assert first.trajectory() == second.trajectory()
    assert [call.id for call in first.tool_calls] == [call.id for call in second.tool_calls]


def test_runs_side_by_side_do_not_mix() -> None:
    echo = MockTool("echo", response=lambda args: args["said"])

    def call(request: ModelRequest) -> Any:
        said = request.last_user_message
        return {"tool_calls": [{"name": "echo", "args": {"said": said}}]} if request.turn == 0 else said

    runner = AgentRunner([echo], FakeModel(default_response=call))

    async def main() -> list[AgentResult]:
        return await asyncio.gather(*(runner.invoke(letter, site_id=letter) for letter in "abc"))

    for letter, result in zip("abc", asyncio.run(main()), strict=True):
        assert (result.response, result.headers) == (letter, {"X-Site-Id": letter})
        assert [call.response for call in result.tool_calls] == [letter]


def test_without_anything_it_answers_an_empty_text() -> None:
    result = AgentRunner().sync_invoke("hi")
    assert result.response == ""
    assert_no_tool_calls(result)


def test_rights_and_headers_reach_the_model_and_the_result() -> None:
    model = FakeModel()
    runner = AgentRunner(model=model, default_headers={"X-Api": "1", "X-Site-Id": "default"})
    result = runner.sync_invoke(
        "hi", access_token="jwt", site_id="7", headers={"X-Extra": "e", "X-Api": "2"}, metadata={"case": "a"}
    )
    assert result.headers == {"X-Api": "2", "X-Site-Id": "7", "X-Access-Token": "jwt", "X-Extra": "e"}
    assert model.call_log[0]["headers"] == result.headers
    assert result.metadata["case"] == "a"
    assert runner.sync_invoke("hi").headers == {"X-Api": "1", "X-Site-Id": "default"}


def test_stopping_at_max_turns_is_the_results_error(server: MockMCPServer) -> None:
    model = FakeModel(default_response={"tool_calls": [{"name": "search", "args": {"query": "again"}}]})
    result = AgentRunner(server, model, max_turns=3).sync_invoke("hi")
    assert result.tool_call_count == 3
    assert result.error == "Stopped after max_turns=3 model replies without a final answer."
    assert result.trace[-1].role == "error"
    assert AgentRunner(server, model).sync_invoke("hi").tool_call_count == 10


def test_it_runs_inside_a_running_loop() -> None:
    async def main() -> str:
        return AgentRunner([SEARCH], search_then("inside", query="x")).sync_invoke("hi").response

    assert asyncio.run(main()) == "inside"


@pytest.mark.parametrize(
    ("tool", "args", "told", "outcome"),
    [
        (MockTool("search", error="down"), {}, {"error": {"message": "down"}}, "failed"),
        (
            MockTool("search", error={"code": 503, "message": "down"}),
            {},
            {"error": {"code": 503, "message": "down"}},
            "failed",
        ),
        (MockTool("search", raises=KeyError()), {}, {"error": {"message": "KeyError"}}, "failed"),
        (SEARCH, {}, {"error": "Missing required parameters: query"}, "invalid"),
        (SEARCH, '{"query": ', None, "invalid"),
    ],
)
def test_what_goes_wrong_in_a_tool_is_told_to_the_model(
    tool: MockTool, args: Any, told: Any, outcome: str
) -> None:
    model = FakeModel([{"tool_calls": [{"name": "search", "args": args}]}, "Sorry."])
    result = AgentRunner([tool], model).sync_invoke("hi")
    assert result.response == "Sorry."
    call = result.tool_calls[0]
    assert call.outcome == outcome
    assert call.error
    heard = json.loads(model.call_log[1]["messages"][-1]["content"])
    assert "error" in heard
    assert told is None or heard == told


def test_a_text_is_told_as_it_is_and_other_answers_as_json() -> None:
    tool = MockTool("search", responses=["plain", ["ß", 1], {1, 2} & {1}])
    script = [{"tool_calls": ["search"]}] * 3
    result = AgentRunner([tool], FakeModel([*script, "ok"])).sync_invoke("hi")
    assert [call.seen_by_model for call in result.tool_calls] == ["plain", '["ß", 1]', '"{1}"']


def test_a_tool_that_does_not_exist_is_told_to_the_model(server: MockMCPServer) -> None:
    model = FakeModel([{"tool_calls": ["serch"]}, "ok"])
    result = AgentRunner(server, model).sync_invoke("hi")
    assert result.tool_calls[0].outcome == "unknown"
    assert result.tool_calls[0].error == "No tool is named 'serch'"
    assert model.call_log[1]["messages"][-1]["content"] == '{"error": "Unknown tool: serch"}'
    assert server.call_log == [{"name": "serch", "args": {}, "error": "Unknown tool: serch"}]


def test_a_call_no_mock_accepts_fails_the_test() -> None:
    tool = MockTool("search", when={"query": "otter"}, response=1)
    with pytest.raises(UnmockedToolError, match="accepts"):
        AgentRunner([tool], search_then("ok", query="fox")).sync_invoke("hi")


def test_a_slow_mock_runs_into_the_configured_timeout() -> None:
    tool = MockTool("search", response=1, delay=60)
    runner = AgentRunner([tool], FakeModel([{"tool_calls": ["search"]}, "ok"]), config={"timeout": 30})
    result = runner.sync_invoke("hi")
    assert result.tool_calls[0].error == "Tool 'search' timed out after 30 seconds."


def test_there_is_no_real_tool_to_spy_on() -> None:
    runner = AgentRunner([MockTool.spy("search")], FakeModel([{"tool_calls": ["search"]}]))
    with pytest.raises(MockConfigError, match="no real tool 'search' to spy on"):
        runner.sync_invoke("hi")


def test_mocks_of_one_run_come_before_the_runners_own(server: MockMCPServer) -> None:
    runner = AgentRunner(server, search_then("ok", query="x"))
    result = runner.sync_invoke("hi", tools=[MockTool("search", response="mine")])
    assert result.tool_calls[0].response == "mine"


def test_the_network_is_closed_unless_asked_for() -> None:
    import socket

    def look_up(args: dict[str, Any]) -> str:
        return socket.gethostbyname("localhost")

    def runner(*, offline: bool) -> AgentRunner:
        model = FakeModel([{"tool_calls": ["look_up"]}, "ok"])
        return AgentRunner([MockTool("look_up", response=look_up)], model, offline=offline)

    with pytest.raises(NetworkBlockedError, match="localhost"):
        runner(offline=True).sync_invoke("hi")
    assert runner(offline=False).sync_invoke("hi").tool_calls[0].response == "127.0.0.1"


def test_an_exhausted_script_fails_and_leaves_what_happened(server: MockMCPServer) -> None:
    runner = AgentRunner(server, FakeModel([{"tool_calls": [{"name": "search", "args": {"query": "x"}}]}]))
    with pytest.raises(ScriptExhaustedError):
        runner.sync_invoke("hi")
    assert runner.last_result is not None
    assert runner.last_result.tool_names == ["search"]


def test_a_failing_model_fails_the_run() -> None:
    runner = AgentRunner(model=FakeModel([TimeoutError("provider")]))
    with pytest.raises(TimeoutError, match="provider"):
        runner.sync_invoke("hi")
    assert runner.last_result is not None
    assert runner.last_result.error == "TimeoutError: provider"


@pytest.mark.parametrize("step", [{"handoff": "Refunds"}, {"native": [object()]}])
def test_what_only_frameworks_have_is_refused(step: dict[str, Any]) -> None:
    with pytest.raises(ScriptError, match="one agent without a framework"):
        AgentRunner(model=FakeModel([step])).sync_invoke("hi")


def test_structured_answers_and_refusals() -> None:
    result = AgentRunner(model=FakeModel([{"output": {"price": 3}}])).sync_invoke("hi")
    assert result.output == {"price": 3}
    result = AgentRunner(model=FakeModel([{"refusal": "I will not."}])).sync_invoke("hi")
    assert result.response == "I will not."


class OwnModel:
    """A model of somebody else's."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def generate(self, messages: Any, tools: Any, headers: Any) -> dict[str, Any]:
        self.seen.append((len(messages), [tool["name"] for tool in tools], dict(headers)))
        if len(messages) == 1:
            return {"tool_calls": [{"name": "search", "args": {"query": "own"}}]}
        return {"content": "done"}


class AsyncModel(OwnModel):
    async def generate(self, messages: Any, tools: Any, headers: Any) -> dict[str, Any]:  # type: ignore[override]
        return super().generate(messages, tools, headers)


@pytest.mark.parametrize("kind", [OwnModel, AsyncModel])
def test_any_object_that_generates_is_a_model(kind: type[OwnModel], server: MockMCPServer) -> None:
    model = kind()
    result = AgentRunner(server, model, model_name="own").sync_invoke("hi", access_token="t")
    assert result.response == "done"
    assert result.tool_calls[0].args == {"query": "own"}
    assert result.model_used == "own"
    assert result.headers == {"X-Access-Token": "t"}
    assert [seen[0] for seen in model.seen] == [1, 3]


def test_an_object_that_does_not_generate_is_refused() -> None:
    with pytest.raises(MockConfigError, match=r"generate\(\)"):
        AgentRunner(model="gpt")


CONFIG = """
model_name: nova
timeout: 30
max_turns: 2
default_headers:
  X-Api: "1"
tone: kind
"""


@pytest.mark.parametrize("form", ["mapping", "yaml", "yml path", "json"])
def test_the_configuration_comes_from_a_mapping_or_a_file(form: str, tmp_path: Path) -> None:
    data = {
        "model_name": "nova",
        "timeout": 30,
        "max_turns": 2,
        "default_headers": {"X-Api": "1"},
        "tone": "kind",
    }
    config: Any = data
    if form != "mapping":
        config = tmp_path / {"yaml": "a.yaml", "yml path": "a.yml", "json": "a.json"}[form]
        config.write_text(json.dumps(data) if form == "json" else CONFIG)
    if form == "yaml":
        config = str(config)
    runner = AgentRunner(config=config)
    assert (runner.model_name, runner.max_turns, runner.default_headers) == ("nova", 2, {"X-Api": "1"})
    assert runner.config["tone"] == "kind"
    over = AgentRunner(config=config, model_name="mini", max_turns=5, default_headers={"X-Api": "2"})
    assert (over.model_name, over.max_turns, over.default_headers) == ("mini", 5, {"X-Api": "2"})


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"config": 7}, "config is int; give a mapping"),
        ({"config": "missing.yaml"}, "Can not read"),
        ({"config": {"default_headers": ["X"]}}, "default_headers is list"),
        ({"config": {"max_turns": "many"}}, "max_turns is 'many'"),
        ({"max_turns": 0}, "1 or more"),
        ({"max_turns": True}, "1 or more"),
    ],
)
def test_a_configuration_that_can_not_work_is_refused(options: dict[str, Any], advice: str) -> None:
    with pytest.raises(OptionError, match=advice):
        AgentRunner(**options)


def test_an_empty_file_is_an_empty_configuration(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")
    assert AgentRunner(config=tmp_path / "a.yaml").config == {}


def test_a_conversation_continues_with_all_that_was_said(server: MockMCPServer) -> None:
    model = FakeModel(
        ["What?", {"tool_calls": [{"name": "search", "args": {"query": "x"}}]}, "Found.", "Bye."]
    )
    conversation = Conversation(AgentRunner(server, model))
    asyncio.run(conversation.say("hi"))
    asyncio.run(conversation.say("x"))
    conversation.say_sync("thanks", access_token="t")
    roles = [message["role"] for message in model.call_log[-1]["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in conversation.history] == [*roles, "assistant"]
    assert conversation.turn_count == 3
    assert len(conversation.all_tool_calls) == 1


def test_what_is_left_of_a_script_can_be_checked() -> None:
    runner = AgentRunner(model=FakeModel(["a", "b"]))
    runner.sync_invoke("hi")
    with pytest.raises(UnusedScriptError):
        runner.check_used_up()
    AgentRunner(model=OwnModel()).check_used_up()


def test_a_runner_is_an_adapter_to_whoever_takes_one() -> None:
    assert isinstance(AgentRunner(), FrameworkAdapter)


def test_the_calls_of_several_turns_have_ids_of_their_own():
    call = {"tool_calls": [{"name": "search", "args": {}}]}
    given = {"tool_calls": [{"name": "search", "args": {}, "id": "call_1_0_0"}]}
    model = FakeModel([given, "one", call, "two", call, "three"])
    talk = Conversation(AgentRunner([MockTool("search", response="row")], model=model))
    for message in "abc":
        talk.say_sync(message)
    ids = [call.id for call in talk.all_tool_calls]
    assert ids[0] == "call_1_0_0"
    assert len(set(ids)) == 3
