"""Shared parameters of learners: each value has its effect or is refused before the first step."""

import itertools
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import (
    BlockSearch,
    Cosmo,
    EqualVariance,
    Notears,
    OrderSearch,
    VarianceSort,
    refine,
)
from cosmodag.errors import DataError, InterruptedWarning
from cosmodag.fit.dag.known import NOTHING
from cosmodag.learners.parameters import Noise
from cosmodag.learners.registry import LEARNERS
from cosmodag.learners.regression import CRITERIA, regress_on_predecessors
from learner_catalogue import QUICK, chain_table, marks_of

SHARED = ("threshold", "knowledge", "kinds", "missing", "scale", "lags")
SHARED += ("max_time", "random_state", "verbose")
MATRIX = {
    "refine": (None, "auto", "prune", "order"),
    "noise": get_args(Noise),
    "criterion": CRITERIA,
}

each_entry = pytest.mark.parametrize("name", list(LEARNERS))


def quick(name, **settings):
    return LEARNERS[name].load()(**{**next(iter(QUICK[name].values())), **settings})


def is_refused(learner):
    try:
        learner.check_settings()
        learner.refuse_idle()
    except DataError:
        return True
    return False


@each_entry
def test_every_learner_has_the_shared_parameters(name):
    learner = LEARNERS[name].load()
    parameters = learner().get_params(deep=False)
    assert set(SHARED) <= set(parameters)
    if "refine" in parameters and learner().is_linear:
        assert {"noise", "restarts"} <= set(parameters)
    for parameter in parameters:
        assert (
            f"\n{parameter} : " in learner.__doc__
            or f"{parameter}," in learner.__doc__
            or (f", {parameter} : " in learner.__doc__)
        ), parameter


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in LEARNERS])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_each_refinement_noise_and_criterion_has_its_effect_or_is_refused(name):
    own = LEARNERS[name].load()().get_params(deep=False)
    names = [parameter for parameter in MATRIX if parameter in own]
    table = chain_table()
    for values in itertools.product(*(MATRIX[parameter] for parameter in names)):
        asked = dict(zip(names, values, strict=True))
        learner = quick(name, **asked)
        refine, noise = asked.get("refine", "order"), asked.get("noise", "auto")
        criterion = asked.get("criterion", "bic")
        if "noise" not in names:  # networks, whose loss implies the noise, and the empty graph
            assert is_refused(learner) == (refine == "order" and "refine" in names)
            continue
        unrefined = refine is None and noise not in ("auto", own["noise"])
        idle_noise = unrefined or (refine == "prune" and noise == "non-gaussian")
        idle_criterion = refine is not None and criterion != "bic"
        assert is_refused(learner) == (idle_noise or idle_criterion), asked
        if is_refused(learner):
            with pytest.raises(DataError, match=r"^(noise|criterion) is .*: .* out"):
                learner.fit(table)
            continue
        model = learner.fit(table)
        assert model.refinement_ == {"auto": "order"}.get(refine, refine)
        assert hasattr(model, "noise_") == (refine is not None)
        if refine is not None:
            assert noise in ("auto", model.noise_)
        elif "criterion" in names:
            expected = regress_on_predecessors(
                NOTHING.moments(table.to_numpy()), model.order_, criterion
            )
            np.testing.assert_allclose(model.raw_weights_, expected, atol=1e-4)


@pytest.mark.parametrize("learner", [Cosmo, Notears, VarianceSort])
def test_a_noise_without_refinement_is_refused_with_the_way_out(learner):
    with pytest.raises(DataError, match=r"^noise is 'non-gaussian', .* set refine='order'"):
        learner(refine=None, noise="non-gaussian").fit(chain_table())


def test_the_default_noise_of_equal_variances_needs_no_refinement():
    assert not hasattr(EqualVariance(refine=None).fit(chain_table()), "noise_")
    assert EqualVariance().fit(chain_table()).noise_ == "equal-variance"
    with pytest.raises(DataError, match=r"^noise is 'gaussian', .* set refine"):
        EqualVariance(refine=None, noise="gaussian").fit(chain_table())


def with_kinds():
    random = np.random.default_rng(0)
    city = random.choice(["Bern", "Pisa", "Oslo"], 200)
    return pd.DataFrame({"city": city, "x": (city == "Bern") + random.normal(size=200)})


@pytest.mark.parametrize("noise", ["equal-variance", "non-gaussian"])
@pytest.mark.parametrize("learner", [OrderSearch, Cosmo, BlockSearch])
def test_a_noise_that_categories_do_not_have_is_refused(learner, noise):
    with pytest.raises(DataError, match=rf"^noise is '{noise}', .*\('city'\).* noise='gaussian'"):
        learner(noise=noise).fit(with_kinds())


