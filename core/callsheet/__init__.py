"""Tests for tool-using AI agents whose green means something: offline, deterministic, fail closed."""

from __future__ import annotations

# What type checkers take as true; `typing` itself would be most of the cost of `import callsheet`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from callsheet._builders import Scenario as Scenario
    from callsheet._builders import ScenarioBuilder as ScenarioBuilder
    from callsheet._builders import ToolResponseBuilder as ToolResponseBuilder
    from callsheet._builders import UserMessageBuilder as UserMessageBuilder
    from callsheet._callable import CallableAdapter as CallableAdapter
    from callsheet._conversation import Conversation as Conversation
    from callsheet._discovery import wrap as wrap
    from callsheet._errors import AdapterNotInstalledError as AdapterNotInstalledError
    from callsheet._errors import AmbiguousSessionError as AmbiguousSessionError
    from callsheet._errors import ArtifactError as ArtifactError
    from callsheet._errors import CallsheetError as CallsheetError
    from callsheet._errors import ExpectationError as ExpectationError
    from callsheet._errors import InvalidArgumentsError as InvalidArgumentsError
    from callsheet._errors import MockAnswerError as MockAnswerError
    from callsheet._errors import MockConfigError as MockConfigError
    from callsheet._errors import NetworkBlockedError as NetworkBlockedError
    from callsheet._errors import OptionError as OptionError
    from callsheet._errors import ResponsesExhaustedError as ResponsesExhaustedError
    from callsheet._errors import ScriptError as ScriptError
    from callsheet._errors import ScriptExhaustedError as ScriptExhaustedError
    from callsheet._errors import SessionClosedError as SessionClosedError
    from callsheet._errors import SessionError as SessionError
    from callsheet._errors import SessionProcessError as SessionProcessError
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
    from callsheet._recorder import Recorder as Recorder
    from callsheet._redaction import redact as redact
    from callsheet._registry import clear_assertions as clear_assertions
    from callsheet._registry import list_assertions as list_assertions
    from callsheet._registry import register_assertion as register_assertion
    from callsheet._registry import run_custom_assertion as run_custom_assertion
    from callsheet._requests import ModelRequest as ModelRequest
    from callsheet._result import AgentResult as AgentResult
    from callsheet._runner import AgentRunner as AgentRunner
    from callsheet._scenario import scenario as scenario
    from callsheet._secrets import configure_redaction as configure_redaction
    from callsheet._server import MockMCPServer as MockMCPServer
    from callsheet._session import Session as Session
    from callsheet._snapshots import assert_snapshot as assert_snapshot
    from callsheet._validation import ToolValidation as ToolValidation
    from callsheet._validation import validate_tools as validate_tools
    from callsheet._values import ToolCall as ToolCall
    from callsheet._values import TraceEntry as TraceEntry
    from callsheet._values import Usage as Usage
    from callsheet.assertions import assert_argument_flows as assert_argument_flows
    from callsheet.assertions import assert_budget as assert_budget
    from callsheet.assertions import assert_confirmed as assert_confirmed
    from callsheet.assertions import assert_headers as assert_headers
    from callsheet.assertions import assert_model_used as assert_model_used
    from callsheet.assertions import assert_no_duplicate_calls as assert_no_duplicate_calls
    from callsheet.assertions import assert_no_loop as assert_no_loop
    from callsheet.assertions import assert_no_tool_calls as assert_no_tool_calls
    from callsheet.assertions import assert_only_tools as assert_only_tools
    from callsheet.assertions import assert_response_consistent as assert_response_consistent
    from callsheet.assertions import assert_response_contains as assert_response_contains
    from callsheet.assertions import assert_response_equals as assert_response_equals
    from callsheet.assertions import assert_response_matches as assert_response_matches
    from callsheet.assertions import assert_tool_args_contain as assert_tool_args_contain
    from callsheet.assertions import assert_tool_call_count as assert_tool_call_count
    from callsheet.assertions import assert_tool_call_order as assert_tool_call_order
    from callsheet.assertions import assert_tool_calls as assert_tool_calls
    from callsheet.assertions import assert_trajectory as assert_trajectory
    from callsheet.order import assert_calls as assert_calls

# Public name -> the module that defines it, imported on first use: `import callsheet` stays cheap.
_EXPORTS = {
    "AdapterNotInstalledError": "_errors",
    "AgentResult": "_result",
    "AgentRunner": "_runner",
    "AmbiguousSessionError": "_errors",
    "ArtifactError": "_errors",
    "CallableAdapter": "_callable",
    "CallsheetError": "_errors",
    "Conversation": "_conversation",
    "ExpectationError": "_errors",
    "FakeModel": "_fake_model",
    "InvalidArgumentsError": "_errors",
    "MockAnswerError": "_errors",
    "MockConfigError": "_errors",
    "MockMCPServer": "_server",
    "MockTool": "_mocks",
    "ModelRequest": "_requests",
    "NetworkBlockedError": "_errors",
    "OptionError": "_errors",
    "Recorder": "_recorder",
    "ResponsesExhaustedError": "_errors",
    "Scenario": "_builders",
    "ScenarioBuilder": "_builders",
    "ScriptError": "_errors",
    "ScriptExhaustedError": "_errors",
    "Session": "_session",
    "SessionClosedError": "_errors",
    "SessionError": "_errors",
    "SessionProcessError": "_errors",
    "ToolCall": "_values",
    "ToolError": "_errors",
    "ToolResponseBuilder": "_builders",
    "ToolTimedOutError": "_errors",
    "ToolValidation": "_validation",
    "TraceEntry": "_values",
    "UnknownFormatError": "_errors",
    "UnknownMockError": "_errors",
    "UnknownToolError": "_errors",
    "UnmockedToolError": "_errors",
    "UnsupportedFrameworkError": "_errors",
    "UnusedScriptError": "_errors",
    "Usage": "_values",
    "UserMessageBuilder": "_builders",
    "VacuousAssertionWarning": "_errors",
    "Violation": "_errors",
    "assert_argument_flows": "assertions",
    "assert_budget": "assertions",
    "assert_calls": "order",
    "assert_confirmed": "assertions",
    "assert_headers": "assertions",
    "assert_model_used": "assertions",
    "assert_no_duplicate_calls": "assertions",
    "assert_no_loop": "assertions",
    "assert_no_tool_calls": "assertions",
    "assert_only_tools": "assertions",
    "assert_response_consistent": "assertions",
    "assert_response_contains": "assertions",
    "assert_response_equals": "assertions",
    "assert_response_matches": "assertions",
    "assert_snapshot": "_snapshots",
    "assert_tool_args_contain": "assertions",
    "assert_tool_call_count": "assertions",
    "assert_tool_call_order": "assertions",
    "assert_tool_calls": "assertions",
    "assert_trajectory": "assertions",
    "clear_assertions": "_registry",
    "configure_redaction": "_secrets",
    "list_assertions": "_registry",
    "offline": "_offline",
    "parse_response": "_parsing",
    "parse_stream": "_parsing",
    "redact": "_redaction",
    "register_assertion": "_registry",
    "run_custom_assertion": "_registry",
    "scenario": "_scenario",
    "validate_tools": "_validation",
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
