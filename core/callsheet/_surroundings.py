"""What holds around a session while it is open: interception, the closed network, the adapter's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from callsheet._offline import OfflineBlock
from callsheet._patching import PatchSet
from callsheet._processes import process_patches
from callsheet._threads import thread_patches


class Surroundings:
    """What is put around one session.

    Args:
        patches: The adapter's interception, or None.
        network: The block that closes the network, or None.
        around: Gives what the adapter enters when the session opens and leaves when it closes, or None.
    """

    def __init__(
        self,
        patches: PatchSet | None,
        network: OfflineBlock | None,
        around: Callable[[], AbstractContextManager[Any]] | None,
    ) -> None:
        self._patches = patches
        self._network = network
        self._around = around
        self._entered = ExitStack()

    def open(self, session: object) -> None:
        """Put everything in place; the interception stays for as long as the session can be reached."""
        thread_patches.hold(session)
        process_patches.hold(session)
        if self._patches is not None:
            self._patches.hold(session)
        if self._around is not None:
            self._entered.enter_context(self._around())
        try:
            if self._network is not None:
                self._network.open()
        except BaseException:
            self._entered.close()
            raise

    def join(self) -> None:
        """Close the network to the running code where that was asked for."""
        if self._network is not None:
            self._network.join()

    def part(self) -> None:
        """Undo `join`."""
        if self._network is not None:
            self._network.part()

    def leave(self) -> None:
        """Leave what the adapter entered."""
        self._entered.close()

    def open_network(self, error: BaseException | None) -> None:
        """End the closed network, `error` being on its way out.

        Raises:
            NetworkBlockedError: The code inside swallowed it.
        """
        if self._network is not None:
            self._network.close(error)
