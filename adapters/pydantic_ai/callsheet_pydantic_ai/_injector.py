"""The innermost capability of a run: puts the session between the agent and its tools, outputs and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.settings import merge_model_settings
from pydantic_ai.toolsets import AbstractToolset

from callsheet.adapters import ModelRequest
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._answers import answered, tool_request
from callsheet_pydantic_ai._outputs import answered_output
from callsheet_pydantic_ai._toolset import SessionToolset


@dataclass(init=False)
class Injector(AbstractCapability[Any]):
    """Lets the session answer in one run.

    Args:
        active: The run.
    """

    # Durable agents refuse capabilities added to a run unless they say they are safe.
    _safe_at_runtime = True

    def __init__(self, active: ActiveRun) -> None:
        self.id = None
        self.description = None
        self.defer_loading = False
        self._active = active

    def get_ordering(self) -> CapabilityOrdering:
        """Stand inside every other capability."""
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Stand before the agent's tools, beneath the wrappers of other capabilities."""
        return SessionToolset(toolset, self._active)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Settle the model and the headers of a request after every other hook had its say."""
        active = self._active
        if active.model is not None and request_context.model is not active.model:
            request_context = replace(request_context, model=active.model)
        settings = merge_model_settings(request_context.model.settings, request_context.model_settings) or {}
        headers = {**(settings.get("extra_headers") or {}), **active.session.headers}
        if active.session.headers:
            changed = {**(request_context.model_settings or {}), "extra_headers": headers}
            request_context = replace(request_context, model_settings=changed)
        parameters = request_context.model_request_parameters
        offered = [*parameters.function_tools, *parameters.output_tools]
        names = frozenset(tool.name for tool in offered)
        if names != active.record.offered:
            active.record.offered = names
            active.session.note_tools(active.record.agent, names)
        model = active.configured_model or request_context.model.model_name
        active.session.note_request(ModelRequest(agent=active.record.agent, model=model, headers=headers))
        return request_context

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Let the session answer a tool that a capability put around all others."""
        if call.tool_name in self._active.beneath:
            return await handler(args)
        request = tool_request(self._active, call.tool_name, args, call.tool_call_id, tool_def)
        return await answered(self._active, request, lambda: handler(args))

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """Let the session answer an output function."""
        return await answered_output(self._active, ctx, output_context, output, handler)
