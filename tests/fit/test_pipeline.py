"""The fit pipeline: fits in a batch equal separate fits, and each one can fail on its own."""

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from cosmodag import Cosmo, CosmoMLP, OrderSearch, VarianceSort, simulate
from cosmodag.assess.bootstrapping import rows_of
from cosmodag.errors import DivergenceError
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import prepare
from cosmodag.solve.watch import Watch

TABLES = [simulate.load("n100_d5_ER1_gauss", seed=seed).X for seed in range(3)]
ROWS = partial(rows_of, "bootstrap", 100, 7)

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


class Stopped(Watch):
    """A watch whose time limit has passed from the beginning."""

    @property
    def stop(self) -> str:
        return "time"


def tasks_of(model) -> list[FitTask]:
    given = [prepare(model, table) for table in TABLES]
    return [FitTask(copy(model), one) for one in given]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "model",
    [
        VarianceSort(),
        OrderSearch(random_state=0),
        Cosmo(epochs=50, random_state=0),
        CosmoMLP(epochs=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_many_tables_give_what_each_gives_alone_and_change_no_learner(model, threads):
    tasks = tasks_of(model)
    before = [dict(vars(task.learner)) for task in tasks]
    with Watch(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks, watch, threads=threads))
    assert sorted(outcome.place for outcome in outcomes) == [0, 1, 2]
    assert [vars(task.learner) for task in tasks] == before
    for outcome in outcomes:
        alone, found = copy(model).fit(TABLES[outcome.place]), outcome.taken
        np.testing.assert_allclose(found.dag.weights, alone.weights_, atol=1e-6)
        np.testing.assert_allclose(found.dag.residuals, alone.residuals_, atol=1e-5)
        assert found.dag.order.tolist() == alone.order_.tolist()
        assert found.attributes.keys() | {"fitted_", "findings_", "stopped_"} == {
            name for name in vars(alone) if name.endswith("_")
        }


def test_another_fit_leaves_nothing_of_the_one_before():
    model = Cosmo(epochs=5, random_state=0).fit(pd.DataFrame(TABLES[0], columns=list("abcde")))
    assert model.refine_report_
    model.set_params(refine=None).fit(TABLES[1])
    assert not hasattr(model, "refine_report_")
    assert not hasattr(model, "feature_names_in_")


class Counting(VarianceSort):
    """A learner that sets an attribute of its own while it learns."""

    def _learn(self, given, watch):
        self.rows_ = len(given.data)
        return super()._learn(given, watch)


def test_what_a_learner_sets_while_it_learns_stays():
    assert Counting().fit(TABLES[0]).rows_ == 100


def test_a_resample_is_settled_on_its_own_rows():
    model = VarianceSort()
    given = replace(prepare(model, TABLES[0]), draw=ROWS)
    with Watch(1, "", show=False) as watch:
        (outcome,) = fit_many([FitTask(model, given)], watch)
    assert outcome.error is None
    np.testing.assert_allclose(
        outcome.taken.dag.training_data(), given.data[ROWS()].astype(np.float64), atol=1e-5
    )
    assert given.row_counts.sum() == 100


def test_a_task_that_diverges_is_an_outcome_and_the_others_are_fitted():
    tasks = tasks_of(Cosmo(epochs=20, refine=None, random_state=0))
    tasks[1].learner.learning_rate = 1e30
    with Watch(1, "", show=False) as watch:
        found = {outcome.place: outcome for outcome in fit_many(tasks, watch)}
    assert isinstance(found[1].error, DivergenceError)
    assert [found[place].taken is not None for place in range(3)] == [True, False, True]


@pytest.mark.parametrize("model", [OrderSearch(), Cosmo(epochs=50)], ids=["search", "cosmo"])
def test_tasks_that_were_stopped_are_finished_only_on_request(model):
    tasks = tasks_of(model)
    with Stopped(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks, watch))
    assert [outcome.stopped for outcome in outcomes] == ["time"] * 3
    assert [outcome.taken for outcome in outcomes] == [None] * 3
    with Stopped(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks, watch, finish_stopped=True))
    assert all(outcome.taken.dag.adjacency.shape == (5, 5) for outcome in outcomes)


def test_what_is_taken_is_handed_out():
    def take(place, result, learnt):
        assert result.attributes["raw_weights_"] is not learnt.raw_weights
        return place, np.count_nonzero(learnt.raw_weights)

    with Watch(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks_of(VarianceSort()), watch, take=take))
    assert [outcome.taken[0] for outcome in outcomes] == [outcome.place for outcome in outcomes]
    assert min(outcome.taken[1] for outcome in outcomes) > 0


def test_refinement_needs_no_graph_of_what_was_learnt():
    model = OrderSearch(random_state=0)
    given = prepare(model, TABLES[0])
    with Watch(1, "", show=False) as watch:
        (learning,) = model.learn_many([FitTask(model, given)], watch)
        learnt = learning.read(given)
    assert learnt.raw_weights is None
    assert learnt.order is None
    assert learnt.orders == {}
