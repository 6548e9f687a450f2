"""Experiments: TOML files that define searches, validations and timings."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path
from typing import Any, get_type_hints

from cosmodag.bench.methods import METHODS
from cosmodag.errors import DataError
from cosmodag.io.files.documents import read_toml
from cosmodag.simulate import parse_name

__all__ = ["RULES", "Experiment", "Group", "find_experiment", "names", "read_experiment"]

RULES = {"oracle": "auc", "score": "score"}
"""Ways to choose a configuration, and the figure whose mean over graphs each maximises: the AUC,
which needs the true graph (the paper's), or the likelihood of held-out rows."""

_SHIPPED = files("cosmodag.bench").joinpath("experiments")
_MOST_NAMES = 10_000
_MOST_CELLS = 10_000_000

# Parameters by which a learner reads or writes files.
_PLACES = {"checkpoint", "knowledge"}

# Types of entries: in words, and whether a value of a file is of the type.
_TYPES: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("text", lambda v: type(v) is str),
    bool: ("true or false", lambda v: type(v) is bool),
    int: ("a whole number", lambda v: type(v) is int),
    float: ("a number", lambda v: type(v) in (int, float)),
    tuple[str, ...]: ("a list of texts", lambda v: type(v) is list and {*map(type, v)} <= {str}),
    Mapping[str, Mapping[str, Any]]: (
        "a table for each method",
        lambda v: type(v) is dict and {*map(type, v.values())} <= {dict},
    ),
}
_LEAST: dict[str, float] = {"batch": 1, "graphs": 1, "time_limit": 1e-9}


@dataclass(frozen=True)
class Group:
    """Data sets, and the work that is done on each of them."""

    data: tuple[str, ...]  # names of data sets; {a,b} in the file stands for each of several
    methods: tuple[str, ...] = ()  # those that are searched, or use another method's search
    configurations: int = 0  # number for each method and data set
    graphs: int = 5  # number for each configuration
    fresh: bool = True  # whether every configuration has its own graphs, as in the paper
    select: tuple[str, ...] = ("oracle",)  # rules that choose; each has its own columns
    validation: int = 10  # number of new graphs on which the chosen configuration is scored
    fixed: tuple[str, ...] = ()  # methods without a search, scored on the same graphs
    standardised: tuple[str, ...] = ()  # methods also scored on the same tables, standardised
    timing: int = 0  # number of new graphs on which single fits of each method are timed
    epochs: tuple[str, ...] = ()  # methods of which passes over the data are timed
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by method
    batch: int = 64  # largest number of cells in a batch


@dataclass(frozen=True)
class Experiment:
    """Content of an experiment file."""

    name: str
    title: str
    text: str  # the file itself
    groups: tuple[Group, ...]
    seed: int = 0  # of graphs and configurations
    time_limit: float | None = None  # seconds per cell; one that takes longer is a "timeout"


def names() -> list[str]:
    """Names of the experiments that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _SHIPPED.iterdir())


def find_experiment(name: str | os.PathLike[str]) -> Experiment:
    """Find an experiment: one that comes with the package by name, or a file."""
    path: Traversable = Path(name)
    if str(name) in names():
        path = _SHIPPED.joinpath(f"{name}.toml")
    if not path.is_file():
        known = ", ".join(names())
        raise DataError(f"'{name}' is neither a file nor one of the experiments {known}.")
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
    groups = entries.pop("group", None)
    if not isinstance(groups, list) or not groups:
        raise DataError(f"'{place}' has no [[group]]: say on which data sets to do what.")
    _check_entries(place, entries, {"name": str, "title": str, "seed": int, "time_limit": float})
    if "name" not in entries:
        raise DataError(f"'{place}' has no name: add a line such as name = \"mine\".")
    entries.setdefault("title", entries["name"])
    return Experiment(text=text, groups=tuple(_group(place, group) for group in groups), **entries)


def _group(place: str, entries: Any) -> Group:
    if not isinstance(entries, dict):
        raise DataError(f"A group of '{place}' is {entries!r}: write it as [[group]].")
    _check_entries(place, entries, get_type_hints(Group))
    given: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in entries.items()}
    group = Group(**given | {"data": _expanded(place, entries.get("data", ()))})
    for problem in _problems(group):
        raise DataError(f"A group of '{place}' {problem}")
    return group


def _check_entries(place: str, entries: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    """Refuse entries that are unknown, of another type, or too small."""
    for name, value in entries.items():
        if name not in types:
            known = ", ".join(types)
            raise DataError(f"'{place}' has an unknown entry {name!r}: use {known}.")
        words, is_of_type = _TYPES[types[name]]
        if not is_of_type(value):
            problem = words
        elif isinstance(value, int | float) and value < _LEAST.get(name, 0):
            problem = "greater"
        else:
            continue
        raise DataError(f"The entry {name!r} of '{place}' is {value!r}: it must be {problem}.")


def _problems(group: Group) -> Iterator[str]:
    """Yield reasons to refuse a group: each is the rest of a sentence about it."""
    if not group.data:
        yield 'has no data sets: add data = ["…"].'
    for data in group.data:
        if parse_name(data).samples is None:
            yield f"has the data set {data!r}, which has no rows to draw."
    scored = (*group.methods, *group.fixed)
    of_each = len(group.methods) * group.configurations * group.graphs
    of_each += 2 * len(scored) * group.validation + len(group.methods) * group.timing
    if len(group.data) * of_each > _MOST_CELLS:
        yield f"has more than {_MOST_CELLS:,} cells: lower its configurations and graphs."
    for name in (*scored, *group.standardised, *group.epochs, *group.parameters):
        if name not in METHODS:
            yield f"has the unknown method {name!r}: use one of {', '.join(METHODS)}."
    for name in set(group.standardised) - set(scored):
        yield f"has the method {name!r} only standardised: name it first."
    for owner, settings in group.parameters.items():
        for name in _PLACES & set(settings):
            yield (
                f"has the parameter {name!r} of {owner!r}, which names a place on a disk, and an "
                "experiment may come from anybody: leave it out."
            )
    for name in group.methods:
        method = METHODS[name]
        if method.like is not None and method.like not in group.methods:
            yield f"has the method {name!r}, which needs {method.like!r} beside it."
        if method.like is None and method.space == "nothing":
            yield f"has the method {name!r}, which has nothing to search: see fixed."
    if group.methods and not group.configurations:
        yield "searches, but has no configurations: say how many."
    for rule in set(group.select) - set(RULES):
        yield f"selects by {rule!r}: use {' or '.join(RULES)}."


def _expanded(place: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """Write out every ``{a,b}``."""
    found: list[str] = []
    for pattern in patterns:
        pieces = re.split(r"\{([^}]*)\}", pattern)
        choices = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
        if math.prod(map(len, choices)) > _MOST_NAMES:
            many = f"stands for more than {_MOST_NAMES:,} names: split it."
            raise DataError(f"The data set {pattern!r} of '{place}' {many}")
        found += ["".join(parts) for parts in product(*choices)]
    return tuple(found)
