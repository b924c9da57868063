"""What of CrewAI is replaced while a session is alive, and whether CrewAI is one we know."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextvars import Context
from functools import cache, wraps
from importlib import import_module
from typing import Any

from callsheet.adapters import Patch, PatchSet, SupportedFramework, any_session_open
from callsheet_crewai._cache import private_add, private_read
from callsheet_crewai._functions import FunctionSlot
from callsheet_crewai._mcp import mocked_tools, started_server
from callsheet_crewai._memory import empty, forgetful
from callsheet_crewai._models import (
    answered_acall,
    answered_call,
    answered_instructor,
    counted_offline,
    given_abilities,
    judged_functions,
    no_client,
    with_headers,
)
from callsheet_crewai._native_calls import executed_call, executed_step_call
from callsheet_crewai._outcomes import judged_output
from callsheet_crewai._people import asked_by_flow, asked_person, asked_person_async
from callsheet_crewai._places import aplaced, placed, placed_method
from callsheet_crewai._runs import (
    adelegated_run,
    afinishing,
    akickoff_run,
    atask_run,
    delegated_run,
    finishing,
    kickoff_run,
    task_run,
)
from callsheet_crewai._silence import locks_in_storage, unasked
from callsheet_crewai._text_calls import aused, parsed_call, used
from callsheet_crewai._tools import answered, answered_ainvoke, answered_invoke, claimed_in_session

FRAMEWORK = SupportedFramework("callsheet-crewai", {"crewai": "1.15.3"})

Replace = Callable[[Any], Any]


def _outside_sessions(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace what starts the event bus's own thread, which outlives the session it is first needed in."""

    @wraps(original)
    def _ensure_executor_initialized(self: Any) -> Any:
        return Context().run(original, self)

    return _ensure_executor_initialized


# Module, class or None for the module itself, attribute, replacement.
_FIXED: tuple[tuple[str, str | None, str, Replace], ...] = (
    ("tools.base_tool", "BaseTool", "_claim_usage", claimed_in_session),
    ("tools.tool_usage", "ToolUsage", "parse_tool_calling", parsed_call),
    ("tools.tool_usage", "ToolUsage", "use", used),
    ("tools.tool_usage", "ToolUsage", "ause", aused),
    ("agents.cache.cache_handler", "CacheHandler", "add", private_add),
    ("agents.cache.cache_handler", "CacheHandler", "read", private_read),
    ("agents.step_executor", None, "execute_single_native_tool_call", executed_step_call),
    ("utilities.internal_instructor", "InternalInstructor", "_create_instructor_client", no_client),
    ("utilities.internal_instructor", "InternalInstructor", "to_pydantic", answered_instructor),
    ("llms.base_llm", "BaseLLM", "_handle_tool_execution", judged_functions),
    ("events.event_bus", "CrewAIEventsBus", "_ensure_executor_initialized", _outside_sessions),
    ("task", "Task", "_execute_core", task_run),
    ("task", "Task", "_aexecute_core", atask_run),
    ("agent.core", "Agent", "execute_task", delegated_run),
    ("agent.core", "Agent", "aexecute_task", adelegated_run),
    ("agent.core", "Agent", "kickoff", kickoff_run),
    ("agent.core", "Agent", "kickoff_async", akickoff_run),
    ("agent.core", "Agent", "get_mcp_tools", mocked_tools),
    ("agent.core", "Agent", "get_platform_tools", mocked_tools),
    ("lite_agent", "LiteAgent", "kickoff", kickoff_run),
    ("core.providers.human_input", "SyncHumanInputProvider", "_prompt_input", asked_person),
    ("core.providers.human_input", "SyncHumanInputProvider", "_prompt_input_async", asked_person_async),
    ("flow.runtime", "Flow", "_request_human_feedback", asked_by_flow),
    ("flow.async_feedback.providers", "ConsoleProvider", "request_feedback", asked_by_flow),
    ("flow.async_feedback.providers", "ConsoleProvider", "request_input", asked_by_flow),
    ("task", None, "process_guardrail", judged_output),
    ("agent.core", None, "process_guardrail", judged_output),
    ("lite_agent", None, "process_guardrail", judged_output),
    ("task", "Task", "execute_async", placed),
    ("crew", "Crew", "kickoff_async", aplaced),
    ("flow.runtime", "Flow", "_execute_method", placed_method),
    (
        "events.listeners.tracing.first_time_trace_handler",
        "FirstTimeTraceHandler",
        "handle_execution_completion",
        unasked,
    ),
    ("crew", "Crew", "kickoff", finishing),
    ("crew", "Crew", "replay", finishing),
    ("crew", "Crew", "akickoff", afinishing),
    ("flow.runtime", "Flow", "kickoff_async", afinishing),
    ("memory.unified_memory", "Memory", "recall", empty([])),
    ("memory.unified_memory", "Memory", "remember", forgetful),
    ("memory.unified_memory", "Memory", "remember_many", empty([])),
    ("memory.unified_memory", "Memory", "extract_memories", empty([])),
    ("knowledge.knowledge", "Knowledge", "query", empty([])),
    ("knowledge.knowledge", "Knowledge", "aquery", empty([])),
    ("knowledge.knowledge", "Knowledge", "add_sources", empty(None)),
    ("knowledge.knowledge", "Knowledge", "aadd_sources", empty(None)),
)

# Where the agent loop lives differs between versions; each has one or two of these.
_EXECUTORS = (
    ("agents.agent_executor", "AgentExecutor"),
    ("experimental.agent_executor", "AgentExecutor"),
    ("agents.crew_agent_executor", "CrewAgentExecutor"),
)

