"""What the shell proposes when the tab key is pressed: parameters for ``--set``, columns."""

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import typer

from cosmodag.cli._learners import Method, entry_of
from cosmodag.cli._parameters import parameters_of

__all__ = ["complete_column", "complete_setting"]


def complete_setting(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Propose NAME= for the parameters of the learner, and values where they are a few words."""
    asked = context.params.get("method") or "cosmo"
    if asked not in list(Method):
        return
    name, equals, begun = incomplete.partition("=")
    for parameter in parameters_of(entry_of(Method(asked))):
        if equals and parameter.name == name.replace("-", "_"):
            for word in _words(parameter.type):
                if word.startswith(begun):
                    yield f"{name}={word}", ""
        elif not equals and parameter.option is None and parameter.name.startswith(incomplete):
            yield f"{parameter.name}=", parameter.meaning


def _words(type_: str) -> list[str]:
    words = re.findall(r'"([^"]+)"', type_)
    return [*words, "true", "false"] if type_ == "bool" else words


def complete_column(context: typer.Context, incomplete: str) -> Iterator[str]:
    """Propose names from the first line of the table, after the last comma."""
    before, comma, begun = incomplete.rpartition(",")
    for name in _header(Path(context.params.get("table") or "")):
        if name.startswith(begun):
            yield before + comma + name


def _header(table: Path) -> list[str]:
    """Read the names of a CSV's columns, none from any other file: nothing may fail here."""
    name = table.name.lower()
    if not name.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
        return []
    try:
        with (gzip.open if name.endswith(".gz") else open)(
            table, "rt", encoding="utf-8-sig", newline=""
        ) as handle:
            line = str(handle.readline())
        marks = "\t" if ".tsv" in name else max(";,\t|", key=line.count)
        return [field.strip() for field in next(csv.reader([line], delimiter=marks))]
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, StopIteration):
        return []
