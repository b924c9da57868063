"""Tool parameters as JSON Schema, and what is wrong with a call's arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from callsheet._errors import MockConfigError
from callsheet._identity import identity

if TYPE_CHECKING:
    import jsonschema_rs

# A whole schema says so at its top level; in the shorthand every value there is a mapping.
_SCHEMA_MARKS = ("type", "$schema", "$ref", "anyOf", "oneOf", "allOf")

# Compiling costs more than checking. The schema is kept beside its validator, so its identity stays its own.
_compiled: dict[int, tuple[Mapping[str, Any], jsonschema_rs.Validator]] = {}
_COMPILED_LIMIT = 512


def parameters_schema(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Give the JSON Schema of a mock's `parameters`: a whole schema as it is, the shorthand expanded.

    Raises:
        MockConfigError: The parameters are neither, or no validator can be built from them.
    """
    if not isinstance(parameters, Mapping):
        raise MockConfigError(
            f"parameters of mock {name!r} is {type(parameters).__name__}, not a mapping. "
            'Give {"city": {"type": "string"}} or a JSON Schema.'
        )
    is_schema = any(not isinstance(parameters.get(mark, {}), Mapping) for mark in _SCHEMA_MARKS)
    schema = dict(parameters) if is_schema else _expanded(name, parameters)
    try:
        _validator(schema)
    except ValueError as error:
        raise MockConfigError(
            f"parameters of mock {name!r} is not a valid JSON Schema: {error}. "
            'Give {"city": {"type": "string"}} or a JSON Schema.'
        ) from error
    return schema


def argument_errors(schema: Mapping[str, Any], args: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a call's arguments, or give None when the schema accepts them.

    Missing names come first and all together: `Missing required parameters: email, name`.
    """
    missing = [name for name in schema.get("required", ()) if name not in args]
    if missing:
        return f"Missing required parameters: {', '.join(missing)}"
    validator = _validator(schema)
    try:
        if validator.is_valid(args):
            return None
        errors = validator.iter_errors(args)
    except ValueError:
        # The validator takes JSON values only; a framework may hand over dates or models.
        errors = validator.iter_errors(json.loads(json.dumps(args, default=str)))
    return "; ".join(map(_described, errors)) or None


def _expanded(name: str, shorthand: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter, described in shorthand.items():
        if not isinstance(described, Mapping):
            raise MockConfigError(
                f"parameter {parameter!r} of mock {name!r} is {described!r}, not a mapping. "
                f'Give {{"{parameter}": {{"type": "string"}}}} or a JSON Schema.'
            )
        properties[parameter] = {key: value for key, value in described.items() if key != "required"}
        # In JSON Schema `required` is a list that belongs to the property's own object.
        if isinstance(described.get("required"), list):
            properties[parameter]["required"] = described["required"]
        if described.get("required", True):
            required.append(parameter)
    return {"type": "object", "properties": properties, "required": required}


def _validator(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    known = _compiled.get(identity(schema))
    if known is not None:
        return known[1]
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema))
    if len(_compiled) >= _COMPILED_LIMIT:
        _compiled.clear()
    _compiled[identity(schema)] = (schema, validator)
    return validator


def _described(error: jsonschema_rs.ValidationError) -> str:
    path = ".".join(map(str, error.instance_path))
    return f"{path}: {error.message}" if path else error.message
