"""Questions about stored predictions: criteria by measure, and performances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from evenhand._errors import InputError
from evenhand.benchmark.design.importing import imported, is_import_path
from evenhand.criteria import CRITERIA, Criterion, Settings
from evenhand.criteria.evaluation import named
from evenhand.datasets.task import Kind
from evenhand.measures import MeasureLike, resolve

MEASURES = ("mpd", "gini", "pq")
CLASSIFIED = (
    "statistical_parity",
    "equalized_odds",
    "average_odds",
    "equal_opportunity",
    "predictive_equality",
    "strong_parity",  # of the probabilities, as the next
    "wasserstein_parity",
)
REGRESSED = ("strong_parity", "wasserstein_parity", "weak_parity")


@dataclass(frozen=True)
class Question:
    """A criterion and its options; without a measure, a performance such as accuracy.

    Parameters
    ----------
    criterion : str
        A name of `evenhand.CRITERIA`, `package.module:name` of a `Criterion`, or without a
        measure one of "accuracy", "rmse", "mae" and "r2".
    measure : str, optional
        A name of `evenhand.MEASURES`, or `package.module:name` of a function.
    aggregate, transform : str, optional
        As in `evenhand.evaluate`; by default the criterion's own.
    g : str, optional
        The statistic of a criterion that leaves it open, such as performance parity.
    p, q : float, optional
        Orders of the measure "pq".
    tau : float, optional
        As in `evenhand.evaluate`.

    Examples
    --------
    >>> Question("equal_opportunity", "pq", p=0.5).name
    'equal_opportunity.pq p=0.5'

    """

    criterion: str
    measure: str | None = None
    aggregate: str | None = None
    transform: str | None = None
    g: str | None = None
    p: float | None = None
    q: float | None = None
    tau: float | None = None

    @property
    def name(self) -> str:
        """The question in one word, for the head of a column.

        >>> Question("performance_parity", "pq", g="f1", transform="exp").name
        'performance_parity.pq transform=exp g=f1'
        """
        if self.measure is None:
            return self.criterion
        head = ("criterion", "measure")
        options = [f"{k}={v}" for k, v in asdict(self).items() if v is not None and k not in head]
        return " ".join([f"{self.criterion}.{self.measure}", *options])

    @property
    def asked(self) -> Criterion:
        """The criterion itself, with its statistic."""
        return _criterion(self.criterion).with_statistic(self.g)

    @property
    def how(self) -> Settings:
        """Measure, aggregate and transform."""
        measure: MeasureLike | None = self.measure
        if self.measure is not None and is_import_path(self.measure):
            measure = imported(self.measure)
        elif measure is not None:
            measure = resolve(measure, self.p, self.q)
        return self.asked.settings(measure, self.aggregate, self.transform, self.tau)

    @property
    def kind(self) -> Kind:
        """The kind of predictions it is about."""
        about = self.asked.kind.about
        if about == "strata":
            raise InputError(f"{self.criterion} needs strata, which a benchmark does not store.")
        return "regression" if about == "numbers" else "classification"

    def check(self) -> None:
        """Refuse a question without an answer, before anything is computed."""
        self.how.function(np.array([0.5, 0.5]))


def _criterion(name: str) -> Criterion:
    criterion = imported(name) if is_import_path(name) else named(name)
    if not isinstance(criterion, Criterion):
        raise InputError(f"{name} is not a criterion; those of evenhand are {', '.join(CRITERIA)}.")
    return criterion


def _by_measure(criterion: str, g: str | None = None) -> Iterator[Question]:
    yield from (Question(criterion, measure, g=g) for measure in MEASURES)


def _classification() -> Iterator[Question]:
    yield Question("accuracy")
    for criterion in CLASSIFIED:
        yield from _by_measure(criterion)
    for g in ("accuracy", "f1", "auroc", "cross_entropy"):
        yield from _by_measure("performance_parity", g)


def _regression() -> Iterator[Question]:
    yield from map(Question, ("rmse", "mae", "r2"))
    for criterion in REGRESSED:
        yield from _by_measure(criterion)
    for g in ("mse", "rmse", "mae", "r2", "gaussian_log_likelihood"):
        yield from _by_measure("performance_parity", g)


Questions = Mapping[Kind, tuple[Question, ...]]

QUESTIONS: Questions = {
    "classification": tuple(_classification()),
    "regression": tuple(_regression()),
}


def add_questions(questions: Iterable[Question]) -> Questions:
    """The usual questions (`QUESTIONS`) and these, for a `Design`.

    Parameters
    ----------
    questions : iterable of Question
        Each is asked of classifiers or of regressors, as its criterion says.

    Returns
    -------
    mapping of str to tuple of Question
        Questions for "classification" and "regression".

    Examples
    --------
    >>> asked = add_questions([Question("equal_opportunity", "pq", p=0.5)])
    >>> asked["classification"][-1].name, len(asked["regression"]) == len(QUESTIONS["regression"])
    ('equal_opportunity.pq p=0.5', True)

    """
    additional = tuple(questions)
    return {
        kind: tuple(dict.fromkeys([*usual, *(q for q in additional if q.kind == kind)]))
        for kind, usual in QUESTIONS.items()
    }
