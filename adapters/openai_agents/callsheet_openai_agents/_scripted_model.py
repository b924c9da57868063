"""An `agents.Model` that gives a session's scripted replies in the SDK's own types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Model, ModelResponse
from agents import Usage as SdkUsage
from pydantic import ValidationError

from callsheet.adapters import (
    ModelReply,
    ModelRequest,
    ScriptError,
    Session,
    Usage,
    active_scope,
    did_you_mean,
    listed,
)
from callsheet_openai_agents._input import call_ids, messages
from callsheet_openai_agents._output import output_items
from callsheet_openai_agents._responses import FINISH_REASONS, is_whole, received, response
from callsheet_openai_agents._stream_events import stream_events


class ScriptedModel(Model):
    """The model of one agent in one run.

    Args:
        session: The session that has the script.
        agent: The agent's name, which the SDK does not tell a model.
        name: The name of the model the agent is configured with.
    """

    def __init__(self, session: Session, agent: str, name: str) -> None:
        self._session = session
        self._agent = agent
        self.model = name

    # The SDK calls this with keywords and `stream_response` by position: the parameters are the interface's.
    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        """Give the next scripted reply."""
        asked = (system_instructions, input, model_settings, tools)
        reply = await self._reply(*asked, handoffs)
        items = self._items(reply, output_schema, tools)
        if not is_whole(reply.finish_reason):
            sdks_own = received(self._response(reply, items))
            return await sdks_own.get_response(*asked, output_schema, handoffs, tracing)
        used = reply.usage or Usage(requests=1)
        usage = SdkUsage(
            requests=used.requests,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            total_tokens=used.total_tokens,
        )
        return ModelResponse(output=items, usage=usage, response_id=self._response_id())

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: Any,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Give the next scripted reply as the events the Responses API sends."""
        reply = await self._reply(system_instructions, input, model_settings, tools, handoffs)
        items = self._items(reply, output_schema, tools)
        for event in stream_events(self._response(reply, items)):
            yield event

    async def _reply(
        self,
        instructions: str | None,
        given: str | list[Any],
        settings: Any,
        tools: Sequence[Any],
        handoffs: Sequence[Any],
    ) -> ModelReply:
        items = given if isinstance(given, str) else list(given)
        reply = await self._session.answer_model_async(
            ModelRequest(
                messages=lambda: messages(instructions, items),
                tools=lambda: [*map(_tool, tools), *map(_handoff, handoffs)],
                agent=self._agent,
                model=self.model,
                headers=settings.extra_headers,
                turn=self._session.current_turn,
                # Of two calls with one id the SDK forgets the first.
                call_ids=lambda: call_ids(items),
            )
        )
        if reply.handoff is None:
            return reply
        return reply.with_handoff_call(self._handoff_tool(reply.handoff, handoffs))

    def _items(self, reply: ModelReply, output_schema: Any, tools: list[Any]) -> list[Any]:
        reason = reply.finish_reason
        if reason is not None and reason not in FINISH_REASONS:
            raise self._refused(
                f"The script of agent {self._agent!r} ends a reply with finish_reason {reason!r}, which this "
                f"SDK's models do not.{did_you_mean(reason, FINISH_REASONS)} They end with: "
                f"{listed(FINISH_REASONS)}. For a provider that fails, script an exception."
            )
        try:
            return output_items(reply, output_schema, tools)
        except ValidationError as error:
            why = f"The script of agent {self._agent!r} says what no model could, {error}"
            raise self._refused(why) from error

    def _response(self, reply: ModelReply, items: list[Any]) -> Any:
        used = reply.usage or Usage(requests=1)
        return response(self.model, self._response_id(), items, used, reply.finish_reason)

    def _response_id(self) -> str:
        # A conversation is continued by this id, so no two replies of a model may share one.
        scope, asked = (
            active_scope(),
            self._session.model.call_count if self._session.model is not None else 0,
        )
        run = scope.run if scope is not None else None
        place = f"{run.path}_{run.turns}" if run is not None else "direct"
        return f"resp_{place}_{asked}"

    def _handoff_tool(self, target: str, handoffs: Sequence[Any]) -> str:
        names = [handoff.agent_name for handoff in handoffs]
        for handoff in handoffs:
            if target in (handoff.agent_name, handoff.tool_name):
                return str(handoff.tool_name)
        raise self._refused(
            f"The script of agent {self._agent!r} hands over to {target!r}, to which it can not hand over."
            f"{did_you_mean(target, names)} It can hand over to: {listed(names)}."
        )

    def _refused(self, why: str) -> ScriptError:
        error = ScriptError(why)
        self._session.poison(error)
        return error


def _tool(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": getattr(tool, "description", ""),
        "parameters": getattr(tool, "params_json_schema", {}),
    }


def _handoff(handoff: Any) -> dict[str, Any]:
    return {
        "name": handoff.tool_name,
        "description": handoff.tool_description,
        "parameters": handoff.input_json_schema,
    }
