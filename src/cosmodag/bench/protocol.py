"""Experiments and the methods that they compare, both read from TOML files."""

import json
import os
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.files import read_text
from cosmodag.io.files.documents import read_toml
from cosmodag.simulate import parse_name

_HOME = files("cosmodag.bench")
_FILE = tomllib.loads(_HOME.joinpath("paper", "methods.toml").read_text("utf-8"))

RULES = {"oracle": "auc", "score": "score"}
"""Rules that choose a configuration, and the figure whose mean over graphs each maximises: the AUC,
which requires the true graph (as in the paper), or the log-likelihood of held-out rows."""


class Method(NamedTuple):
    """One row of a table."""

    learner: str  # class of the learner
    label: str  # name in tables
    parameters: Mapping[str, Any]  # the fixed parameters
    space: str = "nothing"  # search space of the other parameters
    like: str | None = None  # method whose chosen configuration is used instead of a search
    # If true, the optimised weights are scored, thresholded at 0.3, as in the paper; such fits are
    # solved together. Otherwise, tables are fitted one by one on a CPU, and the graph that a user
    # gets is scored, its arcs ranked by weight.
    is_raw: bool = True


def _method(entries: dict[str, Any]) -> Method:
    layers = [_FILE["parameters"][name] for name in entries.pop("base", ())]
    given = {k: v for layer in (*layers, entries.pop("parameters", {})) for k, v in layer.items()}
    return Method(**entries, parameters={k: None if v == "" else v for k, v in given.items()})


METHODS = {name: _method(entries) for name, entries in _FILE["methods"].items()}
"""Methods by name, which is the paper's name if it has one."""


def draw(space: str, data: str, number: int, seed: int = 0) -> dict[str, float]:
    """Draw configuration `number` for a data set, independently of all others.

    It is log-uniform in the ranges that the paper searched for that data set.
    """
    wide = _FILE["wide"] if data in _FILE["wide"]["data"] else {}
    random = np.random.default_rng([seed, zlib.crc32(data.encode()), number])
    return {
        name: float(f"{np.exp(random.uniform(np.log(low), np.log(high))):.6g}")
        for name, (low, high) in sorted(wide.get(space, _FILE["spaces"][space]).items())
    }


_SHIPPED = _HOME.joinpath("experiments")
_MOST_NAMES = 10_000
_MOST_CELLS = 10_000_000

# Parameters that make a learner read or write files.
_PATHS = {"checkpoint", "knowledge"}

# Names of the types of entries, and the types of the elements of lists and tables.
_WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_WORDS |= {tuple: "a list of texts", dict: "a table for each method"}
_ELEMENTS: dict[type, type] = {tuple: str, dict: dict}
_POSITIVE = {"batch", "graphs", "time_limit"}


@dataclass(frozen=True)
class Group:
    """Data sets, and the work that is done on each of them."""

    data: tuple[str, ...] = ()  # names of data sets; in the file, {a,b} expands to several names
    methods: tuple[str, ...] = ()  # methods with a search, or that use another method's search
    configurations: int = 0  # number of configurations for each method and data set
    graphs: int = 5  # number of graphs for each configuration
    fresh: bool = True  # whether every configuration has its own graphs, as in the paper
    select: tuple[str, ...] = ("oracle",)  # rules that choose; each gives a row of its own
    validation: int = 10  # number of new graphs on which the chosen configuration is scored
    fixed: tuple[str, ...] = ()  # methods without a search, scored on the same graphs
    standardised: tuple[str, ...] = ()  # methods also scored on the same tables, standardised
    timing: int = 0  # number of new graphs on which single fits of each method are timed
    epochs: tuple[str, ...] = ()  # methods whose passes over the data are timed
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by method
    batch: int = 64  # largest number of cells in a batch

    @property
    def named(self) -> tuple[str, ...]:
        """All methods of the group."""
        return (*self.methods, *self.fixed, *self.epochs)

    def only(self, data: Sequence[str], methods: Sequence[str]) -> "Group":
        """Return the group with some data sets and methods; none given are all."""

        def kept(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if not methods or name in methods)

        lists = ("methods", "fixed", "standardised", "epochs")
        changed: dict[str, Any] = {name: kept(getattr(self, name)) for name in lists}
        return replace(
            self,
            data=tuple(d for d in self.data if not data or any(fnmatchcase(d, p) for p in data)),
            parameters={n: given for n, given in self.parameters.items() if n in kept((n,))},
            **changed,
        )


