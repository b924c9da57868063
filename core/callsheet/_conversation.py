"""`Conversation`: several turns with one agent."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from callsheet._adapter import BaseAdapter
from callsheet._errors import OptionError
from callsheet._result import AgentResult
from callsheet._values import ToolCall
from callsheet.adapters import FrameworkAdapter


class Conversation:
    """A conversation with an agent, each turn continuing the one before.

    With an adapter the state is carried the framework's own way; with a runner, as its message list.

    Args:
        agent: An adapter, an `AgentRunner`, or any object with `framework_name` and
            `invoke(message, history=...)`.

    Raises:
        OptionError: The agent is none of these.

    Used as a context manager it checks at the end that the whole script was asked for.
    """

    __module__ = "callsheet"

    def __init__(self, agent: Any) -> None:
        # What only has an `invoke`, such as a compiled graph, would run for real.
        if not isinstance(agent, FrameworkAdapter):
            raise OptionError(
                f"A Conversation is with an adapter or an AgentRunner, not {type(agent).__name__}. "
                "Give wrap(agent, ...), or an object with framework_name and invoke()."
            )
        self._agent: Any = agent
        self.results: list[AgentResult] = []

    async def say(self, message: Any, **options: Any) -> AgentResult:
        """Say something and give what the agent did.

        Args:
            message: A text, or the framework's own input.
            **options: Those of the agent's `invoke`.
        """
        options = {**self._continued(), **options}
        if isinstance(self._agent, BaseAdapter):
            session, options = self._turn(self._agent, options)
            result = await self._agent.run_in(session, message, **options)
        else:
            result = await self._agent.invoke(message, **options)
        self.results.append(result)
        return result

    def say_sync(self, message: Any, **options: Any) -> AgentResult:
        """Like `say`, by the agent's sync way of running.

        Args:
            message: A text, or the framework's own input.
            **options: Those of the agent's `sync_invoke`.
        """
        options = {**self._continued(), **options}
        if isinstance(self._agent, BaseAdapter):
            session, options = self._turn(self._agent, options)
            result = self._agent.run_in_sync(session, message, **options)
        else:
            result = self._agent.sync_invoke(message, **options)
        self.results.append(result)
        return result

    @property
    def turn_count(self) -> int:
        """The number of finished turns."""
        return len(self.results)

    @property
    def last_result(self) -> AgentResult | None:
        """What the agent did in the latest turn, or None before the first."""
        return self.results[-1] if self.results else None

    @property
    def history(self) -> list[dict[str, Any]]:
        """Every turn's messages, tool messages included, OpenAI-style."""
        return [message for result in self.results for message in result.to_messages()]

    @property
    def all_tool_calls(self) -> list[ToolCall]:
        """Every tool call of every turn, in order."""
        return [call for result in self.results for call in result.tool_calls]

    def reset(self) -> None:
        """Forget every turn; the next one starts afresh."""
        self.results.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and isinstance(self._agent, BaseAdapter):
            self._agent.check_used_up()

    def _continued(self) -> dict[str, Any]:
        last = self.last_result
        if last is None:
            return {}
        if isinstance(self._agent, BaseAdapter):
            trace = [entry for result in self.results for entry in result.trace]
            return self._agent.turn_options(replace(last, trace=trace))
        return {"history": self.history}

    @staticmethod
    def _turn(adapter: BaseAdapter[Any], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Split the options into the session's and the run's; more turns may use the rest of the script."""
        own = {key: options.pop(key) for key in ("tools", "headers", "metadata") if key in options}
        return adapter.turn_session(**own), options
