"""Probabilities from resamples: what is counted, which rows are drawn, and stopping early."""

import pickle
import signal
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cosmodag import Cosmo, Knowledge, OrderSearch, VarianceSort, simulate
from cosmodag.assess.bootstrapping import (
    BootstrapResult,
    bootstrap,
    resample_fits,
    rows_of,
)
from cosmodag.assess.bootstrapping.bootstrap import BootstrapInterrupt, NoResampleError
from cosmodag.errors import (
    CosmodagWarning,
    DataError,
    DataWarning,
    InterruptedWarning,
    ModelWarning,
)
from cosmodag.fit import pipeline
from cosmodag.fit.prepare import prepare
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.watch import Watch
from learner_catalogue import CATALOGUE, QUICK, chain_table, marks_of

DATA = simulate.load("n300_d6_ER2_gauss", seed=1)
BOOTSTRAP_ROWS = [2, 3, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17]
HALF_ROWS = [0, 1, 2, 3, 5, 7, 8, 10, 11, 12, 14, 18]


@pytest.mark.parametrize(
    ("sample", "first"),
    [("bootstrap", BOOTSTRAP_ROWS), ("half", HALF_ROWS)],
)
def test_rows_are_those_of_the_seed(sample, first):
    """The rows never change, so that the seeds of a result draw the same rows in later versions."""
    rows = rows_of(sample, 101, seed=4)
    assert rows[:12].tolist() == first
    assert rows_of(sample, 101, seed=5)[:12].tolist() != first
    assert rows.min() >= 0
    assert rows.max() < 101
    assert len(rows) == (101 if sample == "bootstrap" else 50)
    assert len(np.unique(rows)) == 50 if sample == "half" else len(np.unique(rows)) < 101


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in QUICK])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_every_learner_can_be_asked(name):
    result = bootstrap(CATALOGUE[name](), chain_table(), n=2, random_state=0, verbose=False)
    assert result.done == [0, 1]
    assert set(np.unique(result.arc_probabilities)) <= {0.0, 0.5, 1.0}
    assert (result.direction_shares <= result.edge_shares).all()
    order = result.order_probabilities
    np.testing.assert_array_equal(order + order.T, 1 - np.eye(5))


def test_the_table_is_prepared_once(monkeypatch):
    """The fit that decides about the noise shares the prepared table with all resamples."""
    from cosmodag.fit import prepare as module

    prepared, real = [], module.prepare_table
    monkeypatch.setattr(module, "prepare_table", lambda *a: prepared.append(1) or real(*a))
    assert bootstrap(OrderSearch(), DATA.X, n=2, random_state=0).noise is not None
    assert len(prepared) == 1


def test_a_resample_is_a_fit_to_its_rows():
    result = bootstrap(OrderSearch(), DATA.X, n=3, random_state=0)
    found = [
        OrderSearch(noise=result.noise, random_state=seed).fit(
            DATA.X[rows_of("bootstrap", 300, seed)]
        )
        for seed in result.seeds
    ]
    expected = np.mean([model.adjacency_ != 0 for model in found], axis=0)
    np.testing.assert_allclose(result.arc_probabilities, expected)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_resample_without_training_has_the_order_of_its_rows(monkeypatch):
    monkeypatch.setattr("cosmodag.learners.cosmo._TOO_LARGE", 10)
    X = np.random.default_rng(0).normal(size=(9, 12))
    learner = Cosmo(refine="prune", noise="equal-variance")
    result = bootstrap(learner, X, n=3, random_state=0, verbose=False)
    found = [learner.fit(X[rows_of("bootstrap", 9, seed)]).order_ for seed in result.seeds]
    before = np.mean([np.argsort(order)[:, None] < np.argsort(order) for order in found], axis=0)
    np.testing.assert_array_equal(result.order_probabilities, before)


def gaussian_chain(rows: int = 400, seed: int = 0) -> np.ndarray:
    """A Gaussian chain of four variables in different units."""
    noise = np.random.default_rng(seed).normal(size=(rows, 4))
    return noise @ np.linalg.inv(np.eye(4) - np.diag([0.9, 0.8, 0.7], 1)) * [1, 50, 0.1, 7]


