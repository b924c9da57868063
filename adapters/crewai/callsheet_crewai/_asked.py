"""The model's call that CrewAI is carrying out, which it does not tell the tool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from crewai.utilities.string_utils import sanitize_tool_name

from callsheet.adapters import CallRecord, Scope


@dataclass(eq=False)
class Asked:
    """One tool call of a model.

    Args:
        id: The call's id.
        name: The tool's name as the model was offered it.
        failure: What the mock raised at the first attempt, for CrewAI's hidden further ones.
        retries: Whether CrewAI tries a failing tool again by itself.
        from_cache: Whether CrewAI had the answer from an equal call before.
        cached: That answer.
    """

    id: str
    name: str
    failure: Exception | None = None
    retries: bool = False
    from_cache: bool = False
    cached: Any = None


_ASKED: ContextVar[Asked | None] = ContextVar("callsheet_crewai_asked", default=None)


def carried_out() -> Asked | None:
    """Give the call being carried out, whatever its tool."""
    return _ASKED.get()


def asked_now(tool_name: str) -> Asked | None:
    """Give the call being carried out, if it is one of this tool."""
    asked = carried_out()
    if asked is None:
        return None
    # CrewAI numbers tools that share a name.
    own = sanitize_tool_name(tool_name)
    return asked if asked.name == own or asked.name.startswith(f"{own}_") else None


@contextmanager
def carrying_out(asked: Asked | None) -> Iterator[None]:
    """Say which call is carried out inside; None says that what is called there nobody asked for."""
    token = _ASKED.set(asked)
    try:
        yield
    finally:
        _ASKED.reset(token)


def settle(scope: Scope, asked: Asked | None, told: str) -> None:
    """Note what the model was told about a call, and why the tool did not run where it did not."""
    record = scope.session.recording.find_call(asked.id) if asked is not None else None
    if record is None:
        return
    record.seen_by_model = told
    if asked is not None and not record.attempts:
        _settle_unrun(record, asked, told)


def _settle_unrun(record: CallRecord, asked: Asked, told: str) -> None:
    if asked.from_cache:
        record.outcome, record.response = "success", asked.cached
        record.metadata["from_cache"] = True
    elif record.outcome != "unknown":
        record.outcome = "invalid" if record.args is None else "denied"
        record.error = told
