"""Small seeded tables, one of each kind that a learner may meet."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cosmodag import simulate

SACHS = Path(__file__).resolve().parents[1] / "protein_data" / "sachs.csv"


@dataclass(frozen=True)
class Sample:
    """A table, and what a learner and its fit are told about it."""

    table: pd.DataFrame
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def simulated(name: str) -> pd.DataFrame:
    """A simulated data set as a table, rounded so that files hold the same numbers."""
    data = simulate.load(name, seed=1)
    return pd.DataFrame(
        np.round(data.X, 6), columns=[f"v{place}" for place in range(data.X.shape[1])]
    )


def numbers() -> Sample:
    table = simulated("n300_d8_ER2_gauss")
    factors = np.array([1.0, 0.7, 1.6, 1.0, 2.1, 0.8, 1.3, 1.0])
    return Sample((table * factors).round(6))


def equal_variances() -> Sample:
    return Sample(simulated("n300_d8_ER2_gauss"))


def skewed() -> Sample:
    return Sample(simulated("n300_d6_ER1_exp"))


def curves() -> Sample:
    random = np.random.default_rng(2)
    a, b, noise = random.normal(size=(3, 300))
    c = np.sin(2 * a) + 0.4 * noise
    d = 0.6 * b**2 - 0.5 * c + 0.4 * random.normal(size=300)
    e = 0.9 * d + 0.5 * random.normal(size=300)
    return Sample(pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e}).round(6))


def mixed() -> Sample:
    random = np.random.default_rng(3)
    n = 300
    age = random.normal(50, 12, size=n).round(1)
    smokes = random.random(n) < 1 / (1 + np.exp((age - 45) / 10))
    region = random.choice(["north", "south", "west"], size=n, p=[0.5, 0.3, 0.2])
    visits = random.poisson(np.exp(0.3 + 0.02 * (age - 50) + 0.6 * smokes))
    pressure = 100 + 0.5 * age + 6.0 * (region == "south") + 5 * random.normal(size=n)
    pain = np.digitize(pressure + 6 * random.normal(size=n), [118, 128, 138])
    columns = {
        "pain": np.array(["none", "some", "much", "severe"])[pain],
        "region": region,
        "visits": visits,
        "smokes": np.where(smokes, "yes", "no"),
        "pressure": pressure.round(2),
        "age": age,
    }
    levels = {"pain": ["none", "some", "much", "severe"]}
    return Sample(pd.DataFrame(columns), settings={"kinds": levels})


def counts() -> Sample:
    random = np.random.default_rng(4)
    a = random.poisson(3.0, size=300)
    b = random.poisson(np.exp(0.4 + 0.2 * a))
    c = random.poisson(2.0, size=300)
    d = random.poisson(np.exp(0.2 + 0.12 * b + 0.15 * c))
    e = random.poisson(np.exp(1.4 - 0.1 * d))
    return Sample(pd.DataFrame({"d": d, "a": a, "e": e, "c": c, "b": b}))


def categories() -> Sample:
    random = np.random.default_rng(5)
    n = 400
    a = random.integers(3, size=n)
    b = np.where(random.random(n) < 0.75, a, random.integers(3, size=n))
    c = random.integers(2, size=n)
    d = np.where(random.random(n) < 0.7, (b + c) % 3, random.integers(3, size=n))
    e = np.where(random.random(n) < 0.8, d == 2, random.random(n) < 0.5)
    words = np.array(["low", "middle", "high"])
    columns = {"d": words[d], "a": words[a], "c": c, "b": words[b], "e": e}
    return Sample(pd.DataFrame(columns))


def time() -> Sample:
    random = np.random.default_rng(6)
    frames = []
    for house in ("north", "south"):
        X = random.normal(size=(120, 3)) * [1.0, 0.6, 0.8]
        for t in range(1, 120):
            X[t, 0] += 0.4 * X[t - 1, 0]
            X[t, 1] += 0.5 * X[t, 0] + 0.4 * X[t - 1, 1]
            X[t, 2] += -0.5 * X[t, 1] + 0.5 * X[t - 1, 2]
        frame = pd.DataFrame(X.round(4), columns=["sun", "warmth", "moisture"])
        days = pd.date_range("2024-04-01", periods=120)
        frames.append(frame.assign(day=days, house=house))
    table = pd.concat(frames, ignore_index=True).drop(index=[30, 31])
    return Sample(table, settings={"lags": 1}, options={"time": "day", "series": "house"})


def interventions() -> Sample:
    found = simulate.interventional("n150_d6_ER2_gauss", 3, rows=40, seed=2)
    table = pd.DataFrame(np.round(found.X, 6), columns=list(found.names))
    return Sample(table.assign(target=found.interventions), options={"interventions": "target"})


def regimes() -> Sample:
    random = np.random.default_rng(7)
    frames = []
    for group, rows in (("", 200), ("diet", 80), ("drug", 80)):
        fat = random.normal(size=rows) + 1.5 * (group == "diet")
        sugar = (0.2 if group == "drug" else 0.9) * fat + 0.7 * random.normal(size=rows)
        pressure = sugar + (2.0 if group == "drug" else 1.0) * random.normal(size=rows)
        salt = random.normal(size=rows)
        columns = {"pressure": pressure, "fat": fat, "salt": salt, "sugar": sugar}
        frames.append(pd.DataFrame(columns).round(6).assign(group=group))
    return Sample(pd.concat(frames, ignore_index=True), options={"regimes": "group"})


def holes() -> Sample:
    table = numbers().table
    holes = np.random.default_rng(8).random(table.shape) < 0.05
    return Sample(table.mask(holes), settings={"missing": "impute"})


def dropped_rows() -> Sample:
    return Sample(holes().table, settings={"missing": "drop"})


def knowledge() -> Sample:
    known = {
        "tiers": [["v0", "v1", "v2"], ["v3", "v4"], ["v5", "v6", "v7"]],
        "required_edges": [["v0", "v3"]],
        "forbidden_edges": [["v1", "v4"]],
        "sinks": ["v6"],
    }
    return Sample(numbers().table, settings={"knowledge": known})


def standardised() -> Sample:
    return Sample(equal_variances().table, settings={"scale": "standardize"})


def strange() -> Sample:
    """A constant column, a copied one, one of huge values, and gross cells."""
    table = numbers().table.iloc[:200].copy()
    table["v1"] = 3.0
    table["v7"] = table["v4"]
    table["v5"] *= 1e7
    table.loc[[5, 90], "v2"] = 1e4
    return Sample(table)


def proteins() -> Sample:
    return Sample(pd.read_csv(SACHS).iloc[:400])


def wide() -> Sample:
    return Sample(simulated("n100_d1500_ER1_gauss"))


def hidden() -> Sample:
    random = np.random.default_rng(9)
    cause, a, b, c, d = random.normal(size=(5, 500))
    columns = {"a": a, "b": a + cause + b, "c": cause + c + d, "d": d}
    return Sample(pd.DataFrame(columns).round(6))


TABLES: dict[str, Callable[[], Sample]] = {
    make.__name__.replace("_", " "): make
    for make in (
        numbers,
        equal_variances,
        skewed,
        curves,
        mixed,
        counts,
        categories,
        time,
        interventions,
        regimes,
        holes,
        dropped_rows,
        knowledge,
        standardised,
        strange,
        proteins,
        wide,
        hidden,
    )
}
