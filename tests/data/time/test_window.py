"""Knowledge about variables is translated to the columns of a window."""

import numpy as np
import pytest

from cosmodag import Knowledge
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError, KnowledgeError

WINDOW = Window(("a", "b", "c"), 2)


def possible(**known):
    """The arcs that the knowledge allows, as (cause, effect) pairs of names."""
    columns = list(WINDOW.columns)
    support = WINDOW.knowledge(Knowledge(**known)).bounds(columns).support
    return {(columns[u], columns[v]) for u, v in np.argwhere(support)}


def test_a_forbidden_arc_is_forbidden_at_all_lags():
    gone = possible() - possible(forbidden_edges=[("a", "b")])
    assert gone == {("a", "b"), ("a[t-1]", "b"), ("a[t-2]", "b")}


def test_a_single_time_can_be_named():
    assert possible() - possible(forbidden_edges=[("a[t]", "b")]) == {("a", "b")}
    assert possible() - possible(forbidden_edges=[("a[t-2]", "b")]) == {("a[t-2]", "b")}
    assert possible() - possible(forbidden_edges=[("a[t-1]", "a")]) == {("a[t-1]", "a")}


def test_an_exogenous_variable_follows_only_its_own_past():
    into = {cause for cause, effect in possible(exogenous=["a"]) if effect == "a"}
    assert into == {"a[t-1]", "a[t-2]"}


def test_a_sink_acts_only_on_its_own_future():
    assert {effect for cause, effect in possible(sinks=["c"]) if cause.startswith("c")} == {"c"}


def test_a_later_tier_never_acts_on_an_earlier_one():
    left = possible(tiers=[["a"], ["b", "c"]])
    assert not {(u, v) for u, v in left if v == "a" and not u.startswith("a")}
    assert ("a[t-1]", "b") in left
    assert ("c[t-2]", "b") in left
    assert ("c", "b") in left


def test_a_search_space_of_pairs_allows_all_lags_and_the_own_past():
    left = possible(search_space=[("a", "b")])
    assert {(u, v) for u, v in left if v == "b"} == {
        *((u, "b") for u in ("a", "a[t-1]", "a[t-2]", "b[t-1]", "b[t-2]"))
    }
    assert {u for u, v in left if v == "c"} == {"c[t-1]", "c[t-2]"}


def test_a_required_arc_says_its_lag():
    columns = list(WINDOW.columns)
    bounds = WINDOW.knowledge(Knowledge(required_edges=[("a[t-1]", "b")])).bounds(columns)
    assert [(columns[u], columns[v]) for u, v in np.argwhere(bounds.required)] == [("a[t-1]", "b")]
    with pytest.raises(KnowledgeError, match=r"not at which lag: write 'a\[t\]' or 'a\[t-1\]'"):
        WINDOW.knowledge(Knowledge(required_edges=[("a", "b")]))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"forbidden_edges": [("a", "b[t-1]")]}, "into 'b\\[t-1\\]'"),
        ({"forbidden_edges": [("z", "b")]}, "'z', which is not a column"),
        ({"tiers": [["a[t-1]"]]}, "name variables without lags"),
    ],
)
def test_knowledge_that_has_no_meaning_in_time_is_refused(known, message):
    with pytest.raises(KnowledgeError, match=message):
        WINDOW.knowledge(Knowledge(**known))


def test_names_that_clash_with_lagged_ones_are_refused():
    with pytest.raises(DataError, match=r"'a\[t-1\]' occurs twice"):
        Window(("a", "a[t-1]"), 1)
