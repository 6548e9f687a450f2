"""Experiments are checked strictly, and always give the same cells."""

import numpy as np
import pytest
from bench_experiments import TINY
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.bench import find_experiment, names, read_experiment
from cosmodag.bench.bench_plan import Case, Cell, CellPlan, batch_key, batched, choose
from cosmodag.bench.protocol import draw
from cosmodag.errors import DataError


@pytest.mark.parametrize("name", names())
def test_shipped_experiments_read_and_plan(name: str) -> None:
    experiment = find_experiment(name)
    assert experiment.name == name
    assert any(batches for _, batches in CellPlan(experiment).stages({}))


def test_a_plan_is_the_same_every_time() -> None:
    first, second = (
        [batch_key(b) for _, batches in CellPlan(read_experiment(TINY)).stages({}) for b in batches]
        for _ in range(2)
    )
    assert first == second


def test_required_experiments_are_shipped() -> None:
    wanted = {"paper-linear", "paper-nonlinear", "ablation", "epoch-time", "answer", "smoke"}
    assert wanted <= set(names())


def test_paper_linear_is_the_paper_s_protocol() -> None:
    first = find_experiment("paper-linear").groups[0]
    assert len(first.data) == 12
    assert first.configurations >= 100
    assert (first.graphs, first.validation, first.fresh) == (5, 10, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = ", "not TOML"),
        ('name = "x"', "no .*group"),
        ('[[group]]\ndata = ["n9_d3_ER1_gauss"]', "no name"),
        ('name = "x"\ncolour = 1\n[[group]]\ndata = ["n9_d3_ER1_gauss"]', "unknown entry 'colour'"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nsize = 1', "unknown entry 'size'"),
        ('name = "x"\n[[group]]\nfixed = ["empty-graph"]', "no data sets"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_XY1_gauss"]', "unknown"),
        ('name = "x"\n[[group]]\ndata = ["ninf_d3_ER1_gauss"]', "without a number"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nfixed = ["lasso"]', "'lasso'"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nbatch = 0', "'batch'"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nbatch = true', "'batch'"),
        ('name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nmethods = ["cosmo"]', "no number"),
        (
            'name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nmethods = ["cosmo-np"]\n'
            "configurations = 1",
            "needs 'cosmo'",
        ),
        (
            'name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nmethods = ["empty-graph"]\n'
            "configurations = 1",
            "nothing to search",
        ),
        (
            'name = "x"\n[[group]]\ndata = ["n9_d3_ER1_gauss"]\nselect = ["luck"]',
            "selects by 'luck'",
        ),
    ],
)
def test_bad_experiments_are_refused_in_a_sentence(text: str, expected: str) -> None:
    with pytest.raises(DataError, match=expected) as caught:
        read_experiment(text, "mine.toml")
    assert "\n" not in str(caught.value).strip() or "TOML" in str(caught.value)


def test_fixed_methods_are_scored_and_timed_without_a_rule() -> None:
    text = """name = "x"
    [[group]]
    data = ["n9_d3_ER1_gauss"]
    fixed = ["empty-graph"]
    select = []
    timing = 2
    """
    stages = list(CellPlan(read_experiment(text)).stages({}))
    assert [(stage, len(batches)) for stage, batches in stages if batches] == [
        ("validation", 5),
        ("timing", 2),
    ]


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(DataError, match="smoke"):
        find_experiment("no-such-experiment")


@given(st.integers(0, 10_000), st.integers(0, 5))
def test_configurations_are_drawn_within_their_ranges(number: int, seed: int) -> None:
    ranges = {"n1000_d30_ER4_gauss": (1e-4, 1e-2), "n1000_d30_ER4_exp": (1e-3, 3e-3)}
    for data, (low, high) in ranges.items():
        drawn = draw("cosmo", data, number, seed)
        assert {"lambda1", "lambda_p", "learning_rate", "shift"} <= drawn.keys()
        assert low * (1 - 1e-5) <= drawn["lambda_p"] <= high * (1 + 1e-5)


def test_draws_are_log_uniform() -> None:
    values = [draw("original", "n9_d3_ER1_gauss", k)["lambda1"] for k in range(2000)]
    places = (np.log10(values) + 3) / 3
    assert abs(places.mean() - 0.5) < 0.03
    assert abs(places.std() - np.sqrt(1 / 12)) < 0.02


def test_searches_and_validations_share_no_graph() -> None:
    experiment = read_experiment(TINY)
    plan, group = CellPlan(experiment), experiment.groups[0]
    searched = plan.searched(Case(group, group.data[0], "cosmo"))
    graphs = [cell.graph for cells in searched for cell in cells]
    assert len(set(graphs)) == len(graphs) == 6  # each configuration has its own graphs
    results = {
        cell.key: {"status": "done", "auc": 0.5 + 0.1 * number, "score": -float(number)}
        for number, cells in enumerate(searched)
        for cell in cells
    }

    def validated(method: str, rule: str) -> list[Cell]:
        return plan.validated(Case(group, group.data[0], method, rule, False), results)

    by_truth, by_score = validated("cosmo", "oracle"), validated("cosmo", "score")
    assert not {cell.graph for cell in (*by_truth, *by_score)} & set(graphs)
    assert by_truth[0].parameters["lambda1"] == searched[2][0].parameters["lambda1"]
    assert by_score[0].parameters["lambda1"] == searched[0][0].parameters["lambda1"]
    without = validated("cosmo-np", "oracle")
    assert without[0].parameters["lambda_p"] == 0
    assert without[0].parameters["lambda1"] == by_truth[0].parameters["lambda1"]
    assert [cell.graph for cell in without] == [cell.graph for cell in by_truth]


def cell(number: int, **changes: object) -> Cell:
    return Cell("fit", "cosmo", "n9_d3_ER1_gauss", number, **changes)  # type: ignore[arg-type]


def test_a_configuration_with_a_failure_is_not_chosen() -> None:
    candidates = [[cell(0), cell(1)], [cell(2), cell(3)], [cell(4), cell(5)]]
    results = {cell(n).key: {"status": "done", "auc": 0.1 * n} for n in range(6)}
    assert choose(candidates, results, "oracle") == 2
    results[cell(5).key] = {"status": "diverged", "message": ""}
    assert choose(candidates, results, "oracle") == 1
    assert choose(candidates, {}, "oracle") is None


def test_keys_depend_on_all_fields_of_a_cell_and_nothing_else() -> None:
    assert cell(1).key == cell(1).key
    others = [
        cell(2),
        cell(1, parameters={"lambda1": 0.1}),
        cell(1, standardised=True),
        cell(1, device="gpu"),
    ]
    assert len({cell(1).key, *(other.key for other in others)}) == 5


def test_batches_contain_every_cell_once_and_one_shape_each() -> None:
    cells = [
        Cell("fit", method, f"n{n}_d{d}_ER1_gauss", graph)
        for graph in range(5)
        for method in ("cosmo", "empty-graph")
        for n, d in ((9, 3), (9, 4))
    ]
    batches = batched([*cells, *cells[:7]], 3)
    assert sorted(c.key for b in batches for c in b) == sorted(c.key for c in cells)
    for batch in batches:
        assert len(batch) <= 3
        assert len({(c.method, c.data.split("_")[1]) for c in batch}) == 1


@pytest.mark.parametrize("name", names())
def test_all_of_an_experiment_is_the_experiment(name: str) -> None:
    whole = find_experiment(name)
    assert whole.only().groups == whole.groups
    assert whole.only().time_limit == whole.time_limit


def test_a_part_of_an_experiment_has_cells_of_the_whole() -> None:
    whole = read_experiment(TINY)
    data, method = whole.groups[0].data[0], whole.groups[0].named[-1]
    part = whole.only([data], [method])
    assert {d for group in part.groups for d in group.data} == {data}
    assert {m for group in part.groups for m in group.named} == {method}
    few, all_cells = (
        {c.key for _, stage in CellPlan(e).stages({}) for batch in stage for c in batch}
        for e in (part, whole)
    )
    assert few
    assert few < all_cells
    assert read_experiment(part.text).groups == part.groups


@pytest.mark.parametrize(
    ("data", "methods", "named"),
    [
        (["n1000_d31_*"], [], "no data set 'n1000_d31_"),
        ([], ["lingam"], "no method 'lingam'.*cosmo-np"),
        (["n1000_d100_*"], ["cosmo-np"], "needs 'cosmo'"),
    ],
)
def test_a_part_that_is_not_there_is_named(data, methods, named: str) -> None:
    with pytest.raises(DataError, match=named):
        find_experiment("ablation").only(data, methods)
