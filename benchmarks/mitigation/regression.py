"""What parity costs in regression: every method on Communities & Crime and LawSchool.

python benchmarks/mitigation/regression.py --seeds 5 --figure curves.png > curves.md

Base model: least squares on one-hot categories, with the group. Training part 80 %, features and
target normalized as in the paper; criteria on the test part, mean over the seeds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from evenhand import evaluate
from evenhand.datasets import load, split
from evenhand.mitigation import METHODS

TASKS = {"communities": "Communities & Crime", "law_school": "LawSchool"}
CRITERIA: dict[str, tuple[str, dict[str, Any]]] = {
    "SP": ("strong_parity", {"measure": "mpd"}),
    "S-SP": ("strong_parity", {"measure": "pq", "tau": 0.05}),
    "weak": ("weak_parity", {"measure": "mpd"}),
    "W": ("wasserstein_parity", {"measure": "mpd"}),
    "EO": ("performance_parity", {"g": "mse", "measure": "mpd"}),
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "FairReg": ("FairReg", {}),
    "ParityReduction": ("ParityReduction", {}),
    "WassBC": ("WassBC", {}),
    "LinearPost_R": ("LinearPost_R", {}),
    "optimal, PQ": ("ParityConstrained", {"measure": "pq"}),
    "optimal, Gini": ("ParityConstrained", {"measure": "gini"}),
    "optimal, weak MPD": ("ParityConstrained", {"measure": "mpd", "criterion": "weak_parity"}),
}
TARGETS = (("SP", 0.4), ("SP", 0.2), ("SP", 0.1), ("S-SP", 0.1))


def main() -> None:
    """Run all methods, then print the tables and draw the curves."""
    options = _options()
    warnings.simplefilter("ignore")
    runs = pd.DataFrame(run for task in TASKS for run in _runs(task, options.seeds))
    means = runs.groupby(["task", "method", "setting"], sort=False).mean().drop(columns="seed")
    for task, title in TASKS.items():
        print(f"\n## {title}\n\n{_costs(means.loc[task])}\n\n{_curves(means.loc[task])}")
    if options.figure:
        figure(means).savefig(options.figure, dpi=110)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="splits of the data")
    parser.add_argument("--figure", type=Path, help="where to draw the curves")
    return parser.parse_args()


def _runs(task: str, seeds: int) -> Iterator[dict[str, Any]]:
    """One row of criteria for every method, setting and seed."""
    data = load(task)
    columns = (OneHotEncoder(sparse_output=False), list(data.categorical))
    base = make_pipeline(
        make_column_transformer(columns, remainder="passthrough"), LinearRegression()
    )
    for seed in range(seeds):
        parts = split(data, seed=seed).normalized()
        about = {"task": task, "seed": seed}
        yield about | {"method": "base", "setting": ""} | _run(base, parts, data)
        for name, (method, how) in VARIANTS.items():
            for setting in _grid(method, how):
                model = _made(method, base, data, how, setting, seed)
                told = {"method": name, "setting": f"{setting:g}"}
                yield about | told | _run(model, parts, data)


def _grid(method: str, how: dict[str, Any]) -> tuple[float, ...]:
    grid = METHODS[method].grid
    return grid[how.get("criterion", METHODS[method].criteria[0])]


def _made(method: str, base: Any, data: Any, how: Any, setting: float, seed: int) -> Any:
    kind = METHODS[method]
    chance = {"random_state": seed} if kind.randomized else {}
    assert kind.hyperparameter
    return kind(base, group=list(data.sensitive), **how, **chance, **{kind.hyperparameter: setting})


def _run(model: Any, parts: Any, data: Any) -> dict[str, float]:
    """The seconds of the fit, and the error and criteria of the test rows."""
    start = perf_counter()
    model.fit(parts.X_train, parts.y_train)
    seconds = perf_counter() - start
    values, groups = model.predict(parts.X_test), parts.X_test[list(data.sensitive)]
    error = float(np.sqrt(np.mean((values - parts.y_test) ** 2)))
    return {"seconds": seconds, "RMSE": error} | {
        name: evaluate(criterion, parts.y_test, values, sensitive_features=groups, **how)
        for name, (criterion, how) in CRITERIA.items()
    }


def _costs(means: pd.DataFrame) -> str:
    """By how much the RMSE grows, at least, to bring a criterion to a target on the test part."""
    least = means.loc["base", "RMSE"].iloc[0]
    lines = ["| method | " + " | ".join(f"{name} ≤ {most}" for name, most in TARGETS) + " | fit |"]
    lines.append("| --- |" + " --- |" * (len(TARGETS) + 1))
    for method in VARIANTS:
        rows = means.loc[method]
        cells = [rows["RMSE"][rows[name] <= most].min() / least - 1 for name, most in TARGETS]
        shown = ["–" if np.isnan(cell) else f"+{100 * cell:.1f} %" for cell in cells]
        seconds = f"{rows['seconds'].median():.2f} s"
        lines.append(f"| {method} | {' | '.join(shown)} | {seconds} |")
    return "\n".join(lines)


def _curves(means: pd.DataFrame) -> str:
    lines = ["| method | setting | RMSE | " + " | ".join(CRITERIA) + " |"]
    lines.append("| --- |" + " --- |" * (2 + len(CRITERIA)))
    for (method, setting), row in means.iterrows():
        numbers = " | ".join(f"{row[name]:.4f}" for name in ("RMSE", *CRITERIA))
        lines.append(f"| {method} | {setting} | {numbers} |")
    return "\n".join(lines)


def figure(means: pd.DataFrame) -> Figure:
    """RMSE against every criterion: a row for each task, a line for each method."""
    drawn = Figure(figsize=(3.1 * len(CRITERIA), 6.2), layout="constrained")
    panels = drawn.subplots(len(TASKS), len(CRITERIA), squeeze=False)
    for row, (task, title) in zip(panels, TASKS.items(), strict=True):
        for panel, criterion in zip(row, CRITERIA, strict=True):
            for number, name in enumerate(VARIANTS):
                points = means.loc[task, name]
                style = {"color": f"C{number}", "marker": "os^vDPX"[number], "markersize": 4}
                panel.plot(points[criterion], points["RMSE"], label=name, linewidth=1, **style)
            base = means.loc[task, "base"].iloc[0]
            panel.plot(base[criterion], base["RMSE"], "k*", markersize=11, label="base")
            panel.set_xlabel(criterion)
            panel.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(f"{title}\nRMSE")
    drawn.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=8)
    return drawn


if __name__ == "__main__":
    main()
