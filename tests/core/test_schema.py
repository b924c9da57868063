"""Parameters become JSON Schema, and arguments are checked against all of it."""

from __future__ import annotations

import datetime

import pytest

from callsheet import MockConfigError, _schema
from callsheet._schema import argument_errors, parameters_schema

USER = {"name": {"type": "string"}, "age": {"type": "integer", "required": False}}


def errors(parameters, args):
    return argument_errors(parameters_schema("tool", parameters), args)


def test_the_shorthand_requires_what_it_does_not_say_otherwise_of():
    assert parameters_schema("tool", USER) == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    }


def test_a_whole_schema_stays_as_it_is():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False}
    assert parameters_schema("tool", schema) == schema
    assert errors(schema, {"q": "x", "other": 1})


@pytest.mark.parametrize("name", ["type", "$ref", "anyOf", "properties"])
def test_a_parameter_may_be_named_like_a_keyword(name):
    assert parameters_schema("tool", {name: {"type": "string"}})["required"] == [name]


def test_an_object_parameter_keeps_the_names_it_requires():
    schema = parameters_schema("tool", {"user": {"type": "object", "required": ["id"]}})
    assert argument_errors(schema, {"user": {}}) is not None
    assert argument_errors(schema, {"user": {"id": 1}}) is None
    assert schema["required"] == ["user"]


def test_missing_names_come_first_and_together():
    assert (
        errors({"a": {"type": "string"}, "b": {"type": "string"}}, {}) == "Missing required parameters: a, b"
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"name": "Ada"}, None),
        ({"name": "Ada", "age": 36}, None),
        ({"name": 5}, "name: 5 is not of type"),
        ({"name": "Ada", "age": "old"}, "age: "),
        ({"name": "Ada", "age": True}, "age: "),
    ],
)
def test_types_are_checked(args, says):
    found = errors(USER, args)
    assert found is None if says is None else found.startswith(says)


def test_several_problems_are_all_told_with_their_paths():
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"minimum": 1}}}}
        },
    }
    found = argument_errors(schema, {"rows": [{"n": 0}, {"n": 1}, {"n": -1}]})
    assert "rows.0.n: " in found
    assert "rows.2.n: " in found
    assert "rows.1" not in found


def test_a_problem_of_the_whole_has_no_path():
    assert not argument_errors({"type": "object", "maxProperties": 0}, {"a": 1}).startswith(":")


def test_arguments_that_are_no_json_are_checked_as_the_text_they_become():
    schema = {"type": "object", "properties": {"day": {"type": "string"}}}
    assert argument_errors(schema, {"day": datetime.date(2027, 5, 1)}) is None
    assert argument_errors({"type": "object", "properties": {"day": {"type": "integer"}}}, {"day": {1, 2}})


def test_what_is_no_schema_says_so():
    with pytest.raises(MockConfigError, match=r"parameters of mock 'tool' is not a valid JSON Schema"):
        parameters_schema("tool", {"type": "object", "properties": 5})


def test_validators_are_kept_and_forgotten(monkeypatch):
    monkeypatch.setattr(_schema, "_compiled", {})
    monkeypatch.setattr(_schema, "_COMPILED_LIMIT", 2)
    schemas = [{"type": "object", "required": [str(number)]} for number in range(5)]
    for schema in schemas:
        assert argument_errors(schema, {schema["required"][0]: 1}) is None
        assert argument_errors(schema, {schema["required"][0]: 1}) is None
        assert len(_schema._compiled) <= 2
