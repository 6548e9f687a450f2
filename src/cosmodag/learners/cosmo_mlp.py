"""Non-linear COSMO: one perceptron per variable, oriented by priorities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.checks import check_choice
from cosmodag.learners.trained.annealed import AnnealedLearner
from cosmodag.learners.trained.networks import NetworkLearner
from cosmodag.learners.trained.settings import default_mlp_settings, default_mlp_steps
from cosmodag.model.mechanism import MLP, MaskedMLP, Mechanism

__all__ = ["CosmoMLP"]

_MASKS = ("weights", "inputs")


@dataclass(kw_only=True, eq=False, repr=False)
class CosmoMLP(NetworkLearner, AnnealedLearner):
    r"""Non-linear COSMO: every variable a multilayer perceptron of its parents.

    Solves, over first-layer weights H ∈ R^{d×d×h}, the other layers and priorities p,

    .. math::

        \min\; \frac{1}{nd} \sum_v \lVert x_v - f_v(X) \rVert^2
        + \lambda_1 \lVert H \rVert_1 + \lambda_2 \lVert H \rVert_F
        + \lambda_p \lVert p \rVert_2,
        \qquad f_v(x) = \sum_i w_{vi}\, \sigma\!\Big(\sum_u x_u H_{uvi}\,
        S_{t,\varepsilon}(p)_{uv} + b_{vi}\Big) + c_v,

    by Adam on mini-batches while the temperature t of the orientation S is annealed (the appendix
    on non-linear relations). With ``mask="inputs"`` the orientation masks inputs instead: f_v reads
    x_u G_uv S_uv through one gate per arc, and its first-layer weights have unit length, so that λ₁
    switches whole arcs off (see :class:`cosmodag.model.mechanism.MaskedMLP`).

    Every parameter that is ``"auto"`` follows :func:`cosmodag.default_mlp_settings`; the paper's
    choice is ``CosmoMLP(**paper_mlp_settings(d))``.

    Parameters
    ----------
    hidden : tuple of int
        Units in each hidden layer of each network; the fastest loop is for one layer of sigmoids.
    activation : {"sigmoid", "tanh", "relu"}
        What hidden units do.
    mask : {"weights", "inputs"}
        Whether the orientation masks first-layer weights, or inputs through one gate per arc.
    arc_strength : {"norm", "sum"}
        How an arc's strength is read from its first-layer weights: their length, or the signed sum
        of the authors' code, in which units may cancel. :meth:`read_out` switches without learning
        again.
    learning_rate : float or "auto"
        Adam's rate for H and all other weights and biases.
    priority_learning_rate : float, None or "auto"
        Adam's rate for p. None: the same as `learning_rate`, the paper's way.
    lambda1, lambda2 : float or "auto"
        λ₁ and λ₂, on ‖H‖₁ and ‖H‖_F (not squared), over all d²h entries; with masked inputs, over
        the d² gates.
    lambda_p : float or "auto"
        λ_p, on ‖p‖₂.
    shift : float or "auto"
        ε, by how much the priority of an effect must exceed that of its cause.
    temperature_start, temperature_end : float or "auto"
        Where the temperature t starts and ends (cosine annealing).
    acyclicity_tolerance : float, optional
        Take `temperature_end` from Theorem 2 instead: the highest temperature at which
        h(S) = tr e^S − d ≤ tolerance is guaranteed for every p.
    loss : {"squared-error", "likelihood"}
        L: the mean squared error, or the Gaussian likelihood with a variance of its own for each
        variable, (1/d) Σ_v log RSS_v, in which units cancel out.
    epochs : int or "auto"
        Passes over the data. Automatically as many as make a number of steps that was found to be
        enough, whatever the number of rows
        (:func:`cosmodag.learners.trained.settings.default_steps`).
    batch_size : int
        Rows per step; the last batch of a pass may be smaller.
    refine : {None, "prune"}
        ``"prune"`` keeps the inputs of each network that the evidence of a Gaussian process
        supports, and adds those that the learnt order had forbidden
        (:func:`cosmodag.refinement.prune_networks`); ``None`` keeps all above the threshold.
    threshold : float or "auto"
        Arcs with \|W\| at or below it are left out of `adjacency_`. Automatically 0 where
        refinement decides by evidence, 0.3 without.
    restarts : int
        Solve so many problems at once from different starts, and keep the one with the best
        penalised objective on all data.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph: :class:`cosmodag.Knowledge`, its parts by name, or a file.
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop the rows that hold one; or estimate them from the others,
        which counts as no evidence (`docs/missing.md`; `missing_report_` says how many there are).
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations (which hides the cue that a
        squared-error learner uses, and warns); or leave the data alone.
    device : {"auto", "cpu", "gpu"}
        Where to compute.
    max_time : float, optional
        Seconds after which training stops with the result so far and a warning.
    checkpoint : path, optional
        Folder in which training leaves, every half minute and when it is stopped, how far it is.
        The same fit with the same folder goes on from there, bit for bit; what is left of a fit
        that ended is removed.
    random_state : int, Generator, RandomState or None
        The same number gives the same result, bit for bit, on the same machine.
    verbose : bool
        Show progress on stderr when that is a terminal.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        Strength of every arc at the end temperature: what the paper's metrics score.
    weights_ : (d, d) array
        `raw_weights_` where the arc agrees with `causal_order_`: acyclic.
    adjacency_ : (d, d) array
        `weights_` above the threshold; ``adjacency_[u, v]`` is the arc u → v.
    was_cyclic_ : bool
        Whether thresholding `raw_weights_` alone would have left a cycle.
    dropped_arcs_ : int
        Arcs above the threshold in `raw_weights_` that are not in `adjacency_`.
    graph_ : networkx.DiGraph
    causal_order_ : list
        Names or numbers of the variables, causes first.
    arc_norms_, arc_sums_ : (d, d) arrays
        Both strengths of every arc; `raw_weights_` is one of them.
    first_weights_, first_biases_, output_weights_, output_biases_ : arrays
        The networks: (d, d, h), from each variable to the hidden units of each, (d, h), (d, h) and
        (d,). Output biases are those of the pruned networks, whose residuals have mean zero on the
        training data.
    inner_layers_ : array
        Weights (d, in, out) and biases (d, out) of any further hidden layers, end to end.
    priorities_ : (d,) array
        p.
    history_ : list of dict
        For each hundredth of the run: ``round``, ``epoch``, ``temperature``, ``loss``,
        ``log_acyclicity_bound``.
    stopped_ : str or None
        ``"time"`` or ``"interrupt"`` when training ended early.
    settings_ : dict
        Every hyper-parameter as it was used.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from cosmodag import CosmoMLP, simulate
    >>> data = simulate.load("n500_d10_ER2_mlp", seed=0)
    >>> model = CosmoMLP(epochs=300, random_state=0).fit(data.X)
    >>> model.adjacency_.shape
    (10, 10)
    >>> np.array_equal(model.read_out("sum").raw_weights_, model.arc_sums_)
    True
    """

    mask: str = "weights"
    refine: str | None = "prune"

    extra_arrays = (*AnnealedLearner.extra_arrays, *NetworkLearner.extra_arrays)

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        check_choice("mask", self.mask, _MASKS)

    def _mechanism(self) -> Mechanism:
        kind = MaskedMLP if self.mask == "inputs" else MLP
        return kind(tuple(self.hidden), self.activation, self.arc_strength)

    def _rule(self, d: int) -> dict[str, float]:
        return default_mlp_settings(d, self.mask)

    def _steps(self, d: int) -> int:
        return default_mlp_steps()

    def _learnt_order(self) -> NDArray[np.intp]:
        return self.fitted_.order
