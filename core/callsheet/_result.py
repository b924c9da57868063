"""The outcome of one agent run, as assertions read it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from callsheet._errors import ExpectationError
from callsheet._messages import messages_from_trace, trace_from_messages
from callsheet._suggest import did_you_mean, listed
from callsheet._values import ToolCall, TraceEntry, Usage


@dataclass(frozen=True)
class AgentResult:
    """What an agent did and said.

    Args:
        response: The final text.
        tool_calls: Every call the agent's models asked for, in canonical order: turns in order, the
            calls of one reply as the model wrote them, a sub-agent's calls after the call that
            started it.
        model_used: The name of the model the agent was configured with.
        headers: The headers that reached the model requests.
        trace: Every step, in the same order.
        metadata: What the test passed in, plus `turns`, the number of model replies.
        output: The framework's final, possibly structured output.
        native: The framework's own result object.
        usage: Requests and tokens.
        error: The exception that ended the run, as text, or None.
    """

    __module__ = "callsheet"

    response: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    model_used: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    trace: list[TraceEntry] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    output: Any = field(default=None, kw_only=True)
    native: Any = field(default=None, kw_only=True, compare=False, repr=False)
    usage: Usage = field(default_factory=Usage, kw_only=True)
    error: str | None = field(default=None, kw_only=True)

    @property
    def tool_call_count(self) -> int:
        """The number of tool calls."""
        return len(self.tool_calls)

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools called, in order, repeats kept."""
        return [call.name for call in self.tool_calls]

    def get_tool_call(self, name: str) -> ToolCall | None:
        """Give the first call of a tool, or None."""
        return next((call for call in self.tool_calls if call.name == name), None)

    def get_all_tool_calls(self, name: str) -> list[ToolCall]:
        """Give every call of a tool, in order."""
        return [call for call in self.tool_calls if call.name == name]

    @property
    def batches(self) -> list[list[ToolCall]]:
        """The calls grouped by the model reply that asked for them; a call of no reply stands alone."""
        return group_batches(self.tool_calls)

    @property
    def agents(self) -> list[str]:
        """The names of the agents, in order of first activity."""
        return list(dict.fromkeys(entry.agent for entry in self.trace if entry.agent is not None))

    def by_agent(self, name: str) -> Self:
        """Give what one agent did and said, as a result of its own.

        Its `response` is the agent's last text. Its `usage` is what an adapter recorded by agent
        (`metadata["usage_by_agent"]`), and empty where none did.

        Args:
            name: The agent's name.

        Raises:
            ExpectationError: No agent of that name took part.
        """
        trace = [entry for entry in self.trace if entry.agent == name]
        calls = [call for call in self.tool_calls if call.agent == name]
        if not trace and not calls:
            active = [*self.agents, *(call.agent for call in self.tool_calls)]
            took_part = list(dict.fromkeys(agent for agent in active if agent is not None))
            raise ExpectationError(
                f"No agent {name!r} took part; agents: {listed(took_part)}.{did_you_mean(name, took_part)}"
            )
        said = [entry.content for entry in trace if entry.role == "assistant" and entry.content]
        steps: list[TraceEntry | ToolCall] = [*trace, *calls]
        replies = {(each.run, each.turn) for each in steps if each.turn is not None}
        spent = self.metadata.get("usage_by_agent", {}).get(name, {})
        return replace(
            self,
            response=said[-1] if said else "",
            tool_calls=calls,
            trace=trace,
            metadata={**self.metadata, "turns": len(replies)},
            output=None,
            native=None,
            usage=Usage(
                spent.get("requests", 0), spent.get("input_tokens", 0), spent.get("output_tokens", 0)
            ),
        )

    def trajectory(self) -> list[dict[str, Any]]:
        """Give the steps as plain dicts of role, name, args, content and agent, equal across frameworks."""
        return [entry.normalized() for entry in self.trace]

    def to_dict(self) -> dict[str, Any]:
        """Give every field but `native` as plain dicts and lists; values inside stay what they are."""
        return {
            "response": self.response,
            "tool_calls": [call.to_dict(full=True) for call in self.tool_calls],
            "model_used": self.model_used,
            "headers": dict(self.headers),
            "trace": [entry.to_dict() for entry in self.trace],
            "metadata": dict(self.metadata),
            "output": self.output,
            "usage": self.usage.to_dict(),
            "error": self.error,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a result from what `to_dict` gave.

        Args:
            data: The dict; `native`, which it does not have, is None in the result.
        """
        usage = {key: value for key, value in data.get("usage", {}).items() if key != "total_tokens"}
        return cls(
            **{
                **data,
                "tool_calls": [ToolCall.from_dict(call) for call in data.get("tool_calls", [])],
                "trace": [TraceEntry.from_dict(entry) for entry in data.get("trace", [])],
                "usage": Usage(**usage),
            }
        )

    def to_messages(self) -> list[dict[str, Any]]:
        """Give the trajectory as an OpenAI-style message list (Chat Completions roles and `tool_calls`)."""
        return messages_from_trace(self.trace)

    @classmethod
    def from_messages(cls, messages: Sequence[Mapping[str, Any]]) -> Self:
        """Build a result from an OpenAI-style message list.

        Args:
            messages: The messages, those of tools included.

        Raises:
            CallsheetError: A message has an unknown role, or a tool call no function name.
        """
        messages = list(messages)
        trace = trace_from_messages(messages)
        said = [entry.content for entry in trace if entry.role == "assistant" and entry.content]
        return cls(
            response=said[-1] if said else "",
            tool_calls=[entry.tool_call for entry in trace if entry.tool_call is not None],
            trace=trace,
            metadata={"turns": sum(1 for message in messages if message.get("role") == "assistant")},
        )


def group_batches(calls: Iterable[ToolCall]) -> list[list[ToolCall]]:
    """Group calls by the model reply that asked for them, in order of first appearance."""
    batches: dict[object, list[ToolCall]] = {}
    for position, call in enumerate(calls):
        key = (call.run, call.turn) if call.turn is not None else position
        batches.setdefault(key, []).append(call)
    return list(batches.values())
