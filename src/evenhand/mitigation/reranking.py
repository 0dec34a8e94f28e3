"""Reranking of lists so that groups get about equal attention, at the least loss of DCG.

A *policy* draws one of several orders for every list. Its expected DCG and the mean attention of
each group are linear in how often it draws which, so the best policy within a bound is a linear
program (Singh and Joachims 2018, Fairness of Exposure in Rankings). Its Lagrangian gives every
group an offset: where attention is the discount of DCG itself, the best order under given offsets
is by score plus offset, which is as fast as sorting, and otherwise it is an assignment of rows to
places. So orders are added one by one to a small program over those there are, each the best under
its multipliers, until none helps (Dantzig and Wolfe 1960): then the policy is optimal among all,
the random ones included, for any number of lists. Some orders, at most one more than there are
groups, are then drawn, and new lists are put in order by the same offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from evenhand._columns.encoding import check_lengths, encode, finite
from evenhand._data.dataframes import column_of, is_frame
from evenhand._data.groups import show
from evenhand._data.places import Discount, discount_of
from evenhand._data.rankings import check_top
from evenhand._errors import InputError, refusing
from evenhand._words import number
from evenhand.mitigation._fields import Fields, NonNegative, Values
from evenhand.mitigation._lots import drawn, lots
from evenhand.mitigation.group_reader import current_key, key_of
from evenhand.mitigation.groups import Sensitive

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Criterion = Literal["exposure_parity", "top_k_parity", "exposure_per_relevance"]
Column = Annotated[Any, Values("a column of X", lambda name: isinstance(name, str | int))]
Anything = Annotated[Any, Values("anything", lambda _: True)]

ROUNDS = 400  # of adding an order
PENALTY = 1e4  # of the whole DCG, for a gap that is 1 larger than the bound
CLOSE = 1e-9  # to the optimum, as a share of DCG, or to a share of 0
MISSED = 1e-6  # by which a bound is not met


class OffsetReranker(Fields):
    """Order lists by score plus an offset of the group, for the least loss of DCG within a bound.

    The bound is on the largest difference between groups, on average over all lists of the fit and
    in expectation: where no single order meets it, each list draws one of a few. Fitted on one
    list it is the best policy for that list; fitted on many, it serves further lists at the price
    of sorting them.

    Parameters
    ----------
    group : str, int, or list of these, default None
        The column or columns of X that name the group (positions where X is an array); it must be
        given.
    query : str or int, default "query"
        The column of X that says which list a row is in.
    score : str or int, default "score"
        The column of X with the score of each row, its expected relevance, such as a probability.
    criterion : {"exposure_parity", "top_k_parity", "exposure_per_relevance"}, \
