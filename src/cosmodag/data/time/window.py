"""The window of a time series: columns at time t and before, and knowledge of their arcs.

A window holds every variable at time t and at t − 1, …, t − k. Causes precede effects, so no arc
leads into the past. The columns before t are given and have no equations: arcs among them would
repeat the arcs into time t.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.knowledge import Knowledge
from cosmodag.data.knowledge.statement import Edge, Name
from cosmodag.errors import DataError, KnowledgeError, name_list
from cosmodag.graph.texts import counted


@dataclass(frozen=True)
class Window:
    """The variables of a time series, and the number of earlier times in each row of its window.

    Attributes
    ----------
    names : tuple of str
        The d variables.
    lags : int
        Number k of earlier times.
    series, time : str, optional
        Columns of the table with the series and the time of each row.

    Examples
    --------
    >>> window = Window(("a", "b"), 1)
    >>> window.columns
    ('a', 'b', 'a[t-1]', 'b[t-1]')
    >>> window.knowledge(Knowledge(forbidden_edges=[("a", "b")])).forbidden_edges
    (('a', 'b'), ('a[t-1]', 'b'))
    """

    names: tuple[str, ...]
    lags: int
    series: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        every = self.columns
        if len(set(every)) < len(every):
            repeated = next(name for name in every if every.count(name) > 1)
            raise DataError(
                f"The name '{repeated}' occurs twice among the lagged columns: rename one."
            )

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the (k + 1) d columns: time t first, then t − 1, up to t − k."""
        return lagged_names(self.names, self.lags)

    @property
    def past(self) -> NDArray[np.bool_]:
        """((k + 1) d,): whether a column is before time t, and so has no equation."""
        return np.arange((self.lags + 1) * self.d) >= self.d

    def knowledge(self, known: Knowledge | None = None) -> Knowledge:
        """Translate knowledge of the variables into knowledge of the window's columns.

        The name of a variable stands for all of its lags: if an arc a → b is forbidden, the arcs
        from all a[t-j] to b are. A single time is named ``a[t]`` or ``a[t-1]``. The past of a
        variable is always a possible cause of it, unless an arc from such a single time is
        forbidden.

        Raises
        ------
        KnowledgeError
            If a required arc has no lag, or an arc leads into the past.
        """
        known = known or Knowledge()
        past = [
            tuple(_name_at(name, lag) for name in self.names) for lag in range(self.lags, 0, -1)
        ]
        tiers = tuple(self._variables(tier) for tier in known.tiers)
        space = known.search_space
        return Knowledge(
            forbidden_edges=tuple(dict.fromkeys(self._forbidden(known, tiers))),
            required_edges=tuple(self._required(known.required_edges)),
            tiers=(*past, *(tiers or (self.names,))),
            exogenous=tuple(name for tier in past for name in tier),
            search_space=None if space is None else tuple(self._space(space)),
        )

    def _forbidden(self, known: Knowledge, tiers: Sequence[Sequence[str]]) -> Iterator[Edge]:
        for edge in known.forbidden_edges:
            yield from self._at_all_lags(edge)
        for place, tier in enumerate(tiers):
            yield from self._arcs(chain(*tiers[place + 1 :]), tier, first=1)
        yield from self._arcs(self.names, self._variables(known.exogenous))
        yield from self._arcs(self._variables(known.sinks), self.names)

    def _required(self, edges: Iterable[Edge]) -> Iterator[Edge]:
        for cause, effect in edges:
            tails, head = self._lagged(cause), self._effect(effect)
            if len(tails) > 1:
                raise KnowledgeError(
                    f"The knowledge requires {cause} → {effect}, but not at which lag: write "
                    f"'{tails[0]}[t]' or '{tails[1]}' for the cause."
                )
            yield tails[0], head

    def _space(self, space: Sequence[Edge | Name]) -> Iterator[Edge]:
        group = self._variables(entry for entry in space if not isinstance(entry, tuple))
        yield from self._arcs(group, group)
        for entry in space:
            if isinstance(entry, tuple):
                yield from self._at_all_lags(entry)
        for name in self.names:
            yield from ((_name_at(name, lag), name) for lag in range(1, self.lags + 1))

    def _arcs(
        self, causes: Iterable[str], effects: Sequence[str], first: int = 0
    ) -> Iterator[Edge]:
        """List the arcs from the lags `first`, …, k of some variables into others at time t."""
        for cause in causes:
            for lag in range(first, self.lags + 1):
                tail = _name_at(cause, lag)
                yield from ((tail, effect) for effect in effects if effect != cause)

    def _at_all_lags(self, edge: Edge) -> Iterator[Edge]:
        """List the arcs that an arc stands for: from all lags of its cause, if it names no lag."""
        head = self._effect(edge[1])
        yield from ((tail, head) for tail in self._lagged(edge[0]) if tail != head)

    def _lagged(self, name: Name) -> tuple[str, ...]:
        """List the columns that a name stands for."""
        variable = self._variable(name)
        if variable is not None:
            return tuple(_name_at(variable, lag) for lag in range(self.lags + 1))
        if name in self.columns:
            return (str(name),)
        present = str(name).removesuffix("[t]")
        if str(name).endswith("[t]") and present in self.names:
            return (present,)
        raise KnowledgeError(
            f"The knowledge names {name!r}, which is not a column of the table or of its "
            f"{counted(self.lags, 'lag')}: these are {name_list(self.columns, 10)}."
        )

    def _effect(self, name: Name) -> str:
        found = self._lagged(name)[0]
        if found not in self.names:
            raise KnowledgeError(
                f"The knowledge has an arc into {name!r}, a time before t: state the arc into time "
                "t instead, and shift its cause by the same number of steps."
            )
        return found

    def _variable(self, name: Name) -> str | None:
        if str(name) in self.names:
            return str(name)
        is_place = isinstance(name, int) and 0 <= name < self.d
        return self.names[int(name)] if is_place else None

    def _variables(self, names: Iterable[Name]) -> tuple[str, ...]:
        found = []
        for name in names:
            variable = self._variable(name)
            if variable is None:
                raise KnowledgeError(
                    f"The knowledge names {name!r} among tiers, exogenous variables, sinks or the "
                    "search space: name variables without lags there "
                    f"({name_list(self.names, 10)})."
                )
            found.append(variable)
        return tuple(found)


