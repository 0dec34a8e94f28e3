"""The rows of every split as files, for entering a method of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.store import plain
from evenhand.datasets import split

if TYPE_CHECKING:
    from evenhand.benchmark.design.problems import Problem
    from evenhand.benchmark.design.studies import Design


def write_splits(design: Design, folder: str | Path) -> list[Path]:
    """Write a .csv file for each problem and seed of a design, and return their paths.

    Each has the columns `row`, by which predictions name a row, `part` ("train" or "test"),
    `label` or `value`, which test rows lack, and the features, on scales learned from the
    training rows. A regression's value is on the scale on which predictions are judged.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [
        (problem, seed)
        for study in design.studies
        for problem in study.problems
        for seed in study.seeds
    ]
    paths = []
    for problem, seed in dict.fromkeys(pairs):
        paths.append(folder / f"{plain(problem.name)}-{seed}.csv")
        _rows(problem, seed).to_csv(paths[-1], index=False)
    return paths


def _rows(problem: Problem, seed: int) -> Any:
    import pandas as pd

    dataset = problem.load()
    halves = split(dataset, seed=seed)
    parts = halves.normalized()
    name = "label" if dataset.classes else "value"
    target = (
        parts.y_train.map(dict(enumerate(dataset.classes))) if dataset.classes else parts.y_train
    )
    reserved = ["row", "part", name]
    X = pd.concat([parts.X_train, parts.X_test])
    X = X.rename(columns={column: f"{column}_" for column in X.columns if column in reserved})
    X.insert(0, "row", [*halves.train, *halves.test])
    X.insert(1, "part", ["train"] * len(halves.train) + ["test"] * len(halves.test))
    X.insert(2, name, [*target, *[None] * len(halves.test)])
    return X.sort_values("row")
