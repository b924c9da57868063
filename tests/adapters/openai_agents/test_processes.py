"""An agent that the application runs in a child process is refused there."""

import contextlib
import multiprocessing
from pathlib import Path

import pytest
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall

from callsheet import MockTool, SessionProcessError, wrap


class PayingModel(Model):
    """The application's own fake: it asks for the tool, whoever listens."""

    async def get_response(self, *args, **kwargs):
        call = ResponseFunctionToolCall(
            arguments='{"amount": 5}', call_id="c1", name="pay", type="function_call"
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def desk(canary):
    @function_tool
    def pay(amount: int) -> str:
        Path(canary).write_text(str(amount))
        return "paid"

    return Agent(name="Desk", model=PayingModel(), tools=[pay], tool_use_behavior="stop_on_first_tool")


def run_and_swallow(canary):
    with contextlib.suppress(BaseException):
        Runner.run_sync(desk(canary), "Pay 5")


def in_a_child(canary):
    child = multiprocessing.get_context("spawn").Process(target=run_and_swallow, args=(canary,))
    child.start()
    child.join(120)
    assert child.exitcode == 0


def test_an_agent_in_a_spawned_process_is_refused_and_the_test_hears_of_it(tmp_path):
    canary = tmp_path / "canary"
    adapter = wrap(desk(canary), tools=[MockTool("pay", response="mocked")])
    refused = pytest.raises(SessionProcessError, match="A run of agent 'Desk' came in a child process")
    with refused, adapter.session():
        in_a_child(canary)
    assert not canary.exists()


def test_without_a_session_it_would_have_run(tmp_path):
    in_a_child(tmp_path / "canary")
    assert (tmp_path / "canary").read_text() == "5"
