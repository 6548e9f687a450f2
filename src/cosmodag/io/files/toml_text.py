"""TOML from files that may come from anybody."""

import re
import tomllib
from typing import Any

__all__ = ["read_toml"]

# For each further part of a dotted key tomllib keeps a copy of all parts before it: 40 kB of text
# took 1.5 GB.
_MOST_PARTS = 64
_BETWEEN_KEYS = re.compile(r"[=,{}\[\]\n]")


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML; a key of very many parts is refused.

    Raises
    ------
    ValueError
        If the text is not TOML, or if a key has more than 64 parts.

    Examples
    --------
    >>> read_toml('name = "mine"')
    {'name': 'mine'}
    """
    if any(piece.count(".") > _MOST_PARTS for piece in _BETWEEN_KEYS.split(text)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)
