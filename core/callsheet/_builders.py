"""Fluent builders: what a test says in many keyword arguments, one step at a time.

Each `with_` method changes the builder and gives it back; each `build` gives something new.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from callsheet._errors import MockConfigError
from callsheet._fake_model import FakeModel
from callsheet._mocks import MockTool
from callsheet._runner import AgentRunner
from callsheet._server import MockMCPServer


class UserMessageBuilder:
    """What a user says and with which rights, as the arguments of `AgentRunner.invoke`.

    Args:
        message: The text.
    """

    __module__ = "callsheet"

    def __init__(self, message: str) -> None:
        self._message = message
        self._options: dict[str, Any] = {}

    def with_token(self, token: str) -> Self:
        """Send an access token."""
        self._options["access_token"] = token
        return self

    def with_site(self, site_id: str) -> Self:
        """Send a site's id."""
        self._options["site_id"] = site_id
        return self

    def with_header(self, name: str, value: str) -> Self:
        """Send one more header."""
        self._options.setdefault("headers", {})[name] = value
        return self

    def with_metadata(self, key: str, value: Any) -> Self:
        """Add to `result.metadata`."""
        self._options.setdefault("metadata", {})[key] = value
        return self

    def build(self) -> dict[str, Any]:
        """Give the arguments that were set: `await runner.invoke(**arguments)`."""
        copied = {
            key: dict(value) if isinstance(value, dict) else value for key, value in self._options.items()
        }
        return {"message": self._message, **copied}


class ToolResponseBuilder:
    """A `MockTool`.

    Args:
        name: The tool's name.
    """

    __module__ = "callsheet"

    def __init__(self, name: str) -> None:
        self._name = name
        self._options: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}

    def with_description(self, description: str) -> Self:
        """Say what the tool is for."""
        self._options["description"] = description
        return self

    def with_param(self, name: str, type: str = "string", *, required: bool = True, **schema: Any) -> Self:
        """Add a parameter.

        Args:
            name: The parameter's name.
            type: Its JSON Schema type.
            required: Whether a call has to have it.
            **schema: Further keywords of JSON Schema, such as `enum`.
        """
        self._parameters[name] = {"type": type, "required": required, **schema}
        return self

    def with_response(self, response: Any) -> Self:
        """Answer each call with a value, or with what a callable makes of the arguments."""
        self._options["response"] = response
        return self

    def with_error(self, error: str | Mapping[str, Any], after: int | None = None) -> Self:
        """Fail each call, or each after a number of successful ones.

        Args:
            error: The text, or a `{"code", "message"}` mapping.
            after: The number of calls that succeed first.
        """
        self._options.update(error=error, error_after=after)
        return self

    def build(self) -> MockTool:
        """Give the mock.

        Raises:
            MockConfigError: What was asked for contradicts itself.
        """
        return MockTool(self._name, parameters=dict(self._parameters), **self._options)


@dataclass(frozen=True)
class Scenario:
    """An agent and what to say to it: `await scenario.runner.invoke(**scenario.invocation)`.

    Args:
        name: What the scenario is called.
        runner: The agent.
        invocation: The arguments of its `invoke`.
    """

    __module__ = "callsheet"

    name: str
    runner: AgentRunner
    invocation: dict[str, Any] = field(default_factory=dict)


class ScenarioBuilder:
    """A `Scenario`: tools, a script, a message and its rights.

    Args:
        name: What the scenario is called.
    """

    __module__ = "callsheet"

    def __init__(self, name: str) -> None:
        self._name = name
        self._tools: list[MockTool] = []
        self._responses: list[Any] | None = None
        self._model_name: str | None = None
        self._message: str | None = None
        self._user = UserMessageBuilder("")

    def with_tool(self, tool: MockTool) -> Self:
        """Add a mock."""
        self._tools.append(tool)
        return self

    def with_model_responses(self, responses: Iterable[Any]) -> Self:
        """Script the model, one step per call."""
        self._responses = list(responses)
        return self

    def with_model_name(self, name: str) -> Self:
        """Say which model the agent is configured with."""
        self._model_name = name
        return self

    def with_message(self, message: str) -> Self:
        """Say something."""
        self._message = message
        return self

    def with_token(self, token: str) -> Self:
        """Send an access token."""
        self._user.with_token(token)
        return self

    def with_site(self, site_id: str) -> Self:
        """Send a site's id."""
        self._user.with_site(site_id)
        return self

    def with_header(self, name: str, value: str) -> Self:
        """Send one more header."""
        self._user.with_header(name, value)
        return self

    def with_metadata(self, key: str, value: Any) -> Self:
        """Add to `result.metadata`."""
        self._user.with_metadata(key, value)
        return self

    def build(self) -> Scenario:
        """Give the scenario, with a runner and a model of its own.

        Raises:
            MockConfigError: There is no message, a step of the script is none, or two tools share a name.
        """
        if self._message is None:
            raise MockConfigError(f"Scenario {self._name!r} says nothing. Add .with_message(...).")
        runner = AgentRunner(
            mcp_server=MockMCPServer(self._tools),
            model=FakeModel(responses=self._responses),
            model_name=self._model_name,
        )
        return Scenario(self._name, runner, {**self._user.build(), "message": self._message})
