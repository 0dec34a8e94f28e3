"""What is asked of stored predictions: criteria by measure, and the paper's ablations of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from evenhand._errors import InputError
from evenhand.benchmark.design.importing import imported, is_import_path
from evenhand.criteria import CRITERIA, Criterion
from evenhand.criteria.criterion import Settings
from evenhand.datasets.task import Kind
from evenhand.measures import Measure, pq

MEASURES = ("mpd", "gini", "pq")
AGGREGATES = ("mean", "total")


@dataclass(frozen=True)
class Question:
    """A criterion and how it is asked; without a measure, a performance such as accuracy.

    Criterion and measure are names, or package.module:name of a `Criterion` and of a function.
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
        """All of it in one word, for a column's head.

        >>> Question("performance_parity", "pq", g="f1", transform="exp").name
        'performance_parity.pq transform=exp g=f1'
        """
        if self.measure is None:
            return self.criterion
        head = ("criterion", "measure")
        more = [f"{k}={v}" for k, v in asdict(self).items() if v is not None and k not in head]
        return " ".join([f"{self.criterion}.{self.measure}", *more])

    @property
    def asked(self) -> Criterion:
        """The criterion itself, with its statistic."""
        return _criterion(self.criterion).with_statistic(self.g)

    @property
    def how(self) -> Settings:
        """Measure, aggregate and transform."""
        measure: str | Measure | None = self.measure
        if self.p is not None or self.q is not None:
            measure = partial(pq, p=self.p or 1, q=self.q or 2)
        elif self.measure is not None and is_import_path(self.measure):
            measure = imported(self.measure)
        return self.asked.settings(measure, self.aggregate, self.transform, self.tau)

    @property
    def kind(self) -> Kind:
        """Of which predictions it is asked."""
        about = self.asked.kind.about
        if about == "strata":
            raise InputError(f"{self.criterion} needs strata, which a benchmark does not store.")
        return "regression" if about == "numbers" else "classification"

    def check(self) -> None:
        """Refuse what cannot be asked, before anything is computed."""
        self.how.function(np.array([0.5, 0.5]))
        if (self.p is not None or self.q is not None) and self.measure != "pq":
            raise InputError(f"p and q are orders of the measure 'pq', not of {self.measure!r}.")


def _criterion(name: str) -> Criterion:
    found = imported(name) if is_import_path(name) else CRITERIA.get(name)
    if not isinstance(found, Criterion):
        raise InputError(f"There is no criterion {name!r}; there are {', '.join(CRITERIA)}.")
    return found


def _each(criterion: str, **options: Any) -> Iterator[Question]:
    yield from (Question(criterion, measure, **options) for measure in MEASURES)


def _positive(criterion: str, **options: Any) -> Iterator[Question]:
    yield from (Question(criterion, one, transform="exp", **options) for one in ("gini", "pq"))


def _classification() -> Iterator[Question]:
    yield Question("accuracy")
    for criterion in ("statistical_parity", "average_odds", "equalized_odds"):
        yield from _each(criterion)
        yield from _positive(criterion)
        for aggregate in AGGREGATES:
            yield from _each(criterion, aggregate=aggregate)
    for criterion in ("equal_opportunity", "predictive_equality"):
        yield from _each(criterion)
    for g in ("accuracy", "f1", "auroc", "cross_entropy"):
        yield from _each("performance_parity", g=g)
        yield from _positive("performance_parity", g=g)
    for criterion in ("strong_parity", "wasserstein_parity"):  # of the probabilities
        yield from _each(criterion)
    for criterion in ("statistical_parity", "average_odds"):
        for p in (0.1, 0.3, 0.5, 0.7, 0.9):
            for q in (1.1, 1.5, 2.0, 2.5):
                yield Question(criterion, "pq", p=p, q=q)


def _regression() -> Iterator[Question]:
    yield from map(Question, ("rmse", "mae", "r2"))
    yield from _each("strong_parity")
    for measure in ("gini", "pq"):
        yield Question("strong_parity", measure, tau=0.05)
        yield Question("strong_parity", measure, transform="raw")
    for criterion in ("wasserstein_parity", "weak_parity"):
        yield from _each(criterion)
        yield from _positive(criterion)
    for g in ("mse", "rmse", "mae", "r2", "gaussian_log_likelihood"):
        yield from _each("performance_parity", g=g)
        yield from _positive("performance_parity", g=g)


Questions = Mapping[Kind, tuple[Question, ...]]

QUESTIONS: Questions = {
    "classification": tuple(_classification()),
    "regression": tuple(_regression()),
}


def with_more(questions: Iterable[Question]) -> Questions:
    """The usual questions and these."""
    more = [(one.kind, one) for one in questions]
    return {
        kind: tuple(dict.fromkeys([*usual, *(one for of, one in more if of == kind)]))
        for kind, usual in QUESTIONS.items()
    }
