"""`AdapterContract`: what every adapter owes, as an abstract pytest suite.

Subclass it in an adapter's tests, build the travel desk with the framework's own means, and run it:

    class TestMyFramework(AdapterContract):
        adapter_class = MyAdapter
        def build_desk(self, canary): ...
        def run_native(self, agent, message): ...
        async def run_native_async(self, agent, message): ...

Real tool bodies are canaries that count. What the suite asserts does not depend on the framework.
"""

from __future__ import annotations

from callsheet.testing._capture import CaptureContract
from callsheet.testing._desk import Canary
from callsheet.testing._fail_closed import FailClosedContract
from callsheet.testing._running import RunningContract
from callsheet.testing._stand_ins import StandInsContract
from callsheet.testing._threads import ThreadsContract
from callsheet.testing._traces import TracesContract

__all__ = ["AdapterContract", "Canary"]


class AdapterContract(
    RunningContract, CaptureContract, StandInsContract, FailClosedContract, ThreadsContract, TracesContract
):
    """The executable definition of an adapter; `DeskContract` says what to provide."""
