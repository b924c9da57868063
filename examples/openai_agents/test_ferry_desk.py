"""The ferry desk under pytest: what it did, not only what it said."""

from __future__ import annotations

import asyncio

import pytest
from ferry_desk import Confirmation, answer, triage

from callsheet import (
    FakeModel,
    MockTool,
    UnmockedToolError,
    assert_no_tool_calls,
    assert_response_contains,
    assert_tool_args_contain,
    assert_tool_call_order,
    assert_tool_calls,
    assert_trajectory,
    wrap,
)

SAILINGS = [{"sailing": "NL7", "departs": "08:10", "price": 40.0}]
BOOKING = {"reference": "FX12", "sailing": "NL7", "paid": 80.0, "status": "cancelled"}


def call(name: str, **args: object) -> dict[str, object]:
    """A scripted reply that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


def test_a_booking_from_first_word_to_confirmation() -> None:
    model = FakeModel(
        agents={
            "Triage": [call("find_customer", email="ada@example.com"), {"handoff": "Bookings"}],
            "Bookings": [
                call("search_sailings", origin="Oslo", destination="Kiel", day="2027-05-01"),
                call("book_sailing", sailing="NL7", passengers=2),
                {"output": {"reference": "FX12", "sailing": "NL7", "passengers": 2, "total": 80.0}},
            ],
        }
    )
    desk = wrap(
        triage,
        model=model,
        tools=[
            MockTool("find_customer", response={"id": 7, "name": "Ada"}),
            MockTool("search_sailings", response=SAILINGS),
            MockTool("book_sailing", response={"reference": "FX12"}),
        ],
    )

    result = desk.sync_invoke("Two to Kiel on the first of May, I am ada@example.com")

    assert_tool_calls(
        result,
        [
            {"name": "find_customer", "args": {"email": "ada@example.com"}},
            {"name": "transfer_to_bookings"},
            {"name": "search_sailings"},
            {"name": "book_sailing", "args": {"sailing": "NL7", "passengers": 2}},
        ],
    )
    assert result.output == Confirmation(reference="FX12", sailing="NL7", passengers=2, total=80.0)
    assert result.agents == ["Triage", "Bookings"]
    assert result.model_used == "gpt-5-nano"


def test_a_refund_over_the_limit_is_never_paid() -> None:
    """The model tries; the application's guardrail holds; a person gets the case."""
    refund = MockTool("issue_refund", response="paid")
    desk = wrap(
        triage,
        model=FakeModel(
            agents={
                "Triage": [{"handoff": "Refunds"}],
                "Refunds": [
                    call("get_booking", reference="FX12"),
                    call("issue_refund", reference="FX12", amount=5000),
                    call("escalate", reference="FX12", reason="refund of 5000"),
                    "A colleague will look at your refund.",
                ],
            }
        ),
        tools=[MockTool("get_booking", response=BOOKING), refund, MockTool("escalate", response="case 9")],
    )

    result = desk.sync_invoke("Give me 5000 back for FX12")

    assert refund.call_count == 0
    attempt = result.get_tool_call("issue_refund")
    assert attempt is not None
    assert attempt.response is None
    assert attempt.seen_by_model == "Refunds over 200 need a person."
    assert_tool_call_order(result, ["get_booking", "issue_refund", "escalate"])
    assert_response_contains(result, "colleague")


def test_a_failing_search_is_tried_again() -> None:
    search = call("search_sailings", origin="Oslo", destination="Kiel", day="2027-05-01")
    desk = wrap(
        triage,
        model=FakeModel(
            agents={
                "Triage": [{"handoff": "Bookings"}],
                "Bookings": [
                    search,
                    search,
                    call("book_sailing", sailing="NL7", passengers=1),
                    {"output": {"reference": "FX13", "sailing": "NL7", "passengers": 1, "total": 40.0}},
                ],
            }
        ),
        tools=[
            MockTool("search_sailings", responses=[TimeoutError("booking system is busy"), SAILINGS]),
            MockTool("book_sailing", response={"reference": "FX13"}),
        ],
    )

    result = desk.sync_invoke("One to Kiel on the first of May")

    first, second = result.get_all_tool_calls("search_sailings")
    assert first.error == "booking system is busy"
    assert second.response == SAILINGS
    assert result.output.total == 40.0


def test_an_unclear_wish_is_asked_about() -> None:
    desk = wrap(triage, model=FakeModel(["Do you want to book or to get money back?"]))
    result = desk.sync_invoke("It is about Kiel")
    assert_no_tool_calls(result)
    assert_response_contains(result, "book or")


def test_the_booking_is_looked_up_before_money_moves() -> None:
    desk = wrap(
        triage,
        model=FakeModel(
            agents={
                "Triage": [{"handoff": "Refunds"}],
                "Refunds": [
                    call("get_booking", reference="FX12"),
                    call("issue_refund", reference="FX12", amount=80),
                    "80 are on their way.",
                ],
            }
        ),
        tools=[MockTool("get_booking", response=BOOKING), MockTool("issue_refund", response="paid")],
    )

    result = desk.sync_invoke("My sailing FX12 was cancelled")

    assert_tool_args_contain(result, "issue_refund", {"amount": 80})
    assert_trajectory(
        result,
        [
            {"role": "handoff", "name": "Refunds", "agent": "Triage"},
            {"role": "tool", "name": "get_booking"},
            {"role": "tool", "name": "issue_refund", "content": "paid"},
            {"role": "assistant", "content": "80 are on their way."},
        ],
        mode="ordered_subset",
    )


def test_the_application_itself_runs_in_a_session() -> None:
    """`answer()` builds its own run somewhere deep inside; the session reaches it there."""
    desk = wrap(triage, model=FakeModel(["How can I help?"]))
    with desk.session() as session:
        said = asyncio.run(answer("Hello"))
    assert said == "How can I help?"
    assert session.result.response == said


def test_a_forgotten_mock_fails_the_test_instead_of_paying() -> None:
    desk = wrap(
        triage,
        model=FakeModel(
            agents={
                "Triage": [{"handoff": "Refunds"}],
                "Refunds": [call("issue_refund", reference="FX12", amount=80), "Done."],
            }
        ),
        tools=[MockTool("get_booking", response=BOOKING)],
    )
    with pytest.raises(UnmockedToolError, match=r"No mock for tool 'issue_refund' \(agent 'Refunds'\)"):
        desk.sync_invoke("Pay me back for FX12")
