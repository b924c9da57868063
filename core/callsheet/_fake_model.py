"""`FakeModel`: a model that says what a test scripted."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from callsheet._errors import MockConfigError, ScriptExhaustedError, UnusedScriptError, fresh, is_exception
from callsheet._requests import ModelRequest
from callsheet._script import ModelReply, parse_step
from callsheet._suggest import did_you_mean, listed
from callsheet._sync import finish

_RULE = ("pattern", "step")
Step = ModelReply | BaseException | type[BaseException] | Callable[[ModelRequest], Any]


class FakeModel:
    """A deterministic model.

    A step is a text, a mapping with any of `content`, `tool_calls`, `handoff`, `output`, `refusal`,
    `thinking`, `native`, `usage` and `finish_reason`, an exception (the provider fails), or a callable
    that takes the `ModelRequest` and gives a step. `args` of a tool call given as a text is sent as it
    is: malformed JSON on purpose.

    Args:
        responses: One step per model call, in order.
        rules: Pairs of a regular expression, searched case-insensitively in the last user message, and a
            step; asked when no response is left.
        default_response: The step for every other call.
        agents: A list of steps per agent name. An agent named here follows its own list first.
        name: The model's name where the agent has none.

    With no argument at all it answers an empty text.

    Raises:
        MockConfigError: A step, a rule or an agent's script is none.
    """

    __module__ = "callsheet"

    def __init__(
        self,
        responses: Sequence[Any] | None = None,
        rules: Iterable[tuple[str, Any]] | None = None,
        default_response: Any = None,
        *,
        agents: Mapping[str, Sequence[Any]] | None = None,
        name: str = "fake-model",
    ) -> None:
        self.name = name
        self._responses = _checked_steps(responses, "responses")
        self._agents = _checked_agents(agents)
        self._rules = [_checked_rule(rule) for rule in rules or ()]
        nothing_given = responses is None and rules is None and agents is None
        if default_response is None and nothing_given:
            default_response = ""
        self._default = (
            None if default_response is None else _checked_step(default_response, "default_response")
        )
        self._lock = threading.Lock()
        self._requests: list[ModelRequest] = []
        self._taken: dict[str | None, int] = {}

    @property
    def agent_names(self) -> list[str]:
        """The agents that have a script of their own."""
        return list(self._agents)

    @property
    def call_count(self) -> int:
        """How often the model was asked."""
        return len(self._requests)

    @property
    def call_log(self) -> list[dict[str, Any]]:
        """Each request as a dict of messages, tools, headers, agent, model and turn."""
        return [request.to_dict() for request in self._requests]

    @property
    def remaining(self) -> int:
        """How many scripted steps nobody asked for yet."""
        return sum(self.unused().values())

    def unused(self) -> dict[str | None, int]:
        """The number of steps left, per agent with a script of its own and under None for `responses`."""
        scripts: dict[str | None, list[Step]] = {None: self._responses}
        scripts.update(self._agents)
        left = {key: len(steps) - self._taken.get(key, 0) for key, steps in scripts.items()}
        return {key: count for key, count in left.items() if count}

    def check_used_up(self) -> None:
        """Raise for steps nobody asked for.

        Raises:
            UnusedScriptError: With the number of steps left per script.
        """
        left = self.unused()
        if left:
            told = ", ".join(
                f"{count} in responses" if agent is None else f"{count} of agent {agent!r}"
                for agent, count in left.items()
            )
            raise UnusedScriptError(
                f"The session ended with scripted steps nobody asked for: {told}. "
                "Remove them, or pass strict=False."
            )

    def reset(self) -> None:
        """Start over: nothing asked, every step there."""
        with self._lock:
            self._requests.clear()
            self._taken.clear()

    def reply(self, request: ModelRequest) -> ModelReply:
        """Take the next step for a request; an async callable is run to its end.

        Args:
            request: What the model is asked.

        Raises:
            ScriptExhaustedError: Nothing is scripted for this request.
            BaseException: The step is an exception.
        """
        step = self._take(request)
        while not isinstance(step, ModelReply):
            given = step(request)
            step = _settled(finish(given) if inspect.isawaitable(given) else given)
        return step

    async def reply_async(self, request: ModelRequest) -> ModelReply:
        """Like `reply`, on the running event loop."""
        step = self._take(request)
        while not isinstance(step, ModelReply):
            given = step(request)
            step = _settled(await given if inspect.isawaitable(given) else given)
        return step

    def generate(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Iterable[Mapping[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Answer an OpenAI-style message list directly.

        Args:
            messages: The conversation so far.
            tools: The tools offered, for steps that look at the request.
            headers: The headers of the request, for the same.

        Returns:
            The step as a dict of the keys it uses, such as `content` and `tool_calls`.

        Raises:
            ScriptExhaustedError: Nothing is scripted for this request.
            BaseException: The step is an exception.
        """
        request = ModelRequest(messages=list(messages), tools=list(tools or ()), headers=headers)
        return self.reply(request).to_dict()

    def _take(self, request: ModelRequest) -> ModelReply | Callable[[ModelRequest], Any]:
        with self._lock:
            self._requests.append(request)
            step = self._scripted(request)
        if step is None:
            step = self._ruled(request) or self._default
        if step is None:
            raise ScriptExhaustedError(self._exhausted(request))
        return _settled(step)

    def _scripted(self, request: ModelRequest) -> Step | None:
        for key in (request.agent, None):
            steps = self._responses if key is None else self._agents.get(key, [])
            taken = self._taken.get(key, 0)
            if taken < len(steps):
                self._taken[key] = taken + 1
                return steps[taken]
            if key in self._agents:
                return None
        return None

    def _ruled(self, request: ModelRequest) -> Step | None:
        if not self._rules:
            return None
        said = request.last_user_message
        return next((step for pattern, step in self._rules if pattern.search(said)), None)

    def _exhausted(self, request: ModelRequest) -> str:
        agent = f"Agent {request.agent!r}" if request.agent is not None else "The agent"
        scripted = (
            len(self._agents.get(request.agent, []))
            if request.agent in self._agents
            else len(self._responses)
        )
        last = request.messages[-1] if request.messages else {}
        unruled = "No rule matches the last user message. " if self._rules else ""
        hint = f"{unruled}Add a step, or a default_response."
        if self._agents and request.agent not in self._agents:
            hint = (
                f"Scripts exist for {listed(self._agents)}."
                f"{did_you_mean(str(request.agent), self._agents)} Add agents={{{request.agent!r}: [...]}}."
            )
        return (
            f"{agent} asked for model reply {self._asked_by(request)} and the script has {scripted}. "
            f"Last message: {last.get('role', 'none')!s}: {str(last.get('content'))[:200]!r}. {hint}"
        )

    def _asked_by(self, request: ModelRequest) -> int:
        if request.agent in self._agents:
            return sum(1 for asked in self._requests if asked.agent == request.agent)
        return sum(1 for asked in self._requests if asked.agent not in self._agents)

    def __repr__(self) -> str:
        return f"FakeModel({self.name!r}, {self.remaining} steps left)"


