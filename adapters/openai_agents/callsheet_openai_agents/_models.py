"""Models: which one a run asks, and what reaches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from agents import Model
from agents.models import get_default_model

from callsheet.adapters import ModelRequest, active_scope
from callsheet_openai_agents._inventory import agent_name
from callsheet_openai_agents._scripted_model import ScriptedModel


def chosen_model(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `run_loop.get_model`: the session's model, where it has one, for every agent of every run."""

    @wraps(original)
    def get_model(agent: Any, run_config: Any) -> Any:
        scope = active_scope()
        if scope is None:
            return original(agent, run_config)
        session = scope.session
        session.require_open(f"A model call of agent {agent.name!r}")
        name = model_name(agent, run_config)
        called = agent_name(session, agent)
        if session.model is not None:
            return ScriptedModel(session, called, name)
        session.note_request(ModelRequest(agent=called, model=name))
        if session.native_model is not None:
            return session.native_model
        return original(agent, run_config)

    return get_model


def noted_settings(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `ModelSettings.resolve`, by which every version settles what a request carries.

    Adds the session's headers and notes what will be sent.
    """

    @wraps(original)
    def resolve(self: Any, override: Any) -> Any:
        settings = original(self, override)
        scope = active_scope()
        if scope is None:
            return settings
        added = scope.session.headers
        headers = {**(settings.extra_headers or {}), **added}
        if headers:
            scope.session.note_request(ModelRequest(headers=headers))
        return replace(settings, extra_headers=headers) if added else settings

    return resolve


def model_name(agent: Any, run_config: Any) -> str:
    """Give the name of the model an agent is configured to ask in a run."""
    configured = run_config.model if run_config.model is not None else agent.model
    if configured is None:
        return get_default_model()
    if isinstance(configured, Model):
        return str(getattr(configured, "model", type(configured).__name__))
    return str(configured)
