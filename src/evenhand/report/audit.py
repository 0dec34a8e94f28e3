"""An audit's report: the sections, in the order in which they are read.

A section is a function from the document to blocks, listed in `SECTIONS`; the page, Markdown and
the terminal show it from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from evenhand._words import capitalized, listing, plural
from evenhand.report import why
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Head,
    Heading,
    Report,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Template,
    Text,
)
from evenhand.report.charts import Tradeoff, Values
from evenhand.report.charts.values import Estimate
from evenhand.report.criteria import sections
from evenhand.report.detail import OF_LABELS, detail
from evenhand.report.findings import FEW, measures_in
from evenhand.report.formats import (
    amount,
    are_shares,
    gap,
    judged,
    measure_name,
    measure_phrase,
    name,
    phrase,
    verdict,
    words,
)
from evenhand.report.groups import MAX_DRAWN, group_table, groups, largest, legend, rate_chart

Document = Mapping[str, Any]

VERDICTS = {
    "differs": "The groups differ in",
    "alike": "The groups are alike in",
    "cannot tell": "Inconclusive, which is not evidence of fairness",
    "undefined": "There is nothing to compare in",
}
STAND_OUT = "Groups that stand out"
NEXT = "What to do next"
CAPTION = "No rule can do better than this curve on these rows; shaded is what is impossible."
NOT_FAIR = (
    "A low score is not “fair”. Each criterion looks at one aspect; open it to see what it asks, "
    "and what it is not."
)
CLOSED = (
    "Closed parts are not printed. To print them, open them on the page first; the HTML file has "
    "them all."
)


def report_of(document: Document) -> Report:
    """The report of an audit's document."""
    summary = document["summary"]
    sections = (make(document) for make in SECTIONS)
    about = [summary["about"], _selected(document), _tolerances(document["findings"])]
    return Report(
        kind="audit",
        brand="audit",
        title=document["title"] or "Audit of a model",
        lede=summary["sentence"],
        about=[sentence for sentence in about if sentence],
        sections=[section for section in sections if section is not None],
        version=document["evenhand"],
        data=document,
        claim=summary["claim"],
        gate=document["gate"],
        actions=[step.action for step in _steps(document) if step.action],
        notebook=_notebook(document),
    )


def _notebook(document: Document) -> list[Any]:
    """What a notebook shows: the largest groups, the impact ratio and the criteria."""
    summary = document["summary"]
    table = group_table(summary["table"], largest(summary["table"], MAX_DRAWN))
    hidden = len(summary["table"]["groups"]) - len(table.rows)
    if hidden:
        table = replace(table, more=f"and {plural(hidden, 'more group')}")
    impact = [Text(summary["impact_ratio"]["sentence"])] if summary["impact_ratio"] else []
    closing = f"{legend(document)} A low score is not “fair”."
    return [table, *impact, criteria_table(summary["criteria"]), Text(closing)]


def charts(document: Document) -> dict[str, Any]:
    """The charts that figures show, by name."""
    firsts = [
        next(rows) for _, rows in groupby(document["findings"], key=lambda f: str(f["criterion"]))
    ]
    defined = [f for f in firsts if f["verdict"] != "undefined" and f["gap"]["value"] is not None]
    rates = [f for f in defined if f["is_rate"]]
    estimates = [
        Estimate(
            f"{words(f['criterion'])}: {f['verdict']}",
            tolerance=None,
            verdict=f["verdict"],
            kind=verdict(f["verdict"]).kind,
            **{part: f["gap"][part] for part in ("value", "low", "high")},
        )
        for f in rates or defined
    ]
    unit = "largest difference between groups" + (", percentage points" if rates else "")
    by_name = {
        "rates": rate_chart(document["summary"]),
        "criteria": Values("Largest difference by criterion", estimates, unit, bool(rates))
        if estimates
        else None,
        "frontier": _tradeoff(document),
    }
    return {name: chart for name, chart in by_name.items() if chart is not None}


def _selected(document: Document) -> str:
    """Which class the rates are about, in words."""
    of_class = document["summary"]["table"]["of_class"]
    if document["task"] not in OF_LABELS:
        return ""
    if of_class is None:
        return "No outcome was named as favorable, so the table shows how often each is predicted."
    if document.get("favorable_assumed"):
        return ""  # said with the way out
    if document["favorable"] is not None:
        return f"Selected means predicted “{of_class}”, the favorable outcome."
    return f"No outcome was named as favorable: the rates are those of “{of_class}”."


def _tolerances(findings: Sequence[Document]) -> str:
    counts = Counter(f["judged"] for f in findings if f["tolerance"] is not None)
    wording = {
        "exceeds": "above it with the whole interval",
        "falls short": "below it with the whole interval",
        "within tolerance": "within it",
        "inconclusive": "inconclusive",
    }
    parts = [f"{counts[verdict]} {text}" for verdict, text in wording.items() if counts[verdict]]
    return f"Values with a tolerance: {listing(parts)}." if parts else ""


def standing_out(document: Document) -> Section | None:
    """The subgroups that differ from everyone else."""
    chosen = document["summary"]["subgroups"]
    if not chosen:
        return None
    lines = [_subgroup(subgroup) for subgroup in chosen]
    blocks = [Bullets(lines), Text(document["scan"]["sentence"], "quiet")]
    brief = [Bullets(lines[:FEW], "strong", STAND_OUT)]
    return Section("subgroups", STAND_OUT, blocks, brief=brief)


