"""Adapters: one per framework, and the parts a further one is built from.

`OpenAIAgentsAdapter`, `LangGraphAdapter`, `PydanticAIAdapter` and `CrewAIAdapter` are loaded from their
own packages on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from callsheet._adapter import BaseAdapter
from callsheet._discovery import KNOWN, adapter_names, load_known, wrap
from callsheet._errors import (
    InvalidArgumentsError,
    MockAnswerError,
    MockConfigError,
    ScriptError,
    SessionError,
    ToolError,
    ToolTimedOutError,
    UnmockedToolError,
    UnsupportedFrameworkError,
    Violation,
    described,
)
from callsheet._identity import identity
from callsheet._inventory import Inventory
from callsheet._messages import parse_arguments
from callsheet._mocks import MockTool
from callsheet._patch import Patch
from callsheet._patching import PatchSet
from callsheet._recording import CallRecord, ReplyRecord, RunRecord
from callsheet._requests import ModelRequest, ToolRequest, message_text
from callsheet._result import AgentResult
from callsheet._scope import Scope, active_scope, any_session_open, kept_in_reach
from callsheet._script import ModelReply, ScriptedCall
from callsheet._session import Session
from callsheet._suggest import did_you_mean, listed
from callsheet._supported import SupportedFramework
from callsheet._sync import finish
from callsheet._values import Kind, ToolCall, TraceEntry, Usage

# Without the four adapters, which need not be installed.
__all__ = [
    "AgentResult",
    "BaseAdapter",
    "CallRecord",
    "FrameworkAdapter",
    "InvalidArgumentsError",
    "Inventory",
    "Kind",
    "MockAnswerError",
    "MockConfigError",
    "MockTool",
    "ModelReply",
    "ModelRequest",
    "Patch",
    "PatchSet",
    "ReplyRecord",
    "RunRecord",
    "Scope",
    "ScriptError",
    "ScriptedCall",
    "Session",
    "SessionError",
    "SupportedFramework",
    "ToolCall",
    "ToolError",
    "ToolRequest",
    "ToolTimedOutError",
    "TraceEntry",
    "UnmockedToolError",
    "UnsupportedFrameworkError",
    "Usage",
    "Violation",
    "active_scope",
    "adapter_names",
    "any_session_open",
    "described",
    "did_you_mean",
    "finish",
    "identity",
    "kept_in_reach",
    "listed",
    "message_text",
    "parse_arguments",
    "wrap",
]

if TYPE_CHECKING:
    OpenAIAgentsAdapter: Any
    LangGraphAdapter: Any
    PydanticAIAdapter: Any
    CrewAIAdapter: Any


@runtime_checkable
class FrameworkAdapter(Protocol):
    """What a conversation or a runner needs of an adapter; any object with these will do."""

    @property
    def framework_name(self) -> str:
        """The framework's name, such as "langgraph"."""

    async def invoke(
        self,
        message: Any,
        *,
        tools: Any = None,
        headers: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> AgentResult:
        """Run the agent on a message and give what it did."""
        ...


def __getattr__(name: str) -> Any:
    if name in KNOWN:
        return load_known(name)
    raise AttributeError(f"module 'callsheet.adapters' has no attribute {name!r}")
