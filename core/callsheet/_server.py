"""`MockMCPServer`: a named set of stand-ins, callable like an MCP server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from callsheet._errors import MockConfigError, ResponsesExhaustedError, ToolError
from callsheet._mocks import MockTool
from callsheet._showing import shortened


class MockMCPServer:
    """A set of mocks, looked up by name and, where several share a name, by their arguments.

    Args:
        tools: The mocks.

    Raises:
        MockConfigError: Something in `tools` is not a MockTool, or two mocks without `when=` share a name.
    """

    __module__ = "callsheet"

    def __init__(self, tools: Iterable[MockTool] = ()) -> None:
        self._tools: list[MockTool] = []
        # Those of the tools that are looked up first, by whatever name.
        self._overlay: list[MockTool] = []
        self.call_log: list[dict[str, Any]] = []
        self.add_tools(tools)

    def add_tool(self, tool: MockTool) -> None:
        """Add one mock.

        Args:
            tool: The mock.

        Raises:
            MockConfigError: It is no MockTool, or another one without `when=` has its name.
        """
        if not isinstance(tool, MockTool):
            raise MockConfigError(
                f"{shortened(repr(tool))} is {type(tool).__name__}, not a MockTool. "
                'Give MockTool("name", response=...).'
            )
        if tool.when is None and any(other.name == tool.name and other.when is None for other in self._tools):
            raise MockConfigError(
                f"Two mocks are named {tool.name!r}. Rename one, or tell them apart with when={{...}}."
            )
        self._tools.append(tool)

    def add_tools(self, tools: Iterable[MockTool]) -> None:
        """Add several mocks.

        Args:
            tools: The mocks, or a server that has them.

        Raises:
            MockConfigError: As for `add_tool`.
        """
        if isinstance(tools, (MockTool, str)) or not isinstance(tools, Iterable):
            raise MockConfigError(
                f"tools is {type(tools).__name__}. Give a list of MockTool, or a MockMCPServer."
            )
        for tool in tools:
            self.add_tool(tool)

    def remove_tool(self, name: str) -> None:
        """Remove every mock of a name.

        Args:
            name: The name.

        Raises:
            KeyError: No mock has the name.
        """
        if name not in self:
            raise KeyError(f"No mock is named {name!r}; there are {', '.join(self.tool_names) or 'none'}.")
        self._tools = [tool for tool in self._tools if tool.name != name]
        self._overlay = [tool for tool in self._overlay if tool.name != name]

    def list_tools(self) -> list[dict[str, Any]]:
        """Give the catalogue as MCP's tools/list does: name, description and inputSchema."""
        offered = (self.get_tool(name) for name in self.tool_names)
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.schema or {"type": "object", "properties": {}},
            }
            for tool in offered
            if tool is not None
        ]

    def get_tool(self, name: str) -> MockTool | None:
        """Give the first mock of a name, or None."""
        return next((tool for tool in self._tools if tool.name == name), None)

    @property
    def tool_names(self) -> list[str]:
        """The names, each once, in order."""
        return list(dict.fromkeys(tool.name for tool in self._tools))

    def find(self, names: Sequence[str], args: dict[str, Any] | None) -> MockTool | None:
        """Give the mock that answers a call, or None.

        Args:
            names: The names the called tool goes by, the most specific first.
            args: The call's arguments, or None when they were no JSON object.

        The first mock of the most specific name whose `when` accepts the arguments wins; one without
        `when` is that name's fallback.
        """
        if self._overlay:
            found = _find(self._overlay, names, args)
            if found is not None:
                return found
        return _find(self._tools, names, args)

    def call_tool(self, name: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a mock directly.

        Args:
            name: The tool's name.
            args: The arguments, checked against the mock's `parameters`.

        Returns:
            `{"result": answer}`, or `{"error": ...}` with a text for a call that reached no answer and a
            `{"message", "code"}` mapping for a tool that failed.

        Raises:
            MockConfigError: The arguments are no dict, or the mock is a spy and there is no real tool here.
        """
        args = {} if args is None else args
        if not isinstance(args, Mapping):
            raise MockConfigError(
                f"args of a call of {name!r} is {args!r}, {type(args).__name__}. "
                'Give a dict of arguments by name: {"city": "Rome"}.'
            )
        answer = self._called(name, args)
        self.call_log.append({"name": name, "args": args, **answer})
        return answer

    def _called(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        if name not in self:
            return {"error": f"Unknown tool: {name}"}
        tool = self.find([name], args)
        if tool is None:
            return {"error": f"No mock of tool {name!r} accepts these arguments: {args!r}"}
        if tool.is_spy:
            raise MockConfigError(
                f"MockTool.spy({name!r}) has no real tool to call here. "
                f"Give MockTool({name!r}, response=...)."
            )
        try:
            tool.check(args)
        except ToolError as error:
            return {"error": str(error)}
        try:
            return {"result": tool.answer(args)}
        except ToolError as error:
            code = {} if error.code is None else {"code": error.code}
            return {"error": {**code, "message": str(error)}}
        except (ResponsesExhaustedError, Exception) as error:  # noqa: BLE001 - a server answers, it never raises
            return {"error": {"message": str(error)}}

    def overlaid(self, tools: MockMCPServer | Iterable[MockTool]) -> MockMCPServer:
        """Give a set in which these mocks are looked up before this set's; both write to this call log.

        Args:
            tools: The mocks to look up first; one without `when=` takes the place of all of its name.
        """
        over = tools if isinstance(tools, MockMCPServer) else MockMCPServer(tools)
        replaced = {tool.name for tool in over if tool.when is None}
        kept = (tool for tool in self._tools if tool.when is not None or tool.name not in replaced)
        merged = MockMCPServer([*over, *kept])
        merged._overlay = list(over)
        merged.call_log = self.call_log
        return merged

    def reset(self) -> None:
        """Clear the call log and every mock's calls."""
        self.call_log.clear()
        for tool in self._tools:
            tool.reset()

    def __iter__(self) -> Iterator[MockTool]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self._tools)

    def __repr__(self) -> str:
        return f"MockMCPServer({self._tools!r})"


def _find(tools: Iterable[MockTool], names: Iterable[str], args: dict[str, Any] | None) -> MockTool | None:
    for name in names:
        fallback = None
        for tool in tools:
            if tool.name != name:
                continue
            if tool.when is None:
                fallback = tool
            elif tool.matches(args):
                return tool
        if fallback is not None:
            return fallback
    return None
