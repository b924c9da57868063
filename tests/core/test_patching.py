"""Patches go in together, come out exactly, and stay as long as a holder is alive."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any
from unittest import mock

import pytest

from callsheet._patch import Patch
from callsheet._patching import PatchSet, _after_fork


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
    assert patches.targets() == [(Target, "plain"), (Target, "inherited")]
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


@pytest.mark.parametrize(
    "spying",
    [lambda found: {"wraps": found}, lambda found: {"side_effect": found, "autospec": True}],
    ids=["wraps", "autospec"],
)
def test_a_spy_on_a_patch_that_is_still_there_is_not_patched_again(
    spying: Callable[[Any], dict[str, Any]],
) -> None:
    """Between two sessions a test spies on the framework and finds ours."""
    calls: list[str] = []

    class Framework:
        def run(self) -> str:
            return "ran"

    def ours(found: Any) -> Any:
        def run(*args: Any) -> str:
            calls.append("ours")
            return str(found(*args))

        return run

    original = vars(Framework)["run"]
    patches = PatchSet(lambda: [Patch(Framework, "run", ours)])
    patches.hold(Holder())
    holder = Holder()
    framework = Framework()
    with mock.patch.object(Framework, "run", **spying(vars(Framework)["run"])) as spy:
        patches.hold(holder)
        assert Framework.run(framework) == "ran"
    spy.assert_called_once()
    assert calls == ["ours"]
    del holder
    gc.collect()
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
    patches.hold(Holder())
    ours = vars(Target)["plain"]
    for _ in range(3):
        patches.hold(Holder())
        assert vars(Target)["plain"] is ours
    gc.collect(0)
    assert patches.installed
    gc.collect()
    assert not patches.installed
    assert Target.inherited == "base"


def test_a_collection_that_finds_a_holder_lets_the_next_one_begin_anew(
    patches: PatchSet,
) -> None:
    """A class of one test must not be kept for all of them because collections fall into sessions."""

    class Late:
        attribute = "late"

    holder = Holder()
    patches.hold(holder)
    patches.add(Patch(Late, "attribute", replaced_by("patched")))
    late = weakref.ref(Late)
    gc.collect()
    del holder, Late
    next_holder = Holder()
    release = patches.hold(next_holder)
    gc.collect()
    assert patches.installed
    assert late() is None
    collected(release)


def test_a_collection_while_somebody_is_at_work_takes_nothing_out_until_the_next_holder() -> None:
    seen: list[bool] = []

    def targets() -> Iterator[Patch]:
        yield Patch(Target, "attribute", replaced_by("patched"))
        gc.collect()
        seen.append(Target.attribute == "patched")

    patches = PatchSet(targets)
    for _ in range(2):
        patches.hold(Holder())
    assert seen == [True, True]
    assert Target.attribute == "patched"
    gc.collect()
    assert Target.attribute == "attribute"


def test_what_came_to_be_unseen_is_replaced_for_the_next_holder() -> None:
    """A class may keep its base from hearing of it, and a test may give it a method afterwards."""

    class Framework:
        def run(self) -> str:
            return "real"

    def targets() -> Iterator[Patch]:
        for cls in (Framework, *Framework.__subclasses__()):
            if "run" in vars(cls):
                yield Patch(cls, "run", replaced_by(lambda self: "ours"))

    patches = PatchSet(tuple, classes=targets)
    first = Holder()
    patches.hold(first)

    class Application(Framework):
        def run(self) -> str:
            return "real"

    assert Application().run() == "real"
    second = Holder()
    patches.hold(second)
    assert Application().run() == "ours"
    del first, second
    gc.collect()
    assert Application().run() == "real"


def test_a_failed_look_at_the_framework_opens_nobody_elses_session(patches: PatchSet) -> None:
    broken: list[str] = []

    def targets() -> Iterator[Patch]:
        yield Patch(Target, "attribute", replaced_by("patched"))
        if broken:
            raise RuntimeError(broken[0])

    patches = PatchSet(tuple, classes=targets)
    holder = Holder()
    patches.hold(holder)
    broken.append("the framework changed")
    with pytest.raises(RuntimeError, match="the framework changed"):
        patches.hold(Holder())
    assert Target.attribute == "patched"
    del holder
    gc.collect()
    assert Target.attribute == "attribute"


def test_an_object_that_is_finalized_inside_an_installation_may_install_too() -> None:
    kept = [Holder()]

    class Dying:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            patches.hold(kept[0])

    dying = [Dying()]

    def targets() -> Iterator[Patch]:
        if dying:
            dying.clear()
            gc.collect()
        yield Patch(Target, "attribute", replaced_by("patched"))

    patches = PatchSet(targets)
    finished = threading.Event()

    def work() -> None:
        patches.hold(Holder())
        finished.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert finished.wait(10)
    thread.join()
    gc.collect()
    assert Target.attribute == "patched"
    kept.clear()
    gc.collect()
    assert Target.attribute == "attribute"


def test_a_collection_while_another_thread_is_at_work_waits_for_nobody(no_collector: None) -> None:
    inside, collect_done = threading.Event(), threading.Event()

    def targets() -> Iterator[Patch]:
        yield Patch(Target, "attribute", replaced_by("patched"))
        inside.set()
        assert collect_done.wait(10)

    patches = PatchSet(targets)
    holders = [Holder()]
    thread = threading.Thread(target=lambda: patches.hold(holders[0]))
    thread.start()
    assert inside.wait(10)
    gc.collect()
    collect_done.set()
    thread.join()
    assert Target.attribute == "patched"
    holders.clear()
    gc.collect()
    assert Target.attribute == "attribute"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_in_the_middle_of_an_installation_can_install() -> None:
    children: list[int] = []

    def child() -> None:
        signal.alarm(20)
        patches.hold(Holder())
        os._exit(0 if Target.attribute == "patched" else 1)

    def targets() -> Iterator[Patch]:
        if not children:
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
        yield Patch(Target, "attribute", replaced_by("patched"))

    def fork() -> None:
        children.append(0)
        children[0] = os.fork()
        if children[0] == 0:
            child()

    patches = PatchSet(targets)
    release = patches.hold(Holder())
    assert os.waitpid(children[0], 0)[1] == 0
    # What the child does first does no harm here either.
    _after_fork()
    collected(release)
    assert Target.attribute == "attribute"


def test_what_replaced_ours_is_not_kept_once_it_is_taken_away() -> None:
    """A mock of the framework's method has the arguments it was called with, and they lead to the session."""

    class Framework:
        def run(self, *args: Any) -> str:
            return "ran"

    def ours(found: Any) -> Any:
        return lambda self, *args: f"ours, {found(self, *args)}"

    original = vars(Framework)["run"]
    patch = Patch(Framework, "run", ours)
    patches = PatchSet(lambda: [patch])
    for stands_before in (False, True):
        holder = Holder()
        if stands_before:
            patches.hold(holder)
        with mock.patch.object(Framework, "run", autospec=True):
            patches.hold(holder)
            Framework().run(holder)
        del holder
        # A mock is a cycle: one collection for it, and one for what it held.
        gc.collect()
        gc.collect()
        assert not patches.installed
        assert vars(Framework)["run"] is original


