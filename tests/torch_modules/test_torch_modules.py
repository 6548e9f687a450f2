"""Modules yield acyclic graphs, and can be saved, moved, compiled and scheduled."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cosmodag.model.orientation import log_acyclicity_bound  # noqa: E402
from cosmodag.torch import (  # noqa: E402
    MODES,
    CosineTemperature,
    ExponentialTemperature,
    PriorityLayer,
    PriorityLinear,
    PriorityMLP,
    SmoothOrientation,
    read_out,
    regulariser,
    smooth_orientation,
)

LAYERS = [
    lambda d: PriorityLinear(SmoothOrientation(d), bias=True),
    lambda d: PriorityMLP(SmoothOrientation(d), hidden=(4, 3)),
]


def with_priorities(values: list[float], **settings: object) -> SmoothOrientation:
    orientation = SmoothOrientation(len(values), **settings)
    with torch.no_grad():
        orientation.priorities.copy_(torch.tensor(values))
    return orientation


@pytest.mark.parametrize("mode", MODES)
def test_diagonal_and_forbidden_arcs_are_zero_in_every_mode(mode: str) -> None:
    support = np.ones((4, 4))
    support[0, 3] = 0
    matrix = with_priorities([0.0, 1.0, 2.0, 3.0], support=support, mode=mode)()
    assert matrix[0, 3] == 0
    assert not matrix.diagonal().any()
    assert matrix[0, 1] > 0.8


@settings(max_examples=25)
@given(
    values=st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=8),
    shift=st.sampled_from([1e-3, 0.1, 1.0]),
    mode=st.sampled_from(["hard", "straight-through"]),
)
def test_hard_orientations_are_dags(values: list[float], shift: float, mode: str) -> None:
    assert is_dag(with_priorities(values, shift=shift, mode=mode)().numpy(force=True))


def test_straight_through_is_hard_forward_and_soft_backward() -> None:
    values, upstream = [0.3, -0.2, 0.31], torch.randn(3, 3)
    found = {mode: with_priorities(values, shift=0.1, mode=mode) for mode in MODES}
    matrices = {mode: orientation() for mode, orientation in found.items()}
    assert torch.equal(matrices["straight-through"], matrices["hard"])
    assert not matrices["hard"].requires_grad
    for mode in ("soft", "straight-through"):
        (matrices[mode] * upstream).sum().backward()
    slopes = [found[mode].priorities.grad for mode in ("soft", "straight-through")]
    torch.testing.assert_close(*slopes)


def test_soft_tends_to_hard() -> None:
    orientation = with_priorities([0.3, -0.2, 0.7], shift=0.1, temperature=1e-3)
    soft = orientation()
    orientation.mode = "hard"
    torch.testing.assert_close(soft, orientation())


def test_bound_is_theorem_2_at_the_temperature_in_force() -> None:
    orientation = SmoothOrientation(30, shift=2e-2, dtype=torch.float64)
    orientation.set_temperature(5e-4)
    assert orientation.log_acyclicity_bound() == log_acyclicity_bound(5e-4, 2e-2, 30)


@pytest.mark.parametrize("make", LAYERS)
@pytest.mark.parametrize("threshold", [0.0, 0.05])
def test_read_out_is_a_dag_that_agrees_with_the_order(make, threshold: float) -> None:
    torch.manual_seed(0)
    layer = make(8)  # at a high temperature, S is near one half in both directions
    graph = read_out(layer, threshold=threshold)
    order = layer.orientation.order()
    assert is_dag(graph)
    assert np.count_nonzero(np.tril(graph[np.ix_(order, order)])) == 0
    kept = graph[graph != 0]
    assert (np.abs(kept) > threshold).all()
    assert np.isin(kept, layer.strength().numpy(force=True)).all()


def test_read_out_of_a_matrix_and_priorities() -> None:
    weights, priorities = torch.tensor([[5.0, 2.0], [3.0, 5.0]]), torch.tensor([1.0, 0.0])
    np.testing.assert_array_equal(read_out(weights, priorities), [[0, 0], [3, 0]])
    with pytest.raises(DataError, match="priorities"):
        read_out(weights)


@pytest.mark.parametrize("make", LAYERS)
def test_state_dict_round_trip(make) -> None:
    support = np.triu(np.ones((6, 6)))
    layer, other = make(6), make(6)
    layer.orientation.set_temperature(0.01)
    layer.orientation.support = torch.as_tensor(support, dtype=torch.float32)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    x = torch.randn(5, 6)
    assert torch.equal(layer(x), other(x))
    assert other.orientation.temperature.item() == pytest.approx(0.01)


@pytest.mark.parametrize("make", LAYERS)
def test_deferred_initialisation_sets_every_value(make) -> None:
    support = np.triu(np.ones((6, 6)), 1)
    with torch.device("meta"):
        layer = make(6)
        layer.orientation = SmoothOrientation(6, shift=0.02, temperature=0.3, support=support)
    layer.to_empty(device="cpu")
    for tensor in layer.state_dict().values():
        tensor.fill_(torch.nan)
    for module in layer.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    state = layer.orientation.state_dict()
    assert state["shift"].item() == pytest.approx(0.02)
    assert state["temperature"].item() == pytest.approx(0.3)
    np.testing.assert_array_equal(state["support"], support)
    assert 0 < state["priorities"].abs().max() < 0.1
    assert torch.isfinite(layer(torch.ones(2, 6))).all()


@pytest.mark.parametrize("make", LAYERS)
def test_layers_take_any_leading_shape(make) -> None:
    torch.manual_seed(0)
    layer, x = make(5), torch.randn(2, 3, 5)
    expected = torch.stack([layer(rows) for rows in x])
    torch.testing.assert_close(layer(x), expected)
    torch.testing.assert_close(layer(x[0, 0]), expected[0, 0])


@pytest.mark.parametrize("shape", [(4, 4), (3, 4), (2, 3, 4)])
def test_batches_of_priorities_are_as_one_by_one(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    priorities = torch.randn(shape)
    matrices = smooth_orientation(priorities, 0.3, 0.1)
    assert matrices.shape == (*shape, shape[-1])
    for place in np.ndindex(shape[:-1]):
        single = smooth_orientation(priorities[place], 0.3, 0.1)
        torch.testing.assert_close(matrices[place], single)


def test_without_a_given_support_nothing_dense_is_stored() -> None:
    orientation = SmoothOrientation(20_000)
    assert sum(tensor.numel() for tensor in orientation.state_dict().values()) == 20_002


def test_as_a_parametrisation_of_a_linear_layer() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 3)
    strengths = linear.weight.detach().clone()
    orientation = with_priorities([2.0, 0.0, 1.0], shift=0.1, temperature=0.5)
    torch.nn.utils.parametrize.register_parametrization(linear, "weight", orientation)
    gaps = np.array([[0, -2, -1], [2, 0, 1], [1, -1, 0]])  # p_v − p_u at [u, v]
    smooth = (1 - np.eye(3)) / (1 + np.exp(-(gaps - 0.1) / 0.5))
    expected = strengths.numpy() * smooth.T
    np.testing.assert_allclose(linear.weight.numpy(force=True), expected, rtol=1e-5)
    linear(torch.ones(1, 3)).sum().backward()
    assert orientation.priorities.grad.abs().max() > 0
    with pytest.raises(DataError, match=r"\(3, 3\)"):
        orientation(torch.ones(2, 3))


def test_the_regulariser_of_a_model_is_the_sum_over_its_layers() -> None:
    orientation = SmoothOrientation(4)
    first, second = PriorityLinear(orientation), PriorityMLP(orientation)
    model = torch.nn.ModuleDict({"a": first, "b": torch.nn.Sequential(second)})
    strengths = [layer.strengths.detach().numpy() for layer in (first, second)]
    expected = 2 * sum(abs(h).sum() for h in strengths)
    expected += 3 * sum(np.sqrt((h**2).sum()) for h in strengths)
    expected += 5 * np.sqrt((orientation.priorities.detach().numpy() ** 2).sum())
    found = regulariser(model, lambda1=2.0, lambda2=3.0, lambda_p=5.0)
    assert found.item() == pytest.approx(float(expected), rel=1e-5)
    with pytest.raises(DataError, match="SmoothOrientation"):
        regulariser(torch.nn.Linear(2, 2))


def _train_on_one_rank(rank: int, path: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{path}/store", rank=rank, world_size=2
    )
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = PriorityLinear(SmoothOrientation(3))
    model = torch.nn.parallel.DistributedDataParallel(layer)
    rows = torch.randn(8, 3)[rank::2]
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = ((model(rows) - rows) ** 2).mean() + regulariser(model, lambda1=0.1, lambda_p=0.1)
    loss.backward()
    optimiser.step()
    torch.save(layer.state_dict(), f"{path}/{rank}")
    torch.distributed.destroy_process_group()


def test_two_processes_train_as_one(tmp_path) -> None:
    torch.multiprocessing.spawn(_train_on_one_rank, (str(tmp_path),), nprocs=2)
    states = [torch.load(tmp_path / str(rank), weights_only=True) for rank in (0, 1)]
    torch.manual_seed(0)
    layer, rows = PriorityLinear(SmoothOrientation(3)), torch.randn(8, 3)
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
    (((layer(rows) - rows) ** 2).mean() + regulariser(layer, lambda1=0.1, lambda_p=0.1)).backward()
    optimiser.step()
    for name, expected in layer.state_dict().items():
        torch.testing.assert_close(states[0][name], states[1][name], rtol=0, atol=0)
        torch.testing.assert_close(states[0][name], expected)


@pytest.mark.parametrize("make", LAYERS)
def test_everything_moves_with_the_module(make) -> None:
    layer = make(6).to(torch.float64)
    assert {t.dtype for t in layer.state_dict().values()} == {torch.float64}
    assert layer(torch.zeros(2, 6, dtype=torch.float64)).dtype == torch.float64
    on_meta = make(6).to("meta")
    assert {t.device.type for t in on_meta.state_dict().values()} == {"meta"}
    assert on_meta(torch.zeros(2, 6, device="meta")).shape == (2, 6)


@pytest.mark.parametrize("make", LAYERS)
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_cuda_as_on_the_cpu(make) -> None:
    layer, x = make(6).to(torch.float64), torch.randn(5, 6, dtype=torch.float64)
    expected, expected_penalty = layer(x), regulariser(layer, lambda1=1.0, lambda2=1.0)
    graph = read_out(layer)
    layer.to("cuda")
    torch.testing.assert_close(layer(x.to("cuda")).cpu(), expected)
    torch.testing.assert_close(regulariser(layer, lambda1=1.0, lambda2=1.0).cpu(), expected_penalty)
    np.testing.assert_allclose(read_out(layer), graph)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", LAYERS)
def test_compiles_whole_and_once_for_all_temperatures(make, mode: str) -> None:
    """Without Inductor, which needs a C++ compiler."""
    torch.manual_seed(0)
    layer = make(5)
    layer.orientation.mode = mode
    compilations = 0

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]):
        nonlocal compilations
        compilations += 1
        return graph.forward

    compiled = torch.compile(layer, fullgraph=True, backend=backend)
    x = torch.randn(7, 5)
    for temperature in (0.45, 0.1, 1e-3):
        layer.orientation.set_temperature(temperature)
        torch.testing.assert_close(compiled(x), layer(x))
    assert compilations == 1


def gradients(layer: PriorityLayer, forward, x: torch.Tensor) -> list[torch.Tensor]:
    layer.zero_grad()
    ((forward(x) - x) ** 2).mean().backward()
    return [parameter.grad.clone() for parameter in layer.parameters()]


@pytest.mark.parametrize("make", LAYERS)
def test_gradients_of_the_compiled_layer(make) -> None:
    torch.manual_seed(0)
    layer, x = make(5), torch.randn(7, 5)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for found, expected in zip(
        gradients(layer, compiled, x), gradients(layer, layer, x), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_layers_may_share_an_order() -> None:
    orientation = SmoothOrientation(4)
    first, second = PriorityLinear(orientation), PriorityMLP(orientation)
    model = torch.nn.ModuleList([first, second])
    names = [name for name, _ in model.named_parameters() if name.endswith("priorities")]
    assert len(names) == 1
    CosineTemperature(model, 10, start=0.2)
    assert orientation.temperature.item() == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("scheduler", "middle"), [(CosineTemperature, 0.2525), (ExponentialTemperature, 0.05)]
)
def test_schedulers_start_end_and_stay(scheduler, middle: float) -> None:
    layer = LAYERS[0](3)
    schedule = scheduler(layer, rounds=4, start=0.5, end=0.005)
    seen = [schedule.get_last_temperature()]
    for _ in range(6):
        schedule.step()
        seen.append(schedule.get_last_temperature())
    assert seen[0] == 0.5
    assert seen[2] == pytest.approx(middle)
    assert seen[4:] == pytest.approx([0.005] * 3)
    assert seen == sorted(seen, reverse=True)
    assert layer.orientation.temperature.item() == pytest.approx(0.005)


def test_cosine_is_the_packages_own() -> None:
    from cosmodag.solve.recipe import CosineAnnealing

    scheduler = CosineTemperature(SmoothOrientation(3), rounds=20)
    annealed = CosineAnnealing()
    given = {"temperature_start": 0.45, "temperature_end": 8.5e-4, "rounds": 20}
    for m in range(21):
        expected = annealed(np.array(float(m)), given)["temperature"]
        assert scheduler.get_last_temperature() == pytest.approx(float(expected), rel=1e-12)
        scheduler.step()


def test_a_scheduler_resumes_from_a_saved_state() -> None:
    left = CosineTemperature(SmoothOrientation(3), rounds=10)
    for _ in range(4):
        left.step()
    orientation = SmoothOrientation(3)
    taken_up = CosineTemperature(orientation, rounds=99)
    taken_up.load_state_dict(left.state_dict())
    assert orientation.temperature.item() == pytest.approx(left.get_last_temperature())
    left.step()
    taken_up.step()
    assert taken_up.get_last_temperature() == left.get_last_temperature()


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (lambda: SmoothOrientation(3, shift=0.0), "shift"),
        (lambda: SmoothOrientation(3, temperature=float("nan")), "temperature"),
        (lambda: SmoothOrientation(3, mode="cold"), "mode"),
        (lambda: SmoothOrientation(3, support=np.ones((2, 2))), r"\(2, 2\)"),
        (lambda: PriorityMLP(SmoothOrientation(3), hidden=()), "hidden"),
        (lambda: PriorityMLP(SmoothOrientation(3), hidden=(4, 0)), "hidden"),
        (lambda: PriorityMLP(SmoothOrientation(3), activation="step"), "activation"),
        (lambda: PriorityMLP(SmoothOrientation(3), arc_strength="max"), "arc_strength"),
        (lambda: CosineTemperature(torch.nn.Linear(2, 2), 10), "SmoothOrientation"),
        (lambda: CosineTemperature(SmoothOrientation(3), 0), "rounds"),
        (lambda: CosineTemperature(SmoothOrientation(3), 5, end=0.0).step(), "end"),
    ],
)
def test_a_wrong_setting_is_named(bad, named: str) -> None:
    with pytest.raises(DataError, match=named):
        bad()
