"""What a reader of a frontier must know: whether rules know the group, and scores to be trusted."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from evenhand._data.groups import show
from evenhand._frontier.calibration import Calibration
from evenhand._frontier.rows import Floats, Rows
from evenhand._words import number, plural

LEVEL = 0.01
BINS = 10
WAY_OUT = "; recalibrate=True corrects them"
ORDER = (
    "With two classes that moves no point of the curve, which is judged by labels and knows only "
    "the order of the scores; the recommended rules are fitted to labels."
)


def notes(rows: Rows, judge: str, maps: Calibration | None = None) -> tuple[str, ...]:
    """In sentences."""
    found = [_knowledge(rows)]
    believed = rows if maps is None else maps.applied(rows)
    if maps is not None:
        found.append(maps.told())
    if rows.truth is not None and believed.are_probabilities:
        off = miscalibrated(believed)
        if off and judge == "scores":
            found.append(f"{off} The curve believes them{'' if maps else WAY_OUT}.")
        elif off:
            found.append(f"{off} {ORDER}")
    return tuple(found)


def believable(rows: Rows, judge: str) -> tuple[str, ...]:
    """What rules may be fitted to, the least noisy first: scores, unless they are off."""
    if judge == "scores" or not rows.are_probabilities or miscalibrated(rows):
        return (judge,)
    return ("scores", judge)


def _knowledge(rows: Rows) -> str:
    if rows.group_proba is None:
        return (
            "These rules know the group when they decide, which can be unlawful even to the "
            "benefit of those who fare worse. group_proba= traces rules that do not."
        )
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


def miscalibrated(rows: Rows) -> str:
    """Groups whose classes are more or less frequent than scores say, significantly; or nothing."""
    truth, groups = rows.onehot, len(rows.groups)
    count = len(rows.classes)
    total = np.bincount(rows.group, rows.weight, groups)
    said, seen, spread = (
        np.stack([np.bincount(rows.group, column, groups) for column in table.T], axis=1)
        for table in (
            rows.weight[:, None] * rows.scores,
            rows.weight[:, None] * truth,
            rows.weight[:, None] ** 2 * rows.scores * (1 - rows.scores),
        )
    )
    score = np.abs(seen - said) / np.sqrt(np.maximum(spread, 1e-300))
    off = score > -ndtri(LEVEL / (2 * groups * count))
    if not off.any():
        return ""
    gap = np.abs(seen - said) / np.maximum(total, 1e-300)[:, None]
    group, kind = np.unravel_index(np.argmax(np.where(off, gap, -1)), off.shape)
    return (
        f"The scores are not calibrated in {plural(int(off.any(axis=1).sum()), 'group')}: of "
        f"{show(rows.groups[group])} they say {number(said[group, kind] / total[group])} are "
        f"{show(rows.classes[kind])}, and {number(seen[group, kind] / total[group])} are."
    )
