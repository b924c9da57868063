"""The ferry desk under unittest; without pytest: `python -m unittest discover examples/openai_agents`."""

from __future__ import annotations

import unittest

from ferry_desk import triage

from callsheet import FakeModel, MockTool
from callsheet.unittest import AgentTestCase

BOOKING = {"reference": "FX12", "sailing": "NL7", "paid": 80.0, "status": "cancelled"}


def call(name: str, **args: object) -> dict[str, object]:
    """A scripted reply that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


class RefundTests(AgentTestCase):
    def test_a_cancelled_sailing_is_refunded(self) -> None:
        desk = self.wrapAgent(
            triage,
            model=FakeModel(
                agents={
                    "Triage": [{"handoff": "Refunds"}],
                    "Refunds": [
                        call("get_booking", reference="FX12"),
                        call("issue_refund", reference="FX12", amount=80),
                        "80 are on their way.",
                    ],
                }
            ),
            tools=[MockTool("get_booking", response=BOOKING), MockTool("issue_refund", response="paid")],
        )

        result = desk.sync_invoke("My sailing FX12 was cancelled")

        self.assertToolCallOrder(result, ["get_booking", "issue_refund"])
        self.assertToolArgsContain(result, "issue_refund", {"reference": "FX12"})
        self.assertResponseContains(result, "80")

    def test_what_is_unclear_is_asked_about(self) -> None:
        desk = self.wrapAgent(triage, model=FakeModel(["Which booking do you mean?"]))
        result = desk.sync_invoke("I want my money back")
        self.assertNoToolCalls(result)
        self.assertResponseMatches(result, r"Which booking")

    def test_a_failing_refund_is_put_before_a_person(self) -> None:
        desk = self.wrapAgent(
            triage,
            model=FakeModel(
                agents={
                    "Triage": [{"handoff": "Refunds"}],
                    "Refunds": [
                        call("issue_refund", reference="FX12", amount=80),
                        call("escalate", reference="FX12", reason="payment failed"),
                        "A colleague will pay you.",
                    ],
                }
            ),
            tools=[
                MockTool("issue_refund", error="payment provider is down"),
                MockTool("escalate", response="case 9"),
            ],
        )

        result = desk.sync_invoke("Refund FX12")

        self.assertEqual(result.tool_calls[1].error, "payment provider is down")
        self.assertToolCalls(result, ["transfer_to_refunds", "issue_refund", "escalate"])


class AsyncDeskTests(AgentTestCase, unittest.IsolatedAsyncioTestCase):
    async def test_the_desk_answers_in_an_event_loop(self) -> None:
        desk = self.wrapAgent(triage, model=FakeModel(["Hello!"]))
        result = await desk.invoke("Hi")
        self.assertResponseEquals(result, "Hello!")


if __name__ == "__main__":
    unittest.main()
