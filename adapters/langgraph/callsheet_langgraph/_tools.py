"""Tools: whoever runs one asks the session first.

`BaseTool.run` and `arun` are what every way of calling a tool ends in. They run on a copy of the tool
whose `_run` and `_arun` ask the session, so that LangChain's own validation, callbacks, injected arguments
and error handling stay around whatever answers.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from copy import copy
from functools import wraps
from typing import Any
from weakref import WeakSet

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command
from pydantic import ValidationError

from callsheet.adapters import CallRecord, Scope, ToolRequest, active_scope
from callsheet_langgraph._messages import note_written, text_of
from callsheet_langgraph._places import Place, order_of, unanswered_call
from callsheet_langgraph._running import is_running, note_tool
from callsheet_langgraph._signatures import posing_as
from callsheet_langgraph._tool_errors import as_framework_error
from callsheet_langgraph._traits import destination, json_schema, kind_of, runs_unmocked, visible_args

_STAND_IN = "__callsheet__"

# Calls a node makes by hand have no id; each of them takes one call the model asked for.
_claimed: WeakSet[CallRecord] = WeakSet()
_claiming = threading.Lock()


def answered_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseTool.run`."""

    @wraps(original)
    def run(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or is_answered(self, scope):
            return original(self, tool_input, *args, **kwargs)
        call = RunningCall(scope, self, tool_input, kwargs.get("tool_call_id"))
        try:
            return call.told(original(call.stand_in(), tool_input, *args, **kwargs))
        except BaseException as error:
            call.failed(error)
            raise

    return run


def answered_arun(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `BaseTool.arun`."""

    @wraps(original)
    async def arun(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None or is_answered(self, scope):
            return await original(self, tool_input, *args, **kwargs)
        call = RunningCall(scope, self, tool_input, kwargs.get("tool_call_id"))
        try:
            return call.told(await original(call.stand_in(), tool_input, *args, **kwargs))
        except BaseException as error:
            call.failed(error)
            raise

    return arun


class RunningCall:
    """One call of a tool, from LangChain taking it to the model being told.

    Args:
        scope: What the calling code belongs to.
        tool: The tool, which stays as it is.
        tool_input: The arguments, injected ones included.
        call_id: The id of the call the model asked for, or None when a node calls by hand.
    """

    def __init__(self, scope: Scope, tool: BaseTool, tool_input: Any, call_id: str | None) -> None:
        session = scope.session
        session.require_open(f"A call of tool {tool.name!r}")
        self.session = session
        self._scope = scope
        self.tool = tool
        self._asked = False
        args = visible_args(tool, tool_input)
        place: Place | None = scope.place
        order = order_of(place, scope.run)
        record = _asked_for(scope, tool.name, args, call_id, order)
        if record is None:
            run = scope.run or session.recording.outside
            label = place.label() if place is not None else "direct"
            call_id = call_id or session.recording.new_call_id(run, f"{label}_{tool.name}")
            record = session.recording.add_loose_call(
                run, CallRecord(call_id, tool.name, args=args, agent=place.speaker if place else None), order
            )
        self.record = record
        note_tool(record, tool)
        self.request = ToolRequest(
            name=tool.name,
            args=args,
            call_id=record.id,
            agent=record.agent,
            kind=kind_of(tool),
            schema=json_schema(tool),
            runs_unmocked=runs_unmocked(tool),
            timeout=place.timeout if place is not None else None,
            metadata=_metadata(place, record, args),
            order=order,
            control_flow=(GraphBubbleUp,),
        )

    def stand_in(self) -> BaseTool:
        """Give a copy of the tool that asks the session when it is run."""
        tool = self.tool
        # A cached property that reads the signature of `_run`: computed here, the copy has the real one.
        getattr(tool, "_injected_args_keys", None)
        run, arun = tool._run, tool._arun

        def _run(*args: Any, **kwargs: Any) -> Any:
            return self.answer(lambda: run(*args, **kwargs))

        async def _arun(*args: Any, **kwargs: Any) -> Any:
            return await self.answer_async(lambda: arun(*args, **kwargs))

        clone = copy(tool)
        vars(clone).update({"_run": posing_as(run, _run), "_arun": posing_as(arun, _arun), _STAND_IN: True})
        return clone

    def answer(self, real: Callable[[], Any]) -> Any:
        """Give what the mock or the real tool answers, as the tool would have."""
        self._asked = True
        with as_framework_error(self.request):
            answer = self.session.answer_tool(self.request, real)
        return self._shaped(answer)

    async def answer_async(self, real: Callable[[], Awaitable[Any]]) -> Any:
        """Like `answer`, for a tool that is awaited."""
        self._asked = True
        with as_framework_error(self.request):
            answer = await self.session.answer_tool_async(self.request, real)
        return self._shaped(answer)

    def inside(self) -> AbstractContextManager[None]:
        """Make the code inside belong to the call, such as the making of what the tool streams."""
        return self.session.inside(self._scope.run, self.record, place=self._scope.place)

    def told(self, output: Any) -> Any:
        """Note what LangChain made of the answer, and give it."""
        for part in output if isinstance(output, list) else [output]:
            if isinstance(part, ToolMessage):
                self.record.seen_by_model = text_of(part)
            elif isinstance(part, Command):
                self._note_command(part)
        if not self._asked:
            # The tool handles arguments it does not accept itself.
            self._note_invalid(self.record.seen_by_model or "")
        elif self.record.outcome == "invalid":
            note_written(self.record)
        return output

    def failed(self, error: BaseException) -> None:
        """Note an error that came before anyone was asked."""
        if not self._asked and isinstance(error, ValidationError):
            self._note_invalid(str(error))
        elif self.record.outcome == "invalid":
            note_written(self.record)
        elif isinstance(error, GraphBubbleUp) and self._asked:
            self.record.outcome, self.record.error = "interrupted", None

    def _shaped(self, answer: Any) -> Any:
        if self.tool.response_format != "content_and_artifact" or not self.record.mocked:
            return answer
        match answer:
            case (_, _):
                return answer
            case _:
                return answer, None

    def _note_invalid(self, problem: str) -> None:
        self.record.attempts += 1
        note_written(self.record)
        self.record.outcome, self.record.error = "invalid", problem

    def _note_command(self, command: Command[Any]) -> None:
        update = command.update if isinstance(command.update, dict) else {}
        for message in update.get("messages", ()):
            if isinstance(message, ToolMessage) and message.tool_call_id == self.record.id:
                self.record.seen_by_model = text_of(message)
        target = destination(self.tool) or _goto(command)
        if target is not None:
            self.record.kind, self.record.handed_to = "handoff", target


def is_answered(tool: BaseTool, scope: Scope) -> bool:
    """Say whether a call is one the session was asked about already."""
    if _STAND_IN in vars(tool):
        return True
    # A class with a `run` of its own was asked about there; what it then inherits is the same call.
    overrides = type(tool).run is not BaseTool.run or type(tool).arun is not BaseTool.arun
    return overrides and is_running(tool, scope.call)


def is_mocked(tool: BaseTool, scope: Scope, tool_input: Any, call_id: str | None) -> bool:
    """Say whether a mock would answer a call."""
    record = scope.session.recording.find_call(call_id, scope.run)
    agent = record.agent if record is not None else getattr(scope.place, "speaker", None)
    request = ToolRequest(name=tool.name, args=visible_args(tool, tool_input), agent=agent)
    mock = scope.session.tools.find(request.names, request.args)
    return mock is not None and not mock.is_spy


def _asked_for(scope: Scope, name: str, args: Any, call_id: str | None, order: Any) -> CallRecord | None:
    if call_id is not None:
        return scope.session.recording.find_call(call_id, scope.run)
    with _claiming:
        record = unanswered_call(scope.run, name, args, order, taken=_claimed)
        if record is not None:
            _claimed.add(record)
        return record


def _metadata(place: Place | None, record: CallRecord, args: Any) -> dict[str, Any]:
    metadata = dict(place.metadata) if place is not None else {}
    if record.args is not None and record.args != args and not record.attempts:
        metadata["written_args"] = record.args
    return metadata


def _goto(command: Command[Any]) -> str | None:
    targets = command.goto if isinstance(command.goto, (list, tuple)) else [command.goto]
    names = [getattr(target, "node", target) for target in targets if target]
    return ", ".join(map(str, names)) or None
