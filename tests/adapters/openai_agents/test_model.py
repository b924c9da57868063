"""The scripted model, the SDK's own ones, and what stays the SDK's business around them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import agents
import pytest
from agents import Agent, ModelBehaviorError, ModelSettings, RunConfig, Runner, SQLiteSession, function_tool

from callsheet import Conversation, FakeModel, MockConfigError, MockTool, ScriptError
from callsheet_openai_agents import OpenAIAgentsAdapter


@function_tool
def lookup(q: str) -> str:
    """Look something up."""
    raise AssertionError("the real tool ran")


CALL = {"tool_calls": [{"name": "lookup", "args": {"q": "x"}}]}
MOCK = MockTool("lookup", response="mocked")


def events_of(*steps: Any) -> list[Any]:
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk", tools=[lookup]), tools=[MOCK], model=FakeModel(list(steps))
    )

    async def main() -> list[Any]:
        return [event async for event in adapter.stream("go")]

    return [event.data for event in asyncio.run(main()) if event.type == "raw_response_event"]


def test_stream_has_the_events_of_the_real_api_in_their_order() -> None:
    kinds = [event.type for event in events_of({"thinking": "hm", "content": "one two"})]
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_fragments_of_a_stream_join_to_the_text_and_the_arguments() -> None:
    events = events_of(CALL, "one two")
    arguments = [e.delta for e in events if e.type == "response.function_call_arguments.delta"]
    texts = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert "".join(arguments) == '{"q": "x"}'
    assert "".join(texts) == "one two"
    assert len(texts) == 2


def test_numbers_of_a_streams_events_rise_by_one() -> None:
    numbers = [event.sequence_number for event in events_of("one two")]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(
    ("word", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")]
)
def test_stream_of_a_reply_that_is_cut_short_ends_incomplete(word: str, reason: str) -> None:
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk"), model=FakeModel([{"content": "half an", "finish_reason": word}])
    )
    raw: list[Any] = []
    said = ""

    async def main() -> None:
        nonlocal said
        # Later versions end the run by an exception of their own.
        with suppress(ModelBehaviorError):
            async for event in adapter.stream("go"):
                if event.type == "raw_response_event":
                    raw.append(event.data)
                    said += getattr(event.data, "delta", "")

    asyncio.run(main())
    last = raw[-1]
    assert last.type == "response.incomplete"
    assert (last.response.status, last.response.incomplete_details.reason) == ("incomplete", reason)
    assert last.response.output[-1].status == "incomplete"
    assert said == "half an"


def test_finish_reason_no_model_gives_is_an_error_with_the_closest() -> None:
    model = FakeModel([{"content": "half an", "finish_reason": "lengthh"}])
    with pytest.raises(ScriptError, match=r"'lengthh'.*Did you mean 'length'"):
        OpenAIAgentsAdapter(Agent(name="Desk"), model=model).sync_invoke("go")


@pytest.mark.parametrize("word", ["stop", "tool_calls", "end_turn"])
def test_reply_with_another_finish_reason_is_whole(word: str) -> None:
    model = FakeModel([{"content": "whole", "finish_reason": word}])
    result = OpenAIAgentsAdapter(Agent(name="Desk"), model=model).sync_invoke("go")
    assert result.response == "whole"
    assert result.native.raw_responses[0].output[0].status == "completed"


def test_script_no_model_could_write_is_an_error_naming_the_agent() -> None:
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk"), model=FakeModel([{"native": [{"type": "web_search_call"}]}])
    )
    with pytest.raises(ScriptError, match="Desk"):
        adapter.sync_invoke("go")


def test_no_two_replies_share_an_id() -> None:
    adapter = OpenAIAgentsAdapter(
        Agent(name="Desk", tools=[lookup]), tools=[MOCK], model=FakeModel([CALL, CALL, "done"])
    )
    native = adapter.sync_invoke("go").native
    ids = [response.response_id for response in native.raw_responses]
    items = [item.id for response in native.raw_responses for item in response.output]
    assert len(set(ids)) == 3
    assert len(set(items)) == 3


def test_any_model_of_the_sdks_is_taken() -> None:
    class Parrot(agents.Model):
        async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
            from openai.types.responses import ResponseOutputMessage, ResponseOutputText

            part = ResponseOutputText(text=str(input[0]["content"]), type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[part]
            )
            return agents.ModelResponse(output=[message], usage=agents.Usage(requests=1), response_id=None)

        def stream_response(self, *rest: Any, **named: Any) -> Any:
            raise NotImplementedError

    assert OpenAIAgentsAdapter(Agent(name="Desk"), model=Parrot()).sync_invoke("hello").response == "hello"
    assert OpenAIAgentsAdapter(Agent(name="Desk", model=Parrot())).sync_invoke("hello").response == "hello"


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(MockConfigError, match=r"agents\.Model"):
        OpenAIAgentsAdapter(Agent(name="Desk"), model=object())


def test_implicit_settings_of_a_model_survive_the_script() -> None:
    """The SDK has settings for the model it would ask; they are what a scripted run is given too."""
    seen: list[Any] = []
    agent = Agent(name="Desk", model="gpt-5", model_settings=ModelSettings(extra_headers={"X-A": "1"}))
    before = agent.model_settings
    adapter = OpenAIAgentsAdapter(agent, model=FakeModel([lambda request: seen.append(request) or "done"]))
    result = adapter.sync_invoke("go", run_config=RunConfig(model_settings=ModelSettings(temperature=0.1)))
    assert agent.model_settings is before
    assert result.model_used == "gpt-5"
    assert seen[0].headers == {"X-A": "1"}


def test_model_of_the_run_is_the_model_used() -> None:
    adapter = OpenAIAgentsAdapter(Agent(name="Desk", model="agents-own"), model=FakeModel(["done"]))
    assert adapter.sync_invoke("go", run_config=RunConfig(model="runs-own")).model_used == "runs-own"


class NeverAsked(agents.Model):
    """A model no test should reach."""

    async def get_response(self, *given: Any, **named: Any) -> Any:
        raise AssertionError("the real model was asked")

    def stream_response(self, *given: Any, **named: Any) -> Any:
        raise AssertionError("the real model was asked")


@pytest.mark.parametrize("streamed", [False, True])
def test_agent_used_as_a_tool_is_scripted_whatever_its_own_run_is_configured_with(streamed: bool) -> None:
    started: list[str] = []
    events: list[Any] = []

    class Hooks(agents.RunHooks[Any]):
        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            started.append(tool.name)

    inner = Agent(name="Inner", model=NeverAsked(), tools=[lookup])
    tool = inner.as_tool(
        "ask",
        "Ask",
        run_config=RunConfig(model=NeverAsked()),
        hooks=Hooks(),
        max_turns=3,
        on_stream=events.append if streamed else None,
    )
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}]}
    model = FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "found"]})
    adapter = OpenAIAgentsAdapter(Agent(name="Desk", tools=[tool]), tools=[MOCK], model=model)
    result = adapter.sync_invoke("go")
    assert [(call.name, call.agent, call.response) for call in result.tool_calls] == [
        ("ask", "Desk", "found"),
        ("lookup", "Inner", "mocked"),
    ]
    assert started == ["lookup"]
    assert bool(events) == streamed


def test_conversation_goes_on_with_the_sdks_own_items() -> None:
    model = FakeModel([CALL, "found", "again"])
    adapter = OpenAIAgentsAdapter(Agent(name="Desk", tools=[lookup]), tools=[MOCK], model=model)
    with Conversation(adapter) as talk:
        talk.say_sync("find it")
        talk.say_sync("and now?")
    roles = [message["role"] for message in model.call_log[-1]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


def test_memory_of_a_session_reaches_the_model() -> None:
    model = FakeModel([CALL, "found", "again"])
    agent = Agent(name="Desk", tools=[lookup])
    memory = SQLiteSession("talk")

    async def main() -> None:
        await Runner.run(agent, "find it", session=memory)
        await Runner.run(agent, "and now?", session=memory)

    with OpenAIAgentsAdapter(agent, tools=[MOCK], model=model).session() as session:
        asyncio.run(main())
    memory.close()
    roles = [message["role"] for message in model.call_log[-1]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert [entry.content for entry in session.trace if entry.role == "user"] == ["find it", "and now?"]


def test_with_a_response_id_only_what_is_new_is_sent() -> None:
    model = FakeModel([CALL, "found", "again"])
    agent = Agent(name="Desk", tools=[lookup])

    async def main() -> None:
        first = await Runner.run(agent, "find it", auto_previous_response_id=True)
        await Runner.run(agent, "and now?", previous_response_id=first.last_response_id)

    with OpenAIAgentsAdapter(agent, tools=[MOCK], model=model).session():
        asyncio.run(main())
    said = [[message["role"] for message in request["messages"]] for request in model.call_log]
    assert said == [["user"], ["tool"], ["user"]]


@pytest.mark.parametrize("parallel", [True, False])
def test_parallel_calls_are_the_agents_setting(parallel: bool) -> None:
    agent = Agent(name="Desk", tools=[lookup], model_settings=ModelSettings(parallel_tool_calls=parallel))
    both = {"tool_calls": [*CALL["tool_calls"], {"name": "lookup", "args": {"q": "y"}}]}
    result = OpenAIAgentsAdapter(agent, tools=[MOCK], model=FakeModel([both, "done"])).sync_invoke("go")
    assert len(result.batches) == 1


if hasattr(agents, "ModelRetrySettings"):

    def test_failed_model_call_is_retried_by_the_sdk() -> None:
        retry = agents.ModelRetrySettings(
            max_retries=1,
            backoff={"initial_delay": 0, "max_delay": 0},
            policy=lambda context: True,
        )
        agent = Agent(name="Desk", tools=[lookup], model_settings=ModelSettings(retry=retry))
        model = FakeModel([ConnectionResetError("down"), CALL, "done"])
        result = OpenAIAgentsAdapter(agent, tools=[MOCK], model=model).sync_invoke("go")
        assert (result.response, model.call_count) == ("done", 3)


if hasattr(agents, "testing") or agents.version.__version__ >= "0.21":

    def test_scripted_model_of_the_sdk_is_taken() -> None:
        from agents.testing import ScriptedModel, assistant_message, function_call

        steps = [[function_call("lookup", {"q": "x"}, call_id="c1")], [assistant_message("done")]]
        adapter = OpenAIAgentsAdapter(
            Agent(name="Desk", tools=[lookup]), tools=[MOCK], model=ScriptedModel(steps)
        )
        result = adapter.sync_invoke("go")
        assert (result.response, result.tool_calls[0].response) == ("done", "mocked")