default "exposure_parity"
        What the groups are compared by: their mean attention, their share of the first `top_k`
        places, or their attention over their relevance, for which `fit` takes `y`.
    epsilon : float, default 0.0
        How far groups may be from each other.
    discount : {"log", "inverse"}, float or sequence of float, default "log"
        The attention that a place gets, and what DCG weighs it with.
    top_k : int, default None
        How many first places "top_k_parity" is about.
    draw : bool, default True
        Whether a list draws its order; False takes the likeliest one, which need not keep the
        bound.
    random_state : int, Generator, RandomState or None, default None
        The key of the draws: a query has the same order in every call.

    Attributes
    ----------
    sensitive_ : Sensitive
        The groups seen at fit, `sensitive_.labels`, and how to find a row's group.
    offsets_ : ndarray of shape (n_orders, n_groups)
        What is added to the scores of each group, in every order that may be drawn.
    shares_ : ndarray of shape (n_orders,)
        How often each of these is drawn.
    values_ : ndarray of shape (n_groups,)
        What is compared, by group, on the lists of the fit.
    gap_ : float
        The largest difference between two of them.
    loss_ : float
        The share of DCG that the bound costs on the lists of the fit.
    notes_ : tuple of str
        Where the bound cannot be met, or changes nothing, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenhand.mitigation import OffsetReranker
    >>> people = pd.DataFrame(
    ...     {"job": [1, 1, 1, 1], "sex": ["m", "m", "f", "f"], "fit": [0.9, 0.8, 0.7, 0.6]}
    ... )
    >>> ranker = OffsetReranker(
    ...     group="sex", query="job", score="fit", epsilon=0.1, random_state=0
    ... ).fit(people)
    >>> print(f"{ranker.gap_:.2f} {ranker.loss_:.3f}")
    0.10 0.018
    >>> ranker.predict(people)
    array([2, 4, 1, 3])

    """

    group: Any = None
    query: Column = "query"
    score: Column = "score"
    criterion: Criterion = "exposure_parity"
    epsilon: NonNegative = 0.0
    discount: Annotated[Discount, Anything] = "log"
    top_k: Annotated[int | None, Anything] = None
    draw: bool = True
    random_state: Any = None
    sensitive_: Sensitive = field(init=False)
    offsets_: Floats = field(init=False)
    shares_: Floats = field(init=False)
    values_: Floats = field(init=False)
    gap_: float = field(init=False)
    loss_: float = field(init=False)
    notes_: tuple[str, ...] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the best policy for these lists.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            Rows of lists, with the columns of the group, the query and the score.
        y : array-like of shape (n_rows,), default None
            How relevant each row is; only "exposure_per_relevance" reads it.

        Returns
        -------
        OffsetReranker
            Itself.

        Raises
        ------
        InputError
            If a column is not there, a score is negative, or a group has no relevance.

        """
        self._check_values()
        check_top(self.top_k)
        if (self.criterion == "top_k_parity") != (self.top_k is not None):
            raise InputError("Pass top_k= with criterion='top_k_parity', and with no other.")
        self._validated(X, reset=True)
        self._key = key_of(self.random_state)
        self.sensitive_, group = Sensitive.read(X, self.group)
        lists = self._lists(X, group)
        merit = self._merit(y, lists)
        weight = np.bincount(group, merit, len(self.sensitive_.labels)).astype(np.float64)
        for label, total in zip(self.sensitive_.labels, weight, strict=True):
            if not total > 0:
                raise InputError(
                    f"No row of group {show(label)} is relevant, so its exposure per relevance is "
                    "undefined. Leave the group out, or bound exposure_parity."
                )
        best = _Program(lists, weight, self.epsilon).solved()
        is_used = best.shares > CLOSE
        self.offsets_ = np.array(best.offsets)[is_used]
        self.shares_ = best.shares[is_used] / best.shares[is_used].sum()
        self.values_ = self.shares_ @ np.array(best.attention)[is_used]
        self.gap_ = float(np.ptp(self.values_))
        self.loss_ = max(0.0, 1 - float(self.shares_ @ np.array(best.gains)[is_used]))
        before = float(np.ptp(best.attention[0]))
        self.notes_ = ()
        if self.gap_ > self.epsilon + MISSED:
            self.notes_ = (
                f"epsilon={number(self.epsilon)} cannot be met by any order of these lists: the "
                f"least gap is {number(self.gap_)}.",
            )
        elif before <= self.epsilon:
            self.notes_ = (
                f"epsilon={number(self.epsilon)} changes nothing: without it the gap is "
                f"{number(before)}.",
            )
        return self

    def predict(self, X: Any) -> Codes:
        """The place of each row in its list, from 1 on.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            Whole lists, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Places, as `y_pred` of `evenhand.audit` with `query`.

        """
        check_is_fitted(self)
        self._validated(X, reset=False)
        group = self.sensitive_.codes(X)
        if (group < 0).any():
            unseen = ", ".join(map(show, self.sensitive_.unseen(X)))
            raise InputError(f"X has groups that were not seen at fit: {unseen}. Fit with them.")
        lists = self._lists(X, group)
        chosen = np.full(len(lists.names), int(np.argmax(self.shares_)), np.intp)
        if self.draw:
            lot = lots(np.asarray(lists.names), key=current_key(self.random_state, self._key))
            chosen = drawn(np.tile(self.shares_, (len(lot), 1)), lot)
        places = np.empty(len(group), np.intp)
        for at, offsets in enumerate(self.offsets_):
            rows = chosen[lists.codes] == at
            if rows.any():
                places[rows] = lists.only(rows).places(offsets)
        return places

    def _validated(self, X: Any, *, reset: bool) -> None:
        with refusing("X cannot be read"):
            if is_frame(X):
                validate_data(self, X, reset=reset, skip_check_array=True)
            else:
                validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _lists(self, X: Any, group: Codes) -> _Lists:
        query = encode(column_of(X, self.query), "query")
        score = finite(column_of(X, self.score), "score")
        if query.missing:
            raise InputError("Some rows have no query, so they are in no list. Drop those rows.")
        if score.min() < 0:
            raise InputError(
                f"score is expected relevance, at least 0, and has {score.min():g}. Pass "
                "probabilities, or shift it, so that 0 means none at all."
            )
        longest = int(np.bincount(query.codes).max())
        places = np.arange(1.0, longest + 1)
        discount = discount_of(self.discount).at(places)
        attention = discount if self.top_k is None else (places <= self.top_k).astype(np.float64)
        return _Lists(query.codes.astype(np.intp), query.labels, group, score, discount, attention)

    def _merit(self, y: Any, lists: _Lists) -> Floats:
        """The relevance that the attention of each row is divided by."""
        if self.criterion != "exposure_per_relevance":
            return np.ones(len(lists.group))
        if y is None:
            raise InputError("exposure_per_relevance needs y, how relevant each row is: fit(X, y).")
        merit = finite(y, "y")
        check_lengths(X=lists.group, y=merit)
        if merit.min() < 0:
            raise InputError(f"Relevance is at least 0, and y has {merit.min():g}. Clip it.")
        return merit


