"""A rule that can be deployed: who is decided what, by group and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._frontier.rows import Floats, Rows, read_rows
from evenhand._groups import show
from evenhand._words import percent
from evenhand.mitigation._lots import drawn, lots
from evenhand.mitigation.optimal import DecisionRule


@dataclass(frozen=True, eq=False)
class Rule:
    """One point of a frontier, as decisions.

    Attributes
    ----------
    value, cost : float
        Disparity and cost on the fitting rows.
    groups, classes : tuple of labels
        Whom it decides for, and what it decides.
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

    def predict_proba(self, y_score: Any, sensitive_features: Any) -> Floats:
        """With which chance each class is decided.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like or dataframe
            The rows' groups.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Chances, in the order of `classes`.

        """
        rows = read_rows(None, y_score, sensitive_features, like=self.like)
        return self.decisions.probabilities(rows.scores, rows.group)

    def predict(
        self, y_score: Any, sensitive_features: Any, *, ids: Any = None, key: Any = 0
    ) -> Any:
        """Decide; where chances are between 0 and 1, by a lot that belongs to the person.

        Parameters
        ----------
        y_score : array-like
            Scores like those of the frontier.
        sensitive_features : array-like or dataframe
            The rows' groups.
        ids : array-like, optional
            What identifies each person; by default the score and the group, so that two people who
            share both share the lot.
        key : int or str, default 0
            Whoever knows it and the id can draw the lot again.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes`.

        """
        chances = self.predict_proba(y_score, sensitive_features)
        lot = self._lots(y_score, sensitive_features, ids, key)
        return np.asarray(self.classes)[drawn(chances, lot)]

    def _lots(self, y_score: Any, sensitive_features: Any, ids: Any, key: Any) -> Floats:
        if ids is not None:
            return lots(ids, key=key)
        rows = read_rows(None, y_score, sensitive_features, like=self.like)
        names = np.array([show(label) for label in self.groups], dtype=object)[rows.group]
        own = [column.astype(object) for column in rows.scores.T[1:]]
        return lots(np.column_stack([names, *own]), key=key)

    def explain(self) -> list[str]:
        """The rule in words, a sentence for each group; for two classes.

        Returns
        -------
        list of str
            Such as "Group a: select scores from 0.42; from 0.4 to 0.42 select 30 %."

        """
        return [_sentence(show(label), self._steps(at)) for at, label in enumerate(self.groups)]

    def _steps(self, group: int) -> list[tuple[float, float]]:
        """The chance of being selected from each threshold on: pairs that begin at −∞."""
        mine = self.decisions.pool == group
        prices, share = self.decisions.prices[mine], self.decisions.share[mine]
        lean = prices[:, :, 1] - prices[:, :, 0]  # at (1 − s, s) deciding 1 costs so much more
        slope = lean[:, 1] - lean[:, 0]
        flat = np.abs(slope) < 1e-300
        cut = np.where(flat, -np.inf, -lean[:, 0] / np.where(flat, 1.0, slope))
        always = np.where(flat, lean[:, 0] < 0, slope > 0)
        start = float(share[always].sum())
        jump = np.where(flat, 0.0, np.where(slope < 0, share, -share))
        order = np.argsort(cut)
        steps = [(-np.inf, start)]
        for place in order:
            if jump[place]:
                steps.append((float(cut[place]), steps[-1][1] + float(jump[place])))
        return steps


def _sentence(group: str, steps: list[tuple[float, float]]) -> str:
    if len(steps) == 1:
        return f"Group {group}: select {percent(steps[0][1])}, whatever the score."
    parts = []
    ends = [cut for cut, _ in steps[1:]] + [np.inf]
    for (low, chance), high in zip(steps, ends, strict=True):
        chance = min(max(chance, 0.0), 1.0)
        who = "all" if chance > 1 - 1e-9 else "none" if chance < 1e-9 else percent(chance)
        if np.isinf(low):
            parts.append(f"below {high:.4g} select {who}")
        elif np.isinf(high):
            parts.append(f"from {low:.4g} on select {who}")
        else:
            parts.append(f"from {low:.4g} to {high:.4g} select {who}")
    return f"Group {group}: " + "; ".join(parts[::-1]) + "."
