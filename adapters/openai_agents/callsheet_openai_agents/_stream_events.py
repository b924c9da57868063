"""The event sequence by which the Responses API streams a response."""

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
    ResponseIncompleteEvent,
    ResponseInProgressEvent,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseRefusalDeltaEvent,
    ResponseRefusalDoneEvent,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
)

# A delta is a word with the white space after it, so that the deltas joined are the text.
_WORDS = re.compile(r"\S+\s*|\s+")


def stream_events(response: Response) -> Iterator[Any]:
    """Give created, in_progress, the events of each item, and completed or incomplete."""
    numbers = count()
    begun = response.model_copy(
        update={"output": [], "usage": None, "status": "in_progress", "incomplete_details": None}
    )
    yield ResponseCreatedEvent(type="response.created", response=begun, sequence_number=next(numbers))
    yield ResponseInProgressEvent(type="response.in_progress", response=begun, sequence_number=next(numbers))
    for index, item in enumerate(response.output):
        yield from _item_events(item, index, numbers)
    last: dict[str, Any] = {"response": response, "sequence_number": next(numbers)}
    if response.status == "incomplete":
        yield ResponseIncompleteEvent(type="response.incomplete", **last)
    else:
        yield ResponseCompletedEvent(type="response.completed", **last)


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
