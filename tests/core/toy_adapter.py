"""An adapter for the toy framework, built from public names only, as a third party would."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from callsheet.adapters import (
    BaseAdapter,
    CallRecord,
    InvalidArgumentsError,
    Inventory,
    ModelRequest,
    Patch,
    PatchSet,
    ToolRequest,
    TraceEntry,
    active_scope,
    parse_arguments,
)
from tests.core.toy_framework import ToyAgent, ToyCall, ToyModel, ToyReply, ToyRunner, ToyTool


def patches() -> Iterator[Patch]:
    yield Patch(ToyRunner, "events", recorded_events)
    yield Patch(ToyRunner, "call", noted_call)
    yield Patch(ToyRunner, "execute", answered_tool)
    yield Patch(ToyModel, "reply", answered_model)


def recorded_events(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def events(self: ToyRunner, agent: ToyAgent, message: str, **options: Any) -> AsyncIterator[Any]:
        scope = active_scope()
        if scope is None:
            async for event in original(self, agent, message, **options):
                yield event
            return
        session = scope.session
        session.require_open("A run")
        options["headers"] = {**(options.get("headers") or {}), **session.headers}
        record = session.open_run(agent=agent.name, opening=[TraceEntry("user", message)])
        inner = original(self, agent, message, **options)
        while True:
            with session.inside(record):
                try:
                    event = await anext(inner)
                except StopAsyncIteration:
                    return
                except BaseException as error:
                    record.error = f"{type(error).__name__}: {error}"
                    raise
                if not isinstance(event, ToyReply) and record.parent is None:
                    session.finish(response=event.output, output=event.output, native=event)
            yield event

    return events


def noted_call(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def call(self: ToyRunner, agent: ToyAgent, call: ToyCall) -> Any:
        scope = active_scope()
        answer = await original(self, agent, call)
        record = scope.session.recording.find_call(call.id, scope.run) if scope is not None else None
        if record is not None:
            record.seen_by_model = answer if isinstance(answer, str) else json.dumps(answer)
            if record.args is None:
                record.outcome, record.error = "invalid", str(answer)
        return answer

    return call


def answered_tool(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def execute(
        self: ToyRunner, agent: ToyAgent, tool: ToyTool, call: ToyCall, args: dict[str, Any]
    ) -> Any:
        scope = active_scope()
        if scope is None:
            return await original(self, agent, tool, call, args)
        request = ToolRequest(
            name=tool.name,
            args=args,
            call_id=call.id,
            agent=agent.name,
            raw_args=call.arguments,
            kind="agent" if tool.agent is not None else "function",
            schema=tool.parameters,
            runs_unmocked=tool.agent is not None,
            timeout=tool.timeout,
        )

        async def body(**given: Any) -> Any:
            return await scope.session.answer_tool_async(
                request, lambda: replace(tool, on_error=None).execute(given)
            )

        try:
            return await replace(tool, body=body).execute(args)
        except InvalidArgumentsError as error:
            return f"Wrong arguments: {error}"

    return execute


def answered_model(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def reply(
        self: ToyModel, agent: ToyAgent, messages: list[dict[str, Any]], headers: dict[str, str]
    ) -> ToyReply:
        scope = active_scope()
        if scope is None:
            return await original(self, agent, messages, headers)
        session = scope.session
        session.require_open("A model call")
        session.note_tools(agent.name, [tool.name for tool in agent.tools])
        said = list(messages)
        request = ModelRequest(
            messages=lambda: said,
            tools=lambda: [{"name": tool.name, "parameters": tool.parameters} for tool in agent.tools],
            agent=agent.name,
            model=agent.model,
            headers=headers,
            turn=session.current_turn,
        )
        if session.native_model is not None:
            session.note_request(request)
            given = await session.native_model.reply(agent, messages, headers)
        elif session.model is None:
            session.note_request(request)
            given = await original(self, agent, messages, headers)
        else:
            scripted = await session.answer_model_async(request)
            calls = [ToyCall(call.id, call.name, call.raw) for call in scripted.tool_calls]
            given = ToyReply(scripted.content, calls)
        scope.run.offered = frozenset(tool.name for tool in agent.tools)
        session.recording.add_reply(
            scope.run,
            agent=agent.name,
            content=given.text,
            calls=[
                CallRecord(call.id, call.name, parse_arguments(call.arguments), call.arguments, agent.name)
                for call in given.calls
            ],
        )
        return given

    return reply


class ToyAdapter(BaseAdapter[ToyAgent]):
    framework_name = "toy"
    agent_description = "a ToyAgent"
    model_type = ToyModel
    model_description = "a ToyModel"
    patches = PatchSet(patches)

    @classmethod
    def handles(cls, agent: object) -> bool:
        return isinstance(agent, ToyAgent)

    def _inventory(self) -> Inventory:
        found: dict[str, list[str]] = {}
        waiting = [self.agent]
        while waiting:
            agent = waiting.pop()
            found[agent.name] = [tool.name for tool in agent.tools]
            waiting.extend(tool.agent for tool in agent.tools if tool.agent is not None)
        return Inventory(found, complete=not self.agent.dynamic)

    async def _run(self, session: Any, message: Any, history: Any, options: dict[str, Any]) -> None:
        await ToyRunner().run(self.agent, message, history=history, **options)

    async def _stream(
        self, session: Any, message: Any, history: Any, options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        return ToyRunner().events(self.agent, message, history=history, **options)
