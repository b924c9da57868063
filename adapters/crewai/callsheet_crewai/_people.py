"""People: where CrewAI would wait for someone to type, the session is asked, as for a tool."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from callsheet.adapters import Scope, ToolRequest
from callsheet_crewai._abort import aborting, current_scope
from callsheet_crewai._places import run_of

NAME = "human_input"


def asked_person(saved: Any) -> Any:
    """Replace `SyncHumanInputProvider._prompt_input`."""

    def prompt(crew: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return saved.__func__(crew)
        with aborting():
            return scope.session.answer_tool(_request(scope), lambda: saved.__func__(crew))

    return staticmethod(prompt)


def asked_person_async(saved: Any) -> Any:
    """Replace `SyncHumanInputProvider._prompt_input_async`."""

    async def prompt(crew: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return await saved.__func__(crew)
        with aborting():
            return await scope.session.answer_tool_async(_request(scope), lambda: saved.__func__(crew))

    return staticmethod(prompt)


def asked_by_flow(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace what a flow asks a person by."""

    @wraps(original)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, *args, **kwargs)
        with aborting():
            return scope.session.answer_tool(_request(scope), lambda: original(self, *args, **kwargs))

    return ask


def _request(scope: Scope) -> ToolRequest:
    return ToolRequest(name=NAME, args={}, agent=run_of(scope).agent, kind="hosted")