@dataclass(frozen=True, eq=False)
class _Lists:
    """Rows of lists; `discount` and `seen` weigh places from 1 on for DCG and for the bound."""

    codes: Codes
    names: Any
    group: Codes
    score: Floats
    discount: Floats
    seen: Floats

    def only(self, rows: NDArray[np.bool_]) -> _Lists:
        """Some rows."""
        codes, group, score = self.codes[rows], self.group[rows], self.score[rows]
        return replace(self, codes=codes, group=group, score=score)

    def places(self, offsets: Floats) -> Codes:
        """The best places from 1 on, if attention to a group is worth its offset."""
        bonus = offsets[self.group]
        if self.seen is self.discount or not bonus.any():
            return self._sorted(self.score + bonus)
        from scipy.optimize import linear_sum_assignment

        places = np.empty(len(self.codes), np.intp)
        order = np.argsort(self.codes, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(self.codes[order])) + 1):
            size = len(rows)
            worth = np.outer(self.score[rows], self.discount[:size])
            worth += np.outer(bonus[rows], self.seen[:size])
            places[rows] = linear_sum_assignment(worth, maximize=True)[1] + 1
        return places

    def _sorted(self, key: Floats) -> Codes:
        """Places by a key, the highest first; ties by the score, then in the given order."""
        order = np.lexsort((-self.score, -key, self.codes))
        starts = np.searchsorted(self.codes[order], np.arange(len(self.names)))
        places = np.empty(len(order), np.intp)
        places[order] = np.arange(len(order)) - starts[self.codes[order]] + 1
        return places


@dataclass(eq=False)
class _Program:
    """The best mixture of the orders so far; orders are added until none helps."""

    lists: _Lists
    weight: Floats
    epsilon: float
    shares: Floats = field(default_factory=lambda: np.ones(1))
    offsets: list[Floats] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    attention: list[Floats] = field(default_factory=list)

    def solved(self) -> _Program:
        """Add orders until none helps."""
        self._add(np.zeros(len(self.weight)))
        for _ in range(ROUNDS):
            multipliers, best = self._mixed()
            self._add(multipliers * self.ideal / self.weight)
            better = self.gains[-1] + float(multipliers @ self.attention[-1]) > best + CLOSE
            if not better or self._is_known:
                break
        self._mixed()
        return self

    @property
    def _is_known(self) -> bool:
        """Whether the last order equals an earlier one in effect."""
        *earlier, last = np.column_stack([self.gains, self.attention])
        return bool((np.abs(np.array(earlier) - last).max(axis=1) < CLOSE).any())

    @cached_property
    def ideal(self) -> float:
        """The DCG of all lists by their scores alone; gains are shares of it."""
        at = self.lists.places(np.zeros(len(self.weight))) - 1
        return float(self.lists.score @ self.lists.discount[at]) or 1.0

    def _add(self, offsets: Floats) -> None:
        """Add the best order under these offsets."""
        lists = self.lists
        at = lists.places(offsets) - 1
        self.offsets.append(offsets)
        self.gains.append(float(lists.score @ lists.discount[at]) / self.ideal)
        attention = np.bincount(lists.group, lists.seen[at], len(self.weight))
        self.attention.append(attention / self.weight)

    def _mixed(self) -> tuple[Floats, float]:
        """How often to draw each order; what attention to a group is worth, and all of the rest.

        Variables are these shares, the lowest attention of a group, and what the gap exceeds.
        """
        from scipy.optimize import linprog

        attention = np.array(self.attention).T
        groups, orders = attention.shape
        ones = np.ones((groups, 1))
        above = np.hstack([attention, -ones, -ones])
        below = np.hstack([-attention, ones, 0 * ones])
        bound = np.concatenate([np.full(groups, self.epsilon), np.zeros(groups)])
        solution = linprog(
            np.concatenate([-np.array(self.gains), [0.0, PENALTY]]),
            np.vstack([above, below]),
            bound,
            np.append(np.ones(orders), [0.0, 0.0])[None],
            [1.0],
            [(0, None)] * orders + [(None, None), (0, None)],
        )
        self.shares = np.maximum(solution.x[:orders], 0.0)
        marginal = solution.ineqlin.marginals
        return marginal[:groups] - marginal[groups:], -float(solution.eqlin.marginals[0])
