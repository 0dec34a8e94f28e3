"""Figures from results alone: trade-offs of any results, and the parts to draw others.

A figure is a function from `Results` to a `Drawing`; `panels`, `theme` and `drawing` have the parts
to make others of. Matplotlib is needed to draw, and imported only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._errors import require
from evenhand.benchmark.figures.drawing import FORMATS

if TYPE_CHECKING:
    from evenhand.benchmark.figures._tradeoffs import (
        alt_text,
        main_criteria,
        tradeoffs,
        usual_figures,
    )
    from evenhand.benchmark.figures.drawing import Drawing
    from evenhand.benchmark.figures.ranking import ranking_figure
    from evenhand.benchmark.figures.saving import save
    from evenhand.benchmark.figures.theme import Theme, theme_of
    from evenhand.benchmark.scoring.results import Results

Figures = Mapping[str, "Callable[[Results], Drawing]"]


def drawn(results: Results, figures: Figures | None = None) -> Iterator[tuple[str, Drawing]]:
    """Figures one after another, with their names, in one look.

    Parameters
    ----------
    results : Results
        What is drawn.
    figures : mapping of str to callable, optional
        Functions from results to a `Drawing`; by default `usual_figures`.

    Yields
    ------
    str
        The figure's name.
    Drawing
        The figure with its words and points.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> list(drawn(nothing))
    []

    """
    require("matplotlib")
    import matplotlib as mpl

    from evenhand.benchmark.figures._tradeoffs import usual_figures
    from evenhand.benchmark.figures.theme import RC

    for name, figure in (usual_figures(results) if figures is None else figures).items():
        with mpl.rc_context(RC):
            drawing = figure(results)
        yield name, drawing


def draw(
    results: Results,
    folder: str | Path,
    figures: Figures | None = None,
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write figures into a folder, each as .svg, .pdf, .png and its points as .csv.

    Parameters
    ----------
    results : Results
        What is drawn.
    folder : str or Path
        Made if it is not there.
    figures : mapping of str to callable, optional
        Functions from results to a `Drawing`; by default `usual_figures`.
    formats : sequence of {"svg", "pdf", "png"}, default all
        Which files are written in addition to the .csv.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> draw(nothing, "figures")
    []

    """
    require("matplotlib")
    from evenhand.benchmark.figures.saving import save

    drawings = drawn(results, figures)
    return [
        path for name, drawing in drawings for path in save(drawing, Path(folder), name, formats)
    ]


_HOMES = {
    "Drawing": "drawing",
    "save": "saving",
    **dict.fromkeys(("Theme", "theme_of"), "theme"),
    **dict.fromkeys(("alt_text", "main_criteria", "tradeoffs", "usual_figures"), "_tradeoffs"),
    "ranking_figure": "ranking",
}
__all__ = [
    "Drawing",
    "Figures",
    "Theme",
    "alt_text",
    "draw",
    "drawn",
    "main_criteria",
    "ranking_figure",
    "save",
    "theme_of",
    "tradeoffs",
    "usual_figures",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOMES[name] in ("ranking", "saving", "_tradeoffs"):
        require("matplotlib")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
