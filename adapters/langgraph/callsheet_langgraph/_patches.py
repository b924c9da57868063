"""What of LangChain and LangGraph is replaced while a session is alive, and whether they are ones we know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langgraph.pregel import Pregel, _loop, _runner
from langgraph.pregel.remote import RemoteGraph
from langsmith import utils as langsmith

from callsheet.adapters import Patch, PatchSet, SupportedFramework, active_scope
from callsheet_langgraph import (
    _model_overrides,
    _models,
    _overrides,
    _remote,
    _retries,
    _runs,
    _shell,
    _tasks,
    _tools,
)
from callsheet_langgraph._direct_calls import FunctionSlot
from callsheet_langgraph._isolation import CacheSlot, SaverSlot
from callsheet_langgraph._subclasses import watching

FRAMEWORK = SupportedFramework("callsheet-langgraph", {"langgraph": "1.0.0", "langchain-core": "1.0.0"})


def patches() -> Iterator[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed framework is older than the floor, or built differently.
    """
    FRAMEWORK.check_versions()
    yield _patch(BaseTool, "run", _tools.answered_run)
    yield _patch(BaseTool, "arun", _tools.answered_arun)
    yield Patch(BaseTool, "__init_subclass__", watching(BaseTool, _overrides.patches_of, PATCHES.add))
    watch_models = watching(BaseChatModel, _model_overrides.patches_of, PATCHES.add)
    yield Patch(BaseChatModel, "__init_subclass__", watch_models)
    for tool_class in (StructuredTool, Tool):
        for name in ("func", "coroutine"):
            yield Patch(tool_class, name, partial(_slot, name))
    yield _patch(BaseChatModel, "_generate_with_cache", _models.answered_generate)
    yield _patch(BaseChatModel, "_agenerate_with_cache", _models.answered_agenerate)
    yield _patch(BaseChatModel, "stream", _models.answered_stream)
    yield _patch(BaseChatModel, "astream", _models.answered_astream)
    # Streams of content blocks came with langchain-core 1.1 or later.
    if "_iter_v2_events" in vars(BaseChatModel):
        yield _patch(BaseChatModel, "_iter_v2_events", _models.answered_events)
        yield _patch(BaseChatModel, "_aiter_v2_events", _models.answered_aevents)
    yield _patch(Pregel, "invoke", _runs.recorded_invoke)
    yield _patch(Pregel, "ainvoke", _runs.recorded_ainvoke)
    yield _patch(Pregel, "stream", _runs.recorded_stream)
    yield _patch(Pregel, "astream", _runs.recorded_astream)
    yield Patch(Pregel, "batch", _runs.recorded_batch)
    yield Patch(Pregel, "abatch", _runs.recorded_abatch)
    yield Patch(Pregel, "checkpointer", SaverSlot)
    yield Patch(Pregel, "cache", CacheSlot)
    yield _patch(_loop.PregelLoop, "_suppress_interrupt", _runs.recorded_exit)
    yield _patch(_runner, "run_with_retry", _tasks.placed_task)
    yield _patch(_runner, "arun_with_retry", _tasks.placed_async_task)
    yield _patch(ContextThreadPoolExecutor, "map", _tasks.placed_map)
    yield from _retries.patches()
    for name, replacement in _remote.REPLACEMENTS.items():
        yield _patch(RemoteGraph, name, replacement)
    yield _patch(langsmith, "tracing_is_enabled", _untraced)


def class_patches() -> Iterator[Patch]:
    """Give every replacement in the application's tool and model classes, and in what is loaded late."""
    yield from _overrides.patches()
    yield from _model_overrides.patches()
    yield from _retries.middleware_patches()
    yield from _shell.patches()


def _slot(name: str, _: Any) -> FunctionSlot:
    return FunctionSlot(name)


def _untraced(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace LangSmith's switch: nothing a test does is sent there."""

    @wraps(original)
    def tracing_is_enabled(*args: Any, **kwargs: Any) -> Any:
        return False if active_scope() is not None else original(*args, **kwargs)

    return tracing_is_enabled


def _patch(owner: Any, name: str, replace: Callable[[Any], Any]) -> Patch:
    if not callable(vars(owner).get(name)):
        raise FRAMEWORK.unsupported(f"{getattr(owner, '__qualname__', owner.__name__)}.{name} is not there")
    return Patch(owner, name, replace)


PATCHES = PatchSet(patches, classes=class_patches)
