"""The promises broken in a session, kept until somebody hears of them."""

from __future__ import annotations

from callsheet._errors import UnmockedToolError, Violation, described


class Violations:
    """Every violation of a session, in order; a framework that swallows one does not lose it."""

    def __init__(self) -> None:
        self.all: list[Violation] = []

    @property
    def refused(self) -> int:
        """How many calls of unmocked tools there were."""
        return sum(isinstance(violation, UnmockedToolError) for violation in self.all)

    def add(self, violation: Violation) -> None:
        """Keep a violation, once."""
        if violation not in self.all:
            self.all.append(violation)

    def __enter__(self) -> None:
        """Keep a violation that the code inside raises."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Violation):
            self.add(error)

    def raise_first(self, error: BaseException | None = None) -> None:
        """Raise the first violation, if any, with the others noted on it.

        Args:
            error: The exception that is on its way out already.
        """
        if not self.all or error is self.all[0]:
            return
        if isinstance(error, KeyboardInterrupt):
            error.add_note(f"callsheet: {described(self.all[0])}")
            return
        first, *others = self.all
        told = getattr(first, "__notes__", ())
        for other in others:
            note = f"Also: {described(other)}"
            if note not in told:
                first.add_note(note)
        raise first from (error if isinstance(error, Exception) else None)
