"""Where a run starts: at the wrapped agent, or where the turn of a conversation before it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents import Agent, RunState

from callsheet_openai_agents._input import with_history

# The SDK's options by which somebody else keeps what was said: it is then not said again.
_KEEPERS = ("session", "conversation_id", "previous_response_id")
AFTER = "after"


def start(
    agent: Agent[Any], message: Any, history: Sequence[Any] | None, options: dict[str, Any]
) -> tuple[Agent[Any], Any, dict[str, Any]]:
    """Give the agent, the input and the options of a run.

    Args:
        agent: The agent that was wrapped.
        message: What the test says.
        history: What came before, where the test says so itself.
        options: Those of the run, `AFTER` being the result of the turn before.
    """
    options = dict(options)
    after, chosen = options.pop(AFTER, None), options.pop("starting_agent", None)
    if isinstance(message, RunState):
        # A state knows its agent and everything said.
        return chosen or agent, message, options
    if after is not None and history is None and all(options.get(name) is None for name in _KEEPERS):
        history, kept = _carried(after, options)
        options.update(kept)
    first = agent if after is None else after.last_agent
    return chosen or first, with_history(message, history), options


def _carried(after: Any, options: dict[str, Any]) -> tuple[list[Any] | None, dict[str, Any]]:
    """Give the items of the turn before, or what finds them where the provider keeps them."""
    if after._conversation_id is not None:
        return None, {"conversation_id": after._conversation_id}
    chained = after._auto_previous_response_id or after._previous_response_id is not None
    if after.last_response_id is not None and (chained or options.get("auto_previous_response_id")):
        return None, {"previous_response_id": after.last_response_id}
    return after.to_input_list(), {}
