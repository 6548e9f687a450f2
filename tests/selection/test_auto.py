"""The automatic choice: lines where lines do, networks where they do not, and why."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from cosmodag import CosmoMLP, Knowledge, OrderSearch, metrics, selection, simulate

DATA = simulate.load("n400_d6_ER2_gauss", seed=2)


def test_lines_are_kept_where_they_do():
    frame = pd.DataFrame(DATA.X, columns=list("abcdef"))
    choice = selection.auto(frame, random_state=0)
    assert choice.model.names_ == list("abcdef")
    assert metrics.evaluate(DATA.graph, choice.model.adjacency_, threshold=0.0)["shd"] == 0
    assert set(choice.reasons) == {"learner", "noise", "penalties", "refinement"}
    assert all(reason.endswith(".") for reason in choice.reasons.values())
    assert "lines" in str(choice)
    assert {"OrderSearch", "Cosmo"} <= set(choice.table.index)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_networks_are_taken_where_curves_gain():
    X = simulate.load("n200_d5_ER2_mlp", seed=3).X
    choice = selection.auto(X, random_state=0)
    assert isinstance(choice.model, CosmoMLP)
    assert "curves gain" in choice.reasons["learner"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_candidates_that_assume_different_noise_are_ranked_by_the_extended_bic(monkeypatch):
    candidates = {
        "no arcs": OrderSearch(noise="equal-variance", threshold=1e9, random_state=0),
        "all arcs": OrderSearch(noise="gaussian", random_state=0),
    }
    module = import_module("cosmodag.selection.choosing")
    monkeypatch.setattr(module, "_candidates", lambda d, common: candidates)
    choice = selection.auto(DATA.X, random_state=0)
    assert choice.table["noise"].nunique() == 2
    assert choice.table["extended_bic"].idxmin() == "all arcs"
    assert choice.model is candidates["all arcs"]
    assert "all arcs was preferred to no arcs" in choice.reasons["penalties"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_knowledge_interventions_and_missing_values_are_heeded():
    frame = pd.DataFrame(DATA.X, columns=list("abcdef"))
    u, v = (int(place) for place in np.argwhere(DATA.graph)[0])
    names = list("abcdef")
    known = Knowledge(forbidden_edges=[(names[u], names[v])])
    frame.iloc[3, 2] = np.nan
    targets = ["a" if row % 5 == 0 else "" for row in range(400)]
    choice = selection.auto(
        frame, knowledge=known, missing="impute", interventions=targets, random_state=0
    )
    assert choice.model.adjacency_[u, v] == 0
    assert choice.model.missing == "impute"
    assert choice.model.missing_report_["entries"] == 1


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_curves_are_judged_by_rows_in_which_nothing_was_set(monkeypatch):
    """Where a cause was set far off, its effect may bend; what is asked is how it is usually."""
    module = import_module("cosmodag.selection.choosing")
    monkeypatch.setattr(
        module, "_candidates", lambda d, common: {"OrderSearch": OrderSearch(random_state=0)}
    )
    random = np.random.default_rng(0)
    cause = random.normal(size=300)
    cause[200:] = random.uniform(-6, 6, 100)
    bent = np.where(np.abs(cause) < 3, cause, 9 - 2 * np.abs(cause))
    X = np.column_stack([cause, bent + 0.5 * random.normal(size=300)])
    targets = np.zeros(X.shape, bool)
    targets[200:, 0] = True
    choice = selection.auto(X, interventions=targets, random_state=0)
    assert isinstance(choice.model, OrderSearch)
    assert "curves lose" in choice.reasons["learner"]