def _checked_steps(steps: Sequence[Any] | None, place: str) -> list[Step]:
    if steps is None:
        return []
    if isinstance(steps, (str, bytes, Mapping)) or not isinstance(steps, Sequence):
        raise MockConfigError(f"{place} is {type(steps).__name__}. Give a list of steps, one per model call.")
    return [_checked_step(step, f"Step {number} of {place}") for number, step in enumerate(steps)]


def _checked_step(step: Any, place: str) -> Step:
    if isinstance(step, BaseException) or (callable(step) and not isinstance(step, ModelReply)):
        return step
    return parse_step(step, where=place)


def _settled(step: Any) -> ModelReply | Callable[[ModelRequest], Any]:
    """Raise a step that is an exception; give any other, checked."""
    if is_exception(step):
        raise fresh(step)
    checked: Any = _checked_step(step, "A callable's step")
    return checked  # type: ignore[no-any-return]


def _checked_agents(agents: Mapping[str, Sequence[Any]] | None) -> dict[str, list[Step]]:
    if agents is None:
        return {}
    if not isinstance(agents, Mapping):
        raise MockConfigError(
            f'agents is {type(agents).__name__}. Give a dict of steps per agent name: {{"Triage": [...]}}.'
        )
    return {name: _checked_steps(steps, f"agents[{name!r}]") for name, steps in agents.items()}


def _checked_rule(rule: Any) -> tuple[re.Pattern[str], Step]:
    pattern, step = rule if isinstance(rule, (tuple, list)) and len(rule) == len(_RULE) else (None, None)
    if not isinstance(pattern, str):
        raise MockConfigError(f'A rule is {rule!r}. Give a pair: ("refund|return", {{"content": "..."}}).')
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise MockConfigError(
            f"The rule {pattern!r} is no regular expression: {error}. Escape it with re.escape."
        ) from error
    return compiled, _checked_step(step, f"The step of rule {pattern!r}")
