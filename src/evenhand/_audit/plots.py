"""Figures of an audit for papers and slides, from the same data as the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand._audit.parts import AuditParts
from evenhand._audit.summary import summary
from evenhand.report.figures import GRID, INK, SOFT, new_figure, tick_format

COLORS = {1: "#0b5fa5", -1: "#a84c00", 0: "#757b83"}  # above, below and around everybody else
VERDICTS = {"differs": "#9c1458", "alike": "#00735c"}
MOST = 30
ROW = 0.26  # inches


@dataclass(frozen=True, eq=False)
class Plots:
    """Matplotlib figures of an audit: `plot()`, `plot.rates()` and `plot.criteria()`."""

    audit: AuditParts

    def __call__(self) -> Any:
        """The groups' first rate and, of rates, the criteria, one above the other.

        Returns
        -------
        matplotlib.figure.Figure
            With two axes; of a regression, with one.

        Raises
        ------
        MissingExtraError
            If Matplotlib is not installed.

        """
        summarized = summary(self.audit)
        groups = min(len((summarized["headline"] or {"groups": []})["groups"]), MOST)
        rates = len(_measured(self.audit))
        figure, axes = _figure([3 + groups, *([2 + rates] if rates else [])])
        self.rates(ax=axes[0])
        if rates:
            self.criteria(ax=axes[1])
        figure.suptitle(self.audit.title or "", color=INK, x=0.01, ha="left")
        return figure

    def rates(self, ax: Any = None) -> Any:
        """The groups' first rate, or mean, with intervals and group sizes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if there is none.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        """
        summarized = summary(self.audit)
        head = summarized["headline"]
        known = [group for group in (head["groups"] if head else []) if group["value"] is not None]
        known = sorted(sorted(known, key=lambda g: -(g["rows"] or 0))[:MOST], key=_by_value)
        ax = _figure([3 + len(known)])[1][0] if ax is None else ax
        factor = 100.0 if head and head["is_rate"] else 1.0
        sides = _sides(summarized)
        for y, group in enumerate(known):
            color = COLORS[sides.get(group["label"], 0)]
            if group["low"] is not None and group["high"] is not None:
                ends = [factor * group["low"], factor * group["high"]]
                ax.plot(ends, [y, y], color=color, linewidth=1.5)
            ax.plot(factor * group["value"], y, "o", color=color, markersize=5)
        ax.set_yticks(range(len(known)), [f"{g['label']} ({g['rows']:,.0f})" for g in known])
        if head and head["overall"] is not None:
            everyone = factor * head["overall"]
            ax.axvline(everyone, color=INK, linestyle=(0, (4, 3)), linewidth=1, label="everyone")
        impact = summarized["impact_ratio"]
        if head and impact and head["metric"] == "selection_rate":
            line = factor * impact["line"] * impact["highest_rate"]
            label = "four-fifths of the highest"
            ax.axvline(line, color=VERDICTS["differs"], linewidth=1.2, label=label)
        name = head["name"] if head else ""
        ax.set_xlabel(f"{name}, %" if factor > 1 else name)
        return _finished(ax)

    def criteria(self, ax: Any = None) -> Any:
        """The largest difference between groups by each criterion of rates, with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if there is none.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        """
        known = _measured(self.audit)
        ax = _figure([2 + len(known)])[1][0] if ax is None else ax
        for y, finding in enumerate(reversed(known)):
            color = VERDICTS.get(finding.verdict, COLORS[0])
            gap = finding.gap
            ax.plot([100 * gap.low, 100 * gap.high], [y, y], color=color, linewidth=1.5)
            ax.plot(100 * gap.value, y, "o", color=color, markersize=5)
        names = [
            f"{finding.criterion.replace('_', ' ')}: {finding.verdict}"
            for finding in reversed(known)
        ]
        ax.set_yticks(range(len(known)), names)
        ax.set_xlabel("largest difference between groups, percentage points")
        ax.set_xlim(left=0)
        return _finished(ax)


def _measured(audit: AuditParts) -> list[Any]:
    return [f for f in audit.findings if f.is_rate and f.verdict != "undefined"]


def _by_value(group: dict[str, Any]) -> float:
    return float(group["value"])


def _sides(summarized: dict[str, Any]) -> dict[str, int]:
    keys = [metric["key"] for metric in summarized["table"]["metrics"]]
    metric = (summarized["headline"] or {"metric": None})["metric"]
    if metric not in keys:
        return {}
    return {g["label"]: g["apart"][keys.index(metric)] for g in summarized["table"]["groups"]}


def _figure(rows: Sequence[int]) -> tuple[Any, Sequence[Any]]:
    """A figure with one axes below another, as high as their rows."""
    figure = new_figure(7.0, ROW * sum(rows) + 0.5 * len(rows))
    axes = figure.subplots(len(rows), 1, squeeze=False, height_ratios=[max(n, 1) for n in rows])
    return figure, list(axes[:, 0])


def _finished(ax: Any) -> Any:
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0, colors=INK)
    ax.tick_params(axis="x", colors=SOFT)
    ax.grid(axis="x", color=GRID)
    ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[0]:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
        ax.legend(frameon=False, fontsize="small", borderaxespad=0.2, **place)
    ax.xaxis.set_major_formatter(tick_format(ax.get_xlim()))
    ax.margins(y=0.08)
    return ax
