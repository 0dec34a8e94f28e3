"""A decision rule as a value: a few price matrices for each group, and their shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError
from evenhand._kinds import check_labels
from evenhand.mitigation.deploy import (
    Description,
    Grouping,
    onnx_model,
    python_source,
    sentences,
    sql_query,
)
from evenhand.mitigation.deploy.description import Reads, check_plain, thresholds
from evenhand.mitigation.deploy.stored import (
    check_grouping,
    grouping_of,
    listed,
    restored,
    stored,
    whole_rule,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

FORMAT = "evenhand decision rule 1"
MOST_PRICES = 1 << 24  # of all pools, if each had as many rules as the one that has most
ROWS_AT_A_TIME = 1 << 14
TILT = 1e-10
NEAR = 1e-9  # chances that differ by rounding


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRule:
    """Mixes a few deterministic rules in each pool of rows (a group; or one pool of all rows).

    A rule is a matrix of prices (features, classes): it decides the class y of least
    Σ_k x[k] prices[k][y], the lowest class on ties. `pool` says whose rule it is, and `share` how
    often it decides there; the shares of a pool add up to 1. The features x of a row are its class
    probabilities, or where groups are not known P(group, class | x), group by group.

    `classes` and `grouping` name the classes and the groups, and say which columns the groups are
    read from: that is what a rule needs to leave Python, by `to_sql`, `to_onnx`, `to_python` or
    `to_json`. A rule that `reads` labels has the base model's decision as features, 0 or 1; one
    that reads numbers, scores of any scale, of which a higher one speaks for the second of two
    classes.

    Parameters
    ----------
    prices : ndarray of shape (n_rules, n_features, n_classes)
        The price of deciding each class, by feature.
    pool : ndarray of shape (n_rules,)
        Whose rule it is: the number of a pool.
    share : ndarray of shape (n_rules,)
        How often it decides there.
    classes : tuple, default None
        The labels of the classes; None numbers them from 0.
    grouping : Grouping, default None
        How a row's pool is read from columns; None reads a number from the column "group", or
        nothing where all rows are one pool.
    reads : {"scores", "labels", "numbers"}, default "scores"
        What the features are.

    Examples
    --------
    >>> prices = np.array([[[0.0, 0.4], [0.0, -0.6]]])  # class 1 from a probability of 0.4 on
    >>> rule = DecisionRule(prices, np.array([0]), np.array([1.0]))
    >>> rule.probabilities(np.array([[0.7, 0.3], [0.5, 0.5]]), np.array([0, 0]))
    array([[1., 0.],
           [0., 1.]])
    >>> print(rule.explain())
    Everyone: select scores above 0.40.
    A score is the probability of 1; to select is to decide 1.

    """

    prices: Floats
    pool: Codes
    share: Floats
    classes: tuple[Any, ...] | None = None
    grouping: Grouping | None = None
    reads: Reads = "scores"

    def __repr__(self) -> str:
        return f"<DecisionRule: {len(self.share)} rules in {self.pools} pools>"

    @property
    def pools(self) -> int:
        """How many pools there are."""
        return int(self.pool.max()) + 1

    @property
    def rising(self) -> bool:
        """Whether, of two classes, the second's chance never falls as its score rises."""
        if self.prices.shape[1:] != (2, 2):
            return False
        cuts, upward = thresholds(self.prices)
        inner = np.isfinite(cuts)  # a rule for all scores or none has no cut at which it could fall
        places = np.column_stack([self.pool, cuts])[inner]
        step = np.where(upward, self.share, -self.share)[inner]
        _, at = np.unique(places, axis=0, return_inverse=True)
        return bool((np.bincount(at.ravel(), step) >= -NEAR).all())

    def probabilities(self, features: Floats, codes: Codes | None = None) -> Floats:
        """The probability of each class for rows of these features and pools."""
        features = np.asarray(features, dtype=np.float64)
        pool = np.zeros(len(features), np.intp) if codes is None else codes
        if np.isnan(features).any():
            raise InputError("A score is missing or NaN, and no rule decides without it.")
        prices, share = self._ranked()
        chances = np.zeros((len(features), self.prices.shape[2]))
        has_steps = prices.shape[2:] == (2, 2)
        cuts, upward = thresholds(prices) if has_steps else (np.zeros(0), np.zeros(0, bool))
        for start in range(0, len(features), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            pools = pool[rows]
            for rank in range(len(share)):
                if has_steps:
                    chosen = (features[rows, 1] > cuts[rank][pools]) == upward[rank][pools]
                else:
                    chosen = cheapest(_totals(features[rows], prices[rank][pools]))
                chances[np.arange(len(chosen)) + start, chosen.astype(np.intp)] += share[rank][
                    pools
                ]
        return chances

    def named(
        self,
        classes: Sequence[Any],
        columns: Sequence[Any] = (),
        groups: Sequence[Any] = (),
        cuts: Mapping[Any, Any] | None = None,
    ) -> DecisionRule:
        """The same rule, with names for its classes and groups.

        Parameters
        ----------
        classes : sequence of labels
            The labels of the classes.
        columns : sequence of str, default ()
            The columns that name the group; none where all rows are one pool.
        groups : sequence of labels, default ()
            The group of each pool: a value, or a tuple of one for each column.
        cuts : mapping, default None
            The edges of the bins, for columns that are cut.

        Returns
        -------
        DecisionRule
            The rule with names.

        """
        grouping = Grouping.of(columns, groups, cuts) if columns else None
        return replace(self, classes=tuple(classes), grouping=grouping)

    def nearest(self) -> DecisionRule:
        """The nearest deterministic rule: each pool's most frequent one, for everyone.

        Returns
        -------
        DecisionRule
            A rule for each pool.

        """
        return self._only(most_frequent(self.pool, self.share))

    def explain(self, selected: Any = None) -> str:
        """The rule in plain English.

        Parameters
        ----------
        selected : label, default None
            Of two classes, the one that people are selected for; None is the second.

        Returns
        -------
        str
            A line for each group, and what is meant by a score.

        """
        described = self._described()
        labels = list(described.classes)
        check_labels(selected=selected)
        if selected is not None and selected not in labels:
            raise InputError(f"selected={selected!r} is not among the classes {labels}.")
        return sentences(described, -1 if selected is None else labels.index(selected))

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        table: str = "people",
        scores: str | Sequence[str] = "score",
        group: str | Sequence[str] | None = None,
        row_id: str | Sequence[str] | None = None,
        key: int | str | None = None,
    ) -> str:
        """The rule as a query over a table of scores; it needs SQLGlot to be written.

        Names and labels are quoted. A row has no chances, and no decision, where its group is not
        known or a score is missing or no probability.

        Parameters
        ----------
        dialect : str, default "duckdb"
            "duckdb", "postgres", "snowflake", "bigquery", "spark", "tsql" (SQL Server) or "sqlite",
            on whose connection a function `sha256`, from text to hexadecimal digits, must be
            registered.
        table : str, default "people"
            The table or view.
        scores : str or sequence of str, default "score"
            Of two classes the column of the second one's probability; else one for each feature.
        group : str or sequence of str, default None
            The columns that name the group, where they have other names than at fit.
        row_id : str or sequence of str, default None
            The column of the ids, text or whole numbers, whose lots decide; None gives chances
            only.
        key : int or str, default None
            The key of the draws: `key_` of a fitted model.

        Returns
        -------
        str
            A query that gives all columns of the table, `chance_…` for each class, and with ids
            `lot` and `decision`.

        Raises
        ------
        MissingExtraError
            Without SQLGlot: `pip install "evenhand[sql]"`.

        """
        return sql_query(
            self._described(),
            dialect,
            table=table,
            scores=scores,
            group=group,
            row_id=row_id,
            key=key,
        )

    def to_onnx(self) -> Any:
        """The rule as an ONNX model; it needs onnx.

        Its inputs are `scores` (rows × features, double), one for each column that names the group
        (text, or double), and `lot` (double), which `evenhand.mitigation.lots` gives; its outputs
        are `probabilities` and `decision`. Where the group is not known, or a score is no
        probability, probabilities are NaN, and the decision is "" (or the least integer, or NaN).

        Returns
        -------
        onnx.ModelProto
            The model; `SerializeToString` gives its bytes.

        Raises
        ------
        MissingExtraError
            Without onnx: `pip install "evenhand[onnx]"`.

        """
        return onnx_model(self._described())

    def to_python(self) -> str:
        """The rule as source of Python functions that need nothing but Python.

        Returns
        -------
        str
            Source that defines `decide(scores, group, person, key)`, and `probabilities`, `lot` and
            `pool`, which it needs.

        """
        return python_source(self._described())

    def to_json(self) -> str:
        """The rule as text that any language can read: one object for each matrix.

        Returns
        -------
        str
            The rules, and the names of classes and groups where they have some.

        """
        check_plain(self.classes or (), self.grouping)
        rules = [
            {"pool": pool, "share": share, "prices": prices}
            for pool, share, prices in zip(
                self.pool.tolist(), self.share.tolist(), self.prices.tolist(), strict=True
            )
        ]
        content: dict[str, Any] = {"format": FORMAT, "rules": rules, "reads": self.reads}
        if self.classes is not None:
            content["classes"] = list(self.classes)
        if self.grouping is not None:
            content["groups"] = asdict(self.grouping)
        return stored(content)

    @classmethod
    def from_json(cls, text: str) -> DecisionRule:
        """The rule that `to_json` wrote.

        Parameters
        ----------
        text : str
            What it wrote.

        Returns
        -------
        DecisionRule
            The same rule.

        Raises
        ------
        InputError
            If the text is not a rule, has no checksum, is too large, or was damaged since.

        """
        with whole_rule():
            parts = _read(restored(text, FORMAT))
            _check_numbers(*parts[:3])
            rule = cls(*parts)
            _check(rule)
        return rule

    def _only(self, chosen: Codes) -> DecisionRule:
        """Only these rules, one for each pool."""
        return replace(
            self, prices=self.prices[chosen], pool=self.pool[chosen], share=np.ones(len(chosen))
        )

    def _described(self) -> Description:
        """The full description, with numbers where there are no names."""
        classes = self.prices.shape[2]
        grouping = self.grouping
        if grouping is None and self.pools > 1:
            grouping = Grouping(("group",), tuple((pool,) for pool in range(self.pools)))
        names = tuple(range(classes)) if self.classes is None else self.classes
        return Description(names, grouping, *self._ranked(), self.reads)

    def _ranked(self) -> tuple[Floats, Floats]:
        """Prices and shares of every pool's first, second, … rule; absent ones have share 0."""
        order = np.argsort(self.pool, kind="stable")
        first = np.searchsorted(self.pool[order], np.arange(self.pools))
        rank = np.empty(len(order), np.intp)
        rank[order] = np.arange(len(order)) - first[self.pool[order]]
        prices = np.zeros((rank.max() + 1, self.pools, *self.prices.shape[1:]))
        share = np.zeros((rank.max() + 1, self.pools))
        prices[rank, self.pool], share[rank, self.pool] = self.prices, self.share
        return prices, share