def lagged_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """List the names of the columns of a lagged table.

    Examples
    --------
    >>> lagged_names(["a", "b"], 1)
    ('a', 'b', 'a[t-1]', 'b[t-1]')
    """
    return tuple(_name_at(name, lag) for lag in range(lags + 1) for name in names)


def _name_at(name: str, lag: int) -> str:
    return f"{name}[t-{lag}]" if lag else name


def window_graph(adjacency: ArrayLike, variables: int) -> NDArray[np.float64]:
    """Split the graph of a lagged table into its arcs into time t, by lag.

    Parameters
    ----------
    adjacency : ((k + 1) d, (k + 1) d) array
        Weights: u → v at [u, v], columns as in :class:`Window`.
    variables : int
        Number d of original columns.

    Returns
    -------
    (k + 1, d, d) array
        At [lag, u, v], the weight of the arc from u at t − lag to v at t. The summary graph has the
        arcs ``(window_graph(...) != 0).any(axis=0)``.

    Examples
    --------
    >>> adjacency = np.zeros((4, 4))
    >>> adjacency[0, 1], adjacency[2, 1] = 0.5, 0.7  # a → b at once, and from t − 1
    >>> window_graph(adjacency, 2).tolist()
    [[[0.0, 0.5], [0.0, 0.0]], [[0.0, 0.7], [0.0, 0.0]]]
    """
    weights = np.asarray(adjacency, np.float64)
    if weights.ndim != 2 or not variables or weights.shape[0] % variables:
        raise DataError(
            f"A graph of shape {weights.shape} is not one of lagged copies of "
            f"{counted(variables, 'column')}."
        )
    return weights[:, :variables].reshape(-1, variables, variables)
