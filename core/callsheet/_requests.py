"""What an adapter asks a session: who answers this tool call, who answers this model call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from callsheet._values import Kind

if TYPE_CHECKING:
    from callsheet._recording import RunRecord


@dataclass(kw_only=True, eq=False)
class ToolRequest:
    """One tool call, as a framework is about to run it.

    Args:
        name: The tool's name as the model knows it.
        args: The parsed arguments, or None when the model wrote no JSON object.
        call_id: The framework's id of the call, which joins it to the model reply that asked for it.
        agent: The name of the agent that owns the tool.
        raw_args: The arguments as the model wrote them.
        kind: What is called.
        schema: The real tool's JSON Schema, checked where the mock brings none.
        aliases: Further names a mock may use for this tool, such as a qualified one.
        runs_unmocked: Whether the call runs for real unless it is mocked: sub-agents and handoffs, whose
            own tools are judged one by one.
        timeout: The framework's timeout for the tool in seconds, or None.
        metadata: What only this framework knows about the call.
        order: Where a call that no recorded reply asked for stands among its run's steps.
        check: Runs the framework's own checks of the arguments before a mock answers; it raises
            `InvalidArgumentsError` for what they do not accept.
        control_flow: Exceptions by which a tool interrupts the run rather than fails.
        shape: Makes a mock's answer what the real tool returns, such as a model of a dict; it raises
            `MockAnswerError` where it can not. The record keeps the answer as the mock gave it.
        run: The agent run the call belongs to, or None for the one the running code is in.
    """

    name: str
    args: dict[str, Any] | None
    call_id: str | None = None
    agent: str | None = None
    raw_args: str | None = None
    kind: Kind = "function"
    schema: Mapping[str, Any] | None = None
    aliases: tuple[str, ...] = ()
    runs_unmocked: bool = False
    timeout: float | None = None
    metadata: Mapping[str, Any] | None = None
    order: tuple[Any, ...] = ()
    check: Callable[[], None] | None = None
    control_flow: tuple[type[BaseException], ...] = ()
    shape: Callable[[Any], Any] | None = None
    run: RunRecord | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names a mock may answer by, the most specific first."""
        plain = (*self.aliases, self.name)
        return plain if self.agent is None else (*[f"{self.agent}.{name}" for name in plain], *plain)


class ModelRequest:
    """One model call, as a framework is about to make it.

    Args:
        messages: The OpenAI-style message list, or a callable that builds it; built on first use.
        tools: The tools offered, as mappings of name, description and parameters, or a callable.
        agent: The name of the agent that calls.
        model: The name of the model the agent was configured with.
        headers: The headers that reach the request.
        turn: The index of this call within the agent's run.
        place: Where this call stands in its run, for a framework whose models reply in random order: the
            ids of the tool calls are made from it instead of the number of replies so far.
        call_ids: Gives the ids of the tool calls the conversation already has, which no new one may take;
            None for those in `messages`.
    """

    __module__ = "callsheet"

    def __init__(
        self,
        *,
        messages: Sequence[Mapping[str, Any]] | Callable[[], Sequence[Mapping[str, Any]]] = (),
        tools: Iterable[Mapping[str, Any]] | Callable[[], Iterable[Mapping[str, Any]]] = (),
        agent: str | None = None,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        turn: int = 0,
        place: str | None = None,
        call_ids: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        self._messages = messages
        self._call_ids = call_ids
        self._tools = tools
        self.agent = agent
        self.model = model
        self.headers: dict[str, str] = dict(headers or {})
        self.turn = turn
        self.place = place

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, as OpenAI-style messages."""
        given = self._messages() if callable(self._messages) else self._messages
        return [dict(message) for message in given]

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools offered to the model, each with name, description and parameters."""
        given = self._tools() if callable(self._tools) else self._tools
        return [dict(tool) for tool in given]

    def taken_call_ids(self) -> Iterable[str]:
        """Give the ids of the tool calls the conversation already has."""
        if self._call_ids is not None:
            return self._call_ids()
        return [
            str(call["id"])
            for message in self.messages
            for call in message.get("tool_calls") or ()
            if isinstance(call, Mapping) and "id" in call
        ]

    @property
    def last_user_message(self) -> str:
        """The text of the last user message, or ""."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return message_text(message.get("content"))
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Give messages, tools, headers, agent, model and turn."""
        names = ("messages", "tools", "headers", "agent", "model", "turn")
        return {name: getattr(self, name) for name in names}


def message_text(content: object) -> str:
    """Give the text of a message's content, which is a text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, (list, tuple)):
        return str(content)
    parts = (part if isinstance(part, str) else _part_text(part) for part in content)
    return "".join(parts)


def _part_text(part: object) -> str:
    text = part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None)
    return text if isinstance(text, str) else ""
