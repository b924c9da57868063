"""Keeps the Python processes a test starts offline too.

A child of `subprocess` gets a start-up module through PYTHONPATH (`_child_site/sitecustomize.py`) that
closes its network before any of its own code runs; its children inherit that. A child of
`multiprocessing` closes it around its `run`, and a process pool around each piece of work. What a child
tried is written to a file its parent reads. A Python process that none of this reaches is refused.

Loaded by file name inside child processes too: it imports nothing of callsheet's.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

START_UP = str(Path(__file__).parent / "_child_site")
SETTINGS = "CALLSHEET_OFFLINE"

WATCHED_EVENTS = frozenset(["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"])

_PYTHON = re.compile(r"(^|[/\\\s;&|'\"])(python|pypy)[\d.]*w?(\.exe)?($|[\s;&|'\"])", re.IGNORECASE)
# Flags with which Python ignores PYTHONPATH or its start-up modules.
_DEAF_FLAGS = frozenset("EIS")
# A word of flags; -c and -m end Python's own words, -W and -X have a value.
_FLAGS = re.compile(
    r"-(?=.)(?P<plain>[A-Za-z]*?)((?P<ends>[cm]).*|(?P<valued>[WX])(?P<value>.*))?", re.DOTALL
)
# Of `env` among the arguments of subprocess.Popen, the same in every Python version.
_ENV_POSITION = 10


class Rules(NamedTuple):
    """What a child process is told.

    Args:
        allow: The `allow` list of every block that is open around it.
        report: The file it appends its blocked attempts to.
    """

    allow: tuple[tuple[str, ...], ...]
    report: str


def unreachable_child(event: str, args: Sequence[Any]) -> str | None:
    """Give the command of a Python process that would start with its network open, or None.

    Args:
        event: One of `WATCHED_EVENTS`.
        args: The event's arguments.
    """
    if event == "os.system":
        command = _text(args[0])
        return command if _PYTHON.search(command) else None
    executable, argv, environment = _start(event, args)
    if not _is_python(executable, argv):
        return None
    if _reached(environment) and not _is_deaf(argv):
        return None
    return " ".join(argv)


def refusal(event: str, command: str, test: str | None) -> str:
    """Say which process was refused, and how to start it."""
    return (
        f"Refused to start `{command}`{f' in {test}' if test else ''}: {event} or its flags keep offline() "
        "from closing that Python process's network. Start it with subprocess, without -I, -E and -S, or "
        "outside the block."
    )


def reaching_environment(environment: Mapping[Any, Any] | None, rules: Rules) -> dict[Any, Any]:
    """Give the environment with what closes the network of a Python process started with it."""
    inherited = dict(os.environ if environment is None else environment)
    path = _text(inherited.pop(b"PYTHONPATH", None) or inherited.get("PYTHONPATH") or "")
    others = [entry for entry in path.split(os.pathsep) if entry != START_UP] if path else []
    inherited["PYTHONPATH"] = os.pathsep.join([START_UP, *others])
    inherited[SETTINGS] = json.dumps(rules._asdict())
    return inherited


def read_report(report: str) -> list[dict[str, Any]]:
    """Give the attempts that child processes have written to the file."""
    return [json.loads(line) for line in Path(report).read_text(encoding="utf-8").splitlines()]


def write_report(report: str, error: Any) -> None:
    """Append what a child process was refused to its parent's file."""
    line = json.dumps({"host": error.host, "port": error.port, "message": str(error)})
    with suppress(FileNotFoundError):  # the test is over and nobody reads it any more
        target = os.open(report, os.O_WRONLY | os.O_APPEND)
        os.write(target, f"{line}\n".encode())
        os.close(target)


def carrying_popen(original: Callable[..., None], rules: Callable[[], Rules | None]) -> Callable[..., None]:
    """Wrap `subprocess.Popen.__init__`; `rules` gives what holds for a child started now."""

    @wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        now = rules()
        if now is not None:
            if len(args) > _ENV_POSITION:
                replaced = reaching_environment(args[_ENV_POSITION], now)
                args = (*args[:_ENV_POSITION], replaced, *args[_ENV_POSITION + 1 :])
            else:
                kwargs["env"] = reaching_environment(kwargs.get("env"), now)
        original(self, *args, **kwargs)

    return init


def _start(event: str, args: Sequence[Any]) -> tuple[str, list[str], Mapping[Any, Any] | None]:
    if event == "subprocess.Popen":
        executable, argv, _, environment = args
    elif event == "os.spawn":
        _, executable, argv, environment = args
    else:
        executable, argv, environment = args
    return _text(executable), _words(argv), environment


def _words(argv: Any) -> list[str]:
    if isinstance(argv, (str, bytes)):
        return _text(argv).split()
    return [_text(word) for word in argv] if isinstance(argv, Iterable) else []


def _text(value: Any) -> str:
    return "" if value is None else os.fsdecode(value)


def _is_python(executable: str, argv: list[str]) -> bool:
    program = executable or (argv[0] if argv else "")
    return program == sys.executable or _PYTHON.search(program) is not None


def _reached(environment: Mapping[Any, Any] | None) -> bool:
    for key, path in (os.environ if environment is None else environment).items():
        if _text(key) == "PYTHONPATH":
            return START_UP in _text(path).split(os.pathsep)
    return False


def _is_deaf(argv: list[str]) -> bool:
    words = iter(argv[1:])
    for word in words:
        flags = _FLAGS.fullmatch(word)
        if flags is None:
            return False
        if _DEAF_FLAGS.intersection(flags["plain"]):
            return True
        if flags["ends"]:
            return False
        if flags["valued"] and not flags["value"]:
            next(words, None)
    return False
