"""Mocks and spies answer as the framework would have it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from callsheet._errors import UnknownMockError
from callsheet._mocks import MockTool
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._journey import ASKED, CALLED, CANCEL, FORECAST, SEARCH


class StandInsContract(DeskContract):
    """Mocks and spies answer as the framework would have it."""

    def test_spied_tool_runs_and_is_recorded(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, SEARCH, MockTool.spy("search_flights"))
        call = asyncio.run(adapter.invoke(ASKED)).tool_calls[0]
        assert canary.hits == {"search_flights": 1}
        assert not call.mocked
        assert call.response is not None
        assert call.outcome == "success"

    def test_failure_of_a_spied_tool_is_recorded_as_the_tool_raised_it(
        self, desk: Any, canary: Canary
    ) -> None:
        adapter = self.one_call(desk, CANCEL, MockTool.spy("cancel_booking"))
        result = asyncio.run(adapter.invoke(ASKED))
        call = result.tool_calls[0]
        assert canary.hits["cancel_booking"] == 1
        assert call.outcome == "failed"
        assert "real failure for B7" in str(call.error)
        assert "real failure for B7" in str(call.seen_by_model)
        assert result.response == "done"

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

        adapter = self.one_call(desk, SEARCH, MockTool("search_flights", response=answer))
        assert asyncio.run(adapter.invoke(ASKED)).tool_calls[0].response == "from Oslo"
        assert (
            self.one_call(desk, SEARCH, MockTool("search_flights", response=answer))
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
        with pytest.raises(UnknownMockError, match=r"Desk\.get_forecast"):
            asyncio.run(
                self.journey(desk, tools=[*mocks, MockTool("Desk.get_forecast", response="rain")]).invoke(
                    ASKED
                )
            )
        assert not canary.hits

    def test_mocks_of_one_run_come_before_the_adapters(self, desk: Any) -> None:
        adapter = self.one_call(desk, SEARCH, MockTool("search_flights", response="all runs"))
        result = asyncio.run(adapter.invoke(ASKED, tools=[MockTool("search_flights", response="this run")]))
        assert result.tool_calls[0].response == "this run"

    def test_plain_mock_of_one_run_comes_before_the_adapters_bound_one(self, desk: Any) -> None:
        adapter = self.one_call(desk, SEARCH, MockTool("Desk.search_flights", response="all runs"))
        result = asyncio.run(adapter.invoke(ASKED, tools=[MockTool("search_flights", response="this run")]))
        assert result.tool_calls[0].response == "this run"

    def test_mocked_sub_agent_does_not_run(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, FORECAST, MockTool("forecast", response="rain"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert result.tool_names == ["forecast"]
        assert result.tool_calls[0].response == "rain"
        assert not canary.hits

    def test_failing_mock_is_told_to_the_model_by_the_framework(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(
            desk, CANCEL, MockTool("cancel_booking", raises=self.tool_failure("too late"))
        )
        result = asyncio.run(adapter.invoke(ASKED))
        call = result.tool_calls[0]
        assert "too late" in str(call.error)
        assert call.outcome == "failed"
        assert "too late" in str(call.seen_by_model)
        assert result.response == "done"
        assert not canary.hits

    def test_error_of_a_mock_is_a_failed_call_the_agent_survives(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, CANCEL, MockTool("cancel_booking", error="too late"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert result.tool_calls[0].error == "too late"
        assert result.tool_calls[0].outcome == "failed"
        assert result.response == "done"
        assert not canary.hits
