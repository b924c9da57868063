"""What may be passed: values, text, bytes, chunks, and the objects of provider SDKs."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from itertools import count
from types import MappingProxyType
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from callsheet import CallsheetError, UnknownFormatError, parse_response, parse_stream

RESPONSE: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": "Zürich 🌦"}}]}
CHUNK: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": "Zürich 🌦"}, "finish_reason": "stop"}]}
BODY = f"data: {json.dumps(CHUNK, ensure_ascii=False)}\n\ndata: [DONE]\n\n"


class Model:
    """Dumps itself like a pydantic model."""

    def __init__(self, data: object) -> None:
        self._data = data

    def model_dump(self, **options: object) -> object:
        assert options == {
            "mode": "json",
            "by_alias": True,
            "exclude_none": True,
            "exclude": {"snapshot"},
            "warnings": False,
        }
        return self._data

    def __iter__(self) -> object:
        raise AssertionError("a pydantic model iterates over its fields, which is not what is meant")


class Dictable:
    """Has `to_dict`, like the objects of other SDKs."""

    def to_dict(self) -> dict[str, Any]:
        return RESPONSE


@pytest.mark.parametrize(
    "payload",
    [
        RESPONSE,
        json.dumps(RESPONSE),
        json.dumps(RESPONSE).encode(),
        bytearray(json.dumps(RESPONSE, ensure_ascii=False).encode()),
        memoryview(json.dumps(RESPONSE).encode()),
        "\ufeff" + json.dumps(RESPONSE),
        Model(RESPONSE),
        Dictable(),
        MappingProxyType(RESPONSE),
        {"choices": (RESPONSE["choices"][0],)},
        [RESPONSE],
        {"choices": [Model(RESPONSE["choices"][0])]},
        {"choices": [{"message": Model(RESPONSE["choices"][0]["message"])}]},
    ],
)
def test_a_response_may_come_in_any_of_these(payload: object) -> None:
    assert parse_response(payload).response == "Zürich 🌦"


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        BODY.encode(),
        [BODY[:20], BODY[20:]],
        iter([bytes([byte]) for byte in BODY.encode()]),
        (char for char in BODY),
        [BODY[:20].encode(), BODY[20:]],
        io.BytesIO(BODY.encode()),
        io.StringIO(BODY),
        [CHUNK],
        [Model(CHUNK)],
        (event for event in (CHUNK,)),
        RESPONSE,
        json.dumps(RESPONSE),
    ],
    ids=count(),
)
def test_a_stream_may_come_in_any_of_these(body: object) -> None:
    result = parse_stream(body)
    assert (result.response, result.metadata["truncated"]) == ("Zürich 🌦", False)


def test_a_response_may_be_a_stream() -> None:
    assert parse_response(BODY).response == "Zürich 🌦"
    assert parse_response([BODY.encode()], "openai").response == "Zürich 🌦"


def test_the_payload_itself_is_kept_as_native() -> None:
    assert parse_response(RESPONSE).native is RESPONSE


def test_bytes_that_are_no_text_are_replaced() -> None:
    body = BODY.encode().replace(b"Z", b"\xff")
    assert parse_stream(body).response == "\ufffdürich 🌦"


@pytest.mark.parametrize("payload", [None, 7, 1.5, True, object(), Mock(), dict, open])
def test_what_can_hold_no_reply_is_refused(payload: object) -> None:
    with pytest.raises(UnknownFormatError, match=r"can't be read: .* Pass a dict") as caught:
        parse_response(payload)
    assert isinstance(caught.value, CallsheetError)
    assert isinstance(caught.value, ValueError)


def test_an_object_that_only_pretends_to_be_a_model_is_refused() -> None:
    with pytest.raises(UnknownFormatError):
        parse_response(MagicMock())


def test_a_model_that_can_not_be_dumped_is_refused_with_its_reason() -> None:
    class Broken:
        def model_dump(self, **_options: object) -> object:
            raise ValueError("no serializer for Lock")

    with pytest.raises(UnknownFormatError, match="Broken can't be read as a dict: no serializer for Lock"):
        parse_response(Broken())


def test_an_asynchronous_stream_has_to_be_collected_first() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield BODY.encode()

    with pytest.raises(UnknownFormatError, match="Collect an asynchronous stream into a list first"):
        parse_stream(chunks())


def test_a_list_of_mixed_things_is_refused_with_the_place() -> None:
    with pytest.raises(UnknownFormatError, match="Item 1 of the payload is a int: 7"):
        parse_response([RESPONSE, 7])
    with pytest.raises(UnknownFormatError, match="Item 0 of the payload is a str"):
        parse_stream(["data: {}", CHUNK])
