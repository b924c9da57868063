"""An adapter names the versions it found and those it supports."""

from __future__ import annotations

import pytest

from callsheet import UnsupportedFrameworkError, _supported
from callsheet.adapters import SupportedFramework

DESK = SupportedFramework("callsheet-desk", {"desk": "1.2.0", "desk-core": "0.9"})


def give(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    monkeypatch.setattr(_supported, "installed", lambda name: versions[name.replace("-", "_")])


@pytest.mark.parametrize(
    ("desk", "core"), [("1.2.0", "0.9"), ("1.10", "0.9.1"), ("2.0.0rc1", "1.0"), ("1.2.0.post1", "0.10")]
)
def test_versions_from_the_floor_on_are_supported(
    monkeypatch: pytest.MonkeyPatch, desk: str, core: str
) -> None:
    give(monkeypatch, desk=desk, desk_core=core)
    DESK.check_versions()


@pytest.mark.parametrize(
    ("desk", "core", "old"), [("1.1.9", "0.9", "desk"), ("1.2.0", "0.8.12", "desk-core")]
)
def test_an_older_one_is_named_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, desk: str, core: str, old: str
) -> None:
    give(monkeypatch, desk=desk, desk_core=core)
    with pytest.raises(UnsupportedFrameworkError) as refused:
        DESK.check_versions()
    assert str(refused.value) == (
        f"callsheet-desk supports desk 1.2.0 and desk-core 0.9 or later and found {desk} and {core}: "
        f'{old} is older than that. Run: pip install -U "desk>=1.2.0" "desk-core>=0.9" callsheet-desk'
    )


def test_the_installed_version_is_the_distributions_own() -> None:
    assert _supported.installed("pytest") == pytest.__version__
