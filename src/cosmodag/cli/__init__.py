"""The command line; each command imports heavy modules only when it runs.

Examples
--------
>>> from cosmodag.cli import main
>>> main(["--version"])  # doctest: +ELLIPSIS
cosmodag ...
0
"""

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from cosmodag._version import __version__
from cosmodag.cli.about import doctor, methods
from cosmodag.cli.bench import app as bench
from cosmodag.cli.effects import effect
from cosmodag.cli.fit import fit
from cosmodag.cli.graph_commands import convert, evaluate
from cosmodag.cli.knowledge_template import knowledge
from cosmodag.cli.saved_fits import report, validate
from cosmodag.cli.simulated import demo, simulate
from cosmodag.cli.table_commands import diagnose, pag
from cosmodag.cli.terminal.output import prepare_streams, print_result
from cosmodag.cli.terminal.shell import EXIT_USAGE, register, run
from cosmodag.cli.terminal.signals import EXIT_INTERRUPTED, EXIT_TERMINATED, end_process

__all__ = ["app", "main", "program"]

# In the order of the help page.
_COMMANDS: list[Callable[..., None]] = [demo, fit, diagnose, pag, simulate, report]
_COMMANDS += [knowledge, effect, validate, evaluate, convert, methods, doctor]

app = typer.Typer(
    name="cosmodag",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        print_result(f"cosmodag {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Learn a directed acyclic graph from a table of data."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(EXIT_USAGE)


for _command in _COMMANDS:
    register(app, _command.__name__, _command)
app.add_typer(bench, name="bench")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``cosmodag`` on a command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line after the program's name; None takes it from ``sys.argv``.

    Returns
    -------
    int
        0 done, 1 ran but failed, 2 bad usage or bad input, 130 after Ctrl-C, 143 after SIGTERM.
    """
    prepare_streams()
    return run(app, arguments)


def program() -> NoReturn:
    """Run ``cosmodag`` as a program: call :func:`main` and exit with its code."""
    # With Python's default threshold of 700 objects, garbage collection takes an eighth of a short
    # fit.
    gc.set_threshold(50_000, 20, 20)
    code = main()
    if code in (EXIT_INTERRUPTED, EXIT_TERMINATED):
        with suppress(OSError):  # a full disk
            sys.stdout.flush()
        end_process(code)
    # The collections at exit leave frozen objects out: a second `cosmodag fit` of 200 rows and 10
    # variables takes 1.48 CPU seconds instead of 1.82.
    gc.freeze()
    sys.exit(code)
