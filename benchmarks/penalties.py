"""What a penalty costs a training step, and what it buys: on a GPU, or on the CPU with less.

python benchmarks/penalties.py speed              a step with and without, an epoch, counting
python benchmarks/penalties.py trade DATA.npz     accuracy against inequality of decisions
python benchmarks/penalties.py beside > LINES     Adult and Law School, beside post-processing
python benchmarks/penalties.py picture LINES PNG  the same as a table and a picture

DATA.npz has X (numbers, int codes), y and group; `python benchmarks/penalties.py data FILE.parquet
DATA.npz` makes it of ACS income: sex × race × age, 50 groups. "norm" and "kl" are the penalties of
fairret (Buyl, Defrance and De Bie 2024) from its paper: the norm of the groups' deviations from the
overall rate, over it; and the divergence of the groups' rates from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import torch
from evenhand import pq as pq_index
from evenhand.measures import gini, mpd
from evenhand.torch import DeviceTally, Penalty
from torch import Tensor, nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GROUPS = 50


class Network(nn.Module):
    """Embeddings of codes beside numbers, and two layers."""

    def __init__(self, sizes: list[int], numbers: int, classes: int, width: int = 256) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 16) for size in sizes)
        inputs = 16 * len(sizes) + numbers
        self.layers = nn.Sequential(
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, classes),
        )

    def forward(self, codes: Tensor, numbers: Tensor) -> Tensor:
        parts = [table(codes[:, at]) for at, table in enumerate(self.tables)]
        return self.layers(torch.cat([*parts, numbers], dim=1))


def norm(chances: Tensor, group: Tensor) -> Tensor:
    """Of the groups' rates less the overall one, over it."""
    rates, seen = group_rates(chances, group)
    overall = chances.mean()
    return torch.where(seen, (rates - overall).abs() / overall, 0.0).sum()


def divergence(chances: Tensor, group: Tensor) -> Tensor:
    """Between a group's rate and the overall one, as Bernoulli variables."""
    rates, seen = group_rates(chances, group)
    overall = chances.mean().detach()
    rates = rates.clamp(1e-6, 1 - 1e-6)
    parts = rates * (rates / overall).log() + (1 - rates) * ((1 - rates) / (1 - overall)).log()
    return torch.where(seen, parts, 0.0).sum()


def hsic(chances: Tensor, group: Tensor) -> Tensor:
    """Squared covariance of predictions and groups: HSIC with linear kernels."""
    ones = torch.nn.functional.one_hot(group, GROUPS).to(chances.dtype)
    covariance = ((chances - chances.mean())[:, None] * (ones - ones.mean(0))).mean(0)
    return GROUPS * (covariance**2).sum()


def group_rates(chances: Tensor, group: Tensor) -> tuple[Tensor, Tensor]:
    total = torch.zeros(GROUPS, device=chances.device).index_add(0, group, chances)
    rows = torch.zeros(GROUPS, device=chances.device).index_add(0, group, torch.ones_like(chances))
    return torch.where(rows > 0, total / rows.clamp_min(1), 0.0), rows > 0


def wrapped(penalty: Penalty) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda chances, group: penalty(chances, group=group)


def penalties() -> dict[str, Callable[[], Callable[[Tensor, Tensor], Tensor]]]:
    def ours(**options: Any) -> Callable[[], Any]:
        return lambda: wrapped(
            Penalty("statistical_parity", "pq", groups=GROUPS, **options).to(DEVICE)
        )

    return {
        "plain": ours(noise=None),
        "subtract": ours(noise="subtract"),
        "memory": ours(noise="memory"),
        "memory, sharp": ours(noise="memory", temperature=0.3),
        "subtract, sharp": ours(noise="subtract", temperature=0.3),
        "norm": lambda: norm,
        "kl": lambda: divergence,
        "hsic": lambda: hsic,
    }


STRENGTHS = {
    "plain": (0.5, 2, 8),
    "subtract": (0.5, 2, 8),
    "memory": (0.5, 2, 8),
    "memory, sharp": (0.5, 2, 8),
    "subtract, sharp": (0.5, 2, 8),
    "norm": (0.003, 0.01, 0.03),
    "kl": (0.03, 0.1, 0.3),
    "hsic": (10, 100, 1000),
}


