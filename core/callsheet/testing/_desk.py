"""The travel desk: what an adapter builds, and how the suite wraps it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import pytest

from callsheet._adapter import BaseAdapter
from callsheet._fake_model import FakeModel
from callsheet._mocks import MockTool
from callsheet.testing._journey import ASKED, BOOKED, FLIGHTS, FORECAST, ITINERARY, SEARCH


class Canary:
    """Counts every real tool body that runs."""

    __module__ = "callsheet.testing"

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.detour: Callable[[Callable[[], Any]], Any] = lambda run: run()

    def hit(self, tool: str) -> None:
        """Note that a real tool ran."""
        self.hits[tool] += 1


class DeskContract(ABC):
    """What an adapter's tests provide, and the pieces the suite shares.

    The desk is an agent named "Desk" with these tools, each of whose real bodies begins with
    `canary.hit(its name)`:

    - `search_flights(origin: str, destination: str)`, sync, answers a list of dicts
    - `book_flight(flight: str, seats: int)`, async where the framework has async tools
    - `get_itinerary(booking: str)`, returns structured data
    - `cancel_booking(booking: str)`, raises in its body; the framework tells its model of the failure
      instead of ending the run
    - `forecast(input: str)`, a sub-agent named "Weather", run the framework's own way, that has a tool
      `get_forecast(city: str)`; the answer is what "Weather" says
    - `plan_trip(city: str)`, whose body is `canary.detour(run)`, where `run` runs "Weather" by the
      framework's own sync call and gives its final text

    Attributes:
        adapter_class: The adapter.
        model_name: The name of the model that "Desk" is configured with.
        allowed: Mocks that let the sub-agent's tool run where the framework does not know it as one.
        event_types: What the framework's own stream gives.
        max_turns_error: What the framework raises when `max_turns_options` stop a run; None when it ends
            the run without raising.
        concurrent_runs: How many runs share one agent at once.
        concurrent_threads: How many threads share one agent at once.
    """

    adapter_class: ClassVar[type[BaseAdapter[Any]]]
    model_name: ClassVar[str] = "desk-model"
    allowed: ClassVar[tuple[MockTool, ...]] = ()
    event_types: ClassVar[tuple[type, ...]] = (object,)
    max_turns_error: ClassVar[type[BaseException] | None] = None
    concurrent_runs: ClassVar[int] = 200
    concurrent_threads: ClassVar[int] = 32

    # What an adapter's tests provide

    @abstractmethod
    def build_desk(self, canary: Canary) -> Any:
        """Build the desk with the framework's own means."""

    @abstractmethod
    def run_native(self, agent: Any, message: str) -> Any:
        """Run an agent by the framework's own sync call, as an application would."""

    @abstractmethod
    async def run_native_async(self, agent: Any, message: str) -> Any:
        """Run an agent by the framework's own async call."""

    @abstractmethod
    def max_turns_options(self, turns: int) -> dict[str, Any]:
        """Give the run options that stop a run after so many model calls."""

    def tool_failure(self, text: str) -> Exception:
        """Give the exception of a failing tool that `cancel_booking` tells its model of."""
        return RuntimeError(text)

    def fingerprint(self, agent: Any) -> object:
        """Give something that differs when the agent or what hangs on it was changed."""
        return _marks(agent, set())

    def user_said(self, messages: list[dict[str, Any]]) -> list[str]:
        """Give what the user said in a request, without the prompt the framework puts around it."""
        return [message["content"] for message in messages if message["role"] == "user"]

    # Shared pieces

    @pytest.fixture
    def canary(self) -> Canary:
        """Give a fresh counter."""
        return Canary()

    @pytest.fixture
    def desk(self, canary: Canary) -> Any:
        """Give a freshly built desk."""
        return self.build_desk(canary)

    def script(self) -> FakeModel:
        """Give the journey: a parallel batch with a sub-agent in it, then two calls, then an answer."""
        return FakeModel(
            agents={
                "Desk": [
                    {"tool_calls": [SEARCH, FORECAST]},
                    {"tool_calls": [{"name": "book_flight", "args": {"flight": "DY1", "seats": 2}}]},
                    {"tool_calls": [{"name": "get_itinerary", "args": {"booking": "B7"}}]},
                    BOOKED,
                ],
                "Weather": [
                    {"tool_calls": [{"name": "get_forecast", "args": {"city": "Rome"}}]},
                    "Sunny in Rome",
                ],
            }
        )

    def mocks(self) -> list[MockTool]:
        """Give a mock for every tool of the journey, the sub-agent itself left to run."""
        return [
            MockTool("search_flights", response=FLIGHTS),
            MockTool("book_flight", response="B7"),
            MockTool("get_itinerary", response=ITINERARY),
            MockTool("get_forecast", response={"sky": "sunny"}),
            *self.allowed,
        ]

    def journey(self, desk: Any, **options: Any) -> BaseAdapter[Any]:
        """Wrap the desk for the journey."""
        return self.adapter_class(desk, **{"tools": self.mocks(), "model": self.script(), **options})

    def one_call(self, desk: Any, call: Any, *mocks: MockTool, **options: Any) -> BaseAdapter[Any]:
        """Wrap the desk for a run that makes one call and then says "done"."""
        model = FakeModel(agents={"Desk": [{"tool_calls": [call]}, "done"]})
        return self.adapter_class(desk, **{"tools": mocks, "model": model, **options})

    def run_by(self, path: str, adapter: BaseAdapter[Any], desk: Any, **options: Any) -> None:
        """Run the desk by one of its ways: async, sync, stream, or its own code in a session."""

        async def stream() -> None:
            async for _ in adapter.stream(ASKED, **options):
                pass

        if path == "async":
            asyncio.run(adapter.invoke(ASKED, **options))
        elif path == "sync":
            adapter.sync_invoke(ASKED, **options)
        elif path == "stream":
            asyncio.run(stream())
        else:
            with adapter.session():
                self.run_native(desk, ASKED)

    def weather_only(self, desk: Any, **options: Any) -> BaseAdapter[Any]:
        """Wrap the desk for a run in which the real `plan_trip` runs "Weather" by itself."""
        model = FakeModel(
            agents={
                "Desk": [{"tool_calls": [{"name": "plan_trip", "args": {"city": "Rome"}}]}, "done"],
                "Weather": [
                    {"tool_calls": [{"name": "get_forecast", "args": {"city": "Rome"}}]},
                    "Sunny in Rome",
                ],
            }
        )
        return self.adapter_class(desk, **{"model": model, **options})


def _marks(value: Any, seen: set[int]) -> object:
    """Tell an object from what it becomes when it, or anything that hangs on it, is changed."""
    if id(value) in seen or isinstance(value, type):
        return id(value)
    seen.add(id(value))
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, (list, tuple)):
        parts = list(enumerate(value))
    else:
        attributes = getattr(value, "__dict__", {}).items()
        parts = [(name, part) for name, part in attributes if not _is_cache(type(value), name)]
    return id(value), [(key, _marks(part, seen)) for key, part in parts]


def _is_cache(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)
