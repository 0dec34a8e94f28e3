"""A rule that can be deployed: who is decided what, by group and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._data.probable import Probable
from evenhand._errors import InputError
from evenhand._frontier.judging import judged
from evenhand._frontier.ties import NO_TIES, Ties, ties
from evenhand.mitigation._lots import drawn, lots
from evenhand.mitigation.crossfit.objective import Objective
from evenhand.mitigation.crossfit.rows import Floats, Rows, read_rows
from evenhand.mitigation.deploy import Description
from evenhand.mitigation.optimal import DecisionRule


@dataclass(frozen=True, eq=False, repr=False)
class Rule(DecisionRule):
    """One point of a frontier, as decisions that can be made elsewhere.

    Beside `predict` it has what any `DecisionRule` has: `explain`, `to_sql`, `to_onnx`,
    `to_python` and `to_json`.

    Attributes
    ----------
    value, cost : float
        Disparity and cost on the fitting rows.
    like : Rows
        How scores and groups are read; no row.
    ties : Ties
        How many fitting rows share a lot with another without ids, and what that does, in words.
    rising_cost : str
        What it costs never to prefer a lower score, in words; empty where it costs nothing.

    """

    value: float = np.nan
    cost: float = np.nan
    like: Rows | None = None
    ties: Ties = NO_TIES
    rising_cost: str = ""

    @classmethod
    def of(
        cls, decisions: DecisionRule, rows: Rows, question: Objective, rising_cost: str = ""
    ) -> Rule:
        """Decisions with the names of their classes and groups, and what they come to."""
        columns, labels = rows.columns, rows.groups
        if rows.proxy is not None:
            columns, labels = ("cell",), rows.proxy.named(rows.groups)
        elif rows.group_proba is not None:
            columns, labels = (), ()
        named = decisions.named(rows.classes, columns, labels)
        chances = decisions.probabilities(rows.features, rows.known)
        found = judged(rows, chances, question)
        by_lot = np.flatnonzero(chances.max(axis=1) < 1)

        def disparity(lots: Floats) -> float:
            decided = chances.copy()
            decided[by_lot] = np.eye(chances.shape[1])[drawn(chances[by_lot], lots)]
            return judged(rows, decided, question).value

        group = None if rows.known is None else rows.known[by_lot]
        return cls(
            named.prices,
            named.pool,
            named.share,
            named.classes,
            named.grouping,
            named.reads,
            found.value,
            found.cost,
            rows.take(np.arange(0)),
            ties(group, rows.features[by_lot], found.value, disparity),
            rising_cost,
        )

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups that the rule decides for."""
        return self._read_like.groups

    def __repr__(self) -> str:
        return (
            f"<Rule for {len(self.groups)} groups: value {self.value:.4g} at cost {self.cost:.4g}>"
        )

    def explain(self, selected: Any = None) -> str:
        """The rule in plain English.

        Parameters
        ----------
        selected : label, default None
            Of two classes, the one that people are selected for; None is the second.

        Returns
        -------
        str
            A line for each group, what is meant by a score, what rising costs, and what ties do.

        """
        told = [super().explain(selected), self.rising_cost, self.ties.note]
        return "\n".join(filter(None, told))

    def predict_proba(
        self, y_score: Any, sensitive_features: Any = None, *, group_proba: Any = None
    ) -> Floats:
        """With which chance each class is decided.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like, dataframe or Probable
            The rows' groups; where none was known, what `evenhand.probable` makes.
        group_proba : array-like of shape (n_rows, n_groups), optional
            In place of the groups, where the rule does not know them.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Chances, in the order of `classes`.

        """
        rows = self._rows(y_score, sensitive_features, group_proba)
        return self.probabilities(rows.features, rows.known)

    def predict(
        self,
        y_score: Any,
        sensitive_features: Any = None,
        *,
        group_proba: Any = None,
        ids: Any = None,
        key: int | str = 0,
    ) -> Any:
        """Decide; where chances are between 0 and 1, by a lot that belongs to the person.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like, dataframe or Probable
            The rows' groups; where none was known, what `evenhand.probable` makes.
        group_proba : array-like of shape (n_rows, n_groups), optional
            In place of the groups, where the rule does not know them.
        ids : array-like, optional
            What identifies each person; by default the score and the group. People of one call who
            share both have lots of their own then, but share one where they are served one by one.
        key : int or str, default 0
            Whoever knows it and the id can draw the lot again; see `evenhand.mitigation.lots`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes`.

        """
        rows = self._rows(y_score, sensitive_features, group_proba)
        chances = self.probabilities(rows.features, rows.known)
        if ids is None and chances.max() < 1:
            self.ties.warn(len(chances))
        lot = lots(self._identity(rows) if ids is None else ids, key=key, distinct=ids is None)
        return np.asarray(self._read_like.classes)[drawn(chances, lot)]

    def _rows(self, y_score: Any, sensitive_features: Any, group_proba: Any) -> Rows:
        like = self._read_like
        if like.unknown:
            if not isinstance(sensitive_features, Probable):
                raise InputError(
                    "This rule goes by probabilities of groups: pass "
                    "sensitive_features=evenhand.probable(...)."
                )
            return read_rows(None, y_score, sensitive_features, like=like)
        if like.group_proba is None:
            if sensitive_features is None:
                raise InputError("This rule uses the group: pass sensitive_features.")
            return read_rows(None, y_score, sensitive_features, like=like)
        if group_proba is None:
            raise InputError("This rule goes by P(group | x): pass group_proba.")
        anyone = [self.groups[0]] * len(y_score)
        return read_rows(None, y_score, anyone, group_proba=group_proba, like=like)

    def _identity(self, rows: Rows) -> Any:
        """What rows are known by where no id is given: score and group."""
        own = [column.astype(object) for column in rows.features.T[1:]]
        if rows.known is not None:
            pools = range(self.pools) if rows.proxy is not None else self.groups
            names = np.array([show(label) for label in pools], dtype=object)
            own.insert(0, names[rows.known])
        return np.column_stack(own)

    @property
    def _read_like(self) -> Rows:
        assert self.like is not None
        return self.like

    def _described(self) -> Description:
        if not self._read_like.are_probabilities:
            raise InputError(
                "A rule can be exported for scores between 0 and 1 only, and these are not. Their "
                "order is all that matters: scale them, and trace the frontier again."
            )
        if self._read_like.turned:
            other, good = self._read_like.classes
            raise InputError(
                f"A rule is written down for scores of {good!r}, the favorable label, and these "
                f"are of {other!r}. Trace the frontier of one minus them, with score_of={good!r}."
            )
        return super()._described()
