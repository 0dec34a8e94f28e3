"""The cheapest decisions whose group rates are equal to within ε, by the measure itself.

The rates of any randomized rule are linear in its decisions, and MPD, Gini and PQ(p, q) with
p ≤ 1 ≤ q are bounded by convex cones; so the best rule is found, with a proof of its optimality.
"""

from __future__ import annotations

from typing import Any, ClassVar

from evenhand.measures import MeasureLike, resolve
from evenhand.mitigation._fields import NonNegative, Positive
from evenhand.mitigation.optimal.classifier import CriterionBound, RuleClassifier
from evenhand.mitigation.optimal.rates import RATES


class RateConstrainedClassifier(RuleClassifier):
    """Post-processes a classifier so that a criterion is at most ε, at the least expected cost.

    For any number of classes and groups. Decisions are made at random between a few rules for each
    group, which is what makes the bound exact.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        "statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds" or
        "average_odds"; those that ask for the truth ask the base model's probabilities.
    measure : str or Measure, default "mpd"
        How unequal the rates of a cell are: "mpd", "gini", "pq", "shortfall", or a `Measure` with a
        gradient and convex level sets; the criterion is its largest value over the cells.
    epsilon : float, default 0.01
        The most that the measure may be, in its own unit: by "mpd" 0.05 are five percentage
        points between two groups. 0 makes the rates equal.
    cost : array-like of shape (n_classes, n_classes), default None
        What it costs to decide a class (column) when another is true (row); None: 1 if wrong.
    p, q : float or None, default None
        The orders of PQ, 0 < p ≤ 1 ≤ q; None is 1 and 2, or those in "pq(p=0.5, q=3)".

    See Also
    --------
    LinearPostClassifier : The published special case, by differences of rates.

    Notes
    -----
    The explanation "theory" in the documentation shows that the measures bound convex cones.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import RateConstrainedClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = RateConstrainedClassifier(group=0, measure="gini", epsilon=0.02).fit(X, y)
    >>> round(fair.value_, 3), fair.rates_.round(2)
    (0.02, array([[0.55, 0.51],
           [0.45, 0.49]]))
    >>> bool(fair.gap_ <= 1e-6)
    True

    """

    criteria: ClassVar[tuple[str, ...]] = tuple(RATES)
    _takes_probable: ClassVar[bool] = True
    criterion: str = "statistical_parity"
    measure: MeasureLike = "mpd"
    epsilon: NonNegative = 0.01
    cost: Any = None
    p: Positive | None = None
    q: Positive | None = None

    def _bound(self) -> CriterionBound:
        measure = resolve(self._measure, self.p, self.q)
        return CriterionBound(self._require_criterion(), measure, self.epsilon)


class LinearPostClassifier(RuleClassifier):
    """Post-processes a classifier so that no two groups' rates differ by more than ε.

    For any number of classes and groups; it is `RateConstrainedClassifier` with the measure MPD
    and the cost of an error. Where the published method breaks ties by noise, this one mixes rules
    at random, so that ε is met exactly on the fitting rows.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        Which rates: "statistical_parity", "equal_opportunity" or "equalized_odds". The truth they
        are given is taken from the base model's probabilities.
    epsilon : float, default 0.01
        The largest difference between two groups' rates.

    See Also
    --------
    RateConstrainedClassifier : The same by other measures, criteria and costs.

    References
    ----------
    Xian, Yin and Zhao (2023), "Fair and optimal classification via post-processing", ICML; Xian and
    Zhao (2024), "A unified post-processing framework for group fairness in classification".

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import LinearPostClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = LinearPostClassifier(group=0, epsilon=0.05).fit(X, y)
    >>> chance = fair.predict_proba(X)[:, 1]
    >>> [float(chance[group == a].mean().round(2)) for a in (0, 1)]
    [0.43, 0.48]

    """

    criteria: ClassVar[tuple[str, ...]] = (
        "statistical_parity",
        "equal_opportunity",
        "equalized_odds",
    )
    _takes_probable: ClassVar[bool] = True
    criterion: str = "statistical_parity"
    epsilon: NonNegative = 0.01

    def _bound(self) -> CriterionBound:
        return CriterionBound(self._require_criterion(), resolve("mpd"), self.epsilon)
