"""FairRR (Zeng et al. 2024): labels are flipped at random before the model is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation._fields import NonNegative, Unseen
from evenhand.mitigation.base_models import Refitting
from evenhand.mitigation.estimators import GroupClassifier, Quantity
from evenhand.mitigation.group_reader import Codes, Floats, Rows, Stage
from evenhand.mitigation.groups import cell_masses, empty_cells

HALVINGS = 13  # of the range of strengths: each is a fit of the base model


class LabelFlippingClassifier(GroupClassifier):
    """The base model, fitted to labels of which some were flipped for or against a group.

    The strength of the flips is the least for which the model's disparity on the fitting rows,
    with their true labels, is at most `epsilon`. For two classes and two groups; which group is
    ahead is read off the base model. The group is not needed to predict.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        Which rates are compared: "statistical_parity", "equal_opportunity" (which leaves false
        positives as they fall) or "predictive_equality".
    epsilon : float, default 0.0
        The largest difference between the two groups' rates.
    flips : {"expected", "drawn"}, default "expected"
        Whether a row counts with both labels, weighted by their chances, or is flipped at random
        once. The first has no chance in it, and the same best classifier.
    draw : bool, default False
        Whether `predict` draws from the model's probabilities, or takes the most probable class.

    Attributes
    ----------
    estimator_ : estimator
        The base model, fitted to the flipped labels.
    strength_ : float
        How strong the flips are; 0 where the model was even enough without any.

    References
    ----------
    Zeng, Yang, Wang, Dobriban and Cheng (2024), "FairRR: pre-processing for group fairness through
    randomized response", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import LabelFlippingClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = LabelFlippingClassifier(group=0, epsilon=0.05).fit(X, y)
    >>> [float(fair.predict(X)[group == a].mean().round(2)) for a in (0, 1)]
    [0.44, 0.48]

    """

    criteria: ClassVar[tuple[str, ...]] = (
        "statistical_parity",
        "equal_opportunity",
        "predictive_equality",
    )
    stage: ClassVar[Stage] = "pre"
    _weighs: ClassVar[bool] = True
    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")
    _reads_group: ClassVar[bool] = False
    criterion: str = "statistical_parity"
    epsilon: NonNegative = 0.0
    favorable: Any = None
    flips: Literal["expected", "drawn"] = "expected"
    draw: bool = False
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)

    def _fit(self, rows: Rows) -> None:
        rule = RULES[self._require_criterion()]
        favorable = self._favorable_place(matters=self._asked != "statistical_parity")
        mass = cell_masses(rows.y, rows.group, 2, 2, rows.sample_weight)
        self.notes_ = empty_cells(mass, self.classes_, self.sensitive_.labels, self._asked)
        features = self._features(rows.X)
        refitting = Refitting.prepare(self.estimator, features, self.classes_[rows.y])
        lots = self._lots(rows.X, " flips") if self.flips == "drawn" else None
        favored = replace(rows, y=(rows.y == favorable).astype(np.intp))
        search = FlipSearch(
            favored, refitting, self.classes_[[1 - favorable, favorable]], rule, lots
        )
        best = search.plain()
        if abs(best.disparity) > self.epsilon:
            best = search.weakest(best, self.epsilon)
        else:
            self._note_unbound(f"{self._asked}.mpd", abs(best.disparity))
        self.estimator_, self.strength_ = refitting.assembled(best.model), best.strength
        if abs(best.disparity) > self.epsilon:
            self.notes_ += (
                f"No strength of flipping keeps {self._asked} within {self.epsilon:g} on the "
                f"fitting rows; this one has the least, {abs(best.disparity):.4g}.",
            )

    def _decide(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        return self._base_probabilities(X)


class Fitted(NamedTuple):
    """A model, the strength of the flips behind it, and its disparity (group 0 minus group 1)."""

    model: Any
    strength: float
    disparity: float


@dataclass(frozen=True, eq=False)
class FlipSearch:
    """Rows and a model to fit to them; with `lots` in [0, 1), labels are flipped at random."""

    rows: Rows
    refitting: Refitting
    classes: NDArray[Any]
    rule: Rule
    lots: Floats | None = None

    def plain(self) -> Fitted:
        """The model of the unflipped labels."""
        model = self.refitting.fit(self.classes[self.rows.y], self.rows.weight)
        return Fitted(model, 0.0, self._disparity(model))

    def weakest(self, plain: Fitted, epsilon: float) -> Fitted:
        """The weakest flips that leave at most `epsilon`, or else the least disparity."""
        ahead = int(plain.disparity < 0)
        mass = cell_masses(self.rows.y, self.rows.group, 2, 2, self.rows.sample_weight)
        share = (mass / mass.sum())[:, [ahead, 1 - ahead]]
        may_flip = np.flatnonzero(self.rows.y == (self.rows.group == ahead))
        twice = self.refitting.rows(np.append(np.arange(len(self.rows.y)), may_flip))
        low, high, tried = 0.0, self.rule.most(share), [plain]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            labels, weight = self._flipped(self.rule.flips(middle, share), may_flip)
            model = twice.fit(labels, weight, tried[-1].model)
            tried.append(Fitted(model, middle, self._disparity(model)))
            enough = tried[-1].disparity * np.sign(plain.disparity) <= epsilon
            low, high = (low, middle) if enough else (middle, high)
        allowed = [fitted for fitted in tried if abs(fitted.disparity) <= epsilon]
        if allowed:
            return min(allowed, key=lambda fitted: fitted.strength)
        return min(tried, key=lambda fitted: abs(fitted.disparity))

    def _flipped(self, flips: Flips, may_flip: Codes) -> tuple[NDArray[Any], Floats]:
        """Every row with its label, and those that may flip with the other label too."""
        y = self.rows.y
        chance = np.zeros(len(y))
        chance[may_flip] = np.where(y[may_flip] == 1, flips.down, flips.up)
        if self.lots is not None:
            chance = (self.lots < chance).astype(np.float64)
        weight = self.rows.weight
        labels = np.append(y, 1 - y[may_flip])
        return self.classes[labels], np.append(weight * (1 - chance), (weight * chance)[may_flip])

    def _disparity(self, model: Any) -> float:
        """The difference in acceptance; 0 where a group has nobody to compare."""
        y, group = self.rows.y, self.rows.group
        accepted = self.rows.weight * (model.predict(self.refitting.X) == self.classes[1])
        among = list(self.rule.among)
        above = cell_masses(y, group, 2, 2, accepted)[among].sum(axis=0)
        below = cell_masses(y, group, 2, 2, self.rows.sample_weight)[among].sum(axis=0)
        return float(np.subtract(*(above / below))) if below.all() else 0.0


class Flips(NamedTuple):
    """Chances that a 1 of the group ahead becomes 0, and a 0 of the other becomes 1."""

    down: float
    up: float


class Rule(NamedTuple):
    """For which labels rates are compared, the flips at strength t, and the largest sensible t.

    The flips are functions of t and of the shares P(y, a), the group ahead in column 0. At the
    largest t a chance reaches ½: a group is then accepted or turned down as a whole.
    """

    among: tuple[int, ...]
    flips: Callable[[float, Floats], Flips]
    most: Callable[[Floats], float]


def _parity(t: float, share: Floats) -> Flips:
    ahead, behind = share.sum(axis=0)
    return Flips(t / (ahead + t), t / (behind + t))


def _opportunity(t: float, share: Floats) -> Flips:
    return Flips(t / (2 * share[1, 0]), t / (2 * (share[1, 1] + t)))


def _equality(t: float, share: Floats) -> Flips:
    return Flips(t / (2 * (share[0, 0] + t)), t / (2 * share[0, 1]))


RULES = {
    "statistical_parity": Rule((0, 1), _parity, lambda share: float(share.sum(axis=0).min())),
    "equal_opportunity": Rule((1,), _opportunity, lambda share: float(share[1, 0])),
    "predictive_equality": Rule((0,), _equality, lambda share: float(share[0, 1])),
}


def thresholds(flips: Flips) -> tuple[float, float]:
    """The cuts of P(y = 1 | x) of the best classifier of flipped labels, ahead and behind.

    >>> thresholds(Flips(down=0.2, up=0.2))
    (0.625, 0.37499999999999994)
    """
    return 0.5 / (1 - flips.down), (0.5 - flips.up) / (1 - flips.up)
