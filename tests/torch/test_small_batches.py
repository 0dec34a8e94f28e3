"""Batches in which groups, classes or everything is missing train on; bad ones are refused."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import evenhand as eh  # noqa: E402
from evenhand.criteria import Criterion  # noqa: E402
from evenhand.statistics import E  # noqa: E402
from evenhand.torch import Constraint, DeviceTally, Penalty, soft_tally  # noqa: E402
from lanes import one_in  # noqa: E402

LABELS = [
    name for name, each in eh.CRITERIA.items() if each.statistic.needs in ("labels", "predictions")
]
ERRORS = [
    Criterion(of, E(of), asks="Are errors as large in every group?", is_not="It is not bias.")
    for of in ("squared_error", "absolute_error")
]
NOISE_FREE = ("pq", "cv", "cv²")  # from which noise can be subtracted
MEASURES = (*NOISE_FREE, "mpd", "gini", "shortfall")
NUMBERS = ["weak_parity", "strong_parity", "wasserstein_parity", *ERRORS]


def kinds(criterion):
    """Every measure and noise that go together with a criterion."""
    swept = criterion in ("strong_parity", "wasserstein_parity")
    for measure, noise in product(MEASURES, (None, "subtract", "memory")):
        if noise != "subtract" or (measure in NOISE_FREE and not swept):
            yield measure, noise


KINDS = {criterion: list(kinds(criterion)) for criterion in [*LABELS, *NUMBERS]}


@st.composite
def batches(draw):
    """A few rows: predictions as extreme as a sure network's, absent groups, weights of 0."""
    rows, groups = draw(st.sampled_from([(0, 2), (1, 2), (4, 3), (6, 3), (12, 4), (20, 9)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.sampled_from([1, 2, 3]))
    logits = rng.normal(0, draw(st.sampled_from([0.0, 1.0, 30.0, 300.0])), (rows, classes))
    logits = logits + draw(st.sampled_from([0.0, -60.0, -95.0, 60.0]))
    least = draw(st.sampled_from([-1, 0, groups - 1]))
    group = rng.integers(least, groups, rows)
    y = rng.integers(0, draw(st.integers(1, max(classes, 2))), rows)
    weight = None
    if draw(st.booleans()):
        weight = 10.0 ** rng.uniform(-6, 6, rows) * (rng.random(rows) < 0.7)
    return logits, y, group, weight, groups


def terms(criterion, measure, noise, groups, draw):
    """A penalty or a bound of this kind, with other settings drawn."""
    options = {
        "noise": noise,
        "groups": groups,
        "aggregate": draw(st.sampled_from(["mean", "worst"])),
        "temperature": draw(st.sampled_from([None, 0.1, 0.3, 3.0])),
        "hard": draw(st.booleans()),
        "favorable": draw(st.sampled_from([0, 1])),
    }
    if measure == "pq" and noise != "subtract":
        options["p"], options["q"] = draw(st.sampled_from([(1.0, 2.0), (0.5, 2.0), (1.0, 3.0)]))
    if draw(st.booleans()):
        return Penalty(criterion, measure, **options)
    return Constraint(criterion, measure, epsilon=0.01, **options)


def tensors(batch, dtype):
    """The batch as a network gives it: logits with gradients, and the rest."""
    logits, y, group, weight, _ = batch
    logits = torch.as_tensor(logits, dtype=dtype).requires_grad_()
    weight = None if weight is None else torch.as_tensor(weight, dtype=dtype)
    return logits, torch.as_tensor(y), torch.as_tensor(group), weight


@pytest.mark.parametrize("criterion", KINDS, ids=lambda each: str(getattr(each, "name", each)))
@given(data=st.data())
def test_no_batch_gives_a_loss_or_a_gradient_that_is_not_finite(criterion, data):
    measure, noise = data.draw(st.sampled_from(KINDS[criterion]))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64, torch.bfloat16]))
    batch = data.draw(batches())
    term = terms(criterion, measure, noise, batch[-1], data.draw)
    for _ in range(2):  # the second remembers the first
        logits, y, group, weight = tensors(batch, dtype)
        if criterion in NUMBERS:
            predictions = logits[:, 0] * 1.0
        else:
            predictions = logits.softmax(1) if logits.shape[1] > 1 else logits.sigmoid()[:, 0]
        predictions.retain_grad()
        value = term(predictions, y, group=group, sample_weight=weight)
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(predictions.grad).all()
        assert torch.isfinite(logits.grad).all()
        assert not predictions.grad[group < 0].any()
        if isinstance(term, Constraint):
            term.update()
            assert torch.isfinite(term.multiplier)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "noise", "size"),
    one_in(
        3,
        ["equal_opportunity", "equalized_odds", "predictive_parity"],
        [None, "subtract", "memory"],
        [(4, 3), (1024, 100)],
    ),
)
def test_a_network_learns_although_batches_lack_positives_of_some_group(criterion, noise, size):
    rows, groups = size
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = torch.nn.Linear(5, 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    penalty = Penalty(criterion, "pq", groups=groups, noise=noise)
    truth = torch.tensor([1.0, -1.0, 0.5, 0.0, 0.0])
    for _ in range(60):
        X = torch.randn(rows, 5, generator=generator)
        y = (X @ truth > 0.5).long()
        group = torch.randint(0, groups, (rows,), generator=generator)
        logits = network(X)[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, y.float())
        optimizer.zero_grad()
        (loss + penalty(logits.sigmoid(), y, group=group)).backward()
        optimizer.step()
    X = torch.randn(4000, 5, generator=generator)
    right = (network(X)[:, 0] > 0) == (X @ truth > 0.5)
    assert right.float().mean() > 0.9


@pytest.mark.parametrize("criterion", [*LABELS, "weak_parity"])
@given(data=st.data(), measure=st.sampled_from(["mpd", "gini", "pq", "shortfall"]))
def test_what_is_defined_in_a_small_batch_is_what_the_criterion_says(criterion, measure, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows, groups = data.draw(st.sampled_from([(4, 3), (7, 3), (30, 8)]))
    group, aggregate = rng.integers(-1, groups, rows), data.draw(st.sampled_from(["mean", "worst"]))
    group[0] = 0
    classes = data.draw(st.sampled_from([2, 3]))
    chances, y = rng.dirichlet(np.ones(classes), rows), rng.integers(0, classes, rows)
    weight = rng.choice([0.5, 1.0, 3.0], rows)
    penalty = Penalty(criterion, measure, groups=groups, noise=None, aggregate=aggregate)
    predictions = chances if criterion in LABELS else chances[:, 0]
    common = {"group": torch.as_tensor(group), "sample_weight": torch.as_tensor(weight)}
    found = float(penalty(torch.as_tensor(predictions), torch.as_tensor(y), **common))
    kept = group >= 0
    columns = {"sensitive_features": group[kept], "sample_weight": weight[kept]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eh.UndefinedWarning)
        if criterion in LABELS:
            counts = eh.tally(y[kept], chances[kept], classes=range(classes), **columns)
            one = classes == 2 or eh.CRITERIA[criterion].one_class
            options = {"aggregate": aggregate, "favorable": 1 if one else None}
            known = eh.CRITERIA[criterion](counts, measure=measure, **options)
        else:
            known = eh.CRITERIA[criterion](None, predictions[kept], measure=measure, **columns)
    assert found == pytest.approx(np.nan_to_num(known), abs=1e-10)


def test_groups_that_cannot_be_compared_have_a_gradient_of_zero():
    chances = torch.tensor([0.2, 0.9, 0.4, 0.7], requires_grad=True)
    y = torch.zeros(4, dtype=torch.long)  # no positives
    for noise in (None, "subtract", "memory"):
        for group in ([0, 0, 1, 2], [-1, -1, -1, -1]):
            penalty = Penalty("equal_opportunity", "pq", groups=3, noise=noise)
            value = penalty(chances, y, group=torch.tensor(group))
            (gradient,) = torch.autograd.grad(value, chances)
            assert value == 0
            assert not gradient.any()


@pytest.mark.slow
def test_rows_left_out_may_hold_anything():
    group = torch.tensor([0, 0, 1, 1, -1, -7])
    y = torch.tensor([1, 0, 1, 0, -100, 9])
    weight = torch.tensor([1.0, 2.0, 1.0, 1.0, torch.nan, -1.0])
    chances = torch.tensor([0.9, 0.4, 0.2, 0.4, torch.nan, torch.inf], requires_grad=True)
    for criterion in ("equalized_odds", "weak_parity", "strong_parity", ERRORS[0]):
        penalty = Penalty(criterion, "mpd", groups=2, noise=None)
        value = penalty(chances, y, group=group, sample_weight=weight)
        (gradient,) = torch.autograd.grad(value, chances)
        alone = penalty(chances[:4], y[:4], group=group[:4], sample_weight=weight[:4])
        torch.testing.assert_close(value, alone)
        assert torch.isfinite(gradient).all()
        assert not gradient[4:].any()


def test_counts_of_half_precision_are_those_of_single_precision():
    generator = torch.Generator().manual_seed(0)
    chances = torch.rand(4000, generator=generator).bfloat16()
    group = (torch.arange(4000) % 5 == 0).long()
    penalty = Penalty("statistical_parity", "mpd", groups=2, noise=None)
    assert float(penalty(chances, group=group)) == float(penalty(chances.float(), group=group))


GOOD = {
    "predictions": torch.tensor([0.2, 0.9, 0.4, 0.7]),
    "y_true": torch.tensor([0, 1, 1, 0]),
    "group": torch.tensor([0, 0, 1, 2]),
    "sample_weight": torch.tensor([1.0, 1.0, 2.0, 0.0]),
}
BAD = [
    ("predictions", [0.2, float("nan"), 0.4, 0.7], "predictions has NaN or infinite values"),
    ("predictions", [0.2, float("inf"), 0.4, 0.7], "predictions has NaN or infinite values"),
    ("predictions", [-3.0, 2.0, 0.4, 0.7], r"runs from -3 to 2\..*not logits"),
    ("predictions", [[0.6, 0.6, 0.1]] * 4, "add up to 1"),
    ("predictions", [[0.6, 0.6]] * 4, "add up to 1"),
    ("predictions", [0.2, 0.4, 0.7], r"group has the shape \(4,\) and predictions 3 rows"),
    ("sample_weight", [1.0, float("nan"), 1.0, 1.0], "sample_weight has NaN or infinite values"),
    ("sample_weight", [1.0, float("inf"), 1.0, 1.0], "sample_weight has NaN or infinite values"),
    ("sample_weight", [1.0, -2.0, 1.0, 1.0], "sample_weight runs from -2 to 1"),
    ("sample_weight", [1.0, 1e30, 1.0, 1.0], "Divide larger ones by their mean"),
    ("sample_weight", [1.0, 1e-30, 1.0, 1.0], "divide them by their mean"),
    ("sample_weight", [[1.0]] * 4, r"sample_weight has the shape \(4, 1\)"),
    ("group", [0, 1, 2, 3], r"group runs from 0 to 3\. With groups=3 .* from 0 to 2"),
    ("group", [0.0, 1.0, 2.0, 0.0], "whole numbers"),
    ("y_true", [0, 1, 2, 0], r"y_true runs from 0 to 2\. With 2 classes"),
    ("y_true", [0, -1, 1, 0], "y_true runs from -1 to 1"),
    ("y_true", [0.5, 1.0, 1.0, 0.0], "whole numbers"),
    ("y_true", [[0], [1], [1], [0]], r"y_true has the shape \(4, 1\)"),
]


@pytest.mark.parametrize("noise", [None, "subtract", "memory"])
@pytest.mark.parametrize(("name", "values", "words"), BAD)
def test_a_bad_batch_is_refused_and_not_remembered(name, values, words, noise):
    penalty = Penalty("equalized_odds", "pq", groups=3, noise=noise)
    bound = Constraint("equalized_odds", "pq", groups=3, noise=noise, epsilon=0.1)
    for term in (penalty, bound):
        before = {key: value.clone() for key, value in term.state_dict().items()}
        with pytest.raises(eh.EvenhandError, match=words):
            term(**GOOD | {name: torch.tensor(values)})
        assert all(torch.equal(value, before[key]) for key, value in term.state_dict().items())
    bad = {**GOOD, name: torch.tensor(values)}
    with pytest.raises(eh.EvenhandError, match=words):
        soft_tally(**bad, groups=3)


@pytest.mark.parametrize("criterion", ["weak_parity", "strong_parity", *ERRORS])
@pytest.mark.parametrize("name", ["predictions", "y_true", "sample_weight", "group"])
def test_bad_numbers_are_refused(criterion, name):
    if name == "y_true" and criterion not in ERRORS:
        return  # which is not looked at
    bad = {"group": torch.tensor([0, 1, 2, 9])}
    penalty = Penalty(criterion, "mpd", groups=3, noise=None)
    with pytest.raises(eh.InputError, match=name):
        penalty(**GOOD | {name: bad.get(name, torch.tensor([1.0, float("nan"), 1.0, 1.0]))})


def test_decisions_made_of_nan_are_not_counted_as_the_first_class():
    for predictions in (torch.tensor([0.2, torch.nan]), torch.tensor([[1.0, 0.0], [0, torch.nan]])):
        counts = DeviceTally(classes=2, groups=2)
        counts.update(predictions, torch.tensor([0, 1]), torch.tensor([0, 1]))
        with pytest.raises(eh.InputError, match=r"1 rows .* NaN"):
            counts.tally()


@pytest.mark.parametrize("criterion", ["calibration_parity", "conditional_statistical_parity"])
def test_criteria_that_a_batch_cannot_tell_are_refused_at_once(criterion):
    with pytest.raises(eh.InputError, match="cannot be trained for"):
        Penalty(criterion, groups=2)


@pytest.mark.long
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the compiler itself
def test_a_compiled_step_refuses_a_bad_batch_too():
    torch._dynamo.reset()
    penalty = Penalty("equalized_odds", "pq", groups=3, noise="memory")
    compiled = torch.compile(penalty, backend="aot_eager", fullgraph=True)
    compiled(**GOOD)
    before = penalty.cells.clone()
    bad = {"predictions": [0.2, float("nan"), 0.4, 0.7], "group": [0, 1, 2, 3]}
    for name, values in bad.items():
        with pytest.raises(RuntimeError, match="call the penalty on it without"):
            compiled(**GOOD | {name: torch.tensor(values)})
    assert torch.equal(penalty.cells, before)
