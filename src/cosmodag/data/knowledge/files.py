"""Background knowledge from files: YAML, TOML, JSON, and CSV with one statement per line."""

import csv
import io
import os
from pathlib import Path
from typing import Any

from cosmodag.data.knowledge.statement import Knowledge, as_knowledge
from cosmodag.errors import KnowledgeError
from cosmodag.io.files import check_file
from cosmodag.io.files.documents import DOCUMENTS

_ARCS = {"forbidden": "forbidden_edges", "required": "required_edges", "allowed": "search_space"}
_VARIABLES = {"exogenous": "exogenous", "sink": "sinks"}


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    r"""Read knowledge from a file.

    A ``.yaml`` (``.yml``), ``.toml`` or ``.json`` file holds the parts of
    :class:`cosmodag.Knowledge` by name. A ``.csv`` file has one statement per line, under the
    heading ``kind,cause,effect``: kind is ``forbidden``, ``required`` or ``allowed`` for an arc;
    ``exogenous`` or ``sink`` for the variable under ``cause``; or ``tier`` for the variable under
    ``cause``, with the number of its tier under ``effect``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "known.yaml"
    >>> _ = path.write_text("tiers:\n- [sex, age]\n- [dose]\nforbidden_edges:\n- [sex, dose]\n")
    >>> read_knowledge(path)
    Knowledge(forbidden_edges=[['sex', 'dose']], tiers=[['sex', 'age'], ['dose']])
    """
    path = Path(path)
    readers = {**DOCUMENTS, ".csv": _csv}
    if path.suffix.lower() not in readers:
        raise KnowledgeError(
            f"'{path}' has no known format for knowledge: give a file that ends in .yaml, .toml, "
            ".json or .csv."
        )
    check_file(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            content = readers[path.suffix.lower()](file.read())
    except RecursionError as error:
        raise KnowledgeError(f"'{path}' cannot be read: it is nested too deeply.") from error
    except (ValueError, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise KnowledgeError(f"'{path}' cannot be read: {reason}") from error
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise KnowledgeError(
            f"'{path}' must hold a mapping, with parts such as 'tiers:' or 'forbidden_edges:'."
        )
    try:
        known = as_knowledge(content)
    except KnowledgeError as error:
        raise KnowledgeError(f"'{path}': {error}") from error
    assert known is not None
    return known


def _csv(text: str) -> dict[str, Any]:
    # Not split by lines: a quoted name may contain a line break.
    lines = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    if not lines or [cell.strip() for cell in lines[0]] != ["kind", "cause", "effect"]:
        raise ValueError("its first line must be kind,cause,effect.")
    parts: dict[str, list[Any]] = {}
    tiers: dict[int, list[str]] = {}
    for number, line in enumerate(lines[1:], start=2):
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        kind, cause, effect, *more = [*cells, "", ""]
        if any(more):
            raise ValueError(
                f"line {number} has more than three fields: quote names that contain a comma."
            )
        if kind in _ARCS and cause and effect:
            parts.setdefault(_ARCS[kind], []).append((cause, effect))
        elif kind in _VARIABLES and cause and not effect:
            parts.setdefault(_VARIABLES[kind], []).append(cause)
        elif kind == "tier" and cause and effect.isdecimal():
            tiers.setdefault(int(effect), []).append(cause)
        else:
            raise ValueError(
                f"line {number} is {','.join(line)!r}, but must be forbidden, required or allowed "
                "followed by an arc; exogenous or sink followed by a variable; or tier followed by "
                "a variable and a number."
            )
    return {**parts, "tiers": [tiers[number] for number in sorted(tiers)]}
