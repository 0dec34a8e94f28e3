"""Gini and PQ over all divisions of one unit between three groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from evenhand import gini, pq
from evenhand.benchmark.figures import Drawing
from evenhand.benchmark.figures.theme import INK, SOFT

STEPS = 24
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
SHADE = LinearSegmentedColormap.from_list("evenhand", ["#f6f3fb", "#b9a4e0", "#6b40b4", "#2b1552"])
MEASURES: dict[str, Any] = {"Gini": gini, "PQ(1, 2)": pq}


def surfaces(*_: object) -> Drawing:
    """Gini and PQ(1, 2) for d = 3 and a sum of 1: as surfaces, and seen from above."""
    import pandas as pd

    figure = Figure(figsize=(10.2, 2.9), layout="constrained")
    w = simplex(STEPS)
    drawn = {name: measure(w) for name, measure in MEASURES.items()}
    for place, (name, values) in zip((1, 3), drawn.items(), strict=True):
        axes: Any = figure.add_subplot(1, 4, place, projection="3d", computed_zorder=False)
        _surface(axes, w, values, name)
        _from_above(figure.add_subplot(1, 4, place + 1), name)
    data = pd.DataFrame({"w1": w[:, 0], "w2": w[:, 1], "w3": w[:, 2], **drawn})
    return Drawing(
        title="Gini and PQ for three groups",
        caption="Gini and PQ(1, 2) of w with w₁ + w₂ + w₃ = 1, as surfaces over w₁ and w₂ and "
        "from above, where each corner is one group that has everything and the cross is "
        "equality; ten contours from 0 to the maximum. For three groups with a given sum, Gini is "
        "⅔ of MPD, so that it has MPD's hexagons; PQ has circles.",
        alt="Two surfaces over the triangle of divisions between three groups. Both are 0 in the "
        "middle and highest in the corners: Gini, made of flat pieces, up to 0.667, PQ, smooth, "
        "up to 0.423. Seen from above, Gini has hexagons as contours and PQ circles.",
        figure=figure,
        data=data,
    )


def simplex(steps: int) -> Any:
    """Points of the triangle w ≥ 0, w₁ + w₂ + w₃ = 1, evenly.

    >>> simplex(1)
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])
    """
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    kept = i + j <= steps
    first, second = i[kept] / steps, j[kept] / steps
    return np.column_stack([first, second, np.clip(1 - first - second, 0, None)])


def triangles(steps: int) -> Any:
    """The small triangles between the points of `simplex`, each by the numbers of its corners.

    >>> triangles(1)
    array([[0, 1, 2]])
    """
    starts = np.concatenate([[0], np.cumsum(steps + 1 - np.arange(steps + 1))])
    i, j = np.meshgrid(np.arange(steps), np.arange(steps), indexing="ij")
    up, down = i + j < steps, i + j < steps - 1
    at = starts[i] + j
    after = starts[i + 1] + j
    first = np.column_stack([at[up], at[up] + 1, after[up]])
    second = np.column_stack([at[down] + 1, after[down] + 1, after[down]])
    return np.concatenate([first, second])


def _surface(axes: Any, w: Any, values: Any, name: str) -> None:
    axes.plot_trisurf(
        w[:, 0],
        w[:, 1],
        values,
        triangles=triangles(STEPS),
        cmap=SHADE,
        linewidth=0.2,
        edgecolor="#ffffff",
        shade=False,
    )
    axes.view_init(elev=28, azim=-125)
    axes.set_box_aspect((1, 1, 0.75), zoom=1.1)
    axes.set_xlabel("w₁", labelpad=-6)
    axes.set_ylabel("w₂", labelpad=-6)
    axes.set_title(f"{name}, up to {values.max():.3f}", loc="left")
    axes.tick_params(pad=-2)
    axes.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), zlim=(0, 0.7), zticks=(0, 0.2, 0.4, 0.6))
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((1, 1, 1, 0))


def _from_above(axes: Any, name: str) -> None:
    fine = simplex(5 * STEPS)
    values = MEASURES[name](fine)
    x, y = (fine @ CORNERS).T
    levels = np.linspace(0, values.max(), 11)
    axes.tricontourf(x, y, values, levels=levels, cmap=SHADE)
    axes.tricontour(x, y, values, levels=levels[1:-1], colors="#ffffff", linewidths=0.5)
    axes.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=SOFT, linewidth=0.8)
    axes.plot(*CORNERS.mean(axis=0), marker="+", color=INK, markersize=6)
    for place, (cx, cy) in enumerate(CORNERS, start=1):
        where = {"ha": "center", "va": "bottom" if place == 3 else "top"}
        axes.text(cx, cy + (0.03 if place == 3 else -0.03), f"w{'₁₂₃'[place - 1]} = 1", **where)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.12, 1.0))
