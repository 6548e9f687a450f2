"""``fit`` with regimes: targets, arrows, findings, and all methods of a fitted model."""

import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import EqualVariance, OrderSearch
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.assess.bootstrapping.resample_fits import rows_of
from cosmodag.data.regime_table import label_texts, regimes_of
from cosmodag.errors import CosmodagWarning, DataError
from cosmodag.fit.dag.basis import FOUND, INTERVENTIONS

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def table(seed: int = 0, rows: int = 80) -> pd.DataFrame:
    """A table of x → y → z; the drug changes y, the diet changes x and (off target) z."""
    random = np.random.default_rng(seed)
    frames = []
    for regime in (None, None, "drug", "diet"):
        x = random.normal(size=rows) + 2.0 * (regime == "diet")
        y = (-0.8 if regime == "drug" else 0.8) * x + 0.6 * random.normal(size=rows)
        z = y + (2.5 if regime == "diet" else 0.8) * random.normal(size=rows)
        frames.append(pd.DataFrame({"x": x, "y": y, "z": z, "regime": regime}))
    return pd.concat(frames, ignore_index=True)


DATA = table()
STATED = DATA["regime"].map({"drug": "y", "diet": "x"})


def learner(**parameters) -> OrderSearch:
    return OrderSearch(random_state=0, verbose=False, **parameters)


@pytest.fixture(scope="module")
def model() -> OrderSearch:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        return learner().fit(DATA, regimes="regime")


def pairs(found: OrderSearch) -> set[tuple[str, str]]:
    listed = found.targets_
    return set(zip(listed["regime"], listed["variable"], strict=True))


def test_targets_of_unknown_interventions_are_found(model):
    assert pairs(model) == {("drug", "y"), ("diet", "x"), ("diet", "z")}
    assert not model.targets_["stated"].any()
    assert (model.targets_["evidence"] > np.log(2)).all()
    assert set(model.graph_.edges) == {("x", "y"), ("y", "z")}


def test_found_targets_direct_arrows(model):
    assert set(model.arrow_basis_) == {FOUND}
    assert not model.cpdag_.undirected


def test_evidence_is_given_for_every_pair(model):
    evidence = model.regime_evidence_
    assert evidence.shape == (2, 3)
    assert list(evidence.index) == ["drug", "diet"]
    listed = model.targets_.set_index(["regime", "variable"])["evidence"]
    for (regime, variable), value in listed.items():
        assert evidence.loc[regime, variable] == value
    assert evidence.loc["drug", "x"] < 0


def test_off_target_effects_are_found_beside_stated_targets():
    found = learner().fit(DATA.drop(columns="regime"), regimes=DATA["regime"], interventions=STATED)
    listed = found.targets_.set_index(["regime", "variable"])["stated"]
    assert listed.to_dict() == {
        ("drug", "y"): True,
        ("diet", "x"): True,
        ("diet", "z"): False,
    }
    about = {one.name: one for one in found.findings_}
    assert about["off_target"].columns == ("z",)
    assert "evidence" in about["off_target"].sentence
    assert "stated_unchanged" not in about
    assert INTERVENTIONS in found.arrow_basis_


def test_stated_targets_alone_may_change_if_asked():
    found = learner().fit(DATA, regimes="regime", interventions=STATED, find_targets=False)
    assert pairs(found) == {("drug", "y"), ("diet", "x")}


def test_a_stated_target_that_does_not_change_is_reported():
    wrong = DATA["regime"].map({"drug": "z", "diet": "x"})
    found = learner().fit(DATA, regimes="regime", interventions=wrong)
    about = next(one for one in found.findings_ if one.name == "stated_unchanged")
    assert about.columns == ("z",)
    assert about.value <= 0


def test_own_equations_are_those_of_the_regime(model):
    equation = model.regimes_.equation(1, 1)
    assert equation is not None
    assert equation.weights[0] == pytest.approx(-0.8, abs=0.25)
    assert equation.deviation == pytest.approx(0.6, abs=0.15)
    assert model.regimes_.equation(1, 0) is None


def test_the_score_uses_own_equations(model):
    fresh = table(seed=1)
    plain = fresh.drop(columns="regime")
    assert model.score(fresh, regimes="regime") > model.score(plain) + 0.1
    observed = fresh[fresh["regime"].isna()]
    assert model.score(observed, regimes="regime") == pytest.approx(
        model.score(observed.drop(columns="regime"))
    )


def test_the_score_refuses_regimes_it_does_not_know(model):
    with pytest.raises(DataError, match="'poison', which the model was not fitted on"):
        model.score(DATA.drop(columns="regime"), regimes=["poison"] * len(DATA))
    with pytest.raises(DataError, match="fitted without regimes"):
        learner().fit(DATA.drop(columns="regime")).score(DATA, regimes="regime")


