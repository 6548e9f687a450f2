"""Experiments: TOML files that define searches, validations and timings."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from cosmodag.bench.methods import METHODS, method_named
from cosmodag.errors import DataError
from cosmodag.io.files.toml_text import read_toml
from cosmodag.simulate import parse_name

__all__ = ["RULES", "Experiment", "Group", "find_experiment", "names", "read_experiment"]

RULES = ("oracle", "score")
"""Ways to choose a configuration: by the AUC, which needs the true graph (*oracle*, the paper's),
or by the likelihood of held-out rows (*score*)."""

_MOST_NAMES = 10_000
_MOST_CELLS = 10_000_000


# Parameters by which a learner reads or writes files.
_PLACES = {"checkpoint", "knowledge"}


@dataclass(frozen=True)
class Group:
    """Data sets, and the work that is done on each of them.

    Attributes
    ----------
    data
        Names of data sets; ``{a,b}`` in the file stands for each of several.
    methods
        Methods whose configuration is searched, or taken from another method's search.
    configurations, graphs
        Number of configurations for each method and data set, and of graphs for each of them.
    fresh
        Whether every configuration has its own graphs, as in the paper, or all share them.
    select
        Rules in `RULES` that choose a configuration; each has its own columns.
    validation
        Number of new graphs on which the chosen configuration is scored.
    fixed
        Methods without a search, scored on the same graphs.
    standardised
        Methods that are also scored on the same tables after standardising.
    timing
        Number of new graphs on which single fits of each method are timed.
    epochs
        Methods of which passes over the data are timed.
    parameters
        Parameters by method that differ from the method's own.
    batch
        Largest number of cells in a batch.
    """

    data: tuple[str, ...]
    methods: tuple[str, ...] = ()
    configurations: int = 0
    graphs: int = 5
    fresh: bool = True
    select: tuple[str, ...] = ("oracle",)
    validation: int = 10
    fixed: tuple[str, ...] = ()
    standardised: tuple[str, ...] = ()
    timing: int = 0
    epochs: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    batch: int = 64


@dataclass(frozen=True)
class Experiment:
    """Content of an experiment file.

    Attributes
    ----------
    name, title
        Name in the store, and title in reports.
    text
        The file itself.
    groups
        Groups of work, in order.
    seed
        Seed of graphs and configurations.
    time_limit
        Seconds per cell; a cell that takes longer has the result ``"timeout"``.
    """

    name: str
    title: str
    text: str
    groups: tuple[Group, ...]
    seed: int = 0
    time_limit: float | None = None


def names() -> list[str]:
    """Names of the experiments that come with the package."""
    folder = files("cosmodag.bench").joinpath("experiments")
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml"))


def find_experiment(name: str | os.PathLike[str]) -> Experiment:
    """Find an experiment: one that comes with the package by name, or a file.

    Examples
    --------
    >>> find_experiment("smoke").name
    'smoke'
    """
    if str(name) in names():
        text = files("cosmodag.bench").joinpath("experiments", f"{name}.toml").read_text("utf-8")
        return read_experiment(text, str(name))
    path = Path(name)
    if not path.is_file():
        raise DataError(
            f"'{name}' is neither a file nor one of the experiments {', '.join(names())}."
        )
    try:
        return read_experiment(path.read_text("utf-8"), str(name))
    except UnicodeDecodeError as error:
        raise DataError(f"'{name}' is not UTF-8 text (byte {error.start}).") from None


def read_experiment(text: str, place: str = "experiment") -> Experiment:
    """Read an experiment from the text of its file.

    Raises
    ------
    DataError
        In one sentence that names the place and the entry which cannot be used.

    Examples
    --------
    >>> read_experiment('''
    ... name = "tiny"
    ... [[group]]
    ... data = ["n100_d5_ER1_{gauss,exp}"]
    ... fixed = ["empty-graph"]
    ... ''').groups[0].data
    ('n100_d5_ER1_gauss', 'n100_d5_ER1_exp')
    """
    try:
        entries = read_toml(text)
    except RecursionError:
        raise DataError(f"'{place}' cannot be read: it is nested too deeply.") from None
    except ValueError as error:  # also of a number with thousands of digits
        raise DataError(f"'{place}' is not TOML: {str(error).rstrip('.')}.") from None
    groups = entries.pop("group", [])
    if not isinstance(groups, list) or not groups:
        raise DataError(f"'{place}' has no [[group]]: say on which data sets to do what.")
    _check_entries(place, f"'{place}'", entries, _EXAMPLE)
    if "name" not in entries:
        raise DataError(f"'{place}' has no name: add a line such as name = \"mine\".")
    entries.setdefault("title", entries["name"])
    return Experiment(text=text, groups=tuple(_group(place, group) for group in groups), **entries)


_EXAMPLE = {"name": "", "title": "", "seed": 0, "time_limit": 0.0}


def _group(place: str, entries: Any) -> Group:
    if not isinstance(entries, dict):
        raise DataError(f"A group of '{place}' is {entries!r}: write it as [[group]].")
    example = vars(Group(data=()))
    _check_entries(place, f"A group of '{place}'", entries, example)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(example[name], tuple) else value
        for name, value in entries.items()
    }
    for method, settings in values.get("parameters", {}).items():
        for name in _PLACES & set(settings):
            raise DataError(
                f"The parameter {name!r} of {method!r} in '{place}' names a place on a disk, and "
                "an experiment may come from anybody: leave it out."
            )
    values["data"] = _expanded(place, values.get("data", ()))
    group = Group(**values)
    _check_group(place, group)
    return group


def _check_entries(
    place: str, subject: str, entries: Mapping[str, Any], example: Mapping[str, Any]
) -> None:
    """Refuse entries that are unknown, or of another type than in the example."""
    for name, value in entries.items():
        if name not in example:
            raise DataError(f"{subject} has an unknown entry {name!r}: use {', '.join(example)}.")
        kind: type = type(example[name])
        _check_type(place, name, value, list if kind is tuple else kind)
        for one in value if kind is tuple else ():
            _check_type(place, name, one, str)
        for method, settings in value.items() if kind is dict else ():
            _check_type(place, method, settings, dict)


def _check_type(place: str, name: str, value: Any, kind: type) -> None:
    accepted = (int, float) if kind is float else kind
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise DataError(
            f"The entry {name!r} of '{place}' is {value!r}: it must be a {kind.__name__}."
        )
    lowest = 1 if name in ("batch", "graphs") else 0
    is_low = isinstance(value, int | float) and value < lowest
    if is_low or (name == "time_limit" and value == 0):
        raise DataError(f"The entry {name!r} of '{place}' is {value!r}: it must be greater.")


def _check_group(place: str, group: Group) -> None:
    if not group.data:
        raise DataError(f"A group of '{place}' has no data sets: add data = [\"…\"].")
    for data in group.data:
        if parse_name(data).samples is None:
            raise DataError(f"The data set {data!r} of '{place}' has no rows to draw.")
    scored = (*group.methods, *group.fixed)
    of_each = len(group.methods) * group.configurations * group.graphs
    of_each += 2 * len(scored) * group.validation + len(group.methods) * group.timing
    if len(group.data) * of_each > _MOST_CELLS:
        raise DataError(
            f"A group of '{place}' asks for more than {_MOST_CELLS:,} cells: lower its numbers of "
            "configurations and graphs."
        )
    for name in (*scored, *group.standardised, *group.epochs, *group.parameters):
        method_named(name)
    for name in group.standardised:
        if name not in scored:
            raise DataError(
                f"The method {name!r} of '{place}' is only standardised: name it first."
            )
    for name in group.methods:
        method = METHODS[name]
        if method.like is not None and method.like not in group.methods:
            raise DataError(f"The method {name!r} of '{place}' needs {method.like!r} beside it.")
        if method.like is None and method.space == "nothing":
            raise DataError(f"The method {name!r} of '{place}' has nothing to search: see fixed.")
    if group.methods and not group.configurations:
        raise DataError(f"A group of '{place}' searches, but has no configurations: say how many.")
    for rule in group.select:
        if rule not in RULES:
            raise DataError(f"'{place}' selects by {rule!r}: use {' or '.join(RULES)}.")


def _expanded(place: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """Write out every ``{a,b}``.

    Examples
    --------
    >>> _expanded("mine.toml", ["n9_d{3,4}_ER1_gauss"])
    ('n9_d3_ER1_gauss', 'n9_d4_ER1_gauss')
    """
    found: list[str] = []
    for pattern in patterns:
        pieces = re.split(r"\{([^}]*)\}", pattern)
        choices = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
        if math.prod(map(len, choices)) > _MOST_NAMES:
            raise DataError(
                f"The data set {pattern!r} of '{place}' stands for more than {_MOST_NAMES:,} "
                "names: split it."
            )
        found += ["".join(parts) for parts in product(*choices)]
    return tuple(found)
