"""Every way by which a run can come to a tool, and what becomes of the call there."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any, Literal

import agents
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    ModelSettings,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrail,
    ToolsToFinalOutputResult,
)
from agents.run import AgentRunner, set_default_agent_runner

Drive = Callable[[Agent[Any], dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Path:
    """A path to a tool.

    Args:
        name: What the grid calls it.
        drive: Runs an agent.
        call: What becomes of a mocked call: it is answered, the SDK denies it, or it may never come.
        ends: The SDK's exception that ends a run of it.
        needs: What a kind of tool must have for this path: "approval", "guardrails" or nothing.
        tool_options: What the tool is built with.
        fails_first: Whether the provider fails before the first reply.
    """

    name: str
    drive: Drive
    call: Literal["answered", "denied", "maybe"] = "answered"
    ends: type[Exception] | None = None
    needs: Literal["approval", "guardrails"] | None = None
    tool_options: dict[str, Any] = field(default_factory=dict)
    fails_first: bool = False


async def run(agent: Agent[Any], options: dict[str, Any]) -> None:
    await Runner.run(agent, "go", **options)


async def run_sync(agent: Agent[Any], options: dict[str, Any]) -> None:
    errors: list[BaseException] = []

    def work() -> None:
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        try:
            Runner.run_sync(agent, "go", **options)
        except BaseException as error:
            errors.append(error)
        loop.close()

    thread = Thread(target=work)
    thread.start()
    await asyncio.to_thread(thread.join)
    if errors:
        raise errors[0]


async def streamed(agent: Agent[Any], options: dict[str, Any]) -> None:
    async for _ in Runner.run_streamed(agent, "go", **options).stream_events():
        pass


async def abandoned(agent: Agent[Any], options: dict[str, Any]) -> None:
    result = Runner.run_streamed(agent, "go", **options)
    events = result.stream_events()
    await anext(events)
    del events
    gc.collect()
    await asyncio.wait({result.run_loop_task}, timeout=10)


def cancelled(mode: Literal["immediate", "after_turn"], at: str) -> Drive:
    async def drive(agent: Agent[Any], options: dict[str, Any]) -> None:
        result = Runner.run_streamed(agent, "go", **options)
        async for event in result.stream_events():
            if getattr(event, "name", None) == at:
                result.cancel(mode=mode)

    return drive


async def with_session(agent: Agent[Any], options: dict[str, Any]) -> None:
    with closing(SQLiteSession("grid")) as memory:
        await Runner.run(agent, "go", session=memory, **options)


async def with_response_id(agent: Agent[Any], options: dict[str, Any]) -> None:
    await Runner.run(agent, "go", auto_previous_response_id=True, **options)


def using(behavior: Any) -> Drive:
    async def drive(agent: Agent[Any], options: dict[str, Any]) -> None:
        await Runner.run(agent.clone(tool_use_behavior=behavior), "go", **options)

    return drive


def final_at_once(context: Any, results: Any) -> ToolsToFinalOutputResult:
    return ToolsToFinalOutputResult(is_final_output=True, final_output="stopped")


async def by_custom_runner(agent: Agent[Any], options: dict[str, Any]) -> None:
    class Loud(AgentRunner):
        async def run(self, starting_agent: Agent[Any], input: Any, **kwargs: Any) -> Any:
            return await super().run(starting_agent, input, **kwargs)

    set_default_agent_runner(Loud())
    try:
        await Runner.run(agent, "go", **options)
    finally:
        set_default_agent_runner(None)


def configured(is_stream: bool = False, **config: Any) -> Drive:
    async def drive(agent: Agent[Any], options: dict[str, Any]) -> None:
        whole = replace(options.get("run_config") or RunConfig(), **config)
        await (streamed if is_stream else run)(agent, {**options, "run_config": whole})

    return drive


async def approved(agent: Agent[Any], options: dict[str, Any]) -> None:
    result = await Runner.run(agent, "go", **options)
    state = result.to_state()
    assert result.interruptions
    for item in result.interruptions:
        state.approve(item)
    await Runner.run(agent, state, **options)


async def approved_from_json(agent: Agent[Any], options: dict[str, Any]) -> None:
    result = await Runner.run(agent, "go", **options)
    saved = json.dumps(result.to_state().to_json())
    state = await RunState.from_json(agent, json.loads(saved))
    assert state.get_interruptions()
    for item in state.get_interruptions():
        state.approve(item)
    await Runner.run(agent, state, **options)


def _input(tripped: bool) -> dict[str, Any]:
    async def check(*given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=tripped)

    return {"input_guardrails": [InputGuardrail(guardrail_function=check)]}


def _output(tripped: bool) -> dict[str, Any]:
    async def check(*given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=tripped)

    return {"output_guardrails": [OutputGuardrail(guardrail_function=check)]}


def _tool_guardrails(said: ToolGuardrailFunctionOutput) -> dict[str, Any]:
    fine = ToolGuardrailFunctionOutput.allow()
    return {
        "tool_input_guardrails": [ToolInputGuardrail(guardrail_function=lambda data: said, name="in")],
        "tool_output_guardrails": [ToolOutputGuardrail(guardrail_function=lambda data: fine, name="out")],
    }


_ALLOW, _REJECT, _RAISE = (
    _tool_guardrails(said)
    for said in (
        ToolGuardrailFunctionOutput.allow(),
        ToolGuardrailFunctionOutput.reject_content("not this"),
        ToolGuardrailFunctionOutput.raise_exception(),
    )
)

PATHS = [
    Path("run", run),
    Path("run_sync", run_sync),
    Path("streamed", streamed),
    Path("abandoned", abandoned, call="maybe"),
    Path("cancelled", cancelled("after_turn", at="tool_output")),
    Path("cut off", cancelled("immediate", at="tool_called"), call="maybe"),
    Path("session", with_session),
    Path("response id", with_response_id),
    Path("stop first", using("stop_on_first_tool")),
    Path("stop at", using({"stop_at_tool_names": ["lookup", "ask_inner"]})),
    Path("stop by fn", using(final_at_once)),
    Path("runner", by_custom_runner),
    Path("guarded", configured(**_input(False), **_output(False))),
    Path("input trip", configured(**_input(True)), call="maybe", ends=InputGuardrailTripwireTriggered),
    Path("output trip", configured(**_output(True)), ends=OutputGuardrailTripwireTriggered),
    Path("output trip, s", configured(True, **_output(True)), ends=OutputGuardrailTripwireTriggered),
    Path("tool allow", run, needs="guardrails", tool_options=_ALLOW),
    Path("tool reject", run, call="denied", needs="guardrails", tool_options=_REJECT),
    Path(
        "tool trip",
        run,
        call="denied",
        ends=ToolInputGuardrailTripwireTriggered,
        needs="guardrails",
        tool_options=_RAISE,
    ),
    Path("approved", approved, needs="approval"),
    Path("approved, JSON", approved_from_json, needs="approval"),
]
if hasattr(agents, "ModelRetrySettings"):
    _retry = agents.ModelRetrySettings(
        max_retries=1, backoff={"initial_delay": 0, "max_delay": 0}, policy=lambda context: True
    )
    _settings = ModelSettings(retry=_retry)
    PATHS.append(Path("retried", configured(model_settings=_settings), fails_first=True))
    PATHS.append(Path("retried, s", configured(True, model_settings=_settings), fails_first=True))
