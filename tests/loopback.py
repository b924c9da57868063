"""A model provider on this machine: real HTTP, scripted replies, every request kept.

    with Loopback([Reply(tool_calls=[("search", {"q": "x"})]), Reply("done")]) as provider:
        client = AsyncOpenAI(base_url=provider.base_url, api_key="test")

Which API is spoken follows from the path of the request, JSON or a stream from its body. A further API is
one more entry of `DIALECTS`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FRAGMENT = 7


@dataclass(frozen=True)
class Reply:
    """What the model says: a text, calls as pairs of name and arguments, or both.

    `incomplete` is the reason for which the Responses API cuts it short.
    """

    text: str | None = None
    tool_calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    input_tokens: int = 11
    output_tokens: int = 7
    incomplete: str | None = None

    @property
    def written_calls(self) -> list[tuple[str, str]]:
        return [(name, args if isinstance(args, str) else json.dumps(args)) for name, args in self.tool_calls]


@dataclass(frozen=True)
class Fault:
    """What a provider in trouble answers."""

    status: int
    message: str = "the provider is in trouble"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Received:
    """A request as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """One reply on its way out: what to say, to whom, and the number that makes its ids its own."""

    reply: Reply
    body: Mapping[str, Any]
    number: int

    def call_id(self, index: int) -> str:
        return f"call_{self.number}_{index}"


Event = tuple[str | None, Any]


@dataclass(frozen=True)
class Dialect:
    """How an API writes a reply: as one JSON object, and as server-sent events of name and data."""

    whole: Callable[[Turn], dict[str, Any]]
    events: Callable[[Turn], Iterable[Event]]


class Loopback:
    """The provider, as a context manager.

    Args:
        script: A `Reply` or a `Fault` for each request, in order.
    """

    def __init__(self, script: Iterable[Reply | Fault]) -> None:
        self.received: list[Received] = []
        self._script = list(script)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        """The address OpenAI's clients want."""
        return f"{self.origin}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def take(self, request: Received) -> tuple[int, Reply | Fault]:
        """Keep a request and give its number and the next answer."""
        with self._lock:
            number = len(self.received)
            self.received.append(request)
        if number < len(self._script):
            return number, self._script[number]
        return number, Fault(400, f"the loopback's script has {len(self._script)} replies")


def _handler(provider: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            number, answer = provider.take(Received(self.path, headers, body))
            dialect = next((d for path, d in DIALECTS.items() if self.path.startswith(path)), None)
            if dialect is None:
                answer = Fault(404, f"nobody speaks {self.path} here")
            if isinstance(answer, Fault) or dialect is None:
                error = {"error": {"message": answer.message, "type": "fault", "code": None}}
                self._send(answer.status, "application/json", json.dumps(error).encode(), answer.headers)
            elif body.get("stream"):
                events = b"".join(map(_written, dialect.events(Turn(answer, body, number))))
                self._send(200, "text/event-stream", events)
            else:
                whole = json.dumps(dialect.whole(Turn(answer, body, number)))
                self._send(200, "application/json", whole.encode())

        def _send(
            self, status: int, kind: str, content: bytes, extra: Mapping[str, str] | None = None
        ) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            # A connection kept alive would outlive the event loop of the test that opened it.
            self.send_header("connection", "close")
            for name, value in (extra or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *said: Any) -> None:
            """Keep quiet."""

    return Handler


def _written(event: Event) -> bytes:
    name, data = event
    head = f"event: {name}\n" if name is not None else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _fragments(text: str) -> Iterator[str]:
    return (text[start : start + FRAGMENT] for start in range(0, len(text), FRAGMENT))


# OpenAI chat completions


def _chat(turn: Turn) -> dict[str, Any]:
    calls = [
        {"id": turn.call_id(index), "type": "function", "function": {"name": name, "arguments": written}}
        for index, (name, written) in enumerate(turn.reply.written_calls)
    ]
    message = {"role": "assistant", "content": turn.reply.text, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn), "logprobs": None}
    return {**_chat_head(turn, "chat.completion"), "choices": [choice], "usage": _chat_usage(turn)}


def _chat_events(turn: Turn) -> Iterator[Event]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return None, {**_chat_head(turn, "chat.completion.chunk"), "choices": [choice]}

    yield chunk({"role": "assistant", "content": "" if turn.reply.text else None})
    for part in _fragments(turn.reply.text or ""):
        yield chunk({"content": part})
    for index, (name, written) in enumerate(turn.reply.written_calls):
        begun = {"id": turn.call_id(index), "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index, **begun}]})
        for part in _fragments(written):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, _finish_reason(turn))
    if (turn.body.get("stream_options") or {}).get("include_usage"):
        yield None, {**_chat_head(turn, "chat.completion.chunk"), "choices": [], "usage": _chat_usage(turn)}
    yield None, "[DONE]"


