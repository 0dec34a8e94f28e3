"""Every value of an audit by criterion and measure: as a table, as text and as a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from evenhand._words import UNDEFINED, extent, number, p_value, percent
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Fold,
    Head,
    Panels,
    Row,
    Table,
    Template,
    Terms,
    Text,
)
from evenhand.report.charts import Values
from evenhand.report.charts.values import Estimate
from evenhand.report.criteria import inequality
from evenhand.report.formats import is_width, judged, key, measure_name, name, verdict, words

Document = Mapping[str, Any]

FEW = 3


def findings_table(document: Document) -> Table:
    """A line for each criterion and measure."""
    gated = any(f["judged"] for f in document["findings"])
    level = f"{percent(document['confidence'])} interval"
    heads = [Head("Criterion"), Head("Measure"), Head("Value", True), Head(level, True, level)]
    heads += [Head("p, adjusted", True, "p"), Head("Verdict")]
    heads += [Head("Tolerance")] if gated else []
    rows = [_finding_row(f, gated) for f in document["findings"]]
    return Table("Table of findings", heads, rows, kind="findings cards sortable")


def _finding_row(finding: Document, gated: bool) -> Row:
    transform = f" of {finding['transform']}" if finding["transform"] else ""
    outcome = verdict(finding["verdict"])
    cells = [
        Cell(words(finding["criterion"])),
        Cell(f"{measure_name(finding['measure'])}{transform}"),
        Cell(number(finding["value"]), key(finding["value"])),
        Cell(_between(finding), key(finding["low"])),
        Cell(p_value(finding["p_adjusted"]), key(finding["p_adjusted"])),
        Cell(f"{outcome.mark} {finding['verdict']}", kind=outcome.kind),
    ]
    if gated:
        bound = f"{finding['judged']} ({number(finding['tolerance'])})" if finding["judged"] else ""
        cells.append(Cell(bound, kind=verdict(finding["judged"] or "").kind))
    return Row(cells, {"measure": finding["measure"], "criterion": finding["criterion"]})


def _between(finding: Document) -> str:
    if finding["low"] is None or finding["high"] is None:
        return UNDEFINED
    return extent(finding["low"], finding["high"])


def measures_in(document: Document) -> list[str]:
    """The requested measures, in order."""
    return list(dict.fromkeys(finding["measure"] for finding in document["findings"]))


def values(document: Document) -> Fold:
    """Every value by measure, as a table and a chart, and who makes up the inequality."""
    outcomes = [f["verdict"] for f in document["findings"]]
    outcomes += [f["judged"] for f in document["findings"] if f["judged"]]
    meanings = [
        (f"{verdict(outcome).mark} {outcome}", verdict(outcome).meaning)
        for outcome in dict.fromkeys(outcomes)
    ]
    blocks: list[Any] = [
        Text(
            "A criterion says which statistic should be equal, a measure how unequal it is; 0 is "
            "equal, and 1 by the ratio. Each criterion has one test and one verdict, the same by "
            "every measure."
        ),
        findings_table(document),
        *_monte_carlo_note(document),
        Terms(meanings, "meanings"),
        Text(
            f"The dot is the observed value, the line the {percent(document['confidence'])} "
            "interval of the true one. Observed values are biased upward, more so in small groups."
        ),
        *(Panels([panel]) for panel in _interval_charts(document)),
    ]
    shares = inequality(document)
    if shares is not None:
        blocks.append(Template("inequality.html", {"inequality": shares}))
    return Fold("Every value, by measure", blocks, "values")


def _interval_charts(document: Document) -> list[Figure]:
    """A chart of the first measure; values that carry a unit are left to the table."""
    bounds = {criterion["name"]: criterion["bounds"] for criterion in document["criteria"]}
    measures = measures_in(document)[:1]
    estimates = [
        Estimate(
            label=words(f["criterion"]),
            kind=verdict(f["verdict"]).kind,
            verdict=judged(f),
            **{part: f[part] for part in ("value", "low", "high", "tolerance")},
        )
        for f in document["findings"]
        if f["measure"] in measures and not _has_unit(f, bounds)
    ]
    title = "".join(measure_name(measure) for measure in measures)
    return (
        [Figure("values-0", Values(f"Values and intervals: {title}", estimates), title)]
        if estimates
        else []
    )


def _has_unit(finding: Document, bounds: Mapping[str, Sequence[float | None]]) -> bool:
    free = is_width(finding["measure"]) and None in bounds.get(finding["criterion"], (0, 1))
    return bool(free) or finding["aggregate"] == "integral"


def values_as_text(document: Document) -> Iterable[Any]:
    """Every value where nothing can be opened: a table, conclusions, and what was left out."""
    yield findings_table(document)
    yield from _monte_carlo_note(document)
    conclusions = {f["criterion"]: f["conclusion"] for f in document["findings"]}
    yield Bullets([f"{words(name)}: {conclusion}" for name, conclusion in conclusions.items()])
    undefined = list(_undefined_groups(document))
    if undefined:
        yield Bullets(undefined, head="Left out where there is nothing to divide by (0/0):")


def _monte_carlo_note(document: Document) -> Iterable[Text]:
    """The precision of p-values from random draws."""
    errors = [f["p_error"] for f in document["findings"] if f["p_error"]]
    if errors:
        yield Text(
            "Some p-values are shares of random draws, the same in every run: their Monte Carlo "
            f"standard error is at most {number(max(errors), toward=1)}.",
            "quiet",
        )


def _undefined_groups(document: Document) -> Iterable[str]:
    for criterion, rows in groupby(document["findings"], key=lambda f: str(f["criterion"])):
        gaps = dict.fromkeys(
            f"{name(gap['group'])} (at {gap['cell']})" for f in rows for gap in f["left_out"]
        )
        if gaps:
            remainder = f" and {len(gaps) - FEW} more" if len(gaps) > FEW else ""
            yield f"{words(criterion)} is undefined for {', '.join(list(gaps)[:FEW])}{remainder}"
