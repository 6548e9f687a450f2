"""Tables given to commands: how they are read, and the kinds and the roles of their columns."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cosmodag.cli.options.learners import learner_option
from cosmodag.errors import DataError
from cosmodag.learners.parameters import Missing

if TYPE_CHECKING:
    from cosmodag.io.tables import Table


@dataclass(frozen=True)
class LayoutOptions:
    """Options for the layout of a table in a file, by the names of parameters of `read_table`."""

    header: Annotated[bool, typer.Option(help="Whether the first line names the columns.")] = True
    decimal: Annotated[
        Literal["auto", ".", ","],
        typer.Option(help="Decimal mark of a text file; by default detected."),
    ] = "auto"
    thousands: Annotated[
        str | None, typer.Option(metavar="MARK", help="Mark between thousands of a text file.")
    ] = None
    skip_rows: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="LINE",
            help="Leave out this line, such as a title or units; the first is 1. May be repeated.",
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A further spelling of missing values, such as -999. May be repeated.",
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of a workbook; by default the first.")
    ] = None
    transpose: Annotated[
        bool,
        typer.Option(
            "--transpose", help="The file has one variable per row, named in its first column."
        ),
    ] = False


@dataclass(frozen=True)
class ReadingOptions(LayoutOptions):
    """Options for reading a table, by the names of the parameters of `read_table`."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Use only these columns; patterns such as 'gene_*' work. May be repeated.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Leave out these columns, for example --drop id,date. May be repeated.",
        ),
    ] = None


@dataclass(frozen=True)
class KindOptions:
    """Options that declare the kinds of columns: a file, and column names by kind."""

    kinds: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .yaml, .toml or .json file that gives the kinds of columns, such as "
            "'region: categorical' or 'size: [small, medium, large]' (levels from low to high).",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Columns of categories, even if coded as numbers."),
    ] = None
    ordinal: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Columns whose numbers are ordered levels."),
    ] = None
    count: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="Columns of counts.")
    ] = None

    @cached_property
    def _from_file(self) -> dict[str, Any]:
        return {} if self.kinds is None else _read_kinds(self.kinds)

    @property
    def declared(self) -> Collection[str]:
        """Names of columns declared to hold levels, before the names of the table are known."""
        from cosmodag.data.kinds import declared_names

        entries = self.categorical or []
        names = [name.strip() for entry in entries for name in entry.split(",")]
        return {*declared_names(self._from_file, None), *entries, *names}

    def among(self, names: Sequence[str]) -> dict[str, Any] | None:
        """Return the declared kinds by the column names of a table; None if there are none."""
        from cosmodag.io.columns.names import choose_columns

        found = dict(self._from_file)
        for kind in ("categorical", "ordinal", "count"):
            if not (asked := getattr(self, kind)):
                continue
            for place in choose_columns(names, asked):
                if names[place] in found:
                    raise DataError(
                        f"The kind of column {names[place]!r} is given twice: give it once, by "
                        "--kinds, --categorical, --ordinal or --count."
                    )
                found[names[place]] = kind
        return found or None


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options for a table that a graph is learnt from, and for what is known about it."""

    reading: ReadingOptions
    missing: Annotated[Missing, learner_option("missing")] = "error"
    kinds: KindOptions
    knowledge: Annotated[
        Path | None,
        typer.Option(
            help="Background knowledge: a .yaml, .toml, .json or .csv file with forbidden and "
            "required arcs, tiers, exogenous variables, sinks."
        ),
    ] = None
    interventions: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that names the variables set by intervention in each row (empty: none; "
            "several: separated by semicolons). It is not a variable of the graph.",
        ),
    ] = None

    def read(
        self, path: Path, labels: dict[str, str | None] | None = None, is_in_time: bool = False
    ) -> "tuple[Table, dict[str, Any], dict[str, Any]]":
        """Read a table; return it, further arguments of ``fit``, and parameters of the learner.

        ``labels`` are further columns that describe the rows, see `read_rows`.
        """
        from cosmodag.data.knowledge import as_knowledge

        known = as_knowledge(self.knowledge)
        # The learner imputes missing values, and drops windows that have one.
        is_left_to_learner = self.missing == "impute" or (is_in_time and self.missing == "drop")
        table, fit_arguments = read_rows(
            path,
            {"interventions": self.interventions, **(labels or {})},
            missing="keep" if is_left_to_learner else self.missing,
            declared=self.kinds.declared,
            **vars(self.reading),
        )
        parameters = {
            "knowledge": known,
            "kinds": self.kinds.among(table.names),
            # Rows of a saved fit are later treated in the same way.
            "missing": None if self.missing == "error" else self.missing,
        }
        return table, fit_arguments, parameters


def _read_kinds(path: Path) -> dict[str, Any]:
    """Read a file that maps column names to kinds."""
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
        raise DataError(
            f"'{path}' holds no kinds by column name: write entries such as 'region: categorical'."
        )
    found = {str(name): kind for name, kind in content.items()}
    try:
        check_kinds(found)
    except DataError as error:
        raise DataError(f"'{path}': {error}") from error
    return found


def read_rows(
    path: Path, labels: dict[str, str | None], **reading: Any
) -> "tuple[Table, dict[str, Any]]":
    """Read a table and, separately, the columns that describe its rows.

    ``labels`` names the column for each of these arguments of ``fit``: interventions, regimes, time
    and series (None: no column). Interventions and regimes may be the same column. ``reading`` are
    arguments of `read_with_columns`. Returns the table, and the entries of each named column that
    it has, by argument.
    """
    from cosmodag.io.tables.read_table import read_with_columns

    named = {what: column for what, column in labels.items() if column is not None}
    apart = list(dict.fromkeys(named.values()))
    for column in apart:
        uses = [what for what, one in named.items() if one == column]
        if len(uses) > 1 and set(uses) != {"interventions", "regimes"}:
            raise DataError(
                f"The column {column!r} is named by --{uses[0]} and by --{uses[1]}: name a "
                "different column in one of them."
            )
    table, entries = read_with_columns(path, apart, **reading)
    return table, {what: entries[column] for what, column in named.items() if column in entries}
