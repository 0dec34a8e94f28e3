"""Equal opportunity and equalized odds with many groups: what each way with noise gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

BATCH, EPOCHS = 1024, 4
NOISES: dict[str, Any] = {"plain": None, "subtract": "subtract", "memory": "memory"}
STRENGTHS: dict[str, tuple[float, ...]] = {
    "pq": (0.5, 1, 2, 4, 8, 16, 32),
    "mpd": (0.03, 0.1, 0.3, 1, 3),
}
BOUNDS = (0.01, 0.02)  # of PQ
EXTRA_LOSSES = (0.002, 0.005, 0.01)


def settings(criterion: str, groups: int, steps: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every penalty and bound, with its line of results."""
    from evenhand.torch import Constraint, Penalty

    yield {"term": "none", "strength": 0.0}, None
    memory = min(0.99, 1 - 1 / steps)
    for name, noise in NOISES.items():
        common: dict[str, Any] = {"groups": groups, "noise": noise, "memory": memory}
        for measure, strengths in STRENGTHS.items():
            if noise == "subtract" and measure == "mpd":
                continue  # of which no estimate is unbiased
            for temperature in (None, 0.3):
                for strength in strengths:
                    line = {"term": "penalty", "noise": name, "measure": measure}
                    line |= {"temperature": temperature, "strength": strength}
                    yield line, Penalty(criterion, measure, temperature=temperature, **common)
        for epsilon in BOUNDS:
            line = {"term": "bound", "noise": name, "measure": "pq", "strength": 1.0}
            bound = Constraint(criterion, "pq", epsilon=epsilon, rate=100.0, **common)
            yield line | {"epsilon": epsilon, "temperature": None}, bound


def run(file: Path, seeds: Iterable[int], criteria: list[str]) -> None:
    """A line for every criterion, seed, term and strength."""
    from training import DEVICE, Task, fit, outputs_of

    task = Task(file)
    for seed in seeds:
        train, test = task.split(seed)
        for criterion in criteria:
            for line, term in settings(criterion, task.groups, len(train) // BATCH):
                network = task.network(seed)
                call, every = None, None
                if term is not None:
                    term.to(DEVICE)
                    every = getattr(term, "update", None)
                    call = lambda shares, y, group, term=term: term(shares, y, group=group)  # noqa: E731
                fit(task, network, call, line["strength"], train, BATCH, EPOCHS, every)
                found = judge(task, criterion, outputs_of(task, network, test), test)
                key = {"criterion": criterion, "seed": seed}
                print(json.dumps(key | line | found), flush=True)


def judge(task: Any, criterion: str, shares: Any, rows: Any) -> dict[str, float]:
    """Accuracy on test rows, and the criterion of decisions; PQ also less its noise, and soft."""
    from evenhand import CRITERIA
    from evenhand.torch import DeviceTally, Penalty

    y, group = task.y[rows], task.group[rows]
    counts = DeviceTally(task.classes, task.groups)
    counts.update(shares, y, group)
    options = {"aggregate": "mean", "favorable": 1}
    found = {"accuracy": float((shares.argmax(1) == y).float().mean())}
    for measure in ("pq", "mpd"):
        found[measure] = float(CRITERIA[criterion](counts.tally(), measure=measure, **options))
    for name, hard, noise in (
        ("pq less noise", True, "subtract"),
        ("soft pq", False, None),
        ("soft pq less noise", False, "subtract"),
    ):
        term = Penalty(criterion, "pq", groups=task.groups, noise=noise, hard=hard).double()
        found[name] = float(term(shares.double(), y, group=group))
    return found


def table(files: list[Path]) -> None:
    """Means over seeds by strength; the least that a loss of accuracy buys; whether bounds hold."""
    import pandas as pd
    from trade import least

    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    rows = pd.DataFrame(lines).fillna({"noise": "", "temperature": 1.0, "measure": ""})
    values = ["accuracy", "pq", "pq less noise", "soft pq", "soft pq less noise", "mpd"]
    for criterion, part in rows.groupby("criterion"):
        print(f"\n{criterion}: {part['seed'].nunique()} seeds")
        penalties = part[part["term"] != "bound"]
        keys = ["measure", "temperature", "noise", "strength"]
        print(penalties.groupby(keys)[values].mean().round(4).to_string())
        keys = ["epsilon", "noise"]
        found = part[part["term"] == "bound"].groupby(keys)[values].agg(["mean", "max"])
        print(found.round(4).to_string())
        best: list[dict[str, Any]] = []
        for (measure, temperature, noise, seed), curve in penalties[
            penalties["term"] == "penalty"
        ].groupby(["measure", "temperature", "noise", "seed"]):
            none = part[(part["term"] == "none") & (part["seed"] == seed)].iloc[0]
            curve = pd.concat([none.to_frame().T, curve.sort_values("strength")])
            extra = (none["accuracy"] - curve["accuracy"]).to_numpy(float)
            key = {"measure": measure, "temperature": temperature, "noise": noise, "seed": seed}
            for value in ("pq", "pq less noise", "mpd"):
                reached = [
                    least(extra, curve[value].to_numpy(float), most) for most in EXTRA_LOSSES
                ]
                best += [
                    key | {"judged by": value, "extra": most, "least": each}
                    for most, each in zip(EXTRA_LOSSES, reached, strict=True)
                ]
        keys = ["judged by", "measure", "temperature", "extra"]
        means = pd.DataFrame(best).groupby([*keys, "noise"])["least"].agg(["mean", "sem"])
        print(means.unstack().round(4).to_string())
