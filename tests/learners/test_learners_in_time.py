"""Every learner accepts time series, because the lagged table is made before the first step."""

import numpy as np
import pytest

from learner_catalogue import CATALOGUE, COMPILING_LONG, QUICK

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

# The first variant of each learner, because variants only differ after the lagged table is made.
# Refinement of networks takes many seconds to compile.
NIGHTLY = {"CosmoMLP", *COMPILING_LONG}
FIRST = [
    pytest.param(CATALOGUE[name], id=name, marks=[pytest.mark.nightly] if name in NIGHTLY else [])
    for name in [*QUICK, "CosmoMLP-unrefined"]
]


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[1:, 1] += 2 * X[:-1, 0]
    return X


@pytest.mark.parametrize("make", FIRST)
def test_every_learner_takes_lags(make, table):
    model = make().set_params(lags=1).fit(table)
    assert model.window_.columns == ("x0", "x1", "x0[t-1]", "x1[t-1]")
    assert not np.asarray(model.adjacency_)[:, 2:].any(), "an arc into the past"
    assert model.lagged_weights_.shape == (2, 2, 2)
    assert np.isnan(model.predict(table)[0]).all()
    assert np.isfinite(model.predict(table)[1:]).all()
    assert np.isfinite(model.forecast(table, 2)).all()
    responses = model.impulse_responses(1)
    assert np.isfinite(responses).all(axis=None)
    assert np.allclose([responses[0][name, name] for name in ("x0", "x1")], 1.0)
