"""Evidence: the summaries of the rows that an audit reads, and checks of groups and scores.

Where a score decides, it is cut at the given threshold, at a half, or where the decisions were.
A single group is refused, and so are amounts as groups and groups of one row each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.bins import MOST_CLASSES, Bin
from evenhand._columns.codes import positions, union
from evenhand._data.areas import RankedScores, area_of_all
from evenhand._data.distributions import Distribution
from evenhand._data.fingerprints import fingerprint
from evenhand._data.groups import check_not_amounts, show
from evenhand._data.once import Immutable, once
from evenhand._data.summaries import KINDS, Source
from evenhand._data.tallies import Tally
from evenhand._data.tasks import Task
from evenhand._errors import InputError, InputTypeError
from evenhand._words import capitalized, listing, plural, visible

MOST_THRESHOLDS = 200
MOST_NAMED = 3  # labels in a note
ENOUGH_CLUSTERS = 30
JUDGED = ("labels", "ranks", "losses", "bins")  # sources that compare predictions with the truth


@dataclass(frozen=True, eq=False)
class Evidence(Immutable):
    """Summaries by need ("labels", "moments", "steps", …), and the columns of the groups.

    The favorable label may be `assumed`: 1 of 0 and 1.
    `thresholds` counts (score bin, truth, group), where a score decides between two classes, and
    `score_of` is the class that the score is of; `decided_at` is the threshold from which
    that class is decided, if there is one. `top_k` is the number of first places of a list, if it
    was given.
    """

    task: Task
    columns: tuple[str, ...]
    sources: Mapping[str, Source]
    classes: tuple[Label, ...] = ()
    favorable: Label = None
    assumed: bool = False
    thresholds: Tally | None = None
    decided_at: float | None = None
    notes: tuple[str, ...] = ()
    score_of: Label = None
    top_k: int | None = None

    def __repr__(self) -> str:
        by = " × ".join(self.columns)
        groups, rows = plural(len(self.groups), "group"), plural(self.rows.sum(), "row")
        return visible(f"<Evidence of {rows} in {groups} by {by}: {self.task}>")

    @property
    def is_of_labels(self) -> bool:
        """Whether labels are predicted, rather than numbers or places in lists."""
        return self.task in ("binary", "multiclass")

    @property
    def is_turned(self) -> bool:
        """Whether the score is of the unfavorable label."""
        return None not in (self.favorable, self.score_of) and self.favorable != self.score_of

    @property
    def counted(self) -> Tally:
        """A tally of the rows by group."""
        return next(source for source in self.sources.values() if isinstance(source, Tally))

    def favorable_in(self, *, one_class: bool) -> Label:
        """The favorable class of a criterion: the named one, or the assumed one if it needs one."""
        is_about_one = one_class and self.task == "binary"
        return self.favorable if is_about_one or not self.assumed else None

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups, in the order of every table."""
        return self.counted.groups

    @property
    def rows(self) -> NDArray[np.float64]:
        """Rows of each group."""
        return self.counted.table("group", of="rows")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all counts and their settings: the same in any order of rows."""
        labels = {"favorable": self.favorable, "score_of": self.score_of}
        about = {
            "task": self.task,
            "columns": self.columns,
            "decided_at": self.decided_at,
            **{name: None if label is None else show(label) for name, label in labels.items()},
        }
        thresholds = {} if self.thresholds is None else {"thresholds": self.thresholds}
        return fingerprint(about, {**self.sources, **thresholds})

    def sameness(self, needs: str) -> str | None:
        """Why there is nothing to compare, if all rows share one label or score; else None.

        Rows of weight 0 are ignored.
        """
        counts, decisions = self.sources.get("predictions"), KINDS[needs].counts_decisions
        if isinstance(counts, Tally):
            axes = ("yhat", "y") if "labels" in self.sources else ("yhat",)
            same = one_label({axis: _labels(counts, axis) for axis in axes}, needs)
            if same is not None:
                return same
        if decisions:
            return None
        source = self.sources.get("steps", self.sources.get("ranks"))
        values = [_values(scores) for scores in _distributions(source)]
        if not values or any(len(column) == 0 or column[0] < column[-1] for column in values):
            return None
        value = " and ".join(f"{column[0]:g}" for column in values)
        if self.task == "regression":
            return f"every row has the prediction {value}, so there is nothing to compare"
        return f"every row has the score {value}, so there is nothing to compare in scores"

    def __add__(self, other: Evidence) -> Evidence:
        """The summaries that both parts have, except curves over thresholds, whose cuts differ."""
        if not isinstance(other, Evidence):
            return NotImplemented
        for name in ("task", "columns", "favorable", "score_of"):
            own, others = getattr(self, name), getattr(other, name)
            if own != others:
                raise InputError(
                    f"Parts of data that add up agree in {name}; here are {own!r} and {others!r}."
                )
        sources = {
            need: source + other.sources[need]  # type: ignore[operator]
            for need, source in self.sources.items()
            if need in other.sources
        }
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        classes = union(self.classes, other.classes)
        at = self.decided_at if self.decided_at == other.decided_at else None
        first = self.top_k if self.top_k == other.top_k else None
        evidence = replace(self, sources=sources, classes=classes, notes=notes, decided_at=at)
        return replace(evidence, thresholds=None, top_k=first)

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Evidence:
        """The same with every group moved to one of the new labels."""
        curve = self.thresholds
        curve = None if curve is None else curve.regrouped(target, labels)
        return replace(
            self, sources=RegroupedSources(self.sources, target, labels), thresholds=curve
        )

    def by_columns(self, places: tuple[int, ...]) -> Evidence:
        """The evidence by some of the columns: groups that agree in these are merged."""
        return once(self, ("by columns", places), lambda: self._by_columns(places))

    def _by_columns(self, places: tuple[int, ...]) -> Evidence:
        parts = [_parts(label, places, len(self.columns)) for label in self.groups]
        labels = union(parts)
        regrouped = self.regrouped(positions(parts, labels), labels)
        return replace(regrouped, columns=tuple(self.columns[i] for i in places))


@dataclass(frozen=True, eq=False)
class RegroupedSources(Mapping[str, Source]):
    """Sources in other groups; each is regrouped on first use, as rows can be many."""

    sources: Mapping[str, Source]
    target: NDArray[np.intp]
    labels: tuple[Label, ...]

    def __getitem__(self, need: str) -> Source:
        source = self.sources[need]
        key = "regrouped", self.target.tobytes(), self.labels
        return once(source, key, lambda: source.regrouped(self.target, self.labels))

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)


def _parts(label: Label, places: tuple[int, ...], columns: int) -> Label:
    has_parts = isinstance(label, tuple) and not isinstance(label, Bin) and len(label) == columns
    if not has_parts:
        return label
    assert isinstance(label, tuple)
    return label[places[0]] if len(places) == 1 else tuple(label[i] for i in places)


def one_label(labels: Mapping[str, Sequence[Label]], needs: str) -> str | None:
    """Why there is nothing to compare, if all rows have one prediction or one truth; else None."""
    if KINDS[needs].counts_decisions and len(labels.get("yhat", ())) == 1:
        label = show(labels["yhat"][0])
        return f"every row has the prediction {label}, so there is nothing to compare in decisions"
    if needs in JUDGED and len(labels.get("y", ())) == 1:
        label = show(labels["y"][0])
        return f"every row has the true label {label}, so there is nothing to predict"
    return None


def _labels(counts: Tally, axis: str) -> list[Label]:
    """The labels of rows with positive weight."""
    return [counts.labels(axis)[at] for at in np.flatnonzero(counts.table(axis))]


def _distributions(source: Source | None) -> tuple[Distribution, ...]:
    if isinstance(source, RankedScores):
        return source.scores
    return (source,) if isinstance(source, Distribution) else ()


def _values(scores: Distribution) -> NDArray[np.float64]:
    """The values of rows with positive weight, ascending."""
    return scores.values if scores.weights is None else scores.values[scores.weights > 0]


def sameness_notes(evidence: Evidence) -> list[str]:
    """Notes on predictions, labels or scores that all rows share."""
    kinds = ("predictions", "labels", "ranks") if evidence.is_of_labels else tuple(evidence.sources)
    reasons = dict.fromkeys(evidence.sameness(needs) for needs in kinds)
    return [f"{capitalized(words)}." for words in reasons if words] + _strangers(evidence)


def _strangers(evidence: Evidence) -> list[str]:
    """Note on labels that are only true or only predicted, where there are several."""
    counts = evidence.sources.get("labels")
    if len(evidence.classes) <= 2 or not isinstance(counts, Tally):
        return []
    true, predicted = _labels(counts, "y"), _labels(counts, "yhat")
    missed = [show(label) for label in true if label not in predicted]
    invented = [show(label) for label in predicted if label not in true]
    if not missed or not invented:
        return []
    return [
        f"{_are(missed)} true and never predicted, and {_are(invented)} predicted and never true. "
        "If these are one answer, written in two ways, write it one way."
    ]


def _are(labels: list[str]) -> str:
    """The first of these labels, with the verb."""
    quoted, remaining = [f"“{label}”" for label in labels[:MOST_NAMED]], len(labels) - MOST_NAMED
    listed = [*quoted, plural(remaining, "other")] if remaining > 0 else quoted
    return f"{listing(listed)} {'is' if len(labels) == 1 else 'are'}"


def design_notes(counts: Tally) -> list[str]:
    """Notes on clusters, and on whether there are enough of them."""
    if counts.scale:
        number = len(counts.scale)
        return [
            f"Rows are of a survey with {number} replicate weights. Intervals and tests use them."
        ]
    if "fpc" in counts.sums:
        return ["Intervals and tests allow for the part of the population that was sampled."]
    names = [axis.name for axis in counts.axes]
    codes = [counts.cells[names.index(name)] for name in counts.clusters]
    numbers = [int(np.count_nonzero(np.bincount(each))) for each in codes]
    if not numbers:
        return []
    listed = " and ".join(f"{number:,}" for number in numbers)
    of_lists = "exposure" in counts.sums and len(numbers) == 1
    singular, plural_ = ("query", "queries") if of_lists else ("cluster", "clusters")
    design = (
        f"All rows are in one {singular}" if numbers == [1] else f"Rows come in {listed} {plural_}"
    )
    note = f"{design}. Intervals and tests allow for it."
    if len(numbers) > 1:
        note += " Where clusterings cross, their variances add up."
    if min(numbers) >= ENOUGH_CLUSTERS:
        return [note]
    few = f"One {singular} is" if min(numbers) == 1 else f"{min(numbers)} {plural_} are"
    return [
        note,
        f"{few} too few to learn how similar the rows of a {singular} are, so intervals are wide. "
        f"They work best with {ENOUGH_CLUSTERS} {plural_} or more.",
    ]


class Cut(NamedTuple):
    """The threshold of a score, where no predictions were given."""

    at: float
    is_given: bool

    def note(self, label: Label, favorable: Label = None) -> str:
        """Note on where the cut is and why; from it on, the label of the score is predicted.

        >>> Cut(5.0, True).note(1)
        'Selected: score at least 5, the given threshold. Such rows count as predicted 1.'
        """
        unasked = "because no predictions or threshold were given"
        is_good = favorable is None or label == favorable
        consequence = "" if is_good else f", and all others {show(favorable)}, the favorable label"
        return (
            f"{'Selected' if is_good else 'Not selected'}: score at least {self.at:.10g}, "
            f"{'the given threshold' if self.is_given else unasked}. "
            f"Such rows count as predicted {show(label)}{consequence}."
        )


def direction_note(ranks: Source | None, score_of: Label) -> tuple[str, ...]:
    """Note that scores rank against their stated label, if they do."""
    if not isinstance(ranks, RankedScores):
        return ()
    area = area_of_all(ranks.scores[0], ranks.classes[0])
    if area is None or not area.is_reversed:
        return ()
    return (
        f"The scores rank against {show(score_of)}, the label that they are said to be of: "
        f"AUROC {area}.",
    )


def check_threshold(threshold: Any, *, decided: bool, scored: bool) -> float | None:
    """The threshold as a number; refuse one with predictions, or without a score."""
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise InputTypeError(
            f"threshold= must be a number, the lowest score that is selected, not {threshold!r}."
        )
    at = float(threshold)
    if not math.isfinite(at):
        raise InputError(f"threshold= must be a finite number, not {at}.")
    if decided:
        raise InputError(f"Which one decides, y_pred or threshold={at:g}? Pass one of them.")
    if not scored:
        raise InputError(f"threshold={at:g} needs y_score, the score that it cuts.")
    return at


def check_scored(score_of: Label, *, scored: bool) -> None:
    """Refuse the label of a score without a score."""
    if score_of is not None and not scored:
        raise InputError(f"score_of={score_of!r} says of which label y_score is; pass y_score.")


def cut_of(low: float, high: float, threshold: float | None, name: str) -> Cut:
    """The cut of scores from `low` to `high`; by default a half, for probabilities only."""
    if threshold is not None:
        return Cut(threshold, is_given=True)
    if not are_probabilities(low, high):
        raise InputError(
            f"{name} runs from {low:g} to {high:g}, so it is not a probability that could be cut "
            "at 0.5. Pass threshold=, the lowest score that is selected, or y_pred, the "
            "predictions."
        )
    return Cut(0.5, is_given=False)


def are_probabilities(low: float, high: float) -> bool:
    """Whether scores from `low` to `high` can be probabilities."""
    return low >= 0 and high <= 1


def no_probability_note(low: float, high: float, name: str) -> str:
    """Note on the criteria that were left out for lack of probabilities."""
    return (
        f"{name} runs from {low:g} to {high:g}, so it is not a probability: calibration and "
        "cross-entropy were left out."
    )


def threshold_behind(least_selected: float, most_rejected: float) -> float | None:
    """The threshold that explains the decisions, if one does: a half or the lowest selected score.

    >>> threshold_behind(0.7, 0.3), threshold_behind(0.4, 0.3), threshold_behind(0.4, 0.6)
    (0.5, 0.4, None)
    """
    if most_rejected >= least_selected:
        return None
    return 0.5 if most_rejected < 0.5 <= least_selected else least_selected


def check_any(labels: Sequence[Label]) -> None:
    """Refuse to count no rows; rows of one group may be a part of the data."""
    if not labels:
        raise InputError("There are no rows to count.")


def check_several(labels: Sequence[Label]) -> None:
    """Refuse a single group, which cannot be compared."""
    check_any(labels)
    if len(labels) < 2:
        raise InputError(
            f"There is only one group, {labels[0]!r}, so there is nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )


def check_names(columns: Sequence[str], labels: Sequence[Label]) -> None:
    """Refuse groups that are amounts, in existing counts."""
    for i, name in enumerate(columns):
        check_not_amounts(name, {part_of(label, i, len(columns)) for label in labels})


def check_sizes(views: Iterable[Evidence], columns: Sequence[str]) -> None:
    """Refuse groups without weight, and groups of which most have one row.

    Identifiers and amounts make such groups, alone or crossed with other columns. Where there are
    more columns than are crossed, some crossings may have few rows: others are examined then.
    """
    for view in views:
        weightless = np.flatnonzero(view.counted.table("group") <= 0)
        if len(weightless):
            raise InputError(
                f"The rows of the group {show(view.groups[weightless[0]])!r} have weight 0. Drop "
                "those rows, or give them weight."
            )
        groups, alone = len(view.groups), int((view.rows == 1).sum())
        is_examined = len(view.columns) in (1, len(columns))
        if is_examined and groups > MOST_CLASSES and 2 * alone > groups:
            raise InputError(
                f"{alone:,} of the {groups:,} groups by {' × '.join(view.columns)} have one row "
                "each. Name fewer columns, cut numbers into ranges, or put rare groups together "
                'with min_count=30, rare="merge".'
            )


def part_of(label: Label, column: int, columns: int) -> Label:
    """The part of a group's label from one of several columns; the whole label if merged."""
    if columns > 1 and isinstance(label, tuple) and not isinstance(label, Bin):
        parts: tuple[Label, ...] = label
        return parts[column]
    return label
