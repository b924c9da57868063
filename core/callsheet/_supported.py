"""Which versions of its framework an adapter supports, and what it says of any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from callsheet._errors import UnsupportedFrameworkError

_PARTS = 3


@dataclass(frozen=True)
class SupportedFramework:
    """The framework of an adapter.

    Args:
        adapter: The adapter's distribution.
        floors: The oldest supported version of each distribution of the framework, such as "1.0.0".
    """

    adapter: str
    floors: Mapping[str, str]

    def check_versions(self) -> None:
        """Raise for a distribution that is too old.

        Raises:
            UnsupportedFrameworkError: With what is installed, what is supported, and how to get it.
        """
        for name, floor in self.floors.items():
            if _numbers(installed(name)) < _numbers(floor):
                raise self.unsupported(f"{name} is older than that")

    def unsupported(self, why: str) -> UnsupportedFrameworkError:
        """Give the error for a framework that is not one the adapter understands.

        Args:
            why: What is wrong with it.
        """
        supported = " and ".join(f"{name} {floor}" for name, floor in self.floors.items())
        found = " and ".join(installed(name) for name in self.floors)
        wanted = " ".join(f'"{name}>={floor}"' for name, floor in self.floors.items())
        return UnsupportedFrameworkError(
            f"{self.adapter} supports {supported} or later and found {found}: {why}. "
            f"Run: pip install -U {wanted} {self.adapter}"
        )


@cache
def installed(distribution: str) -> str:
    """Give the installed version of a distribution; it is read from a file, and only once."""
    from importlib.metadata import version  # takes long to import, and only a session needs it

    return version(distribution)


def _numbers(version_text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version_text.split(".")[:_PARTS] if part.isdigit())
