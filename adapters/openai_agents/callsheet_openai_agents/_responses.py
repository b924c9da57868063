"""Scripted replies as the Responses API's own response objects, cut short where the script says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agents import OpenAIResponsesModel
from openai.types.responses import Response, ResponseUsage
from openai.types.responses.response import IncompleteDetails

from callsheet.adapters import Usage

# What a script may call the end of a reply, by the API's reason for having cut it short.
_CUT_SHORT = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "content_filter": "content_filter",
}
_WHOLE = (None, "stop", "end_turn", "tool_calls", "tool_use", "completed")
FINISH_REASONS = (*filter(None, _WHOLE), *_CUT_SHORT)


def response(
    model: str, response_id: str, items: list[Any], usage: Usage, finish_reason: str | None
) -> Response:
    """Give the response that holds these items.

    Args:
        model: The name of the model.
        response_id: The response's id.
        items: The output items.
        usage: What the reply cost.
        finish_reason: Why the model stopped: one of `FINISH_REASONS`, or None.
    """
    reason = _CUT_SHORT.get(finish_reason or "")
    return Response.model_construct(
        id=response_id,
        created_at=0.0,
        model=model,
        object="response",
        output=items if reason is None else [*items[:-1], *map(_unfinished, items[-1:])],
        tool_choice="auto",
        tools=[],
        parallel_tool_calls=True,
        status="completed" if reason is None else "incomplete",
        incomplete_details=None if reason is None else IncompleteDetails.model_validate({"reason": reason}),
        usage=ResponseUsage.model_validate(
            {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "total_tokens": usage.total_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            }
        ),
    )


def is_whole(finish_reason: str | None) -> bool:
    """Say whether a reply that ends so was not cut short."""
    return finish_reason in _WHOLE


def received(given: Response) -> OpenAIResponsesModel:
    """Give the SDK's own model as if it had been sent this response.

    What it makes of one that was cut short differs between versions.
    """

    async def create(**asked: Any) -> Response:
        return given

    client: Any = SimpleNamespace(responses=SimpleNamespace(create=create), base_url="")
    return OpenAIResponsesModel(given.model, openai_client=client)


def _unfinished(item: Any) -> Any:
    return item.model_copy(update={"status": "incomplete"}) if hasattr(item, "status") else item
