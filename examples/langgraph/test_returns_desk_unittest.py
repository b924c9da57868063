"""The returns desk under unittest; without pytest: `python -m unittest discover examples/langgraph`."""

from __future__ import annotations

import unittest

from returns_desk import desk

from callsheet import FakeModel, MockTool
from callsheet.unittest import AgentTestCase


class OrderTests(AgentTestCase):
    def test_an_order_is_looked_up(self) -> None:
        model = FakeModel(
            agents={
                "Clerk": [
                    {"tool_calls": [{"name": "get_order", "args": {"number": "A17"}}]},
                    "It is on its way.",
                ]
            }
        )
        agent = self.wrapAgent(desk, model=model, tools=[MockTool("get_order", response={"state": "sent"})])

        result = agent.sync_invoke("Where is A17?")

        self.assertToolCallOrder(result, ["get_order"])
        self.assertToolArgsContain(result, "get_order", {"number": "A17"})


if __name__ == "__main__":
    unittest.main()
