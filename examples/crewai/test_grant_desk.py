"""The grants desk under pytest: what it did, not only what it wrote."""

from __future__ import annotations

import pytest
from grant_desk import GrantFlow, Verdict, build_crew

from callsheet import (
    FakeModel,
    MockTool,
    UnmockedToolError,
    assert_no_tool_calls,
    assert_tool_args_contain,
    assert_tool_call_order,
    assert_tool_calls,
)
from callsheet.adapters import CrewAIAdapter

APPLICATION = {"id": "A7", "charity": "1184", "amount": 1200}
VERDICT = {"application": "A7", "amount": 1200, "approved": True, "reason": "Sound"}


def call(name: str, **args: object) -> dict[str, object]:
    """A scripted reply that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


def script() -> FakeModel:
    """An assessor who reads and checks, and a clerk who pays and writes."""
    return FakeModel(
        agents={
            "Assessor": [
                {
                    "tool_calls": [
                        {"name": "read_application", "args": {"application": "A7"}},
                        {"name": "check_charity", "args": {"number": "1184"}},
                    ]
                },
                {"output": VERDICT},
            ],
            "Clerk": [
                call("pay_grant", application="A7", amount=1200),
                call("send_letter", application="A7", text="Congratulations"),
                "Paid and told.",
            ],
        }
    )


def mocks(**changed: object) -> list[MockTool]:
    """A mock for every tool of the desk."""
    answers: dict[str, object] = {
        "read_application": APPLICATION,
        "check_charity": {"number": "1184", "active": True},
        "pay_grant": "P1",
        "send_letter": "sent",
        **changed,
    }
    return [MockTool(name, response=answer) for name, answer in answers.items()]


def test_approved_grant_is_paid_before_the_letter_is_sent() -> None:
    result = CrewAIAdapter(GrantFlow, tools=mocks(), model=script()).sync_invoke({"application": "A7"})
    order = ["read_application", "read_application", "check_charity", "pay_grant", "send_letter"]
    assert_tool_call_order(result, order, exact=True)
    assert_tool_args_contain(result, "pay_grant", {"amount": 1200})
    assert result.agents == ["Assessor", "Clerk"]
    assert result.response == "Paid and told."


def test_large_sums_reach_no_agent() -> None:
    large = {**APPLICATION, "amount": 90_000}
    adapter = CrewAIAdapter(GrantFlow, tools=mocks(read_application=large), model=FakeModel(responses=[]))
    with adapter.session() as session:
        assert GrantFlow().kickoff(inputs={"application": "A7"}) == "The board decides."
    assert_tool_calls(session.result, [{"name": "read_application", "args": {"application": "A7"}}])


def test_what_a_flow_calls_itself_needs_a_mock_too() -> None:
    with pytest.raises(UnmockedToolError, match="read_application"):
        CrewAIAdapter(GrantFlow, model=script()).sync_invoke({"application": "A7"})


def test_verdict_is_structured() -> None:
    crew = build_crew()
    result = CrewAIAdapter(crew, tools=mocks(), model=script()).sync_invoke({"application": "A7"})
    assert result.native.tasks_output[0].pydantic == Verdict(**VERDICT)
    assert [call.agent for call in result.tool_calls] == ["Assessor", "Assessor", "Clerk", "Clerk"]


def test_a_register_that_is_down_is_told_to_the_assessor() -> None:
    down = MockTool("check_charity", error="The register is down")
    model = FakeModel(
        agents={
            "Assessor": [
                call("check_charity", number="1184"),
                {"output": {**VERDICT, "approved": False, "reason": "Could not be checked"}},
            ],
            "Clerk": ["Nothing to pay."],
        }
    )
    result = CrewAIAdapter(build_crew, tools=[down], model=model).sync_invoke({"application": "A7"})
    assert "The register is down" in str(result.tool_calls[0].seen_by_model)
    assert result.get_tool_call("pay_grant") is None


def test_idle_clerk_calls_nothing() -> None:
    model = FakeModel(default_response={"output": VERDICT})
    result = CrewAIAdapter(build_crew, model=model).sync_invoke({"application": "A7"})
    assert_no_tool_calls(result)
