"""Carries callsheet's own context variables across threads and thread pools.

A raw thread starts with an empty context and a pool's worker has the context it was born in, so what
a test set would be lost there. Only callsheet's variables are carried, never the whole context: that
would change what the code under test sees.

`_thread.start_new_thread` and threads a C library starts are not reached.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any

from callsheet._patch import Patch
from callsheet._patching import PatchSet

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_Values = list[tuple[ContextVar[Any], Any]]

_ABSENT = object()
_defaults: dict[ContextVar[Any], Any] = {}
_branched: dict[ContextVar[Any], Callable[[Any], Any]] = {}


def carried(var: ContextVar[Any], branched: Callable[[Any], Any] | None = None) -> None:
    """Register a variable that threads and pools take over from the code that starts them.

    Args:
        var: The variable.
        branched: Gives, of the value where work is handed over, the one the work is to have.

    Raises:
        LookupError: If the variable has no default; without one it can not be cleared.
    """
    _defaults[var] = Context().run(var.get)
    if branched is not None:
        _branched[var] = branched


@cache
def _patches() -> tuple[Patch, ...]:
    from concurrent.futures import ThreadPoolExecutor

    return (
        Patch(threading.Thread, "start", _carrying_start),
        Patch(ThreadPoolExecutor, "submit", _carrying_submit),
    )


# Whoever sets a registered variable holds this set for as long as the value can be reached.
thread_patches = PatchSet(_patches)


def _carrying_start(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @wraps(original)
    def start(self: threading.Thread) -> None:
        values = _branches(_current_values())
        if not values:
            return original(self)
        attributes = vars(self)
        own_run = attributes.get("run", _ABSENT)

        def put_back() -> None:
            if attributes.get("run") is run:
                del attributes["run"]
                if own_run is not _ABSENT:
                    attributes["run"] = own_run

        def run() -> None:
            put_back()
            with _Assigned(values):
                self.run()

        attributes["run"] = run
        try:
            return original(self)
        except BaseException:
            put_back()
            raise

    return start


def _carrying_submit(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        values = _current_values()
        if not values:
            return original(self, fn, *args, **kwargs)
        # A worker born here outlives the caller and must not take the values over.
        with _Assigned([(var, _defaults[var]) for var, _ in values]):
            branches = _branches(values)
            context = _brought_along(fn, values)
            if context is not None:
                _set_in(context, values, branches)
            if context is not None or _runs_in_another_interpreter(self):
                return original(self, fn, *args, **kwargs)
            return original(self, partial(_run_assigned, branches, fn), *args, **kwargs)

    return submit


def _current_values() -> _Values:
    values = []
    for var, default in _defaults.items():
        value = var.get()
        if value is not default:
            values.append((var, value))
    return values


def _branches(values: _Values) -> _Values:
    return [(var, _branched[var](value) if var in _branched else value) for var, value in values]


def _set_in(context: Context, values: _Values, branches: _Values) -> None:
    for (var, value), (_, branch) in zip(values, branches, strict=True):
        if branch is not value:
            # Work that shares its context with work that runs already stands where that stands.
            with suppress(RuntimeError):
                context.run(var.set, branch)


class _Assigned:
    """Gives variables other values for the code inside.

    A class, because every piece of work of a pool passes here twice and a generator costs twice as much.
    """

    __slots__ = ("_tokens", "_values")

    def __init__(self, values: _Values) -> None:
        self._values = values

    def __enter__(self) -> None:
        self._tokens = [(var, var.set(value)) for var, value in self._values]

    def __exit__(self, *raised: object) -> None:
        for var, token in reversed(self._tokens):
            var.reset(token)


def _run_assigned(values: _Values, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    with _Assigned(values):
        return fn(*args, **kwargs)


def _brought_along(fn: Any, values: _Values) -> Context | None:
    """Give the context of its own that work runs in, as asyncio gives it, if that has the values already."""
    while isinstance(fn, partial):
        fn = fn.func
    context = getattr(fn, "__self__", None)
    if (
        isinstance(context, Context)
        and fn == context.run
        and all(context.get(var, _ABSENT) is value for var, value in values)
    ):
        return context
    return None


def _runs_in_another_interpreter(executor: ThreadPoolExecutor) -> bool:
    # Python 3.14's InterpreterPoolExecutor pickles its work, and context variables end at its border.
    module = sys.modules.get("concurrent.futures.interpreter")
    return module is not None and isinstance(executor, module.InterpreterPoolExecutor)
