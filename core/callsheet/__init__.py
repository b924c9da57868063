"""Tests for tool-using AI agents whose green means something: offline, deterministic, fail closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callsheet._conversation import Conversation as Conversation
    from callsheet._discovery import wrap as wrap
    from callsheet._errors import AdapterNotInstalledError as AdapterNotInstalledError
    from callsheet._errors import AmbiguousSessionError as AmbiguousSessionError
    from callsheet._errors import ArtifactError as ArtifactError
    from callsheet._errors import CallsheetError as CallsheetError
    from callsheet._errors import ExpectationError as ExpectationError
    from callsheet._errors import InvalidArgumentsError as InvalidArgumentsError
    from callsheet._errors import MockConfigError as MockConfigError
    from callsheet._errors import NetworkBlockedError as NetworkBlockedError
    from callsheet._errors import OptionError as OptionError
    from callsheet._errors import ResponsesExhaustedError as ResponsesExhaustedError
    from callsheet._errors import ScriptError as ScriptError
    from callsheet._errors import ScriptExhaustedError as ScriptExhaustedError
    from callsheet._errors import SessionClosedError as SessionClosedError
    from callsheet._errors import SessionError as SessionError
    from callsheet._errors import ToolError as ToolError
    from callsheet._errors import ToolTimedOutError as ToolTimedOutError
    from callsheet._errors import UnknownFormatError as UnknownFormatError
    from callsheet._errors import UnknownMockError as UnknownMockError
    from callsheet._errors import UnknownToolError as UnknownToolError
    from callsheet._errors import UnmockedToolError as UnmockedToolError
    from callsheet._errors import UnsupportedFrameworkError as UnsupportedFrameworkError
    from callsheet._errors import UnusedScriptError as UnusedScriptError
    from callsheet._errors import VacuousAssertionWarning as VacuousAssertionWarning
    from callsheet._errors import Violation as Violation
    from callsheet._fake_model import FakeModel as FakeModel
    from callsheet._mocks import MockTool as MockTool
    from callsheet._offline import offline as offline
    from callsheet._parsing import parse_response as parse_response
    from callsheet._parsing import parse_stream as parse_stream
    from callsheet._redaction import configure_redaction as configure_redaction
    from callsheet._redaction import redact as redact
    from callsheet._requests import ModelRequest as ModelRequest
    from callsheet._result import AgentResult as AgentResult
    from callsheet._server import MockMCPServer as MockMCPServer
    from callsheet._session import Session as Session
    from callsheet._snapshots import assert_snapshot as assert_snapshot
    from callsheet._values import ToolCall as ToolCall
    from callsheet._values import TraceEntry as TraceEntry
    from callsheet._values import Usage as Usage
    from callsheet.assertions import assert_headers as assert_headers
    from callsheet.assertions import assert_model_used as assert_model_used
    from callsheet.assertions import assert_no_tool_calls as assert_no_tool_calls
    from callsheet.assertions import assert_response_contains as assert_response_contains
    from callsheet.assertions import assert_response_equals as assert_response_equals
    from callsheet.assertions import assert_response_matches as assert_response_matches
    from callsheet.assertions import assert_tool_args_contain as assert_tool_args_contain
    from callsheet.assertions import assert_tool_call_count as assert_tool_call_count
    from callsheet.assertions import assert_tool_call_order as assert_tool_call_order
    from callsheet.assertions import assert_tool_calls as assert_tool_calls
    from callsheet.assertions import assert_trajectory as assert_trajectory

# Public name -> the module that defines it, imported on first use: `import callsheet` stays cheap.
_EXPORTS = {
    "AdapterNotInstalledError": "_errors",
    "AgentResult": "_result",
    "AmbiguousSessionError": "_errors",
    "ArtifactError": "_errors",
    "CallsheetError": "_errors",
    "Conversation": "_conversation",
    "ExpectationError": "_errors",
    "FakeModel": "_fake_model",
    "InvalidArgumentsError": "_errors",
    "MockConfigError": "_errors",
    "MockMCPServer": "_server",
    "MockTool": "_mocks",
    "ModelRequest": "_requests",
    "NetworkBlockedError": "_errors",
    "OptionError": "_errors",
    "ResponsesExhaustedError": "_errors",
    "ScriptError": "_errors",
    "ScriptExhaustedError": "_errors",
    "Session": "_session",
    "SessionClosedError": "_errors",
    "SessionError": "_errors",
    "ToolCall": "_values",
    "ToolError": "_errors",
    "ToolTimedOutError": "_errors",
    "TraceEntry": "_values",
    "UnknownFormatError": "_errors",
    "UnknownMockError": "_errors",
    "UnknownToolError": "_errors",
    "UnmockedToolError": "_errors",
    "UnsupportedFrameworkError": "_errors",
    "UnusedScriptError": "_errors",
    "Usage": "_values",
    "VacuousAssertionWarning": "_errors",
    "Violation": "_errors",
    "assert_headers": "assertions",
    "assert_model_used": "assertions",
    "assert_no_tool_calls": "assertions",
    "assert_response_contains": "assertions",
    "assert_response_equals": "assertions",
    "assert_response_matches": "assertions",
    "assert_snapshot": "_snapshots",
    "assert_tool_args_contain": "assertions",
    "assert_tool_call_count": "assertions",
    "assert_tool_call_order": "assertions",
    "assert_tool_calls": "assertions",
    "assert_trajectory": "assertions",
    "configure_redaction": "_redaction",
    "offline": "_offline",
    "parse_response": "_parsing",
    "parse_stream": "_parsing",
    "redact": "_redaction",
    "wrap": "_discovery",
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
    return sorted({*globals(), *__all__})
