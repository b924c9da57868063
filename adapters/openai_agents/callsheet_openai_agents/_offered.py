"""The tools an agent turns out to have when its model is about to be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from callsheet.adapters import Session, UnmockedToolError, active_scope

from callsheet_openai_agents._inventory import agent_name, all_names, called, handoff_name, is_hosted


def noted_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `AgentBase.get_all_tools`: notes the tools, those of MCP servers, sandboxes and hooks included."""

    @wraps(original)
    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await original(self, run_context)
        scope = active_scope()
        if scope is not None:
            names = {name for offered in tools for name in all_names(offered)}
            agent = agent_name(scope.session, self)
            scope.session.note_tools(agent, names)
            if scope.run is not None:
                scope.run.offered = frozenset(names.union(map(handoff_name, getattr(self, "handoffs", ()))))
            for offered in tools:
                if is_hosted(offered):
                    _check_hosted(scope.session, offered, agent)
        return tools

    return get_all_tools


def _check_hosted(session: Session, offered: Any, agent: str) -> None:
    scripted = session.model is not None or session.native_model is not None
    if scripted or session.may_run(all_names(offered)):
        return
    name = called(offered)
    violation = UnmockedToolError(
        f"Agent {agent!r} offers its own model {name!r}, which would run at the provider. "
        f"Script the model with FakeModel(...), or let it: MockTool.spy({name!r})."
    )
    session.poison(violation)
    raise violation
