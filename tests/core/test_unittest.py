"""callsheet under unittest, without pytest."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import unittest

import pytest

import callsheet.assertions
from callsheet import (
    AgentResult,
    FakeModel,
    MockTool,
    ToolCall,
    TraceEntry,
    UnmockedToolError,
    _discovery,
    _journal,
)
from callsheet.adapters import ToolRequest
from callsheet.unittest import AgentTestCase
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyTool

CALL = {"tool_calls": [{"name": "search", "args": {"q": "rome"}}]}
RESULT = AgentResult(
    response="done",
    tool_calls=[ToolCall("search", {"q": "rome"}), ToolCall("book", {})],
    model_used="m",
    headers={"X-A": "1"},
    trace=[TraceEntry("user", "hi"), TraceEntry("assistant", "done")],
)
EMPTY = AgentResult(response="no", trace=[TraceEntry("user", "hi")])


def desk(**options):
    search = ToyTool("search", lambda q: "real", {"type": "object"})
    return ToyAdapter(ToyAgent("Desk", tools=[search]), **{"model": FakeModel([CALL, "done"]), **options})


@pytest.fixture(autouse=True)
def _nobody_reports(monkeypatch):
    """The plugin of this suite keeps a journal; a plain unittest run has none."""
    monkeypatch.setattr(_journal, "current", None)


def run(case):
    stream = io.StringIO()
    result = unittest.TextTestRunner(stream=stream, verbosity=0).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(case)
    )
    return result, stream.getvalue()


def test_every_assertion_passes_and_fails_as_its_function():
    calls = {
        "assertToolCalls": (["search", "book"], ["book"]),
        "assertToolCallCount": (2, 3),
        "assertToolCallOrder": (["search", "book"], ["book", "search"]),
        "assertResponseContains": ("on", "x"),
        "assertResponseMatches": ("^d", "x"),
        "assertResponseEquals": ("done", "x"),
        "assertHeaders": ({"X-A": "1"}, {"X-A": "2"}),
        "assertModelUsed": ("m", "n"),
        "assertTrajectory": ([{"role": "user"}, {"role": "assistant"}], [{"role": "tool"}]),
    }
    case = AgentTestCase()
    for name, (right, wrong) in calls.items():
        getattr(case, name)(RESULT, right)
        with pytest.raises(AssertionError):
            getattr(case, name)(RESULT, wrong)
    case.assertToolArgsContain(RESULT, "search", {"q": "rome"})
    with pytest.raises(AssertionError):
        case.assertToolArgsContain(RESULT, "search", {"q": "oslo"})
    case.assertNoToolCalls(EMPTY)
    with pytest.raises(AssertionError):
        case.assertNoToolCalls(RESULT)


def test_there_is_a_method_for_every_assertion():
    def method(name):
        first, *rest = name.split("_")
        return first + "".join(part.capitalize() for part in rest)

    missing = [
        name
        for name in callsheet.assertions.__all__
        if name.startswith("assert_") and not hasattr(AgentTestCase, method(name))
    ]
    assert missing == []


def test_a_failing_test_says_what_its_agents_did():
    class Tests(AgentTestCase):
        def test_it(self):
            result = desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")
            self.assertResponseEquals(result, "nothing")

    result, text = run(Tests)
    assert len(result.failures) == 1, text
    assert "callsheet trajectory:\nuser: 'find it'\nDesk\n  search(q='rome') -> 'row' [mocked]" in text


def test_async_test_cases_work():
    class Tests(AgentTestCase, unittest.IsolatedAsyncioTestCase):
        async def test_it(self):
            result = await desk(tools=[MockTool("search", response="row")]).invoke("find it")
            self.assertToolCalls(result, ["search"])

        async def test_failing(self):
            result = await desk(tools=[MockTool("search", response="row")]).invoke("find it")
            self.assertNoToolCalls(result)

    result, text = run(Tests)
    assert (result.testsRun, len(result.failures)) == (2, 1)
    assert "callsheet trajectory" in text


def test_sub_tests_fail_one_by_one():
    class Tests(AgentTestCase):
        def test_it(self):
            for name in ("a", "b"):
                with self.subTest(name):
                    self.assertToolCalls(RESULT, [name])

    result, _ = run(Tests)
    assert len(result.failures) == 2


def test_wrapped_agents_are_closed_when_the_test_ends(monkeypatch):
    monkeypatch.setattr(_discovery, "wrap", lambda agent, **options: desk(**options))
    monkeypatch.setattr("callsheet.unittest.wrap", lambda agent, **options: desk(**options))
    kept = []

    class Tests(AgentTestCase):
        def test_it(self):
            adapter = self.wrapAgent(object(), strict=False)
            kept.append(adapter.session())
            kept[0].open()

    result, _ = run(Tests)
    assert result.wasSuccessful()
    assert not kept[0].is_open


def test_a_violation_nobody_heard_fails_the_test():
    class Tests(AgentTestCase):
        def test_it(self):
            _journal.current.unheard.append(UnmockedToolError("seen by nobody"))

    result, text = run(Tests)
    assert len(result.errors) == 1
    assert "seen by nobody" in text


def test_a_journal_somebody_keeps_is_left_to_them():
    class Tests(AgentTestCase):
        def test_it(self):
            desk(tools=[MockTool("search", response="row")]).sync_invoke("find it")

    with _journal.kept() as journal:
        run(Tests)
        assert len(journal.results) == 1
        assert _journal.current is journal


def test_pytest_is_not_needed():
    code = "import sys, callsheet.unittest; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_violation_in_a_session_that_nobody_closes_is_raised_by_the_test():
    class Case(AgentTestCase):
        def test_it(self):
            session = desk().session()
            session.__enter__()
            kept.append(session)
            with contextlib.suppress(UnmockedToolError):
                session.answer_tool(ToolRequest(name="search", args={}), lambda: 1)

    kept = []
    result, said = run(Case)
    with pytest.raises(UnmockedToolError):
        kept[0].close()
    assert len(result.errors) == 1
    assert "UnmockedToolError" in said
