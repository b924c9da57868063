"""What a result tells: every call the model asked for, and what became of it."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from agents import (
    Agent,
    HostedMCPTool,
    ModelBehaviorError,
    Runner,
    ToolTimeoutError,
    WebSearchTool,
    function_tool,
    handoff,
)
from pydantic import BaseModel

from callsheet import FakeModel, MockConfigError, MockTool, UnmockedToolError
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, lookup
from tests.adapters.openai_agents.lookups import CALL, adapter


def test_call_rejected_by_the_user_is_denied(canary: Canary) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary, True)])

    async def main() -> None:
        first = await Runner.run(agent, "go")
        state = first.to_state()
        state.reject(first.interruptions[0])
        await Runner.run(agent, state)

    with adapter(agent).session() as session:
        asyncio.run(main())
    call = session.tool_calls[0]
    assert (call.outcome, call.mocked) == ("denied", False)
    assert call.error == call.seen_by_model
    assert [entry.role for entry in session.trace if entry.role == "interrupt"] == ["interrupt"]
    assert not canary.hits


def test_malformed_unknown_and_valid_calls_stand_side_by_side(canary: Canary) -> None:
    step = {"tool_calls": [{"name": "lookup", "args": "{not json"}, {"name": "lookup", "args": {"q": "x"}}]}
    result = adapter(Agent(name="Desk", tools=[lookup(canary)]), step, "done").sync_invoke("go")
    assert [(c.outcome, c.raw_args, c.turn, c.index) for c in result.tool_calls] == [
        ("invalid", "{not json", 0, 0),
        ("success", None, 0, 1),
    ]


def test_handoff_says_to_whom_with_what_and_through_which_filter(canary: Canary) -> None:
    class Reason(BaseModel):
        reason: str

    def keep_nothing(data: Any) -> Any:
        return data.clone(input_history=())

    async def entered(context: Any, reason: Reason) -> None: ...

    refunds = Agent(name="Refunds", tools=[lookup(canary)])
    over = handoff(refunds, on_handoff=entered, input_type=Reason, input_filter=keep_nothing)
    model = FakeModel(
        agents={
            "Desk": [{"tool_calls": [{"name": "transfer_to_refunds", "args": {"reason": "broken"}}]}],
            "Refunds": [CALL, "refunded"],
        }
    )
    result = adapter(Agent(name="Desk", handoffs=[over]), model=model).sync_invoke("go")
    call = result.tool_calls[0]
    assert (call.kind, call.args, call.outcome) == ("handoff", {"reason": "broken"}, "success")
    assert "keep_nothing" in call.metadata["input_filter"]
    assert result.trace[1].role == "handoff"
    assert result.trace[1].content == "Refunds"
    assert result.agents == ["Desk", "Refunds"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("args", ["{broken", {"cause": "broken"}])
def test_handoff_the_sdk_could_not_read_is_invalid(args: Any, streamed: bool) -> None:
    class Reason(BaseModel):
        reason: str

    async def entered(context: Any, reason: Reason) -> None: ...

    over = handoff(Agent(name="Refunds"), on_handoff=entered, input_type=Reason)
    step = {"tool_calls": [{"name": "transfer_to_refunds", "args": args}]}
    wrapped = adapter(Agent(name="Desk", handoffs=[over]), step, tools=[])

    async def main() -> None:
        if streamed:
            async for _ in wrapped.stream("go"):
                pass
        else:
            await wrapped.invoke("go")

    with pytest.raises(ModelBehaviorError):
        asyncio.run(main())
    assert wrapped.last_result is not None
    (call,) = wrapped.last_result.tool_calls
    assert (call.kind, call.outcome) == ("handoff", "invalid")
    assert call.raw_args is not None
    assert call.error


def test_handoff_beside_an_unknown_tool_is_skipped() -> None:
    wrapped = adapter(
        Agent(name="Desk", handoffs=[Agent(name="A")]), {"tool_calls": ["transfer_to_a", "lokup"]}, tools=[]
    )
    with pytest.raises(ModelBehaviorError):
        wrapped.sync_invoke("go")
    assert wrapped.last_result is not None
    assert [call.outcome for call in wrapped.last_result.tool_calls] == ["skipped", "unknown"]


def test_agents_that_hand_back_and_forth_are_followed(canary: Canary) -> None:
    desk, refunds = Agent(name="Desk", tools=[lookup(canary)]), Agent(name="Refunds")
    desk.handoffs, refunds.handoffs = [refunds], [desk]
    model = FakeModel(
        agents={"Desk": [{"handoff": "Refunds"}, CALL, "done"], "Refunds": [{"handoff": "Desk"}]}
    )
    result = adapter(desk, model=model).sync_invoke("go")
    assert [entry.content for entry in result.trace if entry.role == "handoff"] == ["Refunds", "Desk"]
    assert result.response == "done"


def test_second_handoff_of_a_reply_is_skipped_as_the_sdk_skips_it() -> None:
    a, b = Agent(name="A"), Agent(name="B")
    step = {"tool_calls": ["transfer_to_a", "transfer_to_b"]}
    model = FakeModel(agents={"Desk": [step], "A": ["done"]})
    result = adapter(Agent(name="Desk", handoffs=[a, b]), model=model, tools=[]).sync_invoke("go")
    assert [(c.name, c.outcome) for c in result.tool_calls] == [
        ("transfer_to_a", "success"),
        ("transfer_to_b", "skipped"),
    ]


def test_usage_is_told_in_all_and_per_agent(canary: Canary) -> None:
    spent = {"usage": {"input_tokens": 10, "output_tokens": 2}}
    inner = Agent(name="Inner")
    agent = Agent(name="Desk", tools=[inner.as_tool("ask", "Ask")])
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}], **spent}
    model = FakeModel(
        agents={"Desk": [ask, {"content": "done", **spent}], "Inner": [{"content": "x", **spent}]}
    )
    result = adapter(agent, model=model, tools=[]).sync_invoke("go")
    assert (result.usage.requests, result.usage.total_tokens) == (3, 36)
    assert result.metadata["usage_by_agent"]["Inner"]["total_tokens"] == 12


def test_hosted_tools_are_items_of_the_reply() -> None:
    agent = Agent(name="Desk", tools=[WebSearchTool()])
    item = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "Rome"},
    }
    result = adapter(agent, {"native": [item], "content": "found"}, tools=[]).sync_invoke("go")
    call = result.tool_calls[0]
    assert (call.name, call.kind, call.outcome, call.args["action"]["query"]) == (
        "web_search",
        "hosted",
        "success",
        "Rome",
    )
    assert result.response == "found"


@pytest.mark.parametrize(
    ("item", "name", "answer"),
    [
        (
            {"type": "file_search_call", "queries": ["q"], "results": [{"file_id": "f"}]},
            "file_search",
            [{"file_id": "f"}],
        ),
        (
            {
                "type": "code_interpreter_call",
                "code": "1",
                "container_id": "c",
                "outputs": [{"type": "logs", "logs": "1"}],
            },
            "code_interpreter",
            [{"type": "logs", "logs": "1"}],
        ),
        ({"type": "image_generation_call", "result": "aGk="}, "image_generation", "aGk="),
        (
            {"type": "mcp_call", "name": "fetch", "arguments": "{}", "server_label": "web", "output": "ok"},
            "fetch",
            "ok",
        ),
    ],
)
def test_every_hosted_kind_is_told_with_its_answer(item: dict[str, Any], name: str, answer: Any) -> None:
    whole = {"id": "h_1", "status": "completed", **item}
    result = adapter(Agent(name="Desk"), {"native": [whole], "content": "done"}, tools=[]).sync_invoke("go")
    assert [(c.name, c.kind, c.response, c.outcome) for c in result.tool_calls] == [
        (name, "hosted", answer, "success")
    ]


ASKS = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "name": "fetch",
    "arguments": '{"url": "x"}',
    "server_label": "web",
}
FETCHED = {**ASKS, "type": "mcp_call", "id": "mcp_1", "approval_request_id": "mcpr_1", "output": "ok"}


def _hosted_mcp(**options: Any) -> Agent[Any]:
    config: Any = {
        "type": "mcp",
        "server_label": "web",
        "server_url": "https://web.test",
        "require_approval": "always",
    }
    return Agent(name="Desk", tools=[HostedMCPTool(tool_config=config, **options)])


@pytest.mark.parametrize(
    ("said", "steps", "outcome", "response", "error"),
    [
        ({"approve": True}, [{"native": [FETCHED], "content": "done"}], "success", "ok", None),
        ({"approve": True}, ["done"], "skipped", None, None),
        ({"approve": False, "reason": "not that"}, ["done"], "denied", None, "not that"),
    ],
)
def test_hosted_call_that_must_be_approved_is_one_call(
    said: Any, steps: list[Any], outcome: str, response: Any, error: str | None
) -> None:
    agent = _hosted_mcp(on_approval_request=lambda request: said)
    result = adapter(agent, {"native": [ASKS]}, *steps, tools=[]).sync_invoke("go")
    (call,) = result.tool_calls
    assert (call.name, call.kind, call.args, call.turn) == ("fetch", "hosted", {"url": "x"}, 0)
    assert (call.outcome, call.response, call.error) == (outcome, response, error)
    assert call.metadata["server_label"] == "web"


@pytest.mark.parametrize("approve", [True, False])
def test_hosted_call_that_a_user_decides_on_waits_and_goes_on(approve: bool) -> None:
    agent = _hosted_mcp()
    steps = [{"native": [FETCHED], "content": "done"}] if approve else ["done"]

    with adapter(agent, {"native": [ASKS]}, *steps, tools=[]).session() as session:
        first = asyncio.run(Runner.run(agent, "go"))
        assert [call.outcome for call in session.tool_calls] == ["interrupted"]
        state = first.to_state()
        (state.approve if approve else state.reject)(first.interruptions[0])
        asyncio.run(Runner.run(agent, state))
    assert [call.outcome for call in session.tool_calls] == ["success" if approve else "denied"]
    assert [entry.content for entry in session.trace if entry.role == "interrupt"] == ["fetch"]


def test_mock_of_a_hosted_tool_is_refused() -> None:
    with pytest.raises(MockConfigError, match="runs at the provider"):
        adapter(Agent(name="Desk", tools=[WebSearchTool()]), tools=[MockTool("web_search", response=1)])


def test_agents_own_model_is_not_offered_hosted_tools_nobody_allowed() -> None:
    agent = Agent(name="Desk", tools=[WebSearchTool()])
    with pytest.raises(UnmockedToolError, match="web_search"):
        OpenAIAgentsAdapter(agent).sync_invoke("go")


def test_final_output_is_the_structured_one() -> None:
    class Verdict(BaseModel):
        ok: bool

    result = adapter(Agent(name="Desk", output_type=Verdict), {"output": {"ok": True}}, tools=[]).sync_invoke(
        "go"
    )
    assert result.output == Verdict(ok=True)
    assert result.response == '{"ok":true}'


def test_structured_output_of_the_wrong_shape_is_the_sdks_error() -> None:
    class Verdict(BaseModel):
        ok: bool

    with pytest.raises(ModelBehaviorError):
        adapter(Agent(name="Desk", output_type=Verdict), {"output": {"no": 1}}, tools=[]).sync_invoke("go")


@pytest.mark.parametrize(
    ("behavior", "turns"),
    [("stop_on_first_tool", 1), ({"stop_at_tool_names": ["lookup"]}, 1), ("run_llm_again", 2)],
)
def test_tool_use_behavior_is_the_sdks(canary: Canary, behavior: Any, turns: int) -> None:
    agent = Agent(name="Desk", tools=[lookup(canary)], tool_use_behavior=behavior)
    result = adapter(agent, strict=False).sync_invoke("go")
    assert result.metadata["turns"] == turns
    assert result.response == ("mocked" if turns == 1 else "done")


def test_virtual_delay_is_the_tools_timeout() -> None:
    @function_tool(timeout=2)
    async def lookup(q: str) -> str:
        """Look something up."""
        return q

    slow = MockTool("lookup", response="late", delay=3)
    call = adapter(Agent(name="Desk", tools=[lookup]), tools=[slow]).sync_invoke("go").tool_calls[0]
    assert call.outcome == "failed"
    assert "timed out" in str(call.seen_by_model)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"timeout_behavior": "raise_exception"}, None),
        (
            {"timeout_error_function": lambda context, error: f"after {error.timeout_seconds:g} s"},
            "after 2 s",
        ),
    ],
)
def test_what_a_timeout_leads_to_is_the_tools(options: dict[str, Any], seen: str | None) -> None:
    @function_tool(timeout=2, **options)
    async def lookup(q: str) -> str:
        """Look something up."""
        return q

    wrapped = adapter(
        Agent(name="Desk", tools=[lookup]), tools=[MockTool("lookup", response="late", delay=3)], strict=False
    )
    with pytest.raises(ToolTimeoutError) if seen is None else nullcontext():
        wrapped.sync_invoke("go")
    assert wrapped.last_result is not None
    call = wrapped.last_result.tool_calls[0]
    assert (call.outcome, call.seen_by_model) == ("failed", seen)
