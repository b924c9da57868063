"""Every error callsheet raises.

Two families. A `CallsheetError` says a test was set up wrongly and is an ordinary exception. A
`Violation` says a promise was about to be broken while an agent ran. It derives from
`BaseException`, because frameworks catch `Exception` around tools and models and hand the text to
the model: a violation has to reach the test whatever the framework swallows.
"""

from __future__ import annotations


class CallsheetError(Exception):
    """A test was set up wrongly, or left something undone."""


class Violation(BaseException):
    """Something a test did not allow was about to happen while an agent ran."""


class UnmockedToolError(Violation):
    """An agent called a tool that the test neither mocked nor allowed to run."""


class ScriptExhaustedError(Violation):
    """A model was asked for a reply its script does not have."""


class ResponsesExhaustedError(Violation):
    """A mock was called more often than it has `responses`."""


class SessionClosedError(Violation):
    """A tool or model was reached through a session that is already closed."""


class AmbiguousSessionError(Violation):
    """A tool or model was reached from outside every session while several are open."""


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


class UnknownFormatError(CallsheetError, ValueError):
    """A provider payload has no shape that is known, or not the shape it was said to have."""


class ToolError(Exception):
    """A mock's `error=`, raised where the real tool would have failed.

    An ordinary exception on purpose: the framework handles it as it handles the tool's own failures.
    """

    def __init__(self, message: str, *, code: object = None) -> None:
        super().__init__(message)
        self.code = code


class InvalidArgumentsError(ToolError, ValueError):
    """A mocked tool was called with arguments its schema does not accept."""


class ToolTimedOutError(ToolError):
    """A mock's virtual `delay` is longer than the framework's timeout for the tool."""

    def __init__(self, message: str, *, timeout: float) -> None:
        super().__init__(message)
        self.timeout = timeout
