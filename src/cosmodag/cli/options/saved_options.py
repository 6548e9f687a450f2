"""Saved fits given to commands, and tables with the variables of a saved fit."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cosmodag.cli.options.input_options import LayoutOptions, read_rows
from cosmodag.cli.terminal.output import say
from cosmodag.errors import DataError
from cosmodag.learners.parameters import Missing

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

FitArgument = Annotated[Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to.")]


@dataclass(frozen=True)
class FittedTableOptions:
    """Options for reading a table with the variables of a saved fit."""

    layout: LayoutOptions = field(default_factory=LayoutOptions)
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="Refuse missing values in the table, drop rows that have one, or impute them from "
            "the learnt graph. Default: as in the fit."
        ),
    ] = None
    interventions: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that names the variables set by intervention in each row (empty: none; "
            "several: separated by semicolons). Default: that of the fit, if the table has it.",
        ),
    ] = None

    def read(
        self, path: Path, model: "StructureLearner", folder: Path
    ) -> "tuple[Table, list[Any] | None]":
        """Read the columns of a model, in its order, and separately the interventions.

        Missing values are kept for the model, whose treatment of them is set if one is given. By
        default, the column of interventions is that of the fit; nothing was set in a table without
        it.
        """
        if self.missing is not None:
            model.set_params(missing=self.missing)
        names = model.fitted_.texts
        kinds = zip(names, model.fitted_.kinds, strict=False)
        column = self.interventions or _column_of_interventions(folder)
        if column in names:
            raise DataError(
                f"--interventions names {column!r}, which is a variable of the fit: name the "
                "column of targets."
            )
        table, entries = read_rows(
            path,
            {"interventions": column},
            missing="keep",
            columns=names,
            declared=[name for name, kind in kinds if kind.is_levels],
            may_lack=self.interventions is None,
            **vars(self.layout),
        )
        labels = entries.get("interventions")
        if self.interventions is None and labels is not None:
            say(f"note: column {column!r} names the variables that were set, as in the fit.")
        elif column is not None and labels is None:
            say(f"note: {path.name!r} has no column {column!r}: its rows count as observations.")
            labels = [""] * len(table.X)
        return table.of_columns([table.names.index(name) for name in names]), labels


def is_fit(path: Path) -> bool:
    """Whether a path is the folder of a fit, or a saved model."""
    from cosmodag.fit.files.saved import MODEL

    return (path / MODEL).is_file() or path.suffix.lower() == ".safetensors"


def rows_of_fit(folder: Path) -> int | None:
    """Read the number of rows of the fitted table from ``run.json``; None if it is not there."""
    rows = _run(folder).get("rows")
    return rows if isinstance(rows, int) and 0 < rows < 2**63 else None


def _column_of_interventions(folder: Path) -> str | None:
    """Read from ``run.json`` which column named the variables set by intervention."""
    found = _run(folder).get("interventions")
    column = found.get("column") if isinstance(found, dict) else None
    return column if isinstance(column, str) else None


def is_table_of_fit(folder: Path, table: Path) -> bool:
    """Whether a file has the same bytes as the table of the fit."""
    from cosmodag.report.origin import file_hash

    return table.is_file() and _run(folder).get("sha256") == file_hash(table)


def _run(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; return an empty dictionary if it is absent or damaged."""
    from cosmodag.report.saved_report import RUN, read_run

    try:
        return read_run(folder / RUN)
    except (DataError, OSError):
        return {}
