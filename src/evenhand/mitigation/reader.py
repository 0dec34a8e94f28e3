"""What all methods share: an estimator that reads the group of each row from columns of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.validation import validate_data

from evenhand.groups import show
from evenhand.mitigation.sensitive import Bins, Sensitive, is_frame

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """The fitting rows: X as given, y (classes by number), and the number of each row's group.

    `sample_weight` is None where none was given; `weight` is then 1 in every row.
    """

    X: Any
    y: NDArray[Any]
    group: Codes
    sample_weight: NDArray[np.float64] | None

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each row."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight


class GroupReader(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose X holds the group columns, of which the base model may see none.

    Parameters
    ----------
    estimator : estimator or None
        The base model; None is logistic regression, or least squares for a regression.
    group : str, int, or list of these
        The column or columns of X that name the group (positions where X is an array).
    bins : int or dict
        Into how many quantile bins numeric group columns are cut; None cuts nothing.
    sees_group : bool
        Whether the base model sees the group columns too.
    prefit : bool
        The estimator is already fitted (on the columns it is meant to see), and used as it is.
    unseen : "error" or "base"
        What becomes of a row whose group was not seen at fit: an error, or the base prediction.
    draw : bool
        Where a method decides by lot: whether `predict` draws, or takes the most probable answer.
    random_state : int, RandomState or None
        For the draws; an int gives the same answer for the same rows.

    """

    _reads_group: ClassVar[bool] = True
    sensitive_: Sensitive

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.group = group
        self.bins = bins
        self.sees_group = sees_group
        self.prefit = prefit
        self.unseen = unseen
        self.draw = draw
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _asks_group(self) -> bool:
        """Whether `predict` needs the group, with these parameters."""
        return self._reads_group

    def _checked(self, X: Any, reset: bool) -> Any:
        """X as scikit-learn wants it; a dataframe stays one.

        A method that does not read the group takes dataframes without it, where the base model
        does not see it either.
        """
        if not is_frame(X):
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=["csr", "csc"],
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
        if reset or self._asks_group() or self.sees_group:
            validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _features(self, X: Any) -> Any:
        """What the base model reads of X."""
        return self.sensitive_.features(X, self.sees_group)

    def _groups(self, X: Any) -> Codes:
        """The number of each row's group; −1 if unseen at fit, or if the method never asks."""
        if not self._asks_group():
            return np.full(X.shape[0], -1, np.intp)
        codes = self.sensitive_.codes(X)
        if self.unseen == "error" and (codes < 0).any():
            strangers = ", ".join(map(show, self.sensitive_.unseen(X)))
            seen = ", ".join(map(show, self.sensitive_.labels))
            raise ValueError(
                f"X has groups that were not seen at fit: {strangers} (seen: {seen}). "
                'Fit with them, or pass unseen="base" to give them the base model\'s prediction.'
            )
        return codes
