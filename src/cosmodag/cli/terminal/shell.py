"""Running commands: options in groups, errors as one sentence on stderr, exit codes.

Exit codes: 0 done, 1 ran but failed, 2 bad usage or bad input, 130 after Ctrl-C, 143 after SIGTERM.
"""

import functools
import inspect
import os
import shlex
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import is_dataclass
from typing import Any, cast

import typer

from cosmodag.cli.terminal.cache_folder import remove_damaged
from cosmodag.cli.terminal.output import say
from cosmodag.cli.terminal.signals import EXIT_TERMINATED, end_of_interrupt, handled_signals
from cosmodag.errors import CosmodagError, CosmodagWarning, DataError
from cosmodag.runtime.compile_progress import Tally, listening

# Seconds of compilation per line of progress, and seconds between two checks.
_SECONDS_PER_LINE = 2.0
_SECONDS_PER_CHECK = 0.25

EXIT_FAILED = 1
EXIT_USAGE = 2

# Some versions of Typer bundle click, others import it; in both, BadParameter is public and its
# base class is the class of all usage errors.
_UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())

# Options of other programs, and the equivalent option of this one.
_SYNONYMS = {
    "--nan": "--missing",
    "--impute": "--missing impute",
    "--dropna": "--missing drop",
    "--algorithm": "--method",
    "--learner": "--method",
    "--model": "--method",
    "--out": "--output",
    "--outdir": "--output",
    "--random-state": "--seed",
    "--exclude": "--drop",
    "--ignore": "--drop",
    "--include": "--columns",
    "--usecols": "--columns",
    "--timeout": "--max-time",
    "--standardize": "--scale standardize",
    "--resamples": "--bootstrap",
    "--targets": "--interventions",
    "--gpu": "--device gpu",
}


@contextmanager
def compile_lines() -> Iterator[None]:
    """Context of a command that writes a line after every two seconds of compilation.

    On a terminal and in a notebook, the progress bar of the fit shows compilation instead.
    """
    if sys.stderr.isatty() or "IPython" in sys.modules:
        yield
        return
    over = threading.Event()
    threads: list[threading.Thread] = []

    def begin(tally: Tally) -> None:
        if not threads:
            threads.append(threading.Thread(target=_write_lines, args=(tally, over), daemon=True))
            threads[0].start()

    try:
        with listening(begin):
            yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _write_lines(tally: Tally, over: threading.Event) -> None:
    seconds = 0.0
    while not over.wait(_SECONDS_PER_CHECK):
        seconds += _SECONDS_PER_CHECK * tally.is_busy
        if seconds >= _SECONDS_PER_LINE:
            say(str(tally))
            seconds = 0.0


def register(app: typer.Typer, name: str, function: Callable[..., None]) -> None:
    """Add a command to the app, with error handling; its docstring is its help page.

    If a parameter is a dataclass, each field of it becomes an option: commands share options by
    sharing such a dataclass. Its fields may be dataclasses again.
    """

    @functools.wraps(function)
    def command(**given: Any) -> None:
        function(**_arguments_of(function, given))

    options = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in _options_of(function)]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    app.command(name)(_guarded(command))


def _options_of(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command or a dataclass, those of a dataclass in place of it."""
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            yield from _options_of(cast("type", parameter.annotation))
        else:
            yield parameter


def _arguments_of(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command or a dataclass, from the values of all options."""
    arguments = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        group: Any = parameter.annotation
        is_group = is_dataclass(group)
        arguments[name] = group(**_arguments_of(group, given)) if is_group else given[name]
    return arguments


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run the app on a command line (None: ``sys.argv``) and return its exit code."""
    _ARGUMENTS.set(tuple(sys.argv[1:] if arguments is None else arguments))
    try:
        with handled_signals():
            code = app(args=arguments, prog_name="cosmodag", standalone_mode=False)
            sys.stdout.flush()
    except _UsageError as error:
        say(f"error: {_describe_usage(error)}")
        return EXIT_USAGE
    except OSError as error:  # the help page or the last lines of a result
        return _report(error)
    except SystemExit as stop:
        if stop.code == EXIT_TERMINATED:
            say("error: stopped by SIGTERM.")
        return stop.code if isinstance(stop.code, int) else EXIT_FAILED
    return code if isinstance(code, int) else 0


def command_line() -> str:
    """Return the running command, quoted so that it can be run again.

    >>> _ = _ARGUMENTS.set(("fit", "my table.csv"))
    >>> command_line()
    "cosmodag fit 'my table.csv'"
    """
    return shlex.join(("cosmodag", *_ARGUMENTS.get()))


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    """Convert exceptions of a command to a sentence on stderr and an exit code.

    The handler wraps the command, not the app: it then sees Ctrl-C before Typer converts it, and
    an app that a test runs behaves like the program.
    """

    @functools.wraps(function)
    def command(*args: object, **kwargs: object) -> None:
        try:
            with _one_line_warnings(), nullcontext() if kwargs.get("quiet") else compile_lines():
                function(*args, **kwargs)
        except (CosmodagError, OSError, MemoryError, KeyboardInterrupt) as error:
            raise typer.Exit(_report(error)) from error

    return command


def _report(error: BaseException) -> int:
    """Print one sentence about an error and return its exit code."""
    code = EXIT_USAGE if isinstance(error, DataError) else EXIT_FAILED
    match error:
        case CosmodagError():
            say(f"error: {error}")
        case KeyboardInterrupt():
            code, sentence, _ = end_of_interrupt()
            say(sentence)
        case MemoryError():
            say("error: out of memory; try fewer columns, rows or trainings.")
        case BrokenPipeError():
            pass  # the reader closed the pipe, as in `cosmodag doctor | head`
        case OSError():
            reason = (error.strerror or str(error)).lower()
            where = "the operating system refused to read or write"
            if error.filename is not None:
                where = f"cannot read or write '{os.fsdecode(error.filename)}'"
            say(f"error: {where}: {reason}.")
    _abandon_unwritten_output()
    return code


def _describe_usage(error: Exception) -> str:
    """Describe a usage error in one line that names the help page."""
    message = str(getattr(error, "format_message", error.__str__)()).replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    option = str(getattr(error, "option_name", ""))
    if option in _SYNONYMS:
        message = f"No such option: {option}: use {_SYNONYMS[option]}"
    page = f"{context.command_path} --help" if context is not None else "cosmodag --help"
    return f"{message.rstrip('.')} (see '{page}')."


def _abandon_unwritten_output() -> None:
    """Discard output that cannot be written.

    Python flushes stdout again on exit: on a closed pipe or a full disk this would print a second
    error and change the exit code.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show this package's warnings as one line, without file name and line number."""
    with warnings.catch_warnings():
        show_as_python_does = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            is_ours = issubclass(category, CosmodagWarning)
            sentence = str(message) if is_ours else remove_damaged(str(message))
            if sentence:
                say(f"warning: {sentence}")
            elif sentence is None:
                show_as_python_does(message, category, *where, **more)

        warnings.showwarning = show
        yield
