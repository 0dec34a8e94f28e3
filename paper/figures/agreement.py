"""Kendall's τ between rankings, and how often a transform changes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from evenhand.benchmark.figures import Drawing
from evenhand.benchmark.figures.drawing import caption, provenance
from evenhand.benchmark.figures.panels import blank
from evenhand.benchmark.figures.theme import SOFT, WHITE, Style
from paper.findings.alike import ALIKE, agreements
from paper.findings.criteria import ASKED
from paper.findings.values import values
from paper.theme import THEME
from paper.words import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark import Results

PAIRS = {
    "MPD and PQ": Style("purple", "d", size=6),
    "MPD and Gini": Style("blue", "o", size=5),
    "Gini and PQ": Style("gray", "s", size=4.5, hollow=True),
}
KINDS = {"classification": "Classification", "regression": "Regression"}
HALF = (
    "Bars are 95 % intervals over the splits, corrected for the rows that splits share; none "
    "from one split."
)


def rank_agreement(results: Results) -> Drawing:
    """τ between MPD, Gini and PQ, by problem and criterion."""
    data = table(results, tuple(PAIRS))
    figure, missing = _dots(results, data, "tau", "Kendall’s τ")
    for axes in (one for one in figure.axes if one.lines):
        axes.axvline(ALIKE, color=SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    return Drawing(
        title="Do MPD, Gini and PQ rank the same settings alike?",
        caption=caption(
            "Kendall’s τ between two rankings of all methods and settings of a problem; 1 is the "
            f"same order. The dashed line, {ALIKE:g}, is what the findings call alike: four of "
            "five pairs. Vertical ticks: MPD with itself between two splits.",
            HALF,
            provenance(results, data["problem"], THEME),
        ),
        alt=_alt(data, "tau", "Kendall’s τ"),
        figure=figure,
        data=data,
        missing=missing,
    )


def transform_changes(results: Results) -> Drawing:
    """The share of pairs of settings that the exponential transform puts in the other order."""
    data = table(results, ("plain and exp",))
    figure, missing = _dots(results, data, "swapped", "share of pairs that change places")
    return Drawing(
        title="How often the exponential transform changes an order",
        caption=caption(
            "Share of pairs of settings that PQ of exp(w) puts in the other order than PQ of w. "
            "For the SP of a regression, exp(F) is compared with F where the pooled F is at "
            "least 0.05.",
            HALF,
            provenance(results, data["problem"], THEME),
        ),
        alt=_alt(data, "swapped", "share of pairs that change places"),
        figure=figure,
        data=data,
        missing=missing,
    )


def table(results: Results, pairs: Sequence[str]) -> Any:
    """Agreements as a table: a row for each problem, criterion and pair."""
    import pandas as pd

    wide = values(results, [name for asked in ASKED for name in asked.questions])
    rows = [
        {
            "kind": asked.kind,
            "problem": problem,
            "criterion": asked.name,
            "pair": pair,
            "again": both.again.value,
            "settings": both.settings,
            "seeds": both.seeds,
            **_columns("tau", both.tau),
            **_columns("swapped", both.swapped),
        }
        for problem, asked, found in agreements(results, wide, pairs=pairs)
        for pair, both in found.items()
        if both is not None
    ]
    names = ["kind", "problem", "criterion", "pair", "again", "settings", "seeds"]
    names += [f"{one}{end}" for one in ("tau", "swapped") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=names)


def _columns(name: str, found: Any) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _dots(results: Results, data: Any, column: str, label: str) -> tuple[Figure, tuple[str, ...]]:
    """A panel for each criterion, a row for each problem."""
    panels = [(asked.kind, asked.name) for asked in ASKED]
    rows = {kind: max(_rows(data, kind), 1) for kind in KINDS}
    figure = Figure(figsize=(10.2, 0.42 * sum(rows.values()) + 2.3), layout=_layout())
    parts: Any = figure.subfigures(2, 1, height_ratios=[rows[kind] + 1.6 for kind in KINDS])
    for kind, part in zip(KINDS, parts, strict=True):
        names = [name for own, name in panels if own == kind]
        axes = part.subplots(1, len(names), squeeze=False, sharey=True)[0]
        problems = list(dict.fromkeys(data.loc[data["kind"] == kind, "problem"]))
        for name, one in zip(names, axes, strict=True):
            here = data[(data["kind"] == kind) & (data["criterion"] == name)]
            one.set_title(f"{KINDS[kind]}, {name}", loc="left")
            one.set_xlabel(label)
            _panel(one, here, problems, column, results.stand_ins)
    _legend(figure, data)
    empty = [KINDS[kind].lower() for kind in KINDS if not _rows(data, kind)]
    return figure, tuple(empty)


def _layout() -> Any:
    """With room for the names at the left edge, which subfigures forget."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return ConstrainedLayoutEngine(w_pad=0.12)


def _rows(data: Any, kind: str) -> int:
    return int(data.loc[data["kind"] == kind, "problem"].nunique())


def _panel(axes: Axes, here: Any, problems: list[str], column: str, marked: frozenset[str]) -> None:
    if here.empty:
        blank(axes)
        return
    pairs = [pair for pair in PAIRS if pair in set(here["pair"])] or list(
        dict.fromkeys(here["pair"])
    )
    for at, pair in enumerate(pairs):
        look = PAIRS.get(pair, PAIRS["MPD and PQ"])
        own = here[here["pair"] == pair]
        y = [problems.index(one) + 0.2 * (at - (len(pairs) - 1) / 2) for one in own["problem"]]
        low, high = own[f"{column}_low"], own[f"{column}_high"]
        axes.hlines(y, low, high, color=look.ink, linewidth=1.3, alpha=0.6)
        options = {**look.line, "linestyle": "none"}
        axes.plot(own[column], y, label=pair, **options)
        if pair == "MPD and PQ":
            axes.plot(own["again"], y, "|", color=SOFT, markersize=9, label="_again")
    names = [f"{name_of(one)}{'†' if one in marked else ''}" for one in problems]
    axes.set_yticks(range(len(problems)), names)
    axes.set_ylim(len(problems) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    if column == "tau":
        lowest = float(here[["tau", "tau_low"]].min().min())
        axes.set_xlim(min(0.0, lowest) - 0.05, 1.04)
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")


def _legend(figure: Figure, data: Any) -> None:
    from matplotlib.lines import Line2D

    if not set(data["pair"]) & set(PAIRS):
        return
    handles = [
        Line2D([], [], label=pair, **{**look.line, "linestyle": "none"})
        for pair, look in PAIRS.items()
    ]
    tick: dict[str, Any] = {"color": SOFT, "marker": "|", "markersize": 9, "linestyle": "none"}
    handles.append(Line2D([], [], label="MPD between splits", markerfacecolor=WHITE, **tick))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)


def _alt(data: Any, column: str, label: str) -> str:
    if data.empty:
        return f"{label}: no results yet."
    seen = [value for value in data[column] if not isnan(value)]
    return f"{label} for {len(data)} comparisons, from {min(seen):.2f} to {max(seen):.2f}."
