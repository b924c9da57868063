"""A team's own assertions, by name: registered in a conftest.py, or by an installed package."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from callsheet._errors import OptionError
from callsheet._suggest import did_you_mean, listed

GROUP = "callsheet.assertions"

Assertion = Callable[..., Any]
AssertionT = TypeVar("AssertionT", bound=Assertion)

_registered: dict[str, Assertion] = {}


def register_assertion(name: str, assertion: AssertionT, *, replace: bool = False) -> AssertionT:
    """Register an assertion under a name.

    Args:
        name: The name `run_custom_assertion` calls it by.
        assertion: Takes the result and its own arguments, and raises AssertionError.
        replace: Whether it may take the place of another one of that name.

    Returns:
        The assertion itself.

    Raises:
        OptionError: If the name is empty or taken, or the assertion can not be called or is async.
    """
    if not isinstance(name, str) or not name.strip():
        raise OptionError(f"{name!r} is no name for an assertion; give a text.")
    if not callable(assertion):
        raise OptionError(f"Assertion {name!r} is {assertion!r}; give a function that takes the result.")
    if inspect.iscoroutinefunction(assertion):
        raise OptionError(f"Assertion {name!r} is async, so nobody would await it; make it a plain function.")
    if not replace and _registered.get(name, assertion) is not assertion:
        raise OptionError(f"Another assertion is named {name!r}; rename one, or pass replace=True.")
    _registered[name] = assertion
    return assertion


def run_custom_assertion(name: str, result: Any, /, *args: Any, **kwargs: Any) -> None:
    """Run a registered assertion, or one that an installed package offers.

    Args:
        name: Its name.
        result: What it judges.
        *args: Further arguments of the assertion.
        **kwargs: Further arguments of the assertion.

    Raises:
        OptionError: If there is none of that name, or it gave something to await.
        AssertionError: If it fails, or answers False instead of raising.
    """
    __tracebackhide__ = True
    assertion = _find(name)
    try:
        outcome = assertion(result, *args, **kwargs)
    except AssertionError as error:
        error.add_note(f"In the custom assertion {name!r}.")
        raise
    if inspect.isawaitable(outcome):
        if inspect.iscoroutine(outcome):
            outcome.close()
        raise OptionError(f"Assertion {name!r} is async, so nothing was checked; make it a plain function.")
    if outcome is False:
        raise AssertionError(f"Assertion {name!r} answered False.")


def list_assertions() -> list[str]:
    """Give the names of all assertions, registered and installed, in alphabetical order."""
    return sorted({*_registered, *_installed()})


def clear_assertions() -> None:
    """Forget every registered assertion; those of installed packages stay."""
    _registered.clear()


def _find(name: str) -> Assertion:
    registered = _registered.get(name)
    if registered is not None:
        return registered
    point = _installed().get(name)
    if point is None:
        names = list_assertions()
        raise OptionError(
            f"No assertion is named {name!r}.{did_you_mean(name, names)} "
            f"There are: {listed(names)}. Add it with register_assertion({name!r}, ...)."
        )
    loaded: Assertion = point.load()
    return register_assertion(name, loaded)


def _installed() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
