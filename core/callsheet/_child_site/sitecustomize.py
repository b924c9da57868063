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

HERE = Path(__file__).parent
COULD_NOT_CLOSE = 97


class NetworkBlockedError(OSError):
    """A process started inside offline() tried to reach the network."""

    def __init__(self, message: str, host: str | None, port: int | None) -> None:
        super().__init__(message)
        self.host = host
        self.port = port


def close_network() -> None:
    """Install the hook that judges by the parent's rules."""
    network, children = load("_network_rules"), load("_child_processes")
    rules = children.Rules(**json.loads(os.environ[children.SETTINGS]))
    allowed = [network.Allowed(tuple(entries)) for entries in rules.allow]

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event in network.WATCHED_EVENTS:
            attempt = network.attempted(event, args)
            if attempt is not None and not all(each.permits(attempt) for each in allowed):
                refuse(network.explain(attempt), attempt.host, attempt.port)
        elif event in children.WATCHED_EVENTS:
            if event == "subprocess.Popen" and isinstance(args[3], dict):
                # The child to be started is given this very mapping.
                reaching = children.reaching_environment(args[3], rules)
                args[3].clear()
                args[3].update(reaching)
            command = children.unreachable_child(event, args)
            if command is not None:
                refuse(children.refusal(event, command, network.current_test()), None, None)

    def refuse(message: str, host: str | None, port: int | None) -> None:
        error = NetworkBlockedError(message, host, port)
        children.write_report(rules.report, error)
        raise error

    sys.addaudithook(audit)


def load(module: str) -> Any:
    """Load a module beside this folder by file name; the child need not have callsheet."""
    name = f"_callsheet{module}"
    spec = importlib.util.spec_from_file_location(name, HERE.parent / f"{module}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"can not load {name}")
    loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def hand_over() -> None:
    """Import the sitecustomize this one stands before."""
    sys.path[:] = [entry for entry in sys.path if Path(entry) != HERE]
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