def _read(content: Mapping[str, Any]) -> tuple[Any, ...]:
    """The parts of a rule in the order in which it takes them."""
    prices, pool, share = (
        np.array([rule[name] for rule in content["rules"]]) for name in ("prices", "pool", "share")
    )
    classes, grouping = content.get("classes"), grouping_of(content)
    names = None if classes is None else listed(classes)
    return prices, pool, share, names, grouping, content.get("reads", "scores")


def _check_numbers(prices: NDArray[Any], pool: NDArray[Any], share: NDArray[Any]) -> None:
    """Refuse numbers that do not fit together, before anything is made of their size."""
    kinds = prices.dtype.kind, share.dtype.kind, pool.dtype.kind
    if kinds not in {(a, b, "i") for a in "if" for b in "if"} or prices.ndim != 3 or pool.ndim != 1:
        raise InputError("The rule is damaged: its prices, pools and shares are not numbers.")
    if not np.isfinite(prices).all() or prices.shape[1] < 1 or prices.shape[2] < 2:
        raise InputError(
            "The rule is damaged: its prices are infinite, or for fewer than 2 classes."
        )
    pools = int(pool.max()) + 1
    if pools > len(pool) or not np.array_equal(np.unique(pool), np.arange(pools)):
        raise InputError("The rule is damaged: some pool has no rule.")
    if (share < 0).any() or not np.allclose(np.bincount(pool, share), 1, atol=1e-6):
        raise InputError("The rule is damaged: the shares of a pool do not add up to 1.")
    prices_needed = int(np.bincount(pool).max()) * pools * prices.shape[1] * prices.shape[2]
    if prices_needed > MOST_PRICES:
        raise InputError(
            f"The rule is too large: {pools:,} pools of up to {np.bincount(pool).max():,} rules "
            f"would take {prices_needed:,} prices, more than {MOST_PRICES:,}."
        )


