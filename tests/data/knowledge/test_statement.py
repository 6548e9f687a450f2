"""Knowledge: contradictions raise an error that names them, the rest is converted to arrays."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag import Knowledge
from cosmodag.data.knowledge import as_knowledge, read_knowledge
from cosmodag.data.knowledge.bounds import closure, cycle_in, longest_chains
from cosmodag.errors import DataError, KnowledgeError

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"required_edges": [("a", "b"), ("b", "c"), ("c", "a")]}, ["a → b → c → a", "cycle"]),
        (
            {"required_edges": [("a", "b")], "forbidden_edges": [("a", "b")]},
            ["a → b", "required and forbidden"],
        ),
        (
            {"required_edges": [("b", "a")], "tiers": [["a"], ["c"], ["b"]]},
            ["b → a", "later tier"],
        ),
        (
            {"required_edges": [("b", "c"), ("c", "a")], "tiers": [["a"], ["b"]]},
            ["b → c", "c → a", "later tier"],
        ),
        ({"required_edges": [("a", "b")], "exogenous": ["b"]}, ["a → b", "exogenous"]),
        ({"required_edges": [("a", "b")], "sinks": ["a"]}, ["a → b", "sink"]),
        (
            {"required_edges": [("a", "b")], "search_space": [("b", "a")]},
            ["a → b", "search space"],
        ),
        ({"tiers": [["a"], ["b", "a"]]}, ["a", "tier 1", "tier 2"]),
        ({"required_edges": [("a", "a")]}, ["a → a"]),
        ({"required_edges": ["ab"]}, ["'ab'", "pair"]),
        ({"tiers": ["a", "b"]}, ["'a'", "list"]),
        ({"exogenous": "a"}, ["'a'", "list"]),
        ({"sinks": [1.5]}, ["1.5", "name of a column"]),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(parts, words):
    with pytest.raises(KnowledgeError) as refusal:
        Knowledge(**parts)
    assert all(word in str(refusal.value) for word in words)
    assert isinstance(refusal.value, DataError)


def test_unknown_names_are_refused_with_the_columns():
    with pytest.raises(KnowledgeError, match=r"'x'.*'a', 'b', 'c', 'd'"):
        Knowledge(sinks=["x"]).bounds(NAMES)
    with pytest.raises(KnowledgeError, match=r"7.*not a column"):
        Knowledge(sinks=[7]).bounds(NAMES)


def test_every_part_bounds_the_support():
    assert not Knowledge(forbidden_edges=[("a", "b")]).bounds(NAMES).support[0, 1]
    assert not Knowledge(exogenous=["c"]).bounds(NAMES).support[:, 2].any()
    assert not Knowledge(sinks=["c"]).bounds(NAMES).support[2].any()
    tiers = Knowledge(tiers=[["d"], ["a", "b"]]).bounds(NAMES)
    assert tiers.support.tolist() == [
        [False, True, True, False],
        [True, False, True, False],
        [True, True, False, True],
        [True, True, True, False],
    ]
    assert tiers.before[3].tolist() == [True, True, False, False]
    listed = Knowledge(search_space=[("a", "b"), ("c", "d")]).bounds(NAMES).support
    assert np.argwhere(listed).tolist() == [[0, 1], [2, 3]]
    among = Knowledge(search_space=["a", "d"]).bounds(NAMES).support
    assert np.argwhere(among).tolist() == [[0, 3], [3, 0]]


def test_a_required_chain_excludes_the_way_back():
    bounds = Knowledge(required_edges=[("a", "b"), ("b", "c")]).bounds(NAMES)
    assert bounds.required.sum() == 2
    assert bounds.before[0, 2]
    assert not bounds.support[2, 0]
    assert bounds.gaps[0, 2] == 2
    assert bounds.gaps[2, 0] == -np.inf


def test_it_directs_arcs_whose_reverse_it_excludes():
    bounds = Knowledge(forbidden_edges=[("b", "a")], required_edges=[("c", "b")]).bounds(NAMES)
    tails, heads = np.array([0, 2, 0, 1]), np.array([1, 1, 2, 0])
    assert bounds.directs(tails, heads).tolist() == [True, True, False, False]


def test_numbers_stand_for_columns_unless_they_are_names():
    assert Knowledge(sinks=[0]).bounds(NAMES).support[0].sum() == 0
    assert Knowledge(sinks=[2]).bounds(["2", "1", "0"]).support[0].sum() == 0


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_closure_cycles_and_chains_agree(d, seed):
    random = np.random.default_rng(seed)
    relation = random.random((d, d)) < 0.25
    np.fill_diagonal(relation, False)
    closed = closure(relation)
    cycle = cycle_in([tuple(pair) for pair in np.argwhere(relation).tolist()])
    assert bool(cycle) == bool(closed.diagonal().any())
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(relation[u, v] for u, v in pairwise(cycle))
        return
    gaps = longest_chains(closed)
    assert np.array_equal(gaps > 0, closed)
    for u, v in np.argwhere(closed):
        through = [gaps[u, w] + gaps[w, v] for w in range(d) if closed[u, w] and closed[w, v]]
        assert gaps[u, v] == max(through, default=1)


EXAMPLE = Knowledge(
    forbidden_edges=[("b", "c")],
    required_edges=[("a", "b")],
    tiers=[["a"], ["b", "c"]],
    exogenous=["a"],
    sinks=["d"],
    search_space=[("a", "b"), ("a", "c"), ("c", "b")],
)


def test_files_say_the_same(tmp_path):
    facts = EXAMPLE.facts()
    (tmp_path / "known.json").write_text(json.dumps(facts))
    (tmp_path / "known.yaml").write_text(json.dumps(facts))  # JSON is valid YAML
    lines = [f"{name} = {json.dumps(value)}" for name, value in facts.items()]
    (tmp_path / "known.toml").write_text("\n".join(lines))
    (tmp_path / "known.csv").write_text(
        "kind,cause,effect\nforbidden,b,c\nrequired,a,b\ntier,a,1\ntier,b,2\ntier,c,2\n"
        "exogenous,a\nsink,d\nallowed,a,b\nallowed,a,c\nallowed,c,b\n"
    )
    for file in tmp_path.iterdir():
        assert read_knowledge(file) == EXAMPLE
        assert as_knowledge(str(file)) == EXAMPLE
    assert as_knowledge(facts) == EXAMPLE
    assert as_knowledge(None) is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("known.yaml", "tiers: [", "known.yaml"),
        ("known.yaml", "- a", "must hold a mapping"),
        ("known.yaml", "sink: [a]", "'sink'"),
        ("known.yaml", "sinks: [a]\nsinks: [b]", "key 'sinks' more than once"),
        ("known.json", '{"sinks": ["a"], "sinks": ["b"]}', "key 'sinks' more than once"),
        ("known.toml", "tiers = [", "known.toml"),
        ("known.csv", "cause,effect\na,b\n", "kind,cause,effect"),
        ("known.csv", "kind,cause,effect\nwanted,a,b\n", "line 2"),
        ("known.csv", "kind,cause,effect\ntier,a,²\n", "line 2 is 'tier,a,²'"),
        (
            "known.csv",
            "kind,cause,effect\nforbidden,dose, mg,level\n",
            "line 2 has more than three",
        ),
        ("known.txt", "", ".yaml"),
        ("known.json", '{"required_edges": [["a", "b"], ["b", "a"]]}', "known.json.*a → b → a"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(KnowledgeError, match=words):
        read_knowledge(tmp_path / name)


def test_it_shows_what_was_said():
    assert repr(Knowledge(sinks=["y"])) == "Knowledge(sinks=['y'])"
    assert Knowledge().is_empty
    assert not Knowledge(search_space=[]).is_empty
