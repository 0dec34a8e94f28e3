"""Coverage and width of the answers of `bounds`, with the groups of real people hidden.

EVENHAND_DATA=folder python benchmarks/unknown_groups.py [--rounds 200] [adult acsincome …]

A model is fitted to half of the people, and decides about the others: the population. A proxy of a
given AUROC is drawn for everybody, with or without a trace of the decision beside that of the
group, and its probabilities are right on average. Samples of 5,000 people, 500 of known group, are
drawn from the population, whose gap is the truth. All is seeded.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import evenhand as eh
from evenhand.datasets import load

ROWS, KNOWN, LEVELS = 5_000, 500, 40
AREAS = {0.7: 0.74, 0.8: 1.19, 0.95: 2.33}  # by how much the proxy differs between the groups
ANSWERS = ("weighted", "instrumental", "bounds", "combined", "cut")


def population(name):
    """Truth, decisions and groups (0 and 1) of the people that the model was not fitted to."""
    task = load(name)
    X = np.asarray(task.X, dtype=float)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    y = (np.asarray(task.y) == np.unique(task.y)[-1]).astype(int)
    group = np.asarray(task.group)
    group = (group == np.unique(group)[0]).astype(int)
    order = np.random.default_rng(0).permutation(len(y))[:60_000]
    fit, rest = np.array_split(order, 2)
    model = LogisticRegression(max_iter=300).fit(X[fit], y[fit])
    return y[rest], model.predict(X[rest]), group[rest]


def proxies(decided, group, apart, trace, random):
    """Probabilities of the groups, right on average among people of the same level."""
    signal = random.normal(size=len(group)) + apart * group
    if trace == "decision":  # so that decisions depend on the proxy, given the group
        signal += 0.7 * (decided - decided.mean())
    edges = np.quantile(signal, np.linspace(0, 1, LEVELS + 1)[1:-1])
    level = np.searchsorted(edges, signal)
    if trace == "group":  # decisions and groups are unrelated given the level
        group = group.copy()
        for at in range(LEVELS):
            here = np.flatnonzero(level == at)
            group[here] = random.permutation(group[here])
    share = np.bincount(level, group, LEVELS) / np.bincount(level, minlength=LEVELS)
    return np.stack([1 - share, share], axis=1)[level], group


def simulated(people, criterion, apart, trace, rounds):
    """How often each answer holds the truth, how wide it is, and the AUROC of the proxy."""
    y, decided, group = people
    random = np.random.default_rng(1)
    matrix, group = proxies(decided, group, apart, trace, random)
    truth = eh.evaluate(criterion, y, decided, sensitive_features=group, favorable=1, measure="mpd")
    held = {name: [] for name in ANSWERS}
    width = {"combined": [], "known rows": []}
    for _ in range(rounds):
        rows = random.integers(len(y), size=ROWS)
        known = np.full(ROWS, None, object)
        known[:KNOWN] = group[rows[:KNOWN]]
        found = eh.bounds(
            criterion,
            y[rows],
            decided[rows],
            sensitive_features=eh.probable(matrix[rows], [0, 1], known=known),
            favorable=1,
            measure="mpd",
        )
        for name, answer in found.answers.items():
            held[name].append(answer.low <= truth <= answer.high)
        few = rows[:KNOWN]
        alone = eh.interval(
            criterion,
            y[few],
            decided[few],
            sensitive_features=group[few],
            favorable=1,
            measure="mpd",
        )
        width["known rows"].append(alone.high - alone.low)
        combined = found.answers["combined"]
        width["combined"].append(combined.high - combined.low)
    coverage = {name: float(np.mean(each)) for name, each in held.items()}
    narrower = np.mean(width["combined"]) / np.mean(width["known rows"])
    return truth, roc_auc_score(group, matrix[:, 1]), coverage, narrower


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", default=["adult", "acsincome"])
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    print("task criterion AUROC trace truth | coverage:", *ANSWERS, "| width of combined to known")
    for name in options.tasks:
        people = population(name)
        for criterion in ("statistical_parity", "equal_opportunity"):
            for apart in AREAS.values():
                for trace in ("none", "decision", "group"):
                    truth, area, coverage, narrower = simulated(
                        people, criterion, apart, trace, options.rounds
                    )
                    shown = " ".join(f"{coverage[each]:.3f}" for each in ANSWERS)
                    print(
                        f"{name} {criterion} {area:.2f} {trace} {truth:.3f} | {shown} | "
                        f"{narrower:.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
