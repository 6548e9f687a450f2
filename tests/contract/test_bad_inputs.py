"""Every bad input × every learner: refused in a sentence, or warned and answered with a DAG."""

import hashlib
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bad_inputs import CASES, Case

from cosmodag.errors import CosmodagError, CosmodagWarning
from cosmodag.graph.dags import is_dag
from cosmodag.learners import StructureLearner
from learner_catalogue import CATALOGUE

every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
every_learner = pytest.mark.parametrize("make", CATALOGUE.values(), ids=CATALOGUE.keys())


def fingerprint(data: Any) -> str:
    """Digest of all that a table is: a changed value, dtype or name changes it."""
    if isinstance(data, pd.DataFrame):  # whose pickle also holds what pandas has looked up so far
        columns = (data.iloc[:, place] for place in range(data.shape[1]))
        return repr([(column.name, column.dtype, column.to_list()) for column in columns])
    try:
        return hashlib.sha256(pickle.dumps(data)).hexdigest()
    except (TypeError, AttributeError):
        return repr(data)


def fit(model: StructureLearner, data: Any) -> list[warnings.WarningMessage]:
    """Fit; warnings of this package are collected, all others are errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", CosmodagWarning)
        model.fit(data)
    return caught


@every_case
@every_learner
def test_nothing_fails_silently(make: Callable[[], StructureLearner], case: Case) -> None:
    model, data = make(), case.make()
    before = fingerprint(data)
    started: list[bool] = []
    learn = model._learn
    model._learn = lambda *given: (started.append(True), learn(*given))[1]
    if case.outcome == "refused":
        with pytest.raises(CosmodagError, match=re.escape(case.mentions) or None) as refused:
            fit(model, data)
        assert not started
        sentence = str(refused.value)
        assert sentence[-1] == "."
        assert "\n" not in sentence
    else:
        caught = fit(model, data)
        assert_answer(model)
        if case.outcome == "warned":
            assert any(case.mentions in str(one.message) for one in caught)
    assert fingerprint(data) == before


def assert_answer(model: StructureLearner) -> None:
    """A finite DAG, and nothing in the other attributes that is not a number."""
    for name in ("raw_weights_", "weights_", "adjacency_", "noise_variances_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert is_dag(model.adjacency_)
    assert len(model.causal_order_) == model.n_features_in_
    assert len(model.arrow_basis_) == np.count_nonzero(model.adjacency_)


def test_the_catalogue_is_long_enough() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
