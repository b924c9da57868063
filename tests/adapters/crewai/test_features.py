"""Capture, structured answers, guardrails, planning, streaming and factories."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from crewai import Crew, Task
from crewai.flow.flow import Flow, start
from crewai.flow.human_feedback import human_feedback
from crewai.llms.base_llm import BaseLLM
from pydantic import BaseModel

from callsheet import Conversation, FakeModel, MockTool, ScriptError, UnknownMockError, UnmockedToolError
from callsheet_crewai import CrewAIAdapter
from tests.adapters.crewai import crews
from tests.adapters.crewai.crews import HITS
from tests.adapters.crewai.test_pitfalls import BOTH, SEARCH, calls

DELEGATE = calls("delegate_work_to_coworker", coworker="researcher", task="Find rust", context="none")


@pytest.fixture(autouse=True)
def _fresh():
    HITS.clear()


def run(what, model, *mocks, message=None, **options):
    return CrewAIAdapter(what, tools=mocks, model=model, **options).sync_invoke(message)


class Fact(BaseModel):
    title: str
    year: int


FACT = {"title": "Rust", "year": 2015}


# Capture


@BOTH
def test_delegation_is_parentage(native):
    model = FakeModel(agents={"Crew Manager": [DELEGATE, "Managed"], "Researcher": [SEARCH, "Found"]})
    result = run(crews.hierarchical(native=native), model, MockTool("search", response="MOCK"))
    delegation, search = result.tool_calls
    assert (delegation.kind, delegation.agent, delegation.response) == ("agent", "Crew Manager", "Found")
    assert (search.parent_id, search.agent) == (delegation.id, "Researcher")
    assert result.agents == ["Crew Manager", "Researcher"]
    assert [step["role"] for step in result.trajectory()] == [
        "user",
        "tool",
        "tool",
        "assistant",
        "assistant",
    ]


@BOTH
def test_delegation_can_be_mocked(native):
    model = FakeModel(agents={"Crew Manager": [DELEGATE, "Managed"]})
    delegation = MockTool("delegate_work_to_coworker", response="by hand")
    result = run(crews.hierarchical(native=native), model, delegation)
    assert [call.response for call in result.tool_calls] == ["by hand"]


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


# Structured answers


@pytest.mark.parametrize("kind", ["output_pydantic", "output_json"])
@BOTH
def test_structured_task_output(native, kind):
    who = crews.agent(native=native, tools=[])
    task = Task(description="d", expected_output="e", agent=who, **{kind: Fact})
    model = FakeModel(default_response={"output": FACT})
    result = run(Crew(agents=[who], tasks=[task]), model)
    assert result.output == (Fact(**FACT) if kind == "output_pydantic" else FACT)


def test_structured_agent_answer():
    model = FakeModel(default_response={"output": FACT})
    result = CrewAIAdapter(crews.agent(tools=[]), model=model).sync_invoke("go", response_format=Fact)
    assert result.output == Fact(**FACT)


# Guardrails, planning, human input


@BOTH
def test_guardrail_sends_the_task_back(native):
    who = crews.agent(native=native)
    task = crews.task(
        who,
        "Research",
        guardrail=lambda output: (output.raw == "good", "good" if output.raw == "good" else "bad"),
    )
    model = FakeModel(agents={"Researcher": [SEARCH, "poor", "good"]})
    result = run(Crew(agents=[who], tasks=[task]), model, MockTool("search", response=1))
    assert result.response == "good"
    assert [e.content for e in result.trace if e.role == "assistant"] == ["poor", "good"]


def test_planner_is_scripted_by_its_role():
    who = crews.agent(tools=[])
    plan = {"list_of_plans_per_task": [{"task_number": 1, "task": "Research", "plan": "Think"}]}
    crew = Crew(
        agents=[who], tasks=[crews.task(who, "Research")], planning=True, planning_llm=crews.native_llm()
    )
    model = FakeModel(agents={"Task Execution Planner": [{"output": plan}], "Researcher": ["Found"]})
    result = run(crew, model)
    assert result.response == "Found"
    assert crew.tasks[0].description == "Research"


@BOTH
def test_person_is_asked_as_a_tool_is(native):
    def crew():
        who = crews.agent(native=native, tools=[])
        return Crew(agents=[who], tasks=[crews.task(who, "Draft", human_input=True)])

    person = MockTool("human_input", responses=["shorter", ""])
    result = run(crew, FakeModel(["long", "short"]), person)
    assert result.response == "short"
    assert [call.response for call in result.tool_calls] == ["shorter", ""]
    with pytest.raises(UnmockedToolError, match="human_input"):
        run(crew, FakeModel(["long"]))


def test_person_asked_by_a_flow_is_asked_as_a_tool_is():
    class Draft(Flow):
        @start()
        @human_feedback(message="Good?")
        def draft(self):
            return "a draft"

        @start()
        def who(self):
            return self.ask("Your name?")

    result = run(Draft, FakeModel(), MockTool("human_input", response="fine"))
    assert [call.response for call in result.tool_calls] == ["fine", "fine"]
    with pytest.raises(UnmockedToolError, match="human_input"):
        run(Draft, FakeModel())


# Streams


def test_chunks_join_to_what_was_scripted():
    adapter = CrewAIAdapter(crews.agent(tools=[]), model=FakeModel(["one two three"]))

    async def main():
        return [event async for event in adapter.stream("go")]

    events = asyncio.run(main())
    assert "".join(e.chunk for e in events if e.type == "llm_stream_chunk") == "one two three"
    assert adapter.last_result.response == "one two three"


def test_streaming_crew_gives_the_framework_its_chunks():
    crew = crews.crew(stream=True)
    model = FakeModel(agents={"Researcher": ["found it"], "Writer": ["written down"]})
    with CrewAIAdapter(crew, model=model).session() as session:
        stream = crew.kickoff(inputs={"topic": "x"})
        chunks = [chunk.content for chunk in stream]
    assert "".join(chunks) == "found itwritten down"
    assert session.result.response == "written down"


# What the adapter takes


def test_factory_builds_one_per_run():
    built = []

    def build():
        built.append(crews.crew())
        return built[-1]

    model = FakeModel(default_response="x")
    adapter = CrewAIAdapter(build, model=model)
    adapter.sync_invoke({"topic": "a"})
    adapter.sync_invoke({"topic": "b"})
    assert len(built) == 2
    assert built[0] is not built[1]


def test_flow_class_is_a_factory_and_text_its_message():
    class Echo(Flow):
        @start()
        def echo(self):
            return f"said {self.state['message']}"

    assert run(Echo, FakeModel(), message="hi").response == "said hi"
    assert asyncio.run(CrewAIAdapter(Echo(), model=FakeModel()).invoke("ho")).output == "said ho"


def test_text_for_a_crew_is_its_message_input():
    who = crews.agent(tools=[])
    crew = Crew(agents=[who], tasks=[crews.task(who, "Answer {message}")])
    assert run(crew, FakeModel(["x"]), message="this").trace[0].content == "Answer this"


def test_conversation_with_a_crew_tells_each_task_what_was_said():
    who = crews.agent(tools=[])
    crew = Crew(agents=[who], tasks=[crews.task(who, "Answer {message}")])
    model = FakeModel(["first answer", "second answer", "third answer"])
    talk = Conversation(CrewAIAdapter(crew, model=model))
    for said in ("one", "two", "three"):
        talk.say_sync(said)
    told = str(model.call_log[2]["messages"])
    assert all(said in told for said in ("first answer", "second answer", "Answer three"))


def test_own_model_of_the_framework_takes_every_agents_place():
    class Canned(BaseLLM):
        def call(self, messages, *args, **kwargs):
            return "canned"

    result = run(crews.crew(), Canned(model="canned"), message={"topic": "x"})
    assert (result.response, result.model_used) == ("canned", "gpt-4o")


def test_unknown_mock_and_script_are_named_with_the_closest():
    with pytest.raises(UnknownMockError, match=r"'searcher'.*'search'"):
        run(
            crews.crew(),
            FakeModel(default_response="x"),
            MockTool("searcher", response=1),
            message={"topic": "x"},
        )
    with pytest.raises(UnknownMockError, match=r"'Reseacher'.*'Researcher'"):
        run(
            crews.crew(), FakeModel(default_response="x", agents={"Reseacher": ["y"]}), message={"topic": "x"}
        )


# Silence, whatever was imported first

LATE = """
import crewai
import sys
sys.path[:0] = {path!r}
from tests.adapters.crewai import crews
from tests.adapters.crewai.watch import watched
from callsheet_crewai import CrewAIAdapter
from callsheet import FakeModel
crew = crews.crew()
with watched() as (network, files):
    CrewAIAdapter(crew, model=FakeModel(default_response="x")).sync_invoke({{"topic": "x"}})
assert (network, files) == ([], []), (network, files)
"""


def test_run_is_silent_when_crewai_was_imported_first(tmp_path):
    code = LATE.format(path=[str(p) for p in sys.path if p])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert list(tmp_path.iterdir()) == []
