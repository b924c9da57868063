"""Turns of a conversation go on where the one before ended, as a program by the SDK's own pages does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession, function_tool

from callsheet import AgentResult, Conversation, FakeModel, MockTool
from callsheet_openai_agents import OpenAIAgentsAdapter

hits: list[str] = []


@pytest.fixture(autouse=True)
def no_real_body_runs() -> Iterator[None]:
    hits.clear()
    yield
    assert not hits


@function_tool(needs_approval=True)
def refund(order: str) -> str:
    """Pay money back."""
    hits.append(order)
    return "REAL"


@function_tool
def lookup(q: str) -> str:
    """Look something up."""
    hits.append(q)
    return "REAL"


CALL = {"tool_calls": [{"name": "lookup", "args": {"q": "x"}}]}


def triage() -> Agent[Any]:
    return Agent(name="Triage", handoffs=[Agent(name="Refunds", tools=[lookup, refund])])


def wrapped(model: FakeModel, agent: Agent[Any] | None = None) -> OpenAIAgentsAdapter:
    tools = [MockTool("lookup", response="mocked"), MockTool("refund", response="paid")]
    return OpenAIAgentsAdapter(agent or triage(), tools=tools, model=model)


def roles(request: dict[str, Any]) -> list[str]:
    return [message["role"] for message in request["messages"]]


def test_next_turn_starts_at_the_agent_that_ended_the_one_before() -> None:
    model = FakeModel(agents={"Triage": [{"handoff": "Refunds"}], "Refunds": ["Which?", CALL, "Done."]})
    with Conversation(wrapped(model)) as talk:
        assert talk.say_sync("My money, please").agents == ["Triage", "Refunds"]
        second = talk.say_sync("A1")
    assert second.agents == ["Refunds"]
    assert [(call.name, call.agent) for call in second.tool_calls] == [("lookup", "Refunds")]
    assert [request["agent"] for request in model.call_log] == ["Triage", "Refunds", "Refunds", "Refunds"]
    assert model.call_log[-1]["messages"][0]["content"] == "My money, please"


def test_turns_are_those_of_a_program_by_the_sdks_own_pages() -> None:
    script = {"Triage": [{"handoff": "Refunds"}], "Refunds": ["Which?", CALL, "Done."]}

    async def program(agent: Agent[Any]) -> None:
        current, items = agent, []
        for said in ("My money, please", "A1"):
            result = await Runner.run(current, [*items, {"role": "user", "content": said}])
            current, items = result.last_agent, result.to_input_list()

    agent = triage()
    by_hand, by_talk = FakeModel(agents=script), FakeModel(agents=script)
    with wrapped(by_hand, agent).session():
        asyncio.run(program(agent))
    with Conversation(wrapped(by_talk, agent)) as talk:
        for said in ("My money, please", "A1"):
            talk.say_sync(said)

    def asked(model: FakeModel) -> list[Any]:
        # Only the ids of the calls differ: every session counts its own.
        keys = ("agent", "model", "tools", "headers")
        said = [[(m["role"], m.get("content")) for m in request["messages"]] for request in model.call_log]
        return [said, [[request[key] for key in keys] for request in model.call_log]]

    assert asked(by_talk) == asked(by_hand)


def test_turn_may_start_at_another_agent() -> None:
    agent = triage()
    model = FakeModel(agents={"Triage": [{"handoff": "Refunds"}, "Hello again"], "Refunds": ["Done."]})
    with Conversation(wrapped(model, agent)) as talk:
        talk.say_sync("My money, please")
        assert talk.say_sync("Hi", starting_agent=agent).agents == ["Triage"]
    assert roles(model.call_log[-1]) == ["user", "assistant", "tool", "assistant", "user"]


def test_what_a_session_keeps_is_not_said_again() -> None:
    model = FakeModel(agents={"Triage": [{"handoff": "Refunds"}], "Refunds": ["Which?", CALL, "Done."]})
    with closing(SQLiteSession("talk")) as memory, Conversation(wrapped(model)) as talk:
        talk.say_sync("My money, please", session=memory)
        assert talk.say_sync("A1", session=memory).agents == ["Refunds"]
    assert roles(model.call_log[2]) == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("repeated", [True, False])
def test_chain_of_responses_goes_on_with_the_latest_id(repeated: bool) -> None:
    model = FakeModel(
        agents={"Triage": [{"handoff": "Refunds"}], "Refunds": ["Which?", CALL, "Done.", "Bye"]}
    )
    later = {"auto_previous_response_id": True} if repeated else {}
    with Conversation(wrapped(model)) as talk:
        first = talk.say_sync("My money, please", auto_previous_response_id=True)
        second = talk.say_sync("A1", **later)
        third = talk.say_sync("Bye", **later)
    assert [result.agents for result in (second, third)] == [["Refunds"], ["Refunds"]]
    assert second.native._previous_response_id is not None
    assert first.native.last_response_id != second.native.last_response_id
    assert [roles(request) for request in model.call_log[2:]] == [["user"], ["tool"], ["user"]]


def test_id_of_a_response_is_the_tests_to_choose() -> None:
    model = FakeModel(["One", "Two"])
    with Conversation(wrapped(model)) as talk:
        first = talk.say_sync("a")
        talk.say_sync("b", previous_response_id=first.native.last_response_id)
    assert roles(model.call_log[-1]) == ["user"]


def test_conversation_the_provider_keeps_goes_on_under_its_id() -> None:
    model = FakeModel(["One", "Two", "Three"])
    with Conversation(wrapped(model)) as talk:
        talk.say_sync("a", conversation_id="conv_1")
        talk.say_sync("b", conversation_id="conv_1")
        third = talk.say_sync("c")
    assert [roles(request) for request in model.call_log] == [["user"]] * 3
    assert third.native._conversation_id == "conv_1"


def test_history_the_test_gives_takes_the_place_of_what_was_said() -> None:
    model = FakeModel(["One", "Two"])
    with Conversation(wrapped(model)) as talk:
        talk.say_sync("a")
        talk.say_sync("b", history=[{"role": "user", "content": "other"}])
    assert [message["content"] for message in model.call_log[-1]["messages"]] == ["other", "b"]


def test_approved_turn_goes_on_from_its_state() -> None:
    ask = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}
    model = FakeModel(agents={"Triage": [{"handoff": "Refunds"}], "Refunds": [ask, "Paid.", "Bye."]})

    def approved(result: AgentResult) -> Any:
        state = result.native.to_state()
        for item in result.native.interruptions:
            state.approve(item)
        return state

    with Conversation(wrapped(model)) as talk:
        first = talk.say_sync("My money, please")
        assert first.tool_calls[-1].outcome == "interrupted"
        second = talk.say_sync(approved(first))
        third = talk.say_sync("Thanks")
    assert [(call.name, call.response, call.mocked) for call in second.tool_calls] == [
        ("refund", "paid", True)
    ]
    assert third.agents == ["Refunds"]
    assert roles(model.call_log[-1]) == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


def test_conversation_that_was_reset_starts_afresh() -> None:
    model = FakeModel(agents={"Triage": [{"handoff": "Refunds"}, "Hello"], "Refunds": ["Which?"]})
    with Conversation(wrapped(model)) as talk:
        talk.say_sync("My money, please")
        talk.reset()
        assert talk.say_sync("Hi").agents == ["Triage"]
    assert roles(model.call_log[-1]) == ["user"]


def test_calls_of_every_turn_stay_apart_in_what_the_model_is_told() -> None:
    """The SDK drops the first of two calls with one id."""
    model = FakeModel([CALL, "One", CALL, "Two"])
    with Conversation(wrapped(model, Agent(name="Desk", tools=[lookup, refund]))) as talk:
        talk.say_sync("a")
        talk.say_sync("b")
    one_turn = ["user", "assistant", "tool"]
    assert roles(model.call_log[-1]) == [*one_turn, "assistant", *one_turn]
    assert len({call.id for call in talk.all_tool_calls}) == 2


def test_runs_that_share_a_memory_stay_apart_in_it() -> None:
    model = FakeModel([CALL, "One", CALL, "Two"])
    adapter = wrapped(model, Agent(name="Desk", tools=[lookup, refund]))
    with closing(SQLiteSession("shared")) as memory:
        for said in ("a", "b"):
            with adapter.session(strict=False):
                asyncio.run(Runner.run(adapter.agent, said, session=memory))
        assert [item.get("type") for item in asyncio.run(memory.get_items())].count("function_call") == 2
    one_turn = ["user", "assistant", "tool"]
    assert roles(model.call_log[-1]) == [*one_turn, "assistant", *one_turn]


def test_memory_is_an_option_of_a_run() -> None:
    adapter = wrapped(FakeModel(["One"]))
    with closing(SQLiteSession("option")) as memory:
        adapter.sync_invoke("a", session=memory)
        assert len(asyncio.run(memory.get_items())) == 2
