"""The frontier's recommended rules as an estimator: chosen by held-out rows."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from evenhand._seeds import seed_of
from evenhand.mitigation._sklearn import rows_of
from evenhand.mitigation.base_models import class_probabilities, fit_underlying
from evenhand.mitigation.crossfit import rows as crossfit
from evenhand.mitigation.crossfit.advice import advised
from evenhand.mitigation.crossfit.calibration import believable
from evenhand.mitigation.crossfit.objective import Objective
from evenhand.mitigation.group_reader import Floats, Rows
from evenhand.mitigation.optimal.classifier import Populations
from evenhand.mitigation.optimal.generation import Solution
from evenhand.mitigation.optimal.problem import Columns, costs_of
from evenhand.mitigation.optimal.scores import Population
from evenhand.mitigation.optimal.steady import Steady
from evenhand.mitigation.rate_constrained import RateConstrainedClassifier

FOLDS = 5
LEAST_ROWS = 2 * FOLDS  # of a class, for scores of rows that the base model was not fitted to


class FrontierClassifier(RateConstrainedClassifier):
    """Post-processes a classifier so that a criterion is at most ε on rows not seen at fit too.

    For any number of classes and groups, told the criterion and the measure by which it will be
    judged. It solves the problem of `RateConstrainedClassifier` and guards against its two
    weaknesses. The rule is fitted to scores of rows that the base model had not seen (five folds).
    And where groups are small, part of their decisions are made at random, at a rate that is
    known; how large a part, and whether rules follow the labels or the scores, is chosen at every
    bound by what does best on rows left out. These are the rules that `evenhand.frontier`
    recommends.

    Parameters
    ----------
    rate_error : float, "cross-fit" or None, default "cross-fit"
        The largest standard error that a group's rate may have. The smaller the group, the more of
        its decisions are made at random. By default the one that does best on rows left out of the
        fit, which may be none; None makes no such decisions.
    random_state : int, Generator, RandomState or None, default None
        The key of the draws (see `lots`); for anything but an int, it is drawn at fit. An int also
        draws the folds, which are otherwise the same at every fit.

    Attributes
    ----------
    fitted_to_ : {"labels", "scores"}
        What the rule was fitted to.
    lot_ : ndarray of shape (n_groups,)
        The part of each group's decisions that is made at random because the group is small.
    value_ : float
        The criterion on the fitting rows, by their labels or by the scores as `fitted_to_` says.

    See Also
    --------
    RateConstrainedClassifier : The optimum on the fitting rows, without a guard.
    evenhand.frontier : The whole curve, with proofs, for scores that you have.

    Notes
    -----
    The explanation "theory" in the documentation shows that the measures bound convex cones.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import FrontierClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = FrontierClassifier(group=0, epsilon=0.05, random_state=0).fit(X, y)
    >>> chance = fair.predict_proba(X)[:, 1]
    >>> [float(chance[group == a].mean().round(2)) for a in (0, 1)]
    [0.43, 0.48]

    """

    _takes_probable: ClassVar[bool] = False
    rate_error: Any = "cross-fit"
    group_estimator: Any = field(default=None, init=False)

    def _populations(self, rows: Rows) -> Populations:
        self._fit_base(rows)
        self.proxy_ = self._worst = None
        bound, favorable = self._bound(), self._about()
        scored = crossfit.Rows(
            self._unseen_scores(rows),
            rows.y,
            rows.group,
            rows.weight,
            tuple(range(len(self.classes_))),
            tuple(range(len(self.sensitive_.labels))),
            favorable,
            are_probabilities=True,
            columns=(),
            stated=favorable is not None,
        )
        cost = costs_of(self.cost, len(self.classes_))
        question = Objective(bound.criterion, bound.measure, cost, stated=scored.stated)
        truths = believable(scored, "labels" if scored.is_binary else "scores")
        advice = advised(scored, question, truths, self.rate_error, self._seed, rising=self.rising)
        self.fitted_to_ = advice.truth
        return lambda epsilon: advice.tracers[advice.error(epsilon)].population

    def _solve(self, population: Population, start: Columns | None = None) -> Solution:
        groups = len(self.sensitive_.labels)
        self.lot_ = population.lot if isinstance(population, Steady) else np.zeros(groups)
        return super()._solve(population, start)

    def _truth(self, rows: Rows) -> Floats:
        if self.fitted_to_ == "scores":
            return super()._truth(rows)
        return np.asarray(np.eye(len(self.classes_))[rows.y])

    @property
    def _seed(self) -> int:
        """The seed of the folds, which are equal from fit to fit unless `random_state` is one."""
        state = self.random_state
        return seed_of(state) if isinstance(state, int | np.integer) else 0

    def _unseen_scores(self, rows: Rows) -> Floats:
        """The out-of-fold probabilities of each row by the base model.

        A base model that follows its fitting rows is too sure of them. Where it came fitted, or
        some class has too few rows to leave any out, it is used directly.
        """
        if self.prefit or np.bincount(rows.y).min() < LEAST_ROWS:
            return self._base_probabilities(rows.X)
        features = self._features(rows.X)
        scores = np.empty((len(rows.y), len(self.classes_)))
        fold = _folds(rows.y, self._seed)
        for held_out in range(FOLDS):
            inside, outside = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
            weight = None if rows.sample_weight is None else rows.sample_weight[inside]
            model = fit_underlying(
                self.estimator, rows_of(features, inside), self.classes_[rows.y[inside]], weight
            )
            probabilities = class_probabilities(model, rows_of(features, outside), self.classes_)
            scores[outside] = probabilities
        return scores


def _folds(y: Any, random_state: int) -> Any:
    """The fold of each row; every class is spread evenly over them."""
    order = crossfit.stream(random_state, 5).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), np.intp)
    fold[order] = np.arange(len(y)) % FOLDS
    return fold
