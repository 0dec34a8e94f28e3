"""A rule that can be deployed: decisions by group and score."""

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
    """One point of a frontier, as a rule that can be deployed elsewhere.

    In addition to `predict` it has the methods of any `DecisionRule`: `explain`, `to_sql`,
    `to_onnx`, `to_python` and `to_json`.

    Attributes
    ----------
    value, cost : float
        Disparity and cost on the fitting rows.
    like : Rows
        The reading of scores and groups, without rows.
    ties : Ties
        The number of fitting rows that share a random draw without ids, and a note on its effect.
    rising_cost : str
        The cost of never preferring a lower score, in words; empty if it costs nothing.

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
        """The rule of some decisions, with its classes, groups, disparity and cost."""
        columns, labels = rows.columns, rows.groups
        if rows.proxy is not None:
            columns, labels = ("cell",), rows.proxy.named(rows.groups)
        elif rows.group_proba is not None:
            columns, labels = (), ()
        named = decisions.named(rows.classes, columns, labels)
        chances = decisions.probabilities(rows.features, rows.known)
        judgement = judged(rows, chances, question)
        random_rows = np.flatnonzero(chances.max(axis=1) < 1)

        def disparity(lots: Floats) -> float:
            decided = chances.copy()
            decided[random_rows] = np.eye(chances.shape[1])[drawn(chances[random_rows], lots)]
            return judged(rows, decided, question).value

        group = None if rows.known is None else rows.known[random_rows]
        return cls(
            named.prices,
            named.pool,
            named.share,
            named.classes,
            named.grouping,
            named.reads,
            judgement.value,
            judgement.cost,
            rows.take(np.arange(0)),
            ties(group, rows.features[random_rows], judgement.value, disparity),
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
            The class, of two, that people are selected for; None is the second.

        Returns
        -------
        str
            A line for each group, the meaning of a score, the cost of rising, and a note on ties.

        """
        parts = [super().explain(selected), self.rising_cost, self.ties.note]
        return "\n".join(filter(None, parts))

    def predict_proba(
        self, y_score: Any, sensitive_features: Any = None, *, group_proba: Any = None
    ) -> Floats:
        """The probability with which each class is decided.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like, dataframe or Probable
            The rows' groups; if memberships were unknown, the result of `evenhand.probable`.
        group_proba : array-like of shape (n_rows, n_groups), optional
            Group probabilities in place of groups, for rules that do not know the group.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes`.

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
        """Decide; where probabilities are between 0 and 1, by a random draw of the person.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like, dataframe or Probable
            The rows' groups; if memberships were unknown, the result of `evenhand.probable`.
        group_proba : array-like of shape (n_rows, n_groups), optional
            Group probabilities in place of groups, for rules that do not know the group.
        ids : array-like, optional
            Identifiers of the people; by default the score and the group. Without ids, people of
            one call who share both get different draws, but served one by one they share one.
        key : int or str, default 0
            With it and the id, the draw can be reproduced; see `evenhand.mitigation.lots`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes`.

        """
        rows = self._rows(y_score, sensitive_features, group_proba)
        chances = self.probabilities(rows.features, rows.known)
        if ids is None and chances.max() < 1:
            self.ties.warn(len(chances))
        draws = lots(self._identity(rows) if ids is None else ids, key=key, distinct=ids is None)
        return np.asarray(self._read_like.classes)[drawn(chances, draws)]

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
        """The default identifiers of rows: score and group."""
        columns = [column.astype(object) for column in rows.features.T[1:]]
        if rows.known is not None:
            pools = range(self.pools) if rows.proxy is not None else self.groups
            names = np.array([show(label) for label in pools], dtype=object)
            columns.insert(0, names[rows.known])
        return np.column_stack(columns)

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
            unfavorable, favorable = self._read_like.classes
            raise InputError(
                f"A rule is written down for scores of {favorable!r}, the favorable label, and "
                f"these are of {unfavorable!r}. Trace the frontier of one minus them, with "
                f"score_of={favorable!r}."
            )
        return super()._described()
