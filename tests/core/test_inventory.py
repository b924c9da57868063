"""Names that stand for nothing are refused with the names that stand for something."""

from __future__ import annotations

import pytest

from callsheet import UnknownMockError
from callsheet._inventory import Inventory

DESK = Inventory({"Desk": ["search", "book"], "Weather": ["get_forecast"]})


def test_a_mock_may_be_named_after_a_tool_or_an_agents_tool():
    DESK.check_mocks(["search", "Desk.search", "Weather.get_forecast"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "serch",
            r"No tool is named 'serch'.*Did you mean 'search'.*are: 'book', 'get_forecast', 'search'",
        ),
        ("Weather.search", "No tool is named 'Weather.search'"),
        ("zzz", r"would never answer\. The tools are"),
    ],
)
def test_any_other_name_is_refused(name, message):
    with pytest.raises(UnknownMockError, match=message):
        DESK.check_mocks([name])


def test_a_script_may_be_named_after_an_agent():
    DESK.check_scripts(["Desk"])
    with pytest.raises(
        UnknownMockError, match=r"No agent is named 'desk'.*Did you mean 'Desk'.*'Desk', 'Weather'"
    ):
        DESK.check_scripts(["desk"])


def test_tools_seen_later_join():
    joined = Inventory({"Desk": ["search"]}, complete=False).joined("Desk", ["late"]).joined(None, ["loose"])
    joined.check_mocks(["search", "late", "Desk.late", "loose"])
    assert joined.tool_names() == {"search", "late", "loose"}
    assert not joined.complete
