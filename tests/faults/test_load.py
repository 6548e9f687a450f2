"""Many fits at once: in threads, in forked processes and in processes of joblib."""

import gc
import multiprocessing
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import jax
import joblib
import numpy as np
import pytest

from cosmodag import Cosmo, CosmoMLP, Notears, OrderSearch
from cosmodag.errors import CosmodagError
from cosmodag.solve.training.loop import _run_many
from learner_catalogue import chain_table

LEARNERS = (
    Cosmo(epochs=10, random_state=0),
    Cosmo(epochs=5, loss="likelihood", refine=None, random_state=0),
    OrderSearch(random_state=0),
    CosmoMLP(epochs=2, hidden=(3,), refine=None, random_state=0),
    Notears(max_iter=2),
)


def fitted(index: int) -> bytes | str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return LEARNERS[index % 5].fit(chain_table(seed=index)).weights_.tobytes()
        except CosmodagError as error:
            return f"{type(error).__name__}: {error}"


def live_arrays() -> int:
    gc.collect()
    return len(jax.live_arrays())


def memory() -> int:
    """Resident memory of this process in KiB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_fit_after_fit_keeps_nothing():
    for index in range(10):
        fitted(index)
    programs, arrays, before = _run_many._cache_size(), live_arrays(), memory()
    for index in range(10, 35):
        fitted(index)
    assert _run_many._cache_size() == programs
    assert live_arrays() == arrays
    # A leak of one program per fit would take megabytes each; allocators keep some memory too.
    assert memory() < before + 64 * 1024


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_eight_threads_find_what_one_finds():
    def fit(index: int) -> bytes:
        model = type(LEARNERS[index % 5])(**LEARNERS[index % 5].get_params())
        return model.fit(chain_table(seed=index)).weights_.tobytes()

    alone = [fit(index) for index in range(16)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fit, range(16))) == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from JAX, on every fork
def test_a_forked_process_works_or_says_why_not():
    alone = [fitted(index) for index in range(5)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(fitted, range(5)).get(300)
    assert found[2] == alone[2]  # a search needs no JAX
    for index in (0, 1, 3, 4):
        assert found[index].startswith("ForkError: ")
        assert "'spawn'" in found[index]
        assert "'loky'" in found[index]
    assert fitted(0) == alone[0]  # the parent can still fit


def work_of_loky(table: np.ndarray) -> bytes:
    return Cosmo(epochs=10, random_state=0).fit(table).weights_.tobytes()


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_processes_of_joblib_work():
    tables = [chain_table(seed=seed).to_numpy() for seed in range(2)]
    # Pickled by value, because a worker need not find this module.
    call = joblib.wrap_non_picklable_objects(work_of_loky)
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(call)(table) for table in tables)
    assert found == [work_of_loky(table) for table in tables]
