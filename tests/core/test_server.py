"""A set of mocks: looked up by name and arguments, called like an MCP server."""

from __future__ import annotations

import pytest

from callsheet import MockConfigError, MockMCPServer, MockTool

WEATHER = MockTool(
    "get_weather",
    description="Get the weather",
    parameters={"city": {"type": "string"}, "unit": {"type": "string", "required": False}},
    response={"temp": 20},
)


@pytest.fixture
def server():
    WEATHER.reset()
    return MockMCPServer([WEATHER, MockTool("broken", error="down")])


def test_a_tool_answers_with_its_result(server):
    assert server.call_tool("get_weather", {"city": "Rome"}) == {"result": {"temp": 20}}


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("nope", {}, "Unknown tool: nope"),
        ("get_weather", {}, "Missing required parameters: city"),
        ("get_weather", None, "Missing required parameters: city"),
        ("broken", {}, {"message": "down"}),
    ],
)
def test_what_goes_wrong_is_an_error_in_the_answer(server, name, args, error):
    assert server.call_tool(name, args) == {"error": error}


def test_an_error_keeps_its_code():
    server = MockMCPServer([MockTool("api", error={"code": 503, "message": "busy"})])
    assert server.call_tool("api") == {"error": {"code": 503, "message": "busy"}}


def test_what_a_mock_raises_is_an_error_in_the_answer():
    server = MockMCPServer([MockTool("api", raises=KeyError("x")), MockTool("once", responses=[1])])
    assert server.call_tool("api") == {"error": {"message": "'x'"}}
    assert server.call_tool("once") == {"result": 1}
    assert "has 1 responses" in server.call_tool("once")["error"]["message"]


def test_arguments_no_mock_is_for_are_an_error():
    server = MockMCPServer([MockTool("api", when={"q": 1})])
    assert server.call_tool("api", {"q": 2}) == {
        "error": "No mock of tool 'api' accepts these arguments: {'q': 2}"
    }


def test_a_spy_has_nothing_to_call_here():
    with pytest.raises(MockConfigError, match="no real tool to call here"):
        MockMCPServer([MockTool.spy("api")]).call_tool("api")


def test_the_log_has_every_call_with_its_answer(server):
    server.call_tool("get_weather", {"city": "Rome"})
    server.call_tool("broken")
    assert server.call_log == [
        {"name": "get_weather", "args": {"city": "Rome"}, "result": {"temp": 20}},
        {"name": "broken", "args": {}, "error": {"message": "down"}},
    ]
    server.reset()
    assert server.call_log == []
    assert WEATHER.call_count == 0


def test_the_catalogue_names_each_tool_once():
    server = MockMCPServer(
        [WEATHER, MockTool("plain"), MockTool("plain", when={"q": 1}, description="special")]
    )
    assert server.list_tools() == [
        {"name": "get_weather", "description": "Get the weather", "inputSchema": WEATHER.schema},
        {"name": "plain", "description": "", "inputSchema": {"type": "object", "properties": {}}},
    ]
    assert server.tool_names == ["get_weather", "plain"]
    assert len(server) == 3
    assert "plain" in server
    assert "nope" not in server


def test_mocks_of_one_name_are_told_apart_by_their_arguments():
    special, first, fallback = (
        MockTool("api", when={"q": 1, "r": 2}),
        MockTool("api", when={"q": 1}),
        MockTool("api"),
    )
    server = MockMCPServer([fallback, special, first])
    assert server.find(["api"], {"q": 1, "r": 2}) is special
    assert server.find(["api"], {"q": 1}) is first
    assert server.find(["api"], {"q": 3}) is fallback
    assert server.find(["api"], None) is fallback
    assert server.find(["other"], {}) is None


def test_the_more_specific_name_comes_first():
    plain, bound = MockTool("api"), MockTool("Desk.api", when={"q": 1})
    server = MockMCPServer([plain, bound])
    assert server.find(["Desk.api", "api"], {"q": 1}) is bound
    assert server.find(["Desk.api", "api"], {"q": 2}) is plain


def test_two_mocks_without_when_may_not_share_a_name():
    with pytest.raises(MockConfigError, match="Two mocks are named 'api'"):
        MockMCPServer([MockTool("api"), MockTool("api")])


@pytest.mark.parametrize("tools", [5, "api", MockTool("api"), None])
def test_tools_have_to_be_a_list(tools):
    with pytest.raises(MockConfigError, match="Give a list of MockTool"):
        MockMCPServer(tools)


def test_a_tool_has_to_be_a_mock():
    with pytest.raises(MockConfigError, match=r"'api' is str, not a MockTool"):
        MockMCPServer(["api"])


def test_tools_are_removed_by_name(server):
    server.remove_tool("broken")
    assert server.tool_names == ["get_weather"]
    assert server.get_tool("broken") is None
    assert server.get_tool("get_weather") is WEATHER
    with pytest.raises(KeyError, match="No mock is named 'broken'; there are get_weather"):
        server.remove_tool("broken")
    server.remove_tool("get_weather")
    with pytest.raises(KeyError, match="there are none"):
        server.remove_tool("broken")


def test_mocks_laid_over_come_first_and_share_the_log(server):
    over = server.overlaid(
        [MockTool("broken", response="works"), MockTool("get_weather", when={"city": "Oslo"})]
    )
    assert over.call_tool("broken") == {"result": "works"}
    assert over.call_tool("get_weather", {"city": "Rome"}) == {"result": {"temp": 20}}
    assert [entry["name"] for entry in server.call_log] == ["broken", "get_weather"]
    assert server.overlaid(MockMCPServer()).tool_names == server.tool_names
    assert server.tool_names == ["get_weather", "broken"]


def test_mocks_laid_over_come_before_more_specific_names():
    plain, bound = MockTool("api", when={"q": 1}), MockTool("Desk.api")
    over = MockMCPServer([bound]).overlaid([plain])
    assert over.find(["Desk.api", "api"], {"q": 1}) is plain
    assert over.find(["Desk.api", "api"], {"q": 2}) is bound
    over.remove_tool("api")
    assert over.find(["Desk.api", "api"], {"q": 1}) is bound


@pytest.mark.parametrize("args", [["Rome"], '{"city": "Rome"}', 5])
def test_the_arguments_of_a_call_are_a_dict(server, args):
    with pytest.raises(
        MockConfigError, match=r"args of a call of 'get_weather' is .*Give a dict of arguments"
    ):
        server.call_tool("get_weather", args)
    assert server.call_log == []


def test_a_servers_repr_names_its_mocks():
    assert repr(MockMCPServer([MockTool("api")])) == "MockMCPServer([MockTool('api')])"
    assert [tool.name for tool in MockMCPServer([MockTool("api")])] == ["api"]
