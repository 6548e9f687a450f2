"""Faults in the model: orientation, objectives, mechanisms."""

from named_faults.fault import Fault

ORIENTATION = "model/test_orientation.py"
DEFINITION = f"{ORIENTATION}::test_smooth_orientation_is_definition_1_off_the_diagonal"
STEPS = "solve/training/test_loop.py::test_steps_are_those_of_the_paper[reference]"
NETWORKS = "model/mechanism/test_perceptrons.py"

FAULTS = (
    Fault(
        "the shift is added",
        "model/orientation.py",
        "jax.nn.sigmoid((differences - shift) / temperature)",
        "jax.nn.sigmoid((differences + shift) / temperature)",
        (DEFINITION,),
    ),
    Fault(
        "orientation points from effect to cause",
        "model/orientation.py",
        "differences = priorities[None, :] - causes[:, None]",
        "differences = causes[:, None] - priorities[None, :]",
        (DEFINITION,),
    ),
    Fault(
        "orientation on the host points from effect to cause",
        "model/orientation.py",
        "gaps = priorities - causes[:, None] - priorities.dtype.type(shift)",
        "gaps = causes[:, None] - priorities - priorities.dtype.type(shift)",
        (f"{ORIENTATION}::test_the_host_orients_as_jax_does",),
    ),
    Fault(
        "keys on the host are split differently from JAX",
        "model/draws.py",
        "b = b + keys[(group + 2) % 3] + np.uint32(group + 1)",
        "b = b + keys[(group + 2) % 3] + np.uint32(group)",
        ("model/test_draws.py::test_keys_split_as_those_of_jax",),
    ),
    Fault(
        "hard orientation omits differences equal to the shift",
        "model/orientation.py",
        "return differences >= jnp.asarray(shift, priorities.dtype)",
        "return differences > jnp.asarray(shift, priorities.dtype)",
        (f"{ORIENTATION}::test_hard_orientation_includes_a_difference_of_exactly_the_shift",),
    ),
    Fault(
        "the bound on acyclicity forgets the number of variables",
        "model/orientation.py",
        "log_exponent = math.log(d) + float(log_alpha)",
        "log_exponent = float(log_alpha)",
        (
            f"{ORIENTATION}::test_log_bound_is_the_formula_where_the_formula_can_be_computed",
            f"{ORIENTATION}::test_temperature_for_inverts_the_bound",
        ),
    ),
    Fault(
        "rows drawn twice count once in the loss",
        "model/objective.py",
        "squares = jnp.sum(rows.counted * (rows.predicted - rows.x) ** 2)\n    # All",
        "squares = jnp.sum((rows.counted > 0) * (rows.predicted - rows.x) ** 2)\n    # All",
        ("model/test_objective.py",),
    ),
    Fault(
        "the likelihood has a common variance",
        "model/objective.py",
        "return jnp.mean(jnp.log(mean_squared_residuals(rows)))",
        "return jnp.log(jnp.mean(mean_squared_residuals(rows)))",
        ("model/test_objective.py",),
        was_missed=True,
    ),
    Fault(
        "the one-norm has no penalty",
        "model/objective.py",
        '+ settings["lambda1"] * one_norm(_priced(arcs, rows.prices))',
        '+ 0 * settings["lambda1"] * one_norm(_priced(arcs, rows.prices))',
        (STEPS,),
    ),
    Fault(
        "required arcs are penalised",
        "model/objective.py",
        '+ settings["lambda1"] * one_norm(_priced(arcs, rows.prices))',
        '+ settings["lambda1"] * one_norm(arcs)',
        ("solve/training/test_loop.py::test_required_arcs_are_not_shrunk",),
    ),
    Fault(
        "priorities have the penalty of arcs",
        "model/objective.py",
        '+ settings["lambda_p"] * euclidean_norm(parameters["order"])',
        '+ settings["lambda2"] * euclidean_norm(parameters["order"])',
        (STEPS,),
    ),
    Fault(
        "the penalty on acyclicity is not halved",
        "model/objective.py",
        'value += settings["multiplier"] * h + 0.5 * settings["penalty"] * h**2',
        'value += settings["multiplier"] * h + settings["penalty"] * h**2',
        ("solve/test_quasi_newton.py::test_closed_gradients_are_those_of_the_objective_in_jax",),
    ),
    Fault(
        "decay counts biases",
        "model/objective.py",
        'if self.biases or path[-1].key != "biases":',
        "if True:",
        ("solve/test_network_solvers.py::test_what_decay_counts",),
    ),
    Fault(
        "strength of an arc of a network is a sum of squares",
        "model/networks.py",
        "return (weights**2).sum(axis=-1) ** 0.5",
        "return (weights**2).sum(axis=-1)",
        (f"{NETWORKS}::test_strengths_are_norm_or_sum",),
    ),
    Fault(
        "networks lose the bias of their output",
        "model/networks.py",
        '.sum(axis=-1) + output["biases"]',
        ".sum(axis=-1)",
        (f"{NETWORKS}::test_the_formula_of_one_hidden_layer",),
    ),
    Fault(
        "predictions of a fitted mechanism use arcs that were cut",
        "model/mechanism.py",
        "np.where(with_unit_axes(arcs, self.weights), self.weights, 0)",
        "self.weights",
        ("model/mechanism/test_fitted.py::test_arcs_that_were_cut_have_no_part_in_predictions",),
        was_missed=True,
    ),
)