def _check(rule: DecisionRule) -> None:
    """Refuse names that do not fit the numbers."""
    features, classes = rule.prices.shape[1:]
    if rule.reads not in get_args(Reads):
        raise InputError(f"The rule is damaged: it reads {rule.reads!r}.")
    check_plain(rule.classes or (), rule.grouping)
    if rule.classes is not None and not len(set(rule.classes)) == len(rule.classes) == classes:
        raise InputError("The rule is damaged: it has not one name for every class.")
    if features != classes and (rule.pools > 1 or features % classes):
        raise InputError("The rule is damaged: it reads another number of scores than of classes.")
    if rule.grouping is not None:
        check_grouping(rule.grouping, rule.pools)


def _totals(features: Floats, prices: Floats) -> Floats:
    """The cost of each class (row) for each row (column), added up as in every other language."""
    totals = features[:, 0] * prices[:, 0].T
    for place in range(1, features.shape[1]):
        totals = totals + features[:, place] * prices[:, place].T
    return np.asarray(totals)


def most_frequent(pool: Codes, share: Floats) -> Codes:
    """The place of each pool's rule of the greatest share, the first of ties.

    >>> most_frequent(np.array([0, 0, 1]), np.array([0.3, 0.7, 1.0]))
    array([1, 2])
    """
    order = np.lexsort((np.arange(len(pool)), -share, pool))
    return order[np.searchsorted(pool[order], np.arange(pool.max() + 1))]


def cheapest(scores: Floats) -> NDArray[np.int16]:
    """The first class of least score in each column of (classes, rows)."""
    lowest, chosen = scores[0].copy(), np.zeros(scores.shape[1], np.int16)
    for label in range(1, len(scores)):
        chosen[scores[label] < lowest] = label
        np.minimum(lowest, scores[label], out=lowest)
    return chosen


def tilt(classes: int) -> Floats:
    """A fixed, tiny extra price, so that no row of a fitted rule is tied.

    Prices that equalize two rules tie some rows exactly, and there rounding would decide.
    """
    golden = (np.arange(classes)[:, None] + 1) * (np.arange(classes) + 1) * 0.6180339887498949
    return TILT * (np.arange(classes) + golden % 1)
