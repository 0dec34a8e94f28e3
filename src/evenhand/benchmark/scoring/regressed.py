"""Answers about regressors: from sums of errors, and from distributions of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._counting import moments
from evenhand._distributions import distribution
from evenhand._groups import Groups
from evenhand._tally import Axis, Tally
from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.scoring.answers import answers, sweeps, swept
from evenhand.benchmark.scoring.counted import EXPECTED, Answered, whom
from evenhand.benchmark.store import Truth
from evenhand.benchmark.store.predictions import Predictions

Floats = NDArray[np.float64]


def regression(truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]) -> Floats:
    """Sums of all runs at once; distributions one by one."""
    drawn = [_Drawn.of(truth, *run) for run in runs]
    groups = (Axis("group", truth.groups),)
    tallies = [moments(one.y, one.yhat, sensitive_features=one.whom) for one in drawn]
    sums = {
        name: np.array([one.table("group", of=name) for one in tallies]) for name in tallies[0].sums
    }
    together = Tally(groups, np.arange(len(truth.groups))[None], sums)
    values = np.full((len(questions), len(runs)), np.nan)
    for place, question in enumerate(questions):
        if question.measure is None:
            values[place] = [one.performance(question.criterion) for one in drawn]
        elif question.asked.statistic.needs == "moments":
            with np.errstate(divide="ignore", invalid="ignore"):  # errors may be 0, their log −∞
                values[place] = answers(question, question.asked.table(together))
    about_all = [i for i, one in enumerate(questions) if one.measure and sweeps(one)]
    for run, one in enumerate(drawn):
        steps = distribution(one.yhat, sensitive_features=one.whom)
        values[about_all, run] = [swept(questions[i], steps) for i in about_all]
    return values


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Truth and predictions; all draws below each other stand for the expectation."""

    y: Floats
    yhat: Floats
    whom: Groups

    @classmethod
    def of(cls, truth: Truth, lot: str, predictions: Predictions) -> _Drawn:
        assert predictions.values is not None
        drawn = predictions.values if lot == EXPECTED else predictions.values[:, :1]
        times = drawn.shape[1]
        yhat = drawn.astype(np.float64).ravel(order="F")
        return cls(np.tile(truth.y, times), yhat, whom(truth, times))

    def performance(self, name: str) -> float:
        error = self.y - self.yhat
        squared, spread = np.mean(error**2), np.var(self.y)
        found = {"rmse": np.sqrt(squared), "mae": np.mean(abs(error)), "r2": 1 - squared / spread}
        return float(found[name])
