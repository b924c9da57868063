"""Asking the session to answer a call, and telling the framework how it went."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.messages import ToolReturn
from pydantic_core import to_jsonable_python

from callsheet.adapters import InvalidArgumentsError, ToolError, ToolRequest, ToolTimedOutError
from callsheet_pydantic_ai._active_run import ActiveRun

_JSON_TYPES = frozenset({str, int, bool, type(None)})

# Tools of the framework itself: they find other tools and capabilities and run no code of anyone's.
_FRAMEWORK_KINDS = ("tool-search", "capability-load")


def tool_request(
    active: ActiveRun, name: str, args: Mapping[str, Any], call_id: str | None, definition: Any, **known: Any
) -> ToolRequest:
    """Describe a call to the session.

    Args:
        active: The run.
        name: The tool's name as the model knows it.
        args: The validated arguments.
        call_id: The framework's id of the call.
        definition: The tool's definition.
        **known: Further arguments of `ToolRequest`.
    """
    plain = _plain(args)
    filed = active.find_call(call_id)
    if filed is not None and filed.name != name:
        # A tool that runs others, in the name of the call that the model made.
        call_id = filed = None
    return ToolRequest(
        name=name,
        args=plain,
        call_id=active.id_for_running(call_id) if call_id is not None else None,
        agent=active.record.agent,
        run=active.record,
        runs_unmocked=definition.tool_kind in _FRAMEWORK_KINDS,
        metadata=_as_written(filed, plain),
        **known,
    )


async def answered(active: ActiveRun, request: ToolRequest, real: Callable[[], Awaitable[Any]]) -> Any:
    """Let the session answer, in the framework's own terms."""
    try:
        answer = await active.session.answer_tool_async(request, real)
    except InvalidArgumentsError as error:
        raise ModelRetry(f"Invalid arguments for tool {request.name!r}: {error}") from error
    except ToolTimedOutError as error:
        # The text of FunctionToolset.
        raise ModelRetry(f"Timed out after {request.timeout} seconds.") from error
    except ToolError as error:
        raise ModelRetry(str(error)) from error
    if isinstance(answer, ToolReturn):
        record = active.session.recording.find_call(request.call_id)
        if record is not None:
            record.response = answer.return_value
    return answer


def _plain(args: Mapping[str, Any]) -> dict[str, Any]:
    """Give validated arguments as JSON values, which most of them are."""
    if all(type(value) in _JSON_TYPES for value in args.values()):
        return dict(args)
    plain: dict[str, Any] = to_jsonable_python(args, fallback=repr)
    return plain


def _as_written(filed: Any, args: Any) -> dict[str, Any]:
    """Keep the arguments the model wrote where validation or a hook made others of them."""
    if filed is None or filed.attempts or filed.args is None or filed.args == args:
        return {}
    return {"written_args": filed.args}
