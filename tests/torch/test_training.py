"""Estimators that train with a penalty, processes that share one, and life without PyTorch."""

import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from sklearn.base import clone  # noqa: E402

import evenhand as eh  # noqa: E402
from evenhand.torch import PenalizedClassifier, PenalizedRegressor, Penalty  # noqa: E402

CHEAP = {"max_epochs": 3, "hidden": (), "device": "cpu", "random_state": 0, "progress": False}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 3000)
    skill = rng.normal(sex == "M", 1)
    X = pd.DataFrame({"skill": skill, "other": rng.normal(size=3000), "sex": sex})
    return X, (skill + X.other > 0.5).astype(int).to_numpy()


def gap(chosen, sex):
    return abs(chosen[sex == "F"].mean() - chosen[sex == "M"].mean())


@pytest.mark.slow
def test_a_penalty_and_a_bound_make_decisions_more_even(people):
    X, y = people
    common = {"group": "sex", "sees_group": False, "random_state": 0, "device": "cpu"}
    common |= {"hidden": (16,), "max_epochs": 12}
    plain = PenalizedClassifier(**common, strength=0.0).fit(X, y)
    fair = PenalizedClassifier(**common, strength=20.0, measure="pq", noise="subtract").fit(X, y)
    bound = PenalizedClassifier(**common, bound=0.05, measure="mpd", temperature=0.5).fit(X, y)
    gaps = [gap(model.predict(X), X.sex) for model in (plain, fair, bound)]
    assert gaps[1] < 0.6 * gaps[0]
    assert gaps[2] < 0.6 * gaps[0]
    assert (plain.predict(X) == y).mean() > 0.9


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model_and_the_group_is_read_at_fit_alone(people):
    X, y = people
    model = PenalizedClassifier(group="sex", sees_group=False, **CHEAP)
    first, second = (clone(model).fit(X, y).predict_proba(X[:50]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X[:50].drop(columns="sex")), first)


def test_rows_may_come_in_parts(people):
    X, y = people
    model = PenalizedClassifier(group="sex", sees_group=False, **CHEAP)
    for start in range(0, 3000, 1000):
        model.partial_fit(X[start : start + 1000], y[start : start + 1000], classes=[0, 1])
    assert len(model.history_) == 3
    assert model.predict(X).shape == (3000,)


@pytest.mark.slow
def test_numbers_are_made_more_even(people):
    X, _ = people
    y = (X.skill + X.other).to_numpy()
    common = {"group": "sex", "sees_group": False, "random_state": 0, "device": "cpu"}
    common |= {"hidden": (16,), "max_epochs": 12}
    plain = PenalizedRegressor(**common, strength=0.0).fit(X, y).predict(X)
    for criterion in ("weak_parity", "wasserstein_parity"):
        fair = PenalizedRegressor(**common, criterion=criterion, strength=3.0).fit(X, y).predict(X)
        assert gap(fair, X.sex) < 0.7 * gap(plain, X.sex)


def test_what_is_no_network_or_number_is_refused(people):
    X, y = people
    with pytest.raises(eh.InputError, match=r"it is a torch\.nn\.Module"):
        PenalizedClassifier("logistic", group="sex", sees_group=False, **CHEAP).fit(X, y)
    with pytest.raises(eh.InputError, match="write 'sex', 'city' in numbers"):
        PenalizedClassifier(group="sex", **CHEAP).fit(X.assign(city="x"), y)
    with pytest.raises(eh.InputError, match="cannot meet the criterion"):
        PenalizedClassifier(group="sex", criterion="weak_parity", **CHEAP).fit(X, y)
    own = torch.nn.Linear(2, 2)
    fitted = PenalizedClassifier(own, group="sex", sees_group=False, **CHEAP).fit(X, y)
    assert fitted.network_ is not own


