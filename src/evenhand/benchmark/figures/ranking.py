"""Methods in order: the gap they remove, what they lose for it, and which are not separable."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.figures.drawing import Drawing, caption
from evenhand.benchmark.figures.theme import INK, SOFT, STYLES, Style, Theme, theme_of
from evenhand.benchmark.ranking.tracks import REGRESSION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark.ranking.inference import Estimate
    from evenhand.benchmark.ranking.ranks import Ranking
    from evenhand.benchmark.scoring.results import Results

LINE = 0.24  # inches of height for a method
NARROW, WIDE = 2.6, 3.4
INTERVALS = "Bars are 95% intervals over splits that share rows."


def ranking_figure(results: Results, ranking: Ranking, theme: Theme | None = None) -> Drawing:
    """The methods of a ranking: gap removed, performance lost, and mean ranks.

    Parameters
    ----------
    results : Results
        What was ranked; it names methods and questions.
    ranking : Ranking
        Made by `rank`.
    theme : Theme, optional
        Names and styles; by default the usual ones.

    Returns
    -------
    Drawing
        Areas and losses with their intervals, and above them, for several problems, mean ranks
        with bars over methods that cannot be separated (Demšar 2006).

    """
    theme = theme or theme_of(results)
    styles = {entrant.method: method_style(entrant.method, theme) for entrant in ranking.entrants}
    several = len(ranking.problems) > 1
    lines = len(ranking.entrants)
    below = LINE * lines + 0.75
    above = 0.75 + LINE * (np.ceil(lines / 2) + len(ranking.bars) / 2) if several else 0.0
    figure = Figure(figsize=(NARROW + WIDE + 1.6, above + below), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[above, below]) if several else [figure]
    if several:
        _draw_ranks(parts[0].subplots(), ranking, styles)
    layout: Any = figure.get_layout_engine()
    layout.set(w_pad=0.1)
    left, right = parts[-1].subplots(1, 2, width_ratios=[WIDE, NARROW], sharey=True)
    removed = [entrant.removed for entrant in ranking.entrants]
    lost = [entrant.lost for entrant in ranking.entrants]
    letters = iter(["(b)", "(c)"] if several else ["(a)", "(b)"])
    _draw_intervals(left, ranking, removed, styles)
    left.set_title(f"{next(letters)} share of the gap removed", loc="left")
    left.set_xlim(min(-0.05, *(entrant.value for entrant in removed)), 1.02)
    _draw_intervals(right, ranking, lost, styles)
    right.set_title(f"{next(letters)} {_lost(ranking)}", loc="left")
    question = theme.question(ranking.question)
    return Drawing(
        title=f"{question[:1].upper()}{question[1:]}: {ranking.track}",
        caption=caption(ranking.sentence, INTERVALS, _one_split(ranking), _significance(ranking)),
        alt=_alt(ranking, question),
        figure=figure,
        data=_table(ranking),
    )


def method_style(method: str, theme: Theme) -> Style:
    """The style of a method, whatever its constraint.

    Examples
    --------
    >>> method_style("LinearPost", Theme({}, series=lambda method, constraint: method)).color
    'red'

    """
    if method in theme.styles or method in STYLES:
        return theme.styles.get(method) or STYLES[method]
    several = [style for name, style in theme.styles.items() if name.startswith(f"{method}, ")]
    return several[0] if several else theme.style(method)


def _lost(ranking: Ranking) -> str:
    return "share of RMSE added" if ranking.track.startswith(REGRESSION) else "accuracy lost"


def _draw_intervals(
    axes: Axes, ranking: Ranking, values: Sequence[Estimate], styles: dict[str, Style]
) -> None:
    """A row for each method, the best on top."""
    for row, (entrant, value) in enumerate(zip(ranking.entrants, values, strict=True)):
        style = styles[entrant.method]
        if entrant.method != BASE and not isnan(value.low):  # the yardstick has no interval
            ends: dict[str, Any] = {
                "color": style.ink,
                "linewidth": 1.4,
                "label": f"_bar of {entrant.method}",
            }
            axes.plot([value.low, value.high], [row, row], **ends)
        axes.plot(value.value, row, label=entrant.method, **style.line | {"linestyle": "none"})
    names = [entrant.method for entrant in ranking.entrants]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.axvline(0, color=SOFT, linewidth=0.8, zorder=1, label="_nothing")
    axes.grid(axis="y", visible=False)
    axes.locator_params(axis="x", nbins=5)


def _draw_ranks(axes: Axes, ranking: Ranking, styles: dict[str, Style]) -> None:
    """Demšar's picture: mean ranks on a line, names at both sides, bars over those within CD."""
    count = len(ranking.entrants)
    half = int(np.ceil(count / 2))
    bars = ranking.bars
    top = 1.0 + 0.5 * len(bars)
    for at, entrant in enumerate(ranking.entrants):
        is_left = at < half
        level = top + (at if is_left else count - 1 - at)
        side = 1 - 0.02 * count if is_left else count + 0.02 * count
        style = styles[entrant.method]
        axes.plot(
            [entrant.rank, entrant.rank, side], [0, level, level], color=style.ink, linewidth=1.0
        )
        axes.plot(entrant.rank, 0, zorder=4, **style.line | {"linestyle": "none", "clip_on": False})
        label = (
            f"{entrant.method}  {entrant.rank:.2f}"
            if is_left
            else f"{entrant.rank:.2f}  {entrant.method}"
        )
        align = "right" if is_left else "left"
        axes.text(side, level, f" {label} ", ha=align, va="center", fontsize=8.5)
    for row, (first, last) in enumerate(bars):
        ends = [ranking.entrants[first].rank - 0.04, ranking.entrants[last].rank + 0.04]
        axes.plot(ends, [0.5 + 0.5 * row] * 2, color=INK, linewidth=3, solid_capstyle="butt")
    axes.plot([1, 1 + ranking.difference], [-1.3, -1.3], color=INK, linewidth=1.2)
    for end in (1, 1 + ranking.difference):
        axes.plot([end, end], [-1.45, -1.15], color=INK, linewidth=1.2)
    text = f"critical difference {ranking.difference:.2f}"
    axes.text(1 + ranking.difference + 0.08, -1.3, text, va="center", fontsize=8, color=SOFT)
    axes.set(
        xlim=(1 - 0.35 * count, count + 0.35 * count), ylim=(top + half - 0.3, -2.1), yticks=[]
    )
    axes.set_xticks(range(1, count + 1))
    axes.set_title(f"(a) mean rank over {len(ranking.problems)} problems, 1 is best", loc="left")
    for edge in ("left", "right", "bottom"):
        axes.spines[edge].set_visible(False)
    axes.plot([1, count], [0, 0], color=SOFT, linewidth=0.9, zorder=1)
    axes.grid(visible=False)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    for tick in range(1, count + 1):
        axes.plot([tick, tick], [0, -0.15], color=SOFT, linewidth=0.9)
        axes.text(tick, -0.3, str(tick), ha="center", va="bottom", fontsize=7.5, color=SOFT)


def _one_split(ranking: Ranking) -> str:
    if ranking.splits > 1:
        return ""
    return "One split: settings are chosen where they are judged, which flatters many settings."


def _significance(ranking: Ranking) -> str:
    if len(ranking.problems) < 2:
        return "One problem: methods are compared over its splits, with Holm’s correction."
    p_value = ranking.friedman.p_value
    test = "" if isnan(p_value) else f" Friedman’s test: p = {p_value:.2g}."
    return (
        "Methods joined by a bar cannot be separated (Nemenyi, α = 0.05): their mean ranks differ "
        f"by less than {ranking.difference:.2f}.{test}"
    )


def _alt(ranking: Ranking, question: str) -> str:
    order = ", ".join(f"{entrant.method} {entrant.text}" for entrant in ranking.entrants)
    return f"Methods by the share of the gap removed, {question}, {ranking.track}: {order}."


def _table(ranking: Ranking) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "method": entrant.method,
                "rank": entrant.rank,
                **dict(
                    zip(("removed", "removed_low", "removed_high"), entrant.removed, strict=True)
                ),
                **dict(zip(("lost", "lost_low", "lost_high"), entrant.lost, strict=True)),
            }
            for entrant in ranking.entrants
        ]
    )
