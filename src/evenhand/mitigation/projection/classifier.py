"""FairProj (Alghamdi et al. 2022): the nearest probabilities whose rates are nearly equal."""

from __future__ import annotations

from typing import Any, Literal

from evenhand.mitigation.classifier import GroupClassifier, Probabilities
from evenhand.mitigation.constraints import cell_masses, empty_cells, require_constraint
from evenhand.mitigation.projection.divergences import DIVERGENCES
from evenhand.mitigation.projection.dual import fit_prices, project, smoothed
from evenhand.mitigation.projection.ratios import CONSTRAINTS, Ratios
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.sensitive import Bins


class ProjectionClassifier(GroupClassifier):
    """The base model's probabilities, moved as little as ratio constraints allow.

    For any number of classes and groups. `predict_proba` gives the projected probabilities,
    which meet the constraints on the fitting rows up to a small regularisation; `predict` takes
    the most probable class, and those labels need not meet them. Pass draw=True to draw instead.

    Parameters
    ----------
    constraint : "statistical_parity" or "mean_equalized_odds"
        Whose ratio between a group and everyone is bounded: P(ŷ = y | a), or P(ŷ = y | y, a),
        which is the diagonal of equalized odds, by the model's own probability of y.
    alpha : float
        How far the ratio may be from 1; for a rare class that is little in absolute terms.
    divergence : "kl" or "ce"
        What is least: D(new ‖ base), or D(base ‖ new).
    regularisation : float
        The ridge on the multipliers; None is one over the root of the rows' total weight.
    as_published : bool
        Whether to repeat a slip in the published code's ridge for "kl"; it hardly matters.

    The other parameters are those of `GroupReader`.

    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint: str = "statistical_parity",
        alpha: float = 0.1,
        divergence: Literal["kl", "ce"] = "kl",
        regularisation: float | None = None,
        as_published: bool = False,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        draw: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            prefit=prefit,
            unseen=unseen,
            draw=draw,
            random_state=random_state,
        )
        self.constraint = constraint
        self.alpha = alpha
        self.divergence = divergence
        self.regularisation = regularisation
        self.as_published = as_published

    def _fit(self, rows: Rows) -> None:
        require_constraint(self.constraint, CONSTRAINTS, self)
        if self.divergence not in DIVERGENCES:
            raise ValueError(f"divergence is 'kl' or 'ce', not {self.divergence!r}.")
        self._fit_base(rows)
        classes, groups = len(self.classes_), len(self.sensitive_.labels)
        mass = cell_masses(rows.y, rows.group, classes, groups, rows.sample_weight)
        self.ratios_ = Ratios.of(self.constraint, mass, self.alpha)
        self.notes_ = empty_cells(self.ratios_.cell, self.classes_, self.sensitive_.labels)
        self.prices_ = fit_prices(
            smoothed(self._base_probabilities(rows.X)),
            rows.group,
            self.ratios_,
            rows.sample_weight,
            divergence=self.divergence,
            ridge=self.regularisation,
            as_published=self.as_published and self.divergence == "kl",
        )

    def _decide(self, X: Any, group: Codes) -> Probabilities:
        p = smoothed(self._base_probabilities(X))
        return project(p, group, self.prices_, self.ratios_, self.divergence)