def test_gaussian_noise_is_that_of_categories_and_counts():
    assert OrderSearch(noise="gaussian", random_state=0).fit(with_kinds()).noise_ == "gaussian"
    counts = chain_table().assign(a=np.random.default_rng(0).poisson(2, 120))
    with pytest.raises(DataError, match=r"^noise is 'equal-variance', .*\('a'\)"):
        VarianceSort(refine="order", noise="equal-variance", kinds={"a": "count"}).fit(counts)


@pytest.mark.parametrize("noise", ["equal-variance", "non-gaussian"])
def test_curves_alone_take_gaussian_noise_only(noise):
    with pytest.raises(DataError, match=rf"^noise is '{noise}', but curves=True"):
        BlockSearch(curves=True, noise=noise).fit(chain_table())
    assert BlockSearch(curves=False, noise=noise, random_state=0).fit(chain_table()).noise_ == noise


@pytest.mark.parametrize("name", ["VarianceSort", "R2Sort", "EqualVariance", "Notears", "NoCurl"])
def test_the_search_of_every_learner_can_be_limited(name):
    settings = {"refine": "order", "noise": "gaussian", "random_state": 0, "verbose": False}
    none = quick(name, restarts=0, **settings).fit(chain_table())
    assert not any("searched" in entry["start"] for entry in none.refine_report_)
    some = quick(name, restarts=2, **settings).fit(chain_table())
    assert any("searched" in entry["start"] for entry in some.refine_report_)
    for method in (None, "prune"):
        with pytest.raises(DataError, match=r"^restarts is 2, .* set refine='order'"):
            quick(name, restarts=2, refine=method).fit(chain_table())


def test_restarts_are_those_of_the_search_with_entropies_too():
    table = np.random.default_rng(0).laplace(size=(200, 5)) @ np.triu(np.ones((5, 5)))
    for restarts, is_there in ((0, False), (2, True)):
        model = OrderSearch(noise="non-gaussian", restarts=restarts, random_state=0).fit(table)
        assert any("searched" in each["start"] for each in model.refine_report_) == is_there


def test_what_a_given_order_does_not_use_is_refused():
    model = VarianceSort().fit(chain_table())
    with pytest.raises(DataError, match=r"^noise is 'non-gaussian', .* use method='order'"):
        cosmodag.refine(model, chain_table(), method="prune", noise="non-gaussian")
    with pytest.raises(DataError, match="method is None: it must be one of 'prune', 'order'"):
        cosmodag.refine(model, chain_table(), method=None)


def test_regressions_stop_in_time():
    with pytest.warns(InterruptedWarning, match="stopped"):
        model = VarianceSort(max_time=1e-9).fit(chain_table())
    assert model.stopped_ == "time"
    assert VarianceSort(max_time=60.0).fit(chain_table()).edges_.nnz > model.edges_.nnz


@pytest.mark.parametrize("name", ["VarianceSort", "EqualVariance", "EmptyGraph"])
def test_the_time_of_baselines_has_a_limit(name):
    with pytest.raises(DataError, match=r"^max_time is -1"):
        quick(name, max_time=-1).fit(chain_table())
    assert quick(name, max_time=60.0).fit(chain_table()).stopped_ is None


def test_a_fit_builds_its_solver_once_and_asks_once_whether_it_is_linear(monkeypatch):
    asked = []
    build = Cosmo.solver_for
    monkeypatch.setattr(
        Cosmo, "solver_for", lambda self, n, d: asked.append(n) or build(self, n, d)
    )
    Cosmo(epochs=2, random_state=0).fit(chain_table())
    assert asked == [2, 120]


def test_the_method_of_a_fit_is_that_which_was_used(tmp_path):
    table = chain_table()
    model = refine(list("abcde"), table, method="prune", random_state=0)
    model.save(tmp_path / "model")
    loaded = cosmodag.load(tmp_path / "model")
    for one in (model, loaded):
        assert one.refinement_ == "prune"
        one.report(tmp_path / "page.html")
        assert "were searched; the order" not in (tmp_path / "page.html").read_text("utf-8")
    other = VarianceSort(refine="prune").fit(table).set_params(refine=None)
    assert other.refinement_ == "prune"
    assert model.fit(table).refinement_ == "order"


def test_refining_a_model_keeps_its_kinds_and_its_treatment_of_missing_values():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(100, 3)), columns=list("abc"))
    table["b"] = random.poisson(2.0, size=100)
    table.loc[::9, "a"] = np.nan
    model = OrderSearch(kinds={"b": "continuous"}, missing="drop", random_state=0).fit(table)
    again = refine(model, table, random_state=0)
    assert [kind.kind for kind in again.kinds_] == ["continuous"] * 3
    assert again.missing_report_ == model.missing_report_


def test_an_order_of_columns_named_by_numbers_is_read_by_name():
    noise = np.random.default_rng(0).normal(size=(200, 3))
    table = pd.DataFrame(np.cumsum(noise, axis=1), columns=[2, 0, 1])
    for order in ([2, 0, 1], ["2", "0", "1"]):
        assert refine(order, table, method="prune").causal_order_ == ["2", "0", "1"]
