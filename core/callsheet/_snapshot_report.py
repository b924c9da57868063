"""What a test run did with snapshots, for the end of its report and across processes."""

from __future__ import annotations

from pathlib import Path

from callsheet import _snapshots

_SETS = ("directories", "used", "created", "updated")


def lines(*, whole_suite: bool, root: Path) -> list[str]:
    """Give the lines to print: how many snapshots were written, and which nobody asserted on.

    Args:
        whole_suite: Whether every test had the chance to assert on its snapshots.
        root: What paths are shown relative to.
    """
    run = _snapshots.run
    told = []
    if run.created or run.updated:
        told.append(f"callsheet: {len(run.created)} snapshots created, {len(run.updated)} updated")
    unused = run.unused() if whole_suite else []
    if unused:
        told.append(
            f"callsheet: {len(unused)} snapshots nobody asserted on; delete them if they are done with:"
        )
        told.extend(f"  {_shown(path, root)}" for path in unused)
    return told


def packed() -> dict[str, list[str]]:
    """Give the run as plain lists of texts, to be sent to another process."""
    return {name: sorted(map(str, getattr(_snapshots.run, name))) for name in _SETS}


def unpack(given: dict[str, list[str]]) -> None:
    """Add what another process did to this one's run."""
    for name in _SETS:
        getattr(_snapshots.run, name).update(map(Path, given[name]))


def _shown(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path