def _chat_head(turn: Turn, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{turn.number}", "object": kind, "created": 0, "model": turn.body["model"]}


def _finish_reason(turn: Turn) -> str:
    return "tool_calls" if turn.reply.tool_calls else "stop"


def _chat_usage(turn: Turn) -> dict[str, Any]:
    given, written = turn.reply.input_tokens, turn.reply.output_tokens
    return {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}


# OpenAI responses


def _response(turn: Turn) -> dict[str, Any]:
    given, written = turn.reply.input_tokens, turn.reply.output_tokens
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": 0,
        "status": _status(turn),
        "incomplete_details": {"reason": turn.reply.incomplete} if turn.reply.incomplete else None,
        "model": turn.body["model"],
        "output": list(_response_items(turn)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": given,
            "output_tokens": written,
            "total_tokens": given + written,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _response_items(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.reply.text is not None:
        part = {"type": "output_text", "text": turn.reply.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{turn.number}",
            "role": "assistant",
            "status": _status(turn),
            "content": [part],
        }
    for index, (name, written) in enumerate(turn.reply.written_calls):
        yield {
            "type": "function_call",
            "id": f"fc_{turn.number}_{index}",
            "call_id": turn.call_id(index),
            "name": name,
            "arguments": written,
            "status": _status(turn),
        }


def _status(turn: Turn) -> str:
    return "completed" if turn.reply.incomplete is None else "incomplete"


def _response_events(turn: Turn) -> Iterator[Event]:
    bodies = [
        {"type": "response.created", "response": {**_response(turn), "status": "in_progress", "output": []}},
        *(body for index, item in enumerate(_response_items(turn)) for body in _item_events(item, index)),
        {"type": f"response.{_status(turn)}", "response": _response(turn)},
    ]
    for number, body in enumerate(bodies):
        yield body["type"], {**body, "sequence_number": number}


def _item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    is_message = item["type"] == "message"
    begun = {**item, "status": "in_progress", **({"content": []} if is_message else {"arguments": ""})}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if is_message:
        part, place = item["content"][0], {**place, "content_index": 0}
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        for text in _fragments(part["text"]):
            yield {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}
    else:
        kind = "response.function_call_arguments"
        for text in _fragments(item["arguments"]):
            yield {"type": f"{kind}.delta", **place, "delta": text}
        yield {"type": f"{kind}.done", **place, "name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


# Anthropic messages


def _anthropic(turn: Turn) -> dict[str, Any]:
    return {**_anthropic_head(turn), "content": list(_blocks(turn)), **_anthropic_end(turn)}


def _anthropic_head(turn: Turn) -> dict[str, Any]:
    usage = {"input_tokens": turn.reply.input_tokens, "output_tokens": turn.reply.output_tokens}
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": turn.body["model"],
        "usage": usage,
    }


def _anthropic_end(turn: Turn) -> dict[str, Any]:
    return {"stop_reason": "tool_use" if turn.reply.tool_calls else "end_turn", "stop_sequence": None}


def _blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.reply.text is not None:
        yield {"type": "text", "text": turn.reply.text}
    for index, (name, written) in enumerate(turn.reply.written_calls):
        yield {"type": "tool_use", "id": turn.call_id(index), "name": name, "input": json.loads(written)}


def _anthropic_events(turn: Turn) -> Iterator[Event]:
    begun = {**_anthropic_head(turn), "content": [], "stop_reason": None, "stop_sequence": None}
    bodies: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(_blocks(turn)):
        is_text = block["type"] == "text"
        empty = {"text": ""} if is_text else {"input": {}}
        written = block["text"] if is_text else json.dumps(block["input"])
        kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
        place = {"index": index}
        bodies.append({"type": "content_block_start", **place, "content_block": {**block, **empty}})
        bodies.extend(
            {"type": "content_block_delta", **place, "delta": {"type": kind, key: part}}
            for part in _fragments(written)
        )
        bodies.append({"type": "content_block_stop", **place})
    usage = {"output_tokens": turn.reply.output_tokens}
    bodies.append({"type": "message_delta", "delta": _anthropic_end(turn), "usage": usage})
    bodies.append({"type": "message_stop"})
    return ((body["type"], body) for body in bodies)


DIALECTS: dict[str, Dialect] = {
    "/v1/chat/completions": Dialect(_chat, _chat_events),
    "/v1/responses": Dialect(_response, _response_events),
    "/v1/messages": Dialect(_anthropic, _anthropic_events),
}
