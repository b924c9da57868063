"""One agent per kind of tool; every real body is a canary that counts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agents
from agents import (
    Agent,
    AgentHooks,
    ApplyPatchTool,
    AsyncComputer,
    ComputerTool,
    FunctionTool,
    LocalShellTool,
    RunContextWrapper,
    ShellTool,
    function_tool,
)
from agents.mcp import MCPServer, MCPServerStdio
from mcp.types import CallToolResult, TextContent, Tool

SCREENSHOT = "aGk="


class Canary:
    """Counts every real body that ran, in this process or by leaving a file.

    Args:
        folder: Where bodies in another process leave a file.
        tool_options: What the tools with those bodies are built with, where they can be.
    """

    def __init__(self, folder: Path, tool_options: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.tool_options = tool_options or {}
        self._hits: Counter[str] = Counter()

    def hit(self, tool: str) -> None:
        self._hits[tool] += 1

    @property
    def hits(self) -> int:
        return self._hits.total() + len(list(self.folder.iterdir()))


@dataclass(frozen=True)
class Kind:
    """A kind of tool.

    Args:
        name: What the grid calls it.
        tool: The name of the mock.
        args: What the model calls it with.
        build: Builds an agent named "Desk" that has the tool, with approvals or without.
        answer: What the mock answers.
        can_have: What of "approval" and "guardrails" the SDK has for it.
        through: The calls by which other agents lead to the one that has the tool.
        run_options: What a run of it needs.
    """

    name: str
    tool: str
    args: Any
    build: Callable[[Canary, bool], Agent[Any]]
    answer: Any = "mocked"
    can_have: tuple[str, ...] = ("approval", "guardrails")
    through: tuple[tuple[str, dict[str, Any]], ...] = ()
    run_options: Callable[[], dict[str, Any]] = field(default=dict)

    def script(self) -> dict[str, list[Any]]:
        """Give a script per agent: the call, then an answer."""
        steps: dict[str, list[Any]] = {}
        for agent, step in self.through:
            steps[agent] = [step, f"{agent} done"] if "handoff" not in step else [step]
        last = self.owner
        steps[last] = [{"tool_calls": [{"name": self.tool, "args": self.args}]}, f"{last} done"]
        return steps

    @property
    def owner(self) -> str:
        return ("Desk", "Inner", "Innermost")[len(self.through)]


def lookup(canary: Canary, approval: bool = False, **options: Any) -> FunctionTool:
    @function_tool(needs_approval=approval, **canary.tool_options, **options)
    def lookup(q: str) -> str:
        """Look something up."""
        canary.hit("lookup")
        return q

    return lookup


def _sync(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", tools=[lookup(canary, approval)])


def _async(canary: Canary, approval: bool) -> Agent[Any]:
    @function_tool(needs_approval=approval, **canary.tool_options)
    async def lookup(q: str) -> str:
        """Look something up."""
        canary.hit("lookup")
        return q

    return Agent(name="Desk", tools=[lookup])


def _with_context(canary: Canary, approval: bool) -> Agent[Any]:
    @function_tool(needs_approval=approval, **canary.tool_options)
    def lookup(context: RunContextWrapper[Any], q: str) -> str:
        """Look something up."""
        canary.hit("lookup")
        return q

    return Agent(name="Desk", tools=[lookup])


def _with_timeout(canary: Canary, approval: bool) -> Agent[Any]:
    @function_tool(needs_approval=approval, timeout=5, **canary.tool_options)
    async def lookup(q: str) -> str:
        """Look something up."""
        canary.hit("lookup")
        return q

    return Agent(name="Desk", tools=[lookup])


def _without_error_function(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", tools=[lookup(canary, approval, failure_error_function=None)])


def _handmade(canary: Canary, approval: bool) -> Agent[Any]:
    async def invoke(context: Any, arguments: str) -> str:
        canary.hit("lookup")
        return arguments

    schema = {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
        "additionalProperties": False,
    }
    tool = FunctionTool(
        name="lookup",
        description="",
        params_json_schema=schema,
        on_invoke_tool=invoke,
        needs_approval=approval,
        **canary.tool_options,
    )
    return Agent(name="Desk", tools=[tool])


def _enabled(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", tools=[lookup(canary, approval, is_enabled=lambda context, agent: True)])


def _added_by_hook(canary: Canary, approval: bool) -> Agent[Any]:
    inner = Agent(name="Inner")

    class Hooks(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            if not inner.tools:
                inner.tools.append(lookup(canary, approval))

    return Agent(name="Desk", hooks=Hooks(), handoffs=[inner])


def _cloned(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Template", tools=[lookup(canary, approval)]).clone(name="Desk")


def _in_agent_tool(canary: Canary, approval: bool) -> Agent[Any]:
    inner = Agent(name="Inner", tools=[lookup(canary, approval)])
    return Agent(name="Desk", tools=[inner.as_tool("ask_inner", "Ask")])


def _two_deep(canary: Canary, approval: bool) -> Agent[Any]:
    innermost = Agent(name="Innermost", tools=[lookup(canary, approval)])
    inner = Agent(name="Inner", tools=[innermost.as_tool("ask_innermost", "Ask")])
    return Agent(name="Desk", tools=[inner.as_tool("ask_inner", "Ask")])


def _after_handoff(canary: Canary, approval: bool) -> Agent[Any]:
    inner = Agent(name="Inner", tools=[lookup(canary, approval)])
    return Agent(name="Desk", handoffs=[inner])


class MemoryServer(MCPServer):
    """An MCP server in this process."""

    def __init__(self, canary: Canary, approval: bool, tool: str = "lookup", name: str = "memory") -> None:
        super().__init__(require_approval="always" if approval else "never")
        self._canary = canary
        self._tool = tool
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[Tool]:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
        return [Tool.model_validate({"name": self._tool, "inputSchema": schema})]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> CallToolResult:
        self._canary.hit(tool_name)
        return CallToolResult(content=[TextContent(type="text", text="REAL")])

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


def _mcp(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", mcp_servers=[MemoryServer(canary, approval)])


def process_server(canary: Canary, approval: bool = False, **options: Any) -> MCPServerStdio:
    """Give a server whose process leaves a file as soon as it starts."""
    left = canary.folder / "started"
    return MCPServerStdio(
        params={"command": sys.executable, "args": ["-c", f"open({str(left)!r}, 'w')"]},
        **{"name": "files", "require_approval": "always" if approval else "never", **options},
    )


def _mcp_process(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", mcp_servers=[process_server(canary, approval)])


def _local_shell(canary: Canary, approval: bool) -> Agent[Any]:
    def execute(request: Any) -> str:
        canary.hit("local_shell")
        return "REAL"

    return Agent(name="Desk", tools=[LocalShellTool(executor=execute)])


def _shell(canary: Canary, approval: bool) -> Agent[Any]:
    async def execute(request: Any) -> str:
        canary.hit("shell")
        return "REAL"

    return Agent(name="Desk", tools=[ShellTool(executor=execute, needs_approval=approval)])


class Editor:
    """Pretends to change files."""

    def __init__(self, canary: Canary) -> None:
        self._canary = canary

    def create_file(self, operation: Any) -> None:
        self._canary.hit("create_file")

    def update_file(self, operation: Any) -> None:
        self._canary.hit("update_file")

    def delete_file(self, operation: Any) -> None:
        self._canary.hit("delete_file")


def _apply_patch(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", tools=[ApplyPatchTool(editor=Editor(canary), needs_approval=approval)])


class Screen(AsyncComputer):
    """A computer that counts what it is asked to do."""

    environment = "browser"
    dimensions = (800, 600)

    def __init__(self, canary: Canary) -> None:
        self._canary = canary

    async def _do(self, *args: Any, **kwargs: Any) -> str:
        self._canary.hit("computer")
        return SCREENSHOT

    screenshot = click = double_click = scroll = type = wait = move = keypress = drag = _do


def _computer(canary: Canary, approval: bool) -> Agent[Any]:
    return Agent(name="Desk", tools=[ComputerTool(computer=Screen(canary))])


def _computer_factory(canary: Canary, approval: bool) -> Agent[Any]:
    def create(*, run_context: Any) -> Screen:
        canary.hit("computer started")
        return Screen(canary)

    return Agent(name="Desk", tools=[ComputerTool(computer=create)])


def _custom(canary: Canary, approval: bool) -> Agent[Any]:
    async def invoke(context: Any, text: str) -> str:
        canary.hit("query")
        return text

    tool = agents.CustomTool(name="query", description="", on_invoke_tool=invoke, needs_approval=approval)
    return Agent(name="Desk", tools=[tool])


def _namespaced(canary: Canary, approval: bool) -> Agent[Any]:
    tools = agents.tool_namespace(name="crm", description="CRM", tools=[lookup(canary, approval)])
    return Agent(name="Desk", tools=[*tools, agents.ToolSearchTool()])


def _deferred(canary: Canary, approval: bool) -> Agent[Any]:
    deferred = lookup(canary, approval, defer_loading=True)
    return Agent(name="Desk", tools=[deferred, agents.ToolSearchTool()])


def _sandbox(canary: Canary, approval: bool) -> Agent[Any]:
    from agents.sandbox import SandboxAgent
    from agents.sandbox.capabilities import Shell

    return SandboxAgent(name="Desk", capabilities=[Shell()])


def _in_a_sandbox() -> dict[str, Any]:
    from agents.run import RunConfig
    from agents.sandbox import SandboxRunConfig
    from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

    return {"run_config": RunConfig(sandbox=SandboxRunConfig(client=UnixLocalSandboxClient()))}


_Q = {"q": "x"}
_ASK = {"tool_calls": [{"name": "ask_inner", "args": {"input": "x"}}]}
_ASK_FURTHER = {"tool_calls": [{"name": "ask_innermost", "args": {"input": "x"}}]}
_PATCH = {"type": "update_file", "path": "a.txt", "diff": "+x"}
_CLICK = {"type": "click", "x": 1, "y": 2, "button": "left"}

KINDS = [
    Kind("function, sync", "lookup", _Q, _sync),
    Kind("function, async", "lookup", _Q, _async),
    Kind("function, context", "lookup", _Q, _with_context),
    Kind("function, timeout", "lookup", _Q, _with_timeout),
    Kind("function, no error fn", "lookup", _Q, _without_error_function),
    Kind("function, handmade", "lookup", _Q, _handmade),
    Kind("function, is_enabled", "lookup", _Q, _enabled),
    Kind("function, by a hook", "lookup", _Q, _added_by_hook, through=(("Desk", {"handoff": "Inner"}),)),
    Kind("function, cloned agent", "lookup", _Q, _cloned),
    Kind("agent as tool", "lookup", _Q, _in_agent_tool, through=(("Desk", _ASK),)),
    Kind("agent as tool, 2 deep", "lookup", _Q, _two_deep, through=(("Desk", _ASK), ("Inner", _ASK_FURTHER))),
    Kind("after a handoff", "lookup", _Q, _after_handoff, through=(("Desk", {"handoff": "Inner"}),)),
    Kind("MCP", "lookup", _Q, _mcp, can_have=("approval",)),
    Kind("MCP, not started", "lookup", _Q, _mcp_process, can_have=("approval",)),
    Kind("local shell", "local_shell", {"command": ["ls"]}, _local_shell, can_have=()),
    Kind("shell", "shell", {"commands": ["ls"]}, _shell, can_have=("approval",)),
    Kind("apply patch", "apply_patch", _PATCH, _apply_patch, can_have=("approval",)),
    Kind("computer", "computer", _CLICK, _computer, answer=SCREENSHOT, can_have=()),
    Kind("computer factory", "computer", _CLICK, _computer_factory, answer=SCREENSHOT, can_have=()),
]
if hasattr(agents, "CustomTool"):
    KINDS.append(Kind("custom", "query", "SELECT 1", _custom, can_have=("approval",)))
if hasattr(agents, "tool_namespace"):
    KINDS.append(Kind("namespaced", "lookup", _Q, _namespaced))
    KINDS.append(Kind("deferred", "lookup", _Q, _deferred))
if hasattr(agents.RunConfig, "sandbox"):
    KINDS.append(
        Kind(
            "sandbox",
            "exec_command",
            {"cmd": "ls"},
            _sandbox,
            can_have=(),
            run_options=_in_a_sandbox,
        )
    )