SHARED = """
import sys, torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from evenhand.torch import Penalty

rank, size, file, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
if size > 1:
    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
generator = torch.Generator().manual_seed(0)
X = torch.randn(64, 3, generator=generator, dtype=torch.float64)
group = torch.randint(0, 4, (64,), generator=generator)
y = torch.randint(0, 2, (64,), generator=generator)
torch.manual_seed(1)
model = torch.nn.Linear(3, 1).double()
shared = DistributedDataParallel(model) if size > 1 else model
part = slice(rank * 64 // size, (rank + 1) * 64 // size)
for noise in (None, "subtract", "memory"):
    penalty = Penalty("equalized_odds", "pq", groups=4, noise=noise).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        chances = shared(X[part])[:, 0].sigmoid()
        loss = torch.nn.functional.binary_cross_entropy(chances, y[part].double())
        (loss + penalty(chances, y[part], group=group[part])).backward()
        optimizer.step()
if rank == 0:
    torch.save([p.detach() for p in model.parameters()], out)
"""


@pytest.mark.long
def test_two_processes_learn_what_one_learns(tmp_path):
    for size in (1, 2):
        out, file = tmp_path / f"{size}.pt", tmp_path / f"shared{size}"
        started = [
            subprocess.Popen(
                [sys.executable, "-c", SHARED, str(rank), str(size), str(file), str(out)],
                stderr=subprocess.PIPE,
            )
            for rank in range(size)
        ]
        for process in started:
            _, failure = process.communicate(timeout=120)
            assert process.returncode == 0, failure.decode()[-2000:]
    one, two = (torch.load(tmp_path / f"{size}.pt") for size in (1, 2))
    for first, second in zip(one, two, strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_without_torch_nothing_changes_but_this_folder():
    code = """
import sys
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else known(name, *rest)
import evenhand._errors
evenhand._errors.find_spec = importlib.util.find_spec
import evenhand
assert "torch" not in sys.modules
try:
    import evenhand.torch
except evenhand.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "evenhand[torch]"' in done.stdout


def test_gradients_may_be_added_up_over_batches():
    penalty = Penalty("statistical_parity", "pq", groups=2, noise="memory")
    chances = torch.tensor([0.9, 0.8, 0.1, 0.3], requires_grad=True)
    group = torch.tensor([0, 0, 1, 1])
    for _ in range(2):
        penalty(chances, group=group).backward()
    assert torch.isfinite(chances.grad).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.isfinite(penalty(chances, group=group))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler itself
@pytest.mark.parametrize(
    ("criterion", "noise", "backend"),
    [
        ("statistical_parity", "memory", "inductor"),
        pytest.param("statistical_parity", None, "aot_eager", marks=pytest.mark.long),
        pytest.param("equalized_odds", "subtract", "aot_eager", marks=pytest.mark.long),
        ("equalized_odds", "memory", "aot_eager"),
    ],
)
def test_a_compiled_step_is_the_same_step(criterion, noise, backend):
    if backend == "inductor" and not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("there is no C++ compiler")
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(0, 4, (256,), generator=generator)
    y = torch.randint(0, 3, (256,), generator=generator)
    start = torch.randn(256, 3, generator=generator)
    steps = []
    for compiled in (False, True):
        penalty = Penalty(criterion, "pq", groups=4, noise=noise)

        def step(logits, penalty=penalty):
            return penalty(logits.softmax(1), y, group=group)

        run = torch.compile(step, backend=backend, fullgraph=True) if compiled else step
        for _ in range(2):  # the second remembers the first
            logits = start.clone().requires_grad_()
            value = run(logits)
            value.backward()
        steps.append((value.detach(), logits.grad))
    for plain, other in zip(*steps, strict=True):
        torch.testing.assert_close(plain, other, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler itself
@pytest.mark.parametrize("criterion", ["weak_parity", "strong_parity", "wasserstein_parity"])
def test_a_compiled_step_of_numbers_is_one_graph_although_rows_are_left_out(criterion):
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(-1, 4, (256,), generator=generator)
    values = torch.randn(256, generator=generator) + 5
    penalty = Penalty(criterion, "mpd", groups=4, noise=None)
    compiled = torch.compile(penalty, backend="eager", fullgraph=True)
    kept = group >= 0
    torch.testing.assert_close(
        compiled(values, group=group), penalty(values[kept], group=group[kept]), rtol=1e-5, atol=0
    )
