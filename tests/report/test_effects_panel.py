"""The effects panel: two variables, the effect, its interval, its adjustment set."""

import re

import numpy as np
import pandas as pd
import pytest
from graphs_to_report import model_of, random_dag

from cosmodag import BlockSearch, OrderSearch
from cosmodag.assess.effects import panel

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]


def ask(opened, cause: str, effect: str) -> str:
    for field, name in (("#cause", cause), ("#effect", effect)):
        opened.page.locator(field).fill(name)
        opened.page.locator(field).press("Enter")
        opened.page.locator(field).blur()
    return opened.text("#effect-answer")


def a_pair(model, identified: bool):
    for cause in model.names_:
        for effect in model.names_:
            if cause != effect:
                found = model.effect(cause, effect, bootstrap=None)
                if not found.is_nothing and found.identified == identified:
                    yield found


def test_the_answer_agrees_with_the_model(show, graphs):
    opened, model = show("proteins"), graphs("proteins")
    found = next(one for one in a_pair(model, True) if 1 < len(one.paths) <= 5)
    told = ask(opened, found.cause, found.effect)
    assert f"{abs(found.estimate):.3g}" in told
    for end in (found.low, found.high):
        assert f"{end:.3g}".replace("-", "−") in told
    for name in found.adjustment:
        assert name in told
    paths = opened.page.locator("#effect-answer .paths li").all_text_contents()
    assert set(paths) == {" → ".join(path) for path in found.paths[:5]}
    assert opened.page.locator("#effect-answer svg").count() == 1
    lit = {name for path in found.paths for name in path}
    assert opened.names(".faded") == set(model.names_) - lit
    opened.page.get_by_role("button", name="Draw only these paths").click()
    assert opened.names() == lit


def test_an_open_effect_has_a_range(show, graphs):
    opened, model = show("chain"), graphs("chain")
    found = next(a_pair(model, False))
    told = ask(opened, found.cause, found.effect)
    assert told.startswith("Not determined: graphs that fit equally well give")
    for value in (found.possible[0], found.possible[-1]):
        assert f"{value:.3g}".replace("-", "−") in told


def test_two_clicks_ask_for_an_effect(show, graphs):
    opened, model = show("small"), graphs("small")
    found = next(a_pair(model, True))
    opened.click_node(found.cause)
    opened.page.get_by_role("button", name="Effect on …").click()
    assert "Now click" in opened.text("#effect-answer")
    opened.click_node(found.effect)
    assert f"{abs(found.estimate):.3g}" in opened.text("#effect-answer")
    by_buttons = opened.text("#effect-answer")
    opened.in_sight().click(position={"x": 3, "y": 3})
    opened.click_node(found.cause)
    opened.click_node(found.effect, modifiers=["Shift"])
    assert opened.text("#effect-answer") == by_buttons
    opened.page.locator("#swap").click()
    assert opened.page.locator("#cause").input_value() == found.effect


def test_a_pair_without_a_path_has_no_effect(show, graphs):
    opened, graph = show("small"), graphs("small").graph_
    model = graphs("small")
    none = next(
        (a, b)
        for a in graph
        for b in graph
        if a != b and model.effect(a, b, bootstrap=None).is_nothing
    )
    assert ask(opened, *none).startswith("None: no graph that fits equally well")


def test_an_unknown_name_shows_a_message(show):
    opened = show("small")
    ask(opened, "nowhere", "x1")
    assert "No variable has “nowhere” in its name." in opened.text("#message")


def test_with_many_variables_weights_are_summed_over_paths(show):
    model = model_of(random_dag(70, 120, seed=4))
    totals = model.fitted_.edges.toarray()
    scales = model.preparation_.scales
    totals = np.linalg.inv(np.eye(70) - totals * (scales[None, :] / scales[:, None]))
    opened = show(model)
    far = np.argwhere(np.abs(np.triu(totals, 1)) > 0.1)
    for u, v in far[:: max(1, len(far) // 3)][:3]:
        told = ask(opened, model.names_[u], model.names_[v])
        (said,) = re.findall(r"by ([\d.]+)\.", told)
        assert float(said) == pytest.approx(abs(totals[u, v]), rel=0.01)
        assert ("raises" in told) == (totals[u, v] > 0)
        assert "without an interval" in told


def test_with_many_variables_only_this_graph_is_said_to_have_no_path(show):
    weights = np.zeros((61, 61))
    weights[0, 1] = 0.9  # the reverse fits equally well
    told = ask(show(model_of(weights)), "x1", "x0")
    assert told.startswith("None in this graph: no directed path leads from x1 to x0.")
    assert "Graphs that fit equally well may have one." in told


def points_of(opened) -> np.ndarray:
    """The points of the drawn curve, in units of the drawing; y increases downwards."""
    drawn = opened.page.locator("#effect-answer .curve").get_attribute("d")
    return np.array(re.findall(r"([\d.-]+) ([\d.-]+)", drawn), float)


def test_for_a_curved_relation_the_mean_is_drawn_over_values_of_the_cause(show):
    random = np.random.default_rng(0)
    dose = random.normal(size=400)
    table = pd.DataFrame({"dose": dose, "response": dose**2 + 0.1 * random.normal(size=400)})
    table["other"] = random.normal(size=400)
    opened = show(BlockSearch(curves=True, random_state=0, verbose=False).fit(table))
    assert "Mean of response if dose is set by intervention" in ask(opened, "dose", "response")
    heights = points_of(opened)[:, 1]
    assert heights.argmax() in range(4, 9)  # lowest in the middle
    assert heights[0] < heights.max() - 50
    assert ask(opened, "dose", "other").startswith("None in this graph")


def test_an_effect_on_a_category_has_no_mean_to_draw(show):
    random = np.random.default_rng(0)
    dose = random.normal(size=600)
    size = dose + 0.1 * random.normal(size=600)
    group = np.where(size > 0.5, "high", np.where(size > -0.5, "middle", "low"))
    table = pd.DataFrame({"dose": dose, "size": size, "group": group})
    model = BlockSearch(curves=True, random_state=0, verbose=False).fit(table)
    cause = next(iter(model.graph_.predecessors("group")))
    assert "group is a category, which has no mean" in ask(show(model), cause, "group")


def test_for_a_time_series_the_changes_in_later_rows_are_drawn(show):
    random = np.random.default_rng(0)
    rain, river = random.normal(size=(2, 300))
    river[1:] += 2 * rain[:-1]
    table = pd.DataFrame({"rain": rain, "river": river})
    opened = show(OrderSearch(lags=1, random_state=0, verbose=False).fit(table))
    told = ask(opened, "rain", "river")
    assert "Change of river in the rows after rain was raised once by 1" in told
    assert "95 % interval (standard errors" in told
    assert points_of(opened)[:, 1].argmin() == 1  # highest one row later
    assert opened.page.locator("#effect-answer .band").count() == 1
    # A lagged node represents its variable.
    assert ask(opened, "rain[t-1]", "river").partition("Shaded")[0] == told.partition("Shaded")[0]
    assert ask(opened, "river", "rain").startswith("None")


def test_with_many_curved_variables_the_python_call_is_named(show, monkeypatch):
    monkeypatch.setattr(panel, "MOST_CURVED", 1)
    x = np.random.default_rng(0).normal(size=(200, 2))
    x[:, 1] += 3 * x[:, 0] ** 2
    table = pd.DataFrame(x, columns=["dose", "response"])
    model = BlockSearch(curves=True, random_state=0, verbose=False).fit(table)
    told = ask(show(model), "dose", "response")
    assert 'model.effect("dose", "response", values=(low, high))' in told
