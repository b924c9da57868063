"""Runs: `AgentRunner.run` and `run_streamed`, which `run_sync` and agents used as tools go through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Any

from agents import MaxTurnsExceeded, ModelBehaviorError
from agents.lifecycle import RunHooksBase
from pydantic_core import to_json

from callsheet.adapters import CallRecord, RunRecord, Session, TraceEntry, active_scope, described
from callsheet_openai_agents._calls import call_id
from callsheet_openai_agents._hooks import RecordingHooks
from callsheet_openai_agents._input import opening
from callsheet_openai_agents._inventory import agent_name


def recorded_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `AgentRunner.run`."""

    @wraps(original)
    async def run(self: Any, starting_agent: Any, input: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return await original(self, starting_agent, input, **kwargs)
        session = scope.session
        session.require_open(f"A run of agent {starting_agent.name!r}")
        with session.run(agent=agent_name(session, starting_agent), opening=opening(input)) as record:
            kwargs["hooks"] = _hooks(session, record, kwargs.get("hooks"))
            try:
                result = await original(self, starting_agent, input, **kwargs)
            except Exception as error:
                ended = getattr(error, "run_data", None)
                _note_items(session, record, getattr(ended, "new_items", ()))
                _note_ending(record, error)
                raise
            _note_result(session, record, result)
            return result

    return run


def recorded_run_streamed(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `AgentRunner.run_streamed`, which starts the run's task and returns at once."""

    @wraps(original)
    def run_streamed(self: Any, starting_agent: Any, input: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return original(self, starting_agent, input, **kwargs)
        session = scope.session
        session.require_open(f"A run of agent {starting_agent.name!r}")
        record = session.open_run(agent=agent_name(session, starting_agent), opening=opening(input))
        kwargs["hooks"] = _hooks(session, record, kwargs.get("hooks"))
        with session.inside(record):
            return original(self, starting_agent, input, **kwargs)

    return run_streamed


def recorded_streaming(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `start_streaming`, the coroutine of a streamed run's task."""

    @wraps(original)
    async def start_streaming(*args: Any, **kwargs: Any) -> None:
        scope = active_scope()
        if scope is None or scope.run is None:
            await original(*args, **kwargs)
            return
        result = kwargs["streamed_result"]
        try:
            await original(*args, **kwargs)
            cause = await _failed_guardrail(result) or _turn_limit(result)
        except BaseException as error:
            # A tripwire cancels this task and is kept for whoever consumes the stream.
            _note_failure(scope.session, scope.run, result, result._stored_exception or error)
            raise
        if cause is not None:
            _note_failure(scope.session, scope.run, result, cause)
        else:
            _note_result(scope.session, scope.run, result)

    return start_streaming


async def _failed_guardrail(result: Any) -> BaseException | None:
    """Give the exception of a guardrail: they have tasks of their own, which may end after the run's."""
    tasks = [task for task in (result._input_guardrails_task, result._output_guardrails_task) if task]
    if not tasks:
        return None
    await asyncio.wait(tasks)
    return next((task.exception() for task in tasks if not task.cancelled() and task.exception()), None)


def _turn_limit(result: Any) -> BaseException | None:
    """Give the exception that only whoever consumes the stream meets."""
    if isinstance(result._stored_exception, MaxTurnsExceeded):
        return result._stored_exception
    if result.max_turns is None or result.current_turn <= result.max_turns or result._max_turns_handled:
        return None
    return MaxTurnsExceeded(f"Max turns ({result.max_turns}) exceeded")


def _note_failure(session: Session, record: RunRecord, result: Any, error: BaseException) -> None:
    record.error = described(error)
    _note_items(session, record, result.new_items)
    _note_ending(record, error)


def _hooks(session: Session, record: RunRecord, users: Any) -> Any:
    # Anything else than hooks is for the SDK to refuse, in its own words.
    if users is None or isinstance(users, RunHooksBase):
        return RecordingHooks(session, record, users)
    return users


def _note_result(session: Session, record: RunRecord, result: Any) -> None:
    _note_items(session, record, result.new_items)
    for item in result.interruptions:
        call = session.recording.find_call(call_id(item.raw_item), record)
        if call is not None:
            call.outcome = "interrupted"
        name = call.name if call is not None else item.name
        record.add(TraceEntry("interrupt", name, agent=agent_name(session, item.agent)))
    if record.parent is None:
        output = result.final_output
        session.finish(response=_text(output), output=output, native=result)


def _note_items(session: Session, record: RunRecord, items: Any) -> None:
    """Note what the model was told back about each call."""
    for item in items:
        raw = item.raw_item
        if not isinstance(raw, dict):
            continue
        if "call_id" in raw and "output" in raw:
            call = session.recording.find_call(raw["call_id"], record)
            if call is not None:
                call.seen_by_model = _text(raw["output"])
                _note_rejection(call)
        elif raw.get("type") == "mcp_approval_response":
            call = session.recording.find_call(raw["approval_request_id"], record)
            if call is not None and call.outcome == "interrupted":
                # An approved one is the provider's to run, which is an item of a later reply.
                call.outcome = "skipped" if raw["approve"] else "denied"
                call.error = raw.get("reason")


def _note_ending(record: RunRecord, error: BaseException) -> None:
    """Note that a handoff's arguments ended the run: the SDK makes no text of that, as it does for tools."""
    reply = next(record.replies_backwards(), None)
    if not isinstance(error, ModelBehaviorError) or reply is None:
        return
    if any(call.outcome in ("unknown", "invalid") for call in reply.calls):
        return
    asked = next((call for call in reply.calls if call.kind == "handoff"), None)
    if asked is not None and asked.outcome == "skipped":
        asked.outcome, asked.error = "invalid", str(error)


def _note_rejection(call: CallRecord) -> None:
    """Note that the model was answered although nobody ran the tool: an approval or a guardrail said no."""
    if call.kind != "handoff" and not call.attempts and call.outcome in ("skipped", "interrupted"):
        call.outcome, call.error = "denied", call.seen_by_model


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return to_json(value, fallback=str).decode()
