"""The figure of a comparison for papers and slides, from the same data as the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures import GRID, INK, SERIES, SOFT, new_figure, tick_format
from evenhand.report.formats import measure_name, words

PANEL = 3.3  # inches
COLUMNS = 3
MARKERS = "osD^vPXp"
LETTERS = 13  # in an inch of a legend


def plot(document: Mapping[str, Any]) -> Any:
    """A panel for each criterion: accuracy, or error, against how uneven each model is."""
    panels = document["criteria"]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(PANEL * max(columns, 1.6), PANEL * rows + 0.6)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    metric = document["performance"][0] if document["performance"] else None
    for ax, panel in zip(axes.flat, panels, strict=False):
        _draw(ax, panel, metric)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel(_upright(metric))
    if metric:
        _name_points(figure, *axes.flat[0].get_legend_handles_labels())
    figure.suptitle(document["title"] or "", color=INK, x=0.01, ha="left")
    return figure


def _draw(ax: Any, panel: Mapping[str, Any], metric: Any) -> None:
    across = 100.0 if panel["is_rate"] else 1.0
    up = 100.0 if metric and metric["is_rate"] else 1.0
    for i, model in enumerate(panel["models"]):
        how = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)]}
        level = metric["models"][i] if metric else _no_metric(i, panel["models"])
        if model["value"] is None or level["value"] is None:
            ax.plot([], [], linestyle="", label=model["model"], **how)
            continue
        x, y = across * model["value"], up * level["value"]
        _bar(ax, [across * end for end in _ends(model)], [y, y], how["color"])
        _bar(ax, [x, x], [up * end for end in _ends(level)], how["color"])
        ax.plot(x, y, linestyle="", label=model["model"], markersize=6, **how)
    ax.set_title(words(panel["name"]), fontsize="medium", color=INK, loc="left")
    unit = ", percentage points" if panel["is_rate"] else ""
    unit += " (1 is equal)" if panel["more_is_better"] else ""
    ax.set_xlabel(f"{measure_name(panel['measure']).lower()}{unit}", color=SOFT)
    ax.set_xlim(left=0.0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=SOFT)
    ax.grid(color=GRID)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_formatter(tick_format(ax.get_xlim()))
    if metric is None:
        ax.set_yticks(range(len(panel["models"])), [one["model"] for one in panel["models"]][::-1])


def _name_points(figure: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Below all panels, in as many columns as the names have room for."""
    room = int(figure.get_figwidth() * LETTERS / (max(map(len, names)) + 7))
    place = {"loc": "outside lower left", "ncols": max(1, min(room, len(names)))}
    figure.legend(handles, names, frameon=False, **place)


def _bar(ax: Any, across: Sequence[float], up: Sequence[float], color: str) -> None:
    ax.plot(across, up, color=color, linewidth=1.2, alpha=0.75)


def _ends(model: Mapping[str, Any]) -> list[float]:
    return [model["value"] if model[end] is None else model[end] for end in ("low", "high")]


def _no_metric(i: int, models: Sequence[Any]) -> dict[str, Any]:
    """Without the truth there is no accuracy: models stand one below another."""
    place = float(len(models) - 1 - i)
    return {"value": place, "low": place, "high": place}


def _upright(metric: Mapping[str, Any] | None) -> str:
    if metric is None:
        return ""
    return f"{metric['name']}, %" if metric["is_rate"] else str(metric["name"])
