"""The marks are pytest's own, under the names `pytest -m` takes."""

import pytest

from callsheet import markers


@pytest.mark.parametrize("name", ["agent_behavior", "agent_error", "agent_multi_turn", "agent_offline"])
def test_a_mark_has_the_name_it_is_imported_by(name: str) -> None:
    assert getattr(markers, name).name == name


def test_a_mark_takes_hosts_to_let_through() -> None:
    assert markers.agent_offline(allow=["localhost"]).kwargs == {"allow": ["localhost"]}
