"""From the caller's columns to whatever summary of them a statistic needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, union
from evenhand._columns.encoding import classes, finite, floats
from evenhand._counting import count, moments, tally
from evenhand._distributions import Distribution, RankedScores, distribution
from evenhand._errors import InputError
from evenhand._groups import groups
from evenhand._tally import Tally
from evenhand.statistics.forms import Needs

Source = Tally | Distribution | RankedScores
SCORE_BINS = tuple(np.linspace(0, 1, 11).round(1).tolist())


@dataclass(frozen=True, eq=False)
class Rows:
    """What the caller gave, not yet counted."""

    y_true: Any
    y_pred: Any
    sensitive_features: Any = None
    sample_weight: Any = None
    y_score: Any = None
    strata: Any = None
    loss: Callable[[Any, Any], Any] | None = None
    favorable: Label = None
    classes: Sequence[Label] | None = None

    def require(self, name: str, why: str) -> Any:
        """A column that must have been given."""
        value = getattr(self, name)
        if value is None:
            raise InputError(f"This criterion needs {name}: {why}.")
        return value


def summarize(needs: Needs, rows: Rows) -> Source:
    """Count, add up or order the rows, whichever the statistic needs."""
    if rows.sensitive_features is None:
        raise InputError("Pass sensitive_features: the column or columns that name the groups.")
    return SOURCES[needs](rows)


def _predictions(rows: Rows) -> Tally:
    """The truth adds classes that were never predicted, and changes nothing else."""
    return tally(rows.y_true, rows.require("y_pred", "the predicted labels"), **_common(rows))


def _labels(rows: Rows) -> Tally:
    y_true = rows.require("y_true", "the true labels")
    return tally(y_true, rows.require("y_pred", "the predicted labels"), **_common(rows))


def _strata(rows: Rows) -> Tally:
    strata = rows.require("strata", "the column within which groups are compared")
    y_pred = rows.require("y_pred", "the predicted labels")
    return tally(None, y_pred, strata=strata, **_common(rows))


def _moments(rows: Rows) -> Tally:
    return moments(rows.y_true, rows.require("y_pred", "the predicted values"), **_common(rows))


def _steps(rows: Rows) -> Distribution:
    return distribution(rows.require("y_pred", "the predicted values"), **_common(rows))


def _losses(rows: Rows) -> Tally:
    if rows.loss is not None:
        name, loss = "loss", finite(rows.loss(rows.y_true, rows.y_pred), "the loss")
    else:
        name, loss = "cross_entropy", _cross_entropy(*_scored(rows))
    sums = {name: loss, f"{name}²": loss * loss}
    whom = groups(rows.sensitive_features)
    return count({}, whom, sample_weight=rows.sample_weight, sums=sums)


def _bins(rows: Rows) -> Tally:
    truth, scores = _scored(rows)
    if scores.shape[1] != 2:
        raise InputError(
            f"Calibration is about one class; y_score has {scores.shape[1]} columns. "
            "Pass y_true == label and the score of that label."
        )
    score = _probabilities(scores)[:, 1]
    edges = np.array(SCORE_BINS)
    codes = np.searchsorted(edges[1:-1], score, side="right").astype(np.uint8)
    sums = {"hits": (truth.codes == 1).astype(np.float64), "score": score}
    return count(
        {"bin": Column(codes, SCORE_BINS[:-1])},
        groups(rows.sensitive_features),
        sample_weight=rows.sample_weight,
        sums=sums,
        edges={"bin": SCORE_BINS},
    )


def _ranks(rows: Rows) -> RankedScores:
    truth, scores = _scored(rows)
    which = [1] if len(truth.labels) == 2 else range(len(truth.labels))
    ordered = tuple(distribution(scores[:, k], y_true=truth, **_common(rows)) for k in which)
    return RankedScores(tuple(truth.labels[k] for k in which), ordered)


def _scored(rows: Rows) -> tuple[Column, NDArray[np.float64]]:
    """Truth and a score for every class; a single column scores the favorable of two classes."""
    observed = classes(rows.require("y_true", "the true labels"), "y_true")
    scores = _matrix(rows.require("y_score", "a score or probability for each row"))
    labels = union(rows.classes) if rows.classes is not None else observed.labels
    if scores.shape[1] == 1:
        scores = np.column_stack([1 - scores, scores])
        if rows.favorable is not None and len(labels) == 2:
            labels = (*(one for one in labels if one != rows.favorable), rows.favorable)
        elif len(labels) == 1 and labels[0] in (0, 1):
            labels = (0, 1)
    if len(labels) != scores.shape[1] or not set(observed.labels) <= set(labels):
        raise InputError(
            f"y_score has {scores.shape[1]} columns, but y_true takes {list(observed.labels)}. "
            "Pass classes=, the labels of the columns in sorted order."
        )
    place = np.array([labels.index(one) for one in observed.labels], dtype=np.uint32)
    return Column(place[observed.codes], labels), scores


def _matrix(y_score: Any) -> NDArray[np.float64]:
    scores = y_score if getattr(y_score, "ndim", 1) == 2 else finite(y_score, "y_score")[:, None]
    scores = floats(scores)
    if not np.isfinite(scores).all():
        raise InputError("y_score has values that are not finite; drop or fill those rows.")
    return scores


def _probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if scores.min() < 0 or scores.max() > 1:
        raise InputError(
            f"Probabilities lie in [0, 1]; y_score runs from {scores.min():g} to {scores.max():g}. "
            "Pass predict_proba, not decision_function."
        )
    return scores


def _cross_entropy(truth: Column, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    chosen = _probabilities(scores)[np.arange(len(truth)), truth.codes]
    return -np.log(np.maximum(chosen, np.finfo(np.float64).eps))


def _common(rows: Rows) -> dict[str, Any]:
    return {"sensitive_features": rows.sensitive_features, "sample_weight": rows.sample_weight}


SOURCES: dict[Needs, Callable[[Rows], Source]] = {
    "predictions": _predictions,
    "labels": _labels,
    "strata": _strata,
    "moments": _moments,
    "losses": _losses,
    "bins": _bins,
    "ranks": _ranks,
    "steps": _steps,
}
