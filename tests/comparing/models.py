"""Models that favor the first group ever more, for the tests of comparisons."""

import numpy as np

QUICK = {"replicates": 60}


def labeled(seed=0, rows=400, models=3, groups=3):
    """Truth, predictions of models that favor the first group ever more, and groups."""
    rng = np.random.default_rng(seed)
    group = np.array([*"abcdefgh"])[rng.integers(0, groups, rows)]
    y = rng.integers(0, 2, rows)
    made = {
        f"model {k}": np.where(
            rng.random(rows) < 0.7, y, rng.random(rows) < 0.3 + 0.15 * k * (group == "a")
        ).astype(int)
        for k in range(models)
    }
    return y, made, group


def numbered(seed=0, rows=300, models=3):
    rng = np.random.default_rng(seed)
    group = np.array([*"abc"])[rng.integers(0, 3, rows)]
    y = rng.random(rows) + 0.2 * (group == "a")
    made = {
        f"model {k}": 0.5 * y + 0.5 * rng.random(rows) + 0.1 * k * (group == "a")
        for k in range(models)
    }
    return y, made, group


def rows(table, **chosen):
    """The rows of a dataframe with these entries, each a dict."""
    return [row for row in table.to_dict("records") if all(row[k] == v for k, v in chosen.items())]


def column(table, name, **chosen):
    """One column of those rows."""
    return [row[name] for row in rows(table, **chosen)]
