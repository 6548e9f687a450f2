"""Parameters that several learners share. This module imports nothing heavy."""

import os
from dataclasses import dataclass
from typing import Any, Literal

from cosmodag.learners.declarations import Auto, Setting, parameter

__all__ = [
    "BatchParameters",
    "Device",
    "Missing",
    "Noise",
    "Refine",
    "RefineParameter",
    "Scale",
    "SearchParameters",
    "SharedParameters",
    "TrainingParameters",
]

Missing = Literal["error", "drop", "impute"]
Scale = Literal["center", "mean", "standardize", "none"]
Noise = Literal["auto", "gaussian", "equal-variance", "non-gaussian"]
Refine = Literal["auto", "prune", "order"] | None
Device = Literal["auto", "cpu", "gpu"]


@dataclass(kw_only=True, eq=False, repr=False)
class SharedParameters:
    """Parameters of all learners."""

    threshold: Setting = parameter(
        "auto",
        r"""Arcs with \|W\| at or below the threshold are left out of the graph
        (`adjacency_`). ``"auto"`` is 0 after refinement and 0.3 without.""",
        at_least=0.0,
        option="--threshold",
    )
    knowledge: Any = parameter(
        None,
        """Background knowledge about the graph: a :class:`cosmodag.Knowledge`, a mapping of its
        parts, or a file.""",
        type="Knowledge, mapping or path, optional",
        option="--knowledge",
    )
    kinds: Any = parameter(
        "auto",
        """Kinds of columns, if they are not what the values suggest: a mapping from names to
        ``"continuous"``, ``"binary"``, ``"categorical"``, ``"ordinal"``, ``"count"`` or a list of
        levels from low to high; or a sequence of such entries, one per column. `kinds_` has the
        result (`docs/kinds.md`).""",
        type='"auto", mapping or sequence',
        option="--kinds",
    )
    missing: Missing = parameter(
        "error",
        """Refuse missing values (NaN); drop the rows that have one; or impute the values from the
        others, without counting them as evidence. `missing_report_` has the details
        (`docs/missing.md`).""",
        option="--missing",
    )
    scale: Scale = parameter(
        "center",
        """Subtract the column means, and divide the whole table by a common unit, to which
        penalties are relative; only subtract the means, as the COSMO paper; divide by the standard
        deviations, which removes the differences in variance that squared-error learners rely on,
        and gives a warning; or leave the data unchanged.""",
        option="--scale",
    )
    lags: int = parameter(
        0,
        """For time series, the number k of earlier times that may affect a row. The graph is then
        that of a window of the times t, t − 1, …, t − k, with arcs into time t from the same and
        from earlier times (`docs/time.md`). 0 for independent rows.""",
        at_least=0,
        option="--lags",
    )
    max_time: float | None = parameter(
        None,
        "Time limit in seconds, after which the fit stops with the result so far and a warning.",
        above=0.0,
        option="--max-time",
    )
    random_state: Any = parameter(
        0,
        """Random seed; an integer gives the same result, bit for bit, in every fit on one
        machine.""",
        type="int, Generator, RandomState or None",
        option="--seed",
    )
    verbose: bool = parameter(True, "Whether to show progress on stderr if it is a terminal.")


@dataclass(kw_only=True, eq=False, repr=False)
class SearchParameters(SharedParameters):
    """Parameters of learners whose graph may come from a search over orders."""

    noise: Noise | str = parameter(
        "auto",
        """Noise that refinement assumes: Gaussian with one variance per variable (the result does
        not depend on units, and the data determine only the equivalence class); Gaussian with one
        variance for all variables; or not Gaussian. ``"auto"`` decides from the data; ``noise_``
        and ``noise_reason_`` report the decision. With counts, or categories of three or more
        levels, only ``"gaussian"`` is possible; with ``refine="prune"``, ``"non-gaussian"`` is
        not.""",
        option="--noise",
    )
    restarts: int | Auto = parameter(
        "auto",
        """Maximum number of searches from perturbed copies of the best order, with
        ``refine="order"``; 0 for none. They end early if several in a row find nothing better.
        ``"auto"`` is :func:`cosmodag.search.default_restarts` for the noise assumed: 40,000 / d, at
        most 200, for Gaussian noise; 2,000 / d for noise that is not Gaussian; none for equal
        variances, where restarts found nothing better. There are none beyond 1,000 variables or,
        with at least four times as many variables as rows, beyond 3,000. For tables with
        categories, counts or curves it is 2,000 / d, at most 50; for categories alone 10,000 / d,
        at most 300.""",
        at_least=0,
        option="--restarts",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RefineParameter(SearchParameters):
    """The parameter of learners whose order can be refined to a graph."""

    refine: Refine = parameter(
        None,
        """How the learnt order becomes a graph: ``"prune"`` regresses each variable on its
        predecessors in the order and keeps the arcs that the data support; ``"order"`` also
        searches for a better order, from the learnt one and from others; ``None`` keeps the weights
        as optimised. ``"auto"`` is ``"order"`` up to 50,000 variables and ``"prune"`` beyond.""",
        option="--refine",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BatchParameters(SharedParameters):
    """Parameters of learners that are trained in mini-batches."""

    # Other platforms of JAX are devices too.
    device: Device | str = parameter("auto", "Device of the computation.", option="--device")
    epochs: int | Auto = parameter(
        "auto",
        """Number of passes over the data. ``"auto"`` gives a fixed number of steps, whatever the
        number of rows (:func:`cosmodag.learners.trained.settings.default_steps`).""",
        option="--epochs",
    )
    batch_size: int = parameter(64, "Rows per step; the last batch of a pass may be smaller.")


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters(BatchParameters):
    """Parameters of learners that are trained once, from one or several starting points."""

    trainings: int = parameter(
        1,
        """Number of trainings from different random starting points, run as one batch; the result
        with the best penalised objective on all rows is kept.""",
        option="--trainings",
    )
    checkpoint: str | os.PathLike[str] | None = parameter(
        None,
        """Folder to which training writes its state, every half minute and when it is stopped. If
        the fit is repeated with the same folder, it continues from this state, and its result is
        the same, bit for bit, as without the stop. A fit that ends deletes the state.""",
        type="path, optional",
    )
