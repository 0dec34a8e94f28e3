"""The same questions by brute force: plain Python over the rows, and nothing shared."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from fuzz.oracle import inequality
from journeys.generator import Journey, Label

NAN = math.nan
MERGED = "(rare groups)"
RATES = ("statistical_parity", "selection_rate_ratio", "equalized_odds")
Values = dict[Label, float]  # of each group that has one


class Row(NamedTuple):
    """What is known of a row; None where it is not."""

    y: Any
    p: Any
    s: float | None
    g: Label
    w: float


class Cell(NamedTuple):
    """A share: of the rows that pass the second test, those that pass the first."""

    label: Label
    above: Callable[[Any, Any], bool]
    below: Callable[[Any, Any], bool]


def _everyone(y: Any, p: Any) -> bool:
    return True


class Truth:
    """What is so of the rows of a journey."""

    def __init__(self, journey: Journey, by: Sequence[str] = ()) -> None:
        self.journey = journey
        self.named = journey.options.get("favorable")
        self.favorable = journey.favorable
        group = journey.group_by(by)
        columns = (journey.truth, journey.decided, journey.score, group, journey.weight)
        blank: list[Any] = [None] * journey.rows
        full = [blank if column is None else column for column in columns[:4]]
        weight = columns[4] or [1.0] * journey.rows
        rows = [Row(*each) for each in zip(*full, weight, strict=True)]
        self.rows = _settled(rows, journey.options)

    @cached_property
    def groups(self) -> list[Label]:
        return list(dict.fromkeys(row.g for row in self.rows))

    @cached_property
    def sizes(self) -> Counter[Label]:
        return Counter(row.g for row in self.rows)

    @cached_property
    def of_group(self) -> dict[Label, list[Row]]:
        found = defaultdict(list)
        for row in self.rows:
            found[row.g].append(row)
        return dict(found)

    @cached_property
    def counts(self) -> dict[Label, Counter[tuple[Any, Any]]]:
        """The weight of every pair of truth and decision, by group."""
        found: dict[Label, Counter[tuple[Any, Any]]] = {group: Counter() for group in self.groups}
        for row in self.rows:
            found[row.g][row.y, row.p] += row.w  # type: ignore[assignment]
        return found

    @cached_property
    def classes(self) -> list[Label]:
        return sorted({label for row in self.rows for label in (row.y, row.p) if label is not None})

    def share(self, cell: Cell) -> Values:
        """The share of every group that has rows to ask about."""
        found = {}
        for group, counts in self.counts.items():
            below = math.fsum(w for pair, w in counts.items() if cell.below(*pair))
            above = math.fsum(
                w for pair, w in counts.items() if cell.below(*pair) and cell.above(*pair)
            )
            if below > 0:
                found[group] = above / below
        return found

    def mean(self, of: Callable[[Row], float]) -> Values:
        """The weighted mean of every group."""
        found = {}
        for group, rows in self.of_group.items():
            weight = math.fsum(row.w for row in rows)
            if weight > 0:
                found[group] = math.fsum(row.w * of(row) for row in rows) / weight
        return found

    def metric(self, name: str, label: Label = None) -> Values:
        """A column of the table of groups × metrics."""
        good = self.favorable if label is None else label
        tests: dict[str, tuple[Callable[[Any, Any], bool], Callable[[Any, Any], bool]]] = {
            "base_rate": (lambda y, p: y == good, _everyone),
            "selection_rate": (lambda y, p: p == good, _everyone),
            "true_positive_rate": (lambda y, p: p == good, lambda y, p: y == good),
            "false_positive_rate": (lambda y, p: p == good, lambda y, p: y != good),
            "precision": (lambda y, p: y == good, lambda y, p: p == good),
            "accuracy": (lambda y, p: y == p, _everyone),
        }
        if name in tests:
            return self.share(Cell(good, *tests[name]))
        means: dict[str, Callable[[Row], float]] = {
            "mean_prediction": lambda row: row.p,
            "mean_target": lambda row: row.y,
            "mean_error": lambda row: row.p - row.y,
            "mae": lambda row: abs(row.p - row.y),
            "rmse": lambda row: (row.p - row.y) ** 2,
        }
        found = self.mean(means[name])
        return {g: math.sqrt(x) for g, x in found.items()} if name == "rmse" else found

    def cells(self, criterion: str) -> list[tuple[Label, Values]]:
        """The values of every group in every cell of a criterion."""
        if criterion == "weak_parity":
            return [(None, self.mean(lambda row: row.p))]
        if criterion == "performance_parity(mean_error)":
            return [(None, self.mean(lambda row: row.p - row.y))]
        if criterion == "performance_parity(mse)":
            return [(None, self.mean(lambda row: (row.p - row.y) ** 2))]
        if criterion == "performance_parity(mae)":
            return [(None, self.mean(lambda row: abs(row.p - row.y)))]
        if criterion == "performance_parity(auroc)":
            return [(self.favorable, self.areas())]
        return [(cell.label, self.share(cell)) for cell in self._shares(criterion)]

    def _shares(self, criterion: str) -> list[Cell]:
        if criterion in ("accuracy_parity", "error_parity"):
            right = criterion == "accuracy_parity"
            return [Cell(None, lambda y, p: (y == p) == right, _everyone)]
        each = self.classes if self.named is None else [self.named]
        if criterion == "statistical_parity":
            return [Cell(c, lambda y, p, c=c: p == c, _everyone) for c in each]  # type: ignore[misc]
        if criterion == "equalized_odds":
            return [
                Cell((k, c), lambda y, p, c=c: p == c, lambda y, p, k=k: y == k)  # type: ignore[misc]
                for k in self.classes
                for c in each
            ]
        if self.favorable is not None:
            each = [self.favorable]
        elif self.classes in ([0], [-1]):  # nobody has the other label, which is the favorable one
            each = [1]
        tests: dict[str, Callable[[Label], Cell]] = {
            "selection_rate_ratio": lambda c: Cell(c, lambda y, p: p == c, _everyone),
            "equal_opportunity": lambda c: Cell(c, lambda y, p: p == c, lambda y, p: y == c),
            "predictive_equality": lambda c: Cell(c, lambda y, p: p == c, lambda y, p: y != c),
            "predictive_parity": lambda c: Cell(c, lambda y, p: y == c, lambda y, p: p == c),
            "false_omission_rate_parity": lambda c: Cell(
                c, lambda y, p: y == c, lambda y, p: p != c
            ),
        }
        return [tests[criterion](c) for c in each]

    def knows(self, criterion: str, measure: str) -> bool:
        """Whether the brute force answers this."""
        if criterion in ("strong_parity", "wasserstein_parity", *SIGNED):
            return measure == "mpd"
        return criterion in KNOWN and measure in ("mpd", "gini", "pq", "shortfall", "ratio")

    def value(self, criterion: str, measure: str) -> float:
        """How unequal the groups are, in the worst cell; NaN where nothing is compared."""
        if criterion in ("strong_parity", "wasserstein_parity"):
            return self._apart(whole=criterion == "wasserstein_parity")
        found = [
            inequality(measure, list(values.values()))  # type: ignore[arg-type]
            for _, values in self.cells(criterion)
        ]
        known = [value for value in found if not math.isnan(value)]
        worst = min if measure == "ratio" else max
        return worst(known) if known else NAN

    def areas(self) -> Values:
        """AUROC of every group, pair by pair."""
        found = {}
        for group, rows in self.of_group.items():
            ups = [row for row in rows if row.y == self.journey.scored]
            downs = [row for row in rows if row.y != self.journey.scored]
            total = math.fsum(up.w * down.w for up in ups for down in downs)
            if total > 0:
                won = math.fsum(
                    up.w * down.w * (1.0 if up.s > down.s else 0.5 if up.s == down.s else 0.0)  # type: ignore[operator]
                    for up in ups
                    for down in downs
                )
                found[group] = won / total
        return found

    def _apart(self, *, whole: bool) -> float:
        """The largest distance of distribution functions, or the area between the outermost."""
        amount = (lambda row: row.p) if self.journey.task == "regression" else (lambda row: row.s)
        totals = {g: math.fsum(row.w for row in rows) for g, rows in self.of_group.items()}
        below = {group: 0.0 for group, total in totals.items() if total > 0}
        if len(below) < 2:
            return NAN
        ordered = sorted((row for row in self.rows if row.w > 0), key=amount)
        widest, area = 0.0, 0.0
        for i, row in enumerate(ordered):
            below[row.g] += row.w
            if i + 1 < len(ordered) and amount(ordered[i + 1]) == amount(row):
                continue
            levels = [weight / totals[group] for group, weight in below.items()]
            apart = max(levels) - min(levels)
            widest = max(widest, apart)
            if i + 1 < len(ordered):
                area += apart * (amount(ordered[i + 1]) - amount(row))
        return area if whole else widest


SIGNED = ("weak_parity", "performance_parity(mean_error)")
KNOWN = (
    "statistical_parity",
    "selection_rate_ratio",
    "equalized_odds",
    "equal_opportunity",
    "predictive_equality",
    "predictive_parity",
    "false_omission_rate_parity",
    "accuracy_parity",
    "error_parity",
    "performance_parity(auroc)",
    *SIGNED,
    "performance_parity(mse)",
    "performance_parity(mae)",
)


def _settled(rows: Sequence[Row], options: Mapping[str, Any]) -> list[Row]:
    """The rows with their rare groups merged or left out."""
    least, what = options.get("min_count", 0), options.get("rare", "keep")
    sizes = Counter(row.g for row in rows)
    if what == "keep":
        return list(rows)
    if what == "drop":
        return [row for row in rows if sizes[row.g] >= least]
    return [row if sizes[row.g] >= least else row._replace(g=MERGED) for row in rows]


def rounding(journey: Journey) -> float:
    """How much larger than 1 the numbers are that differences are of, for what rounding leaves."""
    if journey.task != "regression":
        return 1.0
    known = (
        x for column in (journey.truth, journey.predicted) for x in column or () if x is not None
    )
    sizes = [1e-6 * abs(float(x)) for x in known]
    return max([1.0, *(size for size in sizes if math.isfinite(size))])


def close(found: float | None, wanted: float, scale: float = 1.0) -> bool:
    """Whether two numbers are one but for rounding; None is undefined."""
    if found is None or math.isnan(found):
        return math.isnan(wanted)
    return math.isclose(found, wanted, rel_tol=1e-7, abs_tol=1e-9 * scale)
