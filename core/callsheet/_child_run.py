"""A child of `multiprocessing` that runs inside what its parent gives it along."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Orders = TypeVar("Orders")


def carrying_process_start(
    original: Callable[..., None], orders: Callable[[], Orders | None], run: Callable[..., Any]
) -> Callable[..., None]:
    """Wrap `multiprocessing.Process.start`.

    Args:
        original: What is wrapped.
        orders: Gives what a child started now takes along, or None.
        run: What the child calls with that and its own `run`.
    """

    @wraps(original)
    def start(self: Any) -> None:
        now = orders()
        if now is None:
            return original(self)
        attributes = vars(self)
        own = {"run": attributes["run"]} if "run" in attributes else {}
        attributes["run"] = ChildRun(self, own, now, run)
        try:
            return original(self)
        finally:
            attributes.pop("run", None)
            attributes.update(own)

    return start


class ChildRun:
    """A process's `run` inside what its parent gave it; it travels to the child with the process."""

    def __init__(self, process: Any, own: dict[str, Any], orders: object, run: Callable[..., Any]) -> None:
        self._process, self._own, self._orders, self._run = process, own, orders, run

    def __call__(self) -> Any:
        attributes = vars(self._process)
        attributes.pop("run", None)
        attributes.update(self._own)
        return self._run(self._orders, self._process.run)
