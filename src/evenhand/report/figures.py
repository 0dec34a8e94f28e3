"""Charts painted with Matplotlib, in the colors and type of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import singledispatch
from typing import Any

from evenhand._errors import require
from evenhand.report.charts import Band, Rates, Scatter, Tradeoff, Values, Waterfall
from evenhand.report.charts.rates import side
from evenhand.report.formats import name

INK, SOFT, GRID = "#1c2024", "#565d66", "#e4e4de"
SERIES = (
    *("#0b5fa5", "#a84c00", "#00735c", "#9c1458"),
    *("#6a4fb3", "#7a6000", "#00707f", "#4a5058"),
)
SIDES = {"above": "#0b5fa5", "below": "#a84c00", "around": "#757b83"}
KINDS = {"beyond": "#9c1458", "within": "#00735c"}
MARKERS = "osD^vPXp"
ROW = 0.26  # inches
PANEL = 3.3
COLUMNS = 3
LETTERS = 13  # in an inch of a legend


def draw(charts: Mapping[str, Any], title: str, ax: Any = None) -> Any:
    """Charts in one figure: rows one below another, panels side by side."""
    if ax is not None:
        paint(next(iter(charts.values())), ax)
        return ax.figure
    panels = list(charts.values())
    side_by_side = all(isinstance(chart, Scatter | Band) for chart in panels)
    columns = min(COLUMNS, len(panels)) if side_by_side else 1
    rows = -(-len(panels) // columns)
    heights = [PANEL] * rows if side_by_side else [_height(chart) for chart in panels]
    figure = new_figure(PANEL * max(columns, 1.6) if side_by_side else 7.0, sum(heights) + 0.6)
    axes = figure.subplots(
        rows, columns, squeeze=False, height_ratios=heights, sharey=side_by_side and "row"
    )
    for place, chart in zip(axes.flat, panels, strict=False):
        paint(chart, place)
        if side_by_side:
            place.set_title(chart.name, fontsize="medium", color=INK, loc="left")
    for place in list(axes.flat)[len(panels) :]:
        place.set_visible(False)
    if side_by_side:
        for place in list(axes.flat):
            place.label_outer(remove_inner_ticks=False) if len(panels) > 1 else None
            place.xaxis.set_tick_params(labelbottom=True)
    handles, names = axes.flat[0].get_legend_handles_labels()
    if side_by_side and names and isinstance(panels[0], Scatter):
        room = int(figure.get_figwidth() * LETTERS / (max(map(len, names)) + 7))
        ncols = max(1, min(room, len(names)))
        figure.legend(handles, names, frameon=False, loc="outside lower left", ncols=ncols)
    figure.suptitle(title, color=INK, x=0.01, ha="left")
    return figure


def _height(chart: Any) -> float:
    lines = len(chart.visible) if isinstance(chart, Rates) else 0
    lines = len(chart.findings) if isinstance(chart, Values) else lines
    lines = len(chart.steps) + 2 if isinstance(chart, Waterfall) else lines
    return ROW * (3 + lines) + 0.5 if lines else PANEL


@singledispatch
def paint(chart: Any, ax: Any) -> None:  # noqa: ARG001
    """Draw a chart on axes."""
    raise TypeError(f"No painter is registered for {type(chart).__name__}; see paint.register.")


@paint.register
def _(chart: Rates, ax: Any) -> None:
    rates, factor = chart.visible[::-1], 100.0 if chart.is_rate else 1.0
    for y, rate in enumerate(rates):
        color = SIDES[side(rate, chart.overall)]
        _dot(ax, y, (rate.value, rate.low, rate.high), factor, color)
    labels = [f"{name(r.group)} ({r.rows:,.0f})" if r.rows else name(r.group) for r in rates]
    ax.set_yticks(range(len(rates)), labels)
    if chart.overall is not None:
        dashes = {"linestyle": (0, (4, 3)), "linewidth": 1}
        ax.axvline(factor * chart.overall, color=INK, label="everyone", **dashes)
    if chart.line_at is not None:
        label = "four-fifths of the highest"
        ax.axvline(factor * chart.line_at, color=KINDS["beyond"], linewidth=1.2, label=label)
    title = chart.title.removesuffix(" by group")
    ax.set_xlabel(f"{title}, %" if chart.is_rate else title)
    _finish_rows(ax)


@paint.register
def _(chart: Values, ax: Any) -> None:
    estimates = [estimate for estimate in reversed(chart.findings) if estimate[1:3] != (None, None)]
    for y, estimate in enumerate(estimates):
        color = KINDS.get(estimate.kind, SIDES["around"])
        _dot(ax, y, (estimate.value, estimate.low, estimate.high), chart.factor, color)
        if estimate.tolerance is not None:
            ax.plot([chart.factor * estimate.tolerance] * 2, [y - 0.35, y + 0.35], color=INK)
    ax.set_yticks(range(len(estimates)), [estimate.label for estimate in estimates])
    ax.set_xlabel(chart.unit)
    ax.set_xlim(left=0)
    _finish_rows(ax)


@paint.register
def _(chart: Waterfall, ax: Any) -> None:
    factor = 100.0 if chart.is_rate else 1.0
    last = len(chart.steps) + 1
    steps = zip(chart.steps, chart.spans, chart.levels, strict=False)
    for at, (step, (low, high), level) in enumerate(steps, start=1):
        color = SIDES["above" if step.value > 0 else "below"]
        ax.barh(last - at, factor * (high - low), left=factor * low, height=0.5, color=color)
        ends = [factor * (level + step.low), factor * (level + step.high)]
        ax.plot(ends, [last - at] * 2, color=INK, linewidth=1.2)
    for at, (_, value) in ((last, chart.start), (0, chart.end)):
        _dot(ax, at, (value, None, None), factor, INK)
    names = [name(chart.end[0]), *(step.label for step in chart.steps[::-1]), name(chart.start[0])]
    ax.set_yticks(range(last + 1), names)
    ax.set_xlabel(f"{chart.title}, %" if chart.is_rate else chart.title)
    _finish_rows(ax)


@paint.register
def _(chart: Tradeoff, ax: Any) -> None:
    costs = [*chart.cost, *(cost for _, cost in chart.models.values())]
    costs += [rule.cost - rule.error for rule in chart.tested]
    floor = min(costs) - 0.1 * ((max(costs) - min(costs)) or 0.01)
    ax.fill_between(chart.bound, floor, chart.cost, color=SERIES[0], alpha=0.10, lw=0)
    label = "no rule can do better, on the fitting rows"
    ax.plot(chart.bound, chart.cost, color=SERIES[0], lw=2, label=label)
    if chart.tested:
        rules = sorted(chart.tested, key=lambda rule: rule.cost)
        ax.errorbar(
            [rule.value for rule in rules],
            [rule.cost for rule in rules],
            yerr=[rule.error for rule in rules],
            color=SERIES[1],
            marker="o",
            ms=3.5,
            lw=1,
            elinewidth=0.6,
            label="recommended rules, on test rows (± standard error)",
        )
    for mark, (label, (value, cost)) in zip("Dd", chart.models.items(), strict=False):
        ax.plot(value, cost, mark, color=INK, ms=7, ls="none", label=label)
    if chart.is_share:
        from matplotlib.ticker import PercentFormatter

        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylim(bottom=floor)
    ax.set_xlim(left=0)
    ax.set_xlabel(chart.across)
    ax.set_ylabel(chart.upward)
    _finish(ax)
    ax.legend(frameon=False, fontsize=8.5)


@paint.register
def _(chart: Scatter, ax: Any) -> None:
    for point in chart.points:
        at = point.number - 1
        style = {"color": SERIES[at % len(SERIES)], "marker": MARKERS[at % len(MARKERS)]}
        (x, left, right), (y, bottom, top) = point.across, point.up
        ax.plot([left, right], [y, y], color=style["color"], linewidth=1.2, alpha=0.75)
        ax.plot([x, x], [bottom, top], color=style["color"], linewidth=1.2, alpha=0.75)
        ax.plot(x, y, linestyle="", label=point.label, markersize=6, **style)
    ax.set_xlabel(chart.across, color=SOFT)
    ax.set_ylabel(chart.upward)
    ax.set_xlim(left=0.0)
    if not chart.upward:
        ax.set_yticks([p.up[0] for p in chart.points], [p.label for p in chart.points])
    _finish(ax)


@paint.register
def _(chart: Band, ax: Any) -> None:
    days = [date.fromisoformat(point["day"]) for point in chart.observed]
    low, high, value = (
        [point[end] for point in chart.observed] for end in ("low", "high", "value")
    )
    ax.fill_between(days, low, high, color=SIDES["around"], alpha=0.18, lw=0)
    ax.plot(days, value, color=SERIES[0], lw=2, label="observed so far")
    if chart.bound is not None:
        ax.axhline(chart.bound, color=INK, lw=1.5, label=f"bound {chart.bound:g}")
    if chart.since is not None:
        ax.axvline(
            date.fromisoformat(chart.since), color=INK, lw=1, ls=(0, (4, 3)), label=chart.label
        )
    ax.set_ylim(bottom=0)
    ax.set_ylabel(chart.title)
    ax.tick_params(axis="x", labelrotation=30)
    _finish(ax)
    ax.legend(frameon=False, fontsize="small")


def _dot(ax: Any, y: int, ends: Sequence[Any], factor: float, color: str) -> None:
    value, low, high = ends
    if low is not None and high is not None:
        ax.plot([factor * low, factor * high], [y, y], color=color, linewidth=1.5)
    if value is not None:
        ax.plot(factor * value, y, "o", color=color, markersize=5)


def _finish(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=SOFT)
    ax.grid(color=GRID)
    ax.set_axisbelow(True)


def _finish_rows(ax: Any) -> None:
    _finish(ax)
    ax.spines[["left"]].set_visible(False)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0, colors=INK)
    if ax.get_legend_handles_labels()[0]:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
        ax.legend(frameon=False, fontsize="small", borderaxespad=0.2, **place)
    ends = ax.get_xlim()
    ax.xaxis.set_major_formatter("{x:,.4g}" if max(map(abs, ends)) < 1000 else "{x:,.0f}")
    ax.margins(y=0.08)


def new_figure(width: float, height: float) -> Any:
    """A figure of this size in inches, which no window shows; needs Matplotlib."""
    require("matplotlib", purpose="A figure", extra="figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
