"""Options of the wrong kind are refused where they are given, not inside a framework."""

import asyncio

import pytest

from callsheet import AgentRunner, Conversation, FakeModel, OptionError, Session
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent


def toy():
    return ToyAdapter(ToyAgent("Desk"), model=FakeModel(default_response="hi"))


def streamed(message, **options):
    async def main():
        return [event async for event in toy().stream(message, **options)]

    return asyncio.run(main())


def invoked(message, **options):
    return asyncio.run(toy().invoke(message, **options))


WAYS = {
    "invoke": invoked,
    "sync_invoke": lambda message, **options: toy().sync_invoke(message, **options),
    "stream": streamed,
    "runner": lambda message, **options: AgentRunner().sync_invoke(message, **options),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history": "before"}, "history is str; give a list of messages"),
        ({"history": {"role": "user"}}, "history is dict; give a list"),
        ({"history": ["before"]}, "history holds 'before', which is no message"),
        ({"history": [None]}, "history holds None"),
        ({"headers": ["X-Tenant"]}, "headers is list; give a mapping"),
        ({"headers": {"X-Tenant": 1}}, "The header 'X-Tenant' is int; give texts"),
        ({"headers": {1: "x"}}, "The header 1 is str; give texts"),
        ({"metadata": 5}, "metadata is int; give a mapping"),
    ],
)
def test_what_a_run_can_not_use_is_refused(way, options, message):
    with pytest.raises(OptionError, match=message):
        WAYS[way]("Hi", **options)


@pytest.mark.parametrize("way", WAYS)
def test_options_of_the_right_kind_are_taken(way):
    history = ({"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"})
    assert WAYS[way]("Hi", history=history, headers={"X-Tenant": "blue"}, metadata={"case": 1})


def test_the_value_of_a_header_is_in_no_error():
    with pytest.raises(OptionError) as refused:
        Session(headers={"Authorization": b"Bearer secret"})
    assert "secret" not in str(refused.value)


class Graph:
    """Has an `invoke`, as frameworks' own agents do."""

    def invoke(self, message, **options):
        raise AssertionError("a live run")


@pytest.mark.parametrize("agent", [5, Graph(), None, ToyAgent("Desk")])
def test_a_conversation_is_with_a_wrapped_agent(agent):
    with pytest.raises(OptionError, match=r"not \w+\. Give wrap\(agent, \.\.\.\)"):
        Conversation(agent)
