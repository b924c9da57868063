"""The tools an agent turns out to have when its model is about to be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from callsheet.adapters import Scope, Session, UnmockedToolError, active_scope, identity
from callsheet_openai_agents._inventory import agent_name, all_names, called, handoff_name, is_hosted
from callsheet_openai_agents._slots import is_beyond_reach


def noted_tools(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `AgentBase.get_all_tools`: notes also what MCP servers, sandboxes and hooks add."""

    @wraps(original)
    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await original(self, run_context)
        scope = active_scope()
        if scope is not None:
            _note(scope, self, tools)
        return tools

    return get_all_tools


def _note(scope: Scope, agent: Any, tools: list[Any]) -> None:
    session = scope.session
    # The SDK asks several times a turn, and most agents' tools never change.
    handoffs = getattr(agent, "handoffs", ())
    known = session.kept.get((noted_tools, identity(agent)))
    if known is None or known[0] != tools or known[1] != handoffs:
        names = {name for offered in tools for name in all_names(offered)}
        name = agent_name(session, agent)
        session.note_tools(name, names)
        for offered in tools:
            if is_hosted(offered):
                _check_hosted(session, offered, name)
            elif is_beyond_reach(offered):
                _refuse_beyond_reach(session, offered, name)
        names.update(map(handoff_name, handoffs))
        # With the agent, so that its id stays its own.
        known = session.kept[noted_tools, identity(agent)] = (
            list(tools),
            list(handoffs),
            frozenset(names),
            agent,
        )
    if scope.run is not None:
        scope.run.offered = known[2]


def _check_hosted(session: Session, offered: Any, agent: str) -> None:
    scripted = session.model is not None or session.native_model is not None
    if scripted or session.may_run(all_names(offered)):
        return
    name = called(offered)
    _refuse(
        session,
        f"Agent {agent!r} offers its own model {name!r}, which would run at the provider. "
        f"Script the model with FakeModel(...), or let it: MockTool.spy({name!r}).",
    )


def _refuse_beyond_reach(session: Session, offered: Any, agent: str) -> NoReturn:
    _refuse(
        session,
        f"Tool {called(offered)!r} of agent {agent!r} is a {type(offered).__qualname__}, which defines anew "
        "what runs it: no mock can stand before that. Give what runs it to the SDK's own class instead.",
    )


def _refuse(session: Session, why: str) -> NoReturn:
    violation = UnmockedToolError(why)
    session.poison(violation)
    raise violation