def test_no_arrow_of_a_gaussian_chain_is_certified():
    result = bootstrap(OrderSearch(), gaussian_chain(), n=20, random_state=0)
    assert result.noise == "gaussian"
    assert np.count_nonzero(result.edge_probabilities >= 0.95) == 6
    assert result.direction_probabilities.max() < 0.5


def test_the_noise_is_decided_once_on_the_table(monkeypatch):
    """Resamples repeat rows, so they look less Gaussian than the table and must not decide."""
    X = gaussian_chain()
    assert OrderSearch(random_state=0).fit(X).noise_ == "gaussian"
    seen = []
    settled = pipeline.settled
    monkeypatch.setattr(
        pipeline, "settled", lambda one, *rest: seen.append(one.noise) or settled(one, *rest)
    )
    bootstrap(OrderSearch(), X, n=5, random_state=0)
    assert seen.count("auto") == 1
    assert seen.count("gaussian") == 5


@pytest.mark.parametrize("noise", ["equal-variance", "non-gaussian"])
def test_a_noise_model_that_decides_directions_directs_every_arc(noise):
    result = bootstrap(OrderSearch(noise=noise), gaussian_chain(), n=3, random_state=0)
    np.testing.assert_array_equal(result.direction_shares, result.arc_probabilities)
    assert result.noise == noise


def test_what_the_fit_to_the_table_doubts_is_said_before_resampling(monkeypatch):
    learn = OrderSearch._learn

    def doubting(self, given, watch):
        warnings.warn("The table contradicts it.", DataWarning, stacklevel=1)
        return learn(self, given, watch)

    monkeypatch.setattr(OrderSearch, "_learn", doubting)
    X = np.column_stack([gaussian_chain(), np.ones(400)])
    with pytest.warns(ModelWarning, match="not probabilities: The table contradicts it."):
        result = bootstrap(OrderSearch(), X, n=2, random_state=0)
    # The constant column was known before the fit, so it casts no doubt on the probabilities.
    assert result.doubts == ["The table contradicts it."]
    assert np.isfinite(result.edge_probabilities).all()


