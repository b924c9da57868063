"""A session leaves nothing behind, and refuses misuse."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from callsheet._errors import MockConfigError, SessionClosedError, SessionError
from callsheet._patch import Patch
from callsheet._patching import PatchSet
from callsheet.testing._desk import Canary, DeskContract
from callsheet.testing._journey import ASKED


class TracesContract(DeskContract):
    """A session leaves nothing behind, and refuses misuse."""

    def test_patches_are_taken_out_exactly(self, desk: Any) -> None:
        # Frameworks fill caches of their own at the first run.
        asyncio.run(self.journey(self.build_desk(Canary())).invoke(ASKED))
        owners = [owner for owner, _ in self.adapter_class.patches.targets()]
        gc.collect()
        before = [dict(vars(owner)) for owner in owners]
        asyncio.run(self.journey(desk).invoke(ASKED))
        gc.collect()
        for owner, was in zip(owners, before, strict=True):
            now = dict(vars(owner))
            assert {name for name in was | now if was.get(name) is not now.get(name)} == set(), owner

    def test_half_failed_installation_is_taken_back(self, desk: Any, canary: Canary) -> None:
        whole = self.adapter_class.patches

        def half() -> Iterator[Patch]:
            yield from list(whole.patches())[:2]
            raise RuntimeError("the framework is built differently")

        class HalfPatched(self.adapter_class):  # type: ignore[name-defined, misc]
            patches = PatchSet(half)

        gc.collect()
        before = [vars(owner).get(name) for owner, name in whole.targets()]
        adapter = HalfPatched(desk, tools=self.mocks(), model=self.script())
        with pytest.raises(RuntimeError, match="built differently"):
            asyncio.run(adapter.invoke(ASKED))
        after = [vars(owner).get(name) for owner, name in whole.targets()]
        assert all(was is now for was, now in zip(before, after, strict=True))
        assert not canary.hits

    def test_the_agent_is_not_changed(self, desk: Any) -> None:
        before = self.fingerprint(desk)
        asyncio.run(self.journey(desk).invoke(ASKED))
        assert self.fingerprint(desk) == before

    def test_without_a_session_the_real_tools_run(self, desk: Any, canary: Canary) -> None:
        """The suite's canaries can be hit: without a session nothing stands before them."""
        asyncio.run(self.journey(desk).invoke(ASKED))
        gc.collect()
        assert not canary.hits
        asyncio.run(self.journey(desk, tools=[], unmocked="real").invoke(ASKED))
        assert canary.hits["search_flights"] == 1

    def test_sessions_of_one_adapter_do_not_nest(self, desk: Any) -> None:
        adapter = self.journey(desk, strict=False)
        with adapter.session(), pytest.raises(SessionError, match="already has a session open"):
            adapter.session().open()

    def test_closed_session_can_not_be_used_again(self, desk: Any) -> None:
        session = self.journey(desk, strict=False).session()
        with session:
            pass
        with pytest.raises(SessionError, match="opened once"):
            session.open()
        with pytest.raises(SessionClosedError):
            session.require_open("A call")

    def test_what_is_no_agent_of_the_framework_is_refused(self) -> None:
        with pytest.raises(MockConfigError, match="wraps"):
            self.adapter_class(object())

    def test_options_of_the_wrong_type_are_refused(self, desk: Any) -> None:
        for options in ({"tools": 5}, {"tools": ["search_flights"]}, {"model": 5}, {"unmocked": "maybe"}):
            with pytest.raises(MockConfigError):
                self.adapter_class(desk, **options)
