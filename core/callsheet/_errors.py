"""Every error callsheet raises.

Two families. A `CallsheetError` says a test was set up wrongly and is an ordinary exception. A
`Violation` says a promise was about to be broken while an agent ran. It derives from
`BaseException`, because frameworks catch `Exception` around tools and models and hand the text to
the model: a violation has to reach the test whatever the framework swallows.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial


class CallsheetError(Exception):
    """A test was set up wrongly, or left something undone."""


class Violation(BaseException):
    """Something a test did not allow was about to happen while an agent ran."""


class UnmockedToolError(Violation):
    """An agent called a tool that the test neither mocked nor allowed to run."""


class ScriptError(Violation):
    """A scripted reply is one that the agent's model could not give."""


class ScriptExhaustedError(ScriptError):
    """A model was asked for a reply its script does not have."""


class ResponsesExhaustedError(Violation):
    """A mock was called more often than it has `responses`."""


class MockAnswerError(Violation):
    """A mock answers what the tool it stands for could not return."""


class SessionClosedError(Violation):
    """A tool or model was reached through a session that is already closed."""


class AmbiguousSessionError(Violation):
    """A tool or model was reached from outside every session while several are open."""


class SessionProcessError(Violation):
    """A tool or model was reached in a child process, where its session can neither answer nor record."""


class OptionError(CallsheetError, ValueError):
    """An option was given a value that can not work."""


class NetworkBlockedError(CallsheetError, OSError):
    """The network was about to be reached inside `offline()`.

    An `OSError` on purpose: a client treats it as a connection that failed. What it swallows is raised
    again on leaving the block.

    Args:
        message: What was blocked, in which test, and how to let it through.
        host: The name or address, or None when a child process was refused.
        port: The port, or None for a look-up that names none.
    """

    def __init__(self, message: str, *, host: str | None = None, port: int | None = None) -> None:
        super().__init__(message)
        self.host = host
        self.port = port


class ArtifactError(CallsheetError):
    """A snapshot or a recording can not be written or read, or a value has no form to be written in."""


class MockConfigError(CallsheetError, ValueError):
    """A stand-in was described in a way that cannot work."""


class SessionError(CallsheetError, RuntimeError):
    """A session was used in a way that cannot work, such as opening one inside itself."""


class UnknownMockError(CallsheetError):
    """A mock or a script names a tool or an agent that does not exist."""


class UnusedScriptError(CallsheetError):
    """A session ended with scripted model replies that nobody asked for."""


class UnsupportedFrameworkError(CallsheetError):
    """The installed framework is not one the adapter understands."""


class AdapterNotInstalledError(CallsheetError, ImportError):
    """An adapter was asked for whose distribution is not installed."""


class ExpectationError(CallsheetError, AssertionError):
    """An expectation is written in a way that cannot be checked."""


class UnknownToolError(ExpectationError):
    """An expectation names a tool that the agent does not have."""


class VacuousAssertionWarning(UserWarning):
    """An assertion passed only because nothing happened at all."""


class UnknownFormatError(CallsheetError, ValueError):
    """A provider payload has no shape that is known, or not the shape it was said to have."""


class ToolError(Exception):
    """A mock's `error=`, raised where the real tool would have failed.

    An ordinary exception on purpose: the framework handles it as it handles the tool's own failures.

    Args:
        message: Why the tool failed.
        code: The `code` of an `error={"code", "message"}`.
    """

    def __init__(self, message: str, *, code: object = None) -> None:
        super().__init__(message)
        self.code = code


class InvalidArgumentsError(ToolError, ValueError):
    """A mocked tool was called with arguments its schema does not accept."""


class ToolTimedOutError(ToolError):
    """A mock's virtual `delay` is longer than the framework's timeout for the tool.

    Args:
        message: Which tool timed out.
        timeout: The framework's timeout in seconds.
    """

    def __init__(self, message: str, *, timeout: float) -> None:
        super().__init__(message)
        self.timeout = timeout

    def __reduce__(self) -> tuple[object, ...]:
        # An exception is rebuilt from its positional arguments, which do not hold the timeout.
        return partial(type(self), timeout=self.timeout), self.args, self.__dict__


def is_exception(value: object) -> bool:
    """Say whether a value can be raised: an exception or a class of one."""
    return isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException))


def fresh(failure: BaseException | type[BaseException]) -> BaseException:
    """Give an exception to raise: its own copy where it can be copied, so that tracebacks do not pile up."""
    if isinstance(failure, type):
        return failure()
    try:
        copied = deepcopy(failure)
    except Exception:  # noqa: BLE001 - an exception may refuse to be copied in any way; raise it itself then
        return failure
    return copied if type(copied) is type(failure) else failure


def described(error: BaseException) -> str:
    """Give an exception as text: its type and what it says."""
    said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


# A traceback names a class by its module: users find an error where they import it from.
for _value in [*globals().values()]:
    if isinstance(_value, type) and _value.__module__ == __name__:
        _value.__module__ = "callsheet"
