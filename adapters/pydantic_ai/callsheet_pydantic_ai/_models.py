"""Models: which one an agent is configured with, and a scripted one in its image."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_ai.models import Model, infer_model_profile
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.instrumented import InstrumentedModel
from pydantic_ai.models.wrapper import WrapperModel

from callsheet.adapters import Session
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._scripted_model import ScriptedModel


def configured(agent: Any, given: Any) -> Any:
    """Give the model a run would ask without a session: an override's, the run's, or the agent's own."""
    override = agent._override_model.get()
    if override is not None:
        return override.value
    return agent.model if given is None else given


def model_name(model: Any) -> str | None:
    """Give the name of a model, without its provider."""
    if model is None:
        return None
    return str(model.partition(":")[2] or model) if isinstance(model, str) else str(model.model_name)


def replacement(session: Session, active: ActiveRun, model: Any) -> Any:
    """Give the model that stands in for an agent's own, or None when the session leaves that in place."""
    if session.model is None:
        return session.native_model
    plain = model
    while isinstance(plain, (WrapperModel, FallbackModel)):
        plain = plain.wrapped if isinstance(plain, WrapperModel) else plain.models[0]
    if isinstance(plain, Model):
        kind = _in_the_image_of(type(plain))
        return kind(active, plain.model_name, plain.system, settings=model.settings, profile=plain.profile)
    if plain is None:
        return ScriptedModel(active, session.model.name, "callsheet")
    system, _, name = plain.rpartition(":")
    profile = infer_model_profile(plain)
    return ScriptedModel(active, name, system or "callsheet", profile=profile)


def instrumented(scripted: Any, model: Any) -> Any:
    """Instrument a stand-in like the model it stands in for."""
    if isinstance(model, InstrumentedModel) and scripted is not None:
        return InstrumentedModel(scripted, model.instrumentation_settings)
    return scripted


@lru_cache
def _in_the_image_of(model: type[Model]) -> type[ScriptedModel]:
    """Give a scripted model that supports what a class of models does, so that the agent acts as with it."""
    supported: dict[str, Any] = {}
    for name in dir(model):
        if name.startswith("supported_"):
            value = getattr(model, name)
            supported[name] = _answering(value()) if callable(value) else value
    return type(ScriptedModel.__name__, (ScriptedModel,), supported)


def _answering(value: Any) -> Any:
    return staticmethod(lambda: value)
