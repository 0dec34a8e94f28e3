"""No method gets more accuracy for the same S-SP on the fitting rows than the optimal one.

python benchmarks/mitigation/optimality.py                 the table
python benchmarks/mitigation/optimality.py --figure FILE   and the curves, as a picture
python benchmarks/mitigation/optimality.py --rows 5000     on some rows of each data set only

Every classification method runs over the paper's grid for statistical parity, on the same base
model, and is judged by its expected decisions; each of its points is compared with the optimal rule
for a bound that is the point's own S-SP. Accuracy is counted twice. Under the base model's
probabilities the optimal rule can never be below, whatever the method does: that is a theorem, and
the table its check. By the labels it can, by chance or because a method fits its own model. The
last column gives the optimal rule scores that were recalibrated in each group by isotonic
regression on the fitting rows, so that the labels are what it optimizes.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from evenhand import gini, pq
from evenhand.datasets import load, split
from evenhand.mitigation import METHODS
from evenhand.mitigation.optimal import known_groups, problem, solve

MEASURES = {"pq": pq, "gini": gini}
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#999999", "#882255", "#44aa99"),
)


class Setting(NamedTuple):
    """Features whose first column is the group, labels, and a base model fitted on them."""

    name: str
    X: np.ndarray
    y: np.ndarray
    base: LogisticRegression

    @property
    def group(self):
        return self.X[:, 0].astype(int)

    @property
    def scores(self):
        return self.base.predict_proba(self.X)

    @property
    def recalibrated(self):
        """In each group the frequency of class 1 as a rising function of its probability."""
        score, one = self.scores[:, 1], np.empty(len(self.y))
        for group in np.unique(self.group):
            rows = self.group == group
            one[rows] = IsotonicRegression().fit_transform(score[rows], self.y[rows])
        return np.column_stack([1 - one, one])


def setting(name, dataset, rows):
    parts = split(dataset, seed=0).normalized()
    everyone = len(parts.X_train)
    X = parts.X_train.sample(min(rows or everyone, everyone), random_state=0)
    y = parts.y_train[X.index].to_numpy()
    group = X[list(dataset.sensitive)].astype(str).agg(" × ".join, axis=1)
    rest = pd.get_dummies(X.drop(columns=list(dataset.sensitive)), drop_first=True, dtype=float)
    features = np.column_stack([pd.factorize(group, sort=True)[0], rest])
    return Setting(name, features, y, LogisticRegression(max_iter=1000).fit(features, y))


def settings(rows):
    yield setting("Adult, 2 groups", load("adult"), rows)
    yield setting("COMPAS, 2 groups", load("compas"), rows)
    yield setting("simulated, 20 groups", load("simulated_multigroup", n_groups=20), rows)


def decisions(one, method):
    """The chances of each class that a method gives the fitting rows, over its grid."""
    criterion = "statistical_parity"
    if criterion not in method.criteria:
        criterion = method.criteria[0]
    chosen = {"criterion": criterion} if "criterion" in method().get_params() else {}
    prefit = {"prefit": True} if method.stage == "post" else {}
    for value in method.grid.get(criterion, (None,)):
        varied = {method.hyperparameter: value} if method.hyperparameter else {}
        model = method(one.base, group=0, **chosen, **varied, **prefit).fit(one.X, one.y)
        if method.randomized:
            yield model.predict_proba(one.X)
        else:
            yield (model.predict(one.X)[:, None] == model.classes_).astype(float)


def inequality(one, chances, measure):
    sizes = np.bincount(one.group)
    rates = [np.bincount(one.group, column) / sizes for column in chances.T]
    return max(float(measure(np.array(rate))) for rate in rates)


def accuracies(one, chances):
    by_model = float((chances * one.scores).sum(axis=1).mean())
    return by_model, float(chances[np.arange(len(one.y)), one.y].mean())


def optimum(one, scores, name, bound):
    """The accuracies of the optimal rule on these scores."""
    population = known_groups(scores, one.group, np.ones(len(one.y)), one.group.max() + 1)
    found = solve(problem(population, "statistical_parity", name, bound))
    return accuracies(one, found.rule.probabilities(scores, one.group))


def methods(one):
    groups = one.group.max() + 1
    for name, method in METHODS.items():
        fits = method.groups == "any" or groups == 2
        if method.task == "classification" and name != "RateConstrained" and fits:
            yield name, method


def curves(one):
    """For each method and measure its points: S-SP, accuracies, and those of the optimal rules."""
    scores, recalibrated = one.scores, one.recalibrated
    for name, method in methods(one):
        taken = list(decisions(one, method))
        for measure, function in MEASURES.items():
            points = []
            for chances in taken:
                bound = inequality(one, chances, function)
                best = optimum(one, scores, measure, bound)
                _, by_labels = optimum(one, recalibrated, measure, bound)
                points.append((bound, *accuracies(one, chances), *best, by_labels))
            yield name, measure, np.array(points)


def reported(one):
    print(f"\n{one.name}, {len(one.y):,} fitting rows; least lead of the optimal rule\n")
    print("| method | measure | points | by the model | by the labels | recalibrated |")
    print("| --- | --- | --- | --- | --- | --- |")
    found = []
    for name, measure, table in curves(one):
        leads = (table[:, 3:] - table[:, [1, 2, 2]]).min(axis=0)
        found.append((name, measure, table))
        numbers = f"{leads[0]:+.6f} | {leads[1]:+.4f} | {leads[2]:+.4f}"
        print(f"| {name} | {measure} | {len(table)} | {numbers} |", flush=True)
    return found


def picture(results, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(results), 2, figsize=(9, 3.1 * len(results)), squeeze=False, layout="constrained"
    )
    for row, (title, found) in zip(axes, results.items(), strict=True):
        for axis, measure in zip(row, MEASURES, strict=True):
            drawn(axis, [one for one in found if one[1] == measure])
            axis.set(title=title, xlabel=f"S-SP by {measure}", ylabel="expected accuracy")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=150)


def drawn(axis, found):
    """Points of the methods, and the line of the optimum, under the model's probabilities."""
    best = np.array(sorted({tuple(row[[0, 3]]) for _, _, table in found for row in table}))
    axis.plot(*best.T, color="black", lw=1.2, label="RateConstrained")
    names = [name for name, one in METHODS.items() if one.task == "classification"]
    for name, _, table in found:
        color = COLORS[names.index(name) % len(COLORS)]
        axis.plot(table[:, 0], table[:, 1], "o", ms=4, color=color, label=name, alpha=0.8)
    axis.locator_params(axis="x", nbins=5)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", metavar="FILE")
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    results = {one.name: reported(one) for one in settings(options.rows)}
    if options.figure:
        picture(results, options.figure)
