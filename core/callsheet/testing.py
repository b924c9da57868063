"""`AdapterContract`: what every adapter owes, as an abstract pytest suite.

Subclass it in an adapter's tests, build the travel desk with the framework's own means, and run it:

    class TestMyFramework(AdapterContract):
        adapter_class = MyAdapter
        def build_desk(self, canary): ...
        def run_native(self, agent, message): ...
        async def run_native_async(self, agent, message): ...

Real tool bodies are canaries that count. What the suite asserts does not depend on the framework.
"""

from __future__ import annotations

import asyncio
import gc
import queue
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

from callsheet._adapter import BaseAdapter
from callsheet._conversation import Conversation
from callsheet._errors import (
    AmbiguousSessionError,
    MockConfigError,
    ScriptExhaustedError,
    SessionClosedError,
    SessionError,
    UnknownMockError,
    UnmockedToolError,
    UnusedScriptError,
)
from callsheet._fake_model import FakeModel
from callsheet._mocks import MockTool
from callsheet._patching import Patch, PatchSet
from callsheet._result import AgentResult

ASKED = "Two to Rome, please"
BOOKED = "DY1 is booked, and Rome is sunny."
FLIGHTS = [{"flight": "DY1", "price": 90}]
ITINERARY = {"booking": "B7", "legs": ["OSL", "FCO"]}


