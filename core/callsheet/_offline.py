"""Closes the network around a test: `with offline(): ...`.

One audit hook per process sees every connect, send and look-up Python makes, whatever library makes it
and however it got at the socket. Which blocks hold is a context variable, so blocks in threads and tasks
do not touch each other; threads, pools and child processes started inside are inside.

Python can not see, so this can not block: sockets a C library opens itself (uvloop, gRPC, pycares,
libpq, curl), programs other than Python, a connection opened before the block, the look-up that
`socket.connect` makes by itself for a host name (the connection that follows is blocked), another
interpreter of the same process, and asyncio's connections to an address on Windows' proactor loop.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from functools import cache, partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from callsheet import _child_processes
from callsheet._child_processes import Rules
from callsheet._child_run import carrying_process_start
from callsheet._errors import CallsheetError, NetworkBlockedError, OptionError
from callsheet._network_rules import WATCHED_EVENTS, Allowed, attempted, current_test, explain
from callsheet._patch import Patch
from callsheet._patching import PatchSet
from callsheet._processes import process_patches
from callsheet._threads import carried, thread_patches


def offline(allow: Iterable[str] = (), *, strict: bool = True) -> OfflineBlock:
    """Block the network for the code inside, on every thread and child Python process it starts.

    Connecting, sending and looking up names raise `NetworkBlockedError`. Unix sockets and socket pairs
    stay open. Blocks nest: what is inside several has to be allowed by each. The rest of what is in
    reach of Python is in the module's documentation.

    Args:
        allow: What to let through: "host", "host:port", an address, a network ("10.0.0.0/8"), or
            ":port" for any host. A host name lets its addresses through.
        strict: Raise a blocked attempt again on leaving the outermost block when the code inside
            swallowed it. With False, `attempts` is the only trace of it.

    Returns:
        A context manager. Its `attempts` lists every `NetworkBlockedError` so far; a test that provokes
        one on purpose clears it.

    Raises:
        OptionError: If `allow` holds something that is no host, address, network or port.
    """
    return OfflineBlock(allow, strict=strict)


class OfflineBlock:
    """One `offline()` block; made by that function."""

    def __init__(self, allow: Iterable[str], *, strict: bool, reporting_to: str | None = None) -> None:
        self.attempts: list[NetworkBlockedError] = []
        self._allowed = _allowed(allow)
        self.strict = strict
        self._release: tuple[Callable[[], object], ...] = ()
        self._raises_swallowed = False
        self._report = reporting_to
        # The process that judges the attempts; it is another one when they are reported to a parent.
        self._owner = os.getpid() if reporting_to is None else None

    def open(self) -> None:
        """Begin to block for the code that joins."""
        if self in _open_blocks:
            raise CallsheetError("This offline() block is already open; make a new one with offline().")
        _install_hook()
        # The sessions' patches of processes lie beneath the block's, whichever of them ends first.
        self._release = (process_patches.hold(self), thread_patches.hold(self), _patches.hold(self))
        around = _around()
        self._raises_swallowed = self.strict and not any(block.strict for block in around)
        self.attempts.clear()
        _open_blocks[self] = None

    def join(self) -> None:
        """Put the running code into this block; what it starts stays in it until the block is closed."""
        _stack.set((*_around(), self))

    def part(self) -> None:
        """Take the running code out of this block."""
        _stack.set(tuple([block for block in _stack.get() if block is not self]))

    def close(self, error: BaseException | None) -> None:
        """End the block, `error` being on its way out.

        Raises:
            NetworkBlockedError: The code inside swallowed it.
        """
        del _open_blocks[self]
        for release in reversed(self._release):
            release()
        self._collect_report()
        if self.attempts and self._raises_swallowed:
            self._raise_swallowed(error)

    def __enter__(self) -> Self:
        self.open()
        self.join()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        self.part()
        self.close(error)

    def permits(self, attempt: Any) -> bool:
        """Say whether this block lets the attempt through."""
        return self._allowed.permits(attempt)

    def record(self, error: NetworkBlockedError) -> None:
        """Remember a blocked attempt; in a forked child, tell the parent."""
        if os.getpid() == self._owner:
            self.attempts.append(error)
        elif self._report is not None:
            _child_processes.write_report(self._report, error)

    def rules(self) -> tuple[str, ...]:
        """Give the `allow` list."""
        return self._allowed.entries

    def report_file(self) -> str:
        """Give the file child processes write their attempts to."""
        if self._report is None:
            from tempfile import mkstemp

            handle, self._report = mkstemp(prefix="callsheet-offline-", suffix=".jsonl")
            os.close(handle)
        return self._report

    def _collect_report(self) -> None:
        if self._report is None or os.getpid() != self._owner:
            return
        for entry in _child_processes.read_report(self._report):
            self.attempts.append(
                NetworkBlockedError(
                    f"{entry['message']} (In a child process.)", host=entry["host"], port=entry["port"]
                )
            )
        Path(self._report).unlink()
        self._report = None

    def _raise_swallowed(self, error: BaseException | None) -> None:
        __tracebackhide__ = True
        if isinstance(error, NetworkBlockedError):
            return
        first, *others = self.attempts
        if error is not None:
            error.add_note(f"callsheet: {first}")
            return
        first.add_note("Raised again on leaving offline(): the code inside swallowed it.")
        for other in others:
            first.add_note(f"Swallowed too: {other}")
        raise first


_stack: ContextVar[tuple[OfflineBlock, ...]] = ContextVar("callsheet_offline", default=())
carried(_stack)
# Every open block of the process, in order of opening.
_open_blocks: dict[OfflineBlock, None] = {}
_hook_lock = threading.Lock()
_hook_answers = False

_PROBE = "callsheet.offline.probe"
_FORKS = frozenset(["os.fork", "os.forkpty"])
_WATCHED = WATCHED_EVENTS | _child_processes.WATCHED_EVENTS | _FORKS | {_PROBE}


def _allowed(allow: Iterable[str]) -> Allowed:
    if isinstance(allow, str):
        raise OptionError(f"offline(allow={allow!r}): allow is a list; write allow=[{allow!r}].")
    entries = tuple(allow)
    for entry in entries:
        if not isinstance(entry, str):
            raise OptionError(
                f'offline(allow=...): {entry!r} is no text; write "host", "host:port" or ":port".'
            )
    try:
        return Allowed(entries)
    except ValueError as error:
        raise OptionError(
            f'offline(allow=...): {error}; write "host", "host:port", "10.0.0.0/8" or ":port".'
        ) from None


def _install_hook() -> None:
    with _hook_lock:
        if _hook_answers:
            return
        sys.addaudithook(_audit)
        sys.audit(_PROBE)
    # An older hook can refuse a new one, and Python then says nothing.
    if not _hook_answers:
        raise CallsheetError(
            "offline() can not see the network: another audit hook of this process refuses new ones. "
            "Remove that hook for the test run."
        )


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if (_open_blocks or event == _PROBE) and event in _WATCHED:
        __tracebackhide__ = True
        _watched(event, args)


# Without it neither a debugger nor a coverage tool sees what the hook calls.
_audit.__cantrace__ = True  # type: ignore[attr-defined]


def _watched(event: str, args: tuple[Any, ...]) -> None:
    __tracebackhide__ = True
    global _hook_answers
    if event == _PROBE:
        _hook_answers = True
        return
    blocks = _around() or _around_unknown_thread()
    if not blocks:
        return
    if event in _FORKS:
        blocks[0].report_file()
    elif event in WATCHED_EVENTS:
        _judge_attempt(blocks, event, args)
    else:
        _judge_child(blocks, event, args)


def _judge_attempt(blocks: tuple[OfflineBlock, ...], event: str, args: tuple[Any, ...]) -> None:
    __tracebackhide__ = True
    attempt = attempted(event, args)
    if attempt is None or all(block.permits(attempt) for block in blocks):
        return
    _refuse(blocks, NetworkBlockedError(explain(attempt), host=attempt.host, port=attempt.port))


def _judge_child(blocks: tuple[OfflineBlock, ...], event: str, args: tuple[Any, ...]) -> None:
    __tracebackhide__ = True
    command = _child_processes.unreachable_child(event, args)
    if command is None:
        return
    refusal = _child_processes.refusal(event, command, current_test())
    _refuse(blocks, NetworkBlockedError(refusal))


def _refuse(blocks: tuple[OfflineBlock, ...], error: NetworkBlockedError) -> None:
    __tracebackhide__ = True
    for block in blocks:
        block.record(error)
    raise error


def _around() -> tuple[OfflineBlock, ...]:
    """Give the open blocks this code is in."""
    return tuple(block for block in _stack.get() if block in _open_blocks)


def _around_unknown_thread() -> tuple[OfflineBlock, ...]:
    # A thread started past `threading` can not be told its block, so it is in all of them.
    ident = threading.get_ident()
    unknown = threading._DummyThread  # noqa: SLF001 - what `threading` makes for a thread it did not start
    for thread in threading.enumerate():
        if thread.ident == ident and not isinstance(thread, unknown):
            return ()
    return tuple(_open_blocks)


def _rules_for_a_child() -> Rules | None:
    blocks = _around()
    if not blocks:
        return None
    return Rules(tuple(block.rules() for block in blocks), blocks[0].report_file())


def _run_in_child(rules: Rules, run: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    # A forked child is still inside the blocks of its parent.
    if _around():
        return run(*args, **kwargs)
    with ExitStack() as blocks:
        for depth, allow in enumerate(rules.allow):
            report = rules.report if depth == 0 else None
            blocks.enter_context(OfflineBlock(allow, strict=False, reporting_to=report))
        return run(*args, **kwargs)


def _carrying_submit(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        rules = _rules_for_a_child()
        if rules is None:
            return original(self, fn, *args, **kwargs)
        # A worker born here outlives the block, so each piece of work takes the block along instead.
        token = _stack.set(())
        try:
            return original(self, partial(_run_in_child, rules, fn), *args, **kwargs)
        finally:
            _stack.reset(token)

    return submit


@cache
def _own_patches() -> tuple[Patch, ...]:
    import subprocess
    from concurrent.futures.process import ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

    carrying_popen = partial(_child_processes.carrying_popen, rules=_rules_for_a_child)
    carrying_start = partial(carrying_process_start, orders=_rules_for_a_child, run=_run_in_child)
    return (
        Patch(subprocess.Popen, "__init__", carrying_popen),
        Patch(BaseProcess, "start", carrying_start),
        Patch(ProcessPoolExecutor, "submit", _carrying_submit),
    )


_patches = PatchSet(_own_patches)
