"""From two to fifty groups: what MPD and PQ say of the same predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.optimize import isotonic_regression

from evenhand.benchmark.figures import Drawing
from evenhand.benchmark.figures.drawing import caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import LEGEND, WIDTH, blank, by_root, lettered, readings
from evenhand.benchmark.figures.theme import BAND, INK
from paper.figures.noise import NOISE, draw_floor, floors
from paper.figures.tradeoffs import ROOT
from paper.theme import THEME
from paper.words import axis_of, name_of, sizes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark import Results

MPD, PQ, ACCURACY = "statistical_parity.mpd", "statistical_parity.pq", "accuracy"
ASKED = (MPD, PQ, ACCURACY)
CONSTANT = (
    "Look at parity and accuracy together: a model that gives everyone the same label is perfectly "
    "even. Methods that decide at random are scored by what they do in expectation."
)
APART = 0.11  # of a panel's height, between two words
LOWEST = 0.04  # of a panel's height, of a word's middle
FAMILIES = ("simulated_multigroup", "adult_multigroup")


def group_sizes(results: Results) -> Drawing:
    """SP by MPD, S-SP by PQ and accuracy over the number of groups, methods at their strictest."""
    data = sized(results)
    strict = strictest(data)
    figure = Figure(figsize=(4 * WIDTH, 5.2 + 2 * LEGEND), layout="constrained")
    axes = figure.subplots(2, len(ASKED), squeeze=False, sharex=True)
    bands = floors(results)
    for family, row in zip(FAMILIES, axes, strict=True):
        for question, one in zip(ASKED, row, strict=True):
            here = _of(strict, family, question)
            draw_floor(one, bands, family, question)
            _lines(one, here, question)
            one.set_ylabel(axis_of(question))
            one.set_xlabel("groups")
        row[0].set_title(name_of(family), loc="left")
    lettered(axes.flat)
    _legend(figure, strict, not bands.empty)
    return Drawing(
        title="SP by MPD, S-SP by PQ and accuracy from two to fifty groups",
        caption=caption(
            "Each method with the strictest of its settings, which the legend names.",
            CONSTANT,
            ROOT,
            NOISE if len(bands) else "Noise floors are missing: they need the stored predictions.",
            over_seeds(strict),
            provenance(results, strict["problem"], THEME),
        ),
        alt=_alt(strict),
        figure=figure,
        data=strict,
        missing=_missing(data),
    )


def every_setting(results: Results) -> Drawing:
    """The same for every setting, a column for each method."""
    data = sized(results)
    methods = sorted(set(data["method"]) - {"Base"}, key=THEME.place)
    rows = [(family, question) for family in FAMILIES for question in ASKED]
    wide = max(len(methods), 1)
    figure = Figure(figsize=(max(1.75 * wide, 4), 1.8 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), wide, squeeze=False, sharex=True, sharey="row")
    bands = floors(results)
    for (family, question), places in zip(rows, axes, strict=True):
        here = _of(data, family, question)
        for method, one in zip(methods or [""], places, strict=True):
            draw_floor(one, bands, family, question)
            _column(one, here, method, question)
        for method, one in zip(methods, places, strict=False):  # when the row has its limits
            _label_ends(one, here[here["method"] == method], THEME.style(method).ink)
        places[0].set_ylabel(f"{name_of(family).partition(',')[0]}\n{axis_of(question)}")
    for method, one in zip(methods, axes[0], strict=False):
        one.set_title(THEME.label(method).replace(" (", "\n("), loc="left")
    for one in axes[-1]:
        one.set_xlabel("groups")
    return Drawing(
        title="From two to fifty groups, every setting",
        caption=caption(
            "A column for each method, a line for each setting, with its value at the end; "
            "the black line is Base.",
            CONSTANT,
            ROOT,
            NOISE if len(bands) else "",
            over_seeds(data),
            provenance(results, data["problem"], THEME),
        ),
        alt=_alt(data),
        figure=figure,
        data=data,
        missing=_missing(data),
    )


def sized(results: Results) -> Any:
    """Mean scores with the family of the problem and the number of groups."""
    names = results.query("select problem from problems")["problem"]
    wanted = [name for name in names if sizes_of(name)[0] in FAMILIES and sizes_of(name)[1]]
    found = readings(results, ASKED, wanted or ["none"], ["logistic"], THEME)
    told = [sizes_of(name) for name in found["problem"]]
    found["task"] = [task for task, _ in told]
    found["groups"] = [number for _, number in told]
    return found.sort_values(["task", "method", "hyperparameter", "groups"], ignore_index=True)


def strictest(data: Any) -> Any:
    """The rows of each method's smallest hyperparameter."""
    least = data.groupby("method")["hyperparameter"].transform("min")
    return data[least.isna() | (data["hyperparameter"] == least)].reset_index(drop=True)


