"""The frontier of thresholds as one program, for a solver that is not ours."""

import numpy as np

from later import Later

cp = Later("cvxpy")


class Thresholds:
    """Every threshold of every group, upward and downward, with an unknown share for each.

    If `rising`, a chance for each score in place of them, that never falls as the score rises.
    `y` is the truth, or the probability of 1.
    """

    def __init__(self, y, score, group, rising=False):
        self.labels = np.unique(group)
        self.size = len(y)
        self.share, self.selected, self.mass, self.requirements = [], [], [], []
        for label in self.labels:
            mine = group == label
            values = np.unique(score[mine])
            rules = score[mine] == values[:, None] if rising else _decisions(score[mine])
            hits = np.stack([(rules * truth[mine]).sum(axis=1) for truth in (1 - y, y)])
            share = cp.Variable(rules.shape[0], nonneg=True)
            wanted = [share <= 1, cp.diff(share) >= 0] if rising else [cp.sum(share) == 1]
            self.requirements += wanted if len(values) > 1 else wanted[:1]
            self.selected.append(hits)
            self.mass.append([truth[mine].sum() for truth in (1 - y, y)])
            self.share.append(share)
        self.mass = np.array(self.mass, dtype=float)

    def counts(self, k):
        """How many of class k are selected, by group."""
        pairs = zip(self.share, self.selected, strict=True)
        return cp.hstack([hits[k] @ share for share, hits in pairs])

    def rates(self, criterion):
        """The rates of each cell, by group."""
        false, true = self.counts(0) / self.mass[:, 0], self.counts(1) / self.mass[:, 1]
        selection = (self.counts(0) + self.counts(1)) / self.mass.sum(axis=1)
        return {
            "statistical_parity": [selection, 1 - selection],
            "selection_rate_ratio": [selection],
            "equal_opportunity": [true],
            "predictive_equality": [false],
            "equalized_odds": [false, 1 - false, true, 1 - true],
        }[criterion]

    def evenly(self, criterion, measure, bound):
        """Require it of every cell."""
        for rates in self.rates(criterion):
            self.requirements.append(_measured(rates, measure, bound))

    def least_cost(self, false_positive=1.0, false_negative=1.0):
        missed = self.mass[:, 1].sum() - cp.sum(self.counts(1))
        cost = false_positive * cp.sum(self.counts(0)) + false_negative * missed
        program = cp.Problem(cp.Minimize(cost / self.size), self.requirements)
        program.solve(solver=cp.CLARABEL)
        return program.value


def _decisions(score):
    cuts = np.append(np.unique(score), np.inf)
    upward = score[None, :] >= cuts[:, None]
    return np.concatenate([upward, ~upward])


def _measured(rates, measure, bound):
    d = rates.shape[0]
    if measure == "mpd" or bound == 0:  # then all say the same, and cones are degenerate
        return cp.max(rates) - cp.min(rates) <= bound
    if measure == "shortfall":
        return cp.min(rates) >= (1 - bound) * cp.max(rates)
    if measure == "gini":
        i, j = np.triu_indices(d, 1)
        return cp.sum(cp.abs(rates[i] - rates[j])) <= bound * d * cp.sum(rates)
    return cp.norm(rates) * np.sqrt(d) * (1 - bound) <= cp.sum(rates)
