"""YAML, TOML and JSON from files that may come from anybody: nothing in them is run."""

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

__all__ = ["DOCUMENTS", "read_toml", "read_yaml"]

# For each further part of a dotted key tomllib keeps a copy of all parts before it: 40 kB of text
# took 1.5 GB.
_MOST_PARTS = 64
_BETWEEN_KEYS = re.compile(r"[=,{}\[\]\n]")


def read_yaml(text: str) -> Any:
    """Read YAML; a ValueError says that it is none.

    Examples
    --------
    >>> read_yaml("size: [small, large]")
    {'size': ['small', 'large']}
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not valid YAML: {error}") from error


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML; a ValueError says that it is none, or that a key has more than 64 parts.

    Examples
    --------
    >>> read_toml('name = "mine"')
    {'name': 'mine'}
    """
    if any(piece.count(".") > _MOST_PARTS for piece in _BETWEEN_KEYS.split(text)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)


DOCUMENTS: dict[str, Callable[[str], Any]] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".toml": read_toml,
    ".json": json.loads,
}
"""Readers by file extension."""
