"""A watch's report: each criterion over time, its groups, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import extent, number, p_value, percent, plural
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Fold,
    Head,
    Heading,
    Panels,
    Report,
    Row,
    Section,
    Table,
    Text,
)
from evenhand.report.charts import Band
from evenhand.report.charts.svg import Scale
from evenhand.report.charts.times import days_scale, rates_over_time
from evenhand.report.formats import count, measure_name, name, words

Document = Mapping[str, Any]

MAX_GROUPS = 24
LABELS = {"violation": "violated since", "pass": "kept since", "differs": "differs since"}


def report_of(document: Document) -> Report:
    """The report of a watch's document, or of its status, which has no history."""
    first, *sentences = lede(document)
    days = f", {document['first']} to {document['last']}" if document["first"] else ""
    level = percent(document["confidence"])
    about = (
        f"{plural(document['parts'], 'part')}, {plural(document['rows'], 'row')}{days}. Every "
        f"interval holds at all looks at once, with {level} confidence ({document['method']})."
    )
    table = criteria_table(document)
    gates = [
        f"{gate['sentence']} (since {gate['since']})" if gate["since"] else gate["sentence"]
        for gate in document["gates"]
    ]
    sections = [
        Section("criteria", "Criteria", [table, *([Bullets(gates)] if gates else [])]),
        *(_criterion(document, at) for at in range(len(document.get("criteria", ())))),
        Section(
            "changes", "Changes", [Bullets([change["sentence"] for change in changes(document)])]
        ),
        Section("method", "How to read this", list(_method(document)), brief=_notes(document)),
    ]
    return Report(
        kind="watch",
        brand="watch",
        title="Watch",
        lede=first,
        about=[*sentences, about],
        sections=sections,
        version=document["schema"],
        notebook=[table],
    )


def charts(document: Document) -> dict[str, Any]:
    """Every criterion over time, by its first measure; a status has no history."""
    by_criterion = (
        (criterion["name"], _bands(document, criterion))
        for criterion in document.get("criteria", ())
    )
    return {name: next(iter(bands.values())) for name, bands in by_criterion if bands}


def lede(document: Document) -> list[str]:
    """What matters first, in sentences."""
    findings = document["findings"]
    differing = [item for item in findings if item["verdict"] == "differs"]
    violated = [item for item in document["gates"] if item["outcome"] == "violation"]
    sentences = [
        f"The bound {gate['gate']} has been violated since {gate['since']}." for gate in violated
    ]
    sentences += [
        f"{words(item['criterion'])}: the groups differ, significantly since {item['since']}."
        for item in differing
    ]
    if not sentences:
        sentences = [
            "No bound is violated, and no group is shown to be treated differently so far."
        ]
    return sentences + [item["sentence"] for item in changes(document) if item["changed"]]


def changes(document: Document) -> list[dict[str, Any]]:
    """The searches for changes and their outcomes, with criteria in words."""
    return [
        {
            **change,
            "sentence": change["sentence"].replace(
                change["criterion"], words(change["criterion"]), 1
            ),
        }
        for change in document["changes"]
    ]


def criteria_table(document: Document) -> Table:
    """A line for each criterion and measure."""
    gates = {row["gate"].partition(" ")[0]: row for row in document["gates"]}
    heads = [Head("Criterion"), Head("Verdict"), Head("Since"), Head("Measure")]
    heads += [Head("Value so far", True, "value"), Head("Interval", True), Head("Bound")]
    heads += [Head("p", True)]
    rows = []
    for finding in document["findings"]:
        differs = "beyond" if finding["verdict"] == "differs" else ""
        for at, (measure, value) in enumerate(finding["measures"].items()):
            gate = gates.get(f"{finding['criterion']}.{measure}")
            bound = gate["gate"].split(" ", 1)[1] if gate else ""
            first = [
                Cell(words(finding["criterion"])),
                Cell(finding["verdict"], kind=differs),
                Cell(finding["since"] or ""),
            ]
            rows.append(
                Row(
                    [
                        *(first if at == 0 else [Cell("")] * 3),
                        Cell(measure_name(measure)),
                        Cell(number(value["value"])),
                        Cell(extent(value["low"], value["high"])),
                        Cell(bound, under=gate["outcome"] if gate else ""),
                        Cell(p_value(finding["p_value"]) if at == 0 else ""),
                    ]
                )
            )
    return Table("Criteria, measures and bounds", heads, rows, kind="cards")


def _bands(document: Document, criterion: Document) -> dict[str, Band]:
    """The criterion over time, by measure."""
    finding = next(item for item in document["findings"] if item["criterion"] == criterion["name"])
    gates = {gate["gate"].partition(" ")[0]: gate for gate in document["gates"]}
    bands = {}
    for measure, points in criterion["timelines"].items():
        since, label = _marked(gates.get(f"{criterion['name']}.{measure}"), finding)
        title = measure_name(measure)
        title_of_all = f"{words(criterion['name'])}: {title}"
        bands[measure] = Band(
            title, points, criterion["bounds"].get(measure), since, label, title_of_all
        )
    return bands


