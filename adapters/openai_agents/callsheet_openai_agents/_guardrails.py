"""What the guardrails of a run said, as plain values in the result's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callsheet.adapters import Session

_KINDS = ("input", "output", "tool_input", "tool_output")


def note_guardrails(session: Session, ended: Any, error: BaseException | None = None) -> None:
    """Add what the guardrails of a run said to `metadata["guardrails"]`, the same in every repeated run.

    Args:
        session: The session.
        ended: What the SDK gives of a run that ended or failed, or None.
        error: The exception that ended the run, if one did.
    """
    # Whether what tripped is among the run's results, or only in the exception, differs.
    said = [*_of_error(error)]
    said += [one for one in _of_run(ended) if not (one["tripped"] and one in said)]
    if said:
        # Guardrails run beside each other and end in any order.
        said.sort(key=lambda one: (_KINDS.index(one["kind"]), one["name"]))
        session.metadata.setdefault("guardrails", []).extend(said)


def _of_run(ended: Any) -> Iterator[dict[str, Any]]:
    for kind in _KINDS:
        for result in getattr(ended, f"{kind}_guardrail_results", ()):
            yield _described(kind, result.guardrail, result.output)


def _of_error(error: BaseException | None) -> Iterator[dict[str, Any]]:
    if error is None:
        return
    name = type(error).__name__
    for kind in _KINDS:
        if name == f"{kind.title().replace('_', '')}GuardrailTripwireTriggered":
            result = getattr(error, "guardrail_result", error)
            yield _described(kind, result.guardrail, result.output)  # type: ignore[union-attr]


def _described(kind: str, guardrail: Any, output: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "name": guardrail.get_name(),
        "tripped": _tripped(output),
        "behavior": output.behavior["type"] if hasattr(output, "behavior") else None,
        "info": output.output_info,
    }


def _tripped(output: Any) -> bool:
    if hasattr(output, "behavior"):
        return bool(output.behavior["type"] == "raise_exception")
    return bool(output.tripwire_triggered)