def trade(file: Path, seeds: int, epochs: int, sizes: list[int]) -> None:
    """Accuracy, and inequality of decisions on test rows, of every penalty and strength."""
    data = np.load(file)
    codes, numbers, y, group = (
        torch.as_tensor(data[name]).to(DEVICE) for name in ("codes", "numbers", "y", "group")
    )
    limits = [int(each) + 1 for each in codes.max(0).values.tolist()]
    for seed in range(seeds):
        torch.manual_seed(seed)
        order = torch.randperm(len(y)).to(DEVICE)
        test, train = order[: len(y) // 4], order[len(y) // 4 :]
        for size in sizes:
            asked = [("none", 0.0), *((name, s) for name in penalties() for s in STRENGTHS[name])]
            for name, strength in asked:
                torch.manual_seed(1000 + seed)
                network = Network(limits, numbers.shape[1], 1).to(DEVICE)
                term = None if name == "none" else penalties()[name]()
                fitted(network, term, strength, (codes, numbers, y, group), train, size, epochs)
                found = judged(network, (codes, numbers, y, group), test)
                line = {"seed": seed, "batch": size, "penalty": name, "strength": strength}
                print(json.dumps(line | found), flush=True)


def fitted(
    network: Any, term: Any, strength: float, data: Any, train: Tensor, size: int, epochs: int
) -> None:
    codes, numbers, y, group = data
    rate = 1e-3 * (size / 512) ** 0.5
    graph = DEVICE == "cuda"
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, fused=graph, capturable=graph)
    rows = train[:size].clone()

    def loss() -> Tensor:
        logits = network(codes[rows], numbers[rows])[:, 0]
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y[rows].float())
        return loss if term is None else loss + strength * term(logits.sigmoid(), group[rows])

    run = recorded(loss, optimizer)
    for _ in range(epochs):
        for chosen in train[torch.randperm(len(train), device=DEVICE)].split(size)[:-1]:
            rows.copy_(chosen)
            run()


def recorded(loss: Callable[[], Tensor], optimizer: Any) -> Callable[[], Any]:
    """A training step; on a GPU as a graph, which is launched at once."""

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    if DEVICE != "cuda":
        return step
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def judged(network: Any, data: Any, test: Tensor) -> dict[str, float]:
    codes, numbers, y, group = data
    with torch.no_grad():
        parts = [
            network(codes[rows], numbers[rows])[:, 0].sigmoid() for rows in test.split(1 << 16)
        ]
    chances = torch.cat(parts)
    decided = (chances >= 0.5).float()
    hard, soft = (
        group_rates(each, group[test])[0].double().cpu().numpy() for each in (decided, chances)
    )
    accuracy = float((decided == y[test]).float().mean())
    return {
        "accuracy": accuracy,
        "pq": float(pq_index(hard)),
        "gini": float(gini(hard)),
        "mpd": float(mpd(hard)),
        "soft_pq": float(pq_index(soft)),
    }


def made(table: Path, out: Path) -> None:
    """ACS income as codes and numbers, with sex × race × age as the group that is not seen."""
    import pandas as pd

    rows = pd.read_parquet(table).dropna(subset=["PINCP_gt_50K"])
    rows = rows.sample(640_000, random_state=0)
    codes = np.column_stack(
        [pd.factorize(rows[name])[0] for name in ("COW", "SCHL", "MAR_2", "OCCP", "POBP", "RELP")]
    )
    numbers = rows[["AGEP", "WKHP"]].to_numpy(np.float32)
    numbers = (numbers - numbers.mean(0)) / numbers.std(0)
    age = pd.qcut(rows["AGEP"], 5, labels=False)
    group = pd.factorize(rows["SEX"])[0] * 25 + pd.factorize(rows["RAC1P_5"])[0] * 5 + age
    np.savez_compressed(
        out,
        codes=codes.astype(np.int64) + 1,
        numbers=numbers,
        y=rows["PINCP_gt_50K"].to_numpy(np.int64),
        group=group.to_numpy(np.int64),
    )
    print(len(rows), group.nunique(), np.bincount(group).min())


SMALL = {"hidden": (32,), "max_epochs": 8, "patience": None, "progress": False, "device": "cpu"}
WAYS: dict[str, dict[str, Any]] = {
    "plain": {"noise": None},
    "noise subtracted": {"noise": "subtract"},
    "memory": {"noise": "memory"},
    "memory, sharp": {"noise": "memory", "temperature": 0.3},
}


def beside(seeds: int) -> None:
    """Small networks on Adult (sex × race) and Law School (race): penalties and post-processing.

    Post-processing adjusts the network without a penalty: with the group when it decides, or
    without, by a model of the group.
    """
    for seed in range(seeds):
        for name, rows in (("adult", adult_decisions), ("law_school", law_school_grades)):
            for method, setting, found in rows(seed):
                line = {"data": name, "seed": seed, "method": method, "setting": setting}
                print(json.dumps(line | found), flush=True)


