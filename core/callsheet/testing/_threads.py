"""Threads, tasks and streams can not leave the session behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from callsheet._errors import AmbiguousSessionError, UnmockedToolError
from callsheet._mocks import MockTool
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._detours import DETOURS, old_thread
from callsheet.testing._journey import ASKED, TRAJECTORY


class ThreadsContract(DeskContract):
    """Threads, tasks and streams can not leave the session behind."""

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
            refused = pytest.raises(AmbiguousSessionError)
            with pytest.raises(AmbiguousSessionError), one, refused, two:
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

    @pytest.mark.parametrize("options", [{}, {"model": None, "offline": True}], ids=["scripted", "own model"])
    def test_task_left_behind_meets_a_closed_session(
        self, desk: Any, canary: Canary, options: dict[str, Any]
    ) -> None:

        async def main() -> BaseException | None:
            with self.journey(desk, strict=False, **options).session():
                task = asyncio.create_task(self.run_native_async(desk, ASKED))
            await asyncio.wait([task])
            return task.exception()

        met = asyncio.run(main())
        assert met is not None
        assert self.is_refusal([met])
        assert not canary.hits

    def test_abandoned_stream_runs_nothing_for_real(self, desk: Any, canary: Canary) -> None:
        async def main() -> None:
            adapter = self.journey(desk, strict=False)
            events = adapter.stream(ASKED)
            await anext(events)
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
