"""The shell of LangChain's middleware, which before LangChain 1.1 runs its commands past the tool."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from callsheet.adapters import Patch, active_scope
from callsheet_langgraph._tools import RunningCall, is_mocked


def patches() -> Iterator[Patch]:
    """Give the replacement for such a middleware, once it is loaded."""
    module = sys.modules.get("langchain.agents.middleware.shell_tool")
    middleware = getattr(module, "ShellToolMiddleware", None)
    if middleware is not None and "wrap_tool_call" in vars(middleware):
        yield Patch(middleware, "_run_shell_tool", _asking)


def _asking(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def ask(self: Any, resources: Any, payload: Any, *, tool_call_id: str | None) -> Any:
        scope = active_scope()
        if scope is None:
            return original(self, resources, payload, tool_call_id=tool_call_id)
        (tool,) = self.tools
        if is_mocked(tool, scope, payload, tool_call_id):
            return tool.run(payload, tool_call_id=tool_call_id)
        call = RunningCall(scope, tool, payload, tool_call_id)
        return call.told(call.answer(lambda: original(self, resources, payload, tool_call_id=tool_call_id)))

    return ask
