"""What a reader of a frontier must know: whether rules know the group, and scores to be trusted."""

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
    """In sentences."""
    found = [_knowledge(rows)]
    believed = rows if maps is None else maps.applied(rows)
    if maps is not None:
        found.append(maps.told())
    if rows.truth is not None and believed.are_probabilities and not rows.unknown:
        off = miscalibrated(believed)
        if off and judge == "scores":
            found.append(f"{off} The curve believes them{'' if maps else WAY_OUT}.")
        elif off:
            found.append(f"{off} {ORDER}")
    return tuple(found)


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
    off = [
        calibration_error(rows.group_proba[:, [group]], truth[:, [group]], rows.weight)
        for group in range(len(rows.groups))
    ]
    worst = int(np.argmax(off))
    return (
        "These rules do not know the group when they decide: they go by what the features say of "
        f"it. The probabilities of groups are off by {number(float(np.mean(off)))} on average, and "
        f"at most, for {show(rows.groups[worst])}, by {number(off[worst])}."
    )


def calibration_error(probabilities: Floats, truth: Floats, weight: Floats) -> float:
    """The mean distance of probabilities from what is seen, in ten bins of each column."""
    off, total = 0.0, 0.0
    for column, seen in zip(probabilities.T, truth.T, strict=True):
        bins = np.minimum((column * BINS).astype(np.intp), BINS - 1)
        gap = np.bincount(bins, weight * (seen - column), BINS)
        off, total = off + float(np.abs(gap).sum()), total + float(weight.sum())
    return off / total
