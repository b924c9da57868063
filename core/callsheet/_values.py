"""The values every other module speaks in: calls, trace entries and token usage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

Kind = Literal["function", "agent", "handoff", "mcp", "hosted", "output"]
Outcome = Literal["success", "failed", "invalid", "unknown", "denied", "skipped", "interrupted", "retried"]
Role = Literal["user", "assistant", "tool", "system", "handoff", "interrupt", "error"]


@dataclass(frozen=True, init=False)
class ToolCall:
    """One tool call an agent made.

    Equality looks at `name`, `args`, `response` and `error` only; everything else is evidence.

    Args:
        name: The tool's name as the model wrote it.
        args: The arguments the tool was given, after the framework parsed them.
        response: What the tool returned, before the framework rendered it for the model.
        error: Why the call failed, or None.
        id: The framework's id of the call.
        agent: The agent whose model asked for the call.
        parent_id: The id of the call whose sub-agent made this one.
        run: The position of the agent run this call belongs to, counted in canonical order.
        turn: The index of the model reply within its run.
        index: The position within that reply. Calls that share `run` and `turn` are one parallel batch.
        mocked: Whether a stand-in answered instead of the real tool.
        raw_args: What the model really wrote, kept when it is not valid JSON or was rejected.
        kind: What was called: "function", "agent", "handoff", "mcp", "hosted" or "output".
        outcome: How the call ended: "success", "failed" (the tool raised), "invalid" (arguments
            rejected), "unknown" (no such tool), "denied" (approval or guardrail), "skipped",
            "interrupted" or "retried".
        attempts: How often the framework ran the tool for this one call.
        duration: Seconds the tool took, a mock's virtual delay included.
        seen_by_model: The text the model was given back.
        metadata: What only one framework knows about the call (a graph node, a cache hit).
    """

    __module__ = "callsheet"

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    response: Any = None
    error: str | None = None
    id: str | None = field(default=None, kw_only=True, compare=False)
    agent: str | None = field(default=None, kw_only=True, compare=False)
    parent_id: str | None = field(default=None, kw_only=True, compare=False)
    run: int = field(default=0, kw_only=True, compare=False)
    turn: int | None = field(default=None, kw_only=True, compare=False)
    index: int | None = field(default=None, kw_only=True, compare=False)
    mocked: bool = field(default=False, kw_only=True, compare=False)
    raw_args: str | None = field(default=None, kw_only=True, compare=False)
    kind: Kind = field(default="function", kw_only=True, compare=False)
    outcome: Outcome = field(default="success", kw_only=True, compare=False)
    attempts: int = field(default=1, kw_only=True, compare=False)
    duration: float | None = field(default=None, kw_only=True, compare=False)
    seen_by_model: str | None = field(default=None, kw_only=True, compare=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, kw_only=True, compare=False)

    # Written out, because a trajectory may have thousands of calls and the constructor a frozen dataclass
    # brings takes three times as long.
    def __init__(
        self,
        name: str,
        args: dict[str, Any] | None = None,
        response: Any = None,
        error: str | None = None,
        *,
        id: str | None = None,
        agent: str | None = None,
        parent_id: str | None = None,
        run: int = 0,
        turn: int | None = None,
        index: int | None = None,
        mocked: bool = False,
        raw_args: str | None = None,
        kind: Kind = "function",
        outcome: Outcome = "success",
        attempts: int = 1,
        duration: float | None = None,
        seen_by_model: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        values = vars(self)
        values["name"] = name
        values["args"] = {} if args is None else args
        values["response"] = response
        values["error"] = error
        values["id"] = id
        values["agent"] = agent
        values["parent_id"] = parent_id
        values["run"] = run
        values["turn"] = turn
        values["index"] = index
        values["mocked"] = mocked
        values["raw_args"] = raw_args
        values["kind"] = kind
        values["outcome"] = outcome
        values["attempts"] = attempts
        values["duration"] = duration
        values["seen_by_model"] = seen_by_model
        values["metadata"] = {} if metadata is None else metadata

    def to_dict(self, *, full: bool = False) -> dict[str, Any]:
        """Give the call as a dict.

        Args:
            full: Every field, instead of name, args, and response and error where set.
        """
        if full:
            return {f.name: getattr(self, f.name) for f in fields(self)}
        short: dict[str, Any] = {"name": self.name, "args": self.args}
        if self.response is not None:
            short["response"] = self.response
        if self.error is not None:
            short["error"] = self.error
        return short

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a call from what `to_dict` gave; unknown keys are an error (`TypeError`)."""
        return cls(**data)


@dataclass(frozen=True)
class TraceEntry:
    """One step of a trajectory: a message, a tool call, a handoff, an interrupt or an error.

    Args:
        role: "user", "assistant", "tool", "system", "handoff", "interrupt" or "error".
        content: The text of the step; for a handoff, the agent handed to.
        tool_call: The call, for "tool" and "handoff" entries.
        metadata: What only one framework knows about the step.
        agent: The agent that was active.
        parent_id: The id of the call whose sub-agent made this step, or None at the top.
        run: The position of the agent run, counted in canonical order.
        turn: The index of the model reply this step came from, or None.
    """

    __module__ = "callsheet"

    role: Role
    content: Any = None
    tool_call: ToolCall | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent: str | None = field(default=None, kw_only=True)
    parent_id: str | None = field(default=None, kw_only=True, compare=False)
    run: int = field(default=0, kw_only=True, compare=False)
    turn: int | None = field(default=None, kw_only=True, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Give every field, with the tool call as its own full dict or None."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        data["metadata"] = dict(self.metadata)
        data["tool_call"] = self.tool_call.to_dict(full=True) if self.tool_call is not None else None
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build an entry from what `to_dict` gave."""
        call = data.get("tool_call")
        return cls(**{**data, "tool_call": ToolCall.from_dict(call) if call is not None else None})

    def normalized(self) -> dict[str, Any]:
        """Give the step as role, name, args, content and agent, without any framework's envelope.

        A tool step's content is what the tool answered or why it failed; a handoff's name is the
        agent it went to.
        """
        call = self.tool_call
        name, args, content = None, None, self.content
        if self.role == "handoff":
            name, args, content = self.content, call.args if call else {}, None
        elif call is not None:
            name, args, content = call.name, call.args, call.response if call.error is None else call.error
        return {"role": self.role, "name": name, "args": args, "content": content, "agent": self.agent}


@dataclass(frozen=True)
class Usage:
    """What the model calls of a run cost.

    Args:
        requests: The number of model requests.
        input_tokens: The tokens sent.
        output_tokens: The tokens received.
    """

    __module__ = "callsheet"

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input plus output tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        """Give requests, input_tokens, output_tokens and total_tokens."""
        return {
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
        }
