"""Learn which variable affects which, and after how many days, from series of four greenhouses.

    python examples/time_series.py greenhouses.png

The script draws the window graph and the responses over time; see docs/time.md.
"""

import argparse

import matplotlib as mpl
import numpy as np
import pandas as pd

import cosmodag

NAMES = ["sun", "warmth", "moisture", "growth"]


def greenhouses(days: int = 150) -> pd.DataFrame:
    """Simulate daily measurements in four greenhouses; two days of one are missing."""
    random = np.random.default_rng(0)
    frames = []
    for house in ("north", "south", "east", "west"):
        X = random.normal(size=(days, 4)) * [1.0, 0.6, 0.8, 0.5]
        for t in range(2, days):
            X[t, 0] += 0.4 * X[t - 1, 0]
            X[t, 1] += 0.5 * X[t, 0] + 0.4 * X[t - 1, 1]
            X[t, 2] += -0.5 * X[t, 1] + 0.5 * X[t - 1, 2]
            X[t, 3] += 0.4 * X[t - 1, 1] + 0.3 * X[t - 2, 2]
        frame = pd.DataFrame(X, columns=NAMES).round(3)
        frame.insert(0, "day", pd.date_range("2024-04-01", periods=days))
        frame.insert(1, "house", house)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True).drop(index=[30, 31])


def main() -> None:
    """Fit, print the summary graph, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", nargs="?", default="greenhouses.png")
    parser.add_argument("--quick", action="store_true", help="fewer days")
    given = parser.parse_args()
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    model = cosmodag.OrderSearch(lags=2, random_state=0)
    model.fit(greenhouses(80 if given.quick else 150), time="day", series="house")
    for cause, effect, facts in model.summary_graph_.edges(data=True):
        print(cause, "→", effect, "after", facts["lags"], "days")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=[1.4, 1])
    draw_window(model, left)
    responses = model.impulse_responses(8)
    for effect in NAMES[1:]:
        right.plot(responses.loc[("sun", effect)], marker="o", label=effect)
    right.axhline(0, color="grey", linewidth=0.5)
    right.set(xlabel="days after one unit more sun", ylabel="change")
    right.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(given.path, dpi=110)


def draw_window(model: cosmodag.OrderSearch, axes: "mpl.axes.Axes") -> None:
    """Draw times as columns and variables as rows; line widths show the weights of arcs."""
    graph, lags = model.window_graph_, model.window_.lags
    places = {
        node: (-facts["lag"], -NAMES.index(facts["variable"]))
        for node, facts in graph.nodes(data=True)
    }
    for node, place in places.items():
        axes.annotate(node, place, ha="center", va="center", bbox={"boxstyle": "round", "fc": "w"})
    for cause, effect, weight in graph.edges(data="weight"):
        is_now = places[cause][0] == places[effect][0]
        bend = "arc3,rad=0.25" if is_now else "arc3"
        colour = "#D55E00" if weight < 0 else "#0072B2"
        style = {"arrowstyle": "-|>", "color": colour, "connectionstyle": bend}
        arrow = {
            **style,
            "linewidth": 0.8 + 2.5 * abs(weight),
            "shrinkA": 14 if is_now else 40,
            "shrinkB": 18 if is_now else 32,
        }
        axes.annotate("", places[effect], places[cause], arrowprops=arrow)
    axes.set(xlim=(-lags - 0.5, 0.5), ylim=(-len(NAMES) + 0.5, 0.5))
    axes.axis("off")


if __name__ == "__main__":
    main()