_TOOL_METHODS: dict[str, Replace] = dict.fromkeys(("run", "arun", "_run", "_arun"), answered)
_STRUCTURED_METHODS: dict[str, Replace] = {"invoke": answered_invoke, "ainvoke": answered_ainvoke}
_MODEL_METHODS: dict[str, Replace] = {
    "call": answered_call,
    "acall": answered_acall,
    "_prepare_completion_params": with_headers,
    "_prepare_responses_params": with_headers,
    "get_input_tokens_count": counted_offline,
    "supports_function_calling": given_abilities,
}


def patches() -> Iterator[Patch]:
    """Give every replacement.

    Raises:
        UnsupportedFrameworkError: The installed CrewAI is older than the floor, or built differently.
    """
    FRAMEWORK.check_versions()
    for path, owner, name, replace in _FIXED:
        yield _patch(_found(path, owner), name, replace)
    yield from _executor_patches()
    for module, tool in (("tools.base_tool", "Tool"), ("tools.structured_tool", "CrewStructuredTool")):
        # A pydantic field is no class attribute, so nothing is there to be looked for.
        yield Patch(_found(module, tool), "func", lambda _: FunctionSlot())
    for module in (_core("printer"), _found("events.utils.console_formatter", None)):
        yield _patch(module, "should_suppress_console_output", _silent)
    yield Patch(_core("lock_store"), "tempfile", locks_in_storage)
    for base, methods in _bases():
        yield Patch(base, "__init_subclass__", _watching(base, methods))


def class_patches() -> Iterator[Patch]:
    """Give every replacement in a class of tools or models, the application's own among them."""
    yield from _server_patches()
    for base, methods in _bases():
        for cls in _with_subclasses(base):
            yield from _class_patches(cls, methods)


@cache
def _bases() -> tuple[tuple[Any, dict[str, Replace]], ...]:
    return (
        (_found("tools.base_tool", "BaseTool"), _TOOL_METHODS),
        (_found("tools.structured_tool", "CrewStructuredTool"), _STRUCTURED_METHODS),
        (_found("llms.base_llm", "BaseLLM"), _MODEL_METHODS),
    )


def _server_patches() -> Iterator[Patch]:
    """Give the one of crewai-tools, where that is imported."""
    module = sys.modules.get("crewai_tools.adapters.mcp_adapter")
    if module is not None and hasattr(module, "MCPServerAdapter"):
        yield _patch(module.MCPServerAdapter, "start", started_server)


def _executor_patches() -> Iterator[Patch]:
    found = 0
    for path, name in _EXECUTORS:
        try:
            executor = getattr(import_module(f"crewai.{path}"), name)
        except (AttributeError, ImportError):
            continue
        if "_execute_single_native_tool_call" in vars(executor):
            found += 1
            yield Patch(executor, "_execute_single_native_tool_call", executed_call)
    if not found:
        raise FRAMEWORK.unsupported("it has no executor with _execute_single_native_tool_call")


def _class_patches(cls: Any, methods: dict[str, Replace]) -> Iterator[Patch]:
    for name, replace in methods.items():
        method = vars(cls).get(name)
        if callable(method) and not getattr(method, "__isabstractmethod__", False):
            yield Patch(cls, name, replace)


def _watching(base: Any, methods: dict[str, Replace]) -> Replace:
    """Replace `__init_subclass__`: CrewAI loads a provider's LLM class when the first agent asks for it."""

    def replace(saved: Any) -> Any:
        def watching(cls: Any, /, **kwargs: Any) -> None:
            if saved is not None:
                saved.__get__(None, cls)(**kwargs)
            else:
                super(base, cls).__init_subclass__(**kwargs)
            for patch in _class_patches(cls, methods):
                PATCHES.add(patch)
            if cls.__module__.startswith("crewai_tools."):
                # Imported inside the session, it has its servers before its tools.
                for patch in _server_patches():
                    PATCHES.add(patch)

        return classmethod(watching)

    return replace


def _silent(original: Callable[[], bool]) -> Callable[[], bool]:
    """Replace `should_suppress_console_output`: panels are printed even by agents that are not verbose."""

    @wraps(original)
    def should_suppress_console_output() -> bool:
        return any_session_open() or original()

    return should_suppress_console_output


def _with_subclasses(base: Any) -> list[Any]:
    found: dict[Any, None] = {}
    waiting = [base]
    while waiting:
        cls = waiting.pop()
        if cls not in found:
            found[cls] = None
            waiting.extend(cls.__subclasses__())
    return list(found)


def _core(name: str) -> Any:
    try:
        return import_module(f"crewai_core.{name}")
    except ImportError as error:
        raise FRAMEWORK.unsupported(str(error)) from error


def _found(path: str, name: str | None) -> Any:
    try:
        module = import_module(f"crewai.{path}")
    except ImportError as error:
        raise FRAMEWORK.unsupported(str(error)) from error
    if name is None:
        return module
    if not hasattr(module, name):
        raise FRAMEWORK.unsupported(f"crewai.{path} has no {name}")
    return getattr(module, name)


def _patch(owner: Any, name: str, replace: Replace) -> Patch:
    if not callable(vars(owner).get(name)):
        raise FRAMEWORK.unsupported(f"{getattr(owner, '__qualname__', owner.__name__)}.{name} is not there")
    return Patch(owner, name, replace)


PATCHES = PatchSet(patches, classes=class_patches)
