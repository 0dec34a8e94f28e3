"""The report of a benchmark: findings, figures and tables in one HTML file."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evenhand.benchmark.figures.catalogue import IN_PAPER
from evenhand.benchmark.figures.drawing import Drawing
from evenhand.benchmark.figures.saving import inline
from evenhand.benchmark.figures.styles import PALETTE
from evenhand.benchmark.findings import Finding, Verdict, findings
from evenhand.benchmark.page.tables import all_tables

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

PACKAGES = ("evenhand", "numpy", "scipy", "scikit-learn", "matplotlib")
MARKS = {"agrees": "✓", "differs": "✗", "cannot tell": "?"}
VERDICTS: dict[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot tell": "cannot be told",
}
QUESTIONS = {
    "Q1": "Q1: do criteria by PQ align with those by MPD?",
    "Q2": "Q2: where do they part?",
}


def page(
    results: Results,
    drawings: Sequence[tuple[str, Drawing]],
    failures: Iterable[Mapping[str, Any]] = (),
) -> str:
    """Everything in one file."""
    found = findings(results)
    shown = [_shown(*both) for both in enumerate(drawings, start=1)]
    text = (
        _environment()
        .get_template("paper.html")
        .render(
            lede=lede(found),
            tiles=tiles(results),
            questions=by_question(found),
            counted=counted(found),
            paper=[one for one in shown if one["name"] in IN_PAPER],
            beyond=[one for one in shown if one["name"] not in IN_PAPER],
            tables=all_tables(results),
            stand_ins=stand_ins(results),
            failures=failed(failures),
            versions=versions(),
            fitted=fitted_with(results),
            palette=PALETTE,
            marks=MARKS,
        )
    )
    return text.encode("utf-8", "replace").decode("utf-8")


def _shown(number: int, drawn: tuple[str, Drawing]) -> dict[str, Any]:
    name, drawing = drawn
    svg = Markup(inline(drawing, f"f{number}"))
    return {"name": name, "number": number, "drawing": drawing, "svg": svg}


def lede(found: Sequence[Finding]) -> str:
    """The answer to the paper's first question in one sentence.

    >>> lede([])
    'There are no results yet.'
    """
    asked = [one for one in found if one.question == "Q1" and " by PQ order" in one.claim]
    if not asked:
        return "There are no results yet."
    seen = Counter(one.verdict for one in asked)
    compared = f"In {len(asked)} comparisons of a criterion by MPD with the same by PQ"
    if seen["cannot tell"] == len(asked):
        middle = median(one.number for one in asked)
        return (
            f"{compared}, Kendall’s τ is {middle:.2f} in the middle; more splits would settle it."
        )
    return (
        f"{compared}, the two order settings of methods alike in {seen['agrees']} and differently "
        f"in {seen['differs']}; {seen['cannot tell']} cannot be told from these splits."
    )


def tiles(results: Results) -> list[tuple[str, str]]:
    """The extent of the benchmark in numbers."""
    row = results.query(
        "select count(*) as runs, count(distinct problem) as problems, "
        "count(distinct method) as methods, count(distinct base) as bases, "
        "count(distinct seed) as splits from runs"
    ).iloc[0]
    names = {"runs": "runs", "problems": "problems", "methods": "methods"}
    names |= {"bases": "base models", "splits": "splits"}
    scores = (f"{len(results.scores):,}", "scores")
    return [*((f"{int(row[key]):,}", label) for key, label in names.items()), scores]


Claims = list[tuple[str, list[Finding]]]


def by_question(found: Sequence[Finding]) -> list[tuple[str, str, Claims]]:
    """Findings under the claims they are about, and these under what they answer."""
    together: dict[str, dict[str, list[Finding]]] = {}
    for one in found:
        asked = together.setdefault(QUESTIONS.get(one.question, one.question), {})
        asked.setdefault(one.claim, []).append(one)
    return [
        (question, counted([one for rows in claims.values() for one in rows]), [*claims.items()])
        for question, claims in together.items()
    ]


def counted(found: Sequence[Finding]) -> str:
    """How many verdicts there are of each kind, in words."""
    seen = Counter(one.verdict for one in found)
    return ", ".join(f"{seen[one]} {word}" for one, word in VERDICTS.items() if seen[one])


def stand_ins(results: Results) -> list[str]:
    """What must be said before any figure is believed."""
    rows = results.problems.to_pylist()
    return sorted({f"{row['problem']}: {row['provenance']}" for row in rows if row["is_stand_in"]})


def failed(failures: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Why runs have no result, with how many there are of each kind."""
    told = (f"{one['method']} on {one['problem']}: {one['error']}" for one in failures)
    return Counter(told).most_common()


def versions() -> list[tuple[str, str]]:
    """What scores and figures were made with."""
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return found


def fitted_with(results: Results) -> list[str]:
    """The versions that the stored runs were fitted with, one text for each set of them."""
    rows = results.query("select distinct versions from runs where versions <> '' order by all")
    return [str(one) for one in rows["versions"]]


def number(value: float) -> str:
    """A number of a finding.

    >>> number(0.8123), number(0.00012), number(float("nan"))
    ('0.81', '0.00012', '–')
    """
    if value != value:
        return "–"
    told = f"{value:.2f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return told.replace("-", "−")


@cache
def _environment() -> Environment:
    """Templates of this report; the look is that of the audit's."""
    loaders = [PackageLoader("evenhand.benchmark.page"), PackageLoader("evenhand.report")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.tests["main"] = lambda question: question in QUESTIONS.values()
    return environment
