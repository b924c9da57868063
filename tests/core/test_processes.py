"""An agent in a child process: nothing real runs there, and the test that started it fails."""

import asyncio
import gc
import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from callsheet import FakeModel, MockTool, SessionError, SessionProcessError, _processes, offline
from callsheet._processes import Orders
from callsheet._scope import SCOPE, open_sessions
from tests.core.toy_adapter import ToyAdapter
from tests.core.toy_framework import ToyAgent, ToyCall, ToyRunner, ToyTool

# Python 3.12 warns of a fork while other threads run; here that is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

FORK, SPAWN = multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")


@pytest.fixture
def canary(tmp_path):
    return tmp_path / "canary"


def desk(canary):
    """An agent whose only tool leaves a trace that another process can see."""

    def pay(amount):
        Path(canary).write_text(str(amount))
        return "paid"

    return ToyAgent("Desk", tools=[ToyTool("pay", pay, {"type": "object"})])


def pay_for_real(canary):
    """Run the tool as the framework runs it once the model has asked for it."""
    agent = desk(canary)
    return asyncio.run(ToyRunner().call(agent, ToyCall("c1", "pay", '{"amount": 5}')))


def pay_and_swallow(canary):
    try:
        pay_for_real(canary)
    except BaseException:
        return "swallowed"


def session_of(canary, **options):
    return ToyAdapter(desk(canary), tools=[MockTool("pay", response="mocked")], **options).session()


def in_a_fork(canary):
    child = os.fork()
    if not child:
        pay_and_swallow(canary)
        os._exit(0)
    os.waitpid(child, 0)


def in_a_process(context):
    def run(canary):
        child = context.Process(target=pay_and_swallow, args=(canary,))
        child.start()
        child.join(60)
        assert child.exitcode == 0

    return run


def in_a_pool_of_processes(context):
    def run(canary):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            pool.submit(pay_and_swallow, canary).result(60)

    return run


def in_a_multiprocessing_pool(context):
    def run(canary):
        with context.Pool(1) as pool:
            pool.apply_async(pay_and_swallow, (canary,)).get(60)

    return run