def halves(task: str, names: list[str], seed: int) -> tuple[Any, Any, Any, Any]:
    """Training and test rows: numbers, 0/1 columns, and the group in a column of its own."""
    import pandas as pd

    from evenhand.datasets import load

    data = load(task)
    group = data.X[names[0]].astype(str)
    for more in names[1:]:
        group = group + " " + data.X[more].astype(str)
    X = pd.get_dummies(data.X.drop(columns=names), dtype=float)
    X["group"] = group.to_numpy()
    y = data.y.to_numpy()
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 4], order[len(y) // 4 :]
    return X.iloc[train], y[train], X.iloc[test], y[test]


def adult_decisions(seed: int) -> Iterator[tuple[str, float, dict[str, float]]]:
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    from evenhand.mitigation import PenalizedClassifier, RateConstrainedClassifier

    X, y, X_test, y_test = halves("adult_multigroup", ["sex", "race"], seed)
    y, y_test = (np.unique(each, return_inverse=True)[1] for each in (y, y_test))
    common = {"group": "group", "sees_group": False, "random_state": seed, **SMALL}

    def found(model: Any, by_lot: bool = False) -> dict[str, float]:
        chosen = model.predict_proba(X_test)[:, 1] if by_lot else model.predict(X_test)
        rates = X_test.assign(chosen=chosen).groupby("group")["chosen"].mean().to_numpy()
        right = float(np.where(y_test == 1, chosen, 1 - chosen).mean())
        measures = {"pq": pq_index, "gini": gini, "mpd": mpd}
        return {"accuracy": right} | {name: float(m(rates)) for name, m in measures.items()}

    base = PenalizedClassifier(**common, strength=0.0).fit(X, y)
    yield "none", 0.0, found(base)
    for name, options in WAYS.items():
        for strength in (0.3, 1.0, 3.0, 10.0):
            model = PenalizedClassifier(**common, strength=strength, **options)
            yield name, strength, found(model.fit(X, y))
    for name, group_model in (
        ("with the group", None),
        ("blind", LogisticRegression(max_iter=300)),
    ):
        post = RateConstrainedClassifier(
            FrozenEstimator(base), group="group", sees_group=False, prefit=True, measure="pq",
            group_estimator=group_model, tolerance=1e-4, random_state=seed,
        )  # fmt: skip
        grid = (0.0, 0.01, 0.03, 0.06, 0.1)
        for epsilon, model in zip(grid, post.fit_path(X, y, grid), strict=True):
            yield f"post, {name}", epsilon, found(model, by_lot=True)


def law_school_grades(seed: int) -> Iterator[tuple[str, float, dict[str, float]]]:
    from sklearn.frozen import FrozenEstimator

    from evenhand import CRITERIA, distribution
    from evenhand.mitigation import BarycenterRegressor, PenalizedRegressor

    X, y, X_test, y_test = halves("law_school", ["race"], seed)
    common = {"group": "group", "sees_group": False, "random_state": seed, **SMALL}

    def found(model: Any) -> dict[str, float]:
        values = model.predict(X_test)
        error = float(np.sqrt(np.mean((values - y_test) ** 2)))
        source = distribution(values, sensitive_features=X_test["group"])
        means = X_test.assign(value=values).groupby("group")["value"].mean()
        strong = float(CRITERIA["strong_parity"](source, "mpd"))
        return {"error": error, "mpd": float(np.ptp(means.to_numpy())), "strong": strong}

    base = PenalizedRegressor(**common, strength=0.0).fit(X, y)
    yield "none", 0.0, found(base)
    for criterion in ("weak_parity", "wasserstein_parity"):
        for strength in (0.3, 1.0, 3.0, 10.0):
            model = PenalizedRegressor(**common, criterion=criterion, strength=strength)
            yield criterion, strength, found(model.fit(X, y))
    for fraction in (0.25, 0.5, 0.75, 1.0):
        post = BarycenterRegressor(
            FrozenEstimator(base), group="group", sees_group=False, prefit=True, fraction=fraction
        )
        yield "post, with the group", fraction, found(post.fit(X, y))


PANELS: dict[str, Any] = {
    "adult": (
        "accuracy",
        "pq",
        "Adult: income by sex × race",
        "Accuracy (more is better)",
        "PQ of decisions (less is better)",
        (0.80, 0.86),
        0.3,
    ),
    "law_school": (
        "error",
        "strong",
        "Law School: grades by race",
        "Error, RMSE (less is better)",
        "Strong parity, largest difference (less is better)",
        (0.38, 0.43),
        0.45,
    ),
}
MARKS = {"none": "*", "post, with the group": "s", "post, blind": "D"}


def picture(lines: Path, out: Path) -> None:
    """Means over seeds of every method and setting: a table, and curves with a panel each."""
    import pandas as pd
    from matplotlib.figure import Figure

    rows = pd.DataFrame([json.loads(line) for line in lines.read_text().splitlines()])
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    for axes, (data, (across, up, title, below, left, shown, most)) in zip(
        figure.subplots(1, 2), PANELS.items(), strict=True
    ):
        mine = rows[rows["data"] == data].dropna(axis=1, how="all")
        by = mine.groupby(["method", "setting"], sort=False)
        values = [name for name in mine if name not in ("data", "seed", "method", "setting")]
        means, errors = by[values].mean(), by[values].sem()
        print(means.round(3).join(errors.round(3).add_suffix(" ±")).to_string())
        for method in dict.fromkeys(mine["method"]):
            curve = means.loc[method].sort_index()
            is_post = method.startswith("post")
            label = {"none": "no penalty"}.get(method, method.replace("_", " "))
            axes.plot(
                curve[across], curve[up], marker=MARKS.get(method, "o"), markersize=6,
                linestyle=":" if is_post else "-", linewidth=1.4, label=label,
            )  # fmt: skip
        axes.set(title=title, xlabel=below, ylabel=left)
        axes.set(xlim=shown, ylim=(0, most))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2
        )
    figure.savefig(out, dpi=110)


