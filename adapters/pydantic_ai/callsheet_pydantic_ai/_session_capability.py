"""The root of a run's capabilities: puts the session between the agent and its tools and model."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ModelResponse
from pydantic_ai.toolsets import AbstractToolset

from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._answers import answered, tool_request
from callsheet_pydantic_ai._deferred import answered_externals, note_resolved
from callsheet_pydantic_ai._messages import latest_request_parts
from callsheet_pydantic_ai._model_requests import add_reply, settled
from callsheet_pydantic_ai._outputs import answered_output
from callsheet_pydantic_ai._told import note_told
from callsheet_pydantic_ai._toolset import SessionToolset


class SessionHooks(AbstractCapability[Any]):
    """What the root of a run's capabilities does more while a session is open.

    It stands in the root's place instead of among the capabilities or around them: the framework copies
    its context for each capability and hook, and an application may look at what capabilities there are.
    """

    active: ActiveRun

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Stand before the agent's tools, beneath the toolsets that its capabilities wrap them in."""
        own = SessionToolset(toolset, self.active)
        return super().get_wrapper_toolset(own) or own

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Settle the model and the headers of a request after every other hook had its say."""
        return settled(self.active, await super().before_model_request(ctx, request_context))

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> ModelResponse:
        """Record what the model is told, and its reply."""
        active = self.active
        active.session.require_open(f"A model call of agent {active.record.agent!r}")
        note_told(active, latest_request_parts(ctx.messages))
        response: ModelResponse = await super().wrap_model_request(
            ctx, request_context=request_context, handler=handler
        )
        add_reply(active, response, request_context.model_request_parameters)
        return response

    async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        """Note the answer of a hook that has the tool skipped."""
        try:
            return await super().before_tool_execute(ctx, call=call, tool_def=tool_def, args=args)
        except SkipToolExecution as skipped:
            _note_answer(self.active, call, skipped.result)
            raise

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Let the session answer a tool that a capability put around all others.

        A hook that answered in a tool's place is noted: it is no mock.
        """
        active = self.active
        if call.tool_name not in active.beneath:
            handler = self._judged(call, tool_def, handler)
        try:
            answer = await super().wrap_tool_execute(
                ctx, call=call, tool_def=tool_def, args=args, handler=handler
            )
        except SkipToolExecution as skipped:
            _note_answer(active, call, skipped.result)
            raise
        _note_answer(active, call, answer)
        return answer

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """Let the session answer an output function, and note the output that was accepted."""
        active = self.active

        async def judged(given: Any) -> Any:
            return await answered_output(active, ctx, output_context, given, handler)

        accepted = await super().wrap_output_process(
            ctx, output_context=output_context, output=output, handler=judged
        )
        if not ctx.partial_output:
            active.finish(accepted)
            call = output_context.tool_call
            if call is not None:
                _note_answer(active, call, None)
        return accepted

    async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
        """Answer calls of external tools before any capability that would resolve them."""
        answers = await answered_externals(self.active, self, requests)
        left = requests if answers is None else requests.remaining(answers)
        if left is None:
            return answers
        resolved = await super().handle_deferred_tool_calls(ctx, requests=left)
        if resolved is None:
            return answers
        note_resolved(self.active, resolved)
        if answers is None:
            return resolved
        answers.update(resolved)
        return answers

    def _judged(self, call: Any, tool_def: Any, handler: Any) -> Any:
        async def judged(args: Any) -> Any:
            request = tool_request(self.active, call.tool_name, args, call.tool_call_id, tool_def)
            return await answered(self.active, request, lambda: handler(args))

        return judged


_HOOKS = [name for name in vars(SessionHooks) if callable(getattr(AbstractCapability, name, None))]


def in_the_place_of(root: AbstractCapability[Any], active: ActiveRun) -> AbstractCapability[Any]:
    """Give the root of a run's capabilities with the session's hooks.

    Args:
        root: The run's own.
        active: The run.
    """
    capability: AbstractCapability[Any] = object.__new__(_with_hooks(type(root)))
    vars(capability).update(vars(root), active=active)
    return capability


@lru_cache
def _with_hooks(kind: type[Any]) -> type[Any]:
    # The framework leaves out hooks that a capability says it does not have.
    has = {f"{prefix}{hook}": True for hook in _HOOKS for prefix in ("has_", "_has_")}
    return type(kind.__name__, (SessionHooks, kind), has)


def _note_answer(active: ActiveRun, call: Any, answer: Any) -> None:
    """Note the answer to a call that nobody the session knows of ran."""
    record = active.find_call(call.tool_call_id)
    if record is not None and not record.attempts:
        record.outcome, record.response, record.attempts = "success", answer, 1
