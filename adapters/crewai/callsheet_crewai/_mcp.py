"""Servers that bring tools: one whose tools are mocked is not started."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

from crewai.tools.base_tool import BaseTool
from crewai.utilities.pydantic_schema_utils import create_model_from_schema
from pydantic import BaseModel, ConfigDict

from callsheet.adapters import MockTool, Session
from callsheet_crewai._abort import current_scope
from callsheet_crewai._inventory import tool_names


def mocked_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent.get_mcp_tools` and `get_platform_tools`, which ask a server for its tools.

    Where no real tool may run, the mocks that stand for no other tool are the servers' tools.
    """

    @wraps(original)
    def get_tools(self: Any, *args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, *args, **kwargs)
        role = self.role.strip()
        stand_ins = _stand_ins(scope.session, role)
        tools = original(self, *args, **kwargs) if stand_ins is None else stand_ins
        scope.session.note_tools(role, tool_names(tools))
        return tools

    return get_tools


def started_server(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `MCPServerAdapter.start` of crewai-tools, with which an application starts a server itself."""

    @wraps(original)
    def start(self: Any) -> None:
        scope = current_scope()
        stand_ins = _stand_ins(scope.session, None) if scope is not None else None
        if scope is None or stand_ins is None:
            original(self)
            return
        self._adapter.loop.close()
        self._adapter = nullcontext()  # what is stopped instead of the server
        self._tools = stand_ins
        scope.session.note_tools("", tool_names(stand_ins))

    return start


class MCPNativeTool(BaseTool):
    """Stands for a tool of a server that was not started; its mock answers for it."""

    original_tool_name: str

    def _run(self, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"The MCP server of tool {self.name!r} was not started, because the tool was mocked."
        )


class _AnyArguments(BaseModel):
    model_config = ConfigDict(extra="allow")


def _stand_ins(session: Session, role: str | None) -> list[BaseTool] | None:
    """Give the tools of a server that is not started, or None where a real tool may run."""
    known = session.tool_names
    left: dict[str, MockTool] = {}
    for mock in session.tools:
        owner, _, name = mock.name.rpartition(".")
        if name not in known and (role is None or owner in ("", role)):
            left.setdefault(name, mock)
    if session.lets_real_run or any(mock.is_spy for mock in left.values()):
        return None
    return [_stand_in(mock) for mock in left.values()]


def _stand_in(mock: MockTool) -> BaseTool:
    name = mock.name.rpartition(".")[2]
    schema = _AnyArguments if mock.schema is None else create_model_from_schema(dict(mock.schema))
    return MCPNativeTool(
        name=name, original_tool_name=name, description=mock.description or name, args_schema=schema
    )