class Canary:
    """Counts every real tool body that runs."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.detour: Callable[[Callable[[], Any]], Any] = lambda run: run()

    def hit(self, tool: str) -> None:
        """Note that a real tool ran."""
        self.hits[tool] += 1


class AdapterContract(ABC):
    """The executable definition of an adapter.

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
        max_turns_error: What the framework raises when `max_turns_options` stop a run; None when it ends
            the run without raising.
        concurrent_runs: How many runs share one agent at once.
        concurrent_threads: How many threads share one agent at once.
    """

    adapter_class: ClassVar[type[BaseAdapter[Any]]]
    model_name: ClassVar[str] = "desk-model"
    allowed: ClassVar[tuple[MockTool, ...]] = ()
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
        return {name: id(value) for name, value in vars(agent).items()}

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
                    {"tool_calls": [_SEARCH, _FORECAST]},
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

    # Running

    def test_async_run_gives_the_canonical_trajectory(self, desk: Any, canary: Canary) -> None:
        result = asyncio.run(self.journey(desk).invoke(ASKED))
        assert result.trajectory() == TRAJECTORY
        assert result.response == BOOKED
        assert result.metadata["turns"] == 6
        assert not canary.hits

    def test_sync_run_gives_the_same(self, desk: Any, canary: Canary) -> None:
        assert self.journey(desk).sync_invoke(ASKED).trajectory() == TRAJECTORY
        assert not canary.hits

    def test_sync_run_inside_a_running_loop_gives_the_same(self, desk: Any, canary: Canary) -> None:
        async def main() -> AgentResult:
            return self.journey(desk).sync_invoke(ASKED)

        assert asyncio.run(main()).trajectory() == TRAJECTORY
        assert not canary.hits

    def test_streamed_run_gives_the_same(self, desk: Any, canary: Canary) -> None:
        adapter = self.journey(desk)

        async def main() -> list[Any]:
            return [event async for event in adapter.stream(ASKED)]

        assert asyncio.run(main())
        assert adapter.last_result is not None
        assert adapter.last_result.trajectory() == TRAJECTORY
        assert not canary.hits

    def test_session_reaches_foreign_sync_code(self, desk: Any, canary: Canary) -> None:
        with self.journey(desk).session() as session:
            self.run_native(desk, ASKED)
        assert session.result.trajectory() == TRAJECTORY
        assert not canary.hits

    def test_session_reaches_foreign_async_code(self, desk: Any, canary: Canary) -> None:
        async def main() -> AgentResult:
            with self.journey(desk).session() as session:
                await asyncio.create_task(self.run_native_async(desk, ASKED))
            return session.result

        assert asyncio.run(main()).trajectory() == TRAJECTORY
        assert not canary.hits

    def test_session_can_be_read_while_it_is_open(self, desk: Any) -> None:
        with self.journey(desk).session() as session:
            assert session.tool_calls == []
            self.run_native(desk, ASKED)
            assert [call.name for call in session.tool_calls] == CALLED

    def test_repeated_runs_give_equal_traces(self, desk: Any) -> None:
        results = [asyncio.run(self.journey(desk).invoke(ASKED)) for _ in range(5)]
        assert all(result.trace == results[0].trace for result in results)
        assert all(
            [call.id for call in result.tool_calls] == [call.id for call in results[0].tool_calls]
            for result in results
        )

    # Capture

    def test_calls_say_who_asked_when_and_beside_what(self, desk: Any) -> None:
        result = asyncio.run(self.journey(desk).invoke(ASKED))
        search, forecast, inner, book, _ = result.tool_calls
        assert result.tool_names == CALLED
        assert [[call.name for call in batch] for batch in result.batches] == [
            ["search_flights", "forecast"],
            ["get_forecast"],
            ["book_flight"],
            ["get_itinerary"],
        ]
        assert (search.turn, search.index, forecast.index, book.turn) == (0, 0, 1, 1)
        assert inner.parent_id == forecast.id
        assert search.parent_id is None
        assert result.agents == ["Desk", "Weather"]
        assert search.mocked
        assert not forecast.mocked
        assert all(call.duration is not None for call in result.tool_calls)

    def test_structured_answers_stay_structured(self, desk: Any) -> None:
        result = asyncio.run(self.journey(desk).invoke(ASKED))
        call = result.get_tool_call("get_itinerary")
        assert call is not None
        assert call.response == ITINERARY

    def test_model_name_and_headers_are_recorded(self, desk: Any) -> None:
        adapter = self.journey(desk)
        result = asyncio.run(adapter.invoke(ASKED, headers={"X-Tenant": "acme"}, metadata={"case": "rome"}))
        assert result.model_used == self.model_name
        assert result.headers["X-Tenant"] == "acme"
        assert result.metadata["case"] == "rome"
        assert adapter.model is not None
        assert adapter.model.call_log[0]["headers"]["X-Tenant"] == "acme"

    def test_the_model_is_told_what_the_record_says_it_saw(self, desk: Any) -> None:
        adapter = self.one_call(desk, _SEARCH, MockTool("search_flights", response="DY1 for 90"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert adapter.model is not None
        told = [m["content"] for m in adapter.model.call_log[1]["messages"] if m["role"] == "tool"]
        assert told == [result.tool_calls[0].seen_by_model]
        assert "DY1 for 90" in str(told[0])

    def test_the_model_is_offered_the_real_tools(self, desk: Any) -> None:
        adapter = self.journey(desk)
        asyncio.run(adapter.invoke(ASKED))
        assert adapter.model is not None
        offered = {tool["name"]: tool for tool in adapter.model.call_log[0]["tools"]}
        assert {"search_flights", "book_flight", "forecast"} <= set(offered)
        assert "origin" in offered["search_flights"]["parameters"]["properties"]

    # Stand-ins

    def test_spied_tool_runs_and_is_recorded(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, _SEARCH, MockTool.spy("search_flights"))
        call = asyncio.run(adapter.invoke(ASKED)).tool_calls[0]
        assert canary.hits == {"search_flights": 1}
        assert not call.mocked
        assert call.response is not None
        assert call.outcome == "success"

    def test_unmocked_tools_run_where_the_test_says_so(self, desk: Any, canary: Canary) -> None:
        adapter = self.journey(desk, tools=[], unmocked="real")
        result = asyncio.run(adapter.invoke(ASKED))
        assert canary.hits == dict.fromkeys(set(CALLED) - {"forecast"}, 1) | (
            {"forecast": 1} if canary.hits["forecast"] else {}
        )
        assert result.tool_names == CALLED

    def test_async_response_is_awaited(self, desk: Any, canary: Canary) -> None:
        async def answer(args: dict[str, Any]) -> str:
            await asyncio.sleep(0)
            return f"from {args['origin']}"

        adapter = self.one_call(desk, _SEARCH, MockTool("search_flights", response=answer))
        assert asyncio.run(adapter.invoke(ASKED)).tool_calls[0].response == "from Oslo"
        assert (
            self.one_call(desk, _SEARCH, MockTool("search_flights", response=answer))
            .sync_invoke(ASKED)
            .tool_calls[0]
            .response
            == "from Oslo"
        )
        assert not canary.hits

    def test_mock_bound_to_an_agent_answers_only_that_agent(self, desk: Any, canary: Canary) -> None:
        mocks = [mock for mock in self.mocks() if mock.name != "get_forecast"]
        result = asyncio.run(
            self.journey(desk, tools=[*mocks, MockTool("Weather.get_forecast", response="rain")]).invoke(
                ASKED
            )
        )
        call = result.get_tool_call("get_forecast")
        assert call is not None
        assert call.response == "rain"
        with pytest.raises(UnknownMockError, match="Desk.get_forecast"):
            asyncio.run(
                self.journey(desk, tools=[*mocks, MockTool("Desk.get_forecast", response="rain")]).invoke(
                    ASKED
                )
            )
        assert not canary.hits

    def test_mocks_of_one_run_come_before_the_adapters(self, desk: Any) -> None:
        adapter = self.one_call(desk, _SEARCH, MockTool("search_flights", response="all runs"))
        result = asyncio.run(adapter.invoke(ASKED, tools=[MockTool("search_flights", response="this run")]))
        assert result.tool_calls[0].response == "this run"

    def test_mocked_sub_agent_does_not_run(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, _FORECAST, MockTool("forecast", response="rain"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert result.tool_names == ["forecast"]
        assert result.tool_calls[0].response == "rain"
        assert not canary.hits

    def test_failing_mock_is_told_to_the_model_by_the_framework(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(
            desk, _CANCEL, MockTool("cancel_booking", raises=self.tool_failure("too late"))
        )
        result = asyncio.run(adapter.invoke(ASKED))
        call = result.tool_calls[0]
        assert "too late" in str(call.error)
        assert call.outcome == "failed"
        assert "too late" in str(call.seen_by_model)
        assert result.response == "done"
        assert not canary.hits

    def test_error_of_a_mock_is_a_failed_call_the_agent_survives(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, _CANCEL, MockTool("cancel_booking", error="too late"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert result.tool_calls[0].error == "too late"
        assert result.tool_calls[0].outcome == "failed"
        assert result.response == "done"
        assert not canary.hits

    # Bad calls

    def test_arguments_the_real_schema_rejects_never_reach_the_mock(self, desk: Any, canary: Canary) -> None:
        mock = MockTool("book_flight", response="B7")
        call = {"name": "book_flight", "args": {"flight": "DY1", "seats": "many"}}
        adapter = self.one_call(desk, call, mock, strict=False)
        recorded = self.attempted(adapter)
        assert mock.call_count == 0
        assert recorded.outcome == "invalid"
        assert recorded.error
        assert not canary.hits

    def test_malformed_arguments_are_kept_as_written(self, desk: Any, canary: Canary) -> None:
        mock = MockTool("search_flights", response=FLIGHTS)
        adapter = self.one_call(desk, {"name": "search_flights", "args": '{"origin": '}, mock, strict=False)
        recorded = self.attempted(adapter)
        assert recorded.raw_args == '{"origin": '
        assert recorded.outcome == "invalid"
        assert mock.call_count == 0
        assert not canary.hits

    def test_call_of_an_unknown_tool_is_recorded(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, {"name": "serch_flights", "args": {"q": 1}}, strict=False)
        recorded = self.attempted(adapter)
        assert recorded.name == "serch_flights"
        assert recorded.outcome == "unknown"
        assert not canary.hits

    def attempted(self, adapter: BaseAdapter[Any]) -> Any:
        """Run, whether or not the framework ends the run over a bad call, and give the first call."""
        try:
            asyncio.run(adapter.invoke(ASKED))
        except Exception:  # which exception is the framework's business; the record is ours
            assert adapter.last_result is not None
            assert adapter.last_result.error
        assert adapter.last_result is not None
        return adapter.last_result.tool_calls[0]

    # Fail closed

    @pytest.mark.parametrize("path", ["async", "sync", "stream", "session"])
    @pytest.mark.parametrize("tool", ["search_flights", "cancel_booking", "get_forecast"])
    def test_unmocked_tool_is_refused(self, desk: Any, canary: Canary, tool: str, path: str) -> None:
        """A leaf, one whose failures the framework swallows, and a sub-agent's."""
        model = FakeModel(
            agents={
                "Desk": [{"tool_calls": [_UNMOCKED[tool]]}, "done"],
                "Weather": [{"tool_calls": [{"name": "get_forecast", "args": {"city": "Rome"}}]}, "Sunny"],
            }
        )
        adapter = self.adapter_class(desk, tools=self.allowed, model=model)
        with pytest.raises(UnmockedToolError, match=tool):
            self.run_by(path, adapter, desk)
        assert not canary.hits

    def run_by(self, path: str, adapter: BaseAdapter[Any], desk: Any) -> None:
        """Run the desk by one of its ways."""

        async def stream() -> None:
            async for _ in adapter.stream(ASKED):
                pass

        if path == "async":
            asyncio.run(adapter.invoke(ASKED))
        elif path == "sync":
            adapter.sync_invoke(ASKED)
        elif path == "stream":
            asyncio.run(stream())
        else:
            with adapter.session():
                self.run_native(desk, ASKED)

    def test_refusal_reaches_the_test_through_code_that_swallows_it(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, _SEARCH)
        with pytest.raises(UnmockedToolError, match="search_flights"), adapter.session():
            try:
                self.run_native(desk, ASKED)
            except BaseException:  # the application under test does what it should not
                pass
        assert not canary.hits

    def test_refusal_keeps_the_trajectory_up_to_there(self, desk: Any) -> None:
        adapter = self.one_call(desk, _SEARCH)
        with pytest.raises(UnmockedToolError):
            asyncio.run(adapter.invoke(ASKED))
        assert adapter.last_result is not None
        assert adapter.last_result.tool_names == ["search_flights"]
        assert adapter.last_result.tool_calls[0].outcome == "denied"

    def test_mock_of_no_tool_is_refused_with_the_closest_names(self, desk: Any, canary: Canary) -> None:
        adapter = self.adapter_class(
            desk, tools=[MockTool("serch_flights", response=1)], model=FakeModel(["done"])
        )
        with pytest.raises(UnknownMockError, match=r"serch_flights.*search_flights"):
            asyncio.run(adapter.invoke(ASKED))
        assert not canary.hits

    def test_script_of_no_agent_is_refused_with_the_closest_names(self, desk: Any) -> None:
        adapter = self.adapter_class(desk, model=FakeModel(["done"], agents={"Wether": ["x"]}))
        with pytest.raises(UnknownMockError, match=r"Wether.*Weather"):
            asyncio.run(adapter.invoke(ASKED))

    def test_exhausted_script_names_agent_and_call(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": [{"tool_calls": [_SEARCH]}]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)
        with pytest.raises(ScriptExhaustedError, match=r"Desk.*reply 2.*has 1"):
            asyncio.run(adapter.invoke(ASKED))
        assert not canary.hits

    def test_exhausted_script_of_a_sub_agent_reaches_the_test(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": [{"tool_calls": [_FORECAST]}, "done"], "Weather": []})
        adapter = self.adapter_class(desk, tools=self.allowed, model=model)
        with pytest.raises(ScriptExhaustedError, match="Weather"):
            asyncio.run(adapter.invoke(ASKED))
        assert not canary.hits

    def test_steps_left_over_are_an_error_unless_allowed(self, desk: Any) -> None:
        model = FakeModel(agents={"Desk": ["done", "never asked for"]})
        with pytest.raises(UnusedScriptError, match=r"1 of agent 'Desk'"):
            asyncio.run(self.adapter_class(desk, model=model).invoke(ASKED))
        model.reset()
        assert (
            asyncio.run(self.adapter_class(desk, model=model, strict=False).invoke(ASKED)).response == "done"
        )

    def test_provider_failure_reaches_the_test_as_itself(self, desk: Any) -> None:
        adapter = self.adapter_class(desk, model=FakeModel([ConnectionResetError("provider is down")]))
        with pytest.raises(ConnectionResetError, match="provider is down"):
            asyncio.run(adapter.invoke(ASKED))

    def test_stopped_run_keeps_its_trajectory(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(default_response={"tool_calls": [_SEARCH]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)
        run = adapter.invoke(ASKED, **self.max_turns_options(2))
        if self.max_turns_error is None:
            asyncio.run(run)
        else:
            with pytest.raises(self.max_turns_error):
                asyncio.run(run)
        assert adapter.last_result is not None
        assert set(adapter.last_result.tool_names) == {"search_flights"}
        assert not canary.hits

    # Several turns

    def test_conversation_carries_what_was_said(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": ["Where to?", {"tool_calls": [_SEARCH]}, "DY1 for 90"]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)

        async def main() -> Conversation:
            with Conversation(adapter) as talk:
                first = await talk.say("A flight, please")
                assert first.tool_calls == []
                second = await talk.say("From Oslo to Rome")
                assert [entry.content for entry in second.trace if entry.role == "user"] == [
                    "From Oslo to Rome"
                ]
            return talk

        talk = asyncio.run(main())
        said = [message["content"] for message in model.call_log[1]["messages"] if message["role"] == "user"]
        assert said == ["A flight, please", "From Oslo to Rome"]
        assert talk.turn_count == 2
        assert [call.name for call in talk.all_tool_calls] == ["search_flights"]
        assert not canary.hits

    # Many at once

    def test_concurrent_runs_on_one_agent_keep_apart(self, desk: Any, canary: Canary) -> None:
        async def one(number: int) -> None:
            adapter = self.numbered(desk, number)
            result = await adapter.invoke(ASKED)
            assert result.tool_calls[0].response == number
            assert result.response == f"flight {number}"

        async def main() -> None:
            await asyncio.gather(*(one(number) for number in range(self.concurrent_runs)))

        asyncio.run(main())
        assert not canary.hits

    def test_threads_on_one_agent_keep_apart(self, desk: Any, canary: Canary) -> None:
        def one(number: int) -> tuple[Any, str]:
            result = self.numbered(desk, number).sync_invoke(ASKED)
            return result.tool_calls[0].response, result.response

        with ThreadPoolExecutor(self.concurrent_threads) as pool:
            answers = list(pool.map(one, range(self.concurrent_threads)))
        assert answers == [(number, f"flight {number}") for number in range(self.concurrent_threads)]
        assert not canary.hits

    def numbered(self, desk: Any, number: int) -> BaseAdapter[Any]:
        """Wrap the desk with a mock and a script of its own."""
        model = FakeModel(agents={"Desk": [{"tool_calls": [_SEARCH]}, f"flight {number}"]})
        return self.adapter_class(desk, tools=[MockTool("search_flights", response=number)], model=model)

    # Threads and tasks

    @pytest.mark.parametrize("detour", ["thread", "pool", "executor"])
    def test_code_in_threads_of_a_tool_belongs_to_the_session(
        self, desk: Any, canary: Canary, detour: str
    ) -> None:
        canary.detour = DETOURS[detour]
        spy = MockTool.spy("plan_trip")
        adapter = self.weather_only(desk, tools=[spy, MockTool("get_forecast", response="sun")])
        result = asyncio.run(adapter.invoke(ASKED))
        assert result.tool_names == ["plan_trip", "get_forecast"]
        assert result.tool_calls[1].parent_id == result.tool_calls[0].id
        assert result.tool_calls[0].response == "Sunny in Rome"
        assert canary.hits == {"plan_trip": 1}

    @pytest.mark.parametrize("detour", ["thread", "pool", "executor"])
    def test_unmocked_tool_in_threads_of_a_tool_is_refused(
        self, desk: Any, canary: Canary, detour: str
    ) -> None:
        canary.detour = DETOURS[detour]
        adapter = self.weather_only(desk, tools=[MockTool.spy("plan_trip")], strict=False)
        with pytest.raises(UnmockedToolError, match="get_forecast"):
            asyncio.run(adapter.invoke(ASKED))
        assert canary.hits == {"plan_trip": 1}

    def test_thread_older_than_the_session_belongs_to_the_only_one(self, desk: Any, canary: Canary) -> None:
        with old_thread() as run:
            with self.journey(desk).session() as session:
                run(lambda: self.run_native(desk, ASKED))
            assert session.result.trajectory() == TRAJECTORY
        assert not canary.hits

    def test_thread_older_than_several_sessions_is_refused(self, desk: Any, canary: Canary) -> None:
        with old_thread() as run:
            one, two = self.journey(desk).session(), self.journey(desk).session()
            with pytest.raises(AmbiguousSessionError):
                with one, pytest.raises(AmbiguousSessionError):
                    with two:
                        run(lambda: self.run_native(desk, ASKED))
        assert not canary.hits

    def test_thread_left_behind_meets_a_closed_session(self, desk: Any, canary: Canary) -> None:
        closed, done = threading.Event(), threading.Event()
        met: list[BaseException] = []

        def leave_behind(run: Callable[[], Any]) -> str:
            def later() -> None:
                closed.wait(10)
                try:
                    run()
                except BaseException as error:
                    met.append(error)
                done.set()

            threading.Thread(target=later, daemon=True).start()
            return "started"

        canary.detour = leave_behind
        adapter = self.weather_only(
            desk, tools=[MockTool.spy("plan_trip"), MockTool("get_forecast", response="sun")], strict=False
        )
        asyncio.run(adapter.invoke(ASKED))
        closed.set()
        assert done.wait(10)
        assert self.is_refusal(met)
        assert canary.hits == {"plan_trip": 1}

    def is_refusal(self, met: list[BaseException]) -> bool:
        """Say whether what late code met is the closed session, or the framework's abort in its name."""
        return bool(met) and any("closed" in str(error) for error in met)

    def test_task_left_behind_meets_a_closed_session(self, desk: Any, canary: Canary) -> None:
        async def main() -> BaseException | None:
            with self.journey(desk, strict=False).session():
                task = asyncio.create_task(self.run_native_async(desk, ASKED))
            (met,) = await asyncio.gather(task, return_exceptions=True)
            return met if isinstance(met, BaseException) else None

        met = asyncio.run(main())
        assert met is not None
        assert self.is_refusal([met])
        assert not canary.hits

    def test_abandoned_stream_runs_nothing_for_real(self, desk: Any, canary: Canary) -> None:
        async def main() -> None:
            adapter = self.journey(desk, strict=False)
            events = adapter.stream(ASKED)
            async for _ in events:
                break
            del events
            gc.collect()
            for _ in range(50):
                await asyncio.sleep(0)

        asyncio.run(main())
        assert not canary.hits

    def test_stream_closed_early_keeps_what_happened(self, desk: Any, canary: Canary) -> None:
        adapter = self.journey(desk)

        async def main() -> None:
            events = adapter.stream(ASKED)
            await anext(events)
            await events.aclose()

        asyncio.run(main())
        assert adapter.last_result is not None
        assert not canary.hits

    # Leaving no trace

    def test_patches_are_taken_out_exactly(self, desk: Any) -> None:
        targets = self.adapter_class.patches.targets()
        gc.collect()
        before = [vars(owner).get(name) for owner, name in targets]
        asyncio.run(self.journey(desk).invoke(ASKED))
        gc.collect()
        after = [vars(owner).get(name) for owner, name in targets]
        assert all(was is now for was, now in zip(before, after, strict=True))

    def test_half_failed_installation_is_taken_back(self, desk: Any, canary: Canary) -> None:
        whole = self.adapter_class.patches

        def half() -> Iterator[Patch]:
            for patch in list(whole.patches())[:2]:
                yield patch
            raise RuntimeError("the framework is built differently")

        class HalfPatched(self.adapter_class):  # type: ignore[name-defined, misc]
            patches = PatchSet(half)

        gc.collect()
        before = [vars(owner).get(name) for owner, name in whole.targets()]
        adapter = HalfPatched(desk, tools=self.mocks(), model=self.script())
        with pytest.raises(RuntimeError, match="built differently"):
            asyncio.run(adapter.invoke(ASKED))
        after = [vars(owner).get(name) for owner, name in whole.targets()]
        assert all(was is now for was, now in zip(before, after, strict=True))
        assert not canary.hits

    def test_the_agent_is_not_changed(self, desk: Any) -> None:
        before = self.fingerprint(desk)
        asyncio.run(self.journey(desk).invoke(ASKED))
        assert self.fingerprint(desk) == before

    def test_without_a_session_the_real_tools_run(self, desk: Any, canary: Canary) -> None:
        """The suite's canaries can be hit: without a session nothing stands before them."""
        asyncio.run(self.journey(desk).invoke(ASKED))
        gc.collect()
        assert not canary.hits
        asyncio.run(self.journey(desk, tools=[], unmocked="real").invoke(ASKED))
        assert canary.hits["search_flights"] == 1

    # Misuse

    def test_sessions_of_one_adapter_do_not_nest(self, desk: Any) -> None:
        adapter = self.journey(desk, strict=False)
        with adapter.session(), pytest.raises(SessionError, match="already has a session open"):
            adapter.session().open()

    def test_closed_session_can_not_be_used_again(self, desk: Any) -> None:
        session = self.journey(desk, strict=False).session()
        with session:
            pass
        with pytest.raises(SessionError, match="opened once"):
            session.open()
        with pytest.raises(SessionClosedError):
            session.require_open("A call")

    def test_what_is_no_agent_of_the_framework_is_refused(self) -> None:
        with pytest.raises(MockConfigError, match="wraps"):
            self.adapter_class(object())

    def test_options_of_the_wrong_type_are_refused(self, desk: Any) -> None:
        for options in ({"tools": 5}, {"tools": ["search_flights"]}, {"model": 5}, {"unmocked": "maybe"}):
            with pytest.raises(MockConfigError):
                self.adapter_class(desk, **options)


class old_thread:  # noqa: N801 - used as a function
    """Give a function that runs code in a thread started before anything else happened."""

    def __init__(self) -> None:
        self._work: queue.Queue[tuple[Callable[[], Any], queue.Queue[BaseException | None]] | None] = (
            queue.Queue()
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Callable[[Callable[[], Any]], None]:
        return self._run

    def __exit__(self, *raised: object) -> None:
        self._work.put(None)
        self._thread.join(10)

    def _serve(self) -> None:
        while (job := self._work.get()) is not None:
            work, done = job
            try:
                work()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)

    def _run(self, work: Callable[[], Any]) -> None:
        done: queue.Queue[BaseException | None] = queue.Queue()
        self._work.put((work, done))
        error = done.get(timeout=30)
        if error is not None:
            raise error


def _in_a_thread(run: Callable[[], Any]) -> Any:
    answers: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(run())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]


def _in_a_pool(run: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def _in_an_executor(run: Callable[[], Any]) -> Any:
    async def main() -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, run)

    # The tool may itself run inside a loop, so the loop of its own is in a thread.
    return _in_a_thread(lambda: asyncio.run(main()))


DETOURS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "thread": _in_a_thread,
    "pool": _in_a_pool,
    "executor": _in_an_executor,
}

_SEARCH = {"name": "search_flights", "args": {"origin": "Oslo", "destination": "Rome"}}
_FORECAST = {"name": "forecast", "args": {"input": "Rome"}}
_CANCEL = {"name": "cancel_booking", "args": {"booking": "B7"}}
_UNMOCKED = {"search_flights": _SEARCH, "cancel_booking": _CANCEL, "get_forecast": _FORECAST}

CALLED = ["search_flights", "forecast", "get_forecast", "book_flight", "get_itinerary"]


def _step(
    role: str, agent: str | None, content: Any, name: str | None = None, args: Any = None
) -> dict[str, Any]:
    return {"role": role, "name": name, "args": args, "content": content, "agent": agent}


TRAJECTORY = [
    _step("user", None, ASKED),
    _step("tool", "Desk", FLIGHTS, "search_flights", _SEARCH["args"]),
    _step("tool", "Desk", "Sunny in Rome", "forecast", _FORECAST["args"]),
    _step("tool", "Weather", {"sky": "sunny"}, "get_forecast", {"city": "Rome"}),
    _step("assistant", "Weather", "Sunny in Rome"),
    _step("tool", "Desk", "B7", "book_flight", {"flight": "DY1", "seats": 2}),
    _step("tool", "Desk", ITINERARY, "get_itinerary", {"booking": "B7"}),
    _step("assistant", "Desk", BOOKED),
]
