"""Tools of this machine other than functions: raw text, shells and patches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple

from agents import ShellCallOutcome, ShellCommandOutput, ShellResult
from agents import tool as tools
from pydantic_core import to_json

from callsheet.adapters import (
    MockAnswerError,
    Patch,
    ToolRequest,
    active_scope,
    did_you_mean,
    listed,
)
from callsheet_openai_agents._calls import call_id, local_arguments
from callsheet_openai_agents._inventory import agent_name, all_names
from callsheet_openai_agents._slots import StandIn, slot_patch
from callsheet_openai_agents._tools import awaited

_COMMAND_KEYS = ("stdout", "stderr", "exit_code", "command")


class Place(NamedTuple):
    """The call that is being run, of which what runs it is told little.

    Args:
        agent: The agent's name.
        item: The model's output item.
    """

    agent: str
    item: Any


def local_tool_patches(actions: Any) -> Iterator[Patch]:
    """Give the patches for these kinds of tools.

    Args:
        actions: The module `agents.run_internal.tool_actions`.
    """
    yield slot_patch(tools.LocalShellTool, "executor", LocalShell)
    yield slot_patch(tools.ShellTool, "executor", Shell)
    yield slot_patch(tools.ApplyPatchTool, "editor", Editor)
    for name in ("LocalShellAction", "ShellAction", "ApplyPatchAction"):
        yield Patch(getattr(actions, name), "execute", placed)
    # Raw text tools came after the floor.
    if hasattr(tools, "CustomTool"):
        yield slot_patch(tools.CustomTool, "on_invoke_tool", RawText)
        yield Patch(actions.CustomToolAction, "execute", placed)


def placed(original: Any) -> Any:
    """Replace an action's `execute`: what it runs finds the agent and the call in the scope."""
    execute = original.__func__

    @classmethod  # type: ignore[misc]
    @wraps(execute)
    async def find_in_scope(cls: Any, *, agent: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return await execute(cls, agent=agent, **kwargs)
        ran = kwargs["call"] if "call" in kwargs else kwargs["action"]
        place = Place(agent_name(scope.session, agent), ran.tool_call)
        with scope.session.inside(scope.run, scope.call, place=place):
            return await execute(cls, agent=agent, **kwargs)

    return find_in_scope


class RawText(StandIn):
    """Stands before a `CustomTool`'s invoker."""

    async def __call__(self, context: Any, text: str) -> Any:
        return await answered(all_names(self.tool), lambda: self.own(context, text))


class LocalShell(StandIn):
    """Stands before a `LocalShellTool`'s executor."""

    async def __call__(self, request: Any) -> Any:
        return await answered(all_names(self.tool), lambda: self.own(request), shape=text)


class Shell(StandIn):
    """Stands before a `ShellTool`'s executor."""

    async def __call__(self, request: Any) -> Any:
        return await answered(all_names(self.tool), lambda: self.own(request), shape=_shell_result)


class Editor(StandIn):
    """Stands before an `ApplyPatchTool`'s editor."""

    async def create_file(self, operation: Any) -> Any:
        """Create a file, or have the mock answer."""
        return await answered(all_names(self.tool), lambda: self.own.create_file(operation))

    async def update_file(self, operation: Any) -> Any:
        """Change a file, or have the mock answer."""
        return await answered(all_names(self.tool), lambda: self.own.update_file(operation))

    async def delete_file(self, operation: Any) -> Any:
        """Delete a file, or have the mock answer."""
        return await answered(all_names(self.tool), lambda: self.own.delete_file(operation))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


async def answered(
    names: tuple[str, ...], real: Callable[[], Any], *, shape: Callable[[Any], Any] | None = None
) -> Any:
    """Have the session answer the call that is being run.

    Args:
        names: What the test may call the tool, the name it is recorded under first.
        real: Runs the real tool.
        shape: Makes a mock's answer what the SDK expects.
    """
    scope = active_scope()
    if scope is None:
        return await awaited(real())
    # An application may also call an executor itself, outside every call of a model.
    place = scope.place if isinstance(scope.place, Place) else None
    request = ToolRequest(
        name=names[0],
        args=local_arguments(place.item) if place is not None else {},
        call_id=call_id(place.item) if place is not None else None,
        agent=place.agent if place is not None else None,
        aliases=names[1:],
        shape=shape,
    )
    return await scope.session.answer_tool_async(request, lambda: awaited(real()))


def text(answer: Any) -> str:
    """Give a mock's answer where the SDK expects a text."""
    if answer is None or isinstance(answer, str):
        return answer or ""
    return to_json(answer, fallback=str).decode()


def _shell_result(answer: Any) -> Any:
    if isinstance(answer, Mapping):
        return ShellResult([_command_output(answer)])
    if isinstance(answer, list) and all(isinstance(one, Mapping) for one in answer):
        return ShellResult([_command_output(one) for one in answer])
    return answer if isinstance(answer, ShellResult) else text(answer)


def _command_output(given: Mapping[str, Any]) -> ShellCommandOutput:
    for key in given:
        if key not in _COMMAND_KEYS:
            raise MockAnswerError(
                f"The mock of a shell answers {key!r}, which no command has."
                f"{did_you_mean(str(key), _COMMAND_KEYS)} Answer a text, an agents.ShellResult, or "
                f"dicts of {listed(_COMMAND_KEYS)}."
            )
    return ShellCommandOutput(
        stdout=given.get("stdout", ""),
        stderr=given.get("stderr", ""),
        outcome=ShellCallOutcome(type="exit", exit_code=given.get("exit_code", 0)),
        command=given.get("command"),
    )