def _of(data: Any, family: str, question: str) -> Any:
    return data[(data["task"] == family) & (data["question"] == question)]


def _lines(axes: Axes, here: Any, question: str) -> None:
    if here.empty:
        blank(axes)
        return
    for method in sorted(set(here["method"]), key=THEME.place):
        one = here[here["method"] == method]
        look = THEME.style(method)
        _whiskers(axes, one, look.ink)
        front = 4 if method == "Base" else 3
        axes.plot(one["groups"], one["mean"], label=method, zorder=front, **look.line)
    _scale(axes, here, question)


def _scale(axes: Axes, here: Any, question: str) -> None:
    """Parity from 0, that by PQ spaced by the root; accuracy as it is."""
    if question == PQ:
        by_root(axes, 1.06 * float(here["mean"].max()), "y")
        return
    if question != ACCURACY:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _whiskers(axes: Axes, one: Any, color: str) -> None:
    low, high = one["mean"] - one["error"].fillna(0), one["mean"] + one["error"].fillna(0)
    axes.vlines(one["groups"], low, high, color=color, linewidth=0.9, alpha=0.45)


def _column(axes: Axes, here: Any, method: str, question: str) -> None:
    base, own = here[here["method"] == "Base"], here[here["method"] == method]
    if own.empty:
        blank(axes)
        return
    axes.plot(base["groups"], base["mean"], color=INK, linewidth=1, label="Base")
    look = THEME.style(method)
    for value, one in own.groupby("hyperparameter", dropna=False):
        _whiskers(axes, one, look.ink)
        options = {**look.line, "markersize": 3}
        axes.plot(one["groups"], one["mean"], label=_setting(method, value), **options)
    axes.set_xlim(right=1.5 * here["groups"].max())
    axes.set_xticks([2, 25, 50])
    _scale(axes, here, question)


def _label_ends(axes: Axes, own: Any, color: str) -> None:
    """The settings at the ends of their lines, moved apart as little as they must be."""
    ends = own[own["groups"] == own["groups"].max()].dropna(subset="hyperparameter")
    ends = ends.sort_values("mean")
    if ends.empty:
        return
    low, high = axes.transData.transform([(0, end) for end in axes.get_ylim()])[:, 1]
    points = axes.transData.transform([(0, mean) for mean in ends["mean"]])[:, 1]
    steps = APART * np.arange(len(ends))
    places = isotonic_regression((points - low) / (high - low) - steps).x
    for value, at in zip(ends["hyperparameter"], places.clip(LOWEST) + steps, strict=True):
        axes.text(
            1.08 * ends["groups"].max(),
            at,
            f"{value:g}",
            color=color,
            fontsize=6.5,
            va="center",
            transform=axes.get_xaxis_transform(),  # groups along x, shares of the panel along y
        )


def _setting(method: str, value: float) -> str:
    return method if value != value else f"{method} {value:g}"


def _legend(figure: Figure, data: Any, with_floor: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for method in sorted(set(data["method"]), key=THEME.place):
        value = data.loc[data["method"] == method, "hyperparameter"].iloc[0]
        handles.append(
            Line2D([], [], label=_setting(THEME.label(method), value), **THEME.style(method).line)
        )
    if with_floor:
        handles.append(Patch(color=BAND, label="by chance, were the groups alike"))
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(5, len(handles)))


def _alt(data: Any) -> str:
    methods = sorted(set(data["method"]), key=THEME.place)
    if not methods:
        return "SP by MPD, S-SP by PQ and accuracy over the number of groups: no points yet."
    least, most = int(data["groups"].min()), int(data["groups"].max())
    return (
        f"SP by MPD, S-SP by PQ and accuracy from {least} to {most} groups of simulated and Adult "
        f"data, lines for {listed(methods)}."
    )


def _missing(data: Any) -> tuple[str, ...]:
    return tuple(name_of(family) for family in FAMILIES if family not in set(data["task"]))
