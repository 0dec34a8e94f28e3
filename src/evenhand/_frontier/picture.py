"""The picture of a frontier: what is impossible, what is recommended, where the model stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._errors import require

PROVED, TEST, MODEL = "#1f5fa8", "#c2571a", "#222222"


def draw(
    columns: Mapping[str, Sequence[float]],
    models: Mapping[str, tuple[float, float]],
    names: tuple[str, str],
    ax: Any = None,
) -> Any:
    """Disparity to the right, cost upward: below the line there is no rule."""
    require("matplotlib", purpose="A figure", extra="figures")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    curve = {name: np.array(column) for name, column in columns.items()}
    costs = [*curve["cost"], *(cost for _, cost in models.values())]
    if "test_cost" in curve:
        costs += [*(curve["test_cost"] - curve["test_error"])]
    floor = min(costs) - 0.1 * (np.ptp(costs) or 0.01)
    ax.fill_between(curve["bound"], floor, curve["cost"], color=PROVED, alpha=0.10, lw=0)
    ax.plot(
        curve["bound"],
        curve["cost"],
        color=PROVED,
        lw=2,
        label="no rule is below, on the fitting rows (proved)",
    )
    if "test_value" in curve:
        order = np.argsort(curve["test_cost"])
        ax.errorbar(
            curve["test_value"][order],
            curve["test_cost"][order],
            yerr=curve["test_error"][order],
            color=TEST,
            marker="o",
            ms=3.5,
            lw=1,
            elinewidth=0.6,
            label="recommended rules, on test rows (± standard error)",
        )
    for mark, (name, (value, cost)) in zip("Dd", models.items(), strict=False):
        ax.plot(value, cost, mark, color=MODEL, ms=7, ls="none", label=name)
    ax.set_ylim(bottom=floor)
    ax.set_xlim(left=0)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8.5)
    return ax
