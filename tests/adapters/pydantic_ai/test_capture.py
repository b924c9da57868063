"""What is recorded of each call: outcome, arguments, what the model was told, parentage, batch."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool, UnexpectedModelBehavior
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ToolReturn

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, agent, hits, refund, with_nested

REFUND = {"name": "refund", "args": {"order": "A1"}}


def run(clerk: Any, *steps: Any, **options: Any) -> Any:
    given = PydanticAIAdapter(clerk, **{"model": FakeModel(list(steps)), "strict": False, **options})
    try:
        given.sync_invoke("Refund A1")
    except UnexpectedModelBehavior:
        assert given.last_result is not None
        assert given.last_result.error
    assert given.last_result is not None
    return given.last_result


def one_call(clerk: Any, *mocks: MockTool, call: Any = REFUND, **options: Any) -> Any:
    return run(clerk, {"tool_calls": [call]}, "done", tools=mocks, **options).tool_calls[0]


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def test_success_tells_what_the_model_was_told() -> None:
    call = one_call(agent(tools=[refund]), MockTool("refund", response={"ok": [1, 2]}))
    assert (call.outcome, call.attempts, call.error) == ("success", 1, None)
    assert call.response == {"ok": [1, 2]}
    assert call.seen_by_model == '{"ok":[1,2]}'


def test_error_of_a_mock_is_told_as_a_retry() -> None:
    call = one_call(agent(tools=[refund]), MockTool("refund", error="closed on Sundays"))
    assert (call.outcome, call.error) == ("failed", "closed on Sundays")
    assert "closed on Sundays" in call.seen_by_model
    assert call.metadata.get("retry_cause", "model_retry") == "model_retry"


def test_errors_use_up_the_retries_as_the_tools_own_would() -> None:
    given = PydanticAIAdapter(
        agent(tools=[refund], retries=1),
        tools=[MockTool("refund", error="closed")],
        model=FakeModel(default_response={"tool_calls": [REFUND]}),
    )
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries"):
        given.sync_invoke("x")
    assert [call.outcome for call in given.last_result.tool_calls] == ["failed", "failed"]


def test_exception_of_a_mock_ends_the_run_as_the_tools_own_would() -> None:
    given = PydanticAIAdapter(
        agent(tools=[refund]),
        tools=[MockTool("refund", raises=ConnectionError("no route"))],
        model=FakeModel([{"tool_calls": [REFUND]}]),
    )
    with pytest.raises(ConnectionError, match="no route"):
        given.sync_invoke("x")
    assert given.last_result.tool_calls[0].error == "no route"
    assert given.last_result.error == "ConnectionError: no route"


def test_arguments_a_mocks_own_schema_rejects_are_a_retry() -> None:
    mock = MockTool("refund", parameters={"order": {"type": "string", "minLength": 5}}, response="ok")
    call = one_call(agent(tools=[refund]), mock)
    assert call.outcome == "invalid"
    assert "Invalid arguments" in call.seen_by_model
    assert call.raw_args == '{"order": "A1"}'
    assert mock.call_count == 0


@pytest.mark.parametrize("own", [Tool(refund, timeout=2), Tool(refund)], ids=["tool", "toolset"])
def test_delay_beyond_the_timeout_is_the_frameworks_own_timeout(own: Tool) -> None:
    from pydantic_ai.toolsets import FunctionToolset

    clerk = agent(toolsets=[FunctionToolset([own], timeout=2)])
    call = one_call(clerk, MockTool("refund", response="late", delay=3))
    assert call.outcome == "failed"
    assert "Timed out after 2 seconds." in call.seen_by_model
    in_time = one_call(clerk, MockTool("refund", response="in time", delay=1.5))
    assert (in_time.outcome, in_time.response) == ("success", "in time")
    assert in_time.duration >= 1.5


def test_retry_of_a_tool_that_runs_tells_its_cause() -> None:
    def moody(order: str) -> str:
        raise ModelRetry("ask nicely")

    call = one_call(agent(tools=[Tool(moody, name="refund")]), MockTool.spy("refund"))
    assert call.outcome == "failed"
    assert call.metadata.get("retry_cause", "model_retry") == "model_retry"
    assert "ask nicely" in call.seen_by_model


def test_args_validator_runs_and_its_retry_keeps_the_mock_out() -> None:
    def careful(ctx: RunContext[Any], order: str) -> None:
        raise ModelRetry("no such order")

    mock = MockTool("refund", response="ok")
    call = one_call(agent(tools=[Tool(refund, args_validator=careful)]), mock)
    assert call.outcome == "retried"
    assert "no such order" in call.seen_by_model
    assert mock.call_count == 0


def test_unknown_tool_is_recorded() -> None:
    call = one_call(agent(tools=[refund]), call={"name": "refnud", "args": {"order": "A1"}})
    assert (call.name, call.outcome, call.args) == ("refnud", "unknown", {"order": "A1"})
    assert "refund" in call.seen_by_model


def test_call_skipped_for_a_final_answer_is_skipped() -> None:
    class Ticket(BaseModel):
        order: str

    clerk = agent(tools=[refund], output_type=Ticket, end_strategy="early")
    final = {"name": "final_result", "args": {"order": "A1"}}
    mock = MockTool("refund", response="ok")
    result = run(clerk, {"tool_calls": [final, REFUND]}, tools=[mock])
    assert (result.tool_calls[0].outcome, mock.call_count) == ("skipped", 0)
    assert "not executed" in result.tool_calls[0].seen_by_model


def test_validated_arguments_are_recorded_beside_those_written() -> None:
    def book(day: date, seats: int) -> str:
        raise AssertionError

    call = one_call(
        agent(tools=[book]),
        MockTool("book", response="ok", when={"day": "2026-05-01", "seats": 2}),
        call={"name": "book", "args": {"day": "2026-05-01", "seats": "2"}},
    )
    assert call.args == {"day": "2026-05-01", "seats": 2}
    assert call.metadata["written_args"] == {"day": "2026-05-01", "seats": "2"}


def test_arguments_a_hook_changed_are_those_the_tool_was_given() -> None:
    class Renumbering(AbstractCapability[Any]):
        async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            return {"order": "B2"}

    call = one_call(agent(tools=[refund], capabilities=[Renumbering()]), MockTool("refund", response="ok"))
    assert call.args == {"order": "B2"}
    assert call.metadata["written_args"] == {"order": "A1"}


def test_hook_that_answers_in_the_tools_place_is_recorded_as_no_mock() -> None:
    class Caching(AbstractCapability[Any]):
        async def wrap_tool_execute(
            self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
        ) -> Any:
            return "cached"

    mock = MockTool("refund", response="ok")
    call = one_call(agent(tools=[refund], capabilities=[Caching()]), mock)
    assert (call.outcome, call.response, call.mocked, mock.call_count) == ("success", "cached", False, 0)


def test_rich_return_is_recorded_by_its_value() -> None:
    def rich(order: str) -> Any:
        return ToolReturn(return_value={"id": order}, content="Look here", metadata={"secret": 1})

    call = one_call(agent(tools=[Tool(rich, name="refund")]), MockTool.spy("refund"))
    assert call.response == {"id": "A1"}
    mocked = one_call(
        agent(tools=[refund]),
        MockTool("refund", response=lambda args: ToolReturn(return_value="plain", content="extra")),
    )
    assert mocked.response == "plain"


def test_calls_of_one_reply_are_a_batch_in_the_order_written() -> None:
    calls = [{"name": "refund", "args": {"order": order}} for order in "CAB"]
    result = run(
        agent(tools=[refund]),
        {"tool_calls": calls},
        "done",
        tools=[MockTool("refund", response=lambda args: args["order"])],
    )
    assert [call.response for call in result.tool_calls] == ["C", "A", "B"]
    assert len(result.batches) == 1


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_parallel_and_sequential_execution_give_equal_traces(mode: Any) -> None:
    clerk = agent(tools=[refund])
    calls = [{"name": "refund", "args": {"order": order}} for order in "AB"]

    async def slow(args: dict[str, Any]) -> str:
        for _ in range(5 if args["order"] == "A" else 1):
            await asyncio.sleep(0)
        return str(args["order"])

    with clerk.parallel_tool_call_execution_mode(mode):
        result = run(clerk, {"tool_calls": calls}, "done", tools=[MockTool("refund", response=slow)])
    assert [call.response for call in result.tool_calls] == ["A", "B"]


def test_unmocked_call_beside_a_mocked_one_is_refused_and_both_are_recorded() -> None:
    def other(order: str) -> str:
        hits["other"] += 1
        return "REAL"

    given = PydanticAIAdapter(
        agent(tools=[refund, other]),
        tools=[MockTool("refund", response="ok")],
        model=FakeModel([{"tool_calls": [REFUND, {"name": "other", "args": {"order": "A1"}}]}]),
    )
    with pytest.raises(UnmockedToolError, match="other"):
        given.sync_invoke("x")
    assert given.last_result.tool_names == ["refund", "other"]
    assert given.last_result.tool_calls[1].outcome == "denied"
    assert not hits


def test_agents_two_deep_with_one_inferred_name_are_filed_under_their_calls() -> None:
    outer = with_nested(2)
    delegate = {"tool_calls": [{"name": "delegate", "args": {"order": "A1"}}]}
    model = FakeModel([delegate, delegate, {"tool_calls": [REFUND]}, "inner", "middle", "outer"])
    given = PydanticAIAdapter(
        outer, tools=[MockTool.spy("delegate"), MockTool("refund", response="ok")], model=model
    )
    result = given.sync_invoke("Refund A1")
    first, second, leaf = result.tool_calls
    assert [call.name for call in (first, second, leaf)] == ["delegate", "delegate", "refund"]
    assert (first.parent_id, second.parent_id, leaf.parent_id) == (None, first.id, second.id)
    assert (first.run, second.run, leaf.run) == (0, 1, 2)
    assert (first.response, result.response) == ("middle", "outer")
    assert result.native.output == "outer"


def test_ids_a_model_repeats_keep_calls_apart() -> None:
    from pydantic_ai.models.test import TestModel

    clerk = agent(tools=[refund])
    orders = iter("AB")
    given = PydanticAIAdapter(
        clerk, tools=[MockTool("refund", response=lambda args: next(orders))], model=TestModel()
    )

    async def main() -> None:
        await asyncio.gather(clerk.run("x"), clerk.run("y"))

    with given.session() as session:
        asyncio.run(main())
    assert [call.response for call in session.tool_calls] == ["A", "B"]
    assert len({call.id for call in session.tool_calls}) == 2
    assert [call.run for call in session.tool_calls] == [0, 1]


class Deps:
    password = "hunter2"

    def __repr__(self) -> str:
        return "Deps(hunter2)"


def test_deps_are_in_no_record() -> None:
    def peek(ctx: RunContext[Deps], order: str) -> str:
        return "ok"

    given = PydanticAIAdapter(
        Agent(deps_type=Deps, tools=[Tool(peek, name="refund")]),
        tools=[MockTool.spy("refund")],
        model=FakeModel([{"tool_calls": [REFUND]}, "done"]),
    )
    result = given.sync_invoke("x", deps=Deps())
    assert "hunter2" not in json.dumps({**result.to_dict(), "native": None}, default=repr)


def test_every_path_gives_the_same_trajectory() -> None:
    seen = []
    for path in PATHS:
        clerk = agent(tools=[refund])
        given = PydanticAIAdapter(
            clerk,
            tools=[MockTool("refund", response="ok")],
            model=FakeModel([{"tool_calls": [REFUND]}, "done"]),
        )
        with given.session() as session:
            PATHS[path](clerk)
        steps = session.result.trajectory()
        # Version 2.0 leaves the run of run_stream_sync open, so that its last reply is never over.
        seen.append(steps if steps[-1]["content"] == "done" else [*steps, seen[0][-1]])
    assert all(steps == seen[0] for steps in seen)
    assert [step["role"] for step in seen[0]] == ["user", "tool", "assistant"]


class SkippingBefore(AbstractCapability[Any]):
    async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        raise SkipToolExecution("from the hook")


class SkippingAround(AbstractCapability[Any]):
    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        raise SkipToolExecution("from the hook")


@pytest.mark.parametrize("hook", [SkippingBefore, SkippingAround])
def test_hook_that_skips_the_tool_is_recorded_as_its_answer(hook: Any) -> None:
    mock = MockTool("refund", response="ok")
    call = one_call(agent(tools=[refund], capabilities=[hook()]), mock)
    assert (call.outcome, call.response) == ("success", "from the hook")
    assert (call.mocked, mock.call_count) == (False, 0)
    assert not hits
