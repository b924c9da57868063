"""What is told of a run, and in which order."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from crewai import Crew
from crewai.flow.flow import Flow, and_, listen, start
from pydantic import BaseModel

from callsheet import AgentResult, FakeModel, MockTool, ScriptError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.paths import Script
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls, run


@BOTH
def test_tasks_are_runs_in_their_order(native):
    model = FakeModel(agents={"Researcher": [SEARCH, "Found"], "Writer": ["Written"]})
    result = run(
        crews.crew(native=native), model, MockTool("search", response="MOCK"), message={"topic": "rust"}
    )
    told = [(step["role"], step["agent"], step["content"]) for step in result.trajectory()]
    assert told == [
        ("user", None, "Research rust"),
        ("tool", "Researcher", "MOCK"),
        ("assistant", "Researcher", "Found"),
        ("user", None, "Write about rust"),
        ("assistant", "Writer", "Written"),
    ]
    assert result.response == result.output == result.native.raw == "Written"


@BOTH
def test_tasks_beside_each_other_are_told_in_the_crews_order(native):
    script = {name: [SEARCH, name] for name in ("First", "Second", "Last")}
    traces = [
        run(
            crews.parallel_tasks(native=native), FakeModel(agents=script), MockTool("search", response=1)
        ).trace
        for _ in range(3)
    ]
    assert traces[0] == traces[1] == traces[2]
    assert [entry.agent for entry in traces[0] if entry.role == "tool"] == ["First", "Second", "Last"]


def test_usage_is_counted_and_told_to_crewai():
    model = FakeModel([{"content": "done", "usage": {"input_tokens": 7, "output_tokens": 3}}])
    result = run(crews.agent(), model, message="go")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (7, 3)
    assert result.native.usage_metrics["total_tokens"] == 10


def test_parallel_calls_of_one_reply_are_one_batch():
    model = FakeModel([{"tool_calls": [{"name": "search", "args": {"q": q}} for q in "abc"]}, "done"])
    result = run(crews.agent(), model, MockTool("search", response=lambda args: args["q"]), message="go")
    assert [[call.response for call in batch] for batch in result.batches] == [["a", "b", "c"]]


def test_several_calls_in_one_text_reply_are_a_script_error():
    model = FakeModel([{"tool_calls": [{"name": "search", "args": {"q": q}} for q in "ab"]}, "done"])
    with pytest.raises(ScriptError, match="one at a time"):
        run(crews.agent(native=False), model, MockTool("search", response=1), message="go")


def jitter(args):
    time.sleep(random.random() / 50)
    return "MOCK"


def side_by_side(native):
    crew = crews.crew(native=native)
    asyncio.run(crew.kickoff_for_each_async(inputs=[{"topic": topic} for topic in "abc"]))


class Branches(Flow):
    """Two crews beside each other, then one for both."""

    @start()
    def left(self):
        return crews.crew().kickoff(inputs={"topic": "left"}).raw

    @start()
    def right(self):
        return crews.crew().kickoff(inputs={"topic": "right"}).raw

    @listen(and_(left, right))
    def join(self):
        return crews.crew().kickoff(inputs={"topic": "both"}).raw


def grid_of_tasks(native):
    asyncio.run(crews.parallel_tasks(native=native).akickoff())


@BOTH
@pytest.mark.parametrize(
    "go",
    [side_by_side, lambda native: Branches().kickoff(), grid_of_tasks],
    ids=["for each", "branches of a flow", "tasks"],
)
def test_what_runs_side_by_side_is_told_in_the_order_it_was_started_in(go, native):
    def told():
        mock, model = MockTool("search", response=jitter), Script().model
        with CrewAIAdapter(crews.crew, tools=[mock], model=model).session() as session:
            go(native)
        return session.trace

    first, *others = [told() for _ in range(4)]
    assert all(other == first for other in others)
    asked = [entry.content for entry in first if entry.role == "user"]
    assert asked in (
        [f"{verb} {topic}" for topic in "abc" for verb in ("Research", "Write about")],
        [f"{verb} {topic}" for topic in ("left", "right", "both") for verb in ("Research", "Write about")],
        ["Research rust", "Research rust", "Sum up"],
    )
    assert [entry.tool_call.id for entry in first if entry.tool_call] == [
        entry.tool_call.id for entry in others[0] if entry.tool_call
    ]


class Fact(BaseModel):
    title: str
    year: int


def is_good(output):
    return (output.raw == "good", "good" if output.raw == "good" else "too poor")


@BOTH
def test_guardrails_are_told_with_every_attempt(native):
    who = crews.agent(native=native, tools=[])
    task = crews.task(who, "Research", guardrails=[is_good, "It must be true."])
    valid = {"output": {"valid": True, "feedback": None}}
    model = FakeModel(agents={"Researcher": ["poor", "good"], "Guardrail Agent": [valid]})
    told = run(Crew(agents=[who], tasks=[task]), model).metadata["guardrails"]
    base = {"kind": "output", "agent": "Researcher"}
    assert told == [
        {**base, "name": "is_good", "tripped": True, "attempt": 1, "info": "too poor"},
        {**base, "name": "is_good", "tripped": False, "attempt": 2, "info": None},
        {**base, "name": "It must be true.", "tripped": False, "attempt": 1, "info": None},
    ]


@BOTH
def test_guardrail_that_nothing_pleases_is_told_and_fails_as_it_would(native):
    who = crews.agent(native=native, tools=[], guardrail=is_good, guardrail_max_retries=1)
    adapter = CrewAIAdapter(who, model=FakeModel(["poor", "poorer"]))
    with pytest.raises(ValueError, match="too poor"):
        adapter.sync_invoke("go")
    assert [told["tripped"] for told in adapter.last_result.metadata["guardrails"]] == [True, True]


def test_guardrail_that_fails_itself_is_told():
    def broken(output):
        raise RuntimeError("boom")

    who = crews.agent(tools=[], guardrail=broken)
    adapter = CrewAIAdapter(who, model=FakeModel(["poor"]))
    with pytest.raises(RuntimeError, match="boom"):
        adapter.sync_invoke("go")
    assert adapter.last_result.metadata["guardrails"][0]["info"] == "RuntimeError: boom"


@BOTH
def test_task_outputs_are_told_in_the_crews_order(native):
    crew = crews.crew(native=native)
    crew.tasks[1].name = "writing"
    crew.tasks[1].output_pydantic = Fact
    fact = {"title": "Rust", "year": 2015}
    model = FakeModel(agents={"Researcher": ["Found"], "Writer": [{"output": fact}]})
    result = run(crew, model, message={"topic": "rust"})
    assert result.metadata["task_outputs"] == [
        {"task": "Research rust", "agent": "Researcher", "response": "Found", "output": "Found"},
        {"task": "writing", "agent": "Writer", "response": '{"title":"Rust","year":2015}', "output": fact},
    ]
    assert AgentResult.from_dict(result.to_dict()).metadata["task_outputs"] == result.metadata["task_outputs"]


@BOTH
def test_outputs_of_tasks_beside_each_other_are_told_in_their_order_and_apart_from_other_runs(native):
    def answer(request):
        time.sleep(random.random() / 50)
        return request.agent

    for _ in range(3):
        result = run(crews.parallel_tasks(native=native), FakeModel(default_response=answer))
        assert [told["agent"] for told in result.metadata["task_outputs"]] == ["First", "Second", "Last"]


def test_retries_and_cache_hits_are_told_of_a_call():
    searches = [calls("search", q=q) for q in ("rust", "go", "zig", "go")]
    model = FakeModel([*searches, "done"])
    mock = MockTool("search", responses=[RuntimeError("boom"), "go", "zig"])
    who = crews.agent(native=False)
    crew = Crew(agents=[who], tasks=[crews.task(who, "Research")], cache=True)
    told = [(c.attempts, c.metadata.get("from_cache", False)) for c in run(crew, model, mock).tool_calls]
    assert told == [(6, False), (1, False), (1, False), (1, True)]
