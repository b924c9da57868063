"""`MockTool`: what one tool answers instead of running."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from callsheet._errors import (
    InvalidArgumentsError,
    MockConfigError,
    ResponsesExhaustedError,
    ToolError,
    fresh,
    is_exception,
)
from callsheet._schema import argument_errors, parameters_schema
from callsheet._sync import finish

_CONTRADICTIONS = (
    ("response", "responses"),
    ("error", "raises"),
    ("responses", "error"),
    ("responses", "raises"),
)
_ATOMS = (str, int, float, bool, bytes, type(None))


class MockTool:
    """A stand-in for one tool.

    Args:
        name: The tool's name; "Agent.tool" answers only that agent's calls.
        description: What a model is told about the tool where the mock itself is offered to it.
        parameters: `{"city": {"type": "string"}, "unit": {"type": "string", "required": False}}` or a
            whole JSON Schema. Empty: an adapter checks calls against the real tool's schema.
        response: The answer, copied for each call, or a callable (sync or async) that takes the dict
            of arguments and returns the answer.
        error: Fail each call with this text, or with a `{"code", "message"}` mapping.
        error_after: The number of calls that succeed before `error` or `raises` sets in.
        validate_params: Whether calls are checked against the schema before they are answered.
        responses: One answer per call; an exception in it is raised.
        repeat_last: Whether the last of `responses` answers every later call.
        raises: Raise this exception inside the tool.
        when: Answer only calls whose arguments equal these; arguments not named here may be anything.
        delay: Seconds the tool pretends to take: a framework's timeout fires, nobody waits.
        real_delay: Really sleep for `delay` seconds.

    Raises:
        MockConfigError: A name is empty, two options contradict, an answer cannot be copied, or
            `parameters` is no schema.
    """

    __module__ = "callsheet"

    def __init__(
        self,
        name: str,
        description: str = "",
        parameters: Mapping[str, Any] | None = None,
        response: Any = None,
        error: str | Mapping[str, Any] | None = None,
        error_after: int | None = None,
        validate_params: bool = True,  # noqa: FBT001, FBT002 - positional in the public contract
        *,
        responses: Sequence[Any] | None = None,
        repeat_last: bool = False,
        raises: BaseException | type[BaseException] | None = None,
        when: Mapping[str, Any] | None = None,
        delay: float = 0.0,
        real_delay: bool = False,
    ) -> None:
        _check_name(name)
        _check_description(name, description)
        answers = {"response": response, "responses": responses, "error": error, "raises": raises}
        _check_answers(name, {**answers, "repeat_last": repeat_last})
        _check_error_after(name, error_after, fails=error is not None or raises is not None)
        _check_delay(name, delay)
        if when is not None and not isinstance(when, Mapping):
            raise MockConfigError(f"when of MockTool({name!r}) is {when!r}. Give a dict of arguments.")
        self.name = name
        self.description = description
        self.schema = parameters_schema(name, parameters) if parameters else None
        self.validate_params = validate_params
        self.when = dict(when) if when is not None else None
        self.delay = float(delay)
        self.is_spy = False
        self._real_delay = real_delay
        self._responses = [_copyable(name, answer) for answer in responses] if responses is not None else None
        self._response = _copyable(name, response)
        self._repeat_last = repeat_last
        self._failure = raises if raises is not None else _tool_error(error)
        self._fails_from = error_after or 0
        self._lock = threading.Lock()
        self._calls: list[dict[str, Any]] = []

    @classmethod
    def spy(cls, name: str, *, when: Mapping[str, Any] | None = None) -> MockTool:
        """Let the real tool run and record what it did.

        Args:
            name: The tool's name; "Agent.tool" is about that agent's calls only.
            when: Only calls whose arguments equal these; arguments not named here may be anything.
        """
        spy = cls(name, when=when)
        spy.is_spy = True
        return spy

    @property
    def call_count(self) -> int:
        """How many calls this mock took, the failed ones included."""
        return len(self._calls)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The arguments of each call, in order."""
        return list(self._calls)

    def reset(self) -> None:
        """Forget the calls: `responses` and `error_after` start over."""
        with self._lock:
            self._calls.clear()

    @property
    def pretended_delay(self) -> float:
        """The seconds of `delay` that nobody waits for."""
        return 0.0 if self._real_delay else self.delay

    def note(self, args: dict[str, Any] | None) -> None:
        """Count a call that the real tool answers."""
        with self._lock:
            self._calls.append(args if args is not None else {})

    def matches(self, args: Mapping[str, Any] | None) -> bool:
        """Say whether `when` accepts these arguments.

        Args:
            args: The call's arguments, or None when they were no JSON object.
        """
        if self.when is None:
            return True
        if args is None:
            return False
        from callsheet._equality import equal

        return all(key in args and equal(value, args[key]) for key, value in self.when.items())

    def check(self, args: Mapping[str, Any] | None, *, schema: Mapping[str, Any] | None = None) -> None:
        """Check a call's arguments against the mock's own schema, or the real tool's given here.

        Args:
            args: The call's arguments; None, which is no JSON object, is for others to judge.
            schema: The real tool's JSON Schema, for a mock that brings none.

        Raises:
            InvalidArgumentsError: The arguments are not what the schema accepts.
        """
        schema = self.schema if self.schema is not None else schema
        if args is None or schema is None or not self.validate_params:
            return
        problem = argument_errors(schema, args)
        if problem is not None:
            raise InvalidArgumentsError(problem)

    def answer(self, args: dict[str, Any]) -> Any:
        """Take one call and give its answer; an async callable is run to its end.

        Args:
            args: The call's arguments.

        Raises:
            ToolError: `error` applies to this call.
            ResponsesExhaustedError: There are fewer `responses` than calls.
            BaseException: What `raises`, `responses` or the callable raises.
        """
        answer = self._take(args)
        if self._real_delay:
            time.sleep(self.delay)
        if not callable(answer):
            return answer
        given = answer(detached(args))
        return finish(given) if inspect.isawaitable(given) else given

    async def answer_async(self, args: dict[str, Any]) -> Any:
        """Like `answer`, on the running event loop."""
        answer = self._take(args)
        if self._real_delay:
            import asyncio

            await asyncio.sleep(self.delay)
        if not callable(answer):
            return answer
        given = answer(detached(args))
        return await given if inspect.isawaitable(given) else given

    def _take(self, args: dict[str, Any]) -> Any:
        with self._lock:
            number = len(self._calls)
            self._calls.append(args)
        if self._failure is not None and number >= self._fails_from:
            raise fresh(self._failure)
        answer = self._response if self._responses is None else self._scripted(number)
        if isinstance(answer, BaseException):
            raise fresh(answer)
        return answer if callable(answer) or isinstance(answer, _ATOMS) else deepcopy(answer)

    def _scripted(self, number: int) -> Any:
        answers = self._responses or ()
        if number >= len(answers) and not self._repeat_last:
            raise ResponsesExhaustedError(
                f"MockTool({self.name!r}) has {len(answers)} responses and got call {number + 1}. "
                "Add a response, or pass repeat_last=True."
            )
        return answers[min(number, len(answers) - 1)]

    def __repr__(self) -> str:
        when = f", when={self.when!r}" if self.when is not None else ""
        return f"MockTool.spy({self.name!r}{when})" if self.is_spy else f"MockTool({self.name!r}{when})"


