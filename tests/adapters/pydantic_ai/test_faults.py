"""Faults of a mock reach the model as those of the real tool would, whatever kind of tool it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, Tool, UnexpectedModelBehavior
from pydantic_ai.toolsets import ApprovalRequiredToolset, CombinedToolset, FunctionToolset

from callsheet import FakeModel, MockTool
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import KINDS, PATHS, Kind, OwnInit, agent, hits, refund, refund_async

# A call that waits for an approval waits again after a retry: test_deferred has those.
RETRYING = [name for name, kind in KINDS.items() if not kind.waits and not kind.depth]


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def call(kind: Kind) -> dict[str, Any]:
    return {"tool_calls": [{"name": kind.tool, "args": kind.args}]}


@pytest.mark.parametrize("path", ["run", "run_sync", "run_stream_events"])
@pytest.mark.parametrize("name", RETRYING)
def test_retry_a_mock_asks_for_is_told_and_the_next_call_answered(name: str, path: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    mock = MockTool(kind.tool, responses=[ModelRetry("ask nicely"), "refunded"])
    steps = [call(kind), call(kind), *([] if kind.final else ["done"])]
    with PydanticAIAdapter(clerk, tools=[mock], model=FakeModel(steps)).session() as session:
        output = PATHS[path](clerk, **kind.run_options())
    assert output == ("refunded" if kind.final else "done")
    first, second = [entry.tool_call for entry in session.trace if entry.tool_call is not None]
    assert (first.outcome, first.error, first.mocked) == ("failed", "ask nicely", True)
    assert "ask nicely" in str(first.seen_by_model)
    assert (second.outcome, second.response) == ("success", "refunded")
    assert hits.total() == 0


@pytest.mark.parametrize("name", RETRYING)
def test_exception_of_a_mock_ends_the_run(name: str) -> None:
    kind = KINDS[name]
    clerk = kind.build()
    mock = MockTool(kind.tool, raises=ConnectionError("no route"))
    given = PydanticAIAdapter(clerk, tools=[mock], model=FakeModel([call(kind)]))
    with pytest.raises(ConnectionError, match="no route"), given.session() as session:
        PATHS["run"](clerk, **kind.run_options())
    assert [entry.content for entry in session.trace if entry.role == "error"] == [
        "ConnectionError: no route"
    ]
    assert hits.total() == 0


def timed() -> FunctionToolset[Any]:
    return FunctionToolset([Tool(refund_async, name="refund")], timeout=2)


def dynamic() -> Agent[Any, Any]:
    clerk = agent()
    clerk.toolset(lambda _: timed().prefixed("shop"))
    return clerk


TIMED: dict[str, tuple[Callable[[], Agent[Any, Any]], str]] = {
    "tool": (lambda: agent(tools=[Tool(refund, timeout=2)]), "refund"),
    "tool before toolset": (
        lambda: agent(toolsets=[FunctionToolset([Tool(refund, timeout=2)], timeout=60)]),
        "refund",
    ),
    "agent": (lambda: Agent(name="Clerk", tools=[refund], tool_timeout=2), "refund"),
    "toolset": (lambda: agent(toolsets=[timed()]), "refund"),
    "prefixed": (lambda: agent(toolsets=[timed().prefixed("shop")]), "shop_refund"),
    "renamed": (lambda: agent(toolsets=[timed().renamed({"pay": "refund"})]), "pay"),
    "filtered": (lambda: agent(toolsets=[timed().filtered(lambda ctx, tool: True)]), "refund"),
    "combined": (
        lambda: agent(toolsets=[CombinedToolset([timed().prefixed("a")]).prefixed("b")]),
        "b_a_refund",
    ),
    "wrapped": (lambda: agent(toolsets=[OwnInit(timed())]), "refund"),
    "dynamic": (dynamic, "shop_refund"),
    "approved": (
        lambda: agent(
            toolsets=[ApprovalRequiredToolset(timed(), approval_required_func=lambda *about: False)]
        ),
        "refund",
    ),
}


@pytest.mark.parametrize("how", TIMED)
def test_delay_beyond_the_timeout_is_told_as_the_frameworks_own(how: str) -> None:
    build, tool = TIMED[how]
    asked = {"tool_calls": [{"name": tool, "args": {"order": "A1"}}]}

    def told(delay: float) -> Any:
        mock = MockTool(tool, response="refunded", delay=delay)
        given = PydanticAIAdapter(build(), tools=[mock], model=FakeModel([asked, "done"]))
        return given.sync_invoke("x").tool_calls[0]

    late, in_time = told(2.5), told(1.5)
    assert (late.outcome, late.mocked) == ("failed", True)
    assert "Timed out after 2 seconds." in late.seen_by_model
    assert (in_time.outcome, in_time.response) == ("success", "refunded")
    assert hits.total() == 0


def test_timeouts_use_up_the_retries() -> None:
    asked = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}
    mock = MockTool("refund", response="refunded", delay=60)
    given = PydanticAIAdapter(
        agent(tools=[Tool(refund, timeout=2, max_retries=1)]),
        tools=[mock],
        model=FakeModel(default_response=asked),
    )
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries"):
        given.sync_invoke("x")
    assert mock.call_count == 2
    assert hits.total() == 0
