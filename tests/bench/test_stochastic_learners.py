"""NOTEARS, DAGMA and NOCURL as the COSMO paper ran them."""

import warnings

import numpy as np
import pytest

from cosmodag import metrics, simulate
from cosmodag.bench.stochastic_learners import (
    NoCurlU,
    StochasticDagma,
    StochasticNoCurl,
    StochasticNotears,
)
from cosmodag.errors import DataError, DivergenceError, InterruptedWarning
from cosmodag.graph.dags import is_dag

ignore_warnings = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def data():
    return simulate.load("n500_d10_ER2_gauss", seed=0)


@pytest.mark.parametrize(
    "learner",
    [
        StochasticNotears(learning_rate=6e-3, epochs=50, max_iter=6, random_state=0),
        StochasticDagma(learning_rate=6e-3, epochs=75, random_state=0),
        StochasticNoCurl(learning_rate=2e-2, epochs=150, random_state=0),
    ],
    ids=lambda value: type(value).__name__,
)
@ignore_warnings
def test_the_papers_formulations_find_much_of_it(data, learner):
    # About 1% of the paper's epochs at twenty times its learning rate: far from converged.
    model = learner.fit(data.X)
    assert metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.85
    assert is_dag(model.adjacency_)
    assert model.history_[-1]["epoch"] == model.n_iter_


@ignore_warnings
def test_the_joint_problem_is_acyclic_by_construction(data):
    model = NoCurlU(epochs=20, random_state=0).fit(data.X)
    assert not model.was_cyclic_
    assert model.dropped_arcs_ == 0
    assert np.array_equal(model.raw_weights_, model.weights_)
    assert np.array_equal(np.argsort(model.potentials_, kind="stable"), model.causal_order_)


@pytest.mark.parametrize(
    "learner",
    [
        StochasticNotears(max_time=0.02),
        StochasticDagma(max_time=0.02),
        StochasticNoCurl(max_time=0.02),
        NoCurlU(max_time=0.02),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_out_of_time_there_is_a_dag_and_a_warning(data, learner):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = learner.fit(data.X)
    assert [w for w in caught if w.category is InterruptedWarning and "max_time" in str(w.message)]
    assert model.stopped_ == "time"
    assert is_dag(model.adjacency_)


@ignore_warnings
def test_divergence_is_an_error_that_says_what_to_do(data):
    with pytest.raises(DivergenceError, match="learning_rate"):
        StochasticNotears(learning_rate=1e6, epochs=20, random_state=0).fit(data.X)


@ignore_warnings
def test_huge_numbers_end_dagmas_path_and_do_not_loop(data):
    settings = {"epochs": 3, "random_state": 0}
    assert np.isfinite(StochasticDagma(**settings).fit(data.X * 1e22).raw_weights_).all()
    with pytest.raises(DivergenceError):
        StochasticDagma(scale="none", **settings).fit(data.X * 1e22)


@ignore_warnings
def test_nocurl_stopped_in_its_first_stage_returns_that_stages_weights():
    data = simulate.load("n200_d10_ER2_gauss", seed=1)
    with pytest.warns(InterruptedWarning):
        model = StochasticNoCurl(epochs=10**6, max_time=0.3, random_state=0).fit(data.X)
    # The weights started at zero and hardly changed; the second stage would start from N(0, 1).
    assert not hasattr(model, "potentials_")
    assert np.abs(model.raw_weights_).max() < 1


def test_bad_parameters_are_named(data):
    with pytest.raises(DataError, match="epochs"):
        StochasticNoCurl(epochs=2.5).fit(data.X)


def test_the_tolerance_is_the_rounding_of_a_trace():
    # Half the spacing of float32 numbers at 30, which is 2⁻¹⁹.
    assert StochasticNotears().settings_for(30)["tolerance"] == 2.0**-20


def test_they_are_no_learners_of_the_package():
    import cosmodag
    from cosmodag.learners.registry import LEARNERS

    assert not [name for name in (*LEARNERS, *cosmodag.__all__) if "Stochastic" in name]