def detached(value: Any) -> Any:
    """Give arguments of their own: what somebody does to their dicts and lists changes no others."""
    if isinstance(value, dict):
        return {key: detached(item) for key, item in value.items()}
    if isinstance(value, list):
        return [detached(item) for item in value]
    return value


def snapshot(answer: Any) -> Any:
    """Give an answer as it is now; one that refuses to be copied stays itself."""
    if isinstance(answer, (*_ATOMS, dict, list)):
        return detached(answer)
    try:
        return deepcopy(answer)
    except Exception:  # noqa: BLE001 - a callable's answer may refuse to be copied in any way
        return answer


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise MockConfigError(f"A mock's name is {name!r}. Give the name of the tool it stands for.")


def _check_description(name: str, description: object) -> None:
    if not isinstance(description, str):
        raise MockConfigError(
            f"description of MockTool({name!r}) is {description!r}. "
            "Give a text; an answer is named: response=..."
        )


def _check_answers(name: str, given: Mapping[str, Any]) -> None:
    for one, other in _CONTRADICTIONS:
        if given[one] is not None and given[other] is not None:
            raise MockConfigError(f"MockTool({name!r}) has both {one}= and {other}=. Keep one.")
    responses, raises = given["responses"], given["raises"]
    if responses is not None and (isinstance(responses, (str, bytes)) or not isinstance(responses, Sequence)):
        raise MockConfigError(
            f"responses of MockTool({name!r}) is {type(responses).__name__}. "
            "Give a list, one answer per call."
        )
    if responses is not None and not responses:
        raise MockConfigError(f"MockTool({name!r}) has empty responses. Give at least one answer.")
    if given["repeat_last"] and responses is None:
        raise MockConfigError(
            f"MockTool({name!r}) has repeat_last=True but no responses. Add responses=[...]."
        )
    if raises is not None and not is_exception(raises):
        raise MockConfigError(f"raises of MockTool({name!r}) is {raises!r}. Give an exception.")


def _check_error_after(name: str, after: Any, *, fails: bool) -> None:
    if after is None:
        return
    if not fails:
        raise MockConfigError(
            f"MockTool({name!r}) has error_after={after!r} but no error. Add error=... or raises=..."
        )
    if not isinstance(after, int) or isinstance(after, bool) or after < 0:
        raise MockConfigError(
            f"MockTool({name!r}) has error_after={after!r}. Give a number of calls, 0 or more."
        )


def _check_delay(name: str, delay: Any) -> None:
    if not isinstance(delay, (int, float)) or isinstance(delay, bool) or not 0 <= delay < float("inf"):
        raise MockConfigError(f"delay of MockTool({name!r}) is {delay!r}. Give seconds, 0 or more.")


def _tool_error(error: str | Mapping[str, Any] | None) -> ToolError | None:
    if error is None:
        return None
    if isinstance(error, str):
        return ToolError(error)
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return ToolError(error["message"], code=error.get("code"))
    raise MockConfigError(f'error={error!r} is neither a text nor a mapping with "code" and "message".')


def _copyable(name: str, answer: Any) -> Any:
    """Keep a private copy of an answer, so that a test changing its own object changes no answer."""
    if callable(answer) or isinstance(answer, (*_ATOMS, BaseException)):
        return answer
    try:
        return deepcopy(answer)
    except Exception as error:
        raise MockConfigError(
            f"The response of MockTool({name!r}), {type(answer).__name__}, cannot be copied: {error}. "
            "Pass a callable that builds it: response=lambda args: ..."
        ) from error