WAYS = {
    "fork": in_a_fork,
    "forked process": in_a_process(FORK),
    "spawned process": in_a_process(SPAWN),
    "forked executor": in_a_pool_of_processes(FORK),
    "spawned executor": in_a_pool_of_processes(SPAWN),
    "forked pool": in_a_multiprocessing_pool(FORK),
    "spawned pool": in_a_multiprocessing_pool(SPAWN),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_in_a_child_process_does_not_run_and_the_test_hears_of_it(way, canary):
    with (
        pytest.raises(SessionProcessError, match=r"tool 'pay' came in a child process.*in a thread"),
        session_of(canary),
    ):
        WAYS[way](canary)
    assert not canary.exists()


@pytest.mark.parametrize("way", WAYS)
def test_without_a_session_the_tool_would_have_run_there(way, canary):
    WAYS[way](canary)
    assert canary.read_text() == "5"


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
def test_a_pool_older_than_the_session_is_reached_by_its_work(context, canary):
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(math.sqrt, 4).result(60) == 2
        with pytest.raises(SessionProcessError), session_of(canary):
            assert pool.submit(pay_and_swallow, canary).result(60) == "swallowed"
        assert not canary.exists()


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
def test_a_pool_born_in_a_session_is_free_of_it_afterwards(context, canary):
    with ExitStack() as closing:
        with session_of(canary):
            pool = closing.enter_context(ProcessPoolExecutor(1, mp_context=context))
            assert pool.submit(math.sqrt, 4).result(60) == 2
        assert pool.submit(pay_for_real, canary).result(60) == "paid"
    assert canary.read_text() == "5"


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
def test_the_refusal_reaches_who_asked_the_pool(context, canary):
    with pytest.raises(SessionProcessError), session_of(canary), context.Pool(1) as pool:
        with pytest.raises(SessionError, match="came in a child process"):
            pool.apply_async(pay_for_real, (canary,)).get(60)


@pytest.mark.parametrize("way", [in_a_pool_of_processes(FORK), in_a_pool_of_processes(SPAWN)])
def test_a_child_of_a_late_task_meets_a_closed_session(way, canary):
    async def main():
        async def late():
            await asyncio.sleep(0)
            way(canary)

        with session_of(canary):
            task = asyncio.create_task(late())
        await task

    asyncio.run(main())
    assert not canary.exists()


def test_a_child_that_runs_no_agent_is_none_of_the_sessions_business(canary):
    with session_of(canary), ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert list(pool.map(math.sqrt, [4, 9])) == [2, 3]


def test_a_child_of_a_thread_outside_every_session_is_refused_by_all(canary):
    from callsheet.testing._detours import old_thread

    with old_thread() as run:
        refused = [pytest.raises(SessionProcessError), pytest.raises(SessionProcessError)]
        with refused[0], session_of(canary), refused[1], session_of(canary):
            run(lambda: in_a_process(SPAWN)(canary))
    assert not canary.exists()


def ask_the_model(canary):
    try:
        asyncio.run(ToyRunner().run(desk(canary), "Pay"))
    except SessionError as refusal:
        return str(refusal)


def test_a_run_and_its_model_are_refused_as_well(canary):
    with pytest.raises(SessionProcessError, match="A run came"), session_of(canary, model=FakeModel()):
        with ProcessPoolExecutor(1, mp_context=FORK) as pool:
            assert "came in a child process" in pool.submit(ask_the_model, canary).result(60)


def grandchild(canary):
    in_a_process(SPAWN)(canary)


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
def test_a_child_of_a_child_is_refused_too(context, canary):
    with pytest.raises(SessionProcessError), session_of(canary):
        child = context.Process(target=grandchild, args=(canary,))
        child.start()
        child.join(60)
    assert not canary.exists()


def test_a_refusal_after_the_session_has_no_one_to_tell(canary, tmp_path):
    with session_of(canary):
        go = SPAWN.Event()
        child = SPAWN.Process(target=wait_and_pay, args=(go, canary))
        child.start()
    go.set()
    child.join(60)
    assert child.exitcode == 0
    assert not canary.exists()


def wait_and_pay(go, canary):
    assert go.wait(60)
    assert pay_and_swallow(canary) == "swallowed"


def test_nothing_stays_on_disk(canary, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with session_of(canary):
        with ProcessPoolExecutor(1, mp_context=FORK) as pool:
            assert pool.submit(math.sqrt, 4).result(60) == 2
    assert not list(tmp_path.glob("callsheet-*"))


@pytest.mark.parametrize("first", ["block", "session"])
@pytest.mark.parametrize("last", ["block", "session"])
def test_blocks_and_sessions_end_in_any_order_and_leave_nothing(first, last, canary):
    from multiprocessing.process import BaseProcess

    def patched():
        return vars(BaseProcess)["start"], vars(ProcessPoolExecutor)["submit"]

    with offline():  # the first block imports what it patches
        pass
    gc.collect()
    before = patched()
    held = {"block": offline(), "session": session_of(canary)}
    for name in sorted(held, key=lambda name: name != first):
        held[name].open()
    assert not set(before) & set(patched())
    for name in sorted(held, key=lambda name: name == last):
        held.pop(name).close(None)
        gc.collect()
    assert patched() == before


# What runs in the child, run here: its coverage is not seen otherwise.


def test_work_with_orders_meets_a_session_that_refuses_and_reports(canary, tmp_path):
    report = tmp_path / "report"
    report.touch()
    orders = Orders((ToyAdapter,), (str(report), str(tmp_path / "read no more")))
    assert _processes._run_refusing(orders, pay_and_swallow, canary) == "swallowed"
    assert report.read_text().startswith("A call of tool 'pay' came in a child process of its session")
    assert not canary.exists()
    assert (SCOPE.get(), open_sessions) == (None, {})
    assert pay_for_real(canary) == "paid"


@pytest.fixture
def forked(canary):
    """A session as it is in a forked child, whose main thread is still in it."""
    session = session_of(canary)
    session.open()
    with session.activated():
        _processes._before_fork()
        _processes._in_forked_child()
        yield session
    open_sessions.clear()
    session.children.collect()


def test_a_fork_of_a_session_refuses_and_reports(canary, forked):
    with pytest.raises(SessionError, match="in a child process"):
        pay_for_real(canary)
    [refusal] = forked.children.collect()
    assert "tool 'pay'" in str(refusal)
    assert not canary.exists()


def test_a_fork_orders_its_own_children_to_report_to_the_same_file(forked):
    report = Path(forked.children.report())
    assert _processes._orders() == Orders((ToyAdapter,), (str(report),))


def test_a_fork_of_a_closed_session_has_nobody_to_report_to(canary):
    session = session_of(canary)
    session.become_child(None)
    assert session.children.orders(listening=True) == Orders((ToyAdapter,), ())


def test_a_worker_born_while_work_is_given_belongs_to_no_session(forked):
    token = _processes._giving_work.set(True)
    _processes._in_forked_child()
    _processes._giving_work.reset(token)
    assert (SCOPE.get(), open_sessions) == (None, {})
