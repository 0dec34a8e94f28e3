"""The figures of the paper and ours, from results alone: no score is computed here.

Matplotlib is needed to draw, and imported only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._errors import InputError
from evenhand.benchmark.extras import require

if TYPE_CHECKING:
    from evenhand.benchmark.figures.drawing import Drawing
    from evenhand.benchmark.scoring.results import Results


def names() -> tuple[str, ...]:
    """The names of all figures, those of the paper first."""
    require("matplotlib")
    from evenhand.benchmark.figures.catalogue import FIGURES

    return tuple(FIGURES)


def figure(results: Results, name: str) -> Drawing:
    """Draw one figure; what there are no results for is said in it, and in its caption."""
    require("matplotlib")
    import matplotlib as mpl

    from evenhand.benchmark.figures.catalogue import FIGURES
    from evenhand.benchmark.figures.styles import RC

    if name not in FIGURES:
        raise InputError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    with mpl.rc_context(RC):
        return FIGURES[name](results)


def drawn(results: Results, wanted: Iterable[str] | None = None) -> Iterator[tuple[str, Drawing]]:
    """Figures one after another, with their names; by default all."""
    for name in names() if wanted is None else wanted:
        yield name, figure(results, name)


def draw(results: Results, folder: str | Path, wanted: Iterable[str] | None = None) -> list[Path]:
    """Write figures into a folder, each as .svg, .pdf, .png and its points as .csv."""
    require("matplotlib")
    from evenhand.benchmark.figures.saving import save

    made = drawn(results, wanted)
    return [path for name, drawing in made for path in save(drawing, Path(folder), name)]


__all__ = ["draw", "drawn", "figure", "names"]