def test_a_class_whose_method_was_replaced_can_be_collected() -> None:
    patches = PatchSet(lambda: [Patch(Target, "attribute", replaced_by("patched"))])

    def session() -> weakref.ref[Any]:
        class Tool:
            def run(self) -> str:
                return "real"

        holder = Holder()
        with pytest.MonkeyPatch.context() as context:
            context.setattr(Tool, "run", lambda self: "theirs")
            patches.hold(holder)
            patches.add(Patch(Tool, "run", lambda found: lambda self: f"ours, {found(self)}"))
        return weakref.ref(Tool)

    tool = session()
    gc.collect()
    gc.collect()
    assert tool() is None


def test_ours_that_somebody_kept_and_puts_back_later_is_known_again() -> None:
    """A patch of the test's reads what is there, and the collector may run before it writes."""
    calls: list[str] = []

    class Framework:
        def run(self) -> str:
            return "ran"

    def ours(found: Any) -> Any:
        def run(self: Any) -> str:
            calls.append("ours")
            return str(found(self))

        return run

    original = vars(Framework)["run"]
    patches = PatchSet(lambda: [Patch(Framework, "run", ours)])
    release = patches.hold(Holder())
    kept = vars(Framework)["run"]
    collected(release)
    assert vars(Framework)["run"] is original
    Framework.run = kept  # type: ignore[method-assign]
    release = patches.hold(Holder())
    Framework().run()
    assert calls == ["ours"]
    collected(release)
    assert vars(Framework)["run"] is original


def test_a_set_beneath_another_comes_out_when_that_is_out() -> None:
    class Framework:
        def run(self) -> str:
            return "ran"

    def ours(found: Any) -> Any:
        return wraps(found)(lambda self: f"ours, {found(self)}")

    original = vars(Framework)["run"]
    beneath, above = (PatchSet(lambda: [Patch(Framework, "run", ours)]) for _ in range(2))
    release_beneath = beneath.hold(Holder())
    holder = Holder()
    release_above = above.hold(holder)
    collected(release_beneath)
    assert above.installed
    collected(release_above)
    assert vars(Framework)["run"] is original


def test_what_is_out_already_may_be_left_again(patches: PatchSet) -> None:
    collected(patches.hold(Holder()))
    patches.leave()
    release = patches.hold(Holder())
    assert Target.inherited == "patched"
    collected(release)
    assert Target.inherited == "base"


def test_what_is_replaced_by_nothing_comes_back() -> None:
    patches = PatchSet(lambda: [Patch(Target, "attribute", replaced_by(None))])
    release = patches.hold(Holder())
    assert Target.attribute is None
    collected(release)
    assert Target.attribute == "attribute"


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
