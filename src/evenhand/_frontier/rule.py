"""A rule that can be deployed: who is decided what, by group and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand._frontier.rows import Floats, Rows, read_rows
from evenhand._groups import show
from evenhand._words import percent
from evenhand.mitigation._lots import drawn, lots
from evenhand.mitigation.optimal import DecisionRule


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """One point of a frontier, as decisions.

    Attributes
    ----------
    value, cost : float
        Disparity and cost on the fitting rows.
    decisions : DecisionRule
        The rule in numbers: a few price matrices for each group, and how often each decides.

    """

    value: float
    cost: float
    decisions: DecisionRule
    like: Rows

    @property
    def groups(self) -> tuple[Label, ...]:
        """Whom the rule decides for."""
        return self.like.groups

    @property
    def classes(self) -> tuple[Label, ...]:
        """What is decided; of two, the second is the favorable one."""
        return self.like.classes

    def __repr__(self) -> str:
        groups = len(self.like.groups)
        return f"<Rule for {groups} groups: value {self.value:.4g} at cost {self.cost:.4g}>"

    def predict_proba(
        self, y_score: Any, sensitive_features: Any = None, *, group_proba: Any = None
    ) -> Floats:
        """With which chance each class is decided.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like or dataframe
            The rows' groups.
        group_proba : array-like of shape (n_rows, n_groups), optional
            In place of the groups, where the rule does not know them.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Chances, in the order of `classes`.

        """
        rows = self._rows(y_score, sensitive_features, group_proba)
        return self.decisions.probabilities(rows.features, rows.known)

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
        sensitive_features : array-like or dataframe
            The rows' groups.
        group_proba : array-like of shape (n_rows, n_groups), optional
            In place of the groups, where the rule does not know them.
        ids : array-like, optional
            What identifies each person; by default the score and the group, so that two people who
            share both share the lot.
        key : int or str, default 0
            Whoever knows it and the id can draw the lot again; see `evenhand.mitigation.lots`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes`.

        """
        rows = self._rows(y_score, sensitive_features, group_proba)
        chances = self.decisions.probabilities(rows.features, rows.known)
        lot = lots(self._identity(rows) if ids is None else ids, key=key)
        return np.asarray(self.classes)[drawn(chances, lot)]

    def explain(self) -> list[str]:
        """The rule in words, a sentence for each group; for two classes and known groups.

        Returns
        -------
        list of str
            Such as "Group a: from 0.42 on select all; below 0.42 select 30 %."

        """
        if not self.like.is_binary or self.like.group_proba is not None:
            raise InputError("A rule in words is of two classes, and knows the group.")
        return [_sentence(show(label), self._steps(at)) for at, label in enumerate(self.groups)]

    def _rows(self, y_score: Any, sensitive_features: Any, group_proba: Any) -> Rows:
        if self.like.group_proba is None:
            if sensitive_features is None:
                raise InputError("This rule knows the group: pass sensitive_features.")
            return read_rows(None, y_score, sensitive_features, like=self.like)
        if group_proba is None:
            raise InputError("This rule goes by P(group | x): pass group_proba.")
        anyone = [self.groups[0]] * len(y_score)
        return read_rows(None, y_score, anyone, group_proba=group_proba, like=self.like)

    def _identity(self, rows: Rows) -> Any:
        """What rows are known by where no id is given: score and group."""
        own = [column.astype(object) for column in rows.features.T[1:]]
        if rows.known is not None:
            names = np.array([show(label) for label in self.groups], dtype=object)
            own.insert(0, names[rows.known])
        return np.column_stack(own)

    def _steps(self, group: int) -> list[tuple[float, float]]:
        """The chance of being selected from each threshold on: pairs that begin at −∞."""
        mine = self.decisions.pool == group
        prices, share = self.decisions.prices[mine], self.decisions.share[mine]
        lean = prices[:, :, 1] - prices[:, :, 0]  # at (1 − s, s) deciding 1 costs so much more
        slope = lean[:, 1] - lean[:, 0]
        flat = np.abs(slope) < np.finfo(float).tiny
        always = np.where(flat, lean[:, 0] < 0, slope > 0)
        steps = [(-np.inf, float(share[always].sum()))]
        cuts = -lean[~flat, 0] / slope[~flat]
        jumps = np.where(slope < 0, share, -share)[~flat]
        for place in np.argsort(cuts):
            steps.append((float(cuts[place]), steps[-1][1] + float(jumps[place])))
        return steps


def _sentence(group: str, steps: list[tuple[float, float]]) -> str:
    """Who is selected, from the highest scores down."""
    chances = [min(max(chance, 0.0), 1.0) for _, chance in steps]
    whom = [
        "all" if chance > 1 - 1e-9 else "none" if chance < 1e-9 else percent(chance)
        for chance in chances
    ]
    if len(steps) == 1:
        return f"Group {group}: select {whom[0]}, whatever the score."
    cuts = [f"{cut:.4g}" for cut, _ in steps[1:]]
    parts = [f"from {cuts[-1]} on select {whom[-1]}"]
    parts += [
        f"from {cuts[place - 1]} to {cuts[place]} select {whom[place]}"
        for place in range(len(cuts) - 1, 0, -1)
    ]
    parts.append(f"below {cuts[0]} select {whom[0]}")
    return f"Group {group}: " + "; ".join(parts) + "."
