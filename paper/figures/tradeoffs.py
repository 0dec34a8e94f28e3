"""Performance against criteria, by MPD as in the literature and by PQ as in the paper."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark.figures import Drawing, alt_text
from evenhand.benchmark.figures.drawing import caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import Panel, grid
from paper.design import OWN, SHOWN, WITH_PREDICTION
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
PUBLISHED_AIMS = (
    "Filled: our repairs, which are used everywhere else. Open: as published. FairProj-KL has a "
    "slip in its ridge, FairRR draws its flips once, FairReg clips losses to [0, 1], WassBC takes "
    "ranks from one half of the rows and quantiles from the other, and LinearPost_R has 12 bins "
    "on Communities & Crime and 36 on LawSchool, where ours has 500. What was run as published on "
    "ACSIncome and on simulated rows is in the results, and not drawn here."
)
OUR_LINES = ("RateConstrained", "RateConstrained, average odds", "RateConstrained-Gini")
USUAL = ("logistic", "linear")
REACH = 1.5  # panels show what is near the best; the rest are arrows
BEYOND = (
    "An arrow at the edge stands for the points of a method that lie far away; the figure's table "
    "has them."
)


def classification(
    results: Results,
    problems: Sequence[str],
    base: str = "logistic",
    *,
    methods: Collection[str] = SHOWN,
) -> Drawing:
    """Accuracy over SP, S-SP, EO and S-EO, a row for each problem."""
    rows = [list(four(problem, base, methods=methods)) for problem in problems]
    return _drawing(results, rows, base, "Accuracy", AIMS)


def four(
    problem: str, base: str, aggregate: str = "", methods: Collection[str] = SHOWN
) -> Iterator[Panel]:
    """Panels of SP, S-SP, EO and S-EO."""
    more = f" aggregate={aggregate}" if aggregate else ""
    for (by_mpd, by_pq), family in ((SP, PARITY), (EO, ODDS)):
        for question in (f"{by_mpd}.mpd{more}", f"{by_pq}.pq{more}"):
            yield panel(problem, question, family=family, base=base, methods=methods)


def headline(results: Results) -> Drawing:
    """The paper's first comparison: MPD above, PQ below, on Adult and ACSIncome.

    Rejection on Adult, whose curve the paper speaks of, has panels of its own.
    """
    fours = [list(four(problem, "logistic")) for problem in ("adult", "acs_income")]
    rows = [[panel for four in fours for panel in four[start::2]] for start in (0, 1)]
    alone = four("adult", "logistic", methods=("Base", "Rejection"))
    rows.append([replace(one, title="Adult, Rejection") for one in alone])
    return _drawing(results, rows, "logistic", "Accuracy", AIMS)


def ours(results: Results, problems: Sequence[str]) -> Drawing:
    """LinearPost, the paper's best, beside our RateConstrained, whose bound is the measure."""
    named = ("Base", "LinearPost", *OUR_LINES)
    made = classification(results, problems, methods=named)
    return replace(made, title="LinearPost and RateConstrained")


def published(results: Results) -> Drawing:
    """Methods that we mend, beside what was published."""
    changed = ("FairProj-KL", "FairRR")
    named = ["Base", *changed, *(f"{name}, published" for name in changed)]
    problems = ("adult", "compas", "enem", "hsls")
    rows = [
        [panel(one, question, family=PARITY, methods=named) for one in problems]
        for question in ("statistical_parity.mpd", "statistical_parity.pq")
    ]
    mended = ("FairReg", "WassBC", "LinearPost_R")
    named = ["Base", *mended, *(f"{name}, published" for name in mended)]
    regressions = [("communities", "linear"), ("law_school", "linear"), ("law_school", "targets")]
    rows += [
        [
            replace(
                panel(one, question, "rmse", base=base, methods=named),
                title=name_of(one) + (", true targets" if base == "targets" else ""),
            )
            for one, base in regressions
        ]
        for question in ("strong_parity.mpd", "strong_parity.pq")
    ]
    under = (
        "logistic regression (classifiers), linear regression or, where said, the true targets "
        "(regressors)"
    )
    made = _drawing(results, rows, "linear", "Accuracy and RMSE", PUBLISHED_AIMS, under)
    return replace(made, title="Published settings and ours")


