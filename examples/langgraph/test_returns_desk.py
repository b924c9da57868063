"""The returns desk under test: what it calls, in which order, and what it never does by itself."""

from __future__ import annotations

import pytest
from langgraph.types import Command
from returns_desk import desk, handle

from callsheet import (
    Conversation,
    FakeModel,
    MockTool,
    UnmockedToolError,
    assert_response_contains,
    assert_tool_args_contain,
    assert_tool_call_order,
)
from callsheet.adapters import LangGraphAdapter

ORDER = {"number": "A17", "total": 40.0, "delivered": "yesterday"}


def call(name: str, **args: object) -> dict[str, object]:
    """A scripted reply that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


def script(*end: object) -> FakeModel:
    return FakeModel(
        agents={
            "Clerk": [
                call("get_order", number="A17"),
                call("ask_policy", question="May a shirt go back?"),
                call("pay_back", number="A17", amount=40.0),
                *end,
            ],
            "PolicyExpert": [call("search_policy", question="shirt"), "Yes, within 14 days."],
        }
    )


def mocks() -> list[MockTool]:
    return [
        MockTool("get_order", response=ORDER),
        MockTool("search_policy", response=["Shirts may be returned within 14 days."]),
        MockTool("pay_back", response="refund R1"),
    ]


def test_nothing_is_paid_before_a_person_agrees():
    adapter = LangGraphAdapter(desk, tools=mocks(), model=script())
    result = adapter.sync_invoke("I want to return my shirt, order A17")
    assert_tool_call_order(result, ["get_order", "ask_policy", "search_policy", "pay_back"])
    assert result.get_tool_call("pay_back").outcome == "skipped"
    assert [entry.role for entry in result.trace][-1] == "interrupt"


def test_the_agreed_amount_is_paid():
    adapter = LangGraphAdapter(desk, tools=mocks(), model=script("40 are on their way."))
    with adapter.session() as session:
        assert handle("ada", "I want to return my shirt, order A17") == "A colleague has to agree."
        desk.invoke(
            Command(resume={"decisions": [{"type": "approve"}]}), {"configurable": {"thread_id": "ada"}}
        )
    assert_tool_args_contain(session.result, "pay_back", {"amount": 40.0})
    assert session.result.get_tool_call("pay_back").response == "refund R1"
    assert_response_contains(session.result, "on their way")


def test_a_refused_refund_is_told_to_the_clerk():
    adapter = LangGraphAdapter(desk, tools=mocks(), model=script("I am sorry, not this time."))
    with adapter.session() as session:
        handle("bo", "I want to return my shirt, order A17")
        desk.invoke(
            Command(resume={"decisions": [{"type": "reject", "message": "Worn"}]}),
            {"configurable": {"thread_id": "bo"}},
        )
    refund = session.result.get_tool_call("pay_back")
    assert refund.outcome == "denied"
    assert "Worn" in refund.seen_by_model


def test_the_expert_reads_the_policy_for_the_clerk():
    adapter = LangGraphAdapter(desk, tools=mocks(), model=script())
    result = adapter.sync_invoke("May my shirt go back?")
    search = result.get_tool_call("search_policy")
    assert search.agent == "PolicyExpert"
    assert search.parent_id == result.get_tool_call("ask_policy").id


def test_a_shop_that_is_down_ends_the_run():
    adapter = LangGraphAdapter(
        desk, tools=[MockTool("get_order", raises=TimeoutError("shop"))], model=script(), strict=False
    )
    with pytest.raises(TimeoutError, match="shop"):
        adapter.sync_invoke("order A17")
    assert adapter.last_result.tool_names == ["get_order"]


def test_the_real_shop_is_never_asked():
    with pytest.raises(UnmockedToolError, match="get_order"):
        LangGraphAdapter(desk, model=script(), strict=False).sync_invoke("order A17")


def test_a_customer_is_remembered():
    model = FakeModel(
        agents={"Clerk": ["Which order?", call("get_order", number="A17"), "It came yesterday."]}
    )
    adapter = LangGraphAdapter(desk, tools=mocks()[:1], model=model)
    with Conversation(adapter) as talk:
        talk.say_sync("Where is my shirt?")
        talk.say_sync("A17")
    said = [message["content"] for message in model.call_log[-1]["messages"] if message["role"] == "user"]
    assert said == ["Where is my shirt?", "A17"]
