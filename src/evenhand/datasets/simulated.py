"""Simulated tasks: the same features in every group, and only the groups' base rates differ.

The paper specifies how classes and groups are drawn, not how features depend on the class. Five of
the ten features are N(1/2, 1) in class 1 and N(0, 1) in class 0; the other five are noise.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets.draws import normal, uniform
from evenhand.datasets.task import Origin, Task

if TYPE_CHECKING:
    import pandas as pd

FEATURES, INFORMATIVE, SHIFT = 10, 5, 0.5
PER_GROUP = 2_500
MULTIGROUP_ROWS = 100_000
MOST_GROUPS = 1_000
RATES = (0.5, 0.8)
SEED = 20_240


def _names(n_groups: int) -> tuple[str, ...]:
    return tuple(f"group {number}" for number in range(n_groups))


def _table(groups: NDArray[np.intp], y: NDArray[Any], n_groups: int) -> pd.DataFrame:
    import pandas as pd

    n = len(y)
    noise = normal(n * FEATURES, SEED, n_groups, 1).reshape(n, FEATURES)
    noise[:, :INFORMATIVE] += SHIFT * y[:, None]
    table = pd.DataFrame(noise, columns=[f"x{i}" for i in range(1, FEATURES + 1)])
    group = pd.Categorical.from_codes(groups, categories=pd.Index(_names(n_groups)))
    return table.assign(group=group, y=y)


def _two_groups() -> pd.DataFrame:
    groups = np.repeat([0, 1], PER_GROUP)
    y = (uniform(len(groups), SEED, 0) < np.take(RATES, groups)).astype(np.int64)
    return _table(groups, y, 2)


def _many_groups(n_groups: int) -> pd.DataFrame:
    """Give group g the share 0.5 + 0.4 g / (n − 1) of class 1, exactly but for rounding."""
    groups = np.sort(np.arange(MULTIGROUP_ROWS) % n_groups)
    sizes = np.bincount(groups)
    positives = np.rint(sizes * (0.5 + 0.4 * np.arange(n_groups) / (n_groups - 1)))
    starts = np.cumsum(sizes) - sizes
    y = (np.arange(MULTIGROUP_ROWS) - starts[groups] < positives[groups]).astype(np.int64)
    return _table(groups, y, n_groups)


def _regression() -> pd.DataFrame:
    """Draw y = x + noise; x has variance 4 about 30 and 10, the noise variance 10 and 1."""
    import pandas as pd

    groups = np.repeat([0, 1], PER_GROUP)
    x = np.take([30.0, 10.0], groups) + 2.0 * normal(len(groups), SEED, 2)
    noise = np.sqrt(np.take([10.0, 1.0], groups)) * normal(len(groups), SEED, 3)
    group = pd.Categorical.from_codes(groups, categories=pd.Index(_names(2)))
    return pd.DataFrame({"x": x, "group": group, "y": x + noise})


ABOUT: dict[str, Any] = {
    "source": "drawn by evenhand with a fixed seed",
    "license": "none needed",
    "citation": "none; the design follows the paper evenhand implements",
    "targets": ("y",),
    "sensitive": ("group",),
}

SIMULATED = Task(
    name="simulated",
    description=(
        "Two groups of 2,500, whose label is 1 with probability 0.5 and 0.8, and ten features: "
        "five shifted by 1/2 in class 1, five noise."
    ),
    kind="classification",
    classes=("0", "1"),
    n_groups=2,
    groups=_names(2),
    origins=(Origin(name="simulated", simulate=_two_groups),),
    **ABOUT,
)


def simulated_multigroup(n_groups: int) -> Task:
    """Any number of groups, whose share of class 1 rises evenly from 0.5 to 0.9."""
    return Task(
        name="simulated_multigroup",
        description=(
            "100,000 rows in groups of equal size, whose share of class 1 rises evenly from 0.5 to "
            "0.9; features as in the task 'simulated'."
        ),
        kind="classification",
        classes=("0", "1"),
        n_groups=n_groups,
        groups=_names(n_groups),
        group_counts=range(2, MOST_GROUPS + 1),
        variant=simulated_multigroup,
        origins=(Origin(name="simulated", simulate=partial(_many_groups, n_groups)),),
        **ABOUT,
    )


SIMULATED_MULTIGROUP = simulated_multigroup(10)

SIMULATED_REGRESSION = Task(
    name="simulated_regression",
    description=(
        "One feature, N(30, 4) and N(10, 4) in two groups of 2,500, and y = x + noise of variance "
        "10 and 1. The model is not meant to see the group: see Dataset.model_columns."
    ),
    kind="regression",
    n_groups=2,
    groups=_names(2),
    model_sees_sensitive=False,
    origins=(Origin(name="simulated", simulate=_regression),),
    **ABOUT,
)
