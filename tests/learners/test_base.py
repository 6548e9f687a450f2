"""What all learners inherit: where weights are cut by default."""

import numpy as np
import pytest

from cosmodag import EmptyGraph, VarianceSort
from cosmodag.errors import CosmodagWarning


def table_of_weight(weight: float) -> np.ndarray:
    """Two columns, the second exactly `weight` times the first and something orthogonal to it."""
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
