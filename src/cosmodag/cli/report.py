"""``cosmodag report``: write the HTML report of a saved fit."""

from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.options.common import JsonOption
from cosmodag.cli.terminal.output import print_json, print_result

__all__ = ["report"]


def report(
    folder: Annotated[
        Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to, or a saved model.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default report.html in the folder."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a saved fit: one HTML file to open in any browser.

    It shows the graph, the arcs with standard errors, the diagnosis of the data, the training
    history, and the choices with their reasons. It neither needs nor contains the data itself.
    """
    from cosmodag.report.saved import report_folder

    home = folder if folder.is_dir() else folder.parent
    page = home / "report.html" if output is None else output
    model = report_folder(folder, page)
    if json:
        print_json({"report": page, "arcs": int(model.edges_.nnz)})
    else:
        print_result(f"written to {page}")
