"""Which capabilities a run is given: one around the agent's own and one inside them, or one for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering

from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._injector import Injector
from callsheet_pydantic_ai._recorder import Recorder

_FRAMEWORKS_OWN = "pydantic_ai.capabilities._"


@dataclass(init=False)
class SoleCapability(Recorder, Injector):
    """Recorder and injector in one, for a run that no capability of the application takes part in.

    The framework prepares a context per capability and hook, which costs more than the hooks.
    """

    def get_ordering(self) -> CapabilityOrdering:
        """Stand inside the framework's own capabilities."""
        return CapabilityOrdering(position="innermost")

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Let the session answer; nobody is there to answer in the tool's place."""
        return await Injector.wrap_tool_execute(
            self, ctx, call=call, tool_def=tool_def, args=args, handler=handler
        )

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """Let the session answer an output function, and note the output that was accepted."""

        async def answered(given: Any) -> Any:
            return await Injector.wrap_output_process(
                self, ctx, output_context=output_context, output=given, handler=handler
            )

        return await Recorder.wrap_output_process(
            self, ctx, output_context=output_context, output=output, handler=answered
        )


def capabilities(agent: Any, active: ActiveRun, options: Mapping[str, Any]) -> list[Any]:
    """Give the capabilities of a run: those it was called with, and the session's."""
    given = list(options.get("capabilities") or ())
    if given or options.get("spec") is not None or _has_own(agent):
        return [*given, Recorder(active), Injector(active)]
    return [SoleCapability(active)]


def _has_own(agent: Any) -> bool:
    """Say whether an agent has capabilities besides those the framework gives to every agent."""
    override = agent._override_root_capability.get()
    root = agent._root_capability if override is None else override.value
    leaves: list[AbstractCapability[Any]] = []
    root.apply(leaves.append)
    return any(not type(leaf).__module__.startswith(_FRAMEWORKS_OWN) for leaf in leaves)
