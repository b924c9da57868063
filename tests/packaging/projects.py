"""The distributions this repository makes, read from where they are made."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Project:
    """One distribution: the folder of its pyproject.toml and the folder of its package."""

    folder: Path
    package: Path

    def __str__(self):
        return self.package.name

    @property
    def settings(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))

    @property
    def metadata(self) -> dict[str, Any]:
        return self.settings["project"]

    @property
    def stem(self) -> str:
        """How the files of the distribution start."""
        return f"{self.metadata['name'].replace('-', '_')}-{self.metadata['version']}"

    @property
    def sources(self) -> set[str]:
        """The package's files, as paths that start with the package's name."""
        files = (
            path for path in self.package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        return {path.relative_to(self.package.parent).as_posix() for path in files}


CORE = Project(ROOT, ROOT / "core" / "callsheet")
ADAPTERS = [
    Project(init.parents[1], init.parent) for init in sorted(ROOT.glob("adapters/*/callsheet_*/__init__.py"))
]
PROJECTS = [CORE, *ADAPTERS]
