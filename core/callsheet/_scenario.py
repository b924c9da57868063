"""`scenario`: one test per case, the cases written in the test or in a YAML or JSON file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callsheet._data_files import load_data_file
from callsheet._errors import OptionError

if TYPE_CHECKING:
    import pytest


def scenario(
    cases: Iterable[Mapping[str, Any]] | str | os.PathLike[str], id_key: str = "id"
) -> pytest.MarkDecorator:
    """Run a pytest test once per case; the test takes the case as its argument `case`.

    Args:
        cases: Mappings, or the path of a YAML or JSON file with a list of them. A relative path starts
            at the file that calls this.
        id_key: The key whose value names the case in reports. A case without it is named by position.

    Raises:
        OptionError: If there is no case, one is no mapping, two have the same id, or the file can not
            be read.
    """
    from pytest import mark  # noqa: PT013 - the only name needed, on first use

    where = "cases"
    if isinstance(cases, (str, os.PathLike)):
        path = _caller_directory() / cases
        where, cases = str(path), load_data_file(path)
    checked = _checked(cases, where)
    return mark.parametrize("case", checked, ids=_ids(checked, id_key, where))


def _caller_directory() -> Path:
    # Past this function and `scenario`.
    file = sys._getframe(2).f_globals.get("__file__")  # noqa: SLF001 - the documented way to a caller
    return Path(file).parent if file else Path.cwd()


def _checked(cases: Any, where: str) -> list[Mapping[str, Any]]:
    if isinstance(cases, Mapping) or not isinstance(cases, Iterable):
        raise OptionError(f"{where} is {type(cases).__name__}; give a list of mappings.")
    checked = list(cases)
    if not checked:
        raise OptionError(f"{where} holds no case, so nothing would be tested.")
    for position, case in enumerate(checked):
        if not isinstance(case, Mapping):
            raise OptionError(f"{where}[{position}] is {case!r:.100}; give a mapping.")
    return checked


def _ids(cases: list[Mapping[str, Any]], id_key: str, where: str) -> list[str]:
    ids: dict[str, int] = {}
    for position, case in enumerate(cases):
        name = str(case.get(id_key, f"case{position}"))
        if name in ids:
            raise OptionError(f"{where}[{ids[name]}] and [{position}] have the same {id_key}, {name!r}.")
        ids[name] = position
    return list(ids)
