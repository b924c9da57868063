"""Finding the installed adapters, and saying how to install the one that is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from callsheet._errors import AdapterNotInstalledError, MockConfigError
from callsheet._suggest import listed

GROUP = "callsheet.adapters"


class KnownAdapter(NamedTuple):
    """An adapter of ours, installed or not."""

    package: str
    extra: str
    roots: tuple[str, ...]


KNOWN = {
    "OpenAIAgentsAdapter": KnownAdapter("callsheet_openai_agents", "openai-agents", ("agents",)),
    "LangGraphAdapter": KnownAdapter(
        "callsheet_langgraph", "langgraph", ("langgraph", "langchain", "langchain_core")
    ),
    "PydanticAIAdapter": KnownAdapter("callsheet_pydantic_ai", "pydantic-ai", ("pydantic_ai",)),
    "CrewAIAdapter": KnownAdapter("callsheet_crewai", "crewai", ("crewai",)),
}


def load_known(name: str) -> Any:
    """Give one of our adapter classes by its name.

    Raises:
        AdapterNotInstalledError: With the command that installs it.
    """
    known = KNOWN[name]
    try:
        return getattr(import_module(known.package), name)
    except ModuleNotFoundError as error:
        # Its package is there but something it needs is not: that is for its own error to say.
        if error.name is not None and error.name.partition(".")[0] not in (known.package, *known.roots):
            raise
        raise AdapterNotInstalledError(
            f'{name} is not installed. Run: pip install "callsheet[{known.extra}]"'
        ) from error


def adapter_names() -> tuple[str, ...]:
    """Give the names under which installed adapters registered themselves."""
    return tuple(sorted(point.name for point in _entry_points()))


def wrap(agent: Any, **options: Any) -> Any:
    """Wrap an agent with the adapter of its framework.

    Args:
        agent: An agent of any framework whose adapter is installed.
        **options: The adapter's own: tools, model, unmocked, offline, strict.

    Raises:
        AdapterNotInstalledError: It is an agent of a framework whose adapter is not installed.
        MockConfigError: No installed adapter knows the object.
    """
    roots = {base.__module__.partition(".")[0] for base in type(agent).__mro__}
    natives = []
    for name, known in KNOWN.items():
        if roots.intersection(known.roots):
            natives.append(load_known(name))
            if natives[-1].handles(agent):
                return natives[-1](agent, **options)
    for point in _entry_points():
        adapter = point.load()
        if adapter.handles(agent):
            return adapter(agent, **options)
    raise MockConfigError(
        f"No adapter wraps {type(agent).__module__}.{type(agent).__qualname__}. "
        f"Installed adapters: {listed(adapter_names())}. {_way_out(agent, natives)}"
    )


def _way_out(agent: object, natives: list[Any]) -> str:
    """Say what could be given instead of an object that no adapter wraps."""
    if natives:
        return " ".join(f"{adapter.__name__} wraps {adapter.agent_description}." for adapter in natives)
    if isinstance(agent, type):
        return f"{agent.__name__} is a class. Give the agent object itself."
    if callable(agent):
        # Not done by itself: the object may be an agent of a framework whose tools no adapter would see.
        return "Give the agent object itself, or CallableAdapter(it) for a function fn(message, tools)."
    return "Give the agent object itself."


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
