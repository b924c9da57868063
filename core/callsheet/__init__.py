"""Tests for tool-using AI agents whose green means something: offline, deterministic, fail closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callsheet._errors import CallsheetError as CallsheetError
    from callsheet._errors import UnknownFormatError as UnknownFormatError
    from callsheet._parsing import parse_response as parse_response
    from callsheet._parsing import parse_stream as parse_stream
    from callsheet._result import AgentResult as AgentResult
    from callsheet._values import ToolCall as ToolCall
    from callsheet._values import TraceEntry as TraceEntry
    from callsheet._values import Usage as Usage

# Public name -> the module that defines it, imported on first use: `import callsheet` stays cheap.
_EXPORTS = {
    "AgentResult": "_result",
    "CallsheetError": "_errors",
    "ToolCall": "_values",
    "TraceEntry": "_values",
    "UnknownFormatError": "_errors",
    "Usage": "_values",
    "parse_response": "_parsing",
    "parse_stream": "_parsing",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'callsheet' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"callsheet.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
