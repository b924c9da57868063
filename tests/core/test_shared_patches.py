"""Methods are replaced while somebody holds them, and put back exactly."""

from collections.abc import Callable
from typing import Any

import pytest

from callsheet._shared_patches import SharedPatches


class Greeter:
    def greet(self) -> str:
        return "hello"

    def part(self) -> str:
        return "bye"


ORIGINAL = Greeter.__dict__["greet"]


def louder(original: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda self: original(self).upper()


def refuse(original: Any) -> Any:
    raise RuntimeError("not this one")


def test_the_replacement_is_in_place_until_the_last_holder_lets_go() -> None:
    patches = SharedPatches(lambda: [(Greeter, "greet", louder)])
    patches.hold()
    patches.hold()
    patches.release()
    assert Greeter().greet() == "HELLO"
    patches.release()
    assert Greeter.__dict__["greet"] is ORIGINAL


def test_a_patch_of_someone_else_on_top_stays() -> None:
    patches = SharedPatches(lambda: [(Greeter, "greet", louder)])
    patches.hold()
    ours = Greeter.greet

    def theirs(self: Greeter) -> str:
        return f"<{ours(self)}>"

    Greeter.greet = theirs  # type: ignore[method-assign]
    try:
        patches.release()
        assert Greeter().greet() == "<HELLO>"
    finally:
        Greeter.greet = ORIGINAL  # type: ignore[method-assign]


def test_half_an_installation_is_undone() -> None:
    patches = SharedPatches(lambda: [(Greeter, "greet", louder), (Greeter, "part", refuse)])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not this one"):
            patches.hold()
        assert Greeter.__dict__["greet"] is ORIGINAL


def test_what_is_patched_is_asked_for_late() -> None:
    asked: list[bool] = []
    patches = SharedPatches(lambda: asked.append(True) or [])
    assert asked == []
    patches.hold()
    patches.release()
    assert asked == [True]
