"""One way through a fit: many tasks give what fits one by one give, and each ends on its own."""

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from cosmodag import Cosmo, OrderSearch, VarianceSort, simulate
from cosmodag.errors import DivergenceError
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import prepare
from cosmodag.solve.watch import Watch
from cosmodag.stability import rows_of

TABLES = [simulate.load("n100_d5_ER1_gauss", seed=seed).X for seed in range(3)]
ROWS = partial(rows_of, "bootstrap", 100, 7)

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


class Stopped(Watch):
    """A watch that says from the beginning that time is over."""

    @property
    def stop(self) -> str:
        return "time"


def tasks_of(model) -> list[FitTask]:
    return [FitTask(copy(model), prepare(model, table)) for table in TABLES]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "model",
    [VarianceSort(), OrderSearch(random_state=0), Cosmo(epochs=50, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_many_tables_give_what_each_gives_alone(model, threads):
    tasks = tasks_of(model)
    with Watch(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks, watch, threads=threads))
    assert sorted(outcome.place for outcome in outcomes) == [0, 1, 2]
    for task, table in zip(tasks, TABLES, strict=True):
        alone = copy(model).fit(table)
        np.testing.assert_allclose(task.learner.weights_, alone.weights_, atol=1e-6)
        np.testing.assert_allclose(task.learner.residuals_, alone.residuals_, atol=1e-5)
        assert task.learner.causal_order_ == alone.causal_order_


def test_a_resample_is_settled_on_its_own_rows():
    model = VarianceSort()
    given = replace(prepare(model, TABLES[0]), draw=ROWS)
    with Watch(1, "", show=False) as watch:
        (outcome,) = fit_many([FitTask(model, given)], watch)
    assert outcome.error is None
    np.testing.assert_allclose(
        model.training_data(), given.data[ROWS()].astype(np.float64), atol=1e-5
    )
    assert given.row_counts.sum() == 100


def test_a_task_that_diverges_is_an_outcome_and_the_others_are_fitted():
    tasks = tasks_of(Cosmo(epochs=20, refine=None, random_state=0))
    tasks[1].learner.learning_rate = 1e30
    with Watch(1, "", show=False) as watch:
        found = {outcome.place: outcome for outcome in fit_many(tasks, watch)}
    assert isinstance(found[1].error, DivergenceError)
    assert [hasattr(task.learner, "adjacency_") for task in tasks] == [True, False, True]


@pytest.mark.parametrize("model", [OrderSearch(), Cosmo(epochs=50)], ids=["search", "cosmo"])
def test_tasks_that_were_stopped_are_finished_only_on_request(model):
    tasks = tasks_of(model)
    with Stopped(1, "", show=False) as watch:
        outcomes = list(fit_many(tasks, watch))
    assert [outcome.stopped for outcome in outcomes] == ["time"] * 3
    assert not any(hasattr(task.learner, "adjacency_") for task in tasks)
    with Stopped(1, "", show=False) as watch:
        list(fit_many(tasks, watch, finish_stopped=True))
    assert all(task.learner.adjacency_.shape == (5, 5) for task in tasks)


def test_what_is_taken_is_handed_out():
    tasks = tasks_of(VarianceSort())

    def take(place, learnt):
        tasks[place].learner.forget()
        return np.count_nonzero(learnt.raw_weights)

    with Watch(1, "", show=False) as watch:
        taken = [outcome.taken for outcome in fit_many(tasks, watch, take=take)]
    assert min(taken) > 0
    assert not any(hasattr(task.learner, "fitted_") for task in tasks)


def test_refinement_needs_no_graph_of_what_was_learnt():
    model = OrderSearch(random_state=0)
    given = prepare(model, TABLES[0])
    with Watch(1, "", show=False) as watch:
        (learning,) = model.learn_many([FitTask(model, given)], watch)
        learnt = learning.read(given)
    assert learnt.raw_weights is None
    assert learnt.order is None
    assert learnt.orders == {}
