"""What of Pydantic AI is replaced while a session is alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from pydantic_ai import Agent, direct
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

from callsheet.adapters import (
    Patch,
    PatchSet,
    UnmockedToolError,
    active_scope,
)
from callsheet_pydantic_ai._framework import check_framework
from callsheet_pydantic_ai._runs import judged_toolset, recorded_iter


def patches() -> Iterator[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed framework is older than the floor, or built differently.
    """
    check_framework()
    yield Patch(Agent, "iter", recorded_iter)
    yield Patch(Agent, "_get_toolset", judged_toolset)
    yield Patch(FunctionToolset, "call_tool", _refused_outside)
    yield Patch(direct, "_prepare_model", _refused_directly)
    # A realtime session runs tools without a graph; versions before 2.20 have none.
    if "_resolve_realtime_session" in vars(Agent):
        yield Patch(Agent, "_resolve_realtime_session", _refused_in_realtime)


def _refused_outside(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `FunctionToolset.call_tool`: what gets here without an answer of the session's went around it.

    Workers of a durable execution do, and code that calls a toolset by itself.
    """

    @wraps(original)
    async def call_tool(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        scope = active_scope()
        if scope is not None and scope.call is None and not scope.session.lets_real_run:
            _refuse(
                f"Tool {name!r} was about to run outside every run of an agent, where no mock answers. "
                'Call it through an Agent, or pass unmocked="real".'
            )
        return await original(self, name, *args, **kwargs)

    return call_tool


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


PATCHES = PatchSet(patches)
