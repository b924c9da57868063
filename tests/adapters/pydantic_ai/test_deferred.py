"""Calls that wait for an approval or for an answer from outside."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.tools import ToolDefinition, ToolDenied
from pydantic_ai.toolsets import ApprovalRequiredToolset, CombinedToolset, ExternalToolset

from callsheet import Conversation, FakeModel, MockTool, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import agent, hits, refund, toolset

REFUND = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}
SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "string"}},
    "required": ["order"],
    "additionalProperties": False,
}


def external(*capabilities: Any) -> Agent[Any, Any]:
    definition = ToolDefinition(name="refund", parameters_json_schema=SCHEMA)
    return agent(
        toolsets=[ExternalToolset([definition])],
        output_type=[str, DeferredToolRequests],
        capabilities=list(capabilities),
    )


def wrapped(clerk: Any, *steps: Any, tools: Any = (), **options: Any) -> PydanticAIAdapter:
    return PydanticAIAdapter(clerk, tools=tools, model=FakeModel(list(steps)), **options)


class Resolving(AbstractCapability[Any]):
    """Resolves deferred calls in the process, as an application may."""

    async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
        hits["resolved"] += len(requests.calls) + len(requests.approvals)
        return DeferredToolResults(
            calls={call.tool_call_id: "REAL" for call in requests.calls},
            approvals={call.tool_call_id: True for call in requests.approvals},
        )


def run(clerk: Agent[Any, Any], prompt: str | None = None, **options: Any) -> Any:
    return asyncio.run(clerk.run(prompt, **options))


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


ASKING = {
    "requires_approval": lambda: agent(
        tools=[Tool(refund, requires_approval=True)], output_type=[str, DeferredToolRequests]
    ),
    "toolset": lambda: agent(
        toolsets=[ApprovalRequiredToolset(toolset())], output_type=[str, DeferredToolRequests]
    ),
    "toolset below others": lambda: agent(
        toolsets=[
            CombinedToolset([ApprovalRequiredToolset(toolset()).prefixed("x")]).renamed(
                {"refund": "x_refund"}
            )
        ],
        output_type=[str, DeferredToolRequests],
    ),
}


@pytest.mark.parametrize("how", ASKING)
def test_call_waits_for_its_approval_and_is_then_mocked(how: str) -> None:
    clerk = ASKING[how]()
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="refunded")])
    with given.session() as session:
        waiting = run(clerk, "Refund A1")
        assert [call.outcome for call in session.tool_calls] == ["interrupted"]
        assert [entry.role for entry in session.trace] == ["user", "tool", "interrupt"]
        approvals = {call.tool_call_id: True for call in waiting.output.approvals}
        resumed = run(
            clerk,
            message_history=waiting.all_messages(),
            deferred_tool_results=DeferredToolResults(approvals=approvals),
        )
    assert resumed.output == "done"
    (call,) = session.tool_calls
    assert (call.outcome, call.response, call.mocked) == ("success", "refunded", True)
    assert call.seen_by_model == "refunded"
    assert not hits


@pytest.mark.parametrize("how", ASKING)
def test_denied_call_is_recorded_and_told(how: str) -> None:
    clerk = ASKING[how]()
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="refunded")])
    with given.session() as session:
        waiting = run(clerk, "Refund A1")
        denied = {call.tool_call_id: ToolDenied("not today") for call in waiting.output.approvals}
        run(
            clerk,
            message_history=waiting.all_messages(),
            deferred_tool_results=DeferredToolResults(approvals=denied),
        )
    (call,) = session.tool_calls
    assert (call.outcome, call.seen_by_model) == ("denied", "not today")
    assert not hits


@pytest.mark.parametrize("how", ASKING)
def test_approved_call_without_a_mock_is_refused(how: str) -> None:
    clerk = ASKING[how]()
    with pytest.raises(UnmockedToolError, match="refund"), wrapped(clerk, REFUND).session():
        waiting = run(clerk, "Refund A1")
        approvals = {call.tool_call_id: True for call in waiting.output.approvals}
        run(
            clerk,
            message_history=waiting.all_messages(),
            deferred_tool_results=DeferredToolResults(approvals=approvals),
        )
    assert not hits


def test_approval_goes_on_in_a_later_session() -> None:
    clerk = ASKING["requires_approval"]()
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="refunded")])
    with Conversation(given) as talk:
        waiting = talk.say_sync("Refund A1")
        approvals = {call.tool_call_id: True for call in waiting.output.approvals}
        result = talk.say_sync(None, deferred_tool_results=DeferredToolResults(approvals=approvals))
    assert (result.response, result.tool_calls[0].response) == ("done", "refunded")
    assert not hits


def test_external_call_is_answered_by_its_mock() -> None:
    result = wrapped(external(), REFUND, "done", tools=[MockTool("refund", response="refunded")]).sync_invoke(
        "x"
    )
    (call,) = result.tool_calls
    assert (call.outcome, call.response, call.mocked, result.response) == (
        "success",
        "refunded",
        True,
        "done",
    )
    assert call.seen_by_model == "refunded"


def test_external_call_a_mock_fails_is_a_retry() -> None:
    tools = [MockTool("refund", error="closed")]
    result = wrapped(external(), REFUND, "done", tools=tools).sync_invoke("x")
    assert (result.tool_calls[0].outcome, result.tool_calls[0].error) == ("failed", "closed")
    assert "closed" in str(result.tool_calls[0].seen_by_model)


def test_external_call_is_checked_against_its_schema() -> None:
    bad = {"tool_calls": [{"name": "refund", "args": {"ordre": "A1"}}]}
    mock = MockTool("refund", response="refunded")
    result = wrapped(external(), bad, "done", tools=[mock]).sync_invoke("x")
    assert (result.tool_calls[0].outcome, mock.call_count) == ("invalid", 0)


def test_external_call_without_a_mock_stays_deferred() -> None:
    result = wrapped(external(), REFUND).sync_invoke("x")
    assert isinstance(result.output, DeferredToolRequests)
    assert result.tool_calls[0].outcome == "interrupted"


def test_capability_that_resolves_external_calls_is_the_tool() -> None:
    clerk = external(Resolving())
    mocked = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="refunded")]).sync_invoke("x")
    assert mocked.tool_calls[0].response == "refunded"
    assert not hits
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(clerk, REFUND).sync_invoke("x")
    assert not hits
    wrapped(clerk, REFUND, "done", unmocked="real").sync_invoke("x")
    assert hits == {"resolved": 1}


def test_capability_that_approves_calls_lets_the_mock_answer() -> None:
    clerk = agent(tools=[Tool(refund, requires_approval=True)], capabilities=[Resolving()])
    result = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="refunded")]).sync_invoke("x")
    assert result.tool_calls[0].response == "refunded"
    assert hits == {"resolved": 1}
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(clerk, REFUND).sync_invoke("x")
    assert not hits["refund"]


def test_mock_can_defer_its_call() -> None:
    clerk = agent(tools=[refund], output_type=[str, DeferredToolRequests])
    result = wrapped(clerk, REFUND, tools=[MockTool("refund", raises=CallDeferred())]).sync_invoke("x")
    assert [call.tool_name for call in result.output.calls] == ["refund"]
    assert result.tool_calls[0].outcome == "interrupted"
    assert not hits


def test_mocked_external_call_beside_one_that_a_capability_resolves() -> None:
    clerk = external(Resolving())
    both = {"tool_calls": [{"name": "refund", "args": {"order": order}} for order in ("A1", "B2")]}
    tools = [MockTool("refund", when={"order": "A1"}, response="mocked")]
    result = wrapped(clerk, both, "done", tools=tools, unmocked="real").sync_invoke("x")
    assert [(call.response, call.mocked, call.outcome) for call in result.tool_calls] == [
        ("mocked", True, "success"),
        ("REAL", False, "success"),
    ]
    assert hits == {"resolved": 1}


def test_resolving_capability_is_judged_call_by_call() -> None:
    clerk = external(Resolving())
    both = {"tool_calls": [{"name": "refund", "args": {"order": order}} for order in ("A1", "B2")]}
    tools = [MockTool("refund", when={"order": "A1"}, response="mocked")]
    with pytest.raises(UnmockedToolError, match="No mock of tool 'refund' accepts"):
        wrapped(clerk, both, tools=tools).sync_invoke("x")
    assert not hits


def test_retry_that_a_resolving_capability_asks_for_is_recorded() -> None:
    class Refusing(AbstractCapability[Any]):
        async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
            return DeferredToolResults(calls={requests.calls[0].tool_call_id: ModelRetry("not today")})

    result = wrapped(external(Refusing()), REFUND, "done", unmocked="real").sync_invoke("x")
    (call,) = result.tool_calls
    assert (call.outcome, call.mocked) == ("retried", False)
    assert "not today" in str(call.seen_by_model)


def test_spied_external_call_stays_deferred() -> None:
    result = wrapped(external(), REFUND, tools=[MockTool.spy("refund")]).sync_invoke("x")
    assert isinstance(result.output, DeferredToolRequests)
    assert result.tool_calls[0].outcome == "interrupted"