def test_a_saved_model_has_its_regimes(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    loaded = cosmodag.load(tmp_path / "model.safetensors")
    pd.testing.assert_frame_equal(loaded.targets_, model.targets_)
    pd.testing.assert_frame_equal(loaded.regime_evidence_, model.regime_evidence_)
    assert loaded.arrow_basis_ == model.arrow_basis_
    assert loaded.score(DATA, regimes="regime") == model.score(DATA, regimes="regime")


def test_the_page_names_the_targets(model, tmp_path):
    from cosmodag.report import Evidence
    from cosmodag.report.facts import page_data

    facts = page_data(model, Evidence.of(model))
    (section,) = facts["sections"]
    assert {variable for _, variable, *_ in section["rows"]} == {"x", "y", "z"}
    text = next(one["text"] for one in facts["choices"] if one["title"] == "Regimes")
    assert "drug: y (slopes, evidence" in text
    assert "regimes=…" in facts["reproduce"]["code"]


def test_resamples_are_drawn_within_regimes():
    groups = np.repeat([0, 1, 2], [50, 10, 20])
    for sample, sizes in (("bootstrap", [50, 10, 20]), ("half", [25, 5, 10])):
        rows = rows_of(sample, 80, 3, groups=groups)
        assert np.bincount(groups[rows]).tolist() == sizes


def test_the_bootstrap_knows_regimes():
    found = bootstrap(learner(), DATA, 3, regimes="regime", random_state=0, verbose=False)
    names = list(found.names)
    assert names == ["x", "y", "z"]
    directed = found.direction_probabilities
    assert directed[0, 1] == directed[1, 2] == 1.0


def test_the_bootstrap_of_a_model_takes_regimes_without_interventions(model):
    options = {"random_state": 0, "verbose": False, "regimes": "regime", "interventions": None}
    fitted = copy(model)  # `bootstrap` adds its result to the model
    assert len(fitted.bootstrap(DATA, 2, **options).done) == 2
    with pytest.raises(DataError, match="give those of the table"):
        fitted.bootstrap(DATA, 2, interventions=None, verbose=False)


def test_effects_are_those_of_the_shared_equations(model):
    assert model.effect("x", "y").estimate == pytest.approx(0.8, abs=0.1)
    with pytest.raises(DataError, match="no bootstrap intervals"):
        model.effect("x", "y", bootstrap=3)


def test_rows_with_missing_values_are_dropped_with_their_labels():
    gaps = DATA.copy()
    gaps.loc[::7, "x"] = np.nan
    found = learner(missing="drop").fit(gaps, regimes="regime")
    assert int(found.regimes_.rows.sum()) == int(gaps["x"].notna().sum())
    assert pairs(found) == {("drug", "y"), ("diet", "x"), ("diet", "z")}


def test_missing_values_are_not_estimated_across_regimes():
    gaps = DATA.copy()
    gaps.loc[::7, "x"] = np.nan
    with pytest.raises(DataError, match="cannot be estimated across regimes"):
        learner(missing="impute").fit(gaps, regimes="regime")


def test_knowledge_holds_in_all_regimes():
    found = learner(knowledge={"forbidden_edges": [["x", "y"]]}).fit(DATA, regimes="regime")
    assert ("x", "y") not in found.graph_.edges
    found = learner(knowledge={"required_edges": [["z", "x"]]}).fit(DATA, regimes="regime")
    assert ("z", "x") in found.graph_.edges


def test_other_learners_take_found_targets():
    found = EqualVariance().fit(DATA, regimes="regime")
    assert pairs(found) == {("drug", "y"), ("diet", "x"), ("diet", "z")}


def test_interventions_alone_are_as_before():
    entries = ["" if one is np.nan else one for one in STATED.fillna("")]
    found = learner().fit(DATA.drop(columns="regime"), interventions=entries)
    assert not hasattr(found, "targets_")
    assert found.target_sets_.shape == (3, 3)


def test_the_largest_regime_is_the_reference_without_observations():
    named = DATA.assign(regime=DATA["regime"].fillna("control"))
    found = learner().fit(named, regimes="regime")
    assert pairs(found) == {("drug", "y"), ("diet", "x"), ("diet", "z")}


def test_labels_are_texts_and_empty_ones_observations():
    labels = [None, float("nan"), "", " a ", 2, np.nan, pd.NA, 3.0]
    plain = "observational"
    assert label_texts(labels, 8) == [plain, plain, plain, "a", "2", plain, plain, "3"]


@pytest.mark.parametrize(
    ("labels", "targets", "sentence"),
    [
        (["a"] * 20, None, "the same label for all rows"),
        (["a"] * 15 + ["b"] * 5, None, "fewer than 10 rows"),
        (["a"] * 10 + ["b"] * 10, np.eye(20, 2, dtype=bool), "different targets within"),
        (["observational"] * 10 + ["b"] * 10, np.ones((20, 2), bool), "without a regime"),
    ],
)
def test_bad_regimes_are_refused(labels, targets, sentence):
    with pytest.raises(DataError, match=sentence):
        regimes_of(labels, ["u", "v"], targets)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("batch", "regimes names the column 'batch'"),
        (["a", "b"], "2 entries, but the table has 320 rows"),
        (7, "regimes is 7"),
    ],
)
def test_regimes_of_another_form_are_refused(given, sentence):
    with pytest.raises(DataError, match=sentence):
        learner().fit(DATA.drop(columns="regime"), regimes=given)


def test_categories_are_refused_by_name():
    """Their level numbers are in no order, and linear equations would follow it."""
    frame = table()
    frame["site"] = np.random.default_rng(0).choice(["north", "south", "west"], len(frame))
    with pytest.raises(DataError, match=r"numbers only, but 'site' holds categories.*--drop site"):
        OrderSearch(random_state=0).fit(frame, regimes="regime")
    sites = {"site": ["south", "north", "west"]}  # levels in an order are numbers
    model = OrderSearch(kinds=sites, random_state=0).fit(frame, regimes="regime")
    assert "site" not in set(model.targets_["variable"])
