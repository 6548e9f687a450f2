"""``cosmodag knowledge``: a first file of background knowledge for a table."""

from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.terminal.output import print_result


def knowledge(
    *,
    template: Annotated[
        Path, typer.Option(metavar="TABLE", help="The table whose columns are put into tiers.")
    ],
) -> None:
    """Print a knowledge file with tiers: columns such as sex, age and year come first.

    Correct it by hand, and give it to 'cosmodag fit' by --knowledge.
    """
    from cosmodag.data.knowledge.early_columns import tiers_file
    from cosmodag.io import read_table

    print_result(tiers_file(read_table(template, missing="keep").names).rstrip("\n"))
