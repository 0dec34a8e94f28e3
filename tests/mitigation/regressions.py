"""People whose outcomes depend on their group, for the regression methods."""

import numpy as np
import pandas as pd


def people(rows=400, groups=3, seed=0):
    """Two features, the group, a score that knows all of them, and a target."""
    random = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), random.integers(groups, size=rows - groups)])
    skill = random.normal(size=rows) + 0.7 * group
    luck = random.normal(size=rows)
    X = pd.DataFrame({"skill": skill, "luck": luck, "group": group, "score": 3 + skill + luck / 2})
    return X, X["score"].to_numpy() + random.normal(size=rows)


def distance(values, group):
    """The greatest Kolmogorov–Smirnov distance between two groups, from the definition."""
    cuts = np.unique(values)
    cdfs = [(np.searchsorted(np.sort(values[group == one]), cuts, "right")) for one in set(group)]
    cdfs = [cdf / cdf[-1] for cdf in cdfs]
    return np.ptp(cdfs, axis=0).max()
