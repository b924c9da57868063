import copy
import inspect
import pickle

import pytest

from callsheet import _errors
from callsheet._errors import CallsheetError, ToolError, ToolTimedOutError, Violation

ERRORS = [
    error
    for _, error in inspect.getmembers(_errors, inspect.isclass)
    if issubclass(error, BaseException) and not issubclass(error, Warning)
]


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_belongs_to_one_family(error):
    families = [family for family in (CallsheetError, Violation, ToolError) if issubclass(error, family)]
    assert len(families) == 1


@pytest.mark.parametrize("error", [error for error in ERRORS if issubclass(error, Violation)])
def test_no_handler_of_ordinary_exceptions_catches_a_violation(error):
    assert not issubclass(error, Exception)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("error", [ToolError("no", code=7), ToolTimedOutError("slow", timeout=1.5)], ids=repr)
def test_a_tools_error_can_be_copied_with_all_it_says(error, again):
    error.add_note("context")
    copied = again(error)
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))


def test_a_missing_adapter_is_an_import_error_and_a_bad_mock_a_value_error():
    assert issubclass(_errors.AdapterNotInstalledError, ImportError)
    assert issubclass(_errors.MockConfigError, ValueError)
