"""Patches go in together, come out exactly, and stay as long as a holder is alive."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest

from callsheet._patching import Patch, PatchSet


class Base:
    inherited = "base"


class Target(Base):
    @staticmethod
    def plain() -> str:
        return "plain"

    attribute = "attribute"


class Holder:
    pass


def collected(release: Callable[[], object]) -> None:
    """Let go of the patches and wait for what takes them out."""
    release()
    gc.collect()


def replaced_by(value: object) -> Callable[[Any], Any]:
    return lambda saved: value


@pytest.fixture
def patches() -> PatchSet:
    def targets() -> Iterator[Patch]:
        yield Patch(Target, "plain", replaced_by(lambda: "patched"))
        yield Patch(Target, "inherited", replaced_by("patched"))

    return PatchSet(targets)


def test_the_exact_descriptor_comes_back(patches: PatchSet) -> None:
    before = dict(vars(Target))
    release = patches.hold(Holder())
    collected(release)
    assert dict(vars(Target)) == before
    assert vars(Target)["plain"] is before["plain"]


def test_an_inherited_attribute_is_inherited_again(patches: PatchSet) -> None:
    holder = Holder()
    release = patches.hold(holder)
    assert Target.inherited == "patched"
    collected(release)
    assert "inherited" not in vars(Target)
    assert Target.inherited == "base"


def test_patches_stay_until_the_last_holder_is_gone(patches: PatchSet) -> None:
    first, second = Holder(), Holder()
    patches.hold(first)
    patches.hold(second)
    del first
    gc.collect()
    assert patches.installed
    assert Target.inherited == "patched"
    del second
    gc.collect()
    assert not patches.installed
    assert Target.inherited == "base"


def test_releasing_twice_counts_once(patches: PatchSet) -> None:
    first, second = Holder(), Holder()
    release = patches.hold(first)
    patches.hold(second)
    release()
    collected(release)
    assert patches.installed


def test_a_half_failed_installation_leaves_nothing_behind() -> None:
    before = dict(vars(Target))

    def targets() -> Iterator[Patch]:
        yield Patch(Target, "plain", replaced_by("patched"))
        raise RuntimeError("the framework changed")

    broken = PatchSet(targets)
    with pytest.raises(RuntimeError, match="the framework changed"):
        broken.hold(Holder())
    assert dict(vars(Target)) == before
    assert not broken.installed


def test_a_failed_installation_counts_no_holder() -> None:
    attempts: list[int] = []

    def targets() -> Iterator[Patch]:
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("once")
        yield Patch(Target, "attribute", replaced_by("patched"))

    patches = PatchSet(targets)
    holder = Holder()
    with pytest.raises(RuntimeError):
        patches.hold(holder)
    release = patches.hold(holder)
    assert Target.attribute == "patched"
    collected(release)
    assert Target.attribute == "attribute"


def test_a_patch_made_on_top_survives(patches: PatchSet) -> None:
    holder = Holder()
    release = patches.hold(holder)
    Target.inherited = "theirs"
    collected(release)
    assert Target.inherited == "theirs"
    del Target.inherited


def test_a_patch_beneath_anothers_is_not_made_twice_and_comes_out_in_the_end() -> None:
    calls: list[str] = []

    def counted(found: Any) -> Any:
        @wraps(found)
        def run(self: Any) -> str:
            calls.append("ours")
            return str(found(self))

        return run

    def theirs(found: Any) -> Any:
        @wraps(found)
        def run(self: Any) -> str:
            return str(found(self))

        return run

    class Framework:
        def run(self) -> str:
            return "ran"

    original = vars(Framework)["run"]
    patches = PatchSet(lambda: [Patch(Framework, "run", counted)])
    holder = Holder()
    release = patches.hold(holder)
    ours = vars(Framework)["run"]
    Framework.run = theirs(ours)  # type: ignore[method-assign]
    collected(release)
    release = patches.hold(holder)
    Framework().run()
    assert calls == ["ours"]
    Framework.run = ours  # type: ignore[method-assign]
    collected(release)
    assert vars(Framework)["run"] is original


def test_a_patch_that_another_threw_away_is_made_again() -> None:
    class Framework:
        def run(self) -> str:
            return "ran"

    patches = PatchSet(lambda: [Patch(Framework, "run", replaced_by(lambda self: "ours"))])
    holder = Holder()
    release = patches.hold(holder)
    Framework.run = lambda self: "theirs"  # type: ignore[method-assign]
    collected(release)
    release = patches.hold(holder)
    assert Framework().run() == "ours"
    collected(release)
    assert Framework().run() == "theirs"


def test_a_holder_collected_inside_an_installation_is_settled_afterwards() -> None:
    """The collector may run on the very thread that installs, and must not wait for it."""
    holders = [Holder()]

    def targets() -> Iterator[Patch]:
        holders.clear()
        gc.collect()
        yield Patch(Target, "attribute", replaced_by("patched"))

    patches = PatchSet(targets)
    finished = threading.Event()

    def work() -> None:
        patches.hold(holders[0])
        finished.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert finished.wait(10)
    assert Target.attribute == "patched"
    thread.join()
    gc.collect()
    assert Target.attribute == "attribute"


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_between_two_holders_patches_stay_until_the_collector_runs(
    patches: PatchSet, no_collector: None
) -> None:
    made: list[Any] = []
    once = PatchSet(lambda: made.append(1) or patches.patches())  # type: ignore[func-returns-value]
    for _ in range(3):
        once.hold(Holder())
    gc.collect(1)
    assert once.installed
    assert len(made) == 1
    gc.collect()
    assert not once.installed
    assert Target.inherited == "base"


def test_what_others_replaced_is_replaced_again_for_the_next_holder() -> None:
    """A test that replaces the framework's method itself must not open it for the session after."""

    class Framework:
        def run(self) -> str:
            return "ran"

    def ours(found: Any) -> Any:
        return lambda self: "ours"

    original = vars(Framework)["run"]
    patches = PatchSet(lambda: [Patch(Framework, "run", ours)])
    first, second = Holder(), Holder()
    patches.hold(first)
    for number in range(3):
        with pytest.MonkeyPatch.context() as context:
            context.setattr(Framework, "run", lambda self: "theirs")
            patches.hold(second)
            assert Framework().run() == "ours", number
        assert Framework().run() == "ours"
    del first, second
    gc.collect()
    assert vars(Framework)["run"] is original


def test_one_set_may_stand_on_another() -> None:
    class Framework:
        def run(self) -> str:
            return "ran"

    original = vars(Framework)["run"]
    beneath, above = (
        PatchSet(lambda: [Patch(Framework, "run", replaced_by(lambda self: "ours"))]) for _ in range(2)
    )
    holder = Holder()
    beneath.hold(holder)
    above.hold(holder)
    del holder
    gc.collect()
    assert vars(Framework)["run"] is original


def test_many_threads_hold_and_release(patches: PatchSet) -> None:
    def work() -> None:
        for _ in range(50):
            release = patches.hold(Holder())
            release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not patches.installed
    assert Target.inherited == "base"
