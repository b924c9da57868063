"""Objects and factories: what the adapter takes, and what a run leaves in it."""

from __future__ import annotations

import asyncio

import pytest
from crewai import Agent, Crew
from crewai.flow.flow import Flow, start
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool

from callsheet import Conversation, FakeModel, MockTool, SessionError, UnknownMockError, _supported
from callsheet.adapters import PatchSet, UnsupportedFrameworkError
from callsheet_crewai import CrewAIAdapter, _patches
from tests.adapters.crewai import crews
from tests.adapters.crewai.scripts import BOTH, SEARCH, calls, run


def test_concurrent_runs_of_one_crew_are_refused_naming_the_factory():
    crew = crews.crew()

    async def main():
        adapters = [CrewAIAdapter(crew, model=FakeModel(default_response="x")) for _ in range(2)]
        return await asyncio.gather(*(a.invoke({"topic": "x"}) for a in adapters), return_exceptions=True)

    errors = [error for error in asyncio.run(main()) if isinstance(error, BaseException)]
    assert [type(error) for error in errors] == [SessionError]
    assert "CrewAIAdapter(build_crew)" in str(errors[0])


def test_concurrent_runs_of_a_factory_keep_apart():
    async def one(number):
        model = FakeModel(agents={"Researcher": [SEARCH, f"found {number}"], "Writer": [f"written {number}"]})
        adapter = CrewAIAdapter(crews.crew, tools=[MockTool("search", response=number)], model=model)
        return await adapter.invoke({"topic": "x"})

    async def main():
        return await asyncio.gather(*(one(number) for number in range(4)))

    results = asyncio.run(main())
    assert [result.tool_calls[0].response for result in results] == [0, 1, 2, 3]
    assert [result.response for result in results] == [f"written {number}" for number in range(4)]


def state_of(crew):
    parts = [crew, *crew.agents, *crew.tasks, *(agent.llm for agent in crew.agents)]
    return [
        {
            name: (id(value), repr(value) if isinstance(value, str | list | dict) else None)
            for name, value in _all(part)
        }
        for part in parts
    ] + [each.current_usage_count for agent in crew.agents for each in agent.tools]


def _all(part):
    yield from vars(part).items()
    yield from (part.__pydantic_private__ or {}).items()


@BOTH
def test_everything_a_kickoff_changes_is_put_back(native):
    crew = crews.crew(native=native)
    before = state_of(crew)
    model = FakeModel(agents={"Researcher": [SEARCH, "done"], "Writer": ["w"]})
    result = CrewAIAdapter(crew, tools=[MockTool("search", response=1)], model=model).sync_invoke(
        {"topic": "x"}
    )
    assert result.native.tasks_output[0].raw == "done"
    assert state_of(crew) == before
    assert crew.tasks[0].description == "Research {topic}"


def test_one_crew_twice_is_like_two_crews():
    def run(crew, topic):
        model = FakeModel(agents={"Researcher": [calls("search", q=topic), "done"], "Writer": ["w"]})
        return CrewAIAdapter(crew, tools=[MockTool("search", response=topic)], model=model).sync_invoke(
            {"topic": topic}
        )

    crew = crews.crew()
    assert [run(crew, topic).trace for topic in ("a", "b")] == [
        run(crews.crew(), topic).trace for topic in ("a", "b")
    ]


def test_what_a_real_body_notes_in_its_tool_stays():
    class Counting(BaseTool):
        name: str = "count"
        description: str = "Count."
        seen: int = 0

        def _run(self) -> str:
            self.seen += 1
            return "ok"

    counting = Counting()
    agent = crews.agent(tools=[counting])
    CrewAIAdapter(agent, tools=[MockTool.spy("count")], model=FakeModel([calls("count"), "x"])).sync_invoke(
        "go"
    )
    assert counting.seen == 1


def test_handles_objects_and_only_the_adapter_takes_factories():
    import callsheet
    from callsheet import MockConfigError

    assert not CrewAIAdapter.handles(crews.crew)
    with pytest.raises(MockConfigError):
        callsheet.wrap(crews.crew)
    assert type(callsheet.wrap(crews.crew())) is CrewAIAdapter
    with pytest.raises(MockConfigError, match="wraps"):
        CrewAIAdapter(lambda needed: None)
    with pytest.raises(MockConfigError, match="built"):
        CrewAIAdapter(lambda: 5, model=FakeModel()).sync_invoke("x")
    assert isinstance(crews.crew(), Crew)
    assert isinstance(crews.agent(), Agent)


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


def test_copies_of_a_crew_share_its_tools_whose_counts_are_put_back():
    search = crews.Search(max_usage_count=10)
    crew = crews.crew(tools=[search])
    model = FakeModel(agents={"Researcher": [SEARCH, "done"] * 2, "Writer": ["written"] * 2})
    mock = MockTool("search", response="MOCK")
    with CrewAIAdapter(crew, tools=[mock], model=model).session() as session:
        crew.kickoff_for_each(inputs=[{"topic": "a"}, {"topic": "b"}])
        used = search.current_usage_count
    # CrewAI counts anew for each.
    assert (used, mock.call_count, len(session.tool_calls)) == (1, 2, 2)
    assert search.current_usage_count == 0


def test_crewai_older_than_the_floor_is_refused(monkeypatch):
    monkeypatch.setattr(_supported, "installed", lambda _: "1.15.2")
    with pytest.raises(UnsupportedFrameworkError, match=r"crewai 1\.15\.3 or later and found 1\.15\.2"):
        # A set of its own: CrewAI's threads may still hold an earlier session, and with it the adapter's.
        PatchSet(_patches.patches).hold(crews.crew())


def test_crewai_built_differently_is_refused_and_left_as_it_was(monkeypatch):
    from crewai.tools.tool_usage import ToolUsage

    saved = BaseTool.__dict__["run"]
    monkeypatch.delattr(ToolUsage, "use")
    with pytest.raises(UnsupportedFrameworkError, match=r"ToolUsage.use is not there"):
        PatchSet(_patches.patches).hold(crews.crew())
    assert BaseTool.__dict__["run"] is saved
    assert crews.Search().run(q="x") == "REAL x"


def test_a_history_with_calls_is_told_by_every_version():
    called = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rust"}'}}]
    history = [
        {"role": "user", "content": "rust?"},
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "tool_call_id": "c1", "content": "a language"},
        {"role": "assistant", "content": "A language"},
    ]
    model = FakeModel(["Sure"])
    CrewAIAdapter(crews.crew().agents[0], model=model).sync_invoke("Really?", history=history)
    said = str(model.call_log[0]["messages"])
    assert all(part in said for part in ("rust?", "search", "q", "a language", "A language", "Really?"))
