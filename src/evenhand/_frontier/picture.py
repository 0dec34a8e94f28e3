"""The picture of a frontier: what is impossible, what is recommended, where the model stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._errors import MissingExtraError

if TYPE_CHECKING:
    from evenhand._frontier.result import Frontier

PROVED, TEST, MODEL = "#1f5fa8", "#c2571a", "#222222"


def draw(frontier: Frontier, ax: Any = None) -> Any:
    """Disparity to the right, cost upward: below the line there is no rule."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError(
            "A picture needs matplotlib: pip install matplotlib", name="matplotlib"
        ) from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    curve = {name: np.array(column) for name, column in frontier.to_dict().items()}
    low = min(curve["cost"].min(), frontier.model.cost)
    floor = low - 0.15 * (np.ptp(curve["cost"]) or 0.01)
    ax.fill_between(curve["value"], floor, curve["cost"], color=PROVED, alpha=0.10, lw=0)
    ax.plot(curve["value"], curve["cost"], color=PROVED, lw=2, label="no rule is below (proved)")
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
    for judged, mark, name in (
        (frontier.model, "D", "the model"),
        (frontier.model_test, "d", "the model, on test rows"),
    ):
        if judged is not None:
            ax.plot(judged.value, judged.cost, mark, color=MODEL, ms=7, ls="none", label=name)
    ax.set_ylim(bottom=floor)
    ax.set_xlim(left=0)
    ax.set_xlabel(f"{frontier.criterion.replace('_', ' ')}, {frontier.measure}")
    ax.set_ylabel("share of wrong decisions" if frontier._unit == "accuracy" else "cost")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8.5)
    return ax
