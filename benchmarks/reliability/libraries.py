"""Adapters of the libraries: the documented call with default parameters, in at most 10 lines.

Each returns a matrix A with A[u, v] non-zero for the arc u → v; a learner of equivalence classes
sets both A[u, v] and A[v, u] for an undirected edge. If the documentation of a library asks for
arrays, frames are copied to arrays. Inputs are neither checked nor repaired.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["LIBRARIES", "Library"]


def as_array(data: Any) -> Any:
    """Convert a frame to the array of its values; return other inputs unchanged."""
    frame = as_pandas(data)
    return np.array(frame) if hasattr(frame, "iloc") else frame


def as_pandas(data: Any) -> Any:
    """Convert a polars or Arrow frame to pandas; return other inputs unchanged."""
    return data.to_pandas() if hasattr(data, "to_pandas") else data


def of_endpoints(graph: np.ndarray) -> np.ndarray:
    """Read causal-learn's matrix of endpoints: −1 at u and 1 at v is the arc u → v."""
    return np.asarray(graph) == -1


def cosmodag_learner(name: str) -> Callable[[Any], np.ndarray]:
    """Fit a learner of this package, with few epochs."""

    def fit(data: Any) -> np.ndarray:
        from learner_catalogue import CATALOGUE

        return CATALOGUE[name]().fit(data).weights_

    return fit


def dagma_linear(data: Any, **caps: float) -> np.ndarray:
    """`DagmaLinear` as in its README."""
    from dagma.linear import DagmaLinear

    return DagmaLinear(loss_type="l2").fit(as_array(data), lambda1=0.02, **caps)


def causal_learn_pc(data: Any) -> np.ndarray:
    """PC with Fisher's z, its default."""
    from causallearn.search.ConstraintBased.PC import pc

    return of_endpoints(pc(as_array(data), show_progress=False).G.graph)


def causal_learn_ges(data: Any) -> np.ndarray:
    """GES with the BIC, its default."""
    from causallearn.search.ScoreBased.GES import ges

    return of_endpoints(ges(as_array(data))["G"].graph)


def causal_learn_boss(data: Any) -> np.ndarray:
    """BOSS with the BIC, its default."""
    from causallearn.search.PermutationBased.BOSS import boss

    return of_endpoints(boss(as_array(data), verbose=False).graph)


def direct_lingam(data: Any) -> np.ndarray:
    """`DirectLiNGAM`, which takes arrays and pandas' frames."""
    import lingam

    return lingam.DirectLiNGAM().fit(as_pandas(data)).adjacency_matrix_.T


def pgmpy_hill_climb(data: Any) -> np.ndarray:
    """`HillClimbSearch` with its default score; it needs a frame with strings as names."""
    import networkx as nx
    import pandas as pd
    from pgmpy.causal_discovery import HillClimbSearch

    data = as_pandas(data)
    frame = data
    if isinstance(data, np.ndarray | list):
        frame = pd.DataFrame(data).rename(columns="x{}".format)
    graph = HillClimbSearch(show_progress=False).fit(frame).causal_graph_
    return nx.to_numpy_array(graph, nodelist=list(frame.columns))


def castle_pc(data: Any) -> np.ndarray:
    """GCastle's PC."""
    from castle.algorithms import PC

    model = PC()
    model.learn(as_array(data))
    return np.asarray(model.causal_matrix)


def castle_notears(data: Any) -> np.ndarray:
    """GCastle's linear NOTEARS."""
    from castle.algorithms import Notears

    model = Notears()
    model.learn(as_array(data))
    return np.asarray(model.causal_matrix)


@dataclass(frozen=True)
class Library:
    """One learner of one library.

    Attributes
    ----------
    fit
        Function from a table to a matrix.
    package
        Folder of its code, which distinguishes its own errors from those of other packages.
    gives_class
        Whether it returns an equivalence class.
    answers
        Cases that this package refuses and the library documents as supported.
    whole
        The same function with default limits, if `fit` has smaller ones.
    """

    fit: Callable[[Any], np.ndarray]
    package: str
    gives_class: bool = False
    answers: tuple[str, ...] = ()
    whole: Callable[[Any], np.ndarray] | None = None


_DISCRETE = ("text", "numbers as text", "categories", "bytes", "an array of text")

LIBRARIES: dict[str, Library] = {
    **{
        f"cosmodag {name}": Library(cosmodag_learner(name), "cosmodag")
        for name in ("Cosmo", "OrderSearch", "Dagma", "Notears")
    },
    "dagma DagmaLinear": Library(
        lambda data: dagma_linear(data, warm_iter=3e3, max_iter=6e3), "dagma", whole=dagma_linear
    ),
    "causal-learn PC": Library(causal_learn_pc, "causallearn", gives_class=True),
    "causal-learn GES": Library(causal_learn_ges, "causallearn", gives_class=True),
    "causal-learn BOSS": Library(causal_learn_boss, "causallearn", gives_class=True),
    "lingam DirectLiNGAM": Library(direct_lingam, "lingam"),
    "pgmpy HillClimbSearch": Library(
        pgmpy_hill_climb, "pgmpy", gives_class=True, answers=_DISCRETE
    ),
    "gCastle PC": Library(castle_pc, "castle", gives_class=True),
    "gCastle Notears": Library(castle_notears, "castle"),
}
