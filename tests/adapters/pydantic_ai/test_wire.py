"""The framework's real models over real HTTP: tools mocked, the model not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, SYNC_STREAMS_STAY_OPEN, hits, refund
from tests.loopback import Fault, Loopback, Reply


def chat(provider: Loopback) -> Any:
    return OpenAIChatModel("gpt-5.2", provider=OpenAIProvider(base_url=provider.base_url, api_key="test"))


def responses(provider: Loopback) -> Any:
    return OpenAIResponsesModel(
        "gpt-5.2", provider=OpenAIProvider(base_url=provider.base_url, api_key="test")
    )


def anthropic(provider: Loopback) -> Any:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(base_url=provider.origin, api_key="test", max_retries=0)
    return AnthropicModel("claude-loopback", provider=AnthropicProvider(anthropic_client=client))


MODELS: dict[str, Callable[[Loopback], Any]] = {"chat": chat, "responses": responses, "anthropic": anthropic}
BOTH = [("refund", {"order": "A1"}), ("refund", {"order": "B2"})]


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def told(body: dict[str, Any]) -> str:
    return json.dumps(body.get("messages") or body.get("input"))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("api", MODELS)
def test_mocks_answer_a_real_model(api: str, path: str) -> None:
    with Loopback([Reply(tool_calls=BOTH), Reply("Both are refunded.")]) as provider:
        clerk = Agent(MODELS[api](provider), name="Clerk", tools=[refund])
        mock = MockTool("refund", response=lambda args: f"refunded {args['order']}")
        with PydanticAIAdapter(clerk, tools=[mock]).session(headers={"X-Case": "7"}) as session:
            assert PATHS[path](clerk) == "Both are refunded."
    result = session.result
    assert [(call.args, call.response) for call in result.tool_calls] == [
        ({"order": "A1"}, "refunded A1"),
        ({"order": "B2"}, "refunded B2"),
    ]
    assert len(result.batches) == 1
    turns = 1 if path == "run_stream_sync" and SYNC_STREAMS_STAY_OPEN else 2
    usages = [message.usage for message in result.native.all_messages() if message.kind == "response"][:turns]
    assert result.usage.requests == turns
    assert result.usage.input_tokens == sum(usage.input_tokens for usage in usages)
    # Version 2.0 reads no usage from the responses API of today.
    assert result.usage.output_tokens == 7 * turns or api == "responses"
    assert [request.headers["x-case"] for request in provider.received] == ["7", "7"]
    assert "refunded B2" in told(dict(provider.received[1].body))
    assert not hits


@pytest.mark.parametrize("api", MODELS)
def test_unmocked_tool_of_a_real_model_is_refused(api: str) -> None:
    with Loopback([Reply(tool_calls=BOTH)]) as provider:
        clerk = Agent(MODELS[api](provider), name="Clerk", tools=[refund])
        with pytest.raises(UnmockedToolError, match="refund"):
            asyncio.run(PydanticAIAdapter(clerk).invoke("Refund A1 and B2"))
    assert len(provider.received) == 1
    assert not hits


@pytest.mark.parametrize("api", MODELS)
def test_structured_output_of_a_real_model(api: str) -> None:
    class Ticket(BaseModel):
        order: str

    with Loopback([Reply(tool_calls=[("final_result", {"order": "A1"})])]) as provider:
        clerk = Agent(MODELS[api](provider), output_type=Ticket)
        result = asyncio.run(PydanticAIAdapter(clerk).invoke("x"))
    assert result.output == Ticket(order="A1")
    assert result.tool_calls == []


@pytest.mark.parametrize("api", MODELS)
def test_provider_in_trouble_is_the_frameworks_own_error(api: str) -> None:
    with Loopback([Fault(400)]) as provider:
        given = PydanticAIAdapter(Agent(MODELS[api](provider)))
        with pytest.raises(ModelHTTPError):
            asyncio.run(given.invoke("x"))
    assert given.last_result is not None
    assert "status_code: 400" in str(given.last_result.error)


@pytest.mark.parametrize("api", MODELS)
def test_scripted_model_sends_nothing(api: str) -> None:
    with Loopback([Reply("from the wire")]) as provider:
        clerk = Agent(MODELS[api](provider))
        result = asyncio.run(PydanticAIAdapter(clerk, model=FakeModel(["scripted"])).invoke("x"))
    assert result.response == "scripted"
    assert provider.received == []
