"""Closes the network of a Python process that was started inside `callsheet.offline()`.

Python imports this at start-up, before any code of the program. It needs no callsheet in the child's
environment, and hands over to the sitecustomize that would have run.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COULD_NOT_CLOSE = 97


def close_network() -> None:
    """Install the hook that judges by the parent's rules."""
    settings = json.loads(os.environ["CALLSHEET_OFFLINE"])
    rules = load_rules()
    allowed = [rules.Allowed(tuple(entries)) for entries in settings["allow"]]

    class NetworkBlockedError(OSError):
        """A process started inside offline() tried to reach the network."""

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event not in rules.WATCHED_EVENTS:
            return
        attempt = rules.attempted(event, args)
        if attempt is not None and not all(each.permits(attempt) for each in allowed):
            message = rules.explain(attempt)
            report(settings["report"], attempt, message)
            raise NetworkBlockedError(message)

    sys.addaudithook(audit)


def load_rules() -> Any:
    """Load the module beside this folder by file name; the child need not have callsheet."""
    name = "_callsheet_network_rules"
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "_network_rules.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"can not load {name}")
    rules = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)
    return rules


def report(path: str, attempt: Any, message: str) -> None:
    """Append the attempt to the parent's file."""
    line = json.dumps({"host": attempt.host, "port": attempt.port, "message": message}) + "\n"
    try:
        target = os.open(path, os.O_WRONLY | os.O_APPEND)
    except OSError:
        return  # the test is over and nobody reads it any more
    os.write(target, line.encode())
    os.close(target)


def hand_over() -> None:
    """Import the sitecustomize this one stands before."""
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    own = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


try:
    close_network()
except BaseException:  # noqa: BLE001 - whatever it was, the program must not run
    traceback.print_exc()
    sys.stderr.write("callsheet: this process can not be kept offline, so it does not run.\n")
    sys.stderr.flush()
    os._exit(COULD_NOT_CLOSE)
hand_over()
