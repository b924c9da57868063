"""What happened is recorded as it happened."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from callsheet._adapter import BaseAdapter
from callsheet._mocks import MockTool
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._journey import ASKED, CALLED, FLIGHTS, ITINERARY, ITINERARY_CALL, SEARCH


class CaptureContract(DeskContract):
    """What happened is recorded as it happened."""

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
        assert forecast.kind == ("function" if self.allowed else "agent")
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
        assert all(asked["headers"]["X-Tenant"] == "acme" for asked in adapter.model.call_log)

    def test_requests_say_who_asks_and_at_which_turn(self, desk: Any) -> None:
        adapter = self.journey(desk)
        asyncio.run(adapter.invoke(ASKED))
        assert adapter.model is not None
        asked = [(request["agent"], request["turn"]) for request in adapter.model.call_log]
        assert sorted(asked) == [*(("Desk", turn) for turn in range(4)), ("Weather", 0), ("Weather", 1)]

    def test_the_model_is_told_what_the_record_says_it_saw(self, desk: Any) -> None:
        adapter = self.one_call(desk, SEARCH, MockTool("search_flights", response="DY1 for 90"))
        result = asyncio.run(adapter.invoke(ASKED))
        assert adapter.model is not None
        told = [m["content"] for m in adapter.model.call_log[1]["messages"] if m["role"] == "tool"]
        assert told == [result.tool_calls[0].seen_by_model]
        assert "DY1 for 90" in str(told[0])

    @pytest.mark.parametrize("call", [SEARCH, ITINERARY_CALL], ids=lambda call: call["name"])
    def test_the_model_is_told_of_a_mock_as_of_the_real_tool(self, desk: Any, call: Any) -> None:
        real = asyncio.run(self.one_call(desk, call, MockTool.spy(call["name"])).invoke(ASKED)).tool_calls[0]
        mock = MockTool(call["name"], response=real.response)
        mocked = asyncio.run(self.one_call(desk, call, mock).invoke(ASKED)).tool_calls[0]
        assert mocked.seen_by_model == real.seen_by_model
        assert mocked.response == real.response

    def test_the_model_is_offered_the_real_tools(self, desk: Any) -> None:
        adapter = self.journey(desk)
        asyncio.run(adapter.invoke(ASKED))
        assert adapter.model is not None
        offered = {tool["name"]: tool for tool in adapter.model.call_log[0]["tools"]}
        assert {"search_flights", "book_flight", "forecast"} <= set(offered)
        assert "origin" in offered["search_flights"]["parameters"]["properties"]

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
