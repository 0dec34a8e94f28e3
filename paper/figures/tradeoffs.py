"""Performance against criteria, by MPD as in the literature and by PQ as in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark.figures import (
    Drawing,
    Panel,
    alt_text,
    caption,
    grid,
    listed,
    over_seeds,
    provenance,
)
from paper.families import ODDS, PARITY
from paper.theme import THEME, panel
from paper.words import BASES, axis_of, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

Rows = Sequence[Sequence[Panel]]
SP, EO = ("statistical_parity", "statistical_parity"), ("equalized_odds", "average_odds")
EXP = " transform=exp g=mse"
ROOT = "Axes of PQ are spaced by the square root, as PQ grows with the square of differences."
AIMS = (
    "SP panels show the methods told to meet parity, EO panels those told to meet odds. "
    "Upper left is better."
)
LOWER = "Lower left is better."
USUAL = ("logistic", "linear")


def classification(
    results: Results, problems: Sequence[str], base: str = "logistic", *, aggregate: str = ""
) -> Drawing:
    """Accuracy over SP, S-SP, EO and S-EO, a row for each problem."""
    rows = [list(_four(problem, base, aggregate)) for problem in problems]
    return _drawing(results, rows, base, "Accuracy", AIMS)


def _four(problem: str, base: str, aggregate: str = "") -> Iterator[Panel]:
    more = f" aggregate={aggregate}" if aggregate else ""
    for (by_mpd, by_pq), family in ((SP, PARITY), (EO, ODDS)):
        for question in (f"{by_mpd}.mpd{more}", f"{by_pq}.pq{more}"):
            yield panel(problem, question, family=family, base=base)


def headline(results: Results) -> Drawing:
    """The paper's first comparison: MPD above, PQ below, on Adult and ACSIncome."""
    fours = [list(_four(problem, "logistic")) for problem in ("adult", "acs_income")]
    rows = [[panel for four in fours for panel in four[start::2]] for start in (0, 1)]
    return _drawing(results, rows, "logistic", "Accuracy", AIMS)


def regression(results: Results, problems: Sequence[str], base: str = "linear") -> Drawing:
    """RMSE over SP, SP (W), SP (weak) and EO; MPD above, PQ below, for each problem."""
    criteria = ("strong_parity", "wasserstein_parity", "weak_parity")
    rows = []
    for problem in problems:
        for measure, odds in (("mpd", " g=mse"), ("pq", EXP)):
            asked = [f"{one}.{measure}" for one in criteria] + [
                f"performance_parity.{measure}{odds}"
            ]
            rows.append([panel(problem, one, "rmse", base=base) for one in asked])
    return _drawing(results, rows, base, "RMSE", LOWER)


def communities(results: Results, base: str = "linear") -> Drawing:
    """The paper's regression comparison: SP and EO on Communities & Crime."""
    asked = ("strong_parity.mpd", "performance_parity.mpd g=mse")
    sparse = ("strong_parity.pq", f"performance_parity.pq{EXP}")
    pairs = [one for pair in zip(asked, sparse, strict=True) for one in pair]
    rows = [[panel("communities", one, "rmse", base=base) for one in pairs]]
    return _drawing(results, rows, base, "RMSE", LOWER)


def ratios(results: Results, problems: Sequence[str]) -> Drawing:
    """RMSE over PQ of the distribution functions themselves, which ParityConstrained bounds."""
    rows = [[panel(one, "strong_parity.pq tau=0.05", "rmse", base="linear") for one in problems]]
    aims = (
        "S-SP takes F as it is, where the pooled F is at least 0.05: the criterion that "
        f"ParityConstrained bounds, whereas LinearPost_R bounds SP by MPD. {LOWER}"
    )
    made = _drawing(results, rows, "linear", "RMSE", aims)
    return replace(made, title="Ratios of distribution functions")


def _drawing(results: Results, rows: Rows, base: str, what: str, aims: str) -> Drawing:
    made = grid(results, rows, THEME)
    problems = list(dict.fromkeys(panel.problem for row in rows for panel in row))
    where = listed([name_of(problem) for problem in problems])
    asked = list(dict.fromkeys(axis_of(panel.x) for row in rows for panel in row))
    underneath = BASES.get(base, base)
    return Drawing(
        title=f"Trade-offs on {where if base in USUAL else underneath}",
        caption=caption(
            f"{what} over {listed(asked)} on {where}, with {underneath} underneath.",
            aims,
            over_seeds(made.data),
            ROOT,
            _exp(rows),
            provenance(results, problems, THEME),
        ),
        alt=alt_text(made.data, f"{what} over {listed(asked)} on {where}", THEME),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )


def _exp(rows: Rows) -> str:
    asked = {panel.x for row in rows for panel in row}
    if "strong_parity.pq" in asked:
        return "S-SP takes exp(F) of the distribution functions, as PQ of raw F is degenerate."
    return ""
