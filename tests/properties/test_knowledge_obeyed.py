"""Every learner obeys the knowledge it is given, for any knowledge and any table."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_examples import gate_examples, linear_table, seeds

from cosmodag import EmptyGraph, OrderSearch, RandomSort, VarianceSort, refine
from learner_catalogue import CATALOGUE, COMPILING_LONG
from random_knowledge import random_knowledge, violations

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

ALL_NAMES = list("abcdef")
QUICK = [
    lambda: OrderSearch(random_state=0),
    lambda: OrderSearch(noise="non-gaussian", random_state=0),
    lambda: OrderSearch(noise="equal-variance", random_state=0),
    lambda: VarianceSort(),
    lambda: VarianceSort(refine="prune"),
    lambda: RandomSort(random_state=0),
    lambda: EmptyGraph(),
]


# The nightly run tries all learners; otherwise those that take long to compile are left out.
IS_NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SAMPLED = sorted(CATALOGUE if IS_NIGHTLY else CATALOGUE.keys() - COMPILING_LONG)


def problem(seed: int, d: int, rows: int, decades: float = 2.0):
    random = np.random.default_rng(seed)
    noise = ["normal", "exponential"][seed % 2]
    table = pd.DataFrame(linear_table(random, rows, d, noise, decades), columns=ALL_NAMES[:d])
    return table, random_knowledge(ALL_NAMES[:d], random)


@gate_examples(60)
@given(st.sampled_from(QUICK), seeds, st.integers(2, 6), st.integers(6, 60), st.floats(0, 2))
def test_quick_learners_at_any_size_and_threshold(make, seed, d, rows, threshold):
    table, known = problem(seed, d, rows)
    model = make().set_params(knowledge=known, threshold=threshold).fit(table)
    assert violations(model, known) == []


@gate_examples(15)
@given(st.sampled_from(SAMPLED), seeds)
def test_every_learner(name, seed):
    # One shape only, because each shape is compiled; and similar units, because NOTEARS raises
    # DivergenceError if some columns are thousands of times larger than others.
    table, known = problem(seed, 5, 120, decades=0.0)
    model = CATALOGUE[name]().set_params(knowledge=known).fit(table)
    assert violations(model, known) == []


@gate_examples(25)
@given(seeds, st.integers(2, 6), st.sampled_from(["prune", "order"]))
def test_refining_a_graph_that_violates_it(seed, d, method):
    table, known = problem(seed, d, 40)
    model = RandomSort(random_state=seed).fit(table)
    assert violations(refine(model, table, method=method, knowledge=known), known) == []
