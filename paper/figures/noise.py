"""The noise floor behind lines: what chance alone makes of groups of these sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.benchmark.figures.theme import BAND, SOFT
from paper.findings.floors import FLOOR, HIGH, floor_of
from paper.words import sizes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark import Results

ASKED = ("statistical_parity.mpd", "statistical_parity.pq")
NOISE = (
    "Shaded: what a model with Base’s selection rate in every group would show by chance at these "
    "group sizes; the dotted line is its mean, and once in twenty times it exceeds the band."
)


def floors(results: Results) -> Any:
    """Floor and high by task, number of groups and question: means over the splits."""
    found = floor_of(results, ASKED)
    told = [sizes_of(name) for name in found["problem"]]
    found["task"] = [task for task, _ in told]
    found["groups"] = [number for _, number in told]
    kept = found[found["groups"] > 0]
    means = kept.groupby(["task", "question", "groups"])[[FLOOR, HIGH]].mean()
    return means.reset_index()


def draw_floor(axes: Axes, bands: Any, task: str, question: str) -> None:
    """The band up to what chance exceeds once in twenty times, and its mean."""
    here = bands[(bands["task"] == task) & (bands["question"] == question)]
    if here.empty:
        return
    axes.fill_between(here["groups"], 0, here[HIGH], color=BAND, linewidth=0, zorder=0)
    axes.plot(here["groups"], here[FLOOR], color=SOFT, linestyle=":", linewidth=1.2, label="_floor")
