"""What the test did not allow does not run, and fails the test."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

from callsheet._errors import ScriptExhaustedError, UnknownMockError, UnmockedToolError, UnusedScriptError
from callsheet._fake_model import FakeModel
from callsheet._mocks import MockTool
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._journey import ASKED, FLIGHTS, FORECAST, SEARCH, UNMOCKED


class FailClosedContract(DeskContract):
    """What the test did not allow does not run, and fails the test."""

    @pytest.mark.parametrize("path", ["async", "sync", "stream", "session"])
    @pytest.mark.parametrize("tool", ["search_flights", "cancel_booking", "get_forecast"])
    def test_unmocked_tool_is_refused(self, desk: Any, canary: Canary, tool: str, path: str) -> None:
        """A leaf, one whose failures the framework swallows, and a sub-agent's."""
        model = FakeModel(
            agents={
                "Desk": [{"tool_calls": [UNMOCKED[tool]]}, "done"],
                "Weather": [{"tool_calls": [{"name": "get_forecast", "args": {"city": "Rome"}}]}, "Sunny"],
            }
        )
        adapter = self.adapter_class(desk, tools=self.allowed, model=model)
        with pytest.raises(UnmockedToolError, match=tool):
            self.run_by(path, adapter, desk)
        assert not canary.hits

    def test_refusal_reaches_the_test_through_code_that_swallows_it(self, desk: Any, canary: Canary) -> None:
        adapter = self.one_call(desk, SEARCH)
        with pytest.raises(UnmockedToolError, match="search_flights"), adapter.session():
            try:
                self.run_native(desk, ASKED)
            except BaseException:  # the application under test does what it should not
                pass
        assert not canary.hits

    def test_refusal_keeps_the_trajectory_up_to_there(self, desk: Any) -> None:
        adapter = self.one_call(desk, SEARCH)
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
        adapter = self.adapter_class(desk, model=FakeModel(["done"], agents={"Weathr": ["x"]}))
        with pytest.raises(UnknownMockError, match=r"Weathr.*Weather"):
            asyncio.run(adapter.invoke(ASKED))

    def test_exhausted_script_names_agent_and_call(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": [{"tool_calls": [SEARCH]}]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)
        with pytest.raises(ScriptExhaustedError, match=r"Desk.*reply 2.*has 1"):
            asyncio.run(adapter.invoke(ASKED))
        assert not canary.hits

    def test_exhausted_script_of_a_sub_agent_reaches_the_test(self, desk: Any, canary: Canary) -> None:
        model = FakeModel(agents={"Desk": [{"tool_calls": [FORECAST]}, "done"], "Weather": []})
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
        assert adapter.last_result is not None
        assert "provider is down" in str(adapter.last_result.error)
        assert adapter.last_result.trajectory()[-1]["role"] == "error"

    def test_answer_of_a_sub_agent_is_not_the_answer_of_a_run_that_failed(self, desk: Any) -> None:
        model = FakeModel(
            agents={
                "Desk": [{"tool_calls": [FORECAST]}, ConnectionResetError("provider is down")],
                "Weather": ["Sunny in Rome"],
            }
        )
        adapter = self.adapter_class(desk, tools=self.allowed, model=model)
        with pytest.raises(ConnectionResetError, match="provider is down"):
            asyncio.run(adapter.invoke(ASKED))
        assert adapter.last_result is not None
        assert adapter.last_result.response == ""
        assert adapter.last_result.native is None

    @pytest.mark.parametrize("path", ["async", "sync", "stream"])
    def test_stopped_run_keeps_its_trajectory(self, desk: Any, canary: Canary, path: str) -> None:
        model = FakeModel(default_response={"tool_calls": [SEARCH]})
        adapter = self.adapter_class(desk, tools=[MockTool("search_flights", response=FLIGHTS)], model=model)
        stops = nullcontext() if self.max_turns_error is None else pytest.raises(self.max_turns_error)
        with stops:
            self.run_by(path, adapter, desk, **self.max_turns_options(2))
        assert adapter.last_result is not None
        assert adapter.last_result.tool_names == ["search_flights"] * 2
        assert (adapter.last_result.error is None) is (self.max_turns_error is None)
        assert not canary.hits
