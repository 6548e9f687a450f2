import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.search.chooser import NO_CHANGE, best_of, grow_and_shrink


class Regression:
    """Regression of the last variable of a correlation matrix, scored by the definition."""

    def __init__(self, correlations, rows):
        self.correlations, self.rows, self.parents = correlations, rows, []

    def score(self, parents):
        inner = self.correlations[np.ix_(parents, parents)]
        along = self.correlations[parents, -1]
        left = self.correlations[-1, -1] - along @ np.linalg.solve(inner, along)
        return -0.5 * self.rows * np.log(left) - 3.0 * len(parents)

    def best_addition(self):
        others = [u for u in range(len(self.correlations) - 1) if u not in self.parents]
        return best_of(
            (self.score([*self.parents, u]) - self.score(self.parents), u) for u in others
        )

    def best_drop(self):
        now = self.score(self.parents)
        without = {u: [w for w in self.parents if w != u] for u in self.parents}
        return best_of((self.score(others) - now, u) for u, others in without.items())

    def add(self, u):
        self.parents.append(u)

    def drop(self, u):
        self.parents.remove(u)


@given(st.integers(0, 1000))
def test_no_single_change_improves_what_was_chosen(seed):
    random = np.random.default_rng(seed)
    table = random.normal(size=(60, 6)) @ random.normal(size=(6, 6))
    found = Regression(np.corrcoef(table.T), 60.0)
    grow_and_shrink(found, 0.0, 0.0)
    # After growing, no addition improves the score; after shrinking, no drop does.
    assert found.best_drop()[0] < 0
    grown = Regression(found.correlations, 60.0)
    grow_and_shrink(grown, 0.0, np.inf)
    assert grown.best_addition()[0] < 0
    assert set(found.parents) <= set(grown.parents)


def test_the_first_of_equal_changes_is_made():
    assert best_of([(1.0, 4), (2.0, 7), (2.0, 3)]) == (2.0, 7)
    assert best_of([]) == NO_CHANGE
