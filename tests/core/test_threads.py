"""callsheet's own context variables reach threads and pools; nobody else's do."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from callsheet import _threads

session: ContextVar[str | None] = ContextVar("session", default=None)
foreign: ContextVar[str | None] = ContextVar("foreign", default=None)


@pytest.fixture(autouse=True)
def _held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_threads, "_defaults", {})
    _threads.carried(session)
    held = _threads.thread_patches.hold(request)
    session_token, foreign_token = session.set("open"), foreign.set("theirs")
    yield
    session.reset(session_token)
    foreign.reset(foreign_token)
    held()


def run_in_thread(fn: Callable[[], Any]) -> Any:
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(fn()))
    thread.start()
    thread.join()
    return seen[0]


def test_a_thread_takes_over_the_value() -> None:
    assert run_in_thread(session.get) == "open"


def test_a_thread_started_by_a_thread_takes_it_over_too() -> None:
    assert run_in_thread(lambda: run_in_thread(session.get)) == "open"


def test_other_peoples_variables_are_left_to_python() -> None:
    inherits = getattr(sys.flags, "thread_inherit_context", False)
    assert run_in_thread(foreign.get) == ("theirs" if inherits else None)


def test_a_thread_started_without_a_value_has_none() -> None:
    session.set(None)
    assert run_in_thread(session.get) is None


def test_each_thread_has_the_value_of_the_code_that_started_it() -> None:
    seen: dict[str, str | None] = {}
    both_set = threading.Barrier(2)

    def user(name: str) -> None:
        session.set(name)
        both_set.wait(5)
        seen[name] = run_in_thread(session.get)

    users = [threading.Thread(target=user, args=(name,)) for name in ("a", "b")]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join()
    assert seen == {"a": "a", "b": "b"}


def test_a_timer_and_a_subclass_that_overrides_run_take_it_over() -> None:
    seen: list[str | None] = []

    class Worker(threading.Thread):
        def run(self) -> None:
            seen.append(session.get())

    for thread in (Worker(), threading.Timer(0, lambda: seen.append(session.get()))):
        thread.start()
        thread.join()
    assert seen == ["open", "open"]


def test_the_thread_object_is_left_as_it_was() -> None:
    inside: list[bool] = []
    thread = threading.Thread(target=lambda: inside.append("run" in vars(thread)))
    thread.start()
    thread.join()
    assert inside == [False]
    assert "run" not in vars(thread)


def test_an_own_run_attribute_is_kept_and_used() -> None:
    seen: list[str | None] = []
    thread = threading.Thread()
    thread.run = own = lambda: seen.append(session.get())  # type: ignore[method-assign]
    thread.start()
    thread.join()
    assert seen == ["open"]
    assert vars(thread)["run"] is own


def test_a_thread_that_can_not_start_is_left_as_it_was() -> None:
    thread = threading.Thread()
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="once"):
        thread.start()
    assert "run" not in vars(thread)


def test_starting_a_running_thread_again_fails_and_harms_nothing() -> None:
    go, seen = threading.Event(), []
    thread = threading.Thread(target=lambda: (go.wait(5), seen.append(session.get())))
    thread.start()
    with pytest.raises(RuntimeError, match="once"):
        thread.start()
    go.set()
    thread.join()
    assert seen == ["open"]
    assert "run" not in vars(thread)


def test_a_failing_target_is_reported_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(args.exc_type))
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    assert reported == [ZeroDivisionError]


def test_a_context_a_thread_runs_in_is_not_changed_for_good() -> None:
    """Python 3.14 lets a thread run in a context of the caller's; this subclass does it on every version."""
    context = copy_context()
    context.run(session.set, "older")
    seen: list[str | None] = []

    class Worker(threading.Thread):
        def _bootstrap_inner(self) -> None:
            context.run(super()._bootstrap_inner)  # type: ignore[misc]

        def run(self) -> None:
            seen.append(session.get())

    thread = Worker()
    thread.start()
    thread.join()
    assert seen == ["open"]
    assert context[session] == "older"


def test_a_pool_runs_its_work_with_the_value_and_gives_the_result() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda a, *, b: (session.get(), a, b), 1, b=2).result() == ("open", 1, 2)
        assert list(pool.map(lambda _: session.get(), range(2))) == ["open", "open"]


def test_work_gets_the_value_of_its_submitter_whoever_made_the_worker() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.get).result() == "open"
        session.set(None)
        assert pool.submit(session.get).result() is None
        session.set("later")
        assert pool.submit(session.get).result() == "later"


def test_a_worker_born_in_submit_keeps_nothing() -> None:
    seen: list[str | None] = []
    with ThreadPoolExecutor(1, initializer=lambda: seen.append(session.get())) as pool:
        pool.submit(int).result()
        assert seen == [None]
        assert session.get() == "open"


def test_failing_work_fails_its_future_and_the_worker_forgets_the_value() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(lambda: 1 / 0).exception(), ZeroDivisionError)
        session.set(None)
        assert pool.submit(session.get).result() is None


def test_a_pool_that_refuses_work_leaves_the_caller_its_value() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        pool.submit(int)
    assert session.get() == "open"


def test_a_context_the_submitter_chose_wins_inside_its_own_work() -> None:
    context = copy_context()
    context.run(session.set, "theirs")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(context.run, session.get).result() == "theirs"


def test_work_in_a_context_that_has_the_value_is_handed_over_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapped: list[Any] = []
    monkeypatch.setattr(_threads, "_run_assigned", lambda _, fn, *args: wrapped.append(fn) or fn(*args))
    has_it = copy_context()
    before = Context()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(has_it.run, session.get).result() == "open"
        assert pool.submit(partial(has_it.run, session.get)).result() == "open"
        assert wrapped == []
        assert pool.submit(before.run, session.get).result() is None
        assert pool.submit(has_it.get, session).result() == "open"
    assert wrapped == [before.run, has_it.get]


def test_run_in_executor_and_to_thread_carry_the_value() -> None:
    async def main() -> list[str | None]:
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(None, session.get), await asyncio.to_thread(session.get)]

    assert asyncio.run(main()) == ["open", "open"]


def test_work_for_another_interpreter_is_submitted_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class InterpreterPool(ThreadPoolExecutor):
        """Stands in for Python 3.14's InterpreterPoolExecutor, whose work must pickle."""

    module = SimpleNamespace(InterpreterPoolExecutor=InterpreterPool)
    monkeypatch.setitem(sys.modules, "concurrent.futures.interpreter", module)
    with InterpreterPool(1) as pool:
        assert pool.submit(session.get).result() is None
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.get).result() == "open"


def test_a_run_attribute_set_while_starting_is_left_alone() -> None:
    def fail_late(self: threading.Thread) -> None:
        vars(self)["run"] = int
        raise RuntimeError("no more threads")

    thread = threading.Thread()
    with pytest.raises(RuntimeError, match="no more threads"):
        _threads._carrying_start(fail_late)(thread)
    assert vars(thread)["run"] is int


def test_a_variable_without_a_default_is_refused() -> None:
    with pytest.raises(LookupError):
        _threads.carried(ContextVar("no_default"))


def test_importing_the_module_loads_no_pool() -> None:
    code = "import sys, callsheet._threads; print('concurrent.futures' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
