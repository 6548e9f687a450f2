"""Unfitted learners that are the runs of the COSMO paper, for every system of its tables."""

import csv
from functools import cache
from importlib.resources import files
from typing import Any

from cosmodag.bench import stochastic_learners
from cosmodag.bench.protocol import METHODS
from cosmodag.errors import DataError
from cosmodag.learners.registry import LEARNERS
from cosmodag.learners.trained.settings import paper_mlp_settings, paper_settings
from cosmodag.simulate import parse_name

__all__ = ["paper_learner", "published_runs"]

PAPER_METHODS = (
    "cosmo",
    "cosmo-np",
    "cosmo-mlp",
    "dagma",
    "dagma-mlp",
    "nocurl",
    "nocurl-u",
    "notears",
    "notears-mlp",
)
"""Systems of the paper's tables. Its networks of DAGMA and NOTEARS cannot be derived from its code;
theirs are the formulations of their own authors, with their settings."""

_FIGURES = ("runs", "auc", "auc_sd", "nhd", "nhd_sd")
_RULES = {"cosmo": paper_settings, "cosmo-np": paper_settings, "cosmo-mlp": paper_mlp_settings}


def paper_learner(
    d: int | None = None,
    method: str = "cosmo",
    *,
    published: str | None = None,
    random_state: Any = None,
) -> Any:
    """Make an unfitted learner that is a run of the COSMO paper.

    The table is centred and not divided by anything. COSMO trains for 2,000 epochs with one
    learning rate, and the baselines for as many as in the paper. Nothing is refined: the paper
    scores ``raw_weights_``, with the threshold 0.3 (`metrics.evaluate`). A fit takes as long as in
    the paper's protocol; ``adjacency_`` is the DAG that the order and the threshold leave of it.

    Parameters
    ----------
    d : int, optional
        Number of variables, for settings by a rule close to those that the paper's search selected:
        :func:`cosmodag.paper_settings`. Not needed with `published`.
    method : str
        The system: ``"cosmo"``, ``"cosmo-np"`` (without a penalty on priorities), ``"cosmo-mlp"``,
        ``"dagma"``, ``"nocurl"``, ``"nocurl-u"``, ``"notears"``; ``"dagma-mlp"`` and
        ``"notears-mlp"`` are as published by their own authors.
    published : str, optional
        A data set of the paper, such as ``"n1000_d30_ER4_gauss"``: the settings are those that its
        authors selected and published for it.
    random_state : int, Generator, RandomState or None
        Random seed.

    Returns
    -------
    learner

    Examples
    --------
    >>> from cosmodag import paper_learner
    >>> model = paper_learner(published="n1000_d30_ER4_gauss", random_state=0)
    >>> model.epochs, model.scale, model.refine, model.learning_rate
    (2000, 'mean', None, 0.007917)
    >>> paper_learner(30, "notears").learning_rate
    'auto'
    """
    if method not in PAPER_METHODS:
        raise DataError(f"method is {method!r}: use one of {', '.join(PAPER_METHODS)}.")
    fixed = {**METHODS[method].parameters, "scale": "mean"}
    if published is not None:
        settings: dict[str, Any] = _published(published, method)
    elif d is None:
        raise DataError("paper_learner needs the number of variables, or published='n1000_…'.")
    else:
        settings = {**_RULES[method](d)} if method in _RULES else {}
    settings |= {"random_state": random_state, **fixed}
    name = METHODS[method].learner
    learner: Any = getattr(stochastic_learners, name, None) or LEARNERS[name].load()
    return learner(**settings)


@cache
def published_runs() -> dict[tuple[str, str], dict[str, float]]:
    """Return the published settings and figures by data set and method.

    The figures are ``auc`` and ``nhd`` with their standard deviations over ``runs`` graphs.

    Examples
    --------
    >>> published_runs()["n1000_d30_ER4_gauss", "cosmo"]["auc"]
    0.9839
    """
    text = files("cosmodag.bench").joinpath("paper", "published.csv").read_text("utf-8")
    return {
        (row.pop("data"), row.pop("method")): {k: float(v) for k, v in row.items() if v}
        for row in csv.DictReader(text.splitlines())
    }


def _published(data: str, method: str) -> dict[str, Any]:
    """Return the published settings of a method for a data set."""
    own = "cosmo" if method == "cosmo-np" else method  # the ablation has the settings of COSMO
    row = published_runs().get((data, own))
    if row is None:
        parse_name(data)
        known = sorted(name for name, other in published_runs() if other == own)
        listed = f"published are {', '.join(known)}" if known else "none are published"
        raise DataError(f"There are no published settings of {method} for {data!r}: {listed}.")
    settings: dict[str, Any] = {k: v for k, v in row.items() if k not in _FIGURES}
    return settings | {"epochs": int(row["epochs"])}
