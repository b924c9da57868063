"""Run hooks that record model replies, handoffs and final answers beside the user's own hooks."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agents import RunHooks
from agents.lifecycle import RunHooksBase

from callsheet.adapters import CallRecord, RunRecord, Session, Usage, parse_arguments
from callsheet_openai_agents._inventory import handoff_name


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
        handoffs = {handoff_name(target) for target in agent.handoffs}
        self._session.recording.add_reply(
            self._run,
            agent=agent.name,
            content="".join(_texts(response.output)),
            calls=[_call(item, agent.name, handoffs) for item in response.output if _is_call(item)],
            usage=Usage(response.usage.requests, response.usage.input_tokens, response.usage.output_tokens),
        )
        if self._users is not None:
            await self._users.on_llm_end(context, agent, response)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """Record which call handed over, and to whom."""
        for reply in self._run.replies_backwards():
            call = next((call for call in reply.calls if call.kind == "handoff"), None)
            if call is not None:
                call.handed_to, call.outcome = to_agent.name, "success"
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


def _is_call(item: Any) -> bool:
    return getattr(item, "type", None) == "function_call"


def _call(item: Any, agent: str, handoffs: set[str]) -> CallRecord:
    return CallRecord(
        item.call_id,
        item.name,
        args=parse_arguments(item.arguments),
        raw_args=item.arguments,
        agent=agent,
        kind="handoff" if item.name in handoffs else "function",
    )


def _texts(output: list[Any]) -> list[str]:
    parts = [part for item in output if getattr(item, "type", None) == "message" for part in item.content]
    return [part.text if part.type == "output_text" else part.refusal for part in parts]