def speed() -> None:
    """Of a step and of counting; medians, as ratios to a step without a penalty."""
    torch.manual_seed(0)
    for size in (512, 8192):
        times = {name: step_time(size, noise) for name, noise in NOISES.items()}
        ratios = {name: round(each / times["none"], 3) for name, each in times.items()}
        print(json.dumps({"batch": size, "step_us": round(times["none"] * 1e6), **ratios}))
    rows = 200_000_000 if DEVICE == "cuda" else 2_000_000
    y, decided = (torch.randint(0, 5, (rows,), device=DEVICE) for _ in range(2))
    group = torch.randint(0, GROUPS, (rows,), device=DEVICE)
    counts = DeviceTally(classes=5, groups=GROUPS)
    counts.update(decided, y, group)
    known = torch.bincount((y * 5 + decided) * GROUPS + group, minlength=25 * GROUPS)
    assert torch.equal(counts._counts[:-2], known)
    seconds = timed(lambda: counts.update(decided, y, group), 5)
    read = timed(lambda: (y.sum(), decided.sum(), group.sum()), 5)
    found = {"counting_ms": 1e3 * seconds, "reading_ms": 1e3 * read, "ratio": seconds / read}
    print(json.dumps({"rows": rows, **found}))


NOISES: dict[str, Any] = {"none": ..., "plain": None, "subtract": "subtract", "memory": "memory"}


def step_time(size: int, noise: Any) -> float:
    network = Network([30, 30, 10, 500, 200, 20], 2, 5).to(DEVICE)
    graph = DEVICE == "cuda"
    optimizer = torch.optim.Adam(network.parameters(), fused=graph, capturable=graph)
    codes, numbers = (
        torch.randint(0, 10, (size, 6), device=DEVICE),
        torch.randn(size, 2, device=DEVICE),
    )
    y, group = (torch.randint(0, most, (size,), device=DEVICE) for most in (5, GROUPS))
    penalty: Any = None
    if noise is not ...:
        penalty = Penalty("statistical_parity", "pq", groups=GROUPS, noise=noise).to(DEVICE)

    def parts() -> Tensor:
        outputs = network(codes, numbers)
        loss = nn.functional.cross_entropy(outputs, y)
        return loss if penalty is None else loss + penalty(outputs.softmax(1), y, group=group)

    torch._dynamo.reset()
    compiled = torch.compile(parts) if graph else parts
    return timed(recorded(compiled, optimizer), 1000 if graph else 30)


def timed(run: Callable[[], Any], times: int) -> float:
    for _ in range(5):
        run()
    taken = []
    for _ in range(5):
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(max(times // 5, 1)):
            run()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        taken.append((time.perf_counter() - started) / max(times // 5, 1))
    return float(np.median(taken))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "trade", "beside", "picture", "data"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batches", type=int, nargs="+", default=[512, 8192])
    asked = parser.parse_args()
    if asked.what == "speed":
        speed()
    elif asked.what == "beside":
        beside(asked.seeds)
    elif asked.what == "picture":
        picture(*asked.files)
    elif asked.what == "data":
        made(*asked.files)
    else:
        trade(asked.files[0], asked.seeds, asked.epochs, asked.batches)
