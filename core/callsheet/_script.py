"""The steps of a scripted model, checked when they are written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callsheet._errors import MockConfigError
from callsheet._messages import parse_arguments
from callsheet._suggest import did_you_mean, listed
from callsheet._values import Usage

_STEP_KEYS = (
    "content",
    "tool_calls",
    "handoff",
    "output",
    "refusal",
    "thinking",
    "native",
    "usage",
    "finish_reason",
)
_CALL_KEYS = ("name", "args", "id")
_USAGE_KEYS = ("input_tokens", "output_tokens", "total_tokens", "requests")


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call in a scripted reply.

    Args:
        name: The tool to call.
        args: The arguments, or None when `raw` is not a JSON object.
        raw: The text the model writes for the arguments.
        id: The call's id; a session gives one where the script does not.
    """

    name: str
    args: dict[str, Any] | None
    raw: str
    id: str | None = None


@dataclass(frozen=True)
class ModelReply:
    """One scripted model reply; an adapter says it in its framework's own words.

    Args:
        content: The text.
        tool_calls: The calls, in the order the model writes them.
        handoff: The agent to hand over to.
        output: A structured final answer, a mapping or a model instance.
        refusal: The text of a refusal.
        thinking: Reasoning shown before the answer.
        native: Items in the framework's own types, passed on as they are.
        usage: Tokens the reply cost.
        finish_reason: Why the model stopped.
        handoff_id: The id of the call that hands over; a session gives one.
    """

    content: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    handoff: str | None = None
    output: Any = None
    refusal: str | None = None
    thinking: str | None = None
    native: tuple[Any, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    handoff_id: str | None = None

    def with_call_ids(self, new_id: Callable[[int], str]) -> ModelReply:
        """Give the reply with an id on each call that brings none, made from its position."""
        calls = [
            call if call.id is not None else ScriptedCall(call.name, call.args, call.raw, new_id(index))
            for index, call in enumerate(self.tool_calls)
        ]
        handoff_id = None if self.handoff is None else new_id(len(calls))
        return ModelReply(**{**vars(self), "tool_calls": tuple(calls), "handoff_id": handoff_id})

    def with_handoff_call(self, tool: str) -> ModelReply:
        """Give the reply with its handoff as a call of the tool that hands over."""
        call = ScriptedCall(tool, {}, "{}", self.handoff_id)
        return replace(self, tool_calls=(*self.tool_calls, call), handoff=None, handoff_id=None)

    def to_dict(self) -> dict[str, Any]:
        """Give the step this reply was scripted as, without the keys it does not use."""
        step = {key: getattr(self, key) for key in _STEP_KEYS if getattr(self, key) not in (None, ())}
        if self.tool_calls:
            step["tool_calls"] = [
                {"name": call.name, "args": call.args if call.args is not None else call.raw}
                for call in self.tool_calls
            ]
        return step or {"content": ""}


def parse_step(step: object, *, where: str = "A step") -> ModelReply:
    """Give the reply a step describes: a text, or a mapping of the keys of `ModelReply`.

    Raises:
        MockConfigError: The step is something else, or a key or value in it is not known.
    """
    if isinstance(step, ModelReply):
        return step
    if isinstance(step, str):
        return ModelReply(content=step)
    if not isinstance(step, Mapping):
        raise MockConfigError(
            f"{where} of the script is {step!r}. Give a text, an exception, a callable, or a dict with "
            f"{listed(_STEP_KEYS)}."
        )
    for key in step:
        _check_key(key, _STEP_KEYS, f"{where} of the script")
    if not step:
        raise MockConfigError(
            f'{where} of the script is empty: give {{"content": "..."}} or {{"tool_calls": [...]}}.'
        )
    for key in ("content", "handoff", "refusal", "thinking", "finish_reason"):
        if not isinstance(step.get(key), (str, type(None))):
            raise MockConfigError(f"{where} of the script has {key}={step[key]!r}. Give a text.")
    return ModelReply(
        content=step.get("content"),
        tool_calls=tuple(_parse_call(call, where) for call in _listed_calls(step, where)),
        handoff=step.get("handoff"),
        output=step.get("output"),
        refusal=step.get("refusal"),
        thinking=step.get("thinking"),
        native=tuple(step.get("native") or ()),
        usage=_parse_usage(step.get("usage"), where),
        finish_reason=step.get("finish_reason"),
    )


def _listed_calls(step: Mapping[str, Any], where: str) -> Sequence[Any]:
    calls = step.get("tool_calls") or ()
    if isinstance(calls, (str, Mapping)) or not isinstance(calls, Sequence):
        raise MockConfigError(
            f"{where} of the script has tool_calls={calls!r}. "
            'Give a list: [{"name": "search", "args": {}}].'
        )
    return calls


def _parse_call(call: object, where: str) -> ScriptedCall:
    if isinstance(call, str):
        call = {"name": call}
    if not isinstance(call, Mapping):
        raise MockConfigError(
            f'{where} of the script calls {call!r}. Give {{"name": "search", "args": {{}}}}.'
        )
    for key in call:
        _check_key(key, _CALL_KEYS, f"A tool call in {where.lower()} of the script")
    name, args = call.get("name"), call.get("args", {})
    if not isinstance(name, str) or not name:
        raise MockConfigError(f"{where} of the script calls a tool named {name!r}. Give the tool's name.")
    if isinstance(args, str):
        return ScriptedCall(name, parse_arguments(args), args, call.get("id"))
    if not isinstance(args, Mapping):
        raise MockConfigError(
            f"{where} of the script calls {name!r} with args {args!r}, {type(args).__name__}. "
            "Give a dict, or a text to be sent as it is."
        )
    try:
        raw = json.dumps(args, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise MockConfigError(
            f"{where} of the script calls {name!r} with args a model cannot write as JSON: {error}. "
            "Give JSON values."
        ) from error
    return ScriptedCall(name, json.loads(raw), raw, call.get("id"))


def _parse_usage(usage: object, where: str) -> Usage | None:
    if usage is None or isinstance(usage, Usage):
        return usage
    if not isinstance(usage, Mapping):
        raise MockConfigError(
            f'{where} of the script has usage={usage!r}. Give {{"input_tokens": 10, "output_tokens": 5}}.'
        )
    for key in usage:
        _check_key(key, _USAGE_KEYS, f"usage in {where.lower()} of the script")
        if not isinstance(usage[key], int) or isinstance(usage[key], bool):
            raise MockConfigError(
                f"{where} of the script has usage with {key}={usage[key]!r}. Give a whole number."
            )
    return Usage(usage.get("requests", 1), usage.get("input_tokens", 0), usage.get("output_tokens", 0))


def _check_key(key: object, known: Sequence[str], place: str) -> None:
    if key not in known:
        raise MockConfigError(
            f"{place} has an unknown key {key!r}.{did_you_mean(str(key), known)} Known keys: {listed(known)}."
        )