def with_prediction(results: Results) -> Drawing:
    """LawSchool without and with the output of somebody's model as a feature."""
    asked = ["strong_parity.mpd", "strong_parity.pq"]
    asked += ["performance_parity.mpd g=mse", f"performance_parity.pq{EXP}"]
    problems = ("law_school", WITH_PREDICTION.name)
    rows = [[panel(one, question, "rmse", base="linear") for question in asked] for one in problems]
    aims = (
        "Below, dnn_bar_pass_prediction is a feature, as in published notebooks: the output of "
        f"somebody’s model, which we leave out everywhere else. {LOWER}"
    )
    made = _drawing(results, rows, "linear", "RMSE", aims)
    return replace(made, title="LawSchool without and with a column of bar predictions")


def regression(
    results: Results,
    problems: Sequence[str],
    base: str = "linear",
    *,
    methods: Collection[str] = SHOWN,
) -> Drawing:
    """RMSE over SP, SP (W), SP (weak) and EO; MPD above, PQ below, for each problem."""
    criteria = ("strong_parity", "wasserstein_parity", "weak_parity")
    rows = []
    for problem in problems:
        for measure, odds in (("mpd", " g=mse"), ("pq", EXP)):
            asked = [f"{one}.{measure}" for one in criteria] + [
                f"performance_parity.{measure}{odds}"
            ]
            rows.append([panel(problem, one, "rmse", base=base, methods=methods) for one in asked])
    return _drawing(results, rows, base, "RMSE", LOWER)


def ours_regression(results: Results, problems: Sequence[str], methods: Collection[str]) -> Drawing:
    """All variants of our regression methods, beside two of the paper's."""
    made = regression(results, problems, methods=methods)
    return replace(made, title="LinearPost_R, WassBC and our regression methods")


def communities(results: Results, base: str = "linear") -> Drawing:
    """The paper's regression comparison: SP and EO on Communities & Crime."""
    asked = ("strong_parity.mpd", "performance_parity.mpd g=mse")
    sparse = ("strong_parity.pq", f"performance_parity.pq{EXP}")
    pairs = [one for pair in zip(asked, sparse, strict=True) for one in pair]
    rows = [[panel("communities", one, "rmse", base=base) for one in pairs]]
    return _drawing(results, rows, base, "RMSE", LOWER)


def ratios(results: Results, problems: Sequence[str]) -> Drawing:
    """RMSE over PQ of the distribution functions themselves, which ParityConstrained bounds."""
    methods = {*SHOWN, *OWN, "ParityConstrained, means"}
    asked = "strong_parity.pq tau=0.05"
    rows = [[panel(one, asked, "rmse", base="linear", methods=methods) for one in problems]]
    aims = (
        "S-SP takes F as it is, where the pooled F is at least 0.05: the criterion that "
        f"ParityConstrained bounds, whereas LinearPost_R bounds SP by MPD. {LOWER}"
    )
    made = _drawing(results, rows, "linear", "RMSE", aims)
    return replace(made, title="Ratios of distribution functions")


def _drawing(
    results: Results, rows: Rows, base: str, what: str, aims: str, underneath: str | None = None
) -> Drawing:
    made = grid(results, rows, THEME, reach=REACH)
    problems = list(dict.fromkeys(panel.problem for row in rows for panel in row))
    where = listed([name_of(problem) for problem in problems])
    asked = list(dict.fromkeys(axis_of(panel.x) for row in rows for panel in row))
    underneath = underneath or BASES.get(base, base)
    kind = "regressions" if what == "RMSE" else "classifiers"
    return Drawing(
        title=f"Trade-offs on {where}" if base in USUAL else f"Trade-offs of {kind}, {underneath}",
        caption=caption(
            f"{what} over {listed(asked)} on {where}, with {underneath} underneath.",
            aims,
            over_seeds(made.data),
            ROOT,
            BEYOND if made.has_arrows else "",
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
