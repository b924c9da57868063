"""Run hooks that record model replies and handoffs beside the user's own hooks."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agents import RunHooks
from agents.lifecycle import RunHooksBase

from callsheet.adapters import RunRecord, Session, Usage
from callsheet_openai_agents._calls import is_of_approved, recorded_calls
from callsheet_openai_agents._inventory import agent_name, handoff_name


class RecordingHooks(RunHooks[Any]):
    """Records one run and passes every event on to the user's hooks.

    Args:
        session: The session.
        run: The run.
        users: The user's hooks, or None.
    """

    def __init__(self, session: Session, run: RunRecord, users: RunHooksBase[Any, Any] | None) -> None:
        self._session = session
        self._run = run
        self._users = users

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Record a model reply and the calls it asks for."""
        name = agent_name(self._session, agent)
        used = response.usage
        handoffs = {handoff_name(to): to for to in agent.handoffs}
        calls = recorded_calls(response.output, name, agent.tools, handoffs)
        self._session.recording.add_reply(
            self._run,
            agent=name,
            content="".join(_texts(response.output)),
            calls=[call for call in calls if not is_of_approved(call, self._session, self._run)],
            usage=Usage(used.requests, used.input_tokens, used.output_tokens),
        )
        if self._users is not None:
            await self._users.on_llm_end(context, agent, response)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """Record which call handed over, and to whom."""
        for reply in self._run.replies_backwards():
            call = next((call for call in reply.calls if call.kind == "handoff"), None)
            if call is not None:
                call.handed_to, call.outcome = agent_name(self._session, to_agent), "success"
                break
        if self._users is not None:
            await self._users.on_handoff(context, from_agent, to_agent)


def _forwarded(name: str) -> Callable[..., Coroutine[Any, Any, None]]:
    async def forward(self: RecordingHooks, *args: Any, **kwargs: Any) -> None:
        if self._users is not None:
            await getattr(self._users, name)(*args, **kwargs)

    return forward


# Every other hook of the installed version, those of a later one included, goes to the user's hooks.
for _name in dir(RunHooksBase):
    if _name.startswith("on_") and _name not in vars(RecordingHooks):
        setattr(RecordingHooks, _name, _forwarded(_name))


def _texts(output: list[Any]) -> list[str]:
    parts = [part for item in output if getattr(item, "type", None) == "message" for part in item.content]
    return [part.text if part.type == "output_text" else part.refusal for part in parts]