def _criterion(document: Document, at: int) -> Section:
    criterion = document["criteria"][at]
    bands = _bands(document, criterion)
    figures = [Figure(f"w{at}-{key}", band, band.title) for key, band in bands.items()]
    blocks: list[Any] = [Text(criterion["asks"]), Panels(figures, kind="times")]
    small, remark = _small_multiples(f"w{at}", criterion)
    if small:
        span = plural(document["span_days"], "day")
        text = f"Each line is a group’s rate in each span of {span}; dashed is everyone. {remark}"
        blocks += [Heading("Groups over time"), Text(text, "quiet"), Panels(small, kind="small")]
    return Section(f"criterion-{at}", words(criterion["name"]), blocks, text=[], brief=[])


def _method(document: Document) -> Any:
    yield Text(
        "A low score is not “fair”. Each criterion looks at one aspect, and groups that are not "
        "shown to differ may still do so.",
        "caution",
    )
    wrong = percent(1 - document["confidence"])
    text = (
        "The line is the gap within parts so far: groups are compared with each other on the same "
        "days, so a change in the mix of groups or in the overall rate does not move it. The "
        "groups' rates are of all rows together, and may differ where the mix has changed. The "
        "band holds the true value at all times at once, so looking every day does not make it err "
        "more often. Groups that are alike are "
        f"called different with a probability of at most {wrong}, ever; p is valid at whichever "
        "look it is read."
    )
    if "quiet_days" in document:
        text += (
            " A false alarm that gaps between groups have changed comes once in "
            f"{count(document['quiet_days'])} days or more, on average."
        )
    yield Text(text)
    yield from _notes(document)
    history = document.get("history")
    if history:
        heads = [Head("Part"), Head("Day"), Head("Rows", True)]
        rows = [Row([Cell(str(p)), Cell(str(d)), Cell(count(n))]) for p, d, n, *_ in history[::-1]]
        yield Fold("The last parts", [Table("The last parts", heads, rows)])
    yield Text(f"Schema {document['schema']}, {document['method']} intervals.", "quiet")


def _notes(document: Document) -> list[Any]:
    return [Bullets(document["notes"], "notes")] if document["notes"] else []


def _marked(gate: Mapping[str, Any] | None, finding: Mapping[str, Any]) -> tuple[str | None, str]:
    """The day marked in a chart, and its label."""
    if gate is not None and gate["outcome"] in LABELS:
        return gate["since"], f"{LABELS[gate['outcome']]} {gate['since']}"
    if finding["verdict"] == "differs":
        return finding["since"], f"{LABELS['differs']} {finding['since']}"
    return None, ""


def _small_multiples(ident: str, criterion: Mapping[str, Any]) -> tuple[list[Figure], str]:
    """The groups' rates over time, of the last cell: the favorable class, where there is one."""
    rows = [(span["day"], *rate) for span in criterion["spans"] for rate in span["rates"]]
    cells = list(dict.fromkeys(row[1] for row in rows))
    if not cells:
        return [], ""
    chosen = [row for row in rows if row[1] == cells[-1]]
    days = list(dict.fromkeys(row[0] for row in chosen))
    everyone = [(day, _overall(chosen, day)) for day in days]
    groups: dict[str, list[tuple[str, float]]] = {}
    sizes: dict[str, float] = {}
    for day, _, group, rate, size in chosen:
        groups.setdefault(group, []).append((day, rate))
        sizes[group] = sizes.get(group, 0.0) + size
    largest = sorted(groups, key=lambda group: -sizes[group])[:MAX_GROUPS]
    up = Scale.around([rate for group in largest for _, rate in groups[group]])
    across = days_scale(days)
    charts = [
        Figure(
            f"{ident}-g{i}",
            rates_over_time(
                *(f"{ident}-g{i}", group, groups[group], everyone, up, across),
                is_rate=criterion["is_rate"],
            ),
            f"{name(group)} ({plural(sizes[group], criterion['unit'])})",
        )
        for i, group in enumerate(largest)
    ]
    notes = [] if len(cells) == 1 else [f"Shown is {cells[-1]}, of {len(cells)} cells."]
    if len(groups) > len(largest):
        notes.append(f"The {len(largest)} largest of {len(groups)} groups are shown.")
    return charts, " ".join(notes)


def _overall(rows: Sequence[tuple[Any, ...]], day: str) -> float:
    rates = [(rate, size) for when, _, _, rate, size in rows if when == day]
    total = sum(rate * size for rate, size in rates)
    return float(total / max(sum(size for _, size in rates), 1e-9))
