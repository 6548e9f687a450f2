"""Every unusual input × every learner: an error in one sentence, or a DAG and perhaps a warning.

Code that all learners share refuses a table before the learner sees it. So one learner is given
every refused table, every learner one of them, and all other pairs are nightly. Most learners are
also nightly on tables of unusual shapes, for which they compile programs of their own, and on
unusual containers, types and names, because learners only see an array of numbers.
"""

import hashlib
import pickle
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bad_inputs import CASES, Case

from cosmodag import GivenGraph
from cosmodag.errors import CosmodagError, CosmodagWarning
from cosmodag.graph.dags import is_dag
from cosmodag.learners import StructureLearner
from learner_catalogue import CATALOGUE, COMPILING_LONG, EVERY_TABLE

QUICKEST, SMOKE = "EmptyGraph", "one NaN"
# A constant column is left out of the fit; `learners/test_contract.py` gives one to every learner.
SHAPES = {"fewer rows than columns", "two rows", "three rows", "two columns", "constant column"}
# The fine tables whose numbers themselves are unusual.
NUMBERS = {"nearly constant column", "the table × 1e30", "the table × 1e-30", "the table + 1e9"}


def pairs(refused: bool) -> list[Any]:
    """All pairs of a learner and a case that is refused, or that is not."""
    return [
        pytest.param(
            learner,
            case,
            id=f"{learner}-{case.name}",
            marks=pytest.mark.nightly if _is_nightly(learner, case) else (),
        )
        for learner in CATALOGUE
        for case in CASES
        if (case.outcome == "refused") == refused
    ]


def _is_nightly(learner: str, case: Case) -> bool:
    if case.outcome == "refused":
        return learner != QUICKEST and case.name != SMOKE
    if learner in COMPILING_LONG:
        return True
    is_converted = case.outcome == "fine" and case.name not in NUMBERS
    return (is_converted or case.name in SHAPES) and learner not in EVERY_TABLE


def fingerprint(data: Any) -> str:
    """Digest of a table, which changes with any value, data type or name."""
    if isinstance(data, pd.DataFrame):  # its pickle would also contain caches of pandas
        columns = (data.iloc[:, place] for place in range(data.shape[1]))
        return repr([(column.name, column.dtype, column.to_list()) for column in columns])
    try:
        return hashlib.sha256(pickle.dumps(data)).hexdigest()
    except (TypeError, AttributeError):
        return repr(data)


def fit(model: StructureLearner, data: Any) -> list[warnings.WarningMessage]:
    """Fit, and return the warnings of this package; all others are errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", CosmodagWarning)
        model.fit(data)
    return caught


@cache
def arcs_in(learner: str, like: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Arcs that a learner finds in a plain array, and the arcs that rounding may decide.

    A fit that is cut short does not reach a minimum, so rounding in other units changes its weights
    slightly: 0.299 became 0.303, with a threshold of 0.3; and of an arc and its reverse, with
    weights 0.455 and 0.450, the weaker became the stronger. Refined graphs have no such threshold.
    """
    model = CATALOGUE[learner]()
    fit(model, like())
    sizes = np.abs(model.raw_weights_)
    near_the_cut = np.abs(sizes - 0.3) < 0.03
    near_its_reverse = (np.abs(sizes - sizes.T) < 0.03) & (sizes > 0.3)
    return model.adjacency_ != 0, (near_the_cut | near_its_reverse) & (model.refinement_ is None)


@pytest.mark.parametrize(("learner", "case"), pairs(refused=True))
def test_what_cannot_be_used_is_refused_before_the_learner_sees_it(
    learner: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = CATALOGUE[learner](), case.make()
    before = fingerprint(data)
    started: list[bool] = []
    monkeypatch.setattr(type(model), "learn_many", lambda *given: started.append(True))
    with pytest.raises(CosmodagError, match=re.escape(case.mentions) or None) as refused:
        fit(model, data)
    assert not started
    sentence = str(refused.value)
    assert sentence[-1] == "."
    assert "\n" not in sentence
    assert fingerprint(data) == before


@pytest.mark.parametrize(("learner", "case"), pairs(refused=False))
def test_what_can_be_used_gives_a_graph(learner: str, case: Case) -> None:
    model, data = CATALOGUE[learner](), case.make()
    before = fingerprint(data)
    caught = fit(model, data)
    assert fingerprint(data) == before
    assert_answer(model)
    if case.outcome == "warned":
        assert any(case.mentions in str(one.message) for one in caught)
    if case.like is not None:
        arcs, either_way = arcs_in(learner, case.like)
        np.testing.assert_array_equal((model.adjacency_ != 0) | either_way, arcs | either_way)


def assert_answer(model: StructureLearner) -> None:
    """Assert that the graph is a DAG and that all numeric attributes are finite."""
    for name in ("raw_weights_", "weights_", "adjacency_", "noise_variances_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert is_dag(model.adjacency_)
    assert len(model.causal_order_) == model.n_features_in_
    assert len(model.arrow_basis_) == np.count_nonzero(model.adjacency_)


def test_learners_share_the_code_that_refuses() -> None:
    for make in CATALOGUE.values():
        learner = type(make())
        # GivenGraph leaves out the columns that its graph lacks, and then calls the shared code.
        assert learner.fit is StructureLearner.fit or learner is GivenGraph


def test_the_catalogue_is_long_enough() -> None:
    assert SHAPES | NUMBERS | {SMOKE} <= {case.name for case in CASES}
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    assert all((case.like is not None) == (case.outcome == "fine") for case in CASES)


def test_the_graph_of_a_chain_is_found() -> None:
    """Otherwise, all graphs compared above could be empty."""
    plain = next(case.like for case in CASES if case.name == "lists")
    assert plain is not None
    chain = np.diag(np.ones(4, bool), 1)
    for learner in ("Cosmo", "OrderSearch", "EqualVariance"):
        np.testing.assert_array_equal(arcs_in(learner, plain)[0], chain)
