"""Reads the YAML and JSON files a test is given: configurations and cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from callsheet._errors import OptionError


def load_data_file(path: Path) -> Any:
    """Give what a YAML or JSON file holds, as plain data.

    Raises:
        OptionError: If it can not be read, or is not valid, or its name ends with neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise OptionError(f"Can not read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"{path} is no UTF-8 text: {error}.") from error
    if path.suffix == ".json":
        return _json(text, path)
    if path.suffix in (".yaml", ".yml"):
        return _yaml(text, path)
    raise OptionError(f"The name of {path} ends with neither .yaml, .yml nor .json.")


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path} is not valid JSON: {error}.") from error


def _yaml(text: str, path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise OptionError(f"{path} is not valid YAML: {error}") from error
