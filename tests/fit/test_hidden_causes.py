"""``pag_`` of fitted learners: what it is based on, and when it is missing."""

import numpy as np
import pytest

from cosmodag import EmptyGraph, Knowledge, OrderSearch, load
from cosmodag.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def table(n: int) -> np.ndarray:
    """A table of 0 → 1 ↔ 2 ← 3, without the hidden common cause of 1 and 2."""
    random = np.random.default_rng(0)
    first, last, hidden, *noise = random.normal(size=(5, n))
    return np.column_stack([first, first + hidden + noise[0], last + hidden + noise[1], last])


def learner(**settings) -> OrderSearch:
    return OrderSearch(noise="gaussian", random_state=0, **settings)


EDGES = [(0, "∘→", 1), (1, "↔", 2), (3, "∘→", 2)]


@pytest.fixture(scope="module")
def model() -> OrderSearch:
    return learner().fit(table(1500))


def test_it_is_made_once(model):
    assert model.pag_.edges() == EDGES
    assert model.pag_ is model.pag_
    assert model.pag_.basis.endswith("1,500 rows")


def test_units_do_not_matter(model):
    assert learner().fit(table(1500) * [1, 1e6, -1e-3, 5]).pag_.edges() == EDGES


def test_a_saved_model_needs_its_residuals(model, tmp_path):
    model.save(tmp_path / "model", residuals=True)
    assert load(tmp_path / "model").pag_.edges() == EDGES
    model.save(tmp_path / "model")
    with pytest.raises(DataError, match="saved without the residuals"):
        _ = load(tmp_path / "model").pag_


def test_missing_values_count_as_fewer_rows():
    X = table(1500)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    found = learner(missing="impute").fit(X).pag_
    assert found.edges() == EDGES
    assert not found.basis.endswith("1,500 rows")


def test_rows_in_which_a_variable_was_set_are_left_out():
    X = table(1500)
    X[1000:, 1] = np.random.default_rng(1).normal(size=500)
    told = [None] * 1000 + [1] * 500
    found = learner().fit(X, interventions=told).pag_
    assert found.basis.endswith("1,000 rows")
    X[:, 1] = np.random.default_rng(2).normal(size=1500)
    with pytest.raises(DataError, match="fewer than 30"):
        _ = learner().fit(X, interventions=[1] * 1490 + [None] * 10).pag_


def test_tiers_are_obeyed():
    known = Knowledge(tiers=[[1], [0, 2, 3]])
    marks = learner(knowledge=known).fit(table(1500)).pag_.marks
    assert (marks[1][marks[1] != 0] == 2).all()


def test_an_empty_graph_has_no_edges():
    assert EmptyGraph().fit(table(50)).pag_.edges() == []
