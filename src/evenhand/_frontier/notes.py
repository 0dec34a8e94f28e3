"""Notes on a frontier: whether its rules use the group, and whether its scores are calibrated."""

from __future__ import annotations

import numpy as np

from evenhand._data.groups import show
from evenhand._words import number
from evenhand.mitigation.crossfit.calibration import Calibration, miscalibrated
from evenhand.mitigation.crossfit.rows import Floats, Rows

BINS = 10
WAY_OUT = "; recalibrate=True corrects them"
ORDER = (
    "With two classes that moves no point of the curve, which is judged by labels and knows only "
    "the order of the scores; the recommended rules are fitted to labels."
)

WORST = (
    "Groups are not known for everyone: rules go by the score and by the probabilities of groups, "
    "in {cells} cells. The gap is the largest that these probabilities allow, whoever is in which "
    "group, and no rule that selects higher scores in each cell does better."
)
WEIGHTED = (
    "Groups are not known for everyone: rules go by scores and the probabilities of groups. The "
    "gap is right if the probabilities are, and if among people with the same ones truth and "
    "scores do not depend on the group."
)


def notes(rows: Rows, judge: str, maps: Calibration | None = None) -> tuple[str, ...]:
    """The notes of a frontier, in sentences."""
    sentences = [_knowledge(rows)]
    believed = rows if maps is None else maps.applied(rows)
    if maps is not None:
        sentences.append(maps.sentence())
    if rows.truth is not None and believed.are_probabilities and not rows.unknown:
        warning = miscalibrated(believed)
        if warning and judge == "scores":
            sentences.append(f"{warning} The curve believes them{'' if maps else WAY_OUT}.")
        elif warning:
            sentences.append(f"{warning} {ORDER}")
    return tuple(sentences)


def _knowledge(rows: Rows) -> str:
    if rows.group_proba is None:
        return (
            "These rules use the group to decide, which can be unlawful even when it helps those "
            "who fare worse. group_proba= traces rules that do not."
        )
    if rows.proxy is not None:
        return WORST.format(cells=len(rows.proxy.centers))
    if rows.unknown:
        return WEIGHTED
    truth = np.eye(len(rows.groups))[rows.group]
    errors = [
        calibration_error(rows.group_proba[:, [group]], truth[:, [group]], rows.weight)
        for group in range(len(rows.groups))
    ]
    worst, average = int(np.argmax(errors)), number(float(np.mean(errors)))
    return (
        "These rules do not know the group when they decide: they go by what the features say of "
        f"it. The probabilities of groups are off by {average} on average, and at most, for "
        f"{show(rows.groups[worst])}, by {number(errors[worst])}."
    )


def calibration_error(probabilities: Floats, truth: Floats, weight: Floats) -> float:
    """The mean absolute gap between probabilities and outcomes, in ten bins of each column."""
    error, total = 0.0, 0.0
    for column, truth_column in zip(probabilities.T, truth.T, strict=True):
        bins = np.minimum((column * BINS).astype(np.intp), BINS - 1)
        gap = np.bincount(bins, weight * (truth_column - column), BINS)
        error, total = error + float(np.abs(gap).sum()), total + float(weight.sum())
    return error / total
