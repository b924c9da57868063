"""Adapters: one per framework, and the parts a further one is built from.

`OpenAIAgentsAdapter`, `LangGraphAdapter`, `PydanticAIAdapter` and `CrewAIAdapter` are loaded from their
own packages on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from callsheet._adapter import BaseAdapter as BaseAdapter
from callsheet._discovery import KNOWN, load_known
from callsheet._discovery import adapter_names as adapter_names
from callsheet._discovery import wrap as wrap
from callsheet._errors import InvalidArgumentsError as InvalidArgumentsError
from callsheet._errors import MockConfigError as MockConfigError
from callsheet._errors import ScriptError as ScriptError
from callsheet._errors import ToolError as ToolError
from callsheet._errors import ToolTimedOutError as ToolTimedOutError
from callsheet._errors import UnmockedToolError as UnmockedToolError
from callsheet._errors import UnsupportedFrameworkError as UnsupportedFrameworkError
from callsheet._errors import Violation as Violation
from callsheet._inventory import Inventory as Inventory
from callsheet._messages import parse_arguments as parse_arguments
from callsheet._patching import Patch as Patch
from callsheet._patching import PatchSet as PatchSet
from callsheet._recording import CallRecord as CallRecord
from callsheet._recording import ReplyRecord as ReplyRecord
from callsheet._recording import RunRecord as RunRecord
from callsheet._requests import ModelRequest as ModelRequest
from callsheet._requests import ToolRequest as ToolRequest
from callsheet._requests import message_text as message_text
from callsheet._result import AgentResult as AgentResult
from callsheet._scope import Scope as Scope
from callsheet._scope import active_scope as active_scope
from callsheet._script import ModelReply as ModelReply
from callsheet._script import ScriptedCall as ScriptedCall
from callsheet._session import Session as Session
from callsheet._session import described as described
from callsheet._suggest import did_you_mean as did_you_mean
from callsheet._suggest import listed as listed
from callsheet._sync import finish as finish
from callsheet._values import ToolCall as ToolCall
from callsheet._values import TraceEntry as TraceEntry
from callsheet._values import Usage as Usage

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
