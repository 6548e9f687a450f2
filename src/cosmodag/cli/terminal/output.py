"""Printing: messages go to stderr, results to stdout as text or JSON."""

import codecs
import io
import json
import math
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

from cosmodag.errors import CosmodagWarning, InterruptedWarning, ModelWarning, SharesWarning

# ASCII spellings of characters that a stream may not be able to encode.
_ASCII = {"→": "->", "…": "...", "−": "-", "×": "x", "“": '"', "”": '"', "≤": "<=", "≥": ">="}

# Control characters without line breaks, and characters that change the direction of text.
_DISORDERING = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

# Messages name a parameter of Python and its option, as in "(lags=1, --lags 1)" and in
# "missing='drop' (--missing drop)". The command line shows the option only.
_VALUE = r"[a-z_]+=(?:'[^']*'|\[[^\]]*\]|\([^)]*\)|\w*)"
_BEFORE_OPTION = re.compile(rf"\b{_VALUE}(?: and {_VALUE})*, (?=--[a-z])")
_WITH_OPTION = re.compile(rf"\b{_VALUE} \((--[a-z][^()]*)\)")
_WITHOUT_OPTION = re.compile(r" \([a-z_]+=\)")


def in_options(text: str) -> str:
    """Remove the names that parameters have in Python from a message that names options too.

    >>> in_options("drop with missing='drop' (--missing drop), or lag rows (lags=1, --lags 1)")
    'drop with --missing drop, or lag rows (--lags 1)'
    """
    text = _WITH_OPTION.sub(r"\1", _BEFORE_OPTION.sub("", text))
    return _WITHOUT_OPTION.sub("", text)


def prepare_streams() -> None:
    """Let stdout and stderr accept any text; discard output to a stream that the caller closed.

    Characters that a stream cannot encode are replaced by ASCII spellings, or by ``?``. A byte of
    a path that cannot be decoded in the user's encoding is written unchanged.
    """

    def in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        character = error.object[error.start]
        if "\udc80" <= character <= "\udcff":
            return bytes([ord(character) - 0xDC00]), error.start + 1
        return _ASCII.get(character, "?"), error.start + 1

    codecs.register_error("cosmodag-ascii", in_ascii)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # after ``>&-``
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="cosmodag-ascii")


def say(message: str) -> None:
    """Write a message to stderr as one line, wrapped between words on a terminal.

    Line breaks inside the message become spaces.
    """
    print(_wrapped(" ".join(in_options(message).split()), sys.stderr), file=sys.stderr, flush=True)


def _wrapped(text: str, stream: Any) -> str:
    """Wrap lines that are wider than the terminal; leave text for a file or a pipe unchanged."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        textwrap.fill(line, width) if len(line) > width else line for line in text.split("\n")
    )


MOST_WARNINGS = 3
"""Most warnings that are printed before a result; the report and run.json have all."""

# Characters above which a warning without a stated consequence ends before its remedy.
_LONG = 160


@contextmanager
def noted_warnings(noted: list[str], quiet: bool = False) -> Iterator[None]:
    """Collect this package's warnings in a list; print the first parts of three, unless ``quiet``.

    They are printed at the end of the block, those against the model first, and none that is in the
    list already. Interruptions, and what a bootstrap says before it begins, are printed at once.
    """
    waiting: list[tuple[bool, str, type[Warning]]] = []
    urgent: list[str] = []
    most = MOST_WARNINGS - len(noted)
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            is_ours = issubclass(category, CosmodagWarning)
            sentence = " ".join(str(message).split())
            if not is_ours:
                show(message, category, *where, **more)
            elif sentence not in noted:  # the bootstrap repeats the warnings of the fit
                noted.append(sentence)
                is_urgent = issubclass(category, InterruptedWarning | SharesWarning)
                if is_urgent and not quiet:
                    urgent.append(sentence)
                    show(message, category, *where, **more)
                elif not is_urgent:
                    waiting.append((not issubclass(category, ModelWarning), sentence, category))

        warnings.showwarning = note
        try:
            yield
        finally:
            for _, sentence, category in sorted(waiting, key=itemgetter(0))[
                : max(most - len(urgent), 0)
            ]:
                if not quiet:
                    show(category(first_part(sentence)), category, "", 0)


def first_part(sentence: str) -> str:
    """Return what a warning says was found, without consequences and remedies.

    >>> first_part("Relations are curved, so a linear model adds arcs: transform the columns.")
    'Relations are curved.'
    """
    first = sentence.split(", so ")[0]
    if len(first) > _LONG:
        first = first.split(": ")[0]
    return first.rstrip(".") + "."


def print_result(text: str) -> None:
    """Write a result to stdout, wrapped between words on a terminal."""
    print(_wrapped(in_options(text), sys.stdout))


def print_json(value: object) -> None:
    """Write a result to stdout as one JSON document.

    NaN and infinity, which JSON lacks, become ``null``; NumPy scalars and arrays become numbers and
    lists, and paths become strings.

    >>> import numpy as np
    >>> print_json({"auc": np.float32(0.5), "sid": float("nan")})
    {
      "auc": 0.5,
      "sid": null
    }
    """
    is_utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    print(json.dumps(_to_plain(value), indent=2, ensure_ascii=not is_utf8, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """Write an aligned table to stdout, with numbers to the right.

    Cells are printed literally: ``[bold]`` is not markup. Tabs, other control characters and those
    that change the direction of text, which would disorder the table, are escaped. Nothing is
    wrapped, cut or filled up with blanks if stdout is a file or a pipe.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    is_piped, lines = not console.is_terminal, io.StringIO()
    if is_piped:
        console = Console(file=lines, width=10_000)
    table = Table(
        title=title or None,
        box=None if is_piped else box.SIMPLE_HEAD,
        title_justify="left",
        show_edge=False,
        pad_edge=False,
    )
    for position, name in enumerate(columns):
        numeric = bool(rows) and all(_is_number(row[position]) for row in rows)
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric)
    for row in rows:
        cells = (in_options(_DISORDERING.sub(_escaped, str(cell))) for cell in row)
        table.add_row(*map(Text, cells))
    console.print(table)
    if is_piped:
        # Rich fills lines with blanks, which a terminal behind the pipe wraps.
        print("\n".join(line.rstrip() for line in lines.getvalue().splitlines()))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _is_number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return False
    return True


def _to_plain(value: Any) -> Any:
    """Convert a result to types that :mod:`json` can write."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy and JAX arrays and scalars, without importing either
        return _to_plain(value.tolist())
    if isinstance(value, Sequence | set | frozenset):
        return [_to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
