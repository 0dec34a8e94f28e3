"""Accounts by many or continuous columns: cross-fitted and doubly robust.

With m(x) the mean of a group's values among people with columns x, and p(x) the probability that
such a person is in the first group, the mean of the first group if treated like the second is
estimated by E₁ m₂(x) + E₂ r(x) (v − m₂(x)), r = p / (1 − p) scaled to a mean of 1: consistent if
either model is (Robins, Rotnitzky and Zhao 1994; for gaps, Kline 2011, American Economic Review
101, 532–537). Each row is predicted by models of other rows, with clusters in one fold, so that
errors of the models do not matter to first order (Chernozhukov et al. 2018, Econometrics Journal
21). People with almost no counterpart in the other group are a part of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns.bins import MOST_CLASSES
from evenhand._columns.encoding import encode, numbers
from evenhand._errors import InputError
from evenhand._why.entries import Codes, Entries, Floats
from evenhand._why.rows import Rows, outcome_of
from evenhand._why.strata import order_weight
from evenhand._words import listing

FOLDS = 5
LEAST_CHANCE = 0.02  # below it, or above one minus it, rows have no counterpart
KNOTS = 5
PENALTY = 10.0  # of coefficients, of curves of variance 1
LEAST_SHRUNKEN = 10.0  # the scale of columns whose coefficients should hardly be shrunken
MODELS = 3  # of the group, and of the outcome in each group
MOST_GROWN = 4.0  # largest factor on variances, for models of too few rows
MOST_ORDERED = 4  # columns whose parts are averaged over all orders
RARE = 10  # rows: rarer values of a column are merged


class Fitted(NamedTuple):
    """Composition, within and outside: values (3,), and influences of rows (3, rows).

    `chance` is each row's probability of the first group, `overlap` marks rows with counterparts.
    """

    values: Floats
    by_row: Floats
    chance: Floats
    overlap: np.ndarray[tuple[int], np.dtype[np.bool_]]
    unexplained: float  # share of the variance of values that models leave


class Sample(NamedTuple):
    """Rows of two groups with values, design matrices of columns, and folds of clusters."""

    entries: Entries
    values: Floats
    designs: Mapping[str, Floats]
    folds: Codes

    def matrix(self, names: Sequence[str]) -> Floats:
        """The design matrix of these columns."""
        return np.concatenate([self.designs[name] for name in names], axis=1)


def design_of(column: Any, name: str, rows: Rows) -> Floats:
    """The design matrix of a column: splines of an amount, or a dummy for each value."""
    from sklearn.preprocessing import SplineTransformer

    coded, kept = encode(column, name), rows.kept
    distinct = np.bincount(np.asarray(coded.codes)[kept], minlength=len(coded.labels))
    present = int((distinct > 0).sum())
    if present < 2:
        raise InputError(f"{name} has one value in all these rows, so it explains nothing.")
    are_numbers = all(
        isinstance(label, int | float) and not isinstance(label, bool) for label in coded.labels
    )
    if are_numbers and present > MOST_CLASSES:
        values = numbers(column, name)[kept]
        if present == len(kept) == np.ptp(values) + 1:
            raise InputError(f"{name} only numbers the rows, and explains nothing. Leave it out.")
        if abs(np.corrcoef(values, rows.values)[0, 1]) > 1 - 1e-12:
            raise InputError(outcome_of(name))
        values = ((values - values.mean()) / values.std())[:, None]
        spline = SplineTransformer(KNOTS, degree=3, knots="quantile", extrapolation="linear")
        return _uncorrelated(values, spline.fit_transform(values)[:, 1:])
    if present > len(kept) / 2:
        raise InputError(
            f"{name} has {present:,} different values in {len(kept):,} rows, so it identifies rows "
            "and explains nothing. Leave it out."
        )
    common = np.flatnonzero(distinct >= min(RARE, int(distinct.max())))
    codes = np.asarray(coded.codes)[kept]
    dummies = codes[:, None] == common[:-1] if len(common) == present else codes[:, None] == common
    return LEAST_SHRUNKEN * np.asarray(dummies, np.float64)


def _uncorrelated(line: Floats, curves: Floats) -> Floats:
    """Uncorrelated columns of a line and curves, of variance 1 except for the larger line.

    Shrunken models of the outcome and of the group that miss the same curve would be biased in the
    same direction, and so would doubly robust estimates. So coefficients are hardly shrunken.
    """
    design = np.concatenate([line, curves - curves.mean(axis=0)], axis=1)
    columns, sizes = np.linalg.qr(design)
    kept = np.abs(np.diagonal(sizes)) > 1e-6 * np.sqrt(len(design))
    scaled = columns[:, kept] * np.sqrt(len(design))
    scaled[:, 0] *= LEAST_SHRUNKEN
    return np.asarray(scaled)


def folds_of(entries: Entries) -> Codes:
    """Folds that keep clusters together; without clusters, they are stratified by group."""
    random = np.random.default_rng(0)
    if entries.clusters:
        codes = entries.clusters[0]
        fold = random.permutation(np.arange(int(codes.max()) + 1) % FOLDS)
        return np.asarray(fold[codes])
    folds = np.empty(len(entries.group), np.intp)
    for group in (0, 1):
        members = np.flatnonzero(entries.group == group)
        folds[members] = random.permutation(np.arange(len(members)) % FOLDS)
    return folds


def fitted(sample: Sample, names: Sequence[str]) -> Fitted:
    """The account by these columns."""
    entries, X = sample.entries, sample.matrix(names)
    first = entries.group == 0
    chance = _crossed(X, first.astype(np.float64), entries, sample.folds, first | ~first)
    overlap = (chance > LEAST_CHANCE) & (chance < 1 - LEAST_CHANCE)
    if not (overlap & first).any() or not (overlap & ~first).any():
        raise InputError(
            f"Nobody in one group is like anybody in the other in {listing(list(names))}, so these "
            "columns give the group away, and nobody can be compared with people alike in them."
        )
    means = [
        _crossed(X, sample.values, entries, sample.folds, members) for members in (first, ~first)
    ]
    return _estimated(sample, X.shape[1], chance, overlap, means)


def _estimated(
    sample: Sample,
    fitted_to: int,
    chance: Floats,
    overlap: np.ndarray[tuple[int], np.dtype[np.bool_]],
    means: Sequence[Floats],
) -> Fitted:
    entries, values = sample.entries, sample.values
    weight, odds = entries.weight, chance / (1 - chance)
    sides = [(entries.group == group) & overlap for group in (0, 1)]
    own, as_other = [], []
    for side in (0, 1):  # a group's people, treated like their own group and like the other
        members, others = sides[side], sides[1 - side]
        own.append(_mean(weight, values, members))
        model = means[1 - side]
        tilt = weight * (odds if side == 0 else 1 / odds)
        level, level_by = _mean(weight, model, members)
        shift, shift_by = _mean(tilt, values - model, others)
        as_other.append((level + shift, level_by + shift_by * np.where(others, tilt / weight, 0.0)))
    (a, a_by), (b, b_by) = own
    (a_as_b, a_as_b_by), (b_as_a, b_as_a_by) = as_other
    between_by = (a_as_b_by - b_as_a_by) / 2 * _few(sample, overlap, fitted_to)
    composition = (a_as_b - b + a - b_as_a) / 2, between_by + (a_by - b_by) / 2
    within = (a - a_as_b + b_as_a - b) / 2, (a_by - b_by) / 2 - between_by
    overall = [_mean(weight, values, entries.group == group) for group in (0, 1)]
    outside = overall[0][0] - a - overall[1][0] + b, overall[0][1] - a_by - overall[1][1] + b_by
    parts = (composition, within, outside)
    estimates = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    predicted = np.where(entries.group == 0, means[0], means[1])
    residual, centered = values - predicted, values - np.average(values, weights=weight)
    share = float((weight * residual**2).sum() / max(float((weight * centered**2).sum()), 1e-300))
    return Fitted(*estimates, chance, overlap, share)


def _few(
    sample: Sample, overlap: np.ndarray[tuple[int], np.dtype[np.bool_]], fitted_to: int
) -> float:
    """Factor on standard errors for the coefficients of three models.

    To first order these do not matter; with few rows they do, as in any regression: n / (n − 3 k).
    """
    entries = sample.entries
    rows = float(min(np.bincount(entries.group[overlap], minlength=2)))
    return float(np.sqrt(rows / max(rows - MODELS * fitted_to, rows / MOST_GROWN)))


def _mean(
    weight: Floats, values: Floats, selected: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[float, Floats]:
    """A weighted mean over some rows, and its influences (of rows of weight 1)."""
    total = float(weight[selected].sum())
    mean = float((weight * values)[selected].sum()) / total
    return mean, np.where(selected, (values - mean) / total, 0.0)


def _crossed(
    X: Floats,
    values: Floats,
    entries: Entries,
    folds: Codes,
    selected: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Floats:
    """Predictions for all rows, each by a model fitted to selected rows of other folds."""
    from sklearn.linear_model import LogisticRegression, Ridge

    predictions = np.empty(len(values))
    is_share = bool(np.isin(values, (0.0, 1.0)).all())
    scale = entries.weight.mean()
    for fold in range(FOLDS):
        rows, held_out = selected & (folds != fold), folds == fold
        if not held_out.any():
            continue
        target, weight = values[rows], entries.weight[rows] / scale
        if not len(target) or np.ptp(target) == 0:
            predictions[held_out] = target[0] if len(target) else values[selected].mean()
            continue
        if is_share:
            model = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", max_iter=50)
            fit = model.fit(X[rows], target, weight)
            predictions[held_out] = fit.predict_proba(X[held_out])[:, 1]
        else:
            predictions[held_out] = Ridge(PENALTY).fit(X[rows], target, weight).predict(X[held_out])
    return predictions


def column_parts(sample: Sample, names: Sequence[str], full: Fitted) -> tuple[Floats, Floats]:
    """The composition by column (columns,), averaged over all orders of adding them (Shapley).

    All accounts use the rows with counterparts in all columns.
    """
    number = len(names)
    values, influence = np.zeros(number), np.zeros((number, len(sample.values)))
    for size in range(1, number + 1):
        for subset in combinations(range(number), size):
            fit = full if size == number else of_some(sample, [names[at] for at in subset], full)
            for at in range(number):
                sign = order_weight(size, number, is_in=at in subset)
                values[at] += sign * fit.values[0]
                influence[at] += sign * fit.by_row[0]
    return values, influence


def of_some(sample: Sample, names: Sequence[str], full_fit: Fitted) -> Fitted:
    """The account by some of the columns, of the rows with counterparts in all."""
    entries, X = sample.entries, sample.matrix(names)
    first = entries.group == 0
    chance = _crossed(X, first.astype(np.float64), entries, sample.folds, full_fit.overlap)
    chance = np.clip(chance, LEAST_CHANCE, 1 - LEAST_CHANCE)
    sides = (first & full_fit.overlap, ~first & full_fit.overlap)
    means = [_crossed(X, sample.values, entries, sample.folds, side) for side in sides]
    return _estimated(sample, X.shape[1], chance, full_fit.overlap, means)


def area(sample: Sample, chance: Floats) -> float:
    """The area under the ROC curve of probabilities of the first group."""
    from sklearn.metrics import roc_auc_score

    first = sample.entries.group == 0
    return float(roc_auc_score(first, chance, sample_weight=sample.entries.weight))


def area_by(sample: Sample, names: Sequence[str]) -> float:
    """The area of a cross-fitted model of the group by some columns; a half without any."""
    if not names:
        return 0.5
    entries = sample.entries
    first = (entries.group == 0).astype(np.float64)
    return area(sample, _crossed(sample.matrix(names), first, entries, sample.folds, first >= 0))
