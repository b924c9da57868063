"""MCP servers: one whose tools are mocked is not started."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from crewai.tools.base_tool import BaseTool
from crewai.utilities.pydantic_schema_utils import create_model_from_schema
from pydantic import BaseModel, ConfigDict

from callsheet.adapters import MockTool, Session
from callsheet_crewai._abort import current_scope
from callsheet_crewai._inventory import tool_names


def mocked_mcp_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent.get_mcp_tools`, which starts each server to ask for its tools.

    Where no real tool may run, the mocks that stand for no other tool are the servers' tools.
    """

    @wraps(original)
    def get_mcp_tools(self: Any, mcps: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(self, mcps)
        role = self.role.strip()
        mocks = _left_over(scope.session, role)
        wants_real = scope.session.lets_real_run or any(mock.is_spy for mock in mocks)
        tools = original(self, mcps) if wants_real else [_stand_in(mock) for mock in mocks]
        scope.session.note_tools(role, tool_names(tools))
        return tools

    return get_mcp_tools


class MCPNativeTool(BaseTool):
    """Stands for a tool of a server that was not started; its mock answers for it."""

    original_tool_name: str

    def _run(self, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"The MCP server of tool {self.name!r} was not started, because the tool was mocked."
        )


class _AnyArguments(BaseModel):
    model_config = ConfigDict(extra="allow")


def _left_over(session: Session, role: str) -> Iterable[MockTool]:
    known = session.tool_names
    left: dict[str, MockTool] = {}
    for mock in session.tools:
        owner, _, name = mock.name.rpartition(".")
        if name not in known and owner in ("", role):
            left.setdefault(name, mock)
    return list(left.values())


def _stand_in(mock: MockTool) -> BaseTool:
    name = mock.name.rpartition(".")[2]
    schema = _AnyArguments if mock.schema is None else create_model_from_schema(dict(mock.schema))
    return MCPNativeTool(
        name=name, original_tool_name=name, description=mock.description or name, args_schema=schema
    )
