"""The event sequence by which the Responses API streams a finished list of output items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseCreatedEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionCallArgumentsDoneEvent,
    ResponseInProgressEvent,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseRefusalDeltaEvent,
    ResponseRefusalDoneEvent,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
    ResponseUsage,
)

from callsheet.adapters import Usage

# A delta is a word with the white space after it, so that the deltas joined are the text.
_WORDS = re.compile(r"\S+\s*|\s+")


def stream_events(model: str, response_id: str, items: list[Any], usage: Usage | None) -> Iterator[Any]:
    """Give created, in_progress, the events of each item, and completed."""
    numbers = count()
    response = _response(model, response_id, items, usage or Usage(requests=1))
    begun = response.model_copy(update={"output": [], "usage": None, "status": "in_progress"})
    yield ResponseCreatedEvent(type="response.created", response=begun, sequence_number=next(numbers))
    yield ResponseInProgressEvent(type="response.in_progress", response=begun, sequence_number=next(numbers))
    for index, item in enumerate(items):
        yield from _item_events(item, index, numbers)
    yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=next(numbers))


def _item_events(item: Any, index: int, numbers: Iterator[int]) -> Iterator[Any]:
    # Validating every kind of item again would cost more than the whole run; they are valid already.
    yield ResponseOutputItemAddedEvent.model_construct(
        type="response.output_item.added",
        item=_begun(item),
        output_index=index,
        sequence_number=next(numbers),
    )
    if item.type == "message":
        for part_index, part in enumerate(item.content):
            yield from _part_events(part, item.id, index, part_index, numbers)
    elif item.type == "function_call":
        place: dict[str, Any] = {"item_id": item.id, "output_index": index}
        for delta in _WORDS.findall(item.arguments):
            yield ResponseFunctionCallArgumentsDeltaEvent(
                type="response.function_call_arguments.delta",
                delta=delta,
                sequence_number=next(numbers),
                **place,
            )
        yield ResponseFunctionCallArgumentsDoneEvent.model_construct(
            type="response.function_call_arguments.done",
            arguments=item.arguments,
            name=item.name,
            sequence_number=next(numbers),
            **place,
        )
    yield ResponseOutputItemDoneEvent.model_construct(
        type="response.output_item.done", item=item, output_index=index, sequence_number=next(numbers)
    )


def _part_events(
    part: Any, item_id: str, index: int, part_index: int, numbers: Iterator[int]
) -> Iterator[Any]:
    place: dict[str, Any] = {"item_id": item_id, "output_index": index, "content_index": part_index}
    is_text = part.type == "output_text"
    empty = part.model_copy(update={"text": ""} if is_text else {"refusal": ""})
    yield ResponseContentPartAddedEvent.model_construct(
        type="response.content_part.added", part=empty, sequence_number=next(numbers), **place
    )
    if is_text:
        for delta in _WORDS.findall(part.text):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                delta=delta,
                logprobs=[],
                sequence_number=next(numbers),
                **place,
            )
        yield ResponseTextDoneEvent(
            type="response.output_text.done",
            text=part.text,
            logprobs=[],
            sequence_number=next(numbers),
            **place,
        )
    else:
        for delta in _WORDS.findall(part.refusal):
            yield ResponseRefusalDeltaEvent(
                type="response.refusal.delta", delta=delta, sequence_number=next(numbers), **place
            )
        yield ResponseRefusalDoneEvent(
            type="response.refusal.done", refusal=part.refusal, sequence_number=next(numbers), **place
        )
    yield ResponseContentPartDoneEvent.model_construct(
        type="response.content_part.done", part=part, sequence_number=next(numbers), **place
    )


def _begun(item: Any) -> Any:
    if item.type == "message":
        return item.model_copy(update={"content": [], "status": "in_progress"})
    if item.type == "function_call":
        return item.model_copy(update={"arguments": "", "status": "in_progress"})
    return item


def _response(model: str, response_id: str, items: list[Any], usage: Usage) -> Response:
    return Response.model_construct(
        id=response_id,
        created_at=0.0,
        model=model,
        object="response",
        output=items,
        tool_choice="auto",
        tools=[],
        parallel_tool_calls=True,
        status="completed",
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
