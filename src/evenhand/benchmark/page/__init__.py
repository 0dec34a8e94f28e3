"""A benchmark for people: one HTML file that opens anywhere, and its figures as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._writing import write_whole
from evenhand.benchmark.extras import require

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results
    from evenhand.benchmark.store import Store


def page(
    results: Results,
    failures: Iterable[Mapping[str, Any]] = (),
    *,
    figures: Iterable[str] | None = None,
) -> str:
    """One HTML file with figures, tables and findings in it, and nothing from elsewhere.

    `figures` are names of figures; by default all.
    """
    require("matplotlib", "jinja2")
    from evenhand.benchmark.figures import drawn
    from evenhand.benchmark.page.rendering import page as render

    return render(results, list(drawn(results, figures)), failures)


def write_report(
    results: Results,
    folder: str | Path,
    *,
    store: Store | str | Path | None = None,
    figures: Iterable[str] | None = None,
) -> Path:
    """Write report.html, figures and results into a folder, and say where the report is.

    With the store of the predictions, figures show noise floors, and the report names the runs
    that failed. `read_results` reads the folder `results` again, with the floors.
    """
    require("matplotlib", "jinja2")
    from evenhand.benchmark.figures import drawn
    from evenhand.benchmark.figures.saving import save
    from evenhand.benchmark.page.rendering import page as render

    folder = Path(folder)
    results, failures = _with_store(results, store)
    drawings = list(drawn(results, figures))
    for name, drawing in drawings:
        save(drawing, folder / "figures", name)
    path = folder / "report.html"
    write_whole(path, render(results, drawings, failures))
    results.write(folder / "results")
    return path


def _with_store(
    results: Results, store: Store | str | Path | None
) -> tuple[Results, list[Mapping[str, Any]]]:
    if store is None:
        return results, []
    from evenhand.benchmark.findings.floors import with_floors
    from evenhand.benchmark.store import Store as Opened

    opened = store if isinstance(store, Opened) else Opened(Path(store))
    return with_floors(results, opened), list(opened.failures().values())


__all__ = ["page", "write_report"]
