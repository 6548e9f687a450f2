"""Arrows, tables, files, the page and effects say the same about every direction."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from cosmodag import BlockSearch, OrderSearch
from cosmodag.fit.dag.assertions import DETERMINED, GRADES, OPEN, WEAKLY
from cosmodag.report import Evidence
from cosmodag.report.facts import page_data
from cosmodag.report.saved_report import edge_list

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def generated(seed):
    """A table of one of several kinds, and a learner."""
    random = np.random.default_rng(seed)
    d, n = 4 + seed % 3, 120 + 40 * (seed % 4)
    weights = np.triu(random.uniform(0.3, 1.2, (d, d)) * (random.random((d, d)) < 0.5), 1)
    noise = random.laplace(size=(n, d)) if seed % 3 == 0 else random.normal(size=(n, d))
    X = noise @ np.linalg.inv(np.eye(d) - weights)
    if seed % 5 == 1:
        X[:, -1] += X[:, 0] ** 2
    if seed % 7 == 2:
        X[:, 0] = X[:, 0] > 0
    names = [f"v{place}" for place in range(d)]
    table = pd.DataFrame(X * random.uniform(0.5, 3, d), columns=names)
    known = {"forbidden_edges": [("v1", "v0")]} if seed % 4 == 3 else None
    noises = ("auto", "gaussian", "equal-variance")
    if seed % 6 == 5:
        return table, BlockSearch(knowledge=known, random_state=0, verbose=False)
    return table, OrderSearch(
        noise=noises[seed % 3], knowledge=known, random_state=0, verbose=False
    )


def check(seed):
    table, learner = generated(seed)
    model = learner.fit(table)
    arcs, dag = model.arcs_, model.fitted_
    assert arcs["basis"].tolist() == model.arrow_basis_
    assert arcs["grade"].tolist() == model.arrow_grades_
    assert set(model.arrow_grades_) <= GRADES.keys()
    evidence = Evidence.of(model)
    written = list(
        csv.DictReader(io.StringIO(edge_list(model, model.names_, evidence.table(model))))
    )
    assert [row["grade"] for row in written] == model.arrow_grades_
    assert [row["basis"] for row in written] == model.arrow_basis_
    page = json.loads(json.dumps(page_data(model, evidence)))
    assert page["arcs"]["grade"] == list(dag.assertions.grades)
    bases = [page["bases"][place]["name"] for place in page["arcs"]["basis"]]
    assert bases == list(dag.assertions.bases)
    told = {point[0]: point[1] for point in page["story"]["points"]}
    if len(arcs):
        assert told["What may be said of the directions"] == dag.assertions.sentence
        assert " ".join(dag.assertions.sentence.split()) in " ".join(model.summary().split())
    is_sure = page["story"]["title"] == "The surest arcs"
    assert is_sure == all(grade == DETERMINED for grade in model.arrow_grades_)
    assert {(u, v): facts["grade"] for u, v, facts in model.graph_.edges(data=True)} == {
        (arc.cause, arc.effect): arc.grade for arc in arcs.itertuples()
    }
    for arc in arcs.itertuples():
        found = model.effect(arc.cause, arc.effect, bootstrap=None)
        assert arc.basis in found.rests_on
        ranks = list(GRADES)
        assert ranks.index(found.grade) >= ranks.index(arc.grade)
    for cause in model.names_:
        for effect in set(model.names_) - {cause}:
            found = model.effect(cause, effect, bootstrap=None)
            if found.is_nothing:
                assert not found.low == found.high == 0
                assert not found.against or found.grade == WEAKLY


@pytest.mark.parametrize("seed", range(4))
def test_all_places_say_the_same(seed):
    check(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4, 50))
def test_all_places_say_the_same_about_more_tables(seed):
    check(seed)


def test_a_refuted_family_determines_nothing_but_what_was_stated():
    x, noise = np.random.default_rng(0).normal(size=(2, 600))
    z = np.random.default_rng(1).normal(size=600)
    table = pd.DataFrame({"x": x, "y": x + x**2 + noise, "z": z})
    table["y"] += table["z"]
    model = OrderSearch(noise="gaussian", random_state=0).fit(table)
    assert "curved" in {finding.name for finding in model.findings_}
    assert DETERMINED not in model.arrow_grades_
    told = OrderSearch(
        noise="gaussian", knowledge={"forbidden_edges": [("y", "x")]}, random_state=0
    ).fit(table)
    grades = dict(zip(told.arcs_["cause"], told.arcs_["grade"], strict=True))
    assert grades["x"] == DETERMINED


def test_an_absence_names_the_arcs_against_it():
    x = np.random.default_rng(3).normal(size=(400, 2))
    table = pd.DataFrame({"x": x[:, 0], "y": x[:, 0] + x[:, 1]})
    model = OrderSearch(noise="gaussian", random_state=0).fit(table)
    assert model.arrow_grades_ == [OPEN]
    assertions = model.fitted_.assertions
    ((u, v),) = zip(assertions.tails.tolist(), assertions.heads.tolist(), strict=True)
    absence = assertions.absence(v, u)
    assert (absence.grade, absence.against, absence.bases) == (WEAKLY, ((u, v),), ("free choice",))
    assert assertions.parents(u) == (frozenset(), frozenset({v}))