def _subgroup(subgroup: Document) -> str:
    is_rate = subgroup["is_rate"]
    value, everyone_else = (amount(subgroup[part], is_rate) for part in ("value", "rest"))
    label = f"{name(subgroup['label'])} ({plural(subgroup['rows'], 'row')})"
    return (
        f"{label}: {subgroup['statistic']} {value}, everyone else {everyone_else}; the gap is at "
        f"least {gap(subgroup['at_least'], is_rate, -1)}."
    )


def _steps(document: Document) -> list[Step]:
    return [Step(**step) for step in document.get("next") or []]


def next_steps(document: Document) -> Section | None:
    """What to do next, given the findings."""
    steps = _steps(document)
    if not steps:
        return None
    return Section("next", NEXT, [Steps(steps)], brief=[Heading(NEXT), Steps(steps[:2])])


def why_they_differ(document: Document) -> Section | None:
    """What the gap of the first finding is made of, in two sentences and a chart."""
    account = document["why"]
    if account is None:
        return None
    caption = f"{why.CAPTION} {account['caution']}"
    blocks = [Text(account["sentence"]), Figure("waterfall", why.waterfall(account), caption)]
    return Section("why", "Why they differ", blocks, brief=[])


def closing_the_gap(document: Document) -> Section | None:
    """What less disparity would cost, and the curve that no rule can beat."""
    frontier = document.get("frontier")
    if frontier is None:
        return None
    chart = _tradeoff(document)
    blocks: list[Any] = []
    if chart is not None:
        caption = f"{capitalized(chart.upward)} against {chart.across}. {CAPTION}"
        blocks = [Bullets(frontier["sentences"]), Figure("frontier-curve", chart, caption)]
    first, *remarks = frontier["notes"]
    notes = [Text(first, "caution" if chart is not None else "quiet")]
    notes.append(Text(" ".join(remarks), "quiet"))
    brief = [Text(" ".join(frontier["sentences"][:2]))] if chart is not None else []
    return Section("frontier", "What closing the gap would cost", [*blocks, *notes], brief=brief)


def _tradeoff(document: Document) -> Tradeoff | None:
    curve = (document.get("frontier") or {"curve": None})["curve"]
    if curve is None:
        return None
    across = f"{phrase(curve['criterion'])} ({measure_phrase(curve['measure'])})"
    return Tradeoff(
        f"{capitalized(curve['unit'])} against {across}",
        across,
        curve["unit"],
        curve["bound"],
        curve["cost"],
        {"the model": (curve["model"]["value"], curve["model"]["cost"])},
        is_share=are_shares(curve["unit"], curve["measure"]),
    )


def criteria(document: Document) -> Section:
    """Each criterion: what it asks, its verdict, and where the inequality sits."""
    parts = sections(document)
    measures = [(key, measure_name(key)) for key in measures_in(document)]
    controls = Template("controls.html", {"measures": measures, "sections": parts})
    context = {"distributions": document["distributions"] is not None}
    folds = Template("criteria.html", {"sections": parts, **context})
    lines = document["summary"]["criteria"]
    return Section(
        "criteria",
        "Criteria",
        [Text(NOT_FAIR, "caution"), Text(CLOSED, "on-paper"), controls, folds],
        text=[criteria_table(lines)],
        brief=list(_by_verdict(lines)),
    )


def criteria_table(lines: Iterable[Document]) -> Table:
    """A line for each criterion: its verdict, and what that means in words."""
    rows = [
        Row(
            [
                Cell(words(line["name"])),
                Cell(
                    f"{outcome.mark} {judged(line)}",
                    kind=outcome.kind,
                ),
                Cell(line["words"]),
            ]
        )
        for line in lines
        for outcome in [verdict(line["verdict"])]
    ]
    return Table("Criteria", [Head("Criterion"), Head("Verdict"), Head("In words")], rows)


def _by_verdict(lines: Sequence[Document]) -> Iterable[Bullets]:
    order = list(VERDICTS)

    def place(line: Document) -> int:
        return order.index(line["verdict"]) if line["verdict"] in order else len(order)

    for outcome, group in groupby(sorted(lines, key=place), key=lambda line: str(line["verdict"])):
        items = [_short(line) for line in group]
        head = f"{VERDICTS.get(outcome, outcome)} ({len(items)}):"
        yield Bullets(items, outcome, head, columns=2)


def _short(line: Document) -> str:
    return " ".join(filter(None, (words(line["name"]), line["short"], line["judged"])))


def notes(document: Document) -> Section | None:
    """What was left out, merged or assumed."""
    remarks = [note for note in document["notes"] if note != document["summary"]["sentence"]]
    if not remarks:
        return None
    brief = [Text(f"Note: {note}", "quiet") for note in remarks[:FEW]]
    return Section("notes", "Notes", [Bullets(remarks, "notes")], brief=brief)


SECTIONS: list[Callable[[Document], Section | None]] = [
    groups,
    why_they_differ,
    next_steps,
    closing_the_gap,
    standing_out,
    notes,
    criteria,
    detail,
]
