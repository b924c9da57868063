"""Builders say in steps what the constructors take in keywords."""

import pytest

from callsheet import (
    AgentRunner,
    FakeModel,
    MockConfigError,
    MockMCPServer,
    MockTool,
    ScenarioBuilder,
    ToolResponseBuilder,
    UserMessageBuilder,
)


def test_a_message_with_everything() -> None:
    built = (
        UserMessageBuilder("hi")
        .with_token("t")
        .with_site("s")
        .with_header("X-A", "1")
        .with_header("X-B", "2")
        .with_metadata("case", "x")
        .build()
    )
    assert built == {
        "message": "hi",
        "access_token": "t",
        "site_id": "s",
        "headers": {"X-A": "1", "X-B": "2"},
        "metadata": {"case": "x"},
    }
    result = AgentRunner(model=FakeModel()).sync_invoke(**built)
    assert result.headers == {"X-Access-Token": "t", "X-Site-Id": "s", "X-A": "1", "X-B": "2"}


def test_only_what_was_set_is_built() -> None:
    assert UserMessageBuilder("hi").build() == {"message": "hi"}


def test_what_was_built_does_not_change_with_its_builder() -> None:
    builder = UserMessageBuilder("hi").with_header("X-A", "1")
    first = builder.build()
    builder.with_header("X-A", "2")
    assert first["headers"] == {"X-A": "1"}


def test_a_tool_with_everything() -> None:
    tool = (
        ToolResponseBuilder("create")
        .with_description("Creates")
        .with_param("name", "string")
        .with_param("role", "string", required=False, enum=["admin", "user"])
        .with_response({"id": 1})
        .with_error("down", after=1)
        .build()
    )
    assert isinstance(tool, MockTool)
    server = MockMCPServer([tool])
    assert server.call_tool("create", {}) == {"error": "Missing required parameters: name"}
    assert "error" in server.call_tool("create", {"name": "a", "role": "king"})
    assert server.call_tool("create", {"name": "a", "role": "user"}) == {"result": {"id": 1}}
    assert server.call_tool("create", {"name": "a"}) == {"error": {"message": "down"}}
    assert server.list_tools()[0]["description"] == "Creates"


def test_a_tool_that_always_fails_and_one_that_takes_anything() -> None:
    assert MockMCPServer([ToolResponseBuilder("a").with_error("down").build()]).call_tool("a") == {
        "error": {"message": "down"}
    }
    assert MockMCPServer([ToolResponseBuilder("a").build()]).call_tool("a", {"x": 1}) == {"result": None}


def test_each_built_tool_counts_for_itself() -> None:
    builder = ToolResponseBuilder("a").with_error("down", after=1).with_response(1)
    first, second = builder.build(), builder.build()
    MockMCPServer([first]).call_tool("a")
    assert MockMCPServer([second]).call_tool("a") == {"result": 1}


def test_a_scenario_with_everything() -> None:
    scenario = (
        ScenarioBuilder("happy")
        .with_tool(MockTool("create", response={"ok": True}))
        .with_model_responses([{"tool_calls": [{"name": "create", "args": {"email": "a@b"}}]}, "Done."])
        .with_message("Create a@b")
        .with_token("t")
        .with_site("s")
        .with_header("X-A", "1")
        .with_metadata("case", "happy")
        .with_model_name("nova")
        .build()
    )
    assert scenario.name == "happy"
    result = scenario.runner.sync_invoke(**scenario.invocation)
    assert result.response == "Done."
    assert result.model_used == "nova"
    assert result.tool_names == ["create"]
    assert result.headers == {"X-Access-Token": "t", "X-Site-Id": "s", "X-A": "1"}
    assert result.metadata["case"] == "happy"


def test_each_built_scenario_has_a_script_of_its_own() -> None:
    builder = ScenarioBuilder("a").with_model_responses(["one"]).with_message("hi")
    for scenario in (builder.build(), builder.build()):
        assert scenario.runner.sync_invoke(**scenario.invocation).response == "one"


def test_a_scenario_without_a_script_answers_an_empty_text() -> None:
    scenario = ScenarioBuilder("a").with_message("hi").build()
    assert scenario.runner.sync_invoke(**scenario.invocation).response == ""


def test_a_scenario_that_says_nothing_is_refused() -> None:
    with pytest.raises(MockConfigError, match=r"'a' says nothing\. Add \.with_message"):
        ScenarioBuilder("a").build()
