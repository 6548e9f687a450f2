"""Cores that a process may use, and BLAS threads shared by fits."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from cosmodag import Cosmo, CosmoMLP, Notears, OrderSearch
from cosmodag.runtime import threads


@pytest.fixture
def three_cores(monkeypatch):
    threads.cores.cache_clear()
    asked = []
    monkeypatch.setattr(joblib, "cpu_count", lambda: asked.append(None) or 3)
    yield asked
    threads.cores.cache_clear()


def test_cores_are_counted_once(three_cores):
    assert threads.cores() == threads.available_threads() == 3
    assert threads.threads_worth(1e12) == 3
    assert threads.threads_worth(1e12, workers=2) == 1
    assert threads.threads_worth(10.0) == 1
    assert len(three_cores) == 1


def blas_limits() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        # Reset to the state of a new process, in which no thread controls the limits.
        getattr(OpenBLASController, "clear_controlling_thread", lambda **_: None)(force=True)
        before = blas_limits()
        assert before == [2] * len(before) != []
        yield before


def in_turn(order: list[str]) -> list[list[int]]:
    """BLAS limits after each step in which thread 'a' or 'b' enters or leaves its context."""
    contexts = {name: threads.blas_threads(1) for name in "ab"}
    seen = []
    # The threads outlive the fits: as long as the first is alive, threadpoolctl ignores the others.
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b:
        pools = {"a": a, "b": b}
        for step in order:
            verb, name = step.split()
            context = contexts[name]
            leave = partial(context.__exit__, None, None, None)
            pools[name].submit(context.__enter__ if verb == "enter" else leave).result(10)
            seen.append(blas_limits())
    return seen


@pytest.mark.parametrize("last", ["a", "b"])
def test_the_limit_is_put_back_whichever_thread_ends_last(two_threads, last):
    first = "b" if last == "a" else "a"
    low = [1] * len(two_threads)
    order = ["enter a", "enter b", f"leave {first}", f"leave {last}"]
    assert in_turn(order) == [low, low, low, two_threads]


def test_the_caller_can_set_limits_after_a_fit_in_another_thread(two_threads):
    in_turn(["enter b", "leave b"])
    with threadpool_limits(1, user_api="blas"):
        assert blas_limits() == [1] * len(two_threads)
    assert blas_limits() == two_threads


def test_a_limit_of_the_caller_is_not_raised():
    with threadpool_limits(1, user_api="blas"), threads.blas_threads(2):
        assert set(blas_limits()) == {1}


def test_a_limit_per_thread_is_put_back_by_its_thread(monkeypatch):
    class PerThread(threading.local):
        internal_api, threading_layer, num_threads = "openblas", "openmp", 4

        def set_num_threads(self, number):
            self.num_threads = number

    library = PerThread()
    monkeypatch.setattr(threads, "_blas", lambda: [library])
    inside = []

    def fit():
        with threads.blas_threads(1):
            inside.append(library.num_threads)
        inside.append(library.num_threads)

    with threads.blas_threads(2):
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
        assert (inside, library.num_threads) == ([1, 4], 2)
    assert library.num_threads == 4


def test_eight_fits_at_once_leave_the_limits_as_they_were(two_threads):
    X = np.random.default_rng(0).normal(size=(50, 4))
    begin = threading.Barrier(8)

    def fit(seed):
        begin.wait(30)
        return Notears(max_iter=2, random_state=seed).fit(X)

    with warnings.catch_warnings(), ThreadPoolExecutor(8) as pool:
        warnings.simplefilter("ignore")
        assert len(list(pool.map(fit, range(8)))) == 8
        # Checked while the pool is open, when a limit set by its first thread would still apply.
        assert blas_limits() == two_threads


@pytest.fixture
def limits_set(monkeypatch):
    """The limits that contexts set for all libraries, in order."""
    asked, add = [], threads._SharedLimit.add

    def noted(self, limit):
        asked.append(limit)
        add(self, limit)

    monkeypatch.setattr(threads._SharedLimit, "add", noted)
    return asked


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize(
    "model",
    [
        Cosmo(epochs=20, trainings=2, random_state=0),
        CosmoMLP(epochs=5, hidden=(3,), random_state=0),
        Notears(max_iter=2),
        OrderSearch(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_of_a_small_table_enters_the_limit_once(two_threads, monkeypatch, limits_set, model):
    limits = []

    def set_limit(library, threads):
        limits.append(threads)
        library.set_num_threads(threads)

    monkeypatch.setattr(threads, "_set_from_any_thread", set_limit)
    model.fit(np.random.default_rng(0).normal(size=(50, 4)))
    assert limits_set == [1]
    assert limits == [1] * len(two_threads) + two_threads


def test_training_of_a_large_table_enters_its_own_limit_once(two_threads, monkeypatch, limits_set):
    # Products with the whole table are large enough for two threads; those with a batch are not.
    monkeypatch.setattr(threads, "_WORTH_THREADS", 700.0)
    monkeypatch.setattr(threads, "cores", lambda: 2)
    X = np.random.default_rng(0).normal(size=(50, 4))
    Cosmo(epochs=20, batch_size=25, refine=None, random_state=0).fit(X)
    assert limits_set == [2, 1]


def test_a_context_in_another_is_entered_only_if_it_limits_more(two_threads, limits_set):
    with threads.blas_threads(2):
        with threads.blas_threads(1), threads.blas_threads(2):
            assert blas_limits() == [1] * len(two_threads)
        assert blas_limits() == two_threads
        with threads.blas_threads(2):
            pass
    assert limits_set == [2, 1]
    with threads.blas_threads(2):
        assert limits_set == [2, 1, 2]  # the first context has exited, so this one sets a limit


def test_a_limit_of_one_thread_does_not_stand_for_another(two_threads, limits_set):
    assert in_turn(["enter a", "enter b", "leave a", "leave b"])[2] == [1] * len(two_threads)
    assert limits_set == [1, 1]
