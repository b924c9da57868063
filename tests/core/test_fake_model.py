"""What a scripted model says, to whom, and when it has nothing to say."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from callsheet import FakeModel, MockConfigError, ModelRequest, ScriptExhaustedError, UnusedScriptError


def ask(model, agent=None, said="hi"):
    return model.reply(ModelRequest(messages=[{"role": "user", "content": said}], agent=agent)).content


def test_responses_come_in_order():
    model = FakeModel(["one", {"content": "two"}])
    assert [ask(model), ask(model)] == ["one", "two"]
    assert model.call_count == 2
    assert model.remaining == 0


def test_rules_are_searched_in_the_last_user_message_whatever_the_case():
    model = FakeModel(rules=[("weather", "sunny"), (r"create (\w+)", "created")], default_response="what?")
    assert ask(model, said="The WEATHER?") == "sunny"
    assert ask(model, said="Create Ada") == "created"
    assert ask(model, said="else") == "what?"


def test_responses_come_before_rules_and_rules_before_the_default():
    model = FakeModel(["scripted"], rules=[("a", "ruled")], default_response="default")
    assert [ask(model, said="a"), ask(model, said="a"), ask(model, said="b")] == [
        "scripted",
        "ruled",
        "default",
    ]


def test_each_agent_follows_its_own_script():
    model = FakeModel(["anyone"], agents={"Desk": ["desk 1", "desk 2"], "Weather": ["sun"]})
    asked = ["Desk", "Weather", "Other", "Desk"]
    assert [ask(model, agent) for agent in asked] == ["desk 1", "sun", "anyone", "desk 2"]
    assert model.agent_names == ["Desk", "Weather"]


def test_an_agent_with_a_script_does_not_take_others_responses():
    model = FakeModel(["anyone"], agents={"Desk": []})
    with pytest.raises(
        ScriptExhaustedError, match=r"Agent 'Desk' asked for model reply 1 and the script has 0"
    ):
        ask(model, "Desk")


def test_without_any_argument_it_answers_an_empty_text():
    assert ask(FakeModel()) == ""
    assert FakeModel().generate([{"role": "user", "content": "x"}]) == {"content": ""}


def test_an_empty_script_is_exhausted_at_once():
    with pytest.raises(ScriptExhaustedError, match="The agent asked for model reply 1 and the script has 0"):
        ask(FakeModel([]))


def test_exhaustion_says_that_no_rule_matched():
    model = FakeModel(rules=[("refund", "r")])
    with pytest.raises(
        ScriptExhaustedError, match=r"'Hi'. No rule matches the last user message. Add a step"
    ):
        model.generate([{"role": "user", "content": "Hi"}])


def test_exhaustion_names_the_last_message():
    model = FakeModel(["one"])
    ask(model)
    with pytest.raises(
        ScriptExhaustedError, match=r"reply 2 and the script has 1. Last message: user: 'again'"
    ):
        ask(model, said="again")
    with pytest.raises(ScriptExhaustedError, match="Last message: none: 'None'"):
        model.reply(ModelRequest())


def test_exhaustion_knows_the_scripts_there_are():
    with pytest.raises(
        ScriptExhaustedError, match=r"Scripts exist for 'Refunds'. Did you mean 'Refunds'\? Add agents="
    ):
        ask(FakeModel(agents={"Refunds": ["x"]}), "Refund")


def test_an_exception_is_what_the_provider_raises():
    model = FakeModel([TimeoutError("slow"), ConnectionError, "back"])
    with pytest.raises(TimeoutError, match="slow"):
        ask(model)
    with pytest.raises(ConnectionError):
        ask(model)
    assert ask(model) == "back"


def test_each_call_raises_an_exception_of_its_own():
    down = ConnectionError("down")
    model = FakeModel(default_response=down)
    raised = []
    for _ in range(2):
        with pytest.raises(ConnectionError) as caught:
            ask(model)
        raised.append(caught.value)
    assert raised[0] is not raised[1]
    assert down.__traceback__ is None


def test_a_callable_takes_the_request():
    model = FakeModel([lambda request: f"{request.agent} said {request.last_user_message}"])
    assert ask(model, "Desk", "hi") == "Desk said hi"


def test_a_callable_may_be_async_or_give_another_or_an_exception():
    async def later(request):
        await asyncio.sleep(0)
        return lambda request: "at last"

    async def code():
        request = ModelRequest(messages=[])
        return (await FakeModel([later]).reply_async(request)).content

    assert ask(FakeModel([later])) == "at last"
    assert asyncio.run(code()) == "at last"
    with pytest.raises(KeyError):
        ask(FakeModel([lambda request: KeyError("x")]))


def test_a_callables_step_is_checked():
    with pytest.raises(MockConfigError, match="A callable's step of the script is 5"):
        ask(FakeModel([lambda request: 5]))


def test_async_replies_come_from_the_same_script():
    model = FakeModel(["one", "two"])

    async def code():
        return (await model.reply_async(ModelRequest())).content

    assert asyncio.run(code()) == "one"
    assert ask(model) == "two"


def test_generate_answers_a_message_list():
    model = FakeModel([{"tool_calls": [{"name": "search", "args": {"q": 1}}]}])
    given = model.generate([{"role": "user", "content": "x"}], [{"name": "search"}], {"X-A": "1"})
    assert given == {"tool_calls": [{"name": "search", "args": {"q": 1}}]}
    assert model.call_log == [
        {
            "messages": [{"role": "user", "content": "x"}],
            "tools": [{"name": "search"}],
            "headers": {"X-A": "1"},
            "agent": None,
            "model": None,
            "turn": 0,
        }
    ]


def test_reset_starts_over():
    model = FakeModel(["one"], agents={"Desk": ["desk"]})
    assert model.remaining == 2
    ask(model)
    ask(model, "Desk")
    model.reset()
    assert (model.call_count, model.remaining) == (0, 2)
    assert ask(model) == "one"


def test_what_is_left_is_told_per_script():
    model = FakeModel(["one", "two"], agents={"Desk": ["desk"]})
    ask(model)
    assert model.unused() == {None: 1, "Desk": 1}
    with pytest.raises(UnusedScriptError, match=r"1 in responses, 1 of agent 'Desk'.*strict=False"):
        model.check_used_up()
    ask(model)
    ask(model, "Desk")
    model.check_used_up()


def test_threads_take_one_step_each():
    model = FakeModel([str(number) for number in range(200)])
    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(lambda _: ask(model), range(200)))
    assert sorted(said, key=int) == [str(number) for number in range(200)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"responses": "hello"}, "responses is str. Give a list"),
        ({"responses": {"content": "x"}}, "responses is dict"),
        ({"responses": 5}, "responses is int"),
        ({"agents": ["Desk"]}, "agents is list. Give a dict"),
        ({"agents": {"Desk": "hello"}}, r"agents\['Desk'\] is str"),
        ({"rules": ["weather"]}, "A rule is 'weather'. Give a pair"),
        ({"rules": [("weather",)]}, "Give a pair"),
        ({"rules": [(5, "x")]}, "Give a pair"),
        ({"rules": [("(", "x")]}, r"The rule '\(' is no regular expression"),
        ({"rules": [("a", 5)]}, "The step of rule 'a' of the script is 5"),
        ({"default_response": 5}, "default_response of the script is 5"),
    ],
)
def test_what_is_no_script_says_so(options, message):
    with pytest.raises(MockConfigError, match=message):
        FakeModel(**options)


def test_a_models_repr_says_what_is_left():
    assert repr(FakeModel(["a"], name="m")) == "FakeModel('m', 1 steps left)"
