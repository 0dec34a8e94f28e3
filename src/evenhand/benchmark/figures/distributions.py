"""Whole distributions: the largest gap between them, and the area between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmark.figures.drawing import Drawing, caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import Panel, grid
from evenhand.benchmark.figures.tradeoffs import alt
from evenhand.benchmark.findings.criteria import BASE_OF
from evenhand.benchmark.findings.words import name_of

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

SUP, AREA = "strong_parity", "wasserstein_parity"


def distributions(results: Results) -> Drawing:
    """The area between the groups' distributions over their largest gap, by MPD and by PQ."""
    problems = _problems(results)
    rows = [
        [
            Panel(problem, f"{SUP}.{measure}", f"{AREA}.{measure}", base=base)
            for problem, base in problems
        ]
        for measure in ("mpd", "pq")
    ]
    made = grid(results, rows)
    names = [name_of(problem) for problem, _ in problems]
    return Drawing(
        title="Largest gap and area between distributions",
        caption=caption(
            f"SP (W), the area between the groups’ distribution functions, over SP, their largest "
            f"gap, on {listed(names)}. For two groups the area by MPD is the Wasserstein-1 "
            "distance, also called ABCC. Lower left is better.",
            over_seeds(made.data),
            provenance(results, [problem for problem, _ in problems]),
        ),
        alt=alt(made.data, "SP (W)", listed(names), ["SP by MPD", "S-SP by PQ"]),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )


def _problems(results: Results) -> list[tuple[str, str]]:
    """Those that were asked about areas: regressions, and classifiers where scores were."""
    found = results.query(
        "select distinct problem, kind from results join problems using (problem) "
        f"where question = '{AREA}.mpd' order by kind desc, problem"
    )
    pairs = [(row.problem, BASE_OF[row.kind]) for row in found.itertuples()]
    return pairs or [("communities", "linear")]
