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

MOST_GROUPS = 24
SAID = {"violation": "violated since", "pass": "kept since", "differs": "differs since"}


def report_of(document: Document) -> Report:
    """The report of a watch's document, or of its status, which has no history."""
    first, *others = lede(document)
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
        Section("changes", "Changes", [Bullets([one["sentence"] for one in changes(document)])]),
        Section("method", "How to read this", list(_method(document)), brief=_notes(document)),
    ]
    return Report(
        kind="watch",
        brand="watch",
        title="Watch",
        lede=first,
        about=[*others, about],
        sections=sections,
        version=document["schema"],
        notebook=[table],
    )


def charts(document: Document) -> dict[str, Any]:
    """Every criterion over time, by its first measure; a status has no history."""
    drawn = ((one["name"], _bands(document, one)) for one in document.get("criteria", ()))
    return {name: next(iter(bands.values())) for name, bands in drawn if bands}


def lede(document: Document) -> list[str]:
    """What matters first, in sentences."""
    findings = document["findings"]
    differing = [each for each in findings if each["verdict"] == "differs"]
    violated = [each for each in document["gates"] if each["outcome"] == "violation"]
    sentences = [
        f"The bound {gate['gate']} has been violated since {gate['since']}." for gate in violated
    ]
    sentences += [
        f"{words(each['criterion'])}: the groups differ, significantly since {each['since']}."
        for each in differing
    ]
    if not sentences:
        sentences = [
            "No bound is violated, and no group is shown to be treated differently so far."
        ]
    return sentences + [each["sentence"] for each in changes(document) if each["changed"]]


def changes(document: Document) -> list[dict[str, Any]]:
    """What was looked for, found or not, with criteria in words."""
    return [
        {
            **each,
            "sentence": each["sentence"].replace(each["criterion"], words(each["criterion"]), 1),
        }
        for each in document["changes"]
    ]


def criteria_table(document: Document) -> Table:
    """A line for each criterion and measure."""
    gates = {each["gate"].partition(" ")[0]: each for each in document["gates"]}
    heads = [Head("Criterion"), Head("Verdict"), Head("Since"), Head("Measure")]
    heads += [Head("Value so far", True, "value"), Head("Interval", True), Head("Bound")]
    heads += [Head("p", True)]
    rows = []
    for finding in document["findings"]:
        differs = "beyond" if finding["verdict"] == "differs" else ""
        for at, (measure, found) in enumerate(finding["measures"].items()):
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
                        Cell(number(found["value"])),
                        Cell(extent(found["low"], found["high"])),
                        Cell(bound, under=gate["outcome"] if gate else ""),
                        Cell(p_value(finding["p_value"]) if at == 0 else ""),
                    ]
                )
            )
    return Table("Criteria, measures and bounds", heads, rows, kind="cards")


def _bands(document: Document, criterion: Document) -> dict[str, Band]:
    """The criterion over time, by measure."""
    finding = next(one for one in document["findings"] if one["criterion"] == criterion["name"])
    gates = {each["gate"].partition(" ")[0]: each for each in document["gates"]}
    bands = {}
    for measure, points in criterion["timelines"].items():
        since, said = _marked(gates.get(f"{criterion['name']}.{measure}"), finding)
        title = measure_name(measure)
        named = f"{words(criterion['name'])}: {title}"
        bands[measure] = Band(title, points, criterion["bounds"].get(measure), since, said, named)
    return bands


def _criterion(document: Document, at: int) -> Section:
    criterion = document["criteria"][at]
    bands = _bands(document, criterion)
    figures = [Figure(f"w{at}-{key}", band, band.title) for key, band in bands.items()]
    blocks: list[Any] = [Text(criterion["asks"]), Panels(figures, kind="times")]
    small, more = _small_multiples(f"w{at}", criterion)
    if small:
        each = plural(document["span_days"], "day")
        said = f"Each line is a group’s rate in each span of {each}; dashed is everyone. {more}"
        blocks += [Heading("Groups over time"), Text(said, "quiet"), Panels(small, kind="small")]
    return Section(f"criterion-{at}", words(criterion["name"]), blocks, text=[], brief=[])


def _method(document: Document) -> Any:
    yield Text(
        "A low score is not “fair”. Each criterion looks at one aspect, and groups that are not "
        "shown to differ may still do so.",
        "caution",
    )
    wrong = percent(1 - document["confidence"])
    said = (
        "The line is the gap within parts so far: groups are compared with each other on the same "
        "days, so a change in the mix of groups or in the overall rate does not move it. The "
        "groups' rates are of all rows together, and may differ where the mix has changed. The "
        "band holds the true value at all times at once, so looking every day does not make it err "
        "more often. Groups that are alike are "
        f"called different with a probability of at most {wrong}, ever; p is valid at whichever "
        "look it is read."
    )
    if "quiet_days" in document:
        said += (
            " A false alarm that gaps between groups have changed comes once in "
            f"{count(document['quiet_days'])} days or more, on average."
        )
    yield Text(said)
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
    """Which day is marked in a chart, and what was said from then on."""
    if gate is not None and gate["outcome"] in SAID:
        return gate["since"], f"{SAID[gate['outcome']]} {gate['since']}"
    if finding["verdict"] == "differs":
        return finding["since"], f"{SAID['differs']} {finding['since']}"
    return None, ""


def _small_multiples(ident: str, criterion: Mapping[str, Any]) -> tuple[list[Figure], str]:
    """The groups' rates over time, of the last cell: the favorable class, where one is asked."""
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
    shown = sorted(groups, key=lambda group: -sizes[group])[:MOST_GROUPS]
    up = Scale.around([rate for group in shown for _, rate in groups[group]])
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
        for i, group in enumerate(shown)
    ]
    notes = [] if len(cells) == 1 else [f"Shown is {cells[-1]}, of {len(cells)} cells."]
    if len(groups) > len(shown):
        notes.append(f"The {len(shown)} largest of {len(groups)} groups are shown.")
    return charts, " ".join(notes)


def _overall(rows: Sequence[tuple[Any, ...]], day: str) -> float:
    here = [(rate, size) for when, _, _, rate, size in rows if when == day]
    total = sum(rate * size for rate, size in here)
    return float(total / max(sum(size for _, size in here), 1e-9))
