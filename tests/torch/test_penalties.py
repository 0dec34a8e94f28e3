"""Penalties equal the criteria they stand for, with gradients, and do not charge for noise."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import evenhand as eh  # noqa: E402
from evenhand.torch import Constraint, DeviceTally, Penalty, soft_tally  # noqa: E402
from evenhand.torch.cells import cell_counts  # noqa: E402
from evenhand.torch.measures import cv, squared_variation  # noqa: E402
from lanes import one_in  # noqa: E402

LABELS = [
    name for name, each in eh.CRITERIA.items() if each.statistic.needs in ("labels", "predictions")
]


@pytest.fixture
def batch():
    """400 rows of three classes in five groups, of which one is absent."""
    generator = torch.Generator().manual_seed(3)
    chances = torch.randn((400, 3), generator=generator, dtype=torch.float64).softmax(1)
    y = torch.randint(0, 3, (400,), generator=generator)
    group = torch.randint(0, 5, (400,), generator=generator)
    return chances, y, torch.where(group == 3, 4, group)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", LABELS)
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "shortfall"])
def test_a_penalty_is_the_criterion_of_the_expected_counts(criterion, measure, batch):
    chances, y, group = batch
    penalty = Penalty(criterion, measure, groups=5, noise=None, aggregate="worst")
    counts = eh.tally(
        y.numpy(), chances.numpy(), classes=[0, 1, 2], sensitive_features=group.numpy()
    )
    favorable = 1 if eh.CRITERIA[criterion].one_class else None
    known = eh.CRITERIA[criterion](counts, measure=measure, aggregate="worst", favorable=favorable)
    assert float(penalty(chances, y, group=group)) == pytest.approx(known, abs=1e-12)


def test_weights_count_as_repeated_rows(batch):
    chances, y, group = batch
    times = torch.arange(400) % 3 + 1
    penalty = Penalty("equalized_odds", "gini", groups=5, noise=None)
    weighted = penalty(chances, y, group=group, sample_weight=times.double())
    rows = torch.arange(400).repeat_interleave(times)
    assert float(weighted) == pytest.approx(
        float(penalty(chances[rows], y[rows], group=group[rows]))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "measure", "noise"),
    one_in(
        3,
        ["statistical_parity", "equalized_odds", "accuracy_parity"],
        ["mpd", "gini", "pq", "cv", "cv²", "shortfall"],
        [None, "subtract"],
    ),
)
def test_gradients_are_those_of_finite_differences(criterion, measure, noise, batch):
    if noise == "subtract" and measure in ("mpd", "gini", "shortfall"):
        with pytest.raises(eh.InputError, match="noise='memory'"):
            Penalty(criterion, measure, groups=5, noise=noise)
        return
    chances, y, group = (part[:60] for part in batch)
    penalty = Penalty(criterion, measure, groups=5, noise=noise)
    assert torch.autograd.gradcheck(
        lambda values: penalty(values, y, group=group),
        chances.clone().requires_grad_(),
        eps=1e-6,
        atol=1e-5,
    )


@pytest.mark.parametrize("criterion", ["weak_parity", "strong_parity", "wasserstein_parity"])
def test_numbers_have_penalties_with_gradients(criterion):
    generator = torch.Generator().manual_seed(0)
    group = torch.arange(300) % 3
    alike = torch.randn(300, generator=generator, dtype=torch.float64)
    apart = (alike + group).requires_grad_()
    penalty = Penalty(criterion, "mpd", groups=3, noise=None)
    value = penalty(apart, group=group)
    assert value.item() > 2 * float(penalty(alike, group=group))
    value.backward()
    assert apart.grad[group == 0].sum() < 0 < apart.grad[group == 2].sum()


def test_the_mean_of_numbers_is_that_of_the_criterion():
    rng = np.random.default_rng(0)
    values, group = rng.normal(3, 1, 200), rng.integers(0, 4, 200)
    known = eh.CRITERIA["weak_parity"](None, values, sensitive_features=group, measure="mpd")
    penalty = Penalty("weak_parity", "mpd", groups=4, noise=None)
    found = penalty(torch.as_tensor(values), group=torch.as_tensor(group))
    assert float(found) == pytest.approx(known, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "criterion", one_in(2, ["statistical_parity", "equal_opportunity", "weak_parity"])
)
def test_a_fair_model_is_not_charged_for_noise(criterion):
    generator = torch.Generator().manual_seed(0)
    charged = {}
    for noise in (None, "subtract", "memory"):
        penalty, values = Penalty(criterion, "pq", groups=50, noise=noise), []
        for _ in range(400):
            group = torch.randint(0, 50, (512,), generator=generator)
            chances = torch.rand(512, generator=generator) ** 2
            y = (torch.rand(512, generator=generator) < chances).long()
            values.append(float(penalty(chances, y, group=group)))
        charged[noise] = float(np.mean(values[100:]))
    assert charged[None] > 0.015
    assert abs(charged["subtract"]) < 0.002
    assert abs(charged["memory"]) < charged[None] / 8


@pytest.mark.slow
def test_the_squared_variation_less_noise_is_that_of_the_true_rates():
    generator = torch.Generator().manual_seed(1)
    true = torch.linspace(0.2, 0.5, 20, dtype=torch.float64)
    penalty = Penalty("statistical_parity", "cv²", groups=20, noise="subtract")
    group = torch.arange(200) % 20
    found = []
    for _ in range(800):
        drawn = (torch.rand(200, generator=generator, dtype=torch.float64) < true[group]).double()
        found.append(float(penalty(drawn, group=group)))
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(float(squared_variation(true)), abs=4 * error + 0.002)
    assert float(cv(true)) == pytest.approx(float(squared_variation(true)) ** 0.5)


def test_memory_adds_past_batches_and_keeps_the_size_of_the_gradient(batch):
    chances, y, group = batch
    remembering = Penalty("statistical_parity", "mpd", groups=5, noise="memory", memory=0.5)
    plain = Penalty("statistical_parity", "mpd", groups=5, noise=None)
    gradients = []
    for penalty in (plain, remembering):
        for _ in range(3):
            shares = chances.clone().requires_grad_()
            value = penalty(shares, y, group=group)
        value.backward()
        gradients.append(shares.grad)
    assert value.item() == pytest.approx(float(plain(chances, y, group=group)))
    torch.testing.assert_close(*gradients)
    before = remembering.cells.clone()
    remembering.eval()(chances, y, group=group)
    torch.testing.assert_close(before, remembering.cells)
    resumed = Penalty("statistical_parity", "mpd", groups=5, noise="memory", memory=0.5)
    resumed.load_state_dict(remembering.state_dict())
    torch.testing.assert_close(before, resumed.cells)
    assert resumed.steps == remembering.steps == 3


def test_memory_keeps_little_of_the_first_batches_when_a_model_changes_fast(batch):
    chances, y, group = batch
    penalty = Penalty("statistical_parity", "mpd", groups=5, noise="memory", memory=0.3)
    kept, past = [], 0.0
    for _ in range(6):
        penalty(chances, y, group=group)
        rows = float(penalty.cells[:, -1].sum())
        kept.append(rows / (len(group) + past))
        past = rows
    assert kept == pytest.approx([1 / 10, 2 / 11, 3 / 12, 0.3, 0.3, 0.3])


def test_groups_that_cannot_be_compared_cost_nothing():
    penalty = Penalty("statistical_parity", "pq", groups=3, noise="subtract")
    chances = torch.tensor([0.2, 0.9, 0.4], requires_grad=True)
    value = penalty(chances, group=torch.tensor([0, 1, 2]))  # a row each
    assert float(value.detach()) == 0
    value.backward()
    assert torch.isfinite(chances.grad).all()
    assert float(penalty(chances, group=torch.tensor([0, 0, -1])).detach()) == 0


def test_decisions_can_be_counted_instead_of_probabilities():
    chances = torch.tensor([0.6, 0.6, 0.4, 0.4], dtype=torch.float64, requires_grad=True)
    group = torch.tensor([0, 0, 1, 1])
    common = {"groups": 2, "noise": None}
    soft = Penalty("statistical_parity", "mpd", **common)(chances, group=group)
    sharp = Penalty("statistical_parity", "mpd", **common, temperature=0.1)(chances, group=group)
    hard = Penalty("statistical_parity", "mpd", **common, hard=True)(chances, group=group)
    assert soft.item() == pytest.approx(0.2)
    assert 0.9 < sharp.item() < 1
    assert hard.item() == pytest.approx(1.0)
    hard.backward()
    assert (chances.grad != 0).all()


@pytest.mark.long
def test_a_bound_raises_its_price_until_it_is_met():
    bound = Constraint("statistical_parity", "mpd", epsilon=0.1, groups=2, noise=None)
    apart, group = torch.tensor([0.8, 0.2]), torch.tensor([0, 1])
    prices = []
    for _ in range(3):
        bound(apart, group=group)
        bound.update()
        prices.append(float(bound.multiplier))
    assert prices == pytest.approx([5.0, 10.0, 15.0])
    bound = Constraint("statistical_parity", "mpd", epsilon=0.1, groups=2, noise=None, rate=1.0)
    logit = torch.tensor([2.0, -2.0], requires_grad=True)
    optimizer = torch.optim.SGD([logit], lr=1.0)
    for step in range(1500):
        optimizer.zero_grad()
        chances = logit.sigmoid()
        loss = ((chances - torch.tensor([0.9, 0.1])) ** 2).sum() + bound(chances, group=group)
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            bound.update()
    assert float((logit.sigmoid()[0] - logit.sigmoid()[1]).detach()) == pytest.approx(0.1, abs=0.01)


def test_counts_on_a_device_are_those_of_the_rows(batch):
    chances, y, group = batch
    counts = DeviceTally(classes=["a", "b", "c"], groups=5)
    for rows in torch.arange(400).split(64):
        counts.update(chances[rows], y[rows], group[rows])
    names = np.array(["a", "b", "c"])
    known = eh.tally(
        names[y.numpy()], names[chances.argmax(1).numpy()], sensitive_features=group.numpy()
    )
    for criterion in ("accuracy_parity", "equalized_odds"):
        assert eh.CRITERIA[criterion](counts.tally(), measure="gini") == eh.CRITERIA[criterion](
            known, measure="gini"
        )
    counts.update(torch.tensor([7]), torch.tensor([0]), torch.tensor([0]))
    with pytest.raises(eh.InputError, match="1 rows are beyond the 3 classes"):
        counts.tally()
    counts.reset()
    with pytest.raises(eh.InputError, match="Nothing was counted"):
        counts.tally()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("groups", [3, 5000])  # in a block's own memory, and beyond it
def test_a_gpu_counts_as_the_host_does(groups):
    generator = torch.Generator().manual_seed(0)
    y, decided = (torch.randint(-1, 4, (99_999,), generator=generator) for _ in range(2))
    group = torch.randint(-1, groups + 1, (99_999,), generator=generator)
    known = cell_counts(y, decided, group, 3, groups)
    found = cell_counts(*(each.cuda() for each in (y, decided, group)), 3, groups)
    assert torch.equal(known, found.cpu())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "statistical_party"}, "Did you mean 'statistical_parity'"),
        ({"measure": "ginni"}, "Did you mean 'gini'"),
        ({"noise": "subtracted"}, "Did you mean 'subtract'"),
        ({"groups": 1}, "at least two"),
        ({"memory": 1.0}, "from 0 to below 1"),
        ({"criterion": "strong_parity", "noise": "subtract"}, "use noise='memory'"),
        ({"aggregate": "max"}, "neither 'mean' nor 'worst'"),
    ],
)
def test_what_a_penalty_cannot_do_is_refused(options, words):
    with pytest.raises(eh.InputError, match=words):
        Penalty(**{"groups": 3} | options)


def test_criteria_of_the_truth_ask_for_it():
    penalty = Penalty("equal_opportunity", groups=2)
    with pytest.raises(eh.InputError, match="pass y_true"):
        penalty(torch.tensor([0.1, 0.2]), group=torch.tensor([0, 1]))


def test_a_soft_tally_prints_and_reads_like_a_tally(batch):
    chances, y, group = batch
    counts = soft_tally(chances, y, group, groups=5)
    assert counts.labels("yhat") == (0, 1, 2)
    assert counts.table("group", of="rows").tolist() == np.bincount(group, minlength=5).tolist()


@pytest.mark.parametrize("penalize", [Penalty, partial(Constraint, epsilon=0.1)], ids=["p", "c"])
def test_a_measure_is_read_in_the_criterions_name(penalize):
    named, apart = (
        penalize(*asked, groups=2, noise=None)
        for asked in (["demographic_parity.gini"], ["statistical_parity", "gini"])
    )
    chances, group = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([0, 0, 1, 1])
    truth = torch.tensor([1, 0, 1, 0])
    assert torch.equal(named(chances, truth, group=group), apart(chances, truth, group=group))
