"""Inputs of commands: what columns hold, and tables with the columns that describe their rows."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner


class AskedKinds:
    """What the options say of columns: the content of ``--kinds``, and names by kind.

    Names are as the options give them, separated by commas.
    """

    def __init__(self, kinds: Path | None, **options: list[str] | None) -> None:
        self.of_file = {} if kinds is None else _read_kinds(kinds)
        self.of_options = {kind: names for kind, names in options.items() if names}

    @property
    def declared(self) -> Collection[str]:
        """Names of columns that hold levels, before the names of the table are known."""
        from cosmodag.data.kinds import declared_names

        whole = self.of_options.get("categorical", [])
        parts = [part.strip() for entry in whole for part in entry.split(",")]
        return {*declared_names(self.of_file, None), *whole, *parts}

    def among(self, names: Sequence[str]) -> dict[str, Any] | None:
        """Kinds by the names of a table; None if nothing was said."""
        from cosmodag.io.columns.names import choose_columns

        found = dict(self.of_file)
        for kind, asked in self.of_options.items():
            for place in choose_columns(names, asked):
                if names[place] in found:
                    raise DataError(f"The kind of {names[place]!r} is given twice: give it once.")
                found[names[place]] = kind
        return found or None


def _read_kinds(path: Path) -> dict[str, Any]:
    """Read a file that maps names of columns to their kinds."""
    from cosmodag.data.kinds import check_kinds
    from cosmodag.io.files import read_text
    from cosmodag.io.files.documents import DOCUMENTS

    reader = DOCUMENTS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"'{path}' has no known format for kinds: give a file that ends in .yaml, .toml or "
            ".json."
        )
    text = read_text(path)
    try:
        content = reader(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"'{path}' cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise DataError(f"'{path}' holds no kinds by name, such as 'region: categorical'.")
    found = {str(name): kind for name, kind in content.items()}
    try:
        check_kinds(found)
    except DataError as error:
        raise DataError(f"'{path}': {error}") from error
    return found


def read_data(
    path: Path, interventions: str | None, **reading: Any
) -> "tuple[Table, list[Any] | None]":
    """Read a table and split off the column of interventions, if there is one."""
    table, entries = read_rows(path, {"interventions": interventions}, **reading)
    return table, entries.get("interventions")


def read_rows(
    path: Path, labels: dict[str, str | None], **reading: Any
) -> "tuple[Table, dict[str, Any]]":
    """Read a table, and apart from it the columns that describe its rows.

    ``labels`` gives the column of each argument of ``fit``: interventions, regimes, time, series;
    None for none. Interventions and regimes may be one column. ``reading`` is as for `read_table`.
    Returns the table, and the entries of each argument that has a column.
    """
    from cosmodag.io.tables.read import read_with_columns

    named = {what: column for what, column in labels.items() if column is not None}
    apart = list(dict.fromkeys(named.values()))
    for column in apart:
        using = {what for what, one in named.items() if one == column}
        if len(using) > 1 and using != {"interventions", "regimes"}:
            raise DataError(f"The column {column!r} is named by two options: name another.")
    table, entries = read_with_columns(path, apart, **reading)
    return table, {what: entries[column] for what, column in named.items()}


def input_facts(model: "StructureLearner", interventions: str | None) -> dict[str, Any]:
    """Describe knowledge, interventions and their assumptions for ``run.json``."""
    from cosmodag.data.interventions import ASSUMPTION

    known = model.knowledge_
    facts: dict[str, Any] = {"knowledge": None if known is None else known.facts()}
    sets = getattr(model, "target_sets_", None)
    if hasattr(model, "regimes_"):
        facts["regimes"] = model.regimes_.facts([str(name) for name in model.names_])
    elif sets is not None:
        names = model.names_
        named = [[str(names[v]) for v in range(len(names)) if row[v]] for row in sets]
        facts["interventions"] = {
            "column": interventions,
            "targets": [one for one in named if one],
            "assumption": ASSUMPTION,
        }
    return facts
