"""Simulated data sets by name."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.simulate import (
    DENSE_LIMIT,
    NOISES,
    NONLINEAR,
    DatasetName,
    load,
    parse_name,
    population_covariance,
)

MECHANISMS = [*NOISES, *NONLINEAR]


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**5),
    st.sampled_from(["ER", "SF", "BP"]),
    st.integers(0, 20),
    st.sampled_from(MECHANISMS),
)
def test_names_parse_into_their_parts(
    samples: int, nodes: int, kind: str, degree: int, mechanism: str
) -> None:
    name = f"n{samples}_d{nodes}_{kind}{degree}_{mechanism}"
    assert parse_name(name) == DatasetName(samples, nodes, kind, degree, mechanism)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "does not parse"),
        ("n1000_d30_ER4", "does not parse"),
        ("n1000_d30_ER_gauss", "does not parse"),
        ("d30_n1000_ER4_gauss", "does not parse"),
        ("n0_d30_ER4_gauss", "does not parse"),
        ("n010_d30_ER4_gauss", "does not parse"),
        ("n10_d0_ER4_gauss", "does not parse"),
        ("n10_d30_ER04_gauss", "does not parse"),
        ("n1e3_d30_ER4_gauss", "does not parse"),
        ("n1000_d30_ER4.5_gauss", "does not parse"),
        ("n1000_d30_ER4_gauss_", "does not parse"),
        ("n1000_d30_ER4_gauss\n", "does not parse"),
        (" n1000_d30_ER4_gauss", "does not parse"),
        ("n١_d30_ER4_gauss", "does not parse"),
        ("n1000_d30_WS4_gauss", "'WS'"),
        ("n1000_d30_er4_gauss", "'er'"),
        ("n1000_d30_ER4_cauchy", "'cauchy'.*gauss, exp"),
        ("n1000_d30_ER4_Gauss", "'Gauss'"),
        ("ninf_d30_ER4_exp", "only for gauss"),
        ("ninf_d30_ER4_mlp", "only for gauss"),
        ("n1000_d5_ER4_gauss", "room for 10"),
    ],
)
def test_names_that_do_not_parse_are_refused_with_what_is_wrong(name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(name)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_seeds_that_are_not_whole_numbers_are_refused(seed: object) -> None:
    with pytest.raises(DataError, match="seed"):
        load("n10_d5_ER1_gauss", seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("kind", ["ER", "SF", "BP"])
def test_every_kind_and_mechanism_loads(kind: str, mechanism: str) -> None:
    name = f"n20_d10_{kind}1_{mechanism}"
    data = load(name, seed=3)
    assert (data.name, data.seed) == (name, 3)
    assert data.X.shape == (20, 10)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.names == tuple(f"x{index}" for index in range(10))
    assert data.graph.dtype == np.bool_
    assert data.graph.sum() == (9 if kind == "SF" else 10)
    if mechanism in NONLINEAR:
        assert data.weights is None
    else:
        assert np.array_equal(data.weights != 0, data.graph)


def test_a_data_set_cannot_be_changed() -> None:
    data = load("n10_d5_ER1_gauss")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "another"  # type: ignore[misc]


def test_the_seed_decides_everything_and_nothing_else_does() -> None:
    first = load("n50_d20_ER2_mlp", seed=5)
    np.random.random()  # noqa: NPY002 (the global generator has moved on)
    again, other = load("n50_d20_ER2_mlp", seed=5), load("n50_d20_ER2_mlp", seed=6)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.graph, again.graph)
    assert not np.array_equal(first.graph, other.graph)


def test_names_with_one_seed_share_what_they_can() -> None:
    gauss, gumbel, mlp = (load(f"n50_d20_ER2_{m}", seed=5) for m in ("gauss", "gumbel", "mlp"))
    assert np.array_equal(gauss.weights, gumbel.weights)
    assert np.array_equal(gauss.graph, mlp.graph)
    for mechanism in ("gauss", "exp", "poisson", "mlp", "mim"):
        short, long = (load(f"n{n}_d20_ER2_{mechanism}", seed=5).X for n in (50, 80))
        np.testing.assert_allclose(short, long[:50], rtol=1e-12, atol=1e-12)


def test_the_population_is_a_centred_table_with_the_exact_covariance() -> None:
    data = load("ninf_d30_ER4_gauss", seed=1)
    assert data.X.shape == (31, 30)
    exact = population_covariance(data.weights)
    size = np.sqrt(np.diag(exact))
    assert np.abs(data.X.mean(axis=0) / size).max() < 1e-12
    empirical = np.cov(data.X, rowvar=False, ddof=0)
    assert np.abs((empirical - exact) / np.outer(size, size)).max() < 1e-12
    # With infinitely many samples, regression on the true parents finds the true weights.
    child = int(data.graph.sum(axis=0).argmax())
    parents = np.flatnonzero(data.graph[:, child])
    found = np.linalg.lstsq(data.X[:, parents], data.X[:, child], rcond=None)[0]
    np.testing.assert_allclose(found, data.weights[parents, child], rtol=1e-8)


@pytest.mark.parametrize("mechanism", ["gauss", "mlp"])
def test_matrices_are_sparse_above_the_limit_and_dense_up_to_it(mechanism: str) -> None:
    at = load(f"n1_d{DENSE_LIMIT}_ER1_{mechanism}")
    above = load(f"n1_d{DENSE_LIMIT + 1}_ER1_{mechanism}")
    assert isinstance(at.graph, np.ndarray)
    assert sparse.issparse(above.graph)
    if mechanism == "gauss":
        assert isinstance(at.weights, np.ndarray)
        assert sparse.issparse(above.weights)
