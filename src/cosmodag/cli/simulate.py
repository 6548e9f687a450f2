"""``cosmodag simulate``: write a named data set to files."""

import io
import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cosmodag._version import __version__
from cosmodag.cli.options.common import JsonOption, QuietOption
from cosmodag.cli.terminal.output import print_json, print_table
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.simulate import Dataset

__all__ = ["simulate"]


TableFormat = Literal["csv", "parquet"]


def simulate(
    name: Annotated[str, typer.Argument(help="n<samples>_d<nodes>_<ER|SF|BP><k>_<mechanism>.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write to; by default the data set's name."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed; the same name and seed give the same data.")
    ] = 0,
    format: Annotated[TableFormat, typer.Option(help="File format of the table.")] = "csv",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate a data set by name, for example n1000_d30_ER4_gauss.

    Writes the table (data.csv), the true arcs with their weights (truth.csv), and the name, the
    seed and the versions (dataset.json).

    Mechanisms: gauss, exp, gumbel, uniform, logistic, poisson (linear, by their noise); mlp, mim,
    gp, gp-add (non-linear).
    """
    from cosmodag.simulate import load

    data = load(name, seed=seed)
    folder = Path(name) if output is None else output
    files = _write(data, folder, format)
    result = {
        "name": name,
        "seed": seed,
        "samples": data.X.shape[0],
        "variables": data.X.shape[1],
        "arcs": int(data.graph.sum()),
    }
    if json:
        print_json({**result, "files": files})
    elif not quiet:
        print_table(["", "simulated"], [*result.items(), *files.items()])


def _write(data: "Dataset", folder: Path, format: TableFormat) -> dict[str, Path]:
    from cosmodag.io.files import write_bytes, write_text
    from cosmodag.io.graphs import Graph, write_graph

    files = {
        "table": folder / f"data.{format}",
        "truth": folder / "truth.csv",
        "origin": folder / "dataset.json",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"The output '{folder}' is not a folder: give another path.") from error
    origin = {"name": data.name, "seed": data.seed, "cosmodag": __version__}
    write_bytes(files["table"], _table_bytes(data, format))
    write_graph(
        Graph(data.names, data.graph if data.weights is None else data.weights), files["truth"]
    )
    write_text(files["origin"], json_format.dumps(origin, indent=2) + "\n")
    return files


def _table_bytes(data: "Dataset", format: TableFormat) -> bytes:
    import pandas as pd

    frame = pd.DataFrame(data.X, columns=list(data.names), copy=False)
    if format == "csv":
        return frame.to_csv(index=False, lineterminator="\n").encode()
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()
