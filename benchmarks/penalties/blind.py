"""Post-processing that does not know the group, by a second network that guesses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from training import Task, fit, judge, outputs_of

from evenhand.mitigation import GivenProbabilities, RateConstrainedClassifier

FITTED, GRID = 20_000, (0.02, 0.04, 0.07, 0.1)


def run(file: Path, seeds: int) -> None:
    """A line for each bound: what is lost beside the network alone, and what is left, expected.

    Half of the test rows fit the rule (at most 20,000), the other half judges it.
    """
    task = Task(file)
    for seed in range(seeds):
        train, test = task.split(seed)
        shares = trained(task, seed, train, test)
        alone = judge(task, shares, test)
        known = task.y, task.classes
        task.y, task.classes = task.group, task.groups
        guessed = trained(task, seed + 50, train, test).double().cpu().numpy()
        task.y, task.classes = known
        score, y, group = (
            each.cpu().numpy() for each in (shares[:, 1].double(), task.y[test], task.group[test])
        )
        X = np.column_stack([1 - score, score, guessed, group])
        half = len(y) // 2
        inside, outside = slice(0, min(half, FITTED)), slice(half, None)
        post = RateConstrainedClassifier(
            GivenProbabilities([0, 1]), group=-1, sees_group=False, prefit=True, measure="pq",
            group_estimator=GivenProbabilities(range(2, 2 + task.groups)), tolerance=1e-3,
        )  # fmt: skip
        for bound, model in zip(GRID, post.fit_path(X[inside], y[inside], GRID), strict=True):
            chance = model.predict_proba(X[outside])[:, 1]
            line = {"task": file.stem, "seed": seed, "bound": bound}
            print(json.dumps(line | judged(chance, y[outside], group[outside], alone["loss"])))


def trained(task: Task, seed: int, train: Any, test: Any) -> Any:
    network = task.network(seed)
    fit(task, network, None, 0.0, train, 512, 4)
    return outputs_of(task, network, test)


def judged(chance: Any, y: Any, group: Any, alone: float) -> dict[str, float]:
    from evenhand import pq

    rates = np.bincount(group, chance) / np.bincount(group)
    return {"extra": float(np.mean(np.where(y == 1, 1 - chance, chance)) - alone), "pq": pq(rates)}
