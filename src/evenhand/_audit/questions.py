"""The questions of an audit: criteria with their measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from evenhand._data.distributions import Distribution
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._data.tasks import Task
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._words import did_you_mean, listing
from evenhand.criteria import Reading
from evenhand.criteria.questions import Criteria, Question, questions_of
from evenhand.measures import MEASURES, Measure
from evenhand.measures import resolve as resolve_measure

Control = Literal["familywise", "false_discovery"]
CONTROLS: tuple[Control, ...] = get_args(Control)
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
        "performance_parity(mean_error)",
        "performance_parity(mse)",
        "performance_parity(mae)",
    ),
    "ranking": (
        "exposure_parity",
        "top_k_parity",
        "performance_parity(first_place)",
        "exposure_per_relevance",
        "performance_parity(discounted_recall)",
        "pairwise_parity",
        "performance_parity(pairwise_within)",
        "performance_parity(pairwise_across)",
    ),
}


def _adds_up_ratios(question: Question) -> bool:
    falls = [resolve_measure(measure).falls for measure in question.measures]
    return question.criterion.across == "integral" and all(falls)


def answerable(
    evidence: Evidence, criteria: Criteria | None, measures: str | Sequence[str]
) -> tuple[list[Question], list[str]]:
    """The questions that the evidence can answer, and notes on those left out."""
    check_kinds(measures=measures)
    if not len(measures):
        raise InputError(f"Name a measure, of {list(MEASURES)}.")
    if criteria is not None:
        questions = questions_of(criteria, measures, evidence.task)
        for question in questions:
            reason = _why_not(evidence, question)
            if reason:
                raise InputError(f"{question.name} cannot be asked here: it needs {reason}.")
        return questions, []
    answered = [
        question
        for question in questions_of(DEFAULTS[evidence.task], measures)
        if not _why_not(evidence, question) and not _adds_up_ratios(question)
    ]
    if _unnamed(evidence):
        labels = listing([f"“{show(label)}”" for label in evidence.classes])
        unnamed = f"None of the labels {labels} was named as favorable (favorable=), "
        return answered, [f"{unnamed}so criteria that ask about one label were left out."]
    if not answered:
        raise InputError("The evidence answers none of the criteria of this task.")
    return answered, []


def _why_not(evidence: Evidence, question: Question) -> str | None:
    """What a question lacks, or None."""
    statistic = question.criterion.statistic
    kind = question.criterion.kind
    if statistic.needs not in evidence.sources:
        is_misfit = kind.about not in ("lists", "numbers" if evidence.task == "regression" else "")
        needed = "numbers to predict" if kind.about == "numbers" else "labels to predict"
        says_task = is_misfit and not evidence.is_of_labels
        return f"{needed}, and the task is {evidence.task!r}" if says_task else kind.hint
    source = evidence.sources[statistic.needs]
    if isinstance(source, Tally) and not statistic.sums <= source.sums.keys():
        return kind.lacking(statistic.sums)
    if question.criterion.one_class and _unnamed(evidence):
        return "favorable=, the favorable label"
    return None


def _unnamed(evidence: Evidence) -> bool:
    """Whether one or two labels lack a favorable one; more labels are each asked about."""
    return 1 <= len(evidence.classes) <= 2 and evidence.favorable is None


def greatest_reading(reading: Reading, bounds: tuple[float, float]) -> float:
    """The largest possible reading with this number of groups."""
    measure: Measure = reading.settings.resolved
    single = measure.greatest(bounds, reading.transform, len(reading.groups))
    if reading.aggregate == "integral" and isinstance(reading.source, Distribution):
        return single * float(reading.source.values[-1] - reading.source.values[0])
    if reading.aggregate in ("worst", "mean"):
        return single
    return single * len(reading.cells) if reading.aggregate == "total" else math.inf


def check_margin(margin: float | None, *, of_rates: bool) -> None:
    """Refuse a margin that no difference of rates can exceed, perhaps in percentage points."""
    if margin is not None and of_rates and margin >= 1:
        percent = f" For {margin:g} percentage points pass margin={margin / 100:g}."
        raise InputError(
            f"margin={margin:g} is not a difference of rates, which are shares between 0 and 1."
            f"{percent if margin < 100 else ''}"
        )


def check_options(confidence: float, depth: int, margin: float | None, control: str) -> None:
    """Refuse an invalid confidence, depth, margin or error rate to control."""
    check_kinds(confidence=confidence, depth=depth, margin=margin, control=control)
    if control not in CONTROLS:
        hint = did_you_mean(control, CONTROLS)
        raise InputError(f"control is one of {list(CONTROLS)}, not {control!r}.{hint}")
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    if depth < 1:
        raise InputError(f"depth is how many columns are combined, at least 1; it is {depth}.")
    if margin is not None and not 0 <= margin < np.inf:
        raise InputError(f"margin is the largest difference that counts as alike; it is {margin}.")
