"""What guardrails said and tasks came to, as plain values in the result's metadata."""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable
from functools import wraps
from operator import itemgetter
from typing import Any

from callsheet.adapters import RunRecord, Scope, described
from callsheet_crewai._abort import SessionAborted, current_scope
from callsheet_crewai._places import run_of

_lock = threading.Lock()


def judged_output(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `process_guardrail`, where a module has it."""

    @wraps(original)
    def process_guardrail(*args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        if scope is None:
            return original(*args, **kwargs)
        given = {**dict(zip(("output", "guardrail", "retry_count"), args, strict=False)), **kwargs}
        try:
            result = original(*args, **kwargs)
        except SessionAborted:
            raise
        except Exception as error:
            _note_guardrail(scope, given, tripped=True, info=described(error))
            raise
        _note_guardrail(scope, given, tripped=not result.success, info=result.error)
        return result

    return process_guardrail


def note_task(scope: Scope, run: RunRecord, task: Any, output: Any) -> None:
    """Add what a task came to to `metadata["task_outputs"]`."""
    structured = output.pydantic.model_dump() if output.pydantic is not None else output.json_dict
    _note(
        scope,
        "task_outputs",
        run,
        {
            "task": task.name or task.description,
            "agent": output.agent.strip(),
            "response": output.raw,
            "output": output.raw if structured is None else structured,
        },
    )


def _note_guardrail(scope: Scope, given: dict[str, Any], *, tripped: bool, info: str | None) -> None:
    run, guardrail = run_of(scope), given["guardrail"]
    name = getattr(guardrail, "description", None) or getattr(guardrail, "__name__", type(guardrail).__name__)
    _note(
        scope,
        "guardrails",
        run,
        {
            "kind": "output",
            "name": name,
            "agent": run.agent,
            "tripped": tripped,
            "attempt": given["retry_count"] + 1,
            "info": info,
        },
    )


def _note(scope: Scope, what: str, run: RunRecord, note: dict[str, Any]) -> None:
    # Tasks beside each other end in any order.
    with _lock:
        notes: list[tuple[Any, dict[str, Any]]] = scope.session.kept.setdefault(what, [])
        insort(notes, (run.order, note), key=itemgetter(0))
        scope.session.metadata[what] = [note for _, note in notes]
