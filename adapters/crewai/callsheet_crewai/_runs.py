"""Runs: tasks, agents on their own, crews and flows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from callsheet.adapters import RunRecord, Scope, TraceEntry, described, message_text
from callsheet_crewai._abort import SessionAborted, current_scope, stop_if_over
from callsheet_crewai._inventory import tool_names
from callsheet_crewai._outcomes import note_task
from callsheet_crewai._places import in_place, is_executor, next_place
from callsheet_crewai._streaming import is_unfinished


def task_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Task._execute_core`: a task, its guardrails and its converter are one run."""

    @wraps(original)
    def _execute_core(self: Any, agent: Any, context: Any, tools: Any) -> Any:
        scope = current_scope()
        if scope is None or (agent or self.agent) is None:
            return original(self, agent, context, tools)
        with _run(scope, agent or self.agent, self.description, tools) as run:
            output = original(self, agent, context, tools)
            note_task(scope, run, self, output)
        return output

    return _execute_core


def atask_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Task._aexecute_core`."""

    @wraps(original)
    async def _aexecute_core(self: Any, agent: Any, context: Any, tools: Any) -> Any:
        scope = current_scope()
        if scope is None or (agent or self.agent) is None:
            return await original(self, agent, context, tools)
        with _run(scope, agent or self.agent, self.description, tools) as run:
            output = await original(self, agent, context, tools)
            note_task(scope, run, self, output)
        return output

    return _aexecute_core


def delegated_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent.execute_task`, which delegation calls without the task's own run."""

    @wraps(original)
    def execute_task(self: Any, task: Any, context: Any = None, tools: Any = None) -> Any:
        scope = current_scope()
        if scope is None or _is_within(scope, self):
            return original(self, task, context, tools)
        with _run(scope, self, task.description, tools):
            return original(self, task, context, tools)

    return execute_task


def adelegated_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent.aexecute_task`."""

    @wraps(original)
    async def aexecute_task(self: Any, task: Any, context: Any = None, tools: Any = None) -> Any:
        scope = current_scope()
        if scope is None or _is_within(scope, self):
            return await original(self, task, context, tools)
        with _run(scope, self, task.description, tools):
            return await original(self, task, context, tools)

    return aexecute_task


def kickoff_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `kickoff` of an agent on its own."""

    @wraps(original)
    def kickoff(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None or _inside_a_loop():
            # Inside a loop CrewAI gives a coroutine of `kickoff_async`.
            return original(self, messages, *args, **kwargs)
        with _run(scope, self, _last_said(messages), self.tools) as run:
            return _finished(scope, run, original(self, messages, *args, **kwargs))

    return kickoff


def akickoff_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `kickoff_async` of an agent on its own."""

    @wraps(original)
    async def kickoff_async(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return await original(self, messages, *args, **kwargs)
        with _run(scope, self, _last_said(messages), self.tools) as run:
            return _finished(scope, run, await original(self, messages, *args, **kwargs))

    return kickoff_async


def finishing(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Crew.kickoff` and `Crew.replay`, whose answer is the session's unless a later one is."""

    @wraps(original)
    def kickoff(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, *args, **kwargs)
        stop_if_over(scope.session, "A kickoff")
        with in_place(scope):
            return _finished(scope, scope.run, original(self, *args, **kwargs))

    return kickoff


def afinishing(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Crew.akickoff` and `Flow.kickoff_async`."""

    @wraps(original)
    async def kickoff(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_executor(self) or (scope := current_scope()) is None:
            return await original(self, *args, **kwargs)
        stop_if_over(scope.session, "A kickoff")
        with in_place(scope):
            return _finished(scope, scope.run, await original(self, *args, **kwargs))

    return kickoff


@contextmanager
def _run(scope: Scope, agent: Any, asked: str, tools: Any) -> Iterator[RunRecord]:
    session, role = scope.session, agent.role.strip()
    stop_if_over(session, f"A run of agent {role!r}")
    session.note_tools(role, tool_names(tools or agent.tools))
    place = next_place(scope)
    run = session.open_run(agent=role, opening=[TraceEntry("user", asked)], order=place)
    try:
        with session.inside(run, place=place):
            yield run
    except BaseException as error:
        run.error = described(error.violation if isinstance(error, SessionAborted) else error)
        raise
    stop_if_over(session, f"The end of a run of agent {role!r}")


def _is_within(scope: Scope, agent: Any) -> bool:
    """Say whether this agent's task already runs, rather than one delegated from a tool call."""
    return scope.run is not None and scope.call is None and scope.run.agent == agent.role.strip()


def _finished(scope: Scope, run: RunRecord | None, result: Any) -> Any:
    nested = scope.call is not None or (run is not None and run.parent is not None)
    if not nested and not is_unfinished(result):
        raw = getattr(result, "raw", result)
        structured = getattr(result, "pydantic", None) or getattr(result, "json_dict", None)
        response = "" if raw is None else str(raw)
        scope.session.finish(
            response=response, output=raw if structured is None else structured, native=result
        )
    return result


def _last_said(messages: Any) -> str:
    if isinstance(messages, str):
        return messages
    said = [message for message in messages if message.get("role") == "user"]
    return message_text(said[-1].get("content")) if said else ""


def _inside_a_loop() -> bool:
    from crewai.utilities.agent_utils import is_inside_event_loop

    return is_inside_event_loop()
