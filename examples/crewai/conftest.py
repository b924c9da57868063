"""CrewAI warns about itself on ordinary use; the settings of this repository would make errors of that."""

from pathlib import Path

import pytest

# First of all, because CrewAI's import alone warns.
import callsheet_crewai  # noqa: F401

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
