"""Behaviour of the base class: the default threshold, and what an early stop leaves out."""

import signal

import numpy as np
import pytest

import cosmodag.data.diagnose.hidden_causes as hidden
from cosmodag import EmptyGraph, OrderSearch, VarianceSort
from cosmodag.errors import CosmodagWarning, InterruptedWarning
from cosmodag.graph.dags import is_dag
from cosmodag.solve import watch


def table_of_weight(weight: float) -> np.ndarray:
    """Two columns: the second is `weight` times the first plus an orthogonal vector."""
    random = np.random.default_rng(0)
    cause, other = np.linalg.qr(random.normal(size=(50, 3)) * [0, 1, 1] + [1, 0, 0])[0][:, 1:].T
    return np.column_stack([cause, weight * cause + 2 * other])


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize(("weight", "is_arc"), [(0.29, False), (-0.29, False), (0.31, True)])
def test_optimised_weights_are_cut_at_three_tenths_by_default(weight, is_arc):
    model = VarianceSort(criterion="none").fit(table_of_weight(weight))
    assert model.weights_[0, 1] == pytest.approx(weight, abs=1e-6)
    assert (model.adjacency_[0, 1] != 0) == is_arc
    lower = VarianceSort(criterion="none", threshold=0.2).fit(table_of_weight(weight))
    assert lower.adjacency_[0, 1] == pytest.approx(weight, abs=1e-6)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_weights_that_were_chosen_by_evidence_are_not_cut_by_default():
    table = np.tile(table_of_weight(0.2), (100, 1))
    assert VarianceSort(refine="prune").fit(table).adjacency_[0, 1] == pytest.approx(0.2, abs=1e-6)


def test_a_table_without_findings_gives_no_warning(recwarn):
    EmptyGraph().fit(table_of_weight(0.5))
    assert not [one for one in recwarn if issubclass(one.category, CosmodagWarning)]


def effects_of_one_cause() -> np.ndarray:
    """Six columns with a hidden common cause."""
    random = np.random.default_rng(0)
    return random.normal(size=(500, 6)) + random.normal(size=(500, 1))


def trials_of(monkeypatch, before=lambda: None) -> list[None]:
    """Count the trials of the search for hidden causes, and call `before` before each."""
    trials, grown = [], hidden._structural_em

    def counted(*args):
        trials.append(None)
        before()
        return grown(*args)

    monkeypatch.setattr(hidden, "_structural_em", counted)
    return trials


def test_a_time_limit_ends_the_examinations(monkeypatch):
    monkeypatch.setattr(watch, "_GRACE", 0.0)
    trials = trials_of(monkeypatch)
    with pytest.warns(InterruptedWarning, match="evidence for each arrow and curved .* hidden"):
        model = OrderSearch(max_time=1e-6, noise="gaussian").fit(effects_of_one_cause())
    assert not trials
    assert model.stopped_ == "time"
    assert [one.name for one in model.findings_] == ["stopped_early"]
    assert np.isnan(model.turning_losses_).all()
    assert is_dag(model.adjacency_)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_small_tables_are_examined_after_a_time_limit_too(monkeypatch):
    monkeypatch.setattr(watch, "_GRACE", 100.0)
    model = OrderSearch(max_time=1e-6, noise="gaussian").fit(effects_of_one_cause())
    assert model.stopped_ == "time"
    assert [one.name for one in model.findings_] == ["hidden_causes"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_ctrl_c_ends_the_search_for_hidden_causes(monkeypatch):
    monkeypatch.setattr(watch, "_GRACE", 0.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    trials = trials_of(monkeypatch, lambda: len(trials) < 2 and signal.raise_signal(signal.SIGINT))
    model = OrderSearch(noise="gaussian")
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(effects_of_one_cause())
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(trials) == 1
    assert model.stopped_ == "interrupt"
    assert "stopped_early" in {one.name for one in model.findings_}
    assert np.isfinite(model.turning_losses_).any()
    assert is_dag(model.adjacency_)
