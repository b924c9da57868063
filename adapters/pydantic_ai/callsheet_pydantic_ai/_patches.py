"""What of Pydantic AI is replaced while a session is alive, and whether it is a version we know."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from importlib.metadata import version
from typing import Any

from pydantic_ai import Agent, direct
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from callsheet.adapters import (
    Patch,
    PatchSet,
    UnmockedToolError,
    UnsupportedFrameworkError,
    active_scope,
)
from callsheet_pydantic_ai._runs import recorded_iter

FLOOR = (2, 0, 0)
_HOOKS = (
    "get_ordering",
    "get_wrapper_toolset",
    "before_model_request",
    "wrap_model_request",
    "wrap_output_process",
)


def patches() -> Iterator[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed framework is older than the floor, or built differently.
    """
    _check_framework()
    yield _patch(Agent, "iter", recorded_iter)
    yield _patch(direct, "_prepare_model", _refused_directly)
    # A realtime session runs tools without a graph; versions before 2.20 have none.
    if "_resolve_realtime_session" in vars(Agent):
        yield _patch(Agent, "_resolve_realtime_session", _refused_in_realtime)


def _refused_directly(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `direct._prepare_model`: a request no agent makes is one no script and no record is for."""

    @wraps(original)
    def prepare_model(model: Any, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is not None and not isinstance(model, (TestModel, FunctionModel)):
            _refuse(
                f"A direct request to model {getattr(model, 'model_name', model)!r} was about to be made. "
                "Make it through an Agent, give it a TestModel or FunctionModel, or mock its tool."
            )
        return original(model, *args, **kwargs)

    return prepare_model


def _refused_in_realtime(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Agent._resolve_realtime_session`: what calls tools there asks no session."""

    @wraps(original)
    def resolve(self: Any, *args: Any, **kwargs: Any) -> Any:
        if active_scope() is not None:
            _refuse(
                f"Agent {self.name!r} was about to open a realtime session, whose tools no mock answers yet. "
                "Leave it out of the test."
            )
        return original(self, *args, **kwargs)

    return resolve


def _refuse(why: str) -> None:
    scope = active_scope()
    violation = UnmockedToolError(why)
    if scope is not None:
        scope.session.poison(violation)
    raise violation


def _patch(owner: Any, name: str, replace: Callable[[Any], Any]) -> Patch:
    if not callable(vars(owner).get(name)):
        raise _unsupported(f"{getattr(owner, '__qualname__', owner.__name__)}.{name} is not there")
    return Patch(owner, name, replace)


def _check_framework() -> None:
    numbers = tuple(int(part) for part in _installed().split(".")[:3] if part.isdigit())
    if numbers < FLOOR:
        raise _unsupported("it is older than that")
    for name in _HOOKS:
        if not callable(getattr(AbstractCapability, name, None)):
            raise _unsupported(f"AbstractCapability.{name} is not there")
    if "capabilities" not in inspect.signature(Agent.iter).parameters:
        raise _unsupported("Agent.iter takes no capabilities")


def _installed() -> str:
    return version("pydantic-ai-slim")


def _unsupported(why: str) -> UnsupportedFrameworkError:
    floor = ".".join(map(str, FLOOR))
    return UnsupportedFrameworkError(
        f"callsheet-pydantic-ai supports pydantic-ai {floor} or later and found {_installed()}: {why}. "
        f'Run: pip install -U "pydantic-ai-slim>={floor}" callsheet-pydantic-ai'
    )


PATCHES = PatchSet(patches)
