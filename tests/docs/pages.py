"""Which pages run in which environment."""

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What pages about no framework in particular use in their examples.
GENERAL = "openai_agents"


def pages_of(adapters: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Give the pages whose examples run where these adapters are installed.

    A page belongs to an adapter when it lies in the adapter's folder or is named like it; every other
    page belongs to the adapter the general pages use.
    """
    everyone = {folder.name for folder in root.glob("adapters/*")}
    pages = [
        root / "README.md",
        *sorted(root.glob("docs/**/*.md")),
        *sorted(root.glob("adapters/*/README.md")),
    ]
    return [page for page in pages if _owner(page.relative_to(root), everyone) in set(adapters)]


def _owner(page: Path, everyone: set[str]) -> str:
    names = [name.replace("-", "_") for name in (*page.parent.parts, page.stem)]
    return next((name for name in names if name in everyone), GENERAL)
