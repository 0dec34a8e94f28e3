"""What penalties buy: loss on test rows against inequality, over strengths, batches and seeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OURS = ("subtract", "memory", "memory, sharp", "memory, wasserstein")
MEASURES = ("pq", "gini", "mpd")
EXTRA_LOSSES = (0.0025, 0.005, 0.01, 0.02)  # of accuracy; for numbers of the error, relative


def run(files: list[Path], seeds: int, batches: list[int], only: Callable[[str], bool]) -> None:
    """A line for every task, seed, batch, penalty and strength."""
    from peers import terms
    from training import DEVICE, Task, fit, judge, outputs_of

    for file in files:
        task = Task(file)
        for seed in range(seeds):
            train, test = task.split(seed)
            for size in batches:
                steps = len(train) // size
                epochs = max(4 if len(train) > 100_000 else 10, 300 // steps)
                every = terms(task.classes, task.groups, steps, DEVICE)
                asked = [("none", None, 0.0)]
                asked += [(name, made, s) for name, (made, each) in every.items() for s in each]
                for name, made, strength in asked:
                    if not only(name):
                        continue
                    network = task.network(seed)
                    fit(task, network, made and made(), strength, train, size, epochs)
                    line = {"task": file.stem, "seed": seed, "batch": size, "penalty": name}
                    found = judge(task, outputs_of(task, network, test), test)
                    print(json.dumps(line | {"strength": strength} | found), flush=True)


def curves(lines: Path) -> Any:
    """The least of each measure that a penalty reaches with at most so much more loss.

    Between strengths it is interpolated. A row for each task, batch, seed, penalty, extra loss and
    measure.
    """
    import pandas as pd

    rows = pd.DataFrame([json.loads(line) for line in lines.read_text().splitlines()])
    found: list[dict[str, Any]] = []
    for (task, batch, seed), part in rows.groupby(["task", "batch", "seed"]):
        none = part[part["penalty"] == "none"].iloc[0]
        scale = none["loss"] if task == "law_school" else 1.0
        for penalty in dict.fromkeys(part["penalty"]):
            if penalty == "none":
                continue
            curve = part[part["penalty"] == penalty].sort_values("strength")
            extra = np.r_[0.0, (curve["loss"] - none["loss"]) / scale]
            for measure in MEASURES:
                values = np.r_[none[measure], curve[measure]]
                key = {"task": task, "batch": batch, "seed": seed, "penalty": penalty}
                found += [
                    key | {"extra": most, "measure": measure, "value": least(extra, values, most)}
                    for most in EXTRA_LOSSES
                ]
    return pd.DataFrame(found)


def least(extra: Any, values: Any, most: float) -> float:
    """Of a curve through the points, where it costs no more than `most`."""
    share = np.linspace(0, 1, 51)[:, None]
    costs = (extra[:-1] + share * np.diff(extra)).ravel()
    reached = (values[:-1] + share * np.diff(values)).ravel()
    return float(reached[costs <= most].min())


def summary(lines: Path, picture: Path | None = None) -> None:
    """Means over seeds; in how many cells ours is least; and small batches beside large ones."""
    table = curves(lines)
    keys = ["task", "batch", "extra", "measure"]
    means = table.groupby([*keys, "penalty"])["value"].mean().unstack()
    print(means.xs("pq", level="measure").round(3).to_string())
    others = means[[name for name in means if name not in OURS]]
    for name in [name for name in means if name in OURS]:
        known = means[name].notna()
        wins = (means[name] < others.min(axis=1))[known]
        by_task = wins.groupby(level="task").mean().round(2).to_dict()
        print(
            f"{name}: least of all in {wins.sum()} of {len(wins)} cells ({wins.mean():.0%})",
            by_task,
        )
    each = table.pivot_table(
        index=["task", "extra", "measure", "penalty"], columns=["batch", "seed"]
    )
    small, large = each["value"][512], each["value"][8192]
    gap = (small - large).mean(axis=1)
    error = np.sqrt((small.var(axis=1) + large.var(axis=1)) / small.shape[1])
    near = (gap <= error).groupby(level=["task", "penalty"]).mean().unstack().round(2)
    print("batch 512 within one standard error of 8,192, or below, share of cells")
    print(near.to_string())
    if picture:
        draw(means.xs("pq", level="measure"), picture)


COLORS = {
    "memory": "#0072b2", "memory, sharp": "#56b4e9", "memory, wasserstein": "#56b4e9",
    "subtract": "#009e73", "plain": "#555555", "norm": "#d55e00", "kl": "#cc79a7",
    "hsic": "#e69f00",
}  # fmt: skip
TITLES = {
    "acs": "ACS income, 50 groups",
    "acs_five": "ACS income, five classes, five groups",
    "adult": "Adult, ten groups",
    "law_school": "Law School grades, four groups",
}


def draw(means: Any, out: Path) -> None:
    """PQ of decisions by what is lost, a panel for each task, with batches of 512."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    for axes, (task, title) in zip(figure.subplots(2, 2).flat, TITLES.items(), strict=True):
        for name, curve in means.loc[task, 512].items():
            if curve.notna().all():
                style = "o-" if name in OURS else "s:"
                axes.plot(
                    100 * curve.index, curve, style, markersize=4, color=COLORS[name], label=name
                )
        lost = "error, relative" if task == "law_school" else "accuracy"
        judged = "PQ, strong parity" if task == "law_school" else "PQ of decisions"
        axes.set(title=title, xlabel=f"At most so much lost ({lost}), %", ylabel=judged)
        axes.set_ylim(0)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7, ncols=2)
    figure.savefig(out, dpi=110)
