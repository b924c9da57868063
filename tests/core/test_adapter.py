"""What every adapter does the same way, on the toy framework."""

from __future__ import annotations

import asyncio

import pytest

from callsheet import (
    Conversation,
    FakeModel,
    MockConfigError,
    MockTool,
    UnknownMockError,
    UnmockedToolError,
    UnusedScriptError,
)
from callsheet.adapters import FrameworkAdapter
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyModel, ToyReply, ToyTool

SEARCH = ToyTool("search", lambda q: pytest.fail("the real tool ran"), {"type": "object"})
CALL = {"tool_calls": [{"name": "search", "args": {"q": "x"}}]}


@pytest.fixture
def agent():
    return ToyAgent("Desk", tools=[SEARCH])


def test_an_adapter_is_what_a_conversation_needs(agent):
    assert isinstance(ToyAdapter(agent), FrameworkAdapter)


def test_the_frameworks_own_model_is_taken(agent):
    class Echo(ToyModel):
        async def reply(self, agent, messages, headers):
            return ToyReply(messages[-1]["content"])

    adapter = ToyAdapter(agent, model=Echo("echo"))
    assert adapter.sync_invoke("hi").response == "hi"
    assert adapter.last_result.model_used == "toy-model"


def test_without_a_model_the_agent_keeps_its_own(agent):
    adapter = ToyAdapter(agent)
    with pytest.raises(ConnectionError, match="no provider for toy-model"):
        adapter.sync_invoke("hi")
    assert adapter.last_result.error.startswith("ConnectionError: no provider")
    assert adapter.last_result.trace[0].content == "hi"


def test_a_model_of_neither_kind_is_refused(agent):
    with pytest.raises(MockConfigError, match="model is str"):
        ToyAdapter(agent, model="gpt-5")


def test_tools_known_only_while_running_are_judged_at_the_end(agent):
    agent.dynamic = True
    adapter = ToyAdapter(
        agent, tools=[MockTool("search", response=1), MockTool("serch")], model=FakeModel(["x"])
    )
    with pytest.raises(UnknownMockError, match="serch"):
        adapter.sync_invoke("hi")


def test_closing_an_adapter_closes_what_was_left_open(agent):
    adapter = ToyAdapter(agent, model=FakeModel(["x"], default_response="y"), strict=False)
    session = adapter.session()
    session.open()
    adapter.close()
    assert not session.is_open


def test_closing_an_adapter_raises_what_was_broken(agent):
    adapter = ToyAdapter(agent)
    session = adapter.session()
    session.open()
    session.poison(UnmockedToolError("search"))
    with pytest.raises(UnmockedToolError):
        adapter.close()


def test_a_conversation_that_ends_early_leaves_its_script_over(agent):
    adapter = ToyAdapter(agent, model=FakeModel(["one", "two"]))
    Conversation(adapter).say_sync("hi")
    with pytest.raises(UnusedScriptError):
        adapter.close()
    adapter.close()


def test_an_adapter_that_is_not_strict_leaves_what_it_likes(agent):
    adapter = ToyAdapter(agent, model=FakeModel(["one", "two"]), strict=False)
    with Conversation(adapter) as talk:
        talk.say_sync("hi")
    ToyAdapter(agent).check_used_up()


class TestConversation:
    def test_turns_go_on_from_each_other(self, agent):
        model = FakeModel(["Which?", CALL, "Found"])
        talk = Conversation(ToyAdapter(agent, tools=[MockTool("search", response="row")], model=model))
        assert talk.last_result is None
        talk.say_sync("Find it")
        asyncio.run(talk.say("The red one", headers={"X-A": "1"}, metadata={"turn": 2}))
        assert talk.turn_count == 2
        assert talk.last_result.response == "Found"
        assert talk.last_result.headers == {"X-A": "1"}
        assert talk.last_result.metadata["turn"] == 2
        assert [call.name for call in talk.all_tool_calls] == ["search"]
        assert [message["role"] for message in talk.history] == [
            "user",
            "assistant",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert [message["content"] for message in model.call_log[1]["messages"]] == [
            "Find it",
            "Which?",
            "The red one",
        ]

    def test_reset_starts_afresh(self, agent):
        model = FakeModel(default_response="hi")
        talk = Conversation(ToyAdapter(agent, model=model))
        talk.say_sync("one")
        talk.reset()
        talk.say_sync("two")
        assert talk.turn_count == 1
        assert len(model.call_log[1]["messages"]) == 1

    def test_leaving_it_checks_the_script(self, agent):
        adapter = ToyAdapter(agent, model=FakeModel(["one", "two"]))
        with pytest.raises(UnusedScriptError), Conversation(adapter) as talk:
            talk.say_sync("hi")

    def test_leaving_it_with_an_exception_does_not(self, agent):
        adapter = ToyAdapter(agent, model=FakeModel(["one", "two"]))
        with pytest.raises(ZeroDivisionError), Conversation(adapter):
            raise ZeroDivisionError

    def test_any_object_that_says_it_is_an_adapter_will_do(self):
        class Runner:
            framework_name = "of my own"

            def __init__(self):
                self.asked = []

            def sync_invoke(self, message, **options):
                self.asked.append((message, options))
                return ToyAdapter(ToyAgent("Desk"), model=FakeModel(["yes"])).sync_invoke(message)

            async def invoke(self, message, **options):
                return self.sync_invoke(message, **options)

        runner = Runner()
        with Conversation(runner) as talk:
            talk.say_sync("one")
            asyncio.run(talk.say("two"))
        history = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "yes"}]
        assert runner.asked == [("one", {}), ("two", {"history": history})]
