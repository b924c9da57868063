import asyncio

import pytest

from callsheet import AgentRunner, FakeModel


@pytest.fixture
def kept():
    """The event loop this thread keeps between runs, as the sync APIs of some frameworks have one."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


def test_a_sync_run_leaves_the_event_loop_the_thread_keeps(kept):
    result = AgentRunner(model=FakeModel(["Hello!"])).sync_invoke("Hi")
    assert result.response == "Hello!"
    assert asyncio.get_event_loop_policy().get_event_loop() is kept
    assert not kept.is_closed()


def test_a_sync_run_ends_what_its_own_event_loop_still_runs():
    ended = []

    async def forever():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    class Model:
        async def generate(self, messages, tools, headers):
            self.forgotten = asyncio.create_task(forever())
            await asyncio.sleep(0)
            return "Hello!"

    AgentRunner(model=Model()).sync_invoke("Hi")
    assert ended == ["cancelled"]
