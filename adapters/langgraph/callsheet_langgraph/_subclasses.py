"""Every class of the application's that derives from one of the framework's, those to come included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from callsheet.adapters import Patch


def subclasses(base: Any) -> Iterator[Any]:
    """Give every class derived from a base, at any distance."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def own_methods(derived: Any, base: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Give those of the named methods a class has of its own or of a class that derives from no framework's.

    Args:
        derived: The class.
        base: The framework's class it derives from.
        names: The methods.
    """
    left = list(names)
    for owner in derived.__mro__[: derived.__mro__.index(base)]:
        attributes = vars(owner)
        found = [name for name in left if name in attributes]
        if found:
            left = [name for name in left if name not in found]
            if owner is derived or not issubclass(owner, base):
                yield from [(name, attributes[name]) for name in found]


def watching(
    base: Any, patches_of: Callable[[Any], Iterable[Patch]], add: Callable[[Patch], None]
) -> Callable[[Any], Any]:
    """Give the replacement for a base's `__init_subclass__` by which classes to come are patched.

    Args:
        base: The framework's class.
        patches_of: Gives the patches of one subclass.
        add: Puts a patch in place.
    """

    def replace(original: Any) -> Any:
        def init_subclass(cls: Any, /, **kwargs: Any) -> None:
            if original is None:
                super(base, cls).__init_subclass__(**kwargs)
            else:
                original.__func__(cls, **kwargs)
            for patch in patches_of(cls):
                add(patch)

        return classmethod(init_subclass if original is None else wraps(original.__func__)(init_subclass))

    return replace
