"""Checked by mypy and basedpyright, never run: what the values' types promise a user."""

from typing import Any, assert_type

from callsheet import AgentResult, ToolCall, TraceEntry, Usage

call = ToolCall("search", {"city": "Oslo"}, response={"hotels": []}, id="call_1")
result = AgentResult("Done.", [call], trace=[TraceEntry("tool", tool_call=call)], usage=Usage(requests=1))

assert_type(call.args, dict[str, Any])
assert_type(call.to_dict(full=True), dict[str, Any])
assert_type(result.get_tool_call("search"), ToolCall | None)
assert_type(result.get_all_tool_calls("search"), list[ToolCall])
assert_type(result.batches, list[list[ToolCall]])
assert_type(result.tool_names, list[str])
assert_type(result.usage + Usage(), Usage)
assert_type(AgentResult.from_dict(result.to_dict()), AgentResult)
