"""A criterion with its options, evaluated for all models at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import measures
from evenhand._columns import Label
from evenhand._compare.evidence import Evidence, Sources
from evenhand._compare.lists import Lists
from evenhand._compare.numbers import Numbers
from evenhand._data.summaries import KINDS
from evenhand._errors import EvenhandError, InputError
from evenhand._kinds import check_kinds
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.paired import Sample
from evenhand.criteria import CRITERIA, Criterion
from evenhand.criteria.evaluation import named, split_name
from evenhand.criteria.questions import Question, questions_of
from evenhand.measures import MeasureLike

Floats = NDArray[np.float64]

OF_LABELS = ("statistical_parity", "equalized_odds", "accuracy_parity")
OF_NUMBERS = ("strong_parity", "wasserstein_parity", "weak_parity", "performance_parity")
OF_SCORES = ("performance_parity(auroc)",)
OF_LISTS = ("exposure_parity", "top_k_parity", "exposure_per_relevance", "pairwise_parity")
LACKING = {
    "scores": "y_score=, the scores of every model by its name",
    "strata": "strata=, within which groups are compared",
}
WITHOUT_TRUTH = ("statistical_parity", "strong_parity", "wasserstein_parity", "weak_parity")


def values_of(question: Question, sources: Sources) -> Floats:
    """The value of each model (last axis), after any batch axis."""
    models = sources[question.needs]
    values = [question.criterion(source, **question.options) for source in models]
    return np.stack([np.asarray(value, dtype=np.float64) for value in values], axis=-1)


def values_if_any(question: Question, sources: Sources) -> Floats:
    """The same, with NaN where the measure is undefined: Gini and PQ of a negative mean."""
    try:
        return values_of(question, sources)
    except ValueError:
        return np.full(len(sources[question.needs]), np.nan)


def unevenness(question: Question, values: Any) -> Floats:
    """Values that increase with unevenness, for ranks: minus the ratio for ratios."""
    signed = np.asarray(values, dtype=np.float64)
    return -signed if measures.resolve(question.measure).falls else signed


def questions(
    criteria: Sequence[str | Criterion] | None,
    chosen_measures: Sequence[MeasureLike],
    evidence: Evidence,
    *,
    g: str | None = None,
    transform: str | None = None,
    favorable: Label = None,
) -> list[Question]:
    """Every criterion by every measure; refuse what these predictions cannot answer."""
    check_kinds(criteria=criteria, measures=chosen_measures, transform=transform)
    for name, listed in {"criteria": criteria, "measures": chosen_measures}.items():
        if listed is not None and not len(listed):
            raise InputError(f"{name} is empty; name one, or leave it out.")
    for measure in chosen_measures:
        measures.resolve(measure)
    names = _usual(evidence) if criteria is None else criteria
    if criteria is None and evidence.truth is None and not isinstance(evidence, Lists):
        names = [name for name in names if name in WITHOUT_TRUTH]
    settings = {"transform": transform, "favorable": favorable}
    criteria = [_checked(name, evidence, g) for name in names]
    all_questions = questions_of(criteria, chosen_measures, functions=True)
    have_measure = [isinstance(name, str) and split_name(name)[1] is not None for name in names]
    return [
        Question(question.criterion, (measure,), settings)
        for question, has_measure in zip(all_questions, have_measure, strict=True)
        for measure in ((question.criterion.measure,) if has_measure else question.measures)
    ]


def by_criterion(questions: Sequence[Question]) -> dict[Criterion, Question]:
    """One question of each criterion."""
    return {question.criterion: question for question in questions}


def asks_scores(criteria: Any, g: str | None) -> bool:
    """Whether a criterion is about scores; names that are none are refused later."""
    for name in criteria if isinstance(criteria, list | tuple) else [criteria]:
        if not isinstance(name, str | Criterion):
            continue
        with suppress(EvenhandError):
            criterion = named(name)
            criterion = criterion.with_statistic(g) if g and criterion.takes_g else criterion
            if criterion.kind.about == "scores":
                return True
    return False


def _usual(evidence: Evidence) -> tuple[str, ...]:
    if isinstance(evidence, Lists):
        counted = evidence.tallies[0].sums
        return tuple(name for name in OF_LISTS if named(name).statistic.sums <= counted.keys())
    if isinstance(evidence, Numbers):
        return OF_NUMBERS
    return OF_LABELS + (OF_SCORES if "ranks" in evidence.needs else ())


def _checked(name: str | Criterion, evidence: Evidence, g: str | None) -> Criterion:
    criterion = named(name, "regression" if isinstance(evidence, Numbers) else None)
    if criterion.takes_g and criterion == CRITERIA.get(
        criterion.name
    ):  # the name says of which statistic
        default = "mse" if isinstance(evidence, Numbers) else "average_odds"
        criterion = named(f"{criterion.name}({g or default})")
    if evidence.truth is None and not isinstance(evidence, Lists) and _reads_truth(criterion):
        raise InputError(f"{criterion.name} compares with the truth: pass y_true, not None.")
    if criterion.statistic.needs not in evidence.needs:
        kind, about = evidence.about, criterion.kind.about
        lacking = (
            f"predicted {about}" if about in ("labels", "numbers") else LACKING.get(about, about)
        )
        raise InputError(
            f"{criterion.name} cannot be asked of predicted {kind}: it needs {lacking}. "
            f"Of {kind} there are {list(_usual(evidence))}, among others."
        )
    if isinstance(evidence, Lists):
        criterion.check(evidence.tallies[0])
    return criterion


def _reads_truth(criterion: Criterion) -> bool:
    column = getattr(criterion.statistic, "of", "yhat")
    of_scores = criterion.kind.about == "scores"
    return of_scores or criterion.kind is KINDS["labels"] or column not in ("yhat", ("yhat",))


@dataclass(frozen=True, eq=False)
class Assessed:
    """Estimates of each model's groups by a criterion, with p-values of equality."""

    estimates: tuple[Estimates, ...]
    p_values: tuple[float, ...]

    def samples(self, question: Question, sources: Sources) -> list[Sample]:
        """A sample for each model, by one measure."""
        options = {key: value for key, value in question.options.items() if key != "favorable"}
        settings = question.criterion.settings(**options)
        return [
            Sample(
                source, estimates, settings, question.criterion.read(source, **question.options), p
            )
            for source, estimates, p in zip(
                sources[question.needs], self.estimates, self.p_values, strict=True
            )
        ]


def assessed(question: Question, sources: Sources) -> Assessed:
    """Test each model's groups by the question's criterion, independently of the measure."""
    criterion, favorable = question.criterion, question.settings.get("favorable")
    models = sources[question.needs]
    estimates = tuple(estimates_of(source, criterion, favorable) for source in models)
    pairs = zip(models, estimates, strict=True)
    tests = (homogeneity(source, criterion, groups) for source, groups in pairs)
    return Assessed(estimates, tuple(test.p_value for test in tests))
