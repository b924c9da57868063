"""How a violation travels through CrewAI."""

from __future__ import annotations

from crewai.hooks.dispatch import HookAborted

from callsheet.adapters import Scope, Session, Violation, active_scope


class SessionAborted(HookAborted):
    """Stops CrewAI in the name of a violation, which the session raises itself at its end.

    CrewAI takes a `HookAborted` for a deliberate stop and does not try again. A violation is a
    `BaseException`, which CrewAI's task threads do not catch: who waits for them would wait forever.

    Args:
        violation: What the test did not allow.
    """

    def __init__(self, violation: Violation) -> None:
        super().__init__(str(violation), "callsheet")
        self.violation = violation


class aborting:  # noqa: N801 - used as a function
    """Turn a violation raised inside into what CrewAI stops for.

    A class, because every model call and tool call passes here several times.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Violation):
            raise SessionAborted(error) from None


def current_scope() -> Scope | None:
    """Give the scope of the running code, or None without a session."""
    try:
        return active_scope()
    except Violation as violation:
        raise SessionAborted(violation) from None


def stop_if_over(session: Session, what: str) -> None:
    """Stop CrewAI here when the session is closed or a promise was broken in it."""
    try:
        session.require_open(what)
    except Violation as violation:
        raise SessionAborted(violation) from None
