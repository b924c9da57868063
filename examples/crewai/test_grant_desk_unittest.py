"""The grants desk under unittest; nothing here needs pytest."""

from __future__ import annotations

import unittest

from grant_desk import build_crew

from callsheet import FakeModel, MockTool
from callsheet.adapters import CrewAIAdapter
from callsheet.unittest import AgentTestCase


class GrantDeskTest(AgentTestCase):
    """What the clerk may do."""

    def test_only_what_was_approved_is_paid(self) -> None:
        verdict = {"application": "A7", "amount": 800, "approved": True, "reason": "In part"}
        pay = {"tool_calls": [{"name": "pay_grant", "args": {"application": "A7", "amount": 800}}]}
        model = FakeModel(agents={"Assessor": [{"output": verdict}], "Clerk": [pay, "Paid."]})
        adapter = CrewAIAdapter(build_crew, tools=[MockTool("pay_grant", response="P1")], model=model)
        result = adapter.sync_invoke({"application": "A7"})
        self.assertToolCalls(result, [{"name": "pay_grant", "args": {"application": "A7", "amount": 800}}])


if __name__ == "__main__":
    unittest.main()
