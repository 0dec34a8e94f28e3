"""What an audit asks: each question is a criterion, its statistic and measures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._distributions import Distribution
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._seeds import KINDS, RandomState, wrong_kind
from evenhand._tally import Tally
from evenhand._tasks import Task
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion, Reading
from evenhand.criteria.catalogue import ALIASES
from evenhand.criteria.evaluation import named
from evenhand.measures import MEASURES, is_ratio
from evenhand.measures import resolve as resolve_measure
from evenhand.statistics.forms import sums_of

CLASSIFICATION = (
    "statistical_parity",
    "equalized_odds",
    "average_odds",
    "equal_opportunity",
    "predictive_equality",
    "predictive_parity",
    "false_omission_rate_parity",
    "accuracy_parity",
    "error_parity",
)
DEFAULTS: dict[Task, tuple[str, ...]] = {
    "binary": (
        *CLASSIFICATION[:1],
        "selection_rate_ratio",
        *CLASSIFICATION[1:],
        "treatment_equality",
        "conditional_statistical_parity",
        "calibration_parity",
        "calibration_within_groups",
        "performance_parity(auroc)",
        "performance_parity(cross_entropy)",
        "strong_parity",
        "wasserstein_parity",
    ),
    "multiclass": (
        *CLASSIFICATION,
        "conditional_statistical_parity",
        "performance_parity(auroc)",
        "performance_parity(cross_entropy)",
    ),
    "regression": (
        "strong_parity",
        "wasserstein_parity",
        "weak_parity",
        "performance_parity(mse)",
        "performance_parity(mae)",
    ),
}


@dataclass(frozen=True)
class Question:
    """One criterion, by the name people give it, with its statistic and measures."""

    name: str
    criterion: Criterion
    measures: tuple[str, ...]


Criteria = str | Criterion | Sequence[str | Criterion]


def questions_of(names: Criteria, measures: str | Sequence[str]) -> list[Question]:
    """Resolve names such as "equalized_odds" and "performance_parity(f1)"; one may stand alone.

    >>> [
    ...     one.criterion.statistic.formula
    ...     for one in questions_of(["performance_parity(f1)"], ["gini"])
    ... ]
    ['2 tp / (2 tp + fp + fn)']
    """
    check_kinds(criteria=names, measures=measures)
    asked = (names,) if isinstance(names, str | Criterion) else names
    if not isinstance(asked, Iterable):  # another function
        raise InputTypeError(f"criteria must be criteria or their names, not {names!r}.")
    by = (measures,) if isinstance(measures, str) else tuple(measures)
    for measure in by:
        resolve_measure(measure)
    return [_question(name, by) for name in asked]


def _question(name: str | Criterion, measures: tuple[str, ...]) -> Question:
    if isinstance(name, Criterion):
        return Question(name.name, name, measures)
    check_kinds(criterion=name)
    form = re.fullmatch(r"(\w+)\((\w+)\)", name)
    criterion = named(form[1] if form else name).with_statistic(form[2] if form else None)
    if is_ratio(criterion.measure):  # its own measure is in its name; the shortfall says the same
        measures = ("ratio", *(measure for measure in measures if measure == "shortfall"))
    elif criterion.across == "integral":  # ratios are not added up
        measures = tuple(measure for measure in measures if not is_ratio(measure)) or measures
    return Question(f"{criterion.name}({form[2]})" if form else criterion.name, criterion, measures)


def _adds_up_ratios(question: Question) -> bool:
    return question.criterion.across == "integral" and all(map(is_ratio, question.measures))


def answerable(
    evidence: Evidence, criteria: Criteria | None, measures: str | Sequence[str]
) -> tuple[list[Question], list[str]]:
    """The questions that the evidence can answer, and in words what was not asked."""
    check_kinds(measures=measures)
    if not len(measures):
        raise InputError(f"Name a measure, of {list(MEASURES)}.")
    if criteria is not None:
        questions = questions_of(criteria, measures)
        for question in questions:
            reason = _why_not(evidence, question)
            if reason:
                raise InputError(f"{question.name} cannot be asked here: it needs {reason}.")
        return questions, []
    known = [
        question
        for question in questions_of(DEFAULTS[evidence.task], measures)
        if not _why_not(evidence, question) and not _adds_up_ratios(question)
    ]
    if evidence.task == "binary" and evidence.favorable is None:
        said = f"No label of {list(evidence.classes)} was named as favorable (favorable=), "
        return known, [f"{said}so criteria that ask about one label were left out."]
    if not known:
        raise InputError("The evidence answers none of the criteria of this task.")
    return known, []


def _why_not(evidence: Evidence, question: Question) -> str | None:
    """What is missing to ask it, if anything."""
    statistic = question.criterion.statistic
    if statistic.needs not in evidence.sources:
        return question.criterion.kind.hint
    source = evidence.sources[statistic.needs]
    if isinstance(source, Tally) and not sums_of(statistic) <= source.sums.keys():
        return "scores that are not in bins" if statistic.needs == "bins" else "y_true"
    if question.criterion.one_class and evidence.task == "binary" and evidence.favorable is None:
        return "favorable=, the favorable label"
    return None


def greatest_value(
    measure: str, bounds: tuple[float, float], transform: str | None, groups: int | None = None
) -> float:
    """The most that a measure can be of so many values within bounds; infinite if not known.

    Of a ratio it is the least, which is as uneven as can be. The measures are quasi-convex, so it
    is taken at a corner: some groups have the largest value, the others the smallest.

    >>> greatest_value("gini", (0.0, 1.0), None, 2), greatest_value("mpd", (0.0, 1.0), None, 2)
    (0.5, 1.0)
    """
    low, high = bounds
    if measure == "mpd":
        return high - low
    if measure == "ratio":
        return 1.0 - greatest_value("shortfall", bounds, transform, groups)
    if measure not in ("gini", "pq", "shortfall"):
        return math.inf
    if transform == "exp":
        least = math.exp(low - high) if math.isfinite(high - low) else 0.0
    else:
        least = max(low / high, 0.0) if math.isfinite(high) else 0.0
    if measure == "shortfall" or groups is None:
        return 1.0 - least if measure == "shortfall" else 1.0
    top = np.arange(1, max(groups, 2)) / max(groups, 2)  # the share of the groups at 1
    mean, square = top + (1 - top) * least, top + (1 - top) * least**2
    index = top * (1 - top) * (1 - least) / mean if measure == "gini" else 1 - mean / square**0.5
    return float(index.max())


def greatest_reading(reading: Reading, bounds: tuple[float, float]) -> float:
    """The most that a reading of so many groups could have been."""
    each = greatest_value(reading.measure, bounds, reading.transform, len(reading.groups))
    if reading.aggregate == "integral" and isinstance(reading.source, Distribution):
        return each * float(reading.source.values[-1] - reading.source.values[0])
    if reading.aggregate in ("worst", "mean"):
        return each
    return each * len(reading.cells) if reading.aggregate == "total" else math.inf


def known_tolerances(
    tolerances: Mapping[str, float], questions: Sequence[Question]
) -> dict[str, float]:
    """The tolerances by the names of findings; refuse one for something that is not asked."""
    known = [
        f"{question.name}.{measure}" for question in questions for measure in question.measures
    ]
    check_kinds(tolerances=tolerances)
    named_so = {_canonical(name): bound for name, bound in tolerances.items()}
    for name, bound in named_so.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"No finding is called {name!r}.{hint} There are {known}.")
        if not isinstance(bound, Real) or not np.isfinite(bound) or bound < 0:
            raise InputError(
                f"The tolerance of {name} must be a number of at least 0, not {bound}."
            )
        if is_ratio(name.rpartition(".")[2]) and bound > 1:
            raise InputError(f"The tolerance of {name} is the least ratio, at most 1, not {bound}.")
    return named_so


def _canonical(name: str) -> str:
    """The name of a finding, where the criterion has another one that the field knows it by."""
    criterion, dot, measure = str(name).rpartition(".")
    return f"{ALIASES.get(criterion, criterion)}{dot}{measure}"


def check_options(
    confidence: float, depth: int, margin: float | None, random_state: RandomState
) -> None:
    """Refuse what is no confidence, depth, margin or random state."""
    check_kinds(confidence=confidence, depth=depth, margin=margin)
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    if depth < 1:
        raise InputError(f"depth is how many columns are combined, at least 1; it is {depth}.")
    if margin is not None and not 0 <= margin < np.inf:
        raise InputError(f"margin is the largest difference that counts as alike; it is {margin}.")
    if isinstance(random_state, bool) or not isinstance(random_state, KINDS):
        raise wrong_kind(random_state)
