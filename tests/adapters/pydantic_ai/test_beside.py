"""Beside logfire, OpenTelemetry, pydantic-evals and durable execution."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import logfire
import pytest
from dbos import DBOS, DBOSConfig, SetWorkflowID
from logfire.testing import TestExporter
from opentelemetry import propagate
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.durable_exec.dbos import DBOSAgent
from pydantic_ai.models.instrumented import InstrumentationSettings, InstrumentedModel
from pydantic_ai.models.test import TestModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected, Evaluator, EvaluatorContext
from sqlalchemy import Engine, event

from callsheet import FakeModel, MockTool, UnmockedToolError
from callsheet_pydantic_ai import PydanticAIAdapter
from tests.adapters.pydantic_ai.support import PATHS, SYNC_STREAMS_STAY_OPEN, agent, hits, own_model, refund

REFUND = {"tool_calls": [{"name": "refund", "args": {"order": "A1"}}]}


@pytest.fixture(autouse=True)
def no_hits() -> None:
    hits.clear()


def wrapped(clerk: Any, *steps: Any, tools: Any = (), **options: Any) -> PydanticAIAdapter:
    return PydanticAIAdapter(clerk, tools=tools, model=FakeModel(list(steps)), **options)


def spans_of(exporter: InMemorySpanExporter) -> list[str]:
    return sorted(span.name.partition(" ")[0] for span in exporter.get_finished_spans())


@pytest.mark.parametrize("how", ["model", "everywhere"])
def test_every_step_has_one_span_and_one_record(how: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings = InstrumentationSettings(tracer_provider=provider)
    if how == "model":
        clerk: Any = Agent(InstrumentedModel(own_model(), settings), name="Clerk", tools=[refund])
    else:
        clerk = agent(tools=[refund])
        Agent.instrument_all(settings)
    try:
        given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")])
        result = given.sync_invoke("Refund A1")
    finally:
        Agent.instrument_all(False)
    assert result.tool_names == ["refund"]
    assert result.metadata["turns"] == 2
    kinds = [name for name in spans_of(exporter) if name in ("chat", "invoke_agent", "execute_tool")]
    assert kinds == ["chat", "chat", "execute_tool", "invoke_agent"]


@pytest.fixture
def logged() -> Iterator[TestExporter]:
    """Give the spans that logfire would have sent."""
    exporter = TestExporter()
    propagator = propagate.get_global_textmap()
    logfire.configure(
        local=False,
        send_to_logfire=False,
        console=False,
        inspect_arguments=False,
        additional_span_processors=[SimpleSpanProcessor(exporter)],
    )
    yield exporter
    Agent.instrument_all(False)
    logfire.shutdown(flush=False)
    propagate.set_global_textmap(propagator)


def steps_of(exporter: TestExporter) -> list[str]:
    spans = [span for span in exporter.exported_spans if not is_pending(span)]
    return sorted(span.name.partition(" ")[0] for span in spans)


def is_pending(span: Any) -> bool:
    return bool((span.attributes or {}).get("logfire.span_type") == "pending_span")


@pytest.mark.parametrize("path", PATHS)
def test_logfire_sees_every_step_once_on_every_path(logged: TestExporter, path: str) -> None:
    logfire.instrument_pydantic_ai()
    clerk = agent(tools=[refund])
    with wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")]).session() as session:
        PATHS[path](clerk)
    assert session.result.tool_names == ["refund"]
    left_open = path == "run_stream_sync" and SYNC_STREAMS_STAY_OPEN
    expected = ["chat", "chat", "execute_tool", "invoke_agent"]
    assert steps_of(logged) == (["chat", "execute_tool"] if left_open else expected)
    assert not hits


def test_logfire_around_one_model_counts_as_without_a_session(logged: TestExporter) -> None:
    def told() -> list[str]:
        logged.clear()
        clerk = Agent(TestModel(), name="Clerk", tools=[refund])
        logfire.instrument_pydantic_ai(clerk)
        asyncio.run(clerk.run("x"))
        return steps_of(logged)

    alone = told()
    with PydanticAIAdapter(agent(name="other"), unmocked="real", offline=False).session() as session:
        assert told() == alone
    assert len(session.tool_calls) == 1


def test_refusal_in_a_logged_run_is_still_a_refusal(logged: TestExporter) -> None:
    logfire.instrument_pydantic_ai()
    with pytest.raises(UnmockedToolError, match="refund"):
        wrapped(agent(tools=[refund]), REFUND).sync_invoke("x")
    assert steps_of(logged) == ["chat", "execute_tool", "invoke_agent"]
    assert not hits


def test_evaluators_on_spans_count_what_the_session_counts(logged: TestExporter) -> None:
    logfire.instrument_pydantic_ai()
    clerk = agent(tools=[refund])
    given = wrapped(clerk, REFUND, "done", tools=[MockTool("refund", response="ok")])
    counted: list[int] = []

    @dataclass
    class OneCall(Evaluator[Any, Any, Any]):
        def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> bool:
            spans = ctx.span_tree.find({"name_contains": "execute_tool"})
            counted.append(len(spans))
            return len(spans) == 1

    async def task(order: str) -> str:
        return str((await clerk.run(order)).output)

    dataset: Any = Dataset(name="refunds", cases=[Case(name="A1", inputs="A1")], evaluators=[OneCall()])
    with given.session() as session:
        report = asyncio.run(dataset.evaluate(task, progress=False))
    assert [case.assertions["OneCall"].value for case in report.cases] == [True]
    assert counted == [len(session.tool_calls)] == [1]
    assert not hits


def test_cases_of_an_evaluation_are_runs_of_one_session() -> None:
    clerk = agent(tools=[refund])
    given = wrapped(clerk, REFUND, "done", REFUND, "done", tools=[MockTool("refund", response="ok")])

    async def task(order: str) -> str:
        return str((await clerk.run(order)).output)

    cases = [Case(name=order, inputs=order, expected_output="done") for order in ("A1", "B2")]
    dataset: Any = Dataset(name="refunds", cases=cases, evaluators=[EqualsExpected()])
    with given.session() as session:
        report = asyncio.run(dataset.evaluate(task, max_concurrency=1, progress=False))
    assert [case.output for case in report.cases] == ["done", "done"]
    assert [call.run for call in session.tool_calls] == [0, 1]
    assert not hits


def tell_time(connection: Any, record: Any) -> None:
    """Give older SQLites the unixepoch('subsec') that DBOS has its tables filled by."""
    connection.create_function("unixepoch", -1, lambda *modifiers: time.time())


@pytest.fixture
def dbos(tmp_path: Path) -> Any:
    config: DBOSConfig = {
        "name": "callsheet-test",
        "system_database_url": f"sqlite:///{tmp_path}/dbos.sqlite",
        "run_admin_server": False,
        "enable_otlp": False,
    }
    event.listen(Engine, "connect", tell_time)
    DBOS(config=config)
    yield DBOS
    DBOS.destroy(destroy_registry=True)
    event.remove(Engine, "connect", tell_time)


@pytest.mark.filterwarnings("ignore")
def test_durable_agent_is_mocked_in_the_process(dbos: Any) -> None:
    inner = agent(tools=[refund])
    durable = DBOSAgent(inner)
    dbos.launch()

    async def main() -> Any:
        with SetWorkflowID("first"):
            return await durable.run("Refund A1")

    given = wrapped(inner, REFUND, "done", tools=[MockTool("refund", response="ok")], offline=False)
    with given.session() as session:
        assert asyncio.run(main()).output == "done"
    assert [(call.name, call.response, call.mocked) for call in session.tool_calls] == [
        ("refund", "ok", True)
    ]
    assert not hits


@pytest.mark.filterwarnings("ignore")
def test_unmocked_tool_of_a_durable_agent_is_refused(dbos: Any) -> None:
    inner = agent(tools=[refund])
    durable = DBOSAgent(inner)
    dbos.launch()

    async def main() -> Any:
        with SetWorkflowID("second"):
            return await durable.run("Refund A1")

    with pytest.raises(UnmockedToolError), wrapped(inner, REFUND, offline=False).session():
        asyncio.run(main())
    assert not hits


@pytest.mark.filterwarnings("ignore")
def test_spied_tool_of_a_durable_agent_runs_once(dbos: Any) -> None:
    inner = agent(tools=[refund])
    durable = DBOSAgent(inner)
    dbos.launch()

    async def main() -> Any:
        with SetWorkflowID("third"):
            return await durable.run("Refund A1")

    given = wrapped(inner, REFUND, "done", tools=[MockTool.spy("refund")], offline=False)
    with given.session() as session:
        assert asyncio.run(main()).output == "done"
    assert [(call.response, call.mocked) for call in session.tool_calls] == [("REAL A1", False)]
    assert hits == {"refund": 1}
