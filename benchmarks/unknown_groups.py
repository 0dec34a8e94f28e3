"""Coverage and width of the answers of `bounds`, with the groups of real people hidden.

python benchmarks/unknown_groups.py --time 1000000     processor seconds of made-up rows, 6 groups
EVENHAND_DATA=folder python benchmarks/unknown_groups.py [--rounds 200] [adult acs_income_binary …]

A model is fitted to half of the people, and decides about the others: the population. A proxy of
about the AUROC named is drawn with each sample of 5,000 people, 500 of known group, and its
probabilities are those of the group given the proxy. It may carry a trace of the decision beside
that of the group ("decision": what the instrumental answer assumes away), or groups may be drawn
from the probabilities ("group": what the weighted answer assumes). All is seeded. The
width of the combined answer is followed by the least standard error that any such estimate can have
in large samples, beside that of the known rows alone, as truth, decision and proxy tell no more of
the group (semiparametric efficiency); and by the width of the interval of as many known rows as
would have that standard error. A gap is not below 0, so that widths shrink by less than errors.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import ndtr
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
    chosen = np.random.default_rng(0).permutation(len(task.y))[:60_000]
    X = pd.get_dummies(task.X.iloc[chosen]).to_numpy(float)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    y = np.asarray(task.y)[chosen]
    y = (y == np.unique(y)[-1]).astype(int)
    group = (eh.groups(task.groups.iloc[chosen]).codes == 0).astype(int)
    fit, rest = np.array_split(np.arange(len(y)), 2)
    model = LogisticRegression(max_iter=300).fit(X[fit], y[fit])
    return y[rest], model.predict(X[rest]), group[rest]


def design(people, apart, trace):
    """Shares of (group, truth, decision), of levels given these, and of group 1 by level."""
    y, decided, group = people
    joint = np.zeros((2, 2, 2))
    np.add.at(joint, (group, y, decided), 1 / len(y))
    center = apart * np.arange(2)[:, None, None] + np.zeros((2, 2, 2))
    if trace == "decision":
        center = center + 0.7 * np.arange(2)
    edges = np.linspace(-2.2, 2.2 + apart, LEVELS - 1)
    below = ndtr(edges - center[..., None])
    levels = np.diff(below, axis=-1, prepend=0.0, append=1.0)
    both = (joint[..., None] * levels).sum(axis=(1, 2))  # (groups, levels)
    return joint, levels, both[1] / both.sum(axis=0)


def true_gap(criterion, joint, levels, share, trace):
    whole = joint[..., None] * levels
    if trace == "group":
        whole = whole.sum(axis=0) * np.stack([1 - share, share])[:, None, None]
    table = whole.sum(axis=-1)
    table = table[:, 1] if criterion == "equal_opportunity" else table.sum(axis=1)
    return float(np.ptp(table[:, 1] / table.sum(axis=1)))


def least_error(criterion, joint, levels, share, trace):
    """The standard error of the best estimate over that of the known rows, by influence."""
    whole = joint[..., None] * levels
    if trace == "group":
        whole = whole.sum(axis=0) * np.stack([1 - share, share])[:, None, None]
    counted = np.array([criterion != "equal_opportunity", True])[None, :, None, None]
    rows = (whole * counted).sum(axis=(1, 2, 3))
    rate = (whole * counted)[:, :, 1].sum(axis=(1, 2)) / rows
    decided = np.arange(2)[None, None, :, None]
    sign = np.array([-1.0, 1.0])[:, None, None, None]
    moves = sign * counted * (decided - rate[:, None, None, None]) / rows[:, None, None, None]
    everyone = whole.sum(axis=0)
    expected = (whole * moves).sum(axis=0) / np.maximum(everyone, 1e-300)
    explained = (everyone * expected**2).sum() / (whole * moves**2).sum()
    return float(np.sqrt(1 - (1 - KNOWN / ROWS) * explained))


def sample(joint, levels, share, trace, random):
    at = random.choice(8, size=ROWS, p=joint.ravel())
    group, y, decided = np.unravel_index(at, joint.shape)
    grown = np.cumsum(levels.reshape(8, -1), axis=1)[at]
    level = np.minimum((random.random((ROWS, 1)) > grown).sum(axis=1), LEVELS - 1)
    if trace == "group":
        group = (random.random(ROWS) < share[level]).astype(int)
    return y, decided, group, np.stack([1 - share, share], axis=1)[level]


def simulated(people, criterion, apart, trace, rounds):
    """How often each answer holds the truth, how wide it is, and the AUROC of the proxy."""
    random = np.random.default_rng(1)
    known_design = design(people, apart, trace)
    truth = true_gap(criterion, *known_design, trace)
    held = {name: [] for name in ANSWERS}
    least = least_error(criterion, *known_design, trace)
    as_precise = min(round(KNOWN / least**2), ROWS)
    width, areas = {"combined": [], "known rows": [], "as many": []}, []
    asked = {"favorable": 1, "measure": "mpd"}
    for _ in range(rounds):
        y, decided, group, matrix = sample(*known_design, trace, random)
        known = np.where(np.arange(ROWS) < KNOWN, group, None)
        whom = eh.probable(matrix, [0, 1], known=known)
        found = eh.bounds(criterion, y, decided, sensitive_features=whom, **asked)
        for name, answer in found.answers.items():
            held[name].append(answer.low <= truth <= answer.high)
        for name, rows in (("known rows", KNOWN), ("as many", as_precise)):
            few = [column[:rows] for column in (y, decided, group)]
            alone = eh.interval(criterion, *few[:2], sensitive_features=few[2], **asked)
            width[name].append(alone.high - alone.low)
        combined = found.answers["combined"]
        width["combined"].append(combined.high - combined.low)
        areas.append(roc_auc_score(group, matrix[:, 1]))
    coverage = {name: float(np.mean(each)) for name, each in held.items()}
    alone = np.mean(width.pop("known rows"))
    narrower, as_many = (float(np.mean(each) / alone) for each in width.values())
    return truth, float(np.mean(areas)), coverage, narrower, least, as_many


def timed(rows, groups=6, cells=1000):
    """Print the processor seconds of all answers, with groups of one row in a hundred known."""
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(groups), cells)
    cell = random.integers(0, cells, rows)
    above = random.random((rows, 1)) > np.cumsum(shares, axis=1)[cell]
    group = np.minimum(above.sum(axis=1), groups - 1)
    y = (random.random(rows) < 0.3 + 0.05 * group).astype(int)
    decided = (random.random(rows) < 0.2 + 0.4 * y).astype(int)
    known = np.where(random.random(rows) < 0.01, group.astype(object), None)
    matrix = shares[cell]
    for criterion in ("statistical_parity", "equal_opportunity", "equalized_odds"):
        began = time.process_time()
        whom = eh.probable(matrix, range(groups), known=known)
        eh.bounds(criterion, y, decided, sensitive_features=whom, favorable=1, measure="mpd")
        used = time.process_time() - began
        print(f"{criterion}, {rows:,} rows, {groups} groups, {cells:,} cells: {used:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", default=["adult", "acs_income_binary"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--time", type=int, metavar="ROWS")
    options = parser.parse_args()
    if options.time:
        timed(options.time)
        return
    print("task criterion AUROC trace truth | coverage:", *ANSWERS, "| width of combined to known")
    for name in options.tasks:
        people = population(name)
        for criterion in ("statistical_parity", "equal_opportunity"):
            for apart in AREAS.values():
                for trace in ("none", "decision", "group"):
                    truth, area, coverage, narrower, least, as_many = simulated(
                        people, criterion, apart, trace, options.rounds
                    )
                    shown = " ".join(f"{coverage[each]:.3f}" for each in ANSWERS)
                    print(
                        f"{name} {criterion} {area:.2f} {trace} {truth:.3f} | {shown} | "
                        f"{narrower:.2f} (least error {least:.2f}, as many rows {as_many:.2f})",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
