"""Faults in the solver: steps, schedules, kernels, checkpoints, read-out, interrupts."""

from named_faults.fault import Fault

LOOP = "solve/training/test_loop.py"
STEPS = f"{LOOP}::test_steps_are_those_of_the_paper[reference]"
KERNEL = "solve/kernels/test_cpu.py::test_steps_are_those_of_the_reference_loop"
PLAIN = f"{KERNEL}[()-10-numba-linear]"
WATCH = "solve/test_watch.py"

FAULTS = (
    Fault(
        "Adam's running squares are not corrected",
        "solve/training/adam.py",
        "square_scale = 1 / (1 - beta2**step)",
        "square_scale = 1.0",
        (STEPS,),
    ),
    Fault(
        "priorities have the learning rate of arcs",
        "solve/training/adam.py",
        'rates = {"order": settings["priority_learning_rate"]}',
        'rates = {"order": settings["learning_rate"]}',
        (STEPS,),
    ),
    Fault(
        "the temperature schedule is half a period late",
        "solve/recipe.py",
        'progress = jnp.asarray(round, jnp.result_type(float)) / settings["rounds"]',
        'progress = jnp.asarray(round, jnp.result_type(float)) / (2 * settings["rounds"])',
        (STEPS,),
    ),
    Fault(
        "padding rows of the last batch are trained on",
        "solve/training/loop.py",
        "real = begin + places[k] < n",
        "real = begin + places[k] < n + passes.size",
        (STEPS,),
    ),
    Fault(
        "divergence is recorded at the last round",
        "solve/training/adam.py",
        "broken = (state.diverged_at < 0) & ~jnp.isfinite(loss)",
        "broken = ~jnp.isfinite(loss)",
        (f"{LOOP}::test_a_diverging_problem_leaves_its_neighbours_bit_identical",),
    ),
    Fault(
        "every pass takes rows in the same order",
        "solve/training/batch_rows.py",
        "base = _mix_jax(_mix_jax(seed ^ jnp.uint32(_GOLDEN)) + epoch)",
        "base = _mix_jax(_mix_jax(seed ^ jnp.uint32(_GOLDEN)))",
        ("solve/training/test_shuffle.py::test_both_implementations_agree",),
    ),
    Fault(
        "kernel: the gradient of priorities has the wrong sign",
        "solve/kernels/cpu/linear.py",
        "work.order_gradient[u] -= row_total",
        "work.order_gradient[u] += row_total",
        (PLAIN,),
    ),
    Fault(
        "kernel: rows count in the error but not in the gradient",
        "solve/kernels/cpu/linear.py",
        "residuals[i, v] = counted[i, v] * residual",
        "residuals[i, v] = residual",
        (f"{KERNEL}[('counted',)-10-numba-linear]",),
    ),
    Fault(
        "kernel: forbidden arcs have a gradient",
        "solve/kernels/cpu/linear.py",
        "            orientation[u, v] *= support[u, v]",
        "            orientation[u, v] *= ONE",
        (f"{KERNEL}[('support',)-10-numba-linear]",),
    ),
    Fault(
        "kernel: the loss of a round is divided by the wrong count",
        "solve/kernels/cpu/rounds.py",
        "loss = total / ((left + size - 1) // size)",
        "loss = total / (left // size)",
        (PLAIN,),
    ),
    Fault(
        "checkpoint digest without the settings",
        "solve/training/train.py",
        "    groups += sorted(batch.settings.items())\n",
        "",
        ("faults/test_checkpoint.py::test_another_fit_takes_no_notice",),
        was_missed=True,
    ),
    Fault(
        "checkpoint digest without the data",
        "solve/training/train.py",
        "        digest.update(array.tobytes())\n",
        "",
        ("faults/test_checkpoint.py::test_another_fit_takes_no_notice",),
    ),
    Fault(
        "a checkpoint of more rounds is accepted",
        "solve/training/train.py",
        "if not 0 <= done <= rounds or len(marks) != len(losses):",
        "if len(marks) != len(losses):",
        ("faults/test_checkpoint.py::test_a_record_of_more_rounds_than_there_are_is_refused",),
        was_missed=True,
    ),
    Fault(
        "the sparse read-out repeats rows of the last tile",
        "solve/readout.py",
        "new = rows >= first - begin",
        "new = rows >= 0",
        ("solve/test_many.py::test_sparse_read_out_equals_the_dense_one",),
    ),
    Fault(
        "read-out at the first temperature",
        "solve/readout.py",
        'recipe.schedule(problem.settings.get("rounds", 1), problem.settings)',
        "recipe.schedule(0, problem.settings)",
        (
            "learners/test_cosmo.py::test_a_tolerance_sets_the_last_temperature",
            "learners/test_cosmo.py::test_optimised_weights_rank_the_arcs",
            "learners/test_combinations.py::test_weights_are_read_out_at_the_last_temperature",
        ),
        was_missed=True,
    ),
    Fault(
        "Ctrl-C is not passed on to the caller",
        "solve/watch.py",
        "if self._interrupted and not isinstance(error, KeyboardInterrupt):",
        "if False:",
        (f"{WATCH}::test_a_handler_of_the_caller_is_called_afterwards",),
    ),
    Fault(
        "a second Ctrl-C also waits",
        "solve/watch.py",
        "        if self._interrupted:\n            raise KeyboardInterrupt\n",
        "",
        (f"{WATCH}::test_the_second_ctrl_c_raises_at_once",),
        was_missed=True,
    ),
    Fault(
        "the Lagrangian's penalty grows when h fell enough",
        "solve/methods/lagrangian.py",
        "too_high = progress.active & ~(h <= _REQUIRED_DECREASE * accepted_h)",
        "too_high = progress.active & (h <= _REQUIRED_DECREASE * accepted_h)",
        (
            "solve/test_lagrangian.py"
            "::test_the_multiplier_grows_by_penalty_times_h_and_the_penalty_when_h_is_slow",
        ),
    ),
    Fault(
        "a refused stage keeps its learning rate",
        "solve/methods/central_path.py",
        'learning_rate=batch.settings["learning_rate"] * 0.5**attempt,',
        'learning_rate=batch.settings["learning_rate"] * 1.0**attempt,',
        (
            "solve/test_central_path.py"
            "::test_a_refused_stage_restarts_with_a_wider_domain_and_smaller_steps",
        ),
    ),
)
