"""Mocks answer in the shape the agent's code expects."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunHooks, function_tool
from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel

from callsheet import AgentResult, FakeModel, MockAnswerError, MockTool
from callsheet_openai_agents import OpenAIAgentsAdapter
from tests.adapters.openai_agents.kinds import Canary, MemoryServer, _shell


class Weather(BaseModel):
    city: str
    celsius: float


@dataclasses.dataclass
class Flight:
    number: str
    price: int


@function_tool
def weather(city: str) -> Weather:
    """Tell the weather."""
    raise AssertionError("the real tool ran")


@function_tool
async def flights(to: str) -> list[Flight]:
    """Find flights."""
    raise AssertionError("the real tool ran")


@function_tool
def notes(topic: str) -> dict[str, Any]:
    """Find notes."""
    raise AssertionError("the real tool ran")


class Outputs(RunHooks[Any]):
    """Keeps what the application's own hooks are given."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        self.seen.append(result)


def run(
    tool: str, args: dict[str, Any], answer: Any, agent: Agent[Any] | None = None
) -> tuple[AgentResult, Any]:
    agent = agent or Agent(name="Desk", tools=[weather, flights, notes])
    model = FakeModel([{"tool_calls": [{"name": tool, "args": args}]}, "done"])
    hooks = Outputs()
    adapter = OpenAIAgentsAdapter(agent, tools=[MockTool(tool, response=answer)], model=model)
    result = adapter.sync_invoke("go", hooks=hooks)
    return result, hooks.seen[0]


def test_dict_becomes_the_model_the_tool_returns() -> None:
    result, seen = run("weather", {"city": "Oslo"}, {"city": "Oslo", "celsius": 4})
    assert seen == Weather(city="Oslo", celsius=4.0)
    assert result.tool_calls[0].response == {"city": "Oslo", "celsius": 4}
    assert result.tool_calls[0].seen_by_model == "city='Oslo' celsius=4.0"


def test_dicts_in_a_list_become_the_dataclasses_the_tool_returns() -> None:
    _, seen = run("flights", {"to": "Oslo"}, [{"number": "DY1", "price": 90}])
    assert seen == [Flight("DY1", 90)]


def test_instance_of_the_model_is_passed_on() -> None:
    _, seen = run("weather", {"city": "Oslo"}, Weather(city="Oslo", celsius=1))
    assert seen == Weather(city="Oslo", celsius=1)


def test_dict_stays_a_dict_where_the_tool_returns_one() -> None:
    _, seen = run("notes", {"topic": "x"}, {"celsius": "warm"})
    assert seen == {"celsius": "warm"}


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({"city": "Oslo"}, "celsius: Field required"),
        ({"city": "Oslo", "celsius": "warm"}, "celsius: Input should"),
    ],
)
def test_answer_the_tool_could_not_return_is_an_error_naming_the_field(answer: Any, field: str) -> None:
    with pytest.raises(MockAnswerError, match=rf"'weather'.*Weather: {field}"):
        run("weather", {"city": "Oslo"}, answer)


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("sunny", {"type": "text", "text": "sunny"}),
        ({"hits": 1}, {"type": "text", "text": '{"hits":1}'}),
        ([1, 2], {"type": "text", "text": "[1,2]"}),
        (None, []),
        ({"type": "text", "text": "as is"}, {"type": "text", "text": "as is"}),
        (CallToolResult(content=[TextContent(type="text", text="own")]), {"type": "text", "text": "own"}),
        (
            [{"type": "text", "text": "a"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            [{"type": "text", "text": "a"}, {"type": "image", "image_url": "data:image/png;base64,aGk="}],
        ),
        (
            CallToolResult.model_validate(
                {
                    "content": [
                        ImageContent.model_validate(
                            {"type": "image", "data": "aGk=", "mimeType": "image/png"}
                        )
                    ]
                }
            ),
            {"type": "image", "image_url": "data:image/png;base64,aGk="},
        ),
    ],
)
def test_answers_of_mcp_tools_have_mcps_shapes(answer: Any, output: Any, tmp_path: Path) -> None:
    agent = Agent(name="Desk", mcp_servers=[MemoryServer(Canary(tmp_path), approval=False)])
    _, seen = run("lookup", {"q": "x"}, answer, agent)
    assert seen == output


def test_structured_content_is_what_the_agent_of_such_a_server_sees(tmp_path: Path) -> None:
    server = MemoryServer(Canary(tmp_path), approval=False)
    server.use_structured_content = True
    _, seen = run("lookup", {"q": "x"}, {"hits": 1}, Agent(name="Desk", mcp_servers=[server]))
    assert seen == '{"hits":1}'


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("listing", "listing"),
        ({"stdout": "a.txt", "exit_code": 0}, "a.txt"),
        ([{"stdout": "a"}, {"stderr": "no", "exit_code": 1}], "no"),
    ],
)
def test_shells_answer_texts_and_outputs_of_commands(answer: Any, told: str, tmp_path: Path) -> None:
    agent = _shell(Canary(tmp_path), approval=False)
    result, seen = run("shell", {"commands": ["ls"]}, answer, agent)
    assert told in seen
    assert result.tool_calls[0].response == answer


def test_shells_answer_with_a_misspelt_key_is_an_error_with_the_closest(tmp_path: Path) -> None:
    agent = _shell(Canary(tmp_path), approval=False)
    with pytest.raises(MockAnswerError, match=r"'stdot'.*'stdout'"):
        run("shell", {"commands": ["ls"]}, {"stdot": "a.txt"}, agent)
