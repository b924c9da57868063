"""What guardrails said is told with the result and with the call it was about; what they do is the SDK's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrail,
    ToolOutputGuardrailTripwireTriggered,
)

from callsheet import FakeModel, MockTool
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, lookup
from tests.adapters.openai_agents.lookups import CALL, adapter


def _tool_guardrail(kind: Any, behavior: str) -> Any:
    def check(data: Any) -> ToolGuardrailFunctionOutput:
        if behavior == "reject":
            return ToolGuardrailFunctionOutput.reject_content("not this", output_info={"why": "rule"})
        if behavior == "raise":
            return ToolGuardrailFunctionOutput.raise_exception(output_info="stop")
        return ToolGuardrailFunctionOutput.allow()

    return kind(guardrail_function=check, name=f"tool {behavior}")


def test_call_rejected_by_an_input_guardrail_is_denied_and_never_mocked(canary: Canary) -> None:
    tool = lookup(canary)
    tool.tool_input_guardrails = [_tool_guardrail(ToolInputGuardrail, "reject")]
    mock = MockTool("lookup", response=1)
    result = adapter(Agent(name="Desk", tools=[tool]), tools=[mock]).sync_invoke("go")
    assert (result.tool_calls[0].outcome, result.tool_calls[0].seen_by_model) == ("denied", "not this")
    assert mock.call_count == 0
    assert result.metadata["guardrails"] == [
        {
            "kind": "tool_input",
            "name": "tool reject",
            "tripped": False,
            "behavior": "reject_content",
            "info": {"why": "rule"},
            "tool": "lookup",
        }
    ]


def test_answer_replaced_by_an_output_guardrail_is_what_the_model_saw(canary: Canary) -> None:
    tool = lookup(canary)
    tool.tool_output_guardrails = [_tool_guardrail(ToolOutputGuardrail, "reject")]
    call = adapter(Agent(name="Desk", tools=[tool])).sync_invoke("go").tool_calls[0]
    assert (call.outcome, call.response, call.seen_by_model) == ("success", "mocked", "not this")


def test_tool_tripwire_ends_the_run_and_is_told(canary: Canary) -> None:
    tool = lookup(canary)
    tool.tool_input_guardrails = [_tool_guardrail(ToolInputGuardrail, "raise")]
    wrapped = adapter(Agent(name="Desk", tools=[tool]))
    with pytest.raises(ToolInputGuardrailTripwireTriggered):
        wrapped.sync_invoke("go")
    assert wrapped.last_result is not None
    assert [(g["kind"], g["tripped"]) for g in wrapped.last_result.metadata["guardrails"]] == [
        ("tool_input", True)
    ]
    (call,) = wrapped.last_result.tool_calls
    assert (call.outcome, call.mocked, call.error) == ("denied", False, "Guardrail 'tool raise' tripped")
    assert call.metadata["guardrails"] == wrapped.last_result.metadata["guardrails"]
    assert not canary.hits


def _says(tripped: bool) -> Any:
    async def check(*given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info={"tripped": tripped}, tripwire_triggered=tripped)

    return check


@pytest.mark.parametrize("streamed", [False, True])
def test_tripwires_of_agents_are_told(canary: Canary, streamed: bool) -> None:
    passing = InputGuardrail(guardrail_function=_says(False), name="fine")
    for guarded, error in (
        ({"input_guardrails": [passing, InputGuardrail(_says(True), "no")]}, InputGuardrailTripwireTriggered),
        ({"output_guardrails": [OutputGuardrail(_says(True), "no")]}, OutputGuardrailTripwireTriggered),
    ):
        wrapped = adapter(Agent(name="Desk", tools=[lookup(canary)], **guarded), strict=False)

        async def main(wrapped: OpenAIAgentsAdapter = wrapped) -> None:
            if streamed:
                async for _ in wrapped.stream("go"):
                    pass
            else:
                await wrapped.invoke("go")

        with pytest.raises(error):
            asyncio.run(main())
        assert wrapped.last_result is not None
        told = {(g["name"], g["tripped"]) for g in wrapped.last_result.metadata["guardrails"]}
        assert ("no", True) in told
    assert not canary.hits


@pytest.mark.parametrize("streamed", [False, True])
def test_tripwire_is_told_with_the_call_it_was_about(canary: Canary, streamed: bool) -> None:
    def check(data: Any) -> ToolGuardrailFunctionOutput:
        if "secret" in data.context.tool_arguments:
            return ToolGuardrailFunctionOutput.raise_exception(output_info="secret")
        return ToolGuardrailFunctionOutput.allow()

    tool = lookup(canary)
    tool.tool_input_guardrails = [ToolInputGuardrail(guardrail_function=check, name="no secrets")]
    both = {"tool_calls": [{"name": "lookup", "args": {"q": q}} for q in ("fine", "secret")]}
    wrapped = adapter(Agent(name="Desk", tools=[tool]), both)

    async def main() -> None:
        if streamed:
            async for _ in wrapped.stream("go"):
                pass
        else:
            await wrapped.invoke("go")

    with pytest.raises(ToolInputGuardrailTripwireTriggered):
        asyncio.run(main())
    assert wrapped.last_result is not None
    fine, secret = wrapped.last_result.tool_calls
    assert fine.outcome != "denied"
    assert (secret.outcome, secret.mocked, secret.seen_by_model) == ("denied", False, None)
    assert [g["tripped"] for g in secret.metadata["guardrails"]] == [True]
    assert [g["tripped"] for g in wrapped.last_result.metadata["guardrails"]] == [False, True]
    assert not canary.hits


def test_tripwire_after_a_tool_leaves_the_call_as_it_ran(canary: Canary) -> None:
    tool = lookup(canary)
    tool.tool_output_guardrails = [_tool_guardrail(ToolOutputGuardrail, "raise")]
    wrapped = adapter(Agent(name="Desk", tools=[tool]), CALL)
    with pytest.raises(ToolOutputGuardrailTripwireTriggered):
        wrapped.sync_invoke("go")
    assert wrapped.last_result is not None
    (call,) = wrapped.last_result.tool_calls
    assert (call.outcome, call.response, call.seen_by_model) == ("success", "mocked", None)
    assert [(g["kind"], g["tripped"]) for g in call.metadata["guardrails"]] == [("tool_output", True)]


def test_run_that_fails_later_keeps_what_guardrails_said(canary: Canary) -> None:
    tool = lookup(canary)
    tool.tool_input_guardrails = [_tool_guardrail(ToolInputGuardrail, "allow")]
    wrapped = adapter(Agent(name="Desk", tools=[tool]), CALL, CALL)
    with pytest.raises(MaxTurnsExceeded):
        wrapped.sync_invoke("go", max_turns=2)
    assert wrapped.last_result is not None
    assert [g["behavior"] for g in wrapped.last_result.metadata["guardrails"]] == ["allow", "allow"]


def test_resumed_run_tells_what_its_guardrails_said_once(canary: Canary) -> None:
    tool = lookup(canary, approval=True)
    tool.tool_input_guardrails = [_tool_guardrail(ToolInputGuardrail, "allow")]
    agent = Agent(
        name="Desk",
        tools=[tool],
        input_guardrails=[InputGuardrail(guardrail_function=_says(False), name="fine")],
    )
    asked: list[str] = []
    original = tool.tool_input_guardrails[0].guardrail_function

    def counted(data: Any) -> Any:
        asked.append(data.context.tool_call_id)
        return original(data)

    tool.tool_input_guardrails[0].guardrail_function = counted

    async def main() -> None:
        first = await Runner.run(agent, "go")
        state = first.to_state()
        state.approve(first.interruptions[0])
        await Runner.run(agent, state)

    with adapter(agent).session() as session:
        asyncio.run(main())
    told = [(g["kind"], g["name"]) for g in session.result.metadata["guardrails"]]
    assert told.count(("input", "fine")) == 1
    assert told.count(("tool_input", "tool allow")) == len(asked)


def test_guardrails_are_told_in_one_order_however_they_end(canary: Canary) -> None:
    def named(name: str, seconds: float) -> InputGuardrail[Any]:
        async def check(*given: Any) -> GuardrailFunctionOutput:
            await asyncio.sleep(seconds)
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

        return InputGuardrail(guardrail_function=check, name=name)

    for delays in ((0.02, 0), (0, 0.02)):
        guards = [named(name, seconds) for name, seconds in zip("ab", delays, strict=True)]
        result = adapter(Agent(name="Desk", tools=[lookup(canary)], input_guardrails=guards)).sync_invoke(
            "go"
        )
        assert [g["name"] for g in result.metadata["guardrails"]] == ["a", "b"]


def test_guardrails_of_an_agent_used_as_a_tool_are_told(canary: Canary) -> None:
    guard = OutputGuardrail(guardrail_function=_says(False), name="inner")
    inner = Agent(name="Inner", tools=[lookup(canary)], output_guardrails=[guard])
    ask = {"tool_calls": [{"name": "ask", "args": {"input": "x"}}]}
    model = FakeModel(agents={"Desk": [ask, "done"], "Inner": [CALL, "found"]})
    result = adapter(Agent(name="Desk", tools=[inner.as_tool("ask", "Ask")]), model=model).sync_invoke("go")
    assert [(g["kind"], g["name"]) for g in result.metadata["guardrails"]] == [("output", "inner")]


def test_guardrail_outside_every_session_is_the_sdks_own(canary: Canary) -> None:
    guard = InputGuardrail(guardrail_function=_says(True), name="no")
    agent = Agent(name="Desk", input_guardrails=[guard])
    with adapter(agent, strict=False, tools=[]).session() as session:
        with pytest.raises(InputGuardrailTripwireTriggered):
            asyncio.run(Runner.run(agent, "go"))
    said = asyncio.run(guard.run(agent, "go", None))  # type: ignore[arg-type]
    assert said.output.tripwire_triggered
    assert len(session.result.metadata["guardrails"]) == 1
