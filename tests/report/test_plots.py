"""Static plots draw the right content on the given axes; pictures in notebooks are safe."""

import re
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from importlib.resources import files

import numpy as np
import pytest
from graphs_to_report import bootstrap_of, model_of, random_dag

import cosmodag
from cosmodag import Cosmo, EmptyGraph
from cosmodag.errors import DataError
from cosmodag.fit.dag.assertions import GRADES
from cosmodag.fit.dag.basis import BASES
from cosmodag.io import Graph, write_graph
from cosmodag.report.drawings import COLOURS
from cosmodag.report.plots import _ARCS

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_the_graph_has_a_name_for_each_node_and_an_arrow_for_each_arc(ax):
    from matplotlib.patches import FancyArrowPatch

    model = model_of(random_dag(5, 7), ["a", "b", "$c", "d", "e"])
    assert cosmodag.plot_graph(model, ax) is ax
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == model.edges_.nnz
    assert sorted(text.get_text() for text in ax.texts) == ["\\$c", "a", "b", "d", "e"]
    shown = {text.get_text() for text in ax.get_legend().get_texts()}
    assert shown == set(model.arrow_basis_)
    ax.figure.canvas.draw()


def test_the_matrix_is_above_the_diagonal(ax):
    model = model_of(random_dag(6, 9))
    assert cosmodag.plot_matrix(model, ax) is ax
    drawn = ax.images[0].get_array()
    assert np.count_nonzero(drawn) == model.edges_.nnz
    assert not np.tril(drawn).any()
    assert [label.get_text() for label in ax.get_yticklabels()] == model.causal_order_


def test_the_history_shows_loss_and_temperature(ax):
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = Cosmo(epochs=20, random_state=0, refine=None).fit(x)
    assert cosmodag.plot_history(model, ax) is ax
    drawn = ax.lines[0].get_ydata()
    np.testing.assert_allclose(drawn, [record["loss"] for record in model.history_])
    assert {one.get_ylabel() for one in ax.figure.axes} == {"objective", "temperature"}


def test_a_learner_without_training_has_no_history(ax):
    with pytest.raises(DataError, match="EmptyGraph has no training history"):
        cosmodag.plot_history(model_of(random_dag(3, 2)), ax)


def test_stability_marks_the_arcs_of_the_graph(ax):
    model = model_of(random_dag(6, 9))
    bootstrap = bootstrap_of(model)
    assert cosmodag.plot_stability(model, bootstrap, ax) is ax
    shares, dots = ax.images[0].get_array(), ax.collections[0].get_offsets()
    assert len(dots) == model.edges_.nnz
    order = model.order_
    assert all(shares[int(y), int(x)] >= 0.4 for x, y in dots)
    np.testing.assert_array_equal(shares, bootstrap.edge_shares[np.ix_(order, order)])
    with pytest.raises(DataError, match="bootstrap"):
        cosmodag.plot_stability(model_of(random_dag(3, 2)), bootstrap, ax)


@pytest.mark.parametrize("name", ["plot_graph", "plot_matrix"])
def test_axes_are_created_by_default(name):
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    for d, arcs in ((2, 0), (5, 6), (80, 100)):
        before = set(plt.get_fignums())
        model = model_of(random_dag(d, arcs))
        drawn = getattr(cosmodag, name)(model)
        (new,) = set(plt.get_fignums()) - before
        assert plt.figure(new) is drawn.figure
        assert drawn.figure.axes[0] is drawn
        shown = {text.get_text() for text in drawn.findobj(Text)}
        assert d > 5 or {str(label) for label in model.fitted_.names} <= shown
        plt.close(drawn.figure)


def test_a_notebook_shows_the_graph():
    names = ["<script>alert(1)</script>", "b & c", 'd"']
    model = model_of(random_dag(3, 3), names)
    shown = model._repr_html_()
    assert "<script" not in shown
    picture = b64decode(shown.partition("base64,")[2].partition('"')[0])
    drawn = {element.get("id") for element in ElementTree.fromstring(picture).iter()}
    # An arc is two patches, a line and its head; the first patch is the background.
    assert "text_3" in drawn
    assert "patch_4" in drawn
    assert model._repr_mimebundle_()["text/html"] == shown


def test_one_arc_is_in_the_singular():
    chain = model_of(np.array([[0, 1.0], [0, 0]]))
    assert "EmptyGraph: 1 arc among 2 variables" in chain._repr_html_()


def test_every_basis_of_direction_has_a_colour_in_plots_and_on_the_page():
    assert COLOURS.keys() == BASES.keys()
    assert len({str(_ARCS[basis]) for basis in BASES}) == len(BASES)
    script = files("cosmodag.report").joinpath("assets", "js", "colours.js").read_text("utf-8")
    assert all(f'"{basis}": {{ light: ' in script for basis in BASES)


def test_every_grade_of_direction_has_an_arrowhead_on_the_page():
    script = files("cosmodag.report").joinpath("assets", "js", "edges.js").read_text("utf-8")
    heads = re.findall(r'(\w+): "(\w+)"', script.split("const HEADS = ")[1].split(";")[0])
    assert heads == [*zip(GRADES, ("triangle", "vee", "none"), strict=True)]


def test_before_the_fit_a_notebook_shows_the_diagram_of_scikit_learn():
    from sklearn.utils import estimator_html_repr

    learner = EmptyGraph()
    strip = estimator_html_repr(learner).count("EmptyGraph")
    assert learner._repr_html_().count("EmptyGraph") == strip > 0


def test_a_notebook_shows_a_sentence_for_many_variables():
    assert "<img" not in model_of(random_dag(61, 70))._repr_html_()


def test_a_drawing_that_would_take_minutes_is_refused(tmp_path):
    chain = Graph.from_arcs([f"n{k}" for k in range(3_000)], range(2_999), range(1, 3_000))
    with pytest.raises(DataError, match=r"3,000 nodes and 2,999 arcs is too large to be drawn"):
        write_graph(chain, tmp_path / "graph.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("error")
def test_characters_missing_in_the_font_give_no_warning(tmp_path):
    write_graph(Graph(["数", "b"], [[0, 1], [0, 0]]), tmp_path / "graph.pdf")