@dataclass(frozen=True)
class Experiment:
    """Content of an experiment file."""

    name: str
    title: str
    text: str  # text of the file
    groups: tuple[Group, ...]
    seed: int = 0  # of graphs and configurations
    time_limit: float | None = None  # seconds per cell; a longer one has the result "timeout"

    def only(self, data: Sequence[str] = (), methods: Sequence[str] = ()) -> "Experiment":
        """Return the part of the experiment with some data sets and methods; none given are all.

        Data sets may be patterns, such as ``n1000_d30_*``. Cells are those of the whole experiment,
        so that results are shared with it.

        Examples
        --------
        >>> part = find_experiment("paper-tables").only(["n1000_d30_ER4_*"], ["cosmo", "dagma"])
        >>> [(group.methods, len(group.data)) for group in part.groups]
        [(('cosmo',), 3), (('dagma',), 3)]
        """
        kept = [group.only(data, methods) for group in self.groups]
        groups = [group for group in kept if group.data and group.named]
        found = {name for group in groups for name in group.data}
        for pattern in data:
            if not any(fnmatchcase(name, pattern) for name in found):
                known = ", ".join(sorted({name for group in self.groups for name in group.data}))
                raise DataError(f"'{self.name}' has no data set {pattern!r} with them: {known}.")
        for name in methods:
            if not any(name in group.named for group in groups):
                every = {m for group in self.groups for m in group.named}
                raise DataError(
                    f"'{self.name}' has no method {name!r} there: use {', '.join(sorted(every))}."
                )
        name = f"{self.name} ({', '.join([*data, *methods])})"
        head = {"name": name, "title": self.title, "seed": self.seed, "time_limit": self.time_limit}
        lines = _toml(head) + [
            line for group in groups for line in ("[[group]]", *_toml(vars(group)))
        ]
        return read_experiment("\n".join(lines), name)


def _toml(entries: Mapping[str, Any]) -> list[str]:
    """Write entries as lines of TOML, whose texts, numbers and lists are those of JSON."""
    tables = {name: value for name, value in entries.items() if isinstance(value, Mapping)}
    plain = {n: v for n, v in entries.items() if n not in tables and v is not None}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for name, table in tables.items():
        inner = (f"{json.dumps(key)} = {{ {', '.join(_toml(own))} }}" for key, own in table.items())
        lines.append(f"{name} = {{ {', '.join(inner)} }}")
    return lines


def names() -> list[str]:
    """Names of the experiments that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _SHIPPED.iterdir())


def find_experiment(name: str | os.PathLike[str]) -> Experiment:
    """Read an experiment: one that comes with the package, by name, or a file."""
    known = names()
    if str(name) in known:
        return read_experiment((_SHIPPED / f"{name}.toml").read_text("utf-8"), str(name))
    if not Path(name).is_file():
        choices = ", ".join(known)
        raise DataError(f"'{name}' is neither a file nor one of the experiments {choices}.")
    return read_experiment(read_text(name), str(name))


def read_experiment(text: str, place: str = "experiment") -> Experiment:
    """Read an experiment from the text of its file.

    Raises
    ------
    DataError
        If an entry cannot be used; the message names the place and the entry.

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
    except (RecursionError, ValueError) as error:  # also of a number with thousands of digits
        raise DataError(f"'{place}' is not TOML: {str(error).rstrip('.')}.") from None
    groups = entries.pop("group", None)
    if not isinstance(groups, list) or {*map(type, groups)} != {dict}:
        raise DataError(f"'{place}' has no [[group]]: add one, with data sets and methods.")
    entries = _checked(place, entries, {"name": "", "title": "", "seed": 0, "time_limit": 1.0})
    if "name" not in entries:
        raise DataError(f"'{place}' has no name: add a line such as name = \"mine\".")
    entries.setdefault("title", entries["name"])
    return Experiment(text=text, groups=tuple(_group(place, group) for group in groups), **entries)


