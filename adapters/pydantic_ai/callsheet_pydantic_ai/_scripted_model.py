"""A Pydantic AI model that gives a session's scripted replies."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from callsheet.adapters import ModelReply, ModelRequest, ScriptError
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._messages import call_ids, raw_arguments, to_openai
from callsheet_pydantic_ai._replies import response

# A delta is a word with the white space after it, so that the deltas joined are the text.
_WORDS = re.compile(r"\S+\s*|\s+")


class ScriptedModel(Model[Any]):
    """The model of one run.

    Args:
        active: The run.
        name: The name of the model the agent is configured with.
        system: The name of its provider.
        settings: That model's own settings.
        profile: What that model can do.
    """

    def __init__(
        self, active: ActiveRun, name: str, system: str, *, settings: Any = None, profile: Any = None
    ) -> None:
        super().__init__(settings=settings, profile=profile)
        self._active = active
        self._name = name
        self._system = system

    @property
    def model_name(self) -> str:
        """The name of the model the agent is configured with."""
        return self._name

    @property
    def system(self) -> str:
        """The name of its provider."""
        return self._system

    async def request(
        self,
        messages: list[Any],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Give the next scripted reply."""
        given, _ = await self._reply(messages, model_settings, model_request_parameters)
        return given

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[Any],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Give the next scripted reply piece by piece."""
        given, parameters = await self._reply(messages, model_settings, model_request_parameters)
        yield ScriptedStream(model_request_parameters=parameters, scripted=given)

    async def _reply(
        self, messages: list[Any], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> tuple[ModelResponse, ModelRequestParameters]:
        settings, parameters = self.prepare_request(settings, parameters)
        active = self._active
        # The framework goes on with the same list.
        told = list(messages)
        request = ModelRequest(
            messages=lambda: to_openai(told, _instructions(told)),
            tools=lambda: map(_tool, [*parameters.function_tools, *parameters.output_tools]),
            agent=active.record.agent,
            model=self._name,
            headers=(settings or {}).get("extra_headers"),
            turn=active.record.turns,
            call_ids=lambda: call_ids(told),
        )
        with active.session.inside(active.record):
            reply = await active.session.answer_model_async(request)
        self._check(reply)
        record, recording = active.record, active.session.recording
        output_id = (
            recording.new_call_id(record, f"{record.turns}_output") if reply.output is not None else ""
        )
        given = response(reply, parameters, output_id)
        given.model_name, given.provider_name = self._name, self._system
        return given, parameters

    def _check(self, reply: ModelReply) -> None:
        if reply.handoff is not None:
            error = ScriptError(
                f"The script of agent {self._active.record.agent!r} hands over to {reply.handoff!r}, but "
                "Pydantic AI has no handoffs. Script a call of what runs the other agent."
            )
            self._active.session.poison(error)
            raise error


@dataclass
class ScriptedStream(StreamedResponse):
    """A scripted reply, streamed.

    Args:
        scripted: The whole reply.
    """

    scripted: ModelResponse = field(default_factory=lambda: ModelResponse(parts=[]))

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self.scripted.model_name or ""

    @property
    def provider_name(self) -> str | None:
        """The name of its provider."""
        return self.scripted.provider_name

    @property
    def provider_url(self) -> str | None:
        """None: nothing is asked."""
        return None

    @property
    def timestamp(self) -> datetime:
        """When the reply was made."""
        return self.scripted.timestamp

    async def close_stream(self) -> None:
        """Do nothing: there is no connection to close."""

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        for index, part in enumerate(self.scripted.parts):
            for event in self._events(index, part):
                yield event
        self._usage = self.scripted.usage
        self.finish_reason = self.scripted.finish_reason
        self.provider_details = self.scripted.provider_details

    def _events(self, index: int, part: Any) -> Any:
        parts = self._parts_manager
        if type(part) is TextPart:
            for delta in _WORDS.findall(part.content) or [""]:
                yield from parts.handle_text_delta(vendor_part_id=index, content=delta)
        elif type(part) is ThinkingPart:
            for delta in _WORDS.findall(part.content):
                yield from parts.handle_thinking_delta(vendor_part_id=index, content=delta)
        elif type(part) is ToolCallPart:
            yield parts.handle_tool_call_delta(
                vendor_part_id=index, tool_name=part.tool_name, args=None, tool_call_id=part.tool_call_id
            )
            for delta in _WORDS.findall(raw_arguments(part)):
                yield parts.handle_tool_call_delta(vendor_part_id=index, args=delta)
        else:
            yield parts.handle_part(vendor_part_id=index, part=part)


def _instructions(messages: list[Any]) -> str | None:
    said = [instructions for message in messages if (instructions := getattr(message, "instructions", None))]
    return str(said[-1]) if said else None


def _tool(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }
