"""A returns desk: looks an order up, checks the policy in a sub-graph, and pays back once a person agrees.

Nothing here knows of tests. The shop and the payment provider are real services to it.
"""

from __future__ import annotations

import os
from typing import Any

import httpx
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.messages import RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

SHOP = os.environ.get("SHOP_URL", "https://shop.invalid/api")
model = init_chat_model("openai:gpt-5-mini", api_key=os.environ.get("OPENAI_API_KEY", "unset"))


@tool
def get_order(number: str) -> dict[str, Any]:
    """Look an order up by its number."""
    return httpx.get(f"{SHOP}/orders/{number}").raise_for_status().json()


@tool
def search_policy(question: str) -> list[str]:
    """Find the paragraphs of the returns policy that answer a question."""
    return httpx.get(f"{SHOP}/policy", params={"q": question}).raise_for_status().json()


@tool
def pay_back(number: str, amount: float) -> str:
    """Pay money back for an order."""
    return httpx.post(f"{SHOP}/refunds", json={"order": number, "amount": amount}).raise_for_status().text


policy_expert = create_agent(
    model, [search_policy], name="PolicyExpert", system_prompt="Answer from the policy, and quote it."
)


@tool
def ask_policy(question: str) -> str:
    """Ask the expert on the returns policy."""
    state = policy_expert.invoke({"messages": [{"role": "user", "content": question}]})
    return state["messages"][-1].content


clerk = create_agent(
    model,
    [get_order, ask_policy, pay_back],
    name="Clerk",
    system_prompt="Help with returns. Look the order up, ask the policy expert, then pay back what is due.",
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"pay_back": True})],
)


def trim(state: MessagesState) -> dict[str, Any]:
    """Keep the last forty messages of a long conversation."""
    kept = state["messages"][-40:]
    return {"messages": [] if kept == state["messages"] else [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}


def build() -> Any:
    """Build the desk, which remembers each customer's thread."""
    graph = StateGraph(MessagesState)
    graph.add_node("trim", trim)
    graph.add_node("clerk", clerk)
    graph.add_edge(START, "trim")
    graph.add_edge("trim", "clerk")
    return graph.compile(checkpointer=InMemorySaver(), name="ReturnsDesk")


desk = build()


def handle(customer: str, text: str) -> str:
    """Answer a customer's message, as the web shop's chat does."""
    state = desk.invoke(
        {"messages": [{"role": "user", "content": text}]}, {"configurable": {"thread_id": customer}}
    )
    return "A colleague has to agree." if "__interrupt__" in state else state["messages"][-1].content
