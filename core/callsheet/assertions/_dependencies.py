"""Assertions about what a call owes to the answers of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from callsheet._checks import check_known_tools, warn_if_vacuous
from callsheet._equality import UnfreezableError, equal, freeze
from callsheet._errors import ExpectationError
from callsheet._paths import parse_path, values_at
from callsheet._rendering import call_text, narrowed
from callsheet._result import group_batches
from callsheet._showing import shown, shown_under
from callsheet._subject import Subject, calls_of, result_of
from callsheet._suggest import did_you_mean
from callsheet._values import ToolCall
from callsheet.match import Matcher, OneOf, Regex

YES: Matcher = OneOf([True, Regex(r"(?i)^\s*yes\b")])
"""What counts as a yes: True, or a text that begins with the word."""


def assert_confirmed(
    result: Subject, action: str, *, by: str, answer: Any = YES, strict: bool = False
) -> None:
    """Assert that every call of a tool comes after a confirmation, and that the last one before it said yes.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        action: The tool that needs confirmation.
        by: The tool that asks for it. A confirmation in the same batch as the action is none: the model
            had not seen its answer. Of several in one batch, all have to say yes.
        answer: What the confirmation has to answer, or a matcher for it.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning.

    Raises:
        AssertionError: A call was not confirmed.
        ExpectationError: A name is not a tool of the agent.
    """
    __tracebackhide__ = True
    check_known_tools(result, [action, by])
    calls = calls_of(result)
    latest: ToolCall | None = None
    for batch in group_batches(calls):
        for call in batch:
            if call.name == action and not _says_yes(latest, answer):
                raise AssertionError(narrowed([_unconfirmed(call, latest, batch, by)]))
        asked = [call for call in batch if call.name == by]
        # Of parallel answers none is the last, so one no is a no.
        refused = (call for call in asked if not _says_yes(call, answer))
        latest = next(refused, asked[-1] if asked else latest)
    if not calls:
        warn_if_vacuous(result, f"assert_confirmed(result, {action!r}, by={by!r})", strict=strict)


def assert_argument_flows(
    result: Subject, source: str, target: str, *, answer: str = "", argument: str
) -> None:
    """Assert that an argument of every call of one tool was answered by an earlier call of another.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        source: The tool whose answers are looked into; those in earlier batches count.
        target: The tool whose argument it is; it has to be called at least once.
        answer: The path of the value in the answer, such as `hotels[*].id`; the whole answer when empty.
        argument: The path of the argument, such as `hotel_id`.

    Raises:
        AssertionError: A call has a value there that no earlier answer had, or no value at all.
        ExpectationError: A path is malformed, or a name is not a tool of the agent.
    """
    __tracebackhide__ = True
    check_known_tools(result, [source, target])
    argument_path = parse_path(argument)
    answer_path = parse_path(answer) if answer else None
    calls = calls_of(result)
    if not any(call.name == target for call in calls):
        names = {call.name for call in calls}
        raise AssertionError(narrowed([f"Tool {target!r} was never called.{did_you_mean(target, names)}"]))
    answered = _Answers()
    for batch in group_batches(calls):
        for call in batch:
            if call.name == target:
                _refuse_invented(call, values_at(call.args, argument_path), answered, source, argument)
        for call in batch:
            if call.name == source and call.error is None:
                for value in (
                    [call.response] if answer_path is None else values_at(call.response, answer_path)
                ):
                    answered.add(value)


def assert_response_consistent(
    result: Subject, predicate: Callable[[str, Sequence[ToolCall]], object], *, strict: bool = False
) -> None:
    """Assert that the final text agrees with what the tools answered.

    Args:
        result: An `AgentResult` or a session.
        predicate: Called with the final text and the tool calls; says whether they agree.
        strict: Whether a pass on an empty trajectory, in which nothing happened at all, fails instead of
            warning.

    Raises:
        AssertionError: They don't, or the predicate raised one of its own.
        ExpectationError: The predicate can't be called.
    """
    __tracebackhide__ = True
    if not callable(predicate):
        raise ExpectationError(f"assert_response_consistent() wants a function, not {shown(predicate)}.")
    whole = result_of(result)
    if not predicate(whole.response, whole.tool_calls):
        name = getattr(predicate, "__name__", repr(predicate))
        lines = [f"The final text does not agree with the tools' answers, says {name}."]
        lines.append(f"  Response: {shown(whole.response, limit=1000)}")
        for call in whole.tool_calls[:_MOST_SHOWN]:
            answer = call.response if call.error is None else call.error
            lines.append(f"  {call_text(call.name, call.args, limit=80)} answered {shown(answer)}")
        raise AssertionError(narrowed(lines))
    warn_if_vacuous(whole, "assert_response_consistent(result, ...)", strict=strict)


_MOST_SHOWN = 20


def _says_yes(confirmation: ToolCall | None, answer: Any) -> bool:
    if confirmation is None or confirmation.error is not None or confirmation.outcome != "success":
        return False
    return equal(answer, confirmation.response)


def _unconfirmed(call: ToolCall, latest: ToolCall | None, batch: Sequence[ToolCall], by: str) -> str:
    if latest is not None:
        said = latest.response if latest.error is None else latest.error
        reason = f"the last {by!r} before it answered {shown(said)}"
    elif any(each.name == by for each in batch):
        reason = f"{by!r} was asked in the same reply, so its answer was not known yet"
    else:
        reason = f"there is no {by!r} before it"
    return f"{call_text(call.name, call.args)} was not confirmed: {reason}."


def _refuse_invented(
    call: ToolCall, values: Sequence[Any], answered: _Answers, source: str, argument: str
) -> None:
    __tracebackhide__ = True
    if not values:
        text = f"{call_text(call.name, call.args)} has no argument {argument!r}."
        raise AssertionError(narrowed([text]))
    for value in values:
        if value not in answered:
            given = f"{argument}={shown_under(argument, value)}"
            lines = [
                f"{call_text(call.name, call.args)}: no earlier answer of {source!r} gave {given}.",
                f"  Answered before it: {shown_under(argument, answered.values)}",
            ]
            raise AssertionError(narrowed(lines))


class _Answers:
    """The values answered so far; those with a hashable form are looked up, the others compared."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._frozen: set[Any] = set()
        self._others: list[Any] = []

    def __contains__(self, value: Any) -> bool:
        try:
            if freeze(value) in self._frozen:
                return True
        except UnfreezableError:
            return any(equal(each, value) for each in self.values)
        return any(equal(each, value) for each in self._others)

    def add(self, value: Any) -> None:
        self.values.append(value)
        try:
            self._frozen.add(freeze(value))
        except UnfreezableError:
            self._others.append(value)
