"""`AgentTestCase`: callsheet for `unittest`, without pytest.

For async tests put it before the standard library's class:
`class DeskTests(AgentTestCase, unittest.IsolatedAsyncioTestCase)`.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from callsheet import _journal, assertions
from callsheet._discovery import wrap
from callsheet._tree import trajectory_tree


class AgentTestCase(unittest.TestCase):
    """A test case with callsheet's assertions; a failing test says what its agents did."""

    def wrapAgent(self, agent: Any, **options: Any) -> Any:
        """Wrap an agent as `callsheet.wrap` does; sessions still open at the end of the test are closed."""
        adapter = wrap(agent, **options)
        self.addCleanup(adapter.close)
        return adapter

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run the test, keeping a journal of its sessions unless somebody else does."""
        if _journal.current is not None:
            return super().run(result)
        _journal.begin()
        try:
            return super().run(result)
        finally:
            _journal.end()

    def _callTestMethod(self, method: Callable[[], Any]) -> None:
        try:
            super()._callTestMethod(method)  # type: ignore[misc]
        except BaseException as error:
            journal = _journal.current
            for done in journal.results if journal is not None else ():
                error.add_note(f"callsheet trajectory:\n{trajectory_tree(done)}")
            raise
        if _journal.current is not None and _journal.current.unheard:
            raise _journal.current.unheard[0]

    # unittest's names for callsheet's assertions

    def assertToolCalls(self, result: Any, expected: Iterable[Any], *, strict_order: bool = True) -> None:
        """See `callsheet.assert_tool_calls`."""
        assertions.assert_tool_calls(result, expected, strict_order=strict_order)

    def assertToolCallCount(self, result: Any, expected: int) -> None:
        """See `callsheet.assert_tool_call_count`."""
        assertions.assert_tool_call_count(result, expected)

    def assertNoToolCalls(self, result: Any, *, strict: bool = False) -> None:
        """See `callsheet.assert_no_tool_calls`."""
        assertions.assert_no_tool_calls(result, strict=strict)

    def assertToolCallOrder(self, result: Any, names: Sequence[str], *, exact: bool = False) -> None:
        """See `callsheet.assert_tool_call_order`."""
        assertions.assert_tool_call_order(result, names, exact=exact)

    def assertToolArgsContain(
        self, result: Any, tool: str, partial: Mapping[str, Any], *, call_index: int = 0
    ) -> None:
        """See `callsheet.assert_tool_args_contain`."""
        assertions.assert_tool_args_contain(result, tool, partial, call_index=call_index)

    def assertResponseContains(self, result: Any, substring: str) -> None:
        """See `callsheet.assert_response_contains`."""
        assertions.assert_response_contains(result, substring)

    def assertResponseMatches(self, result: Any, pattern: Any) -> None:
        """See `callsheet.assert_response_matches`."""
        assertions.assert_response_matches(result, pattern)

    def assertResponseEquals(self, result: Any, expected: Any) -> None:
        """See `callsheet.assert_response_equals`."""
        assertions.assert_response_equals(result, expected)

    def assertHeaders(self, result: Any, expected: Mapping[str, Any], *, exact: bool = False) -> None:
        """See `callsheet.assert_headers`."""
        assertions.assert_headers(result, expected, exact=exact)

    def assertModelUsed(self, result: Any, expected: Any) -> None:
        """See `callsheet.assert_model_used`."""
        assertions.assert_model_used(result, expected)

    def assertTrajectory(self, result: Any, expected: Iterable[Any], *, mode: Any = "exact") -> None:
        """See `callsheet.assert_trajectory`."""
        assertions.assert_trajectory(result, expected, mode=mode)
