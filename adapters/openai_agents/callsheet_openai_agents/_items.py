"""Scripted calls as the output items by which a model calls each kind of tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any
from uuid import uuid4

from openai.types.responses import (
    ResponseApplyPatchToolCall,
    ResponseComputerToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseOutputItem,
)
from openai.types.responses.response_output_item import LocalShellCall
from pydantic import TypeAdapter

from callsheet.adapters import ScriptedCall
from callsheet_openai_agents._inventory import all_names

_PROCESS = uuid4().hex
_numbers = count()


def item_id(prefix: str) -> str:
    """Give an id for an item.

    The SDK finds what it keeps about an item by this id, across runs and in another process where a run is
    resumed, so no two items may share one.
    """
    return f"{prefix}_{_PROCESS}{next(_numbers):08x}"


def offered_tool(name: str, tools: Sequence[Any]) -> Any:
    """Give the offered tool that a script calls by a name, or None."""
    plainly = [tool for tool in tools if tool.name == name]
    return plainly[-1] if plainly else next((tool for tool in tools if name in all_names(tool)), None)


def call_item(call: ScriptedCall, tool: Any) -> Any:
    """Give the item that calls a tool; a tool nobody offers is called as a function.

    Raises:
        ValidationError: The arguments are none for this kind of tool.
    """
    build = _BUILDERS.get(type(tool).__name__)
    if build is None:
        build = next(
            (_BUILDERS[base.__name__] for base in type(tool).__mro__ if base.__name__ in _BUILDERS), _function
        )
    return build(call, tool)


def native_item(item: Any) -> Any:
    """Give an item that was scripted in the provider's own words, a dict of them as a model."""
    return _output_item().validate_python(item) if isinstance(item, Mapping) else item


@cache
def _output_item() -> TypeAdapter[Any]:
    return TypeAdapter(ResponseOutputItem)


def _function(call: ScriptedCall, tool: Any) -> ResponseFunctionToolCall:
    names: dict[str, Any] = {"name": call.name}
    namespace = getattr(tool, "_tool_namespace", None)
    if namespace is not None:
        names = {"name": tool.name, "namespace": namespace}
    elif getattr(tool, "defer_loading", False):
        # The SDK's own mark of a tool that was found by a search and belongs to no namespace.
        names = {"name": tool.name, "namespace": tool.name}
    return ResponseFunctionToolCall(
        id=item_id("fc"),
        call_id=call.id or "",
        type="function_call",
        arguments=call.raw,
        status="completed",
        **names,
    )


def _custom(call: ScriptedCall, tool: Any) -> Any:
    text = call.raw if call.args is None or "input" not in call.args else call.args["input"]
    return ResponseCustomToolCall(
        id=item_id("ctc"), call_id=call.id or "", type="custom_tool_call", name=tool.name, input=text
    )


def _local_shell(call: ScriptedCall, tool: Any) -> Any:
    return LocalShellCall.model_validate(
        {**_head(call, "lsh", "local_shell_call"), "action": {"type": "exec", "env": {}, **_args(call)}}
    )


def _shell(call: ScriptedCall, tool: Any) -> Any:
    action = {"max_output_length": None, "timeout_ms": None, **_args(call)}
    return ResponseFunctionShellToolCall.model_validate(
        {**_head(call, "sh", "shell_call"), "action": action, "environment": None}
    )


def _apply_patch(call: ScriptedCall, tool: Any) -> Any:
    return ResponseApplyPatchToolCall.model_validate(
        {**_head(call, "apc", "apply_patch_call"), "operation": _args(call)}
    )


def _computer(call: ScriptedCall, tool: Any) -> Any:
    args = _args(call)
    asked = {"action": args} if "type" in args else args
    return ResponseComputerToolCall.model_validate(
        {**_head(call, "cu", "computer_call"), "pending_safety_checks": [], **asked}
    )


def _head(call: ScriptedCall, prefix: str, kind: str) -> dict[str, Any]:
    return {"id": item_id(prefix), "call_id": call.id, "type": kind, "status": "completed"}


def _args(call: ScriptedCall) -> dict[str, Any]:
    return call.args if call.args is not None else {}


_BUILDERS: dict[str, Callable[[ScriptedCall, Any], Any]] = {
    "CustomTool": _custom,
    "LocalShellTool": _local_shell,
    "ShellTool": _shell,
    "ApplyPatchTool": _apply_patch,
    "ComputerTool": _computer,
}
