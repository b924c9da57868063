"""Scripted replies as LangChain messages, whole and in chunks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from callsheet.adapters import ModelReply
from callsheet_langgraph._structured import as_tool, plain

# A chunk is a word with the white space after it, so that the chunks joined are the text.
_WORDS = re.compile(r"\S+\s*|\s+")


def ai_message(reply: ModelReply, options: Mapping[str, Any], tools: frozenset[str], model: str) -> AIMessage:
    """Give the message a model would have written for this reply.

    Args:
        reply: The reply.
        options: The keyword arguments of the model call, which say how a structured answer is wanted.
        tools: The names of the graph's tools.
        model: The model's name.
    """
    for native in reply.native:
        if isinstance(native, AIMessage):
            return native.model_copy()
    calls = [
        tool_call(name=call.name, args=call.args, id=call.id)
        for call in reply.tool_calls
        if call.args is not None
    ]
    refused = [
        invalid_tool_call(
            name=call.name, args=call.raw, id=call.id, error="The arguments are not a JSON object."
        )
        for call in reply.tool_calls
        if call.args is None
    ]
    text = reply.content or reply.refusal or ""
    extra: dict[str, Any] = {} if reply.refusal is None else {"refusal": reply.refusal}
    if reply.output is not None:
        taker = as_tool(reply.output, options, tools)
        if taker is not None:
            calls.append(tool_call(name=taker, args=plain(reply.output), id=f"call_output_{taker}"))
        else:
            text = json.dumps(plain(reply.output))
            # Where ChatOpenAI puts what its client parsed, and reads it again.
            extra["parsed"] = reply.output
    finish = reply.finish_reason or ("tool_calls" if calls or refused else "stop")
    used = reply.usage
    return AIMessage(
        content=_content(text, reply),
        tool_calls=calls,
        invalid_tool_calls=refused,
        additional_kwargs=extra,
        response_metadata={"finish_reason": finish, "model_name": model},
        usage_metadata=None
        if used is None
        else {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "total_tokens": used.total_tokens,
        },
    )


def chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Give a message as a model streams it: word by word, each call's arguments in two parts."""
    if isinstance(message.content, str):
        for word in _WORDS.findall(message.content):
            yield _chunk(AIMessageChunk(content=word))
    else:
        for index, block in enumerate(message.content):
            placed = {**block, "index": index} if isinstance(block, dict) else block
            yield _chunk(AIMessageChunk(content=[placed]))
    asked = [(call["name"], call["id"], json.dumps(call["args"])) for call in message.tool_calls]
    asked += [(call["name"] or "", call["id"], call["args"] or "") for call in message.invalid_tool_calls]
    for index, (name, call_id, written) in enumerate(asked):
        half = len(written) // 2
        first = tool_call_chunk(name=name, id=call_id, args=written[:half], index=index)
        second = tool_call_chunk(name=None, id=None, args=written[half:], index=index)
        yield _chunk(AIMessageChunk(content="", tool_call_chunks=[first]))
        yield _chunk(AIMessageChunk(content="", tool_call_chunks=[second]))
    yield _chunk(
        AIMessageChunk(
            content="",
            usage_metadata=message.usage_metadata,
            response_metadata=message.response_metadata,
            additional_kwargs=message.additional_kwargs,
            chunk_position="last",
        )
    )


def _content(text: str, reply: ModelReply) -> Any:
    if reply.thinking is None:
        return text
    thought = {"type": "reasoning", "reasoning": reply.thinking}
    return [thought, {"type": "text", "text": text}] if text else [thought]


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)
