"""The criteria once more, in plain Python and exact fractions: slow, and nothing shared."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

Label = Hashable
Row = tuple[Label, Label, Label, Fraction]  # truth, prediction, group, weight

NAN = float("nan")


def evaluate(criterion: str, rows: Sequence[Row], measure: str, aggregate: str) -> float:
    """The criterion of these rows; NaN where it is undefined."""
    groups = sorted({group for _, _, group, _ in rows}, key=repr)
    values = [inequality(measure, _by_group(part, rows, groups)) for part in CELLS[criterion](rows)]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return NAN
    if aggregate == "total":
        return math.fsum(known)
    return min(known) if measure == "ratio" else max(known)


Test = Callable[[Label, Label], bool]
Cell = tuple[Test, Test]  # which rows are counted, among which


def _labels(rows: Sequence[Row]) -> list[Label]:
    return sorted({label for truth, predicted, _, _ in rows for label in (truth, predicted)})


def _asked(rows: Sequence[Row]) -> list[Label]:
    """One of two labels says it all: the larger. Of more, each is asked about."""
    labels = _labels(rows)
    if labels == [0]:
        return []
    return labels[-1:] if len(labels) == 2 else labels


def _everyone(truth: Label, predicted: Label) -> bool:
    return True


def _cells(above: Callable[..., bool], below: Callable[..., bool]) -> Callable[..., list[Cell]]:
    """A cell for each label that is asked about."""

    def made(rows: Sequence[Row]) -> list[Cell]:
        return [
            (
                lambda y, p, c=c: above(y == c, p == c),  # type: ignore[misc]
                lambda y, p, c=c: below(y == c, p == c),  # type: ignore[misc]
            )
            for c in _asked(rows)
        ]

    return made


def _parity(rows: Sequence[Row]) -> list[Cell]:
    return [(lambda y, p, c=c: p == c, _everyone) for c in _labels(rows)]  # type: ignore[misc]


def _odds(rows: Sequence[Row]) -> list[Cell]:
    return [
        (lambda y, p, k=k, c=c: y == k and p == c, lambda y, p, k=k: y == k)  # type: ignore[misc]
        for k in _labels(rows)
        for c in _labels(rows)
    ]


CELLS: dict[str, Callable[[Sequence[Row]], list[Cell]]] = {
    "statistical_parity": _parity,
    "selection_rate_ratio": _cells(lambda y, p: p, lambda y, p: True),
    "equalized_odds": _odds,
    "equal_opportunity": _cells(lambda y, p: y and p, lambda y, p: y),
    "predictive_equality": _cells(lambda y, p: p and not y, lambda y, p: not y),
    "predictive_parity": _cells(lambda y, p: y and p, lambda y, p: p),
    "false_omission_rate_parity": _cells(lambda y, p: y and not p, lambda y, p: not p),
    "accuracy_parity": lambda rows: [(lambda y, p: y == p, _everyone)],
    "error_parity": lambda rows: [(lambda y, p: y != p, _everyone)],
}


def _by_group(cell: Cell, rows: Sequence[Row], groups: Sequence[Label]) -> list[Fraction]:
    """The share in each group where there is one."""
    counted, among = cell
    shares = []
    for group in groups:
        below = sum((w for y, p, g, w in rows if g == group and among(y, p)), Fraction())
        above = sum(
            (w for y, p, g, w in rows if g == group and among(y, p) and counted(y, p)), Fraction()
        )
        if below > 0:
            shares.append(above / below)
    return shares


def inequality(measure: str, shares: Sequence[Fraction]) -> float:
    """How unequal shares are; NaN where there are fewer than two."""
    if len(shares) < 2:
        return NAN
    largest, smallest, total, n = max(shares), min(shares), sum(shares), len(shares)
    if measure == "mpd":
        return float(largest - smallest)
    if measure in ("shortfall", "ratio"):
        ratio = smallest / largest if largest else Fraction(1)
        return float(ratio if measure == "ratio" else 1 - ratio)
    if not total:
        return 0.0
    if measure == "gini":
        return float(sum(abs(a - b) for a in shares for b in shares) / (2 * n * total))
    squares = sum(share**2 for share in shares)
    return 1 - math.sqrt(total**2 / (n * squares))
