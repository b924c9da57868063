"""`AgentTestCase`: callsheet for `unittest`, without pytest.

For async tests put it before the standard library's class:
`class DeskTests(AgentTestCase, unittest.IsolatedAsyncioTestCase)`.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from callsheet import _journal, _registry, _snapshots, assertions, order
from callsheet._discovery import wrap
from callsheet._scope import open_sessions
from callsheet._tree import trajectory_tree

P = ParamSpec("P")


def _method(assertion: Callable[P, None]) -> Callable[Concatenate[Any, P], None]:
    @wraps(assertion)
    def method(_: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        assertion(*args, **kwargs)

    return method


class AgentTestCase(unittest.TestCase):
    """A test case with callsheet's assertions; a failing test says what its agents did."""

    def wrapAgent(self, agent: Any, **options: Any) -> Any:
        """Wrap an agent as `callsheet.wrap` does; sessions still open at the end of the test are closed."""
        adapter = wrap(agent, **options)
        self.addCleanup(adapter.close)
        return adapter

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run the test, keeping a journal of its sessions unless somebody else does."""
        alone = _journal.current is None
        # pytest hands in something else than a TestResult; its plugin keeps a journal and reports from it.
        self._reports = alone or isinstance(result, unittest.TestResult)
        with _journal.kept() if alone else nullcontext():
            return super().run(result)

    def _callTestMethod(self, method: Callable[[], Any]) -> None:
        try:
            super()._callTestMethod(method)  # type: ignore[misc]
        except BaseException as error:
            journal = _journal.current
            for done in journal.results if journal is not None and self._reports else ():
                error.add_note(f"callsheet trajectory:\n{trajectory_tree(done)}")
            raise
        for session in list(open_sessions.values()):
            session.raise_violations()
        if _journal.current is not None and _journal.current.unheard:
            raise _journal.current.unheard[0]

    # unittest's names for callsheet's assertions

    assertArgumentFlows = _method(assertions.assert_argument_flows)
    assertBudget = _method(assertions.assert_budget)
    assertCalls = _method(order.assert_calls)
    assertConfirmed = _method(assertions.assert_confirmed)
    assertHeaders = _method(assertions.assert_headers)
    assertModelUsed = _method(assertions.assert_model_used)
    assertNoDuplicateCalls = _method(assertions.assert_no_duplicate_calls)
    assertNoLoop = _method(assertions.assert_no_loop)
    assertNoToolCalls = _method(assertions.assert_no_tool_calls)
    assertOnlyTools = _method(assertions.assert_only_tools)
    assertResponseConsistent = _method(assertions.assert_response_consistent)
    assertResponseContains = _method(assertions.assert_response_contains)
    assertResponseEquals = _method(assertions.assert_response_equals)
    assertResponseMatches = _method(assertions.assert_response_matches)
    assertSnapshot = _method(_snapshots.assert_snapshot)
    assertToolArgsContain = _method(assertions.assert_tool_args_contain)
    assertToolCallCount = _method(assertions.assert_tool_call_count)
    assertToolCallOrder = _method(assertions.assert_tool_call_order)
    assertToolCalls = _method(assertions.assert_tool_calls)
    assertTrajectory = _method(assertions.assert_trajectory)
    assertCustom = _method(_registry.run_custom_assertion)
