"""Tests for tool-using AI agents whose green means something: offline, deterministic, fail closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callsheet._errors import ArtifactError as ArtifactError
    from callsheet._errors import CallsheetError as CallsheetError
    from callsheet._errors import NetworkBlockedError as NetworkBlockedError
    from callsheet._errors import OptionError as OptionError
    from callsheet._offline import offline as offline
    from callsheet._redaction import configure_redaction as configure_redaction
    from callsheet._redaction import redact as redact
    from callsheet._result import AgentResult as AgentResult
    from callsheet._snapshots import assert_snapshot as assert_snapshot
    from callsheet._values import ToolCall as ToolCall
    from callsheet._values import TraceEntry as TraceEntry
    from callsheet._values import Usage as Usage

# Public name -> the module that defines it, imported on first use: `import callsheet` stays cheap.
_EXPORTS = {
    "AgentResult": "_result",
    "ArtifactError": "_errors",
    "CallsheetError": "_errors",
    "NetworkBlockedError": "_errors",
    "OptionError": "_errors",
    "ToolCall": "_values",
    "TraceEntry": "_values",
    "Usage": "_values",
    "assert_snapshot": "_snapshots",
    "configure_redaction": "_redaction",
    "offline": "_offline",
    "redact": "_redaction",
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
