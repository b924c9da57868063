"""Every way to run an agent tells the same story."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from callsheet._adapter import BaseAdapter
from callsheet._conversation import Conversation
from callsheet._fake_model import FakeModel
from callsheet._mocks import MockTool
from callsheet._result import AgentResult
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._journey import ASKED, BOOKED, CALLED, FLIGHTS, SEARCH, TRAJECTORY


class RunningContract(DeskContract):
    """Every way to run an agent tells the same story."""

    def test_async_run_gives_the_canonical_trajectory(self, desk: Any, canary: Canary) -> None:
        result = asyncio.run(self.journey(desk).invoke(ASKED))
        assert result.trajectory() == TRAJECTORY
        assert result.response == BOOKED
        assert result.output is not None
        assert result.native is not None
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

        events = asyncio.run(main())
        assert events
        assert all(isinstance(event, self.event_types) for event in events)
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

    def test_conversation_carries_what_was_said(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": ["Where to?", {"tool_calls": [SEARCH]}, "DY1 for 90"]})
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
        assert self.user_said(model.call_log[1]["messages"]) == ["A flight, please", "From Oslo to Rome"]
        assert talk.turn_count == 2
        assert [call.name for call in talk.all_tool_calls] == ["search_flights"]
        assert not canary.hits

    def test_calls_of_two_turns_have_ids_of_their_own(self, desk: Any, canary: Canary) -> None:
        """A framework may take the second of two equal ids for answered."""
        model = FakeModel(agents={"Desk": [{"tool_calls": [SEARCH]}, "DY1", {"tool_calls": [SEARCH]}, "DY2"]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)
        with Conversation(adapter) as talk:
            for message in ("A flight, please", "Another"):
                talk.say_sync(message)
        first, second = talk.all_tool_calls
        assert first.id != second.id
        assert first.response == second.response == FLIGHTS
        assert not canary.hits

    @pytest.mark.parametrize("path", ["async", "sync", "stream"])
    def test_history_comes_before_the_message(self, desk: Any, path: str) -> None:
        model = FakeModel(agents={"Desk": ["done"]})
        said = [
            {"role": "user", "content": "A flight, please"},
            {"role": "assistant", "content": "Where to?"},
        ]
        self.run_by(path, self.adapter_class(desk, model=model), desk, history=said)
        assert self.user_said(model.call_log[0]["messages"]) == ["A flight, please", ASKED]

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
        model = FakeModel(agents={"Desk": [{"tool_calls": [SEARCH]}, f"flight {number}"]})
        return self.adapter_class(desk, tools=[MockTool("search_flights", response=number)], model=model)
