import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cosmodag.search.mixed.multinomial import fit_levels, probabilities


def drawn(seed, count, n=600):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 2))
    utilities = x @ random.normal(size=(2, count)) + random.gumbel(size=(n, count))
    return np.column_stack([np.ones(n), x]), np.argmax(utilities, axis=1)


@pytest.mark.parametrize("count", [2, 4])
def test_probabilities_are_those_of_scikit_learn(count):
    design, levels = drawn(0, count)
    weights, likelihood = fit_levels(design, levels, count)
    model = LogisticRegression(C=100.0, max_iter=500).fit(design[:, 1:], levels)
    expected = model.predict_proba(design[:, 1:])
    np.testing.assert_allclose(probabilities(design, weights), expected, atol=2e-3)
    own = np.log(probabilities(design, weights)[np.arange(len(levels)), levels]).sum()
    assert likelihood == pytest.approx(own)


def test_separated_and_unseen_levels_have_finite_weights():
    x = np.linspace(-1, 1, 100)
    design = np.column_stack([np.ones(100), x])
    weights, likelihood = fit_levels(design, (x > 0).astype(int) * 2, 4)
    assert np.isfinite(weights).all()
    assert -5 < likelihood <= 0


def test_without_parents_the_shares_are_those_of_the_rows():
    _, levels = drawn(1, 3)
    design = np.ones((len(levels), 1))
    weights, _ = fit_levels(design, levels, 3)
    shares = np.bincount(levels, minlength=3) / len(levels)
    np.testing.assert_allclose(probabilities(design, weights)[0], shares, atol=5e-3)
