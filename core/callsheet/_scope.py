"""Which session, run and call the code that runs right now belongs to."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from callsheet._errors import AmbiguousSessionError
from callsheet._threads import carried

if TYPE_CHECKING:
    from callsheet._recording import CallRecord, RunRecord
    from callsheet._session import Session


@dataclass(slots=True)
class Scope:
    """A session, the agent run in it, and the tool call in that run.

    Args:
        session: The session.
        run: The agent run, or None outside of every run.
        call: The tool call that is being answered, or None outside of every call.
        place: An adapter's own: where in the framework's structure the code stands. Kept in the scope, it
            reaches the threads and pools the session reaches. One that has a `branch()` gives by it the
            place of work that is handed to one of them, which runs at random.
    """

    session: Session
    run: RunRecord | None = None
    call: CallRecord | None = None
    place: Any = None


def _branched(scope: Scope) -> Scope:
    branch = getattr(scope.place, "branch", None)
    place = scope.place if branch is None else branch()
    return scope if place is scope.place else Scope(scope.session, scope.run, scope.call, place)


SCOPE: ContextVar[Scope | None] = ContextVar("callsheet_scope", default=None)
carried(SCOPE, _branched)


# Sessions that are open now, for code that no context variable reaches.
open_sessions: dict[int, Session] = {}


def any_session_open() -> bool:
    """Say whether a session is open anywhere, whether or not the running code belongs to it."""
    return bool(open_sessions)


def kept_in_reach() -> dict[Any, Any] | None:
    """Give what the session of the running code keeps for its adapter, without asking anything of it.

    Returns:
        None when no session is in reach. A dict nobody keeps when several are and it can not be told which
        one the code belongs to: calling will tell.
    """
    scope = SCOPE.get()
    if scope is not None:
        return scope.session.kept
    if not open_sessions:
        return None
    sessions = list(open_sessions.values())
    return sessions[0].kept if len(sessions) == 1 else {}


def active_scope() -> Scope | None:
    """Give the scope of the running code, or None when no session is open.

    Code outside every session (a thread born before one opened, a fixture's own context) belongs to
    the only open session.

    Raises:
        AmbiguousSessionError: The code is outside every session and several are open.
    """
    scope = SCOPE.get()
    if scope is not None or not open_sessions:
        return scope
    sessions = list(open_sessions.values())
    if len(sessions) == 1:
        return Scope(sessions[0])
    refusal = AmbiguousSessionError(
        f"An agent was reached from a thread or task that is in none of the {len(sessions)} open sessions. "
        "Start the thread or task inside the session it belongs to."
    )
    for session in sessions:
        session.poison(refusal)
    raise refusal


def leave(token: Token[Scope | None], session: Session) -> None:
    """Undo a `SCOPE.set` of a session.

    An async fixture may end in another context than it began in, or in a copy of it: there the token is
    worth nothing, and what is to be undone is whatever of the session is still set.
    """
    try:
        SCOPE.reset(token)
    except ValueError:
        scope = SCOPE.get()
        if scope is not None and scope.session is session:
            SCOPE.set(None if token.old_value is Token.MISSING else token.old_value)


class entered:  # noqa: N801 - used as a function
    """Make the code inside belong to a scope.

    A class, because every tool call passes here and a generator costs twice as much.
    """

    __slots__ = ("_scope", "_token")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._token = SCOPE.set(self._scope)

    def __exit__(self, *raised: object) -> None:
        leave(self._token, self._scope.session)
