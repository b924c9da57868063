"""A team's own assertions, registered by name or installed with a package."""

from collections.abc import Iterator
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest

from callsheet import (
    AgentResult,
    OptionError,
    clear_assertions,
    list_assertions,
    register_assertion,
    run_custom_assertion,
)

RESULT = AgentResult("Your SSN is 1")


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    clear_assertions()
    yield
    clear_assertions()


def no_pii(result: AgentResult, fields: list[str] | None = None) -> None:
    for field in fields or []:
        if field.lower() in result.response.lower():
            raise AssertionError(f"{field} leaked")


def test_a_registered_assertion_runs_by_its_name() -> None:
    assert register_assertion("no_pii", no_pii) is no_pii
    run_custom_assertion("no_pii", RESULT)
    run_custom_assertion("no_pii", RESULT, ["iban"])
    with pytest.raises(AssertionError, match="ssn leaked") as raised:
        run_custom_assertion("no_pii", RESULT, fields=["ssn"])
    assert raised.value.__notes__ == ["In the custom assertion 'no_pii'."]


def test_they_are_listed_and_forgotten() -> None:
    register_assertion("b", no_pii)
    register_assertion("a", no_pii)
    assert list_assertions() == ["a", "b"]
    clear_assertions()
    assert list_assertions() == []


def test_an_unknown_name_gives_the_known_ones() -> None:
    register_assertion("no_pii", no_pii)
    with pytest.raises(OptionError, match=r"'no_pi'\. Did you mean 'no_pii'\? There are: 'no_pii'\."):
        run_custom_assertion("no_pi", RESULT)


def test_answering_false_is_failing() -> None:
    register_assertion("is_polite", lambda result: "please" in result.response)
    with pytest.raises(AssertionError, match="'is_polite' answered False"):
        run_custom_assertion("is_polite", RESULT)
    run_custom_assertion("is_polite", AgentResult("please"))


async def later(result: AgentResult) -> None:
    raise AssertionError("never seen")


class Later:
    def __await__(self) -> Iterator[None]:
        return iter(())


def test_what_nobody_would_await_is_refused() -> None:
    with pytest.raises(OptionError, match="'later' is async"):
        register_assertion("later", later)
    register_assertion("hidden", lambda result: later(AgentResult(result.response)))
    register_assertion("other", lambda result: Later())
    for name in ("hidden", "other"):
        with pytest.raises(OptionError, match="nothing was checked"):
            run_custom_assertion(name, RESULT)


@pytest.mark.parametrize(
    ("name", "assertion", "advice"),
    [
        ("", no_pii, "no name"),
        (" ", no_pii, "no name"),
        (7, no_pii, "no name"),
        ("a", "no_pii", "give a function"),
    ],
)
def test_what_can_not_be_registered_is_refused(name: Any, assertion: Any, advice: str) -> None:
    with pytest.raises(OptionError, match=advice):
        register_assertion(name, assertion)


def test_a_name_is_taken_once_unless_replaced() -> None:
    register_assertion("a", no_pii)
    register_assertion("a", no_pii)
    with pytest.raises(OptionError, match="Another assertion is named 'a'"):
        register_assertion("a", print)
    register_assertion("a", print, replace=True)
    run_custom_assertion("a", RESULT)


def test_installed_packages_offer_assertions(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def load() -> Any:
        loads.append("team_pii")
        return no_pii

    points = {"callsheet.assertions": [SimpleNamespace(name="team_pii", load=load)]}
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: points[group])
    register_assertion("mine", no_pii)
    assert list_assertions() == ["mine", "team_pii"]
    assert loads == []
    for _ in range(2):
        with pytest.raises(AssertionError, match="ssn leaked"):
            run_custom_assertion("team_pii", RESULT, fields=["ssn"])
    assert loads == ["team_pii"]
    clear_assertions()
    assert list_assertions() == ["team_pii"]
