"""The site is complete: what a user can import has a reference, and every error has an explanation."""

import importlib
import re

import pytest
import yaml

import callsheet
from tests.docs.pages import ROOT

REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
DOCUMENTED = {
    name
    for page in REFERENCE
    for name in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}
MODULES = [
    "callsheet",
    "callsheet.adapters",
    "callsheet.diff",
    "callsheet.match",
    "callsheet.order",
    "callsheet.testing",
]
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES)
def test_everything_a_user_can_import_is_in_the_reference(module):
    public = set(importlib.import_module(module).__all__)
    assert public - {name.rpartition(".")[2] for name in DOCUMENTED} == set()


@pytest.mark.parametrize("adapter", sorted(path.name for path in ROOT.glob("adapters/*/callsheet_*")))
def test_every_adapter_is_in_the_reference(adapter):
    assert any(name.startswith(f"{adapter}.") for name in DOCUMENTED)


def test_every_error_is_explained():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    public = {name: getattr(callsheet, name) for name in callsheet.__all__}
    errors = {
        name for name, value in public.items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    assert {name for name in errors if not re.search(rf"\b{name}\b", page)} == set()


def test_every_adapter_has_a_first_page():
    pages = {path.stem.replace("-", "_") for path in ROOT.glob("docs/getting-started/*.md")}
    assert {path.name for path in ROOT.glob("adapters/*") if (path / "pyproject.toml").exists()} == pages


def test_nothing_is_fetched_to_build_or_read_the_site():
    plugins = {
        name for plugin in SETTINGS["plugins"] for name in ([plugin] if isinstance(plugin, str) else plugin)
    }
    assert plugins == {"search", "mkdocstrings"}
    assert SETTINGS["theme"]["font"] is False
    assert {"extra_css", "extra_javascript"}.isdisjoint(SETTINGS)
