"""Training and test rows: the same for every method, run and platform, given the seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError
from evenhand.datasets.dataset import Dataset
from evenhand.datasets.draws import bits

if TYPE_CHECKING:
    import pandas as pd

Rows = NDArray[np.intp]
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """Features and target of the training and the test rows.

    Attributes
    ----------
    X_train, X_test : DataFrame
        The features.
    y_train, y_test : Series
        The target.

    """

    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: pd.Series[Any]
    y_test: pd.Series[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Row numbers of the training and the test part of a data set.

    Made by `split`.

    Attributes
    ----------
    dataset : Dataset
        The data set that was divided.
    seed : int
        Which division of all it is.
    train, test : ndarray of int
        The numbers of the rows, in order.

    """

    dataset: Dataset
    seed: int
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)

    @property
    def metadata(self) -> dict[str, Any]:
        """The data set's metadata, and how it was split."""
        sizes = {"seed": self.seed, "train": len(self.train), "test": len(self.test)}
        return self.dataset.metadata | {"split": sizes}

    def parts(self) -> Parts:
        """Both parts, unscaled.

        Returns
        -------
        Parts
            Features and target of both.

        """
        X, y = self.dataset.X, self.dataset.y
        return Parts(
            X_train=X.iloc[self.train],
            X_test=X.iloc[self.test],
            y_train=y.iloc[self.train],
            y_test=y.iloc[self.test],
        )

    def normalized(self) -> Parts:
        """Both parts on scales learned from the training part alone.

        Numeric features get mean 0 and standard deviation 1, a regression's target the range
        0 … 1; test rows may fall outside. Categories and missing values stay as they are.

        Returns
        -------
        Parts
            Features and target of both.

        """
        raw = self.parts()
        numeric = list(self.dataset.numeric)
        mean, deviation = raw.X_train[numeric].mean(), raw.X_train[numeric].std(ddof=0)
        scale = deviation.where(deviation > 0, 1.0)
        y_train, y_test = raw.y_train, raw.y_test
        if self.dataset.kind == "regression":
            low, width = y_train.min(), float(np.ptp(y_train)) or 1.0
            y_train, y_test = (y_train - low) / width, (y_test - low) / width
        return Parts(
            X_train=raw.X_train.assign(**((raw.X_train[numeric] - mean) / scale)),
            X_test=raw.X_test.assign(**((raw.X_test[numeric] - mean) / scale)),
            y_train=y_train,
            y_test=y_test,
        )


def split(dataset: Dataset, *, seed: int, test_size: float = 0.2) -> Split:
    """Divide the rows in two, each group and class in proportion.

    Strata are group × class, or groups for a regression. A stratum too small to give a row to
    both parts joins the other small ones of its group; if those are still too few, they join
    the small ones of all groups. The rows depend on the seed alone, not on the platform.

    Parameters
    ----------
    dataset : Dataset
        What `load` gave.
    seed : int
        Which division; 0 or more.
    test_size : float, default 0.2
        The share of the test rows.

    Returns
    -------
    Split
        The numbers of the rows; `parts()` and `normalized()` give the rows themselves.

    Raises
    ------
    InputError
        If the seed is negative or the share not between 0 and 1.

    Examples
    --------
    >>> from evenhand.datasets import load
    >>> halves = split(load("simulated"), seed=0)
    >>> len(halves.train), len(halves.test), halves.test[:5]
    (4000, 1000, array([ 2,  3, 11, 13, 15]))

    """
    _refuse_impossible(seed, test_size)
    strata = _strata(dataset, at_least=int(np.ceil(1 / min(test_size, 1 - test_size))))
    keys = bits(dataset.n_rows, seed)
    order = np.lexsort((keys, strata))
    sizes = np.bincount(strata)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_test = rank < np.repeat(_apportion(sizes, test_size), sizes)
    train, test = np.sort(order[~is_test]), np.sort(order[is_test])
    return Split(dataset=dataset, seed=seed, train=train, test=test)


def _refuse_impossible(seed: int, test_size: float) -> None:
    if not 0 < test_size < 1:
        raise InputError(f"test_size is {test_size}; it must lie between 0 and 1, such as 0.2.")
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more.")


def _strata(dataset: Dataset, at_least: int) -> Rows:
    """Give each row the number of its stratum, with the small strata merged."""
    grouping = dataset.groups.groupby(list(dataset.sensitive), observed=True, dropna=False)
    group = grouping.ngroup().to_numpy()
    if dataset.kind == "regression":
        fine = group
    else:
        fine = group * len(dataset.classes) + dataset.y.to_numpy()
    after = int(fine.max()) + 1
    fine = np.where(_size(fine) < at_least, after + group, fine)
    merged = np.where(_size(fine) < at_least, after + int(group.max()) + 1, fine)
    return np.unique(merged, return_inverse=True)[1]


def _size(strata: Integers) -> Integers:
    """The size of each row's stratum."""
    return np.bincount(strata)[strata]


def _apportion(sizes: Integers, share: float) -> Rows:
    """Round share × sizes to integers whose sum is the rounded share of the total.

    >>> _apportion(np.array([7, 7, 6]), 0.2)
    array([2, 1, 1])
    """
    exact = sizes * share
    counts: Rows = np.floor(exact).astype(np.intp)
    remainder = int(np.rint(sizes.sum() * share)) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:remainder]] += 1
    return counts
