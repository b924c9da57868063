"""What a mock raises, as LangChain would have raised it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.tools import ToolException
from langgraph import errors
from pydantic_core import PydanticCustomError, ValidationError

from callsheet.adapters import InvalidArgumentsError, ToolError, ToolRequest, ToolTimedOutError

# LangGraph has timeouts of single nodes, and an error of their own for them, since 1.2.
_NodeTimeoutError: Any = getattr(errors, "NodeTimeoutError", None)


class TimedOut(BaseException):
    """Carries a virtual timeout past the error handling of tools: the node is given up, not the tool."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@contextmanager
def as_framework_error(request: ToolRequest) -> Iterator[None]:
    """Raise a mock's own errors as the ones the framework handles.

    Args:
        request: The call the mock answers.
    """
    try:
        yield
    except InvalidArgumentsError as error:
        raise _validation_error(request, str(error)) from error
    except ToolTimedOutError as error:
        raise TimedOut(error.timeout) from error
    except ToolError as error:
        # What a tool raises that knows it failed: `handle_tool_error` of the tool applies to it.
        raise ToolException(str(error)) from error


def _validation_error(request: ToolRequest, problem: str) -> ValidationError:
    detail = PydanticCustomError("invalid_arguments", "{problem}", {"problem": problem})
    return ValidationError.from_exception_data(
        # Without a place the tool node would take the error for one of an injected argument, and say nothing.
        request.name,
        [{"type": detail, "loc": ("arguments",), "input": request.args}],
    )


def timeout_error(node: str, seconds: float) -> Exception:
    """Give what LangGraph raises for a node that takes longer than it may."""
    if _NodeTimeoutError is None:
        return TimeoutError("Timed out")
    raised: Exception = _NodeTimeoutError(node, seconds, kind="run", run_timeout=seconds)
    return raised
