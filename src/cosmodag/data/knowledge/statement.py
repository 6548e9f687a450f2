"""Background knowledge, stated by the names of columns."""

import copy
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import Bounds, refuse_contradictions
from cosmodag.errors import KnowledgeError, name_list

Name = str | int
Edge = tuple[Name, Name]


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge about a graph, stated by column names (or numbers).

    Every learner accepts it as ``knowledge=``, and every learnt graph satisfies it: it constrains
    the optimisation, the refinement and the simple baselines.

    Parameters
    ----------
    forbidden_edges : sequence of (cause, effect)
        Arcs that do not exist. The reverse arcs still may.
    required_edges : sequence of (cause, effect)
        Arcs that must exist: they are in every graph, and their weights are estimated from data.
    tiers : sequence of sequences of names
        Groups of variables, earliest first: no variable has a direct or indirect cause in a later
        tier. Arcs within a tier, and arcs to or from variables in no tier, are not restricted.
    exogenous : sequence of names
        Variables without causes in the table.
    sinks : sequence of names
        Variables without effects in the table.
    search_space : sequence of (cause, effect), or of names, optional
        The only arcs that may exist. A list of names allows all arcs among these variables. By
        default, all arcs may exist.

    Raises
    ------
    KnowledgeError
        If the statements contradict one another; the message names the arcs.

    Examples
    --------
    >>> known = Knowledge(tiers=[["sex", "age"], ["dose"], ["response"]], exogenous=["age"])
    >>> known.tiers
    (('sex', 'age'), ('dose',), ('response',))
    >>> Knowledge(required_edges=[("a", "b"), ("b", "a")])
    Traceback (most recent call last):
        ...
    cosmodag.errors.KnowledgeError: The required arcs a → b → a form a cycle: remove one of them.
    """

    forbidden_edges: tuple[Edge, ...] = ()
    required_edges: tuple[Edge, ...] = ()
    tiers: tuple[tuple[Name, ...], ...] = ()
    exogenous: tuple[Name, ...] = ()
    sinks: tuple[Name, ...] = ()
    search_space: tuple[Edge | Name, ...] | None = None

    def __post_init__(self) -> None:
        readers: dict[str, Callable[[str, Any], Any]] = {
            "forbidden_edges": _edge,
            "required_edges": _edge,
            "tiers": _names,
            "exogenous": _name,
            "sinks": _name,
            "search_space": _edge_or_name,
        }
        for part, read in readers.items():
            given = getattr(self, part)
            if given is not None or part != "search_space":
                entries = tuple(read(part, entry) for entry in _sequence(part, given))
                object.__setattr__(self, part, entries)
        self._by_place(self.names)

    @property
    def names(self) -> list[Name]:
        """The distinct names that occur in any part."""
        groups = (*self.forbidden_edges, *self.required_edges, *self.tiers)
        entries = (*groups, self.exogenous, self.sinks, *(self.search_space or ()))
        names = (entry if isinstance(entry, tuple) else (entry,) for entry in entries)
        return list(dict.fromkeys(chain.from_iterable(names)))

    @property
    def is_empty(self) -> bool:
        """Whether there are no statements."""
        return not self.names and self.search_space is None

    def bounds(self, names: Sequence[Any]) -> Bounds:
        """Convert the statements to arrays, for a table with these columns.

        Parameters
        ----------
        names : sequence
            Names of the columns. An integer in a statement that is not a name is a column number.

        Examples
        --------
        >>> bounds = Knowledge(tiers=[["a"], ["b", "c"]]).bounds(["c", "b", "a"])
        >>> bounds.support.astype(int).tolist()
        [[0, 1, 0], [1, 0, 0], [1, 1, 0]]
        """
        known, d = self._by_place(names), len(names)
        support = np.ones((d, d), bool)
        if known.search_space is not None:
            listed = [entry for entry in known.search_space if isinstance(entry, tuple)]
            among = [entry for entry in known.search_space if not isinstance(entry, tuple)]
            support = _mask(listed, d)
            support[np.ix_(among, among)] = True
        support &= ~_mask(known.forbidden_edges, d)
        support[:, list(known.exogenous)] = False
        support[list(known.sinks)] = False
        before = np.zeros((d, d), bool)
        earlier: list[Any] = []
        for tier in known.tiers:
            before[np.ix_(earlier, tier)] = True
            earlier += tier
        return Bounds.of(support, _mask(known.required_edges, d), before)

    def _by_place(self, names: Sequence[Any]) -> Any:
        """Return the same knowledge with column numbers for names, free of contradictions."""
        places = places_of(self.names, names)

        def placed(part: Any) -> Any:
            if isinstance(part, tuple):
                return tuple(map(placed, part))
            return None if part is None else places[part]  # None: no search space

        found = copy.copy(self)
        for field in fields(self):
            object.__setattr__(found, field.name, placed(getattr(self, field.name)))
        refuse_contradictions(found, names)
        return found

    def facts(self) -> dict[str, Any]:
        """Return the non-empty parts as data for JSON and YAML.

        Examples
        --------
        >>> Knowledge(sinks=["y"]).facts()
        {'sinks': ['y']}
        """
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [list(entry) if isinstance(entry, tuple) else entry for entry in value]
            for name, value in given.items()
            if value or (name == "search_space" and value is not None)
        }

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self.facts().items())
        return f"Knowledge({parts})"


def as_knowledge(given: Any) -> Knowledge | None:
    """Convert a mapping of parts, or the path of a file, to `Knowledge`."""
    if given is None or isinstance(given, Knowledge):
        return given
    if isinstance(given, Mapping):
        known = [field.name for field in fields(Knowledge)]
        for name in given:
            if name not in known:
                raise KnowledgeError(
                    f"Knowledge has no part {name!r}: the parts are {', '.join(known)}."
                )
        return Knowledge(**{name: value for name, value in given.items() if value is not None})
    if isinstance(given, str | os.PathLike):
        from cosmodag.data.knowledge.files import read_knowledge

        return read_knowledge(given)
    raise KnowledgeError(
        f"knowledge is {reprlib.repr(given)}: give a Knowledge, a mapping of its parts, or the "
        "path of a file."
    )


def bounds_of(knowledge: Knowledge | None, names: Sequence[Any]) -> Bounds | None:
    """Convert knowledge to bounds, for a table with these columns; None without knowledge."""
    if knowledge is None or knowledge.is_empty:
        return None
    return knowledge.bounds(names)


def _sequence(what: str, given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise KnowledgeError(f"{what} is {reprlib.repr(given)}: it must be a list.")
    return list(given)


def _name(what: str, given: Any) -> Name:
    if isinstance(given, np.integer):
        return int(given)
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise KnowledgeError(
            f"{what} holds {reprlib.repr(given)}: it must be the name of a column, or its number."
        )
    # Python refuses to convert an integer of thousands of digits to text, even for a message.
    if isinstance(given, int) and given.bit_length() > 63:
        raise KnowledgeError(
            f"{what} holds a number of {given.bit_length()} bits, which is not a column number."
        )
    return given


def _names(what: str, given: Any) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(_name(what, name) for name in _sequence(what, given)))


def _edge(what: str, given: Any) -> Edge:
    pair = given if isinstance(given, list | tuple) else None
    if pair is None or len(pair) != 2:
        shown = reprlib.repr(given)
        raise KnowledgeError(f"{what} holds {shown}: an arc is a pair (cause, effect).")
    cause, effect = _name(what, pair[0]), _name(what, pair[1])
    if cause == effect:
        raise KnowledgeError(f"{what} holds {cause} → {effect}: no variable causes itself.")
    return cause, effect


def _edge_or_name(what: str, given: Any) -> Edge | Name:
    is_name = isinstance(given, str | int | np.integer)
    return _name(what, given) if is_name else _edge(what, given)


def _mask(edges: Iterable[Any], d: int) -> NDArray[np.bool_]:
    """Mark the given arcs between column numbers: (d, d)."""
    mask = np.zeros((d, d), bool)
    for cause, effect in edges:
        mask[cause, effect] = True
    return mask


def places_of(mentioned: Sequence[Name], names: Sequence[Any]) -> dict[Name, int]:
    """Map the names in statements to column numbers."""
    known = {str(name): place for place, name in enumerate(names)}
    places: dict[Name, int] = {}
    for name in mentioned:
        if str(name) in known:
            places[name] = known[str(name)]
        elif isinstance(name, int) and 0 <= name < len(names):
            places[name] = name
        else:
            raise KnowledgeError(
                f"The knowledge names {name!r}, which is not a column of the table: it has "
                f"{name_list(names, most=10)}."
            )
    return places
