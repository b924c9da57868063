"""What a mock answers, call by call, and what it refuses to be built from."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from callsheet import InvalidArgumentsError, MockConfigError, MockTool, ResponsesExhaustedError, ToolError


def answers(mock, *calls):
    """Call the mock and give its answers, an exception standing for itself."""
    given = []
    for args in calls:
        try:
            given.append(mock.answer(args))
        except Exception as error:
            given.append(error)
    return given


class TestAnswers:
    def test_a_value_is_copied_for_each_call(self):
        mine = {"rows": [1]}
        mock = MockTool("search", response=mine)
        first = mock.answer({})
        first["rows"].append("changed by the agent")
        mine["rows"].append("changed by the test")
        assert mock.answer({}) == {"rows": [1]}

    def test_a_callable_takes_the_arguments(self):
        assert MockTool("search", response=lambda args: args["q"].upper()).answer({"q": "rome"}) == "ROME"

    def test_what_a_callable_raises_is_raised_inside_the_tool(self):
        def fail(args):
            raise KeyError("no such city")

        with pytest.raises(KeyError, match="no such city"):
            MockTool("search", response=fail).answer({})

    def test_an_async_callable_is_run_to_its_end_in_sync_code(self):
        async def answer(args):
            await asyncio.sleep(0)
            return args["q"]

        assert MockTool("search", response=answer).answer({"q": 1}) == 1

    def test_an_async_callable_is_run_to_its_end_in_sync_code_inside_a_loop(self):
        async def answer(args):
            await asyncio.sleep(0)
            return threading.current_thread() is main

        async def code():
            return MockTool("search", response=answer).answer({})

        main = threading.main_thread()
        assert asyncio.run(code()) is False

    def test_async_code_awaits_async_and_takes_sync_callables(self):
        async def answer(args):
            return "async"

        async def code():
            return [
                await MockTool("a", response=answer).answer_async({}),
                await MockTool("b", response=lambda args: "sync").answer_async({}),
                await MockTool("c", response="value").answer_async({}),
            ]

        assert asyncio.run(code()) == ["async", "sync", "value"]

    def test_no_response_at_all_answers_none(self):
        assert MockTool("search").answer({}) is None

    def test_responses_answer_one_call_each_and_exceptions_in_them_are_raised(self):
        mock = MockTool("search", responses=[1, ValueError("second"), {"third": 3}, lambda args: args["q"]])
        first, second, third, fourth = answers(mock, {}, {}, {}, {"q": 4})
        assert (first, third, fourth) == (1, {"third": 3}, 4)
        assert isinstance(second, ValueError)

    def test_one_call_too_many_is_a_violation(self):
        mock = MockTool("search", responses=["only"])
        mock.answer({})
        with pytest.raises(
            ResponsesExhaustedError, match=r"'search'.*has 1 responses and got call 2.*repeat_last=True"
        ):
            mock.answer({})

    def test_the_last_response_can_repeat(self):
        mock = MockTool("search", responses=[1, 2], repeat_last=True)
        assert answers(mock, {}, {}, {}, {}) == [1, 2, 2, 2]

    def test_reset_starts_over(self):
        mock = MockTool("search", responses=[1])
        mock.answer({"q": 1})
        mock.reset()
        assert mock.call_count == 0
        assert mock.answer({"q": 2}) == 1
        assert mock.calls == [{"q": 2}]

    def test_threads_take_one_response_each(self):
        mock = MockTool("search", responses=list(range(200)))
        with ThreadPoolExecutor(16) as pool:
            given = list(pool.map(lambda _: mock.answer({}), range(200)))
        assert sorted(given) == list(range(200))


class TestFailures:
    def test_a_text_fails_each_call(self):
        (error,) = answers(MockTool("search", error="busy"), {})
        assert isinstance(error, ToolError)
        assert (str(error), error.code) == ("busy", None)

    def test_a_mapping_has_a_code(self):
        (error,) = answers(MockTool("search", error={"code": 503, "message": "busy"}), {})
        assert (str(error), error.code) == ("busy", 503)

    def test_error_after_lets_the_first_calls_succeed(self):
        mock = MockTool("search", response="ok", error="busy", error_after=2)
        assert [str(given) for given in answers(mock, {}, {}, {}, {})] == ["ok", "ok", "busy", "busy"]

    def test_error_after_works_with_raises(self):
        mock = MockTool("search", response="ok", raises=OSError("down"), error_after=1)
        first, second = answers(mock, {}, {})
        assert first == "ok"
        assert isinstance(second, OSError)

    def test_error_after_zero_fails_from_the_start(self):
        assert str(answers(MockTool("search", response="ok", error="busy", error_after=0), {})[0]) == "busy"

    def test_raises_takes_an_exception_or_its_class(self):
        assert isinstance(answers(MockTool("search", raises=TimeoutError), {})[0], TimeoutError)
        assert isinstance(answers(MockTool("search", raises=TimeoutError("t")), {})[0], TimeoutError)

    def test_each_call_raises_an_exception_of_its_own(self):
        mine = ValueError("x")
        first, second = answers(MockTool("search", raises=mine), {}, {})
        assert first is not second
        assert mine.__traceback__ is None

    def test_an_exception_that_can_not_be_copied_is_raised_itself(self):
        class StubbornError(Exception):
            def __init__(self, one, two):
                super().__init__("stubborn")

        class OddError(Exception):
            def __deepcopy__(self, memo):
                return "not an exception"

        stubborn, odd = StubbornError(1, 2), OddError()
        assert answers(MockTool("search", raises=stubborn), {}) == [stubborn]
        assert answers(MockTool("search", raises=odd), {}) == [odd]


class TestDelay:
    def test_a_delay_is_pretended(self):
        mock = MockTool("search", response=1, delay=3600)
        assert mock.answer({}) == 1
        assert mock.pretended_delay == 3600

    def test_a_real_delay_is_slept(self, monkeypatch):
        slept = []
        monkeypatch.setattr("time.sleep", slept.append)
        mock = MockTool("search", response=1, delay=0.25, real_delay=True)
        assert mock.answer({}) == 1
        assert slept == [0.25]
        assert mock.pretended_delay == 0

    def test_a_real_delay_is_awaited(self):
        async def code():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            answer = await MockTool("search", response=1, delay=0.01, real_delay=True).answer_async({})
            ticking.cancel()
            return answer, ticks

        answer, ticks = asyncio.run(code())
        assert answer == 1
        assert ticks > 1


class TestWhen:
    @pytest.mark.parametrize(
        ("args", "matches"),
        [
            ({"city": "Rome"}, True),
            ({"city": "Rome", "unit": "C"}, True),
            ({"city": "Oslo"}, False),
            ({}, False),
            (None, False),
        ],
    )
    def test_the_arguments_named_have_to_equal(self, args, matches):
        assert MockTool("search", when={"city": "Rome"}).matches(args) is matches

    def test_truth_is_no_number(self):
        assert not MockTool("search", when={"exact": True}).matches({"exact": 1})
        assert MockTool("search", when={"n": 1}).matches({"n": 1.0})

    def test_without_when_everything_matches(self):
        assert MockTool("search").matches(None)

    def test_an_empty_when_matches_any_arguments(self):
        assert MockTool("search", when={}).matches({"a": 1})


class TestSchema:
    def test_the_mocks_own_schema_comes_before_the_tools(self):
        mock = MockTool("search", parameters={"q": {"type": "string"}})
        mock.check({"q": "x"}, schema={"type": "object", "required": ["other"]})
        with pytest.raises(InvalidArgumentsError, match="Missing required parameters: q"):
            mock.check({})

    def test_the_tools_schema_is_used_where_the_mock_has_none(self):
        with pytest.raises(InvalidArgumentsError, match="Missing required parameters: other"):
            MockTool("search").check({"q": 1}, schema={"type": "object", "required": ["other"]})

    def test_validation_can_be_switched_off(self):
        MockTool("search", parameters={"q": {"type": "string"}}, validate_params=False).check({})

    def test_without_any_schema_everything_goes(self):
        MockTool("search").check({"q": 1})
        MockTool("search", parameters={"q": {"type": "string"}}).check(None)


class TestBadInput:
    @pytest.mark.parametrize("name", ["", "  ", None, 5])
    def test_a_name_has_to_be_one(self, name):
        with pytest.raises(MockConfigError, match="name is"):
            MockTool(name)

    def test_a_response_that_can_not_be_copied_says_what_to_do(self):
        with pytest.raises(
            MockConfigError, match=r"'search'\), dict, cannot be copied.*response=lambda args"
        ):
            MockTool("search", response={"lock": threading.Lock()})

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"error_after": 2}, "error_after=2 but no error"),
            ({"error": "x", "error_after": -1}, "error_after=-1. Give a number"),
            ({"error": "x", "error_after": True}, "error_after=True. Give a number"),
            ({"error": "x", "error_after": 1.5}, "Give a number"),
            ({"error": 5}, "error=5 is neither"),
            ({"error": {"code": 5}}, "neither a text nor a mapping"),
            ({"raises": "boom"}, "raises of MockTool.*'boom'. Give an exception"),
            ({"raises": str}, "Give an exception"),
            ({"responses": []}, "empty responses"),
            ({"responses": "abc"}, "responses of .* is str. Give a list"),
            ({"responses": {"a": 1}}, "is dict. Give a list"),
            ({"responses": [1], "response": 2}, "both response= and responses="),
            ({"responses": [1], "error": "x"}, "both responses= and error="),
            ({"responses": [1], "raises": OSError()}, "both responses= and raises="),
            ({"error": "x", "raises": OSError()}, "both error= and raises="),
            ({"when": ["city"]}, "when of .* Give a dict"),
            ({"delay": -1}, "delay of .* is -1. Give seconds"),
            ({"delay": "1"}, "is '1'. Give seconds"),
            ({"delay": float("nan")}, "Give seconds"),
            ({"delay": float("inf")}, "Give seconds"),
            ({"delay": True}, "is True. Give seconds"),
            ({"description": {"temp": 20}}, r"description of .* is {'temp': 20}. Give a text; an answer is"),
            ({"repeat_last": True}, "repeat_last=True but no responses"),
            ({"response": 1, "repeat_last": True}, "repeat_last=True but no responses"),
            ({"parameters": ["city"]}, "is list, not a mapping"),
            ({"parameters": {"city": "string"}}, "parameter 'city' of mock 'search' is 'string'"),
            ({"parameters": {"type": "objekt"}}, "not a valid JSON Schema"),
        ],
    )
    def test_options_that_can_not_work_are_refused(self, options, message):
        with pytest.raises(MockConfigError, match=message):
            MockTool("search", **options)


def test_a_spy_counts_the_calls_the_real_tool_answers():
    spy = MockTool.spy("search", when={"q": 1})
    spy.note({"q": 1})
    spy.note(None)
    assert spy.is_spy
    assert spy.calls == [{"q": 1}, {}]


def test_a_mocks_repr_is_what_one_would_type():
    assert repr(MockTool("search")) == "MockTool('search')"
    assert repr(MockTool("search", when={"q": 1})) == "MockTool('search', when={'q': 1})"
    assert repr(MockTool.spy("search")) == "MockTool.spy('search')"
