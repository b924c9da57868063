"""Output functions: code the model calls to end a run, which no tool hook sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import ValidationError, to_jsonable_python

from callsheet.adapters import ToolRequest, parse_arguments
from callsheet_pydantic_ai._active_run import ActiveRun
from callsheet_pydantic_ai._answers import answered
from callsheet_pydantic_ai._messages import raw_arguments


async def answered_output(
    active: ActiveRun, ctx: Any, context: Any, output: Any, handler: Callable[[Any], Awaitable[Any]]
) -> Any:
    """Process an output, asking the session where that runs an output function."""
    if not context.has_function:
        return await handler(output)
    request = _request(active, context, output)
    active.session.note_tools(active.record.agent, (request.name, *request.aliases))
    if ctx.partial_output:
        # A function of a stream is called for every part of the output; the session answers it once, whole.
        raise ValidationError.from_exception_data("partial output", [])
    return await answered(active, request, lambda: handler(output))


def _request(active: ActiveRun, context: Any, output: Any) -> ToolRequest:
    call = context.tool_call
    # Versions before it was told, and unions answered in one text, leave the function without a name.
    function = getattr(context, "function_name", None)
    name = call.tool_name if call is not None else function or "output_function"
    return ToolRequest(
        name=name,
        args=_arguments(call, output),
        call_id=active.id_for_running(call.tool_call_id) if call is not None else None,
        agent=active.record.agent,
        run=active.record,
        kind="output",
        aliases=(function,) if function is not None and function != name else (),
    )


def _arguments(call: Any, output: Any) -> dict[str, Any]:
    written = parse_arguments(raw_arguments(call)) if call is not None else None
    if written is not None:
        return written
    value = to_jsonable_python(output, fallback=repr)
    return value if isinstance(value, dict) else {"text": value}
