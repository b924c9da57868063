"""What a kickoff is given, and what the next one is told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.crew import Crew
from crewai.events.types.agent_events import LiteAgentExecutionStartedEvent

from callsheet.adapters import AgentResult, MockConfigError


def kickoff_arguments(root: Any, message: Any, history: Sequence[Any] | None) -> tuple[Any, ...]:
    """Give the positional arguments of a root's kickoff: messages for an agent, inputs for the others."""
    if isinstance(root, BaseAgent):
        return (_messages(message, history),)
    return (_inputs(root, message, history),)


def told_so_far(result: AgentResult) -> list[dict[str, Any]]:
    """Give a run's messages, those it was told of before included."""
    return [*result.metadata.get("history", ()), *result.to_messages()]


def _messages(message: Any, history: Sequence[Any] | None) -> Any:
    if not history:
        return message
    new = [{"role": "user", "content": message}] if isinstance(message, str) else list(message)
    told = [*history, *new]
    return told if _takes_calls() else [_in_words(message) for message in told]


@cache
def _takes_calls() -> bool:
    """Say whether an agent may be given messages with tool calls; older versions fail on them."""
    return "dict[str, str]" not in str(LiteAgentExecutionStartedEvent.model_fields["messages"].annotation)


def _in_words(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a message as a text, the calls in it and what they gave included."""
    content = message.get("content")
    if not isinstance(content, (str, type(None))):
        return message
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    calls = [f"{function['name']}({function['arguments']})" for function in functions]
    role = "assistant" if message["role"] == "tool" else message["role"]
    return {"role": role, "content": "\n".join(filter(None, [content, *calls]))}


def _inputs(root: Any, message: Any, history: Sequence[Any] | None) -> dict[str, Any] | None:
    if message is None:
        inputs: dict[str, Any] = {}
    elif isinstance(message, str):
        inputs = {"message": message}
    elif isinstance(message, Mapping):
        inputs = dict(message)
    else:
        raise MockConfigError(
            f"A {type(root).__name__} was given {type(message).__name__}. Give its inputs as a dict, or a "
            'text, which becomes {"message": text}.'
        )
    if history and isinstance(root, Crew):
        # Where CrewAI's own chat puts it: each task is told of it in its description.
        inputs["crew_chat_messages"] = json.dumps(list(history), default=str)
    elif history:
        inputs["history"] = list(history)
    return inputs or None
