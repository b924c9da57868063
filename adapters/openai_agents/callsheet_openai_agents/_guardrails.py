"""Guardrails: what each of them said, in the result's metadata and with the call it was about."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from agents import InputGuardrail, OutputGuardrail, ToolInputGuardrail, ToolOutputGuardrail

from callsheet.adapters import CallRecord, Patch, RunRecord, Session, active_scope

_KINDS = {
    InputGuardrail: "input",
    OutputGuardrail: "output",
    ToolInputGuardrail: "tool_input",
    ToolOutputGuardrail: "tool_output",
}
_ORDER = (*_KINDS.values(),)


def guardrail_patches() -> Iterator[Patch]:
    """Give the patches.

    Of what guardrails said a run that fails keeps too little and one that was resumed too much.
    """
    for owner, kind in _KINDS.items():
        yield Patch(owner, "run", _noted(kind))


def _noted(kind: str) -> Callable[[Any], Any]:
    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            said = await original(self, *args, **kwargs)
            scope = active_scope()
            if scope is None or scope.run is None:
                return said
            if kind.startswith("tool_"):
                data = args[0] if args else kwargs["data"]
                _note_with_call(scope.session, scope.run, _described(kind, self, said), said, data.context)
            else:
                _note(scope.session, scope.run, None, _described(kind, self, said.output))
            return said

        return run

    return replace


def _note_with_call(
    session: Session, run: RunRecord, told: dict[str, Any], output: Any, context: Any
) -> None:
    told["tool"] = context.tool_name
    call = session.recording.find_call(context.tool_call_id, run)
    if call is not None:
        call.metadata.setdefault("guardrails", []).append(told)
        if told["kind"] == "tool_input" and told["behavior"] != "allow":
            call.outcome = "denied"
            call.error = output.behavior.get("message", f"Guardrail {told['name']!r} tripped")
    _note(session, run, call, told)


def _note(session: Session, run: RunRecord, call: CallRecord | None, told: dict[str, Any]) -> None:
    # Guardrails run beside each other and end in any order; every repeated run tells the same.
    kept = session.kept.setdefault(guardrail_patches, [])
    key = (run.path, _ORDER.index(told["kind"]), _place(run, call), told["name"])
    insort(kept, (*key, told), key=lambda one: one[:-1])
    session.metadata["guardrails"] = [one[-1] for one in kept]


def _place(run: RunRecord, call: CallRecord | None) -> tuple[int, int]:
    for reply in run.replies_backwards():
        if call in reply.calls:
            return reply.turn, reply.calls.index(call)
    return -1, -1


def _described(kind: str, guardrail: Any, output: Any) -> dict[str, Any]:
    behavior = output.behavior["type"] if hasattr(output, "behavior") else None
    return {
        "kind": kind,
        "name": guardrail.get_name(),
        "tripped": output.tripwire_triggered if behavior is None else behavior == "raise_exception",
        "behavior": behavior,
        "info": output.output_info,
    }
