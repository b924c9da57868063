"""Computers: what one is asked to do is answered by its mock, and one nobody may use is not started."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any

from agents import AsyncComputer, Computer, UserError

from callsheet.adapters import Patch, active_scope
from callsheet_openai_agents._inventory import all_names
from callsheet_openai_agents._local_tools import answered, placed, text

_NAMES = ("computer", "computer_use_preview")


def computer_patches(actions: Any, executions: Any) -> Iterator[Patch]:
    """Give the patches for computers.

    Args:
        actions: The module `agents.run_internal.tool_actions`.
        executions: The module `agents.run_internal.tool_execution`.
    """
    yield Patch(actions.ComputerAction, "execute", placed)
    yield Patch(actions.ComputerAction, "_execute_action_and_capture", _captured)
    for module in (actions, executions):
        yield Patch(module, "resolve_computer", _resolved)


def _captured(original: Any) -> Any:
    """Replace the method that carries out what a call asks for and takes the screenshot."""
    execute = original.__func__

    @wraps(execute)
    async def execute_and_capture(cls: Any, computer: Any, tool_call: Any) -> Any:
        return await answered(_NAMES, lambda: execute(cls, computer, tool_call), shape=text)

    return classmethod(execute_and_capture)


def _resolved(original: Callable[..., Awaitable[Any]]) -> Any:
    """Replace `resolve_computer`, which calls the factory of a tool that has one."""

    @wraps(original)
    async def resolve_computer(*, tool: Any, run_context: Any) -> Any:
        scope = active_scope()
        started = isinstance(tool.computer, (Computer, AsyncComputer))
        if scope is None or started or scope.session.may_run(all_names(tool)):
            return await original(tool=tool, run_context=run_context)
        return NotStarted()

    return resolve_computer


def _unused(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise UserError("This computer was not started: the test answers what it is asked to do.")


_SCREEN: dict[str, Any] = {"environment": "browser", "dimensions": (1024, 768)}
# Which methods a computer has differs between versions.
NotStarted: Any = type(
    "NotStarted", (AsyncComputer,), {**dict.fromkeys(AsyncComputer.__abstractmethods__, _unused), **_SCREEN}
)