def _group(place: str, entries: dict[str, Any]) -> Group:
    given = _checked(place, entries, vars(Group()))
    data = islice(_expanded(given.get("data", ())), _MOST_NAMES + 1)
    group = Group(**given | {"data": tuple(data)})
    for problem in _problems(group):
        raise DataError(f"A group of '{place}' {problem}")
    return group


def _checked(place: str, entries: dict[str, Any], examples: dict[str, Any]) -> dict[str, Any]:
    """Refuse entries that are unknown, of another type than the example, or too small.

    Lists are returned as tuples.
    """
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in entries.items()}
    for name, value in given.items():
        if name not in examples:
            known = ", ".join(examples)
            raise DataError(f"'{place}' has an unknown entry {name!r}: use one of {known}.")
        kind: type = type(examples[name])
        elements = value.values() if isinstance(value, dict) else value
        is_of_kind = type(value) in ((int, float) if kind is float else (kind,))
        if not is_of_kind or (kind in _ELEMENTS and {*map(type, elements)} - {_ELEMENTS[kind]}):
            problem = _WORDS[kind]
        elif isinstance(value, int | float) and (value < 0 or (name in _POSITIVE and not value)):
            problem = "positive" if name in _POSITIVE else "at least 0"
        else:
            continue
        raise DataError(f"The entry {name!r} of '{place}' is {value!r}: it must be {problem}.")
    return given


def _problems(group: Group) -> Iterator[str]:
    """Yield reasons to refuse a group, each as the predicate of a sentence about it."""
    if not group.data:
        yield 'has no data sets: add data = ["…"].'
    if len(group.data) > _MOST_NAMES:
        yield f"has more than {_MOST_NAMES:,} data sets: split it into several groups."
    for data in group.data:
        if parse_name(data).samples is None:
            yield (
                f"has the data set {data!r} without a number of rows: begin its name with "
                "n and the number, for instance n1000_."
            )
    scored = (*group.methods, *group.fixed)
    of_each = len(group.methods) * group.configurations * group.graphs
    of_each += 2 * len(scored) * group.validation + len(group.methods) * group.timing
    if len(group.data) * of_each > _MOST_CELLS:
        yield f"has more than {_MOST_CELLS:,} cells: reduce its configurations or graphs."
    for name in (*scored, *group.standardised, *group.epochs, *group.parameters):
        if name not in METHODS:
            yield f"has the unknown method {name!r}: use one of {', '.join(METHODS)}."
    for name in set(group.standardised) - set(scored):
        yield f"has the method {name!r} in 'standardised' only: add it to methods or fixed."
    for owner, settings in group.parameters.items():
        for name in _PATHS & set(settings):
            yield (
                f"has the parameter {name!r} of {owner!r}, which names a file; an experiment may "
                "come from anybody and must not name files: remove the parameter."
            )
    for name in group.methods:
        method = METHODS[name]
        if method.like is not None and method.like not in group.methods:
            yield f"has the method {name!r}, which needs {method.like!r} in the same group: add it."
        if method.like is None and method.space == "nothing":
            yield f"has the method {name!r}, which has nothing to search: move it to fixed."
    if group.methods and not group.configurations:
        yield "has methods to search, but no number of configurations: add configurations = 100."
    for rule in set(group.select) - set(RULES):
        yield f"selects by {rule!r}: use {' or '.join(RULES)}."


def _expanded(patterns: Sequence[str]) -> Iterator[str]:
    """Expand every ``{a,b}``."""
    for pattern in patterns:
        pieces = re.split(r"\{([^}]*)\}", pattern)
        choices = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
        yield from map("".join, product(*choices))
