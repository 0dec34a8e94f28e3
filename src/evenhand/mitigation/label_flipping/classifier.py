"""FairRR (Zeng et al. 2024): labels are flipped by lot before the model is fitted."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sklearn.utils import check_random_state

from evenhand.mitigation.classifier import GroupClassifier, Probabilities, Quantity
from evenhand.mitigation.constraints import cell_masses, empty_cells, require_constraint
from evenhand.mitigation.label_flipping.chances import RULES
from evenhand.mitigation.label_flipping.search import Search
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.refitting import Refitting
from evenhand.mitigation.sensitive import Bins


class LabelFlippingClassifier(GroupClassifier):
    """The base model, fitted to labels of which some were flipped for or against a group.

    The strength of the flips is the least for which the model's disparity on the fitting rows,
    with their true labels, is at most `delta`. For two classes and two groups; which group is
    ahead is read off the base model. The group is not needed to predict.

    Parameters
    ----------
    constraint : "statistical_parity", "equal_opportunity" or "predictive_equality"
        Which rates are compared; equal opportunity leaves false positives as they fall.
    delta : float
        The largest difference between the rates.
    flips : "expected" or "drawn"
        Whether a row counts with both labels, weighted by their chances, or is flipped by lot
        once. The first has no chance in it, and the same best classifier.

    The other parameters are those of `GroupReader`.

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")
    _reads_group: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint: str = "statistical_parity",
        delta: float = 0.0,
        flips: Literal["expected", "drawn"] = "expected",
        bins: Bins = None,
        sees_group: bool = True,
        draw: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            draw=draw,
            random_state=random_state,
        )
        self.constraint = constraint
        self.delta = delta
        self.flips = flips

    def _fit(self, rows: Rows) -> None:
        require_constraint(self.constraint, RULES, self)
        if self.flips not in ("expected", "drawn"):
            raise ValueError(f"flips is 'expected' or 'drawn', not {self.flips!r}.")
        mass = cell_masses(rows.y, rows.group, 2, 2, rows.sample_weight)
        self.notes_ = empty_cells(mass, self.classes_, self.sensitive_.labels, self.constraint)
        features = self._features(rows.X)
        refitting = Refitting.prepare(self.estimator, features, self.classes_[rows.y])
        lots = None
        if self.flips == "drawn":
            lots = check_random_state(self.random_state).random_sample(len(rows.y))
        search = Search(rows, refitting, self.classes_, RULES[self.constraint], lots)
        best = search.plain()
        if abs(best.disparity) > self.delta:
            best = search.weakest(best, self.delta)
        self.estimator_, self.strength_ = refitting.whole(best.model), best.strength
        if abs(best.disparity) > self.delta:
            self.notes_ += (
                f"No strength of flipping keeps {self.constraint} within {self.delta:g} on the "
                f"fitting rows; this one has the least, {abs(best.disparity):.4g}.",
            )

    def _decide(self, X: Any, group: Codes) -> Probabilities:  # noqa: ARG002
        return self._base_probabilities(X)
