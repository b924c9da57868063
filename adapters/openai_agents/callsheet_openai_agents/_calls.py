"""The output items by which a model asks for a tool, as calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from callsheet.adapters import CallRecord, RunRecord, Session, parse_arguments

# What an item of each type calls, where the item itself does not say.
_NAMES = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "tool_search_call": "tool_search",
}
# The class of tool that may have been given another name.
_CLASSES = {"shell_call": "ShellTool", "apply_patch_call": "ApplyPatchTool"}
# What a provider's own tool answered is part of the item.
_ANSWERS = {
    "web_search_call": None,
    "file_search_call": "results",
    "code_interpreter_call": "outputs",
    "image_generation_call": "result",
    "mcp_call": "output",
    "tool_search_call": None,
}
_NO_ARGUMENTS = ("id", "call_id", "type", "status", "caller", "created_by", "execution", "environment")


def recorded_calls(
    items: Iterable[Any], agent: str, tools: Iterable[Any], handoffs: Mapping[str, Any]
) -> list[CallRecord]:
    """Give the calls among a reply's items.

    Args:
        items: The items.
        agent: The agent that asked.
        tools: The agent's tools.
        handoffs: What the agent can hand over to, by the name of the tool that does.
    """
    calls = [_READERS[kind](item) for item in items if (kind := field(item, "type")) in _READERS]
    for call in calls:
        call.agent = agent
        renamed = _CLASSES.get(call.metadata.get("type", ""))
        call.name = next((tool.name for tool in tools if type(tool).__name__ == renamed), call.name)
        if call.kind == "function" and call.name in handoffs:
            call.kind = "handoff"
            input_filter = getattr(handoffs[call.name], "input_filter", None)
            if input_filter is not None:
                call.metadata["input_filter"] = getattr(input_filter, "__qualname__", repr(input_filter))
    return calls


def is_of_approved(call: CallRecord, session: Session, run: RunRecord) -> bool:
    """Say whether a call carries out one that had to be approved first, which it then completes."""
    approved = session.recording.find_call(call.metadata.get("approval_request_id"), run)
    if approved is None:
        return False
    approved.outcome, approved.response, approved.error = call.outcome, call.response, call.error
    return True


def call_id(item: Any) -> str:
    """Give the id that joins an item to its output; a provider's own tools have but an item's."""
    return str(field(item, "call_id") or field(item, "id"))


def local_arguments(item: Any) -> dict[str, Any]:
    """Give the arguments of an item that calls a tool of this machine other than a function."""
    kind = field(item, "type")
    if kind == "custom_tool_call":
        return {"input": field(item, "input")}
    if kind == "apply_patch_call":
        operations = field(item, "operations")
        return {"operations": plain(operations)} if operations else dict(plain(field(item, "operation")))
    if kind == "computer_call":
        several = field(item, "actions")
        return {"actions": plain(several)} if several else {"actions": [plain(field(item, "action"))]}
    return dict(plain(field(item, "action")))


def field(item: Any, name: str) -> Any:
    """Give a field of an item, which is a model or a mapping."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def plain(value: Any) -> Any:
    """Give JSON values, without what was left out."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items() if one is not None}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _function(item: Any) -> CallRecord:
    namespace = field(item, "namespace")
    call = CallRecord(item.call_id, item.name, args=parse_arguments(item.arguments), raw_args=item.arguments)
    if namespace is not None:
        call.metadata["namespace"] = namespace
    return call


def _local(item: Any) -> CallRecord:
    kind = str(field(item, "type"))
    name = field(item, "name") or _NAMES[kind]
    return CallRecord(call_id(item), name, args=local_arguments(item), metadata={"type": kind})


def _asked_for_approval(item: Any) -> CallRecord:
    return CallRecord(
        item.id,
        item.name,
        args=parse_arguments(item.arguments),
        raw_args=item.arguments,
        kind="hosted",
        outcome="interrupted",
        metadata={"type": item.type, "server_label": item.server_label},
    )


def _hosted(item: Any) -> CallRecord:
    kind = str(field(item, "type"))
    answer = _ANSWERS[kind]
    given = plain(item)
    call = CallRecord(
        call_id(item),
        given.get("name") or _NAMES[kind],
        args={key: value for key, value in given.items() if key not in (*_NO_ARGUMENTS, answer)},
        kind="hosted",
        outcome="failed" if given.get("error") or given.get("status") == "failed" else "success",
        response=given.get(answer) if answer is not None else None,
        metadata={"type": kind},
    )
    if kind == "mcp_call":
        call.args, call.raw_args = parse_arguments(item.arguments), item.arguments
        call.metadata["server_label"] = item.server_label
        call.metadata["approval_request_id"] = field(item, "approval_request_id")
    if given.get("error"):
        call.error = str(given["error"])
    return call


_READERS: dict[str, Callable[[Any], CallRecord]] = {
    "function_call": _function,
    **dict.fromkeys(
        ("custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"), _local
    ),
    **dict.fromkeys(_ANSWERS, _hosted),
    "mcp_approval_request": _asked_for_approval,
}