def test_training_counts_each_row_as_often_as_it_was_drawn(monkeypatch):
    from cosmodag.learners.trained import training

    seen = []
    solve = training.solve_many

    def recorded(solver, problems, **options):
        seen.extend(problem for problem in problems if problem.counted is not None)
        return solve(solver, problems, **options)

    monkeypatch.setattr(training, "solve_many", recorded)
    result = bootstrap(Cosmo(trainings=2), DATA.X, n=3, random_state=1)
    assert len(seen) == 6
    assert len({id(problem.data) for problem in seen}) == 1
    for place, problem in enumerate(seen):
        rows = rows_of("bootstrap", 300, result.seeds[place // 2])
        np.testing.assert_array_equal(problem.counted[:, 0], np.bincount(rows, minlength=300))
    assert len({problem.seed for problem in seen}) == 6
    assert (result.consensus() == DATA.graph).all()


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_training_leaves_out_values_that_were_set():
    """Arbitrary interventional values of a sink carry no information about its causes."""
    table = chain_table()
    wild = table.copy()
    wild.loc[::3, "e"] = np.random.default_rng(1).uniform(-500, 500, size=40)
    targets = ["e", "", ""] * 40
    known = Knowledge(sinks=["e"])
    model = Cosmo(epochs=30, refine=None, knowledge=known, random_state=0)
    one, other = (
        bootstrap(model, some, n=3, interventions=targets, random_state=0) for some in (table, wild)
    )
    np.testing.assert_array_equal(one.arc_probabilities, other.arc_probabilities)
    assert one.arc_probabilities[3, 4] == 1.0


def test_an_arrow_that_follows_units_is_not_certified():
    """Sorting a chain by variance finds it in every resample, but other units reverse it."""
    result = bootstrap(VarianceSort(), chain_table(), n=4, random_state=0)
    assert result.arc_probabilities[0, 1] == result.edge_probabilities[0, 1] == 1.0
    assert not result.direction_probabilities.any()


def test_the_same_seed_gives_the_same_result():
    first, again, other = (
        bootstrap(Cosmo(), DATA.X, n=4, random_state=seed).arc_probabilities for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_model_is_left_as_it_was():
    model = Cosmo(random_state=0).fit(DATA.X)
    before = model.adjacency_.copy()
    bootstrap(model, DATA.X, n=2, random_state=5)
    np.testing.assert_array_equal(model.adjacency_, before)
    assert model.random_state == 0


def test_names_are_those_of_the_table():
    frame = pd.DataFrame(DATA.X, columns=list("abcdef"))
    result = bootstrap(VarianceSort(refine="prune"), frame, n=2, random_state=0)
    assert result.names == list("abcdef")
    edges = result.edges(least=0.6)
    assert set(edges["cause"]) <= set("abcdef")
    assert (edges["joined"] == 1).all()
    assert edges["p_edge"].is_monotonic_decreasing


def test_what_is_done_when_time_is_over_counts(monkeypatch):
    results = []

    class Impatient(Watch):
        @property
        def stop(self):
            return "time" if results else None

    def add_and_tell(result, fit):
        add(result, fit)
        results.append(fit)

    add = BootstrapResult.add
    monkeypatch.setattr(BootstrapResult, "add", add_and_tell)
    monkeypatch.setattr(sys.modules["cosmodag.assess.bootstrapping.bootstrap"], "Watch", Impatient)
    with pytest.warns(InterruptedWarning, match="max_time"):
        result = bootstrap(OrderSearch(), DATA.X, n=500, random_state=0)
    assert 0 < len(result.done) < 500
    assert result.stopped == "time"
    assert f"{len(result.done)} of 500" in repr(result)


def test_ctrl_c_is_raised_with_what_is_done(monkeypatch):
    def add_and_interrupt(result, *fit):
        add(result, *fit)
        if len(result.done) == 3:
            signal.raise_signal(signal.SIGINT)

    add = BootstrapResult.add
    monkeypatch.setattr(BootstrapResult, "add", add_and_interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        bootstrap(OrderSearch(), DATA.X, n=500, random_state=0)
    result = pickle.loads(pickle.dumps(caught.value)).result
    assert 3 <= len(result.done) < 500
    assert result.stopped == "interrupt"
    assert result.done == sorted(result.done)


def test_ctrl_c_in_the_fit_to_the_whole_table_is_one_of_the_bootstrap(monkeypatch):
    def refine_and_interrupt(*arguments):
        signal.raise_signal(signal.SIGINT)
        return refine(*arguments)

    refine = OrderSearch.refined
    monkeypatch.setattr(OrderSearch, "refined", refine_and_interrupt)
    with pytest.raises(BootstrapInterrupt) as caught:
        bootstrap(OrderSearch(), DATA.X, n=5, random_state=0)
    assert caught.value.result.done == []
    assert caught.value.result.stopped == "interrupt"


@pytest.mark.parametrize("step", ["copied", "prepared"])
def test_ctrl_c_before_training_is_seen_before_all_resamples_are_prepared(monkeypatch, step):
    """With 100,000 resamples, preparation took half a minute."""

    def counted_and_interrupted(*arguments):
        calls.append(None)
        if len(calls) == 10:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments)

    place, name = {
        "copied": (sys.modules["cosmodag.assess.bootstrapping.resample_fits"], "_seeded"),
        "prepared": (Cosmo, "problems_for"),
    }[step]
    calls, function = [], getattr(place, name)
    monkeypatch.setattr(place, name, counted_and_interrupted)
    with pytest.raises(BootstrapInterrupt) as caught:
        bootstrap(Cosmo(noise="gaussian", epochs=5), DATA.X, n=50, random_state=0)
    assert len(calls) == 10
    assert caught.value.result.done == []


def test_ctrl_c_in_training_starts_no_further_batch(monkeypatch):
    def counted_and_interrupted(*arguments):
        calls.append(None)
        if len(calls) == 2:  # after the fit to the whole table
            signal.raise_signal(signal.SIGINT)
        return solve(*arguments)

    calls, solve = [], OneProblem.solve
    monkeypatch.setattr(OneProblem, "solve", counted_and_interrupted)
    with pytest.raises(BootstrapInterrupt):
        bootstrap(Cosmo(noise="gaussian", epochs=5), DATA.X, n=1000, random_state=0)
    assert len(calls) < 10  # of 33: a few fits are requested in advance


def test_tasks_that_a_stop_left_unprepared_still_give_a_graph(monkeypatch):
    """Those of a selection, which keeps the graphs learnt so far."""

    def interrupt(*arguments):
        monkeypatch.setattr(Cosmo, "problems_for", problems_for)
        signal.raise_signal(signal.SIGINT)
        return problems_for(*arguments)

    problems_for = Cosmo.problems_for
    monkeypatch.setattr(Cosmo, "problems_for", interrupt)
    given = prepare(Cosmo(), DATA.X)
    tasks = [pipeline.FitTask(Cosmo(lambda1=value, epochs=5), given) for value in (0.1, 0.2, 0.3)]
    with pytest.raises(pipeline.FitInterrupt) as caught:
        pipeline.fit_prepared(tasks)
    assert [one.dag.d for one in caught.value.results] == [6, 6, 6]


def test_no_time_at_all_is_refused():
    with pytest.raises(DataError, match="max_time"):
        bootstrap(Cosmo(), DATA.X, n=3, max_time=1e-9)


def test_a_cluster_fits_the_same_resamples():
    module = sys.modules["cosmodag.assess.bootstrapping.bootstrap"]
    model = OrderSearch()
    here = bootstrap(model, DATA.X, n=10, random_state=0)
    begun = OrderSearch(noise=here.noise)
    given = prepare(begun, DATA.X)
    with Watch(1, "") as watch:
        fits = list(module._on_cluster(begun, given, here.seeds, "bootstrap", watch, "local", None))
    assert sorted(fit.place for fit in fits) == list(range(10))
    np.testing.assert_allclose(np.mean([f.arcs for f in fits], axis=0), here.arc_probabilities)


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="n is 0"):
        bootstrap(Cosmo(), DATA.X, n=0)
    with pytest.raises(DataError, match="sample is 'third'"):
        bootstrap(Cosmo(), DATA.X, sample="third")
    with pytest.raises(DataError, match="max_time is 'soon'"):
        bootstrap(OrderSearch(), DATA.X, n=2, max_time="soon")
    with pytest.raises(DataError, match="engine"):
        bootstrap(Cosmo(), DATA.X, n=2, engine="cloud")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CosmodagWarning)
        bootstrap(OrderSearch(), DATA.X, n=2, random_state=0)


@pytest.mark.parametrize("model", [Cosmo(epochs=50), OrderSearch()], ids=["cosmo", "search"])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_knowledge_and_interventions_hold_in_every_resample(model, monkeypatch):
    u, v = (int(place) for place in np.argwhere(DATA.graph)[0])
    a, b = (int(place) for place in np.argwhere(~DATA.graph & ~DATA.graph.T)[1])
    names = list("abcdef")
    known = Knowledge(forbidden_edges=[(names[u], names[v])], required_edges=[(names[a], names[b])])
    seen = []
    settled = pipeline.settled
    monkeypatch.setattr(
        pipeline,
        "settled",
        lambda one, given, *rest: seen.append(given.known.targets) or settled(one, given, *rest),
    )
    targets = ["a" if row < 60 else "" for row in range(300)]
    frame = pd.DataFrame(DATA.X, columns=names)
    result = bootstrap(
        clone(model).set_params(knowledge=known), frame, n=4, interventions=targets, random_state=0
    )
    assert result.arc_probabilities[u, v] == 0
    assert result.arc_probabilities[a, b] == 1
    assert result.consensus(1.1)[a, b]
    drawn = sorted(int(mask[:, 0].sum()) for mask in seen)
    # The whole table is fitted once, to decide on the noise.
    expected = [60, *((rows_of("bootstrap", 300, seed) < 60).sum() for seed in result.seeds)]
    assert drawn == sorted(int(count) for count in expected)


@pytest.mark.parametrize(("sample", "size"), [("bootstrap", 100), ("half", 50)])
def test_a_block_is_a_run_of_rows(sample, size):
    rows = rows_of(sample, 100, seed=3, block=10)
    assert len(rows) == size
    counts = np.bincount(rows, minlength=100)
    starts = np.count_nonzero(np.maximum(counts - np.roll(counts, 1), 0))
    assert starts <= size / 10


def test_windows_are_drawn_in_blocks():
    from cosmodag.assess.bootstrapping.resample_fits import fit_resamples

    X = np.random.default_rng(0).normal(size=(129, 2))
    learner = VarianceSort(lags=1)
    given, seen = prepare(learner, X), []
    with Watch(1, "", show=False) as watch:
        take = lambda place, dag: seen.append(dag.residuals[:, 3]) or place  # noqa: E731
        assert list(fit_resamples(learner, given, [7], "bootstrap", watch, take)) == [0]
    expected = given.data[rows_of("bootstrap", 128, 7, block=5), 3]
    assert np.allclose(np.sort(seen[0]), np.sort(expected), atol=1e-5)


@pytest.mark.parametrize("model", [VarianceSort(), OrderSearch()], ids=["sort", "search"])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")
def test_resamples_in_which_a_variable_was_always_set_are_left_out(model):
    X, targets = pd.DataFrame(DATA.X[:60], columns=list("abcdef")), ["", "", *["b"] * 58]
    with pytest.warns(InterruptedWarning, match="set or missing in all rows"):
        result = bootstrap(model, X, n=20, interventions=targets, random_state=0, verbose=False)
    usable = [seed for seed in result.seeds if rows_of("bootstrap", 60, seed)[0] < 2]
    assert [result.seeds[place] for place in result.done] == usable
    assert 0 < len(usable) < 20
    with pytest.raises(NoResampleError):
        bootstrap(model, X, n=1, interventions=targets, random_state=11, verbose=False)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_resamples_with_one_row_for_a_required_arc_are_left_out():
    X, targets = pd.DataFrame(DATA.X[:60], columns=list("abcdef")), [*[""] * 3, *["b"] * 57]
    model = OrderSearch(noise="gaussian", knowledge={"required_edges": [("a", "b")]})
    result = bootstrap(model, X, n=20, interventions=targets, random_state=0, verbose=False)
    free = [np.count_nonzero(rows_of("bootstrap", 60, seed) < 3) for seed in result.seeds]
    assert min(free) < 2
    assert result.done == [place for place, rows in enumerate(free) if rows >= 2]


def test_the_time_limit_holds_for_any_number_of_resamples(monkeypatch):
    monkeypatch.setattr(resample_fits, "_ROUND", 4)
    X = np.random.default_rng(0).normal(size=(60, 3))
    learner = VarianceSort(criterion="none")
    rounds = bootstrap(learner, X, 10, random_state=0, verbose=False)
    monkeypatch.undo()
    assert rounds.done == list(range(10))
    whole = bootstrap(learner, X, 10, random_state=0, verbose=False)
    np.testing.assert_array_equal(rounds.edge_probabilities, whole.edge_probabilities)
    begin = time.process_time()
    with pytest.warns(InterruptedWarning, match="of 10,000,000 resamples were fitted"):
        result = bootstrap(learner, X, 10**7, max_time=0.5, random_state=0, verbose=False)
    assert 0 < len(result.done) <= len(result.facts()["seeds"]) == max(result.done) + 1
    assert time.process_time() - begin < 4
