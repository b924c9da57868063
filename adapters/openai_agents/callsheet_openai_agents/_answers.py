"""Mocks' answers in the shape of what the real tool returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints
from weakref import WeakKeyDictionary

from agents import FunctionTool
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json

from callsheet.adapters import MockAnswerError
from callsheet_openai_agents._decorated import closed_over

# The types of one content item of a tool's output.
_CONTENT = ("text", "image", "file")

_adapters: WeakKeyDictionary[Any, TypeAdapter[Any] | None] = WeakKeyDictionary()


def answer_shape(tool: FunctionTool, own: Any, *, is_mcp: bool) -> Callable[[Any], Any]:
    """Give what turns a mock's answer into what the tool would return.

    Args:
        tool: The tool.
        own: Its own invoker.
        is_mcp: Whether the tool is an MCP server's.
    """
    if is_mcp:
        return lambda answer: mcp_output(
            answer, structured=own._invoke_tool_impl.args[0].use_structured_content
        )
    return lambda answer: _typed(tool, own, answer)


def mcp_output(answer: Any, *, structured: bool = False) -> Any:
    """Give an answer as the SDK gives an MCP server's: one content item, or a list of them.

    Args:
        answer: A text, JSON values, content items, or an MCP `CallToolResult`.
        structured: Whether the server's structured content is what the agent sees.
    """
    if answer is None:
        return []
    content = getattr(answer, "content", answer)
    if structured and isinstance(answer, Mapping) and not _is_content(answer):
        return to_json(answer).decode()
    if not isinstance(content, (list, tuple)) or not all(map(_is_content, content)):
        return _content_item(content)
    items = [_content_item(item) for item in content]
    return items[0] if len(items) == 1 else items


def _is_content(item: Any) -> bool:
    return _field(item, "type") in _CONTENT


def _content_item(item: Any) -> dict[str, Any]:
    kind = _field(item, "type")
    if kind == "image" and _field(item, "data") is not None:
        mime = _field(item, "mimeType") or _field(item, "mime_type")
        return {"type": "image", "image_url": f"data:{mime};base64,{_field(item, 'data')}"}
    if kind == "text" and not isinstance(item, Mapping):
        return {"type": "text", "text": item.text}
    if kind in _CONTENT and isinstance(item, Mapping):
        return dict(item)
    return {"type": "text", "text": item if isinstance(item, str) else to_json(item, fallback=str).decode()}


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _typed(tool: FunctionTool, own: Any, answer: Any) -> Any:
    if not isinstance(answer, (Mapping, list, tuple)):
        return answer
    adapter = _adapters.get(own)
    if adapter is None and own not in _adapters:
        adapter = _adapters[own] = _adapter(own)
    if adapter is None:
        return answer
    try:
        return adapter.validate_python(answer)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the answer'}: {fault['msg']}" for fault in error.errors()
        )
        raise MockAnswerError(
            f"The mock of tool {tool.name!r} answers what the tool can not return, {error.title}: {told}. "
            f"Answer with these fields, or with a {error.title} itself."
        ) from error


def _adapter(own: Any) -> TypeAdapter[Any] | None:
    function = closed_over(own, "the_func")
    if function is None:
        return None
    called = function if inspect.isroutine(function) else type(function).__call__
    annotation = get_type_hints(called, include_extras=True).get("return", Any)
    return TypeAdapter(annotation) if any(map(_is_model, _parts(annotation))) else None


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation))
