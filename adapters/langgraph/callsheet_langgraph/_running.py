"""Which tool a call that is being answered runs."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool

from callsheet.adapters import CallRecord

# Middleware may run another tool than the one the model asked for.
_swapped: WeakKeyDictionary[CallRecord, str] = WeakKeyDictionary()


def note_tool(call: CallRecord, tool: BaseTool) -> None:
    """Note the tool that a call runs."""
    if call.name != tool.name:
        _swapped[call] = tool.name


def is_running(tool: BaseTool, call: CallRecord | None) -> bool:
    """Say whether a call was asked about as one of this tool, so that what the tool runs is the same call."""
    return call is not None and tool.name in (call.name, _swapped.get(call))
