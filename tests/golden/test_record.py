"""The golden records name their cases, and a comparison notices a changed weight and says which."""

import json

import numpy as np
import pytest
import record
from golden_differences import differences
from golden_digests import of_matrix, timeless

WEIGHTS = np.array([[0.0, 1.5], [0.0, 0.0]])


def test_every_case_is_recorded_by_its_name(capsys):
    assert record.main(["list"]) == 0
    assert list(record.read(record.HERE)["cases"]) == capsys.readouterr().out.splitlines()
    assert record.main(["list", "--only", "fit_from*"]) == 0
    assert capsys.readouterr().out == "fit_from an order\n"


def test_an_unknown_pattern_is_refused():
    with pytest.raises(SystemExit, match="No case has a name like 'nothing at all'"):
        record.main(["list", "--only", "nothing at all"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (0.0, None),
        (1e-15, "last bits only"),
        (0.25, "other values (sum of sizes 1.5 → 1.75)"),
    ],
)
def test_a_changed_weight_is_noticed(change, words, tmp_path, capsys, monkeypatch):
    changed = WEIGHTS + change * (WEIGHTS != 0)
    results = {"before": of_matrix(WEIGHTS), "now": of_matrix(changed)}
    for folder, weights in results.items():
        monkeypatch.setattr(record, "machine", dict)
        record.write(tmp_path / folder, {"refine: order": {"weights_": weights}}, ["refine: order"])
    folders = ["--folder", str(tmp_path / "before"), "--with", str(tmp_path / "now")]
    ended = record.main(["compare", "--only", "refine: order", *folders])
    told = capsys.readouterr().out
    if words is None:
        assert (ended, told) == (0, "1 cases: nothing differs.\n")
    else:
        assert ended == 1
        assert told.startswith("refine: order:\n    weights_: ")
        assert words in told


def test_differences_are_told_in_words():
    before = {"arcs": ["a > b: time", "b > c: time"], "noise_": "gaussian", "score": "1"}
    now = {"arcs": ["a > c: time", "a > b: time"], "noise_": "equal-variance", "score": "1"}
    assert list(differences(before, now)) == [
        "arcs: gone: b > c: time",
        "arcs: new: a > c: time",
        "noise_: gaussian → equal-variance",
    ]
    assert list(differences({"order": ["a", "b"]}, {"order": ["b", "a"]})) == [
        "order: the same entries in another order: b, a"
    ]


def test_a_negative_zero_is_a_zero_and_a_moved_entry_is_not():
    assert of_matrix(WEIGHTS) == of_matrix(np.where(WEIGHTS == 0, -0.0, WEIGHTS))
    assert of_matrix(WEIGHTS)["exact"] != of_matrix(WEIGHTS.T.copy())["exact"]


def test_durations_and_dates_are_left_out():
    assert timeless("done in 0.31 s on 2026-11-19, 12 rows") == "done in <time> on <date>, 12 rows"
    assert json.loads(timeless(json.dumps({"n": 3, "x": "5 steps"}))) == {"n": 3, "x": "5 steps"}
