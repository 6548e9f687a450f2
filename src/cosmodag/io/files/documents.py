"""YAML, TOML and JSON from untrusted files: nothing in them is executed."""

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any

# For each part of a dotted key, tomllib keeps a copy of all parts before it: 40 kB of text took
# 1.5 GB.
_MOST_PARTS = 64
_BETWEEN_KEYS = re.compile(r"[=,{}\[\]\n]")

# Maximum number of entries of a YAML document after every reference (``*name``) is expanded.
_MOST_ENTRIES = 1_000_000
_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(text: str) -> Any:
    """Read YAML; raise ValueError for any other text.

    Merge keys (``<<``) and repeated keys are refused, and so are references that refer to
    themselves or expand to more than a million entries: a few hundred bytes of them can take
    gigabytes.

    >>> read_yaml("size: [small, large]")
    {'size': ['small', 'large']}
    """
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return None
        _check_nodes(root)
        return loader.construct_document(root)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not valid YAML: {error}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError("a value is not of the type that its tag (!!) declares.") from error


def _check_nodes(root: Any) -> None:
    """Refuse merge keys, repeated keys, and references that expand to too many entries."""
    sizes: dict[int, float] = {}

    def size(node: Any) -> float:
        if id(node) not in sizes:
            sizes[id(node)] = math.inf  # if the node refers to itself, its size is infinite
            parts = node.value if isinstance(node.value, list) else []
            if node.id == "mapping":
                if any(key.tag == _MERGE for key, _ in parts):
                    raise ValueError("it has a merge key (<<): write its entries out.")
                _refuse_repeated([key.value for key, _ in parts if key.id == "scalar"])
                parts = [part for pair in parts for part in pair]
            sizes[id(node)] = 1 + sum(map(size, parts))
        return sizes[id(node)]

    if size(root) > _MOST_ENTRIES:
        raise ValueError(f"its references expand to more than {_MOST_ENTRIES:,} entries.")


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML; raise ValueError for any other text, and for a key of more than 64 parts.

    >>> read_toml('name = "mine"')
    {'name': 'mine'}
    """
    if any(piece.count(".") > _MOST_PARTS for piece in _BETWEEN_KEYS.split(text)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)


def read_json(text: str) -> Any:
    """Read JSON; raise ValueError for any other text, and for repeated keys.

    >>> read_json('{"size": [1, 2]}')
    {'size': [1, 2]}
    """

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _refuse_repeated([key for key, _ in pairs])
        return dict(pairs)

    return json.loads(text, object_pairs_hook=mapping)


def _refuse_repeated(keys: list[str]) -> None:
    """Refuse repeated keys, since only the last value would count."""
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        raise ValueError(f"it has the key {repeated[0]!r} more than once: write one entry for it.")


DOCUMENTS: dict[str, Callable[[str], Any]] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".toml": read_toml,
    ".json": read_json,
}
"""Functions that read a document from text, by file extension."""
