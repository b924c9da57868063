"""Checks the options that sessions and runs have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callsheet._errors import OptionError

_HISTORY = "give a list of messages, [{'role': 'user', 'content': 'Hi'}], or of the framework's own."


def mapping_of(value: Any, name: str) -> dict[str, Any]:
    """Give an option that is a mapping or None as a dict of its own.

    Raises:
        OptionError: It is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} is {type(value).__name__}; give a mapping.")
    return dict(value)


def headers_of(value: Any) -> dict[str, str]:
    """Give headers as a dict of their own.

    Raises:
        OptionError: They are no mapping of texts.
    """
    headers = mapping_of(value, "headers")
    for name, content in headers.items():
        if not isinstance(name, str) or not isinstance(content, str):
            # Never the value: headers carry secrets.
            raise OptionError(
                f"The header {name!r} is {type(content).__name__}; give texts: headers={{'X-Team': 'blue'}}."
            )
    return headers


def check_history(history: Any) -> None:
    """Check the messages that came before a run.

    Raises:
        OptionError: They are no list of messages.
    """
    if history is None:
        return
    if isinstance(history, (str, bytes)) or not isinstance(history, Sequence):
        raise OptionError(f"history is {type(history).__name__}; {_HISTORY}")
    for message in history:
        if message is None or isinstance(message, (str, bytes)):
            raise OptionError(f"history holds {message!r}, which is no message; {_HISTORY}")
