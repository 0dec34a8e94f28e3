"""Reports where groups are unknown, of one criterion or all: answers and what each assumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import number, p_value, percent, plural
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Fold,
    Head,
    Heading,
    Report,
    Row,
    Section,
    Table,
    Terms,
    Text,
)
from evenhand.report.charts import Values
from evenhand.report.charts.values import Estimate
from evenhand.report.formats import (
    gap,
    gap_interval,
    is_width,
    key,
    measure_name,
    name,
    within,
    words,
)

Document = Mapping[str, Any]

FEW = 3  # tables that are open
DOUBTFUL = 0.01  # p-values below which there is a caution

TITLES = {
    "weighted": "Weighted",
    "instrumental": "Instrumental",
    "bounds": "Bounds",
    "combined": "Combined",
    "cut": "Most probable group",
}
VERDICTS = {
    "differs": "differs",
    "alike": "alike",
    "more rows": "needs more rows",
    "more groups": "needs more known groups",
}


def report_of(document: Document) -> Report:
    """The report of the document of a `Bounds` or of a `PartialAudit`."""
    return _audit_report(document) if "findings" in document else _criterion_report(document)


def charts(document: Document) -> dict[str, Any]:
    """The charts that figures show, by name: every answer, or the decisive one of every criterion.

    Only criteria in the unit of the first share its axis.
    """
    if "findings" not in document:
        finding = _with_available_answers(document)
        estimates = [
            _estimate(TITLES[answer["name"]], answer, finding) for answer in finding["answers"]
        ]
        return {"answers": _chart("What each assumption gives", estimates, finding)}
    findings = [
        _with_available_answers({**document, **finding}) for finding in document["findings"]
    ]
    first, decisive, estimates = findings[0], document["decisive"], []
    for finding in findings:
        answer = next((a for a in finding["answers"] if a["name"] == decisive), None)
        if answer and all(finding[part] == first[part] for part in ("measure", "is_share")):
            estimates.append(_estimate(words(finding["criterion"]), answer, finding))
    title = f"{TITLES[decisive]} answer by criterion" if decisive != "bounds" else "Bounds"
    return {"criteria": _chart(title, estimates, first)}


def _estimate(label: str, answer: Document, document: Document) -> Estimate:
    """An answer as a line of a chart, in color if the verdict rests on it."""
    decides = answer["name"] == document["decisive"]
    verdict = VERDICTS[document["verdict"]] if decides else "only if its assumption holds"
    kind = {"differs": "beyond", "alike": "within"}.get(verdict, "")
    ends = {part: answer[part] for part in ("value", "low", "high")}
    return Estimate(label, tolerance=document["fail_if"], verdict=verdict, kind=kind, **ends)


def _chart(title: str, estimates: Sequence[Estimate], document: Document) -> Values:
    unit = measure_name(document["measure"]).lower()
    is_rate = _in_points(document)
    unit += ", percentage points" if is_rate else ""
    return Values(title, estimates, unit, is_rate, f"{title}; the table has the numbers.")


def _pictured(document: Document) -> list[Figure]:
    return [
        Figure(f"{ident}-chart", chart, f"{chart.title}: {chart.unit}")
        for ident, chart in charts(document).items()
    ]


def _in_points(document: Document) -> bool:
    return bool(document["is_share"] and is_width(document["measure"]))


def _criterion_report(document: Document) -> Report:
    pictures, document = _pictured(document), _with_available_answers(document)
    answers = _answers(document)
    return Report(
        kind="bounds",
        brand="bounds",
        title=f"{words(document['criterion'])} where groups are not known",
        lede=document["sentence"],
        about=[_about(document)],
        sections=[
            Section(
                "answers",
                "What each assumption gives",
                [*pictures, answers, *_notes(document), *_fit(document)],
                text=[answers, *_notes(document), *_fit(document)],
            ),
            Section("rates", "Rates by group", [*_cell(document), _rates(document)]),
        ],
        version=document["evenhand"],
        notebook=[answers],
    )


def _audit_report(document: Document) -> Report:
    findings = [
        _with_available_answers({**document, **finding}) for finding in document["findings"]
    ]
    table, notes = _criteria(document, findings), [Text(note) for note in document["notes"]]
    notes += _fit(findings[0])
    assumed = {a["name"]: a["assumes"] for finding in findings for a in finding["answers"]}
    gates = Bullets([gate["sentence"] for gate in document["gates"]])
    terms = Terms([(TITLES[name], assumption) for name, assumption in assumed.items()])
    rates: list[tuple[list[Any], list[str]]] = []  # of criteria that compare the same ones, once
    for finding in findings:
        blocks = [*_cell(finding), _rates(finding), *_notes(finding)]
        titles = next((titles for earlier, titles in rates if earlier == blocks), None)
        if titles is None:
            rates.append((blocks, titles := []))
        titles.append(_title(finding, findings))
    folds: list[Any] = []
    for at, (blocks, titles) in enumerate(rates):
        if len(rates) > FEW:
            folds.append(Fold(", ".join(titles), blocks, f"rates-{at}"))
        else:
            folds += [Heading(", ".join(titles)), *blocks]
    return Report(
        kind="bounds",
        brand="partial audit",
        title=document["title"] or "Audit where groups are not known",
        lede=document["sentence"],
        about=[_about(document)],
        sections=[
            *([Section("gates", "Bounds that were stated", [gates])] if gates.items else []),
            Section(
                "criteria", "Criteria", [*_pictured(document), table, *notes], text=[table, *notes]
            ),
            Section("assumptions", "What each answer assumes", [terms]),
            Section("rates", "Rates by group", folds),
        ],
        version=document["evenhand"],
        notebook=[table],
    )


def _criteria(document: Document, findings: Sequence[Document]) -> Table:
    names = [answer["name"] for finding in findings for answer in finding["answers"]]
    names = list(dict.fromkeys([document["decisive"], *names]))
    level = f"{100 * document['confidence']:g}% intervals of every answer"
    heads = [Head("Criterion"), Head("Verdict"), *(Head(TITLES[answer], True) for answer in names)]
    rows = []
    for finding in findings:
        answers = {answer["name"]: answer for answer in finding["answers"]}
        verdict = finding["verdict"]
        kind = verdict if verdict in ("differs", "alike") else "cannot tell"
        cells = [Cell(_title(finding, findings)), Cell(VERDICTS[verdict], kind=kind)]
        for kind_of_answer in names:
            answer = answers.get(kind_of_answer)
            cells.append(
                Cell("–") if answer is None else Cell(_ends(answer, finding), key(answer["high"]))
            )
        rows.append(Row(cells))
    return Table("Criteria", heads, rows, caption=level, kind="cards answers")


def _title(finding: Document, findings: Sequence[Document]) -> str:
    """The criterion; with its measure, if it has several."""
    measures = [item["measure"] for item in findings if item["criterion"] == finding["criterion"]]
    title = words(finding["criterion"])
    return title if len(measures) == 1 else f"{title} by {finding['measure']}"


def _with_available_answers(document: Document) -> Document:
    """The document without answers that have no value, such as those that need probabilities."""
    answers = [
        answer
        for answer in document["answers"]
        if answer["low"] is not None or answer["name"] == "bounds"
    ]
    return {**document, "answers": answers}


def _ends(answer: Document, document: Document) -> str:
    """The interval of an answer, in points for gaps between shares."""
    return gap_interval(answer["low"], answer["high"], _in_points(document))


def _gap(value: float | None, document: Document) -> str:
    return gap(value, _in_points(document))


def _about(document: Document) -> str:
    known_rows = document["known"]
    extra = f", the group of {known_rows:,} known" if known_rows else ""
    return f"{plural(document['rows'], 'row')}{extra}."


def _answers(document: Document) -> Table:
    level = f"{100 * document['confidence']:g}% interval"
    heads = [Head("Answer"), Head("Estimate", True), Head(level, True, "interval")]
    heads.append(Head("What it assumes"))
    rows = []
    for answer in document["answers"]:
        estimate = _gap(answer["value"], document)
        if answer["name"] == "bounds":
            low, high = (_gap(answer[end], document) for end in ("least", "greatest"))
            estimate = f"{low.removesuffix(' pts')} to {high}"
        cells = [Cell(TITLES[answer["name"]]), Cell(estimate, key(answer["greatest"]))]
        rows.append(
            Row(
                [
                    *cells,
                    Cell(_ends(answer, document), key(answer["high"])),
                    Cell(answer["assumes"]),
                ]
            )
        )
    return Table("Answers", heads, rows, kind="cards")


def _notes(document: Document) -> list[Text]:
    notes = []
    if not document["is_sharp"]:
        notes.append(Text("The bounds hold, but may be wider than they need be.", "quiet"))
    p_value = document["random_p_value"]
    if p_value is not None and p_value < DOUBTFUL:
        text = "The people whose group is known do not look like a random sample"
        notes.append(Text(f"{text} (p {_p(p_value)}).", "caution"))
    elif p_value is not None:
        text = "The people whose group is known do not differ visibly from the others"
        proof = "That does not prove that they are a random sample."
        notes.append(Text(f"{text} (p {_p(p_value)}). {proof}", "quiet"))
    return notes


def _fit(document: Document) -> list[Text]:
    """Whether the probabilities are right for the people of known group."""
    p_value = document["proxy_p_value"]
    if p_value is None:
        return []
    if p_value < DOUBTFUL:
        text = "The probabilities do not fit the people whose group is known"
        return [Text(f"{text} (p {_p(p_value)}).", "caution")]
    text = "The people whose group is known do not differ visibly from their probabilities"
    return [
        Text(f"{text} (p {_p(p_value)}). That does not prove the probabilities right.", "quiet")
    ]


def _p(value: float) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def _cell(document: Document) -> list[Text]:
    """What the rates are, and of which class or pair of true and predicted label."""
    rates = document["formula"].rpartition(" over a of ")[2]
    return [Text(f"Rates: {rates}{within(document['cell'], document['formula'])}.", "quiet")]


def _rates(document: Document) -> Table:
    heads = [Head("Group"), Head("Share of people", True, "share")]
    heads += [Head(TITLES[answer["name"]], True) for answer in document["answers"]]
    rows = []
    for at, group in enumerate(document["groups"]):
        cells = [Cell(name(group["label"])), Cell(percent(group["share"]), key(group["share"]))]
        for answer in document["answers"]:
            rate = answer["rates"][at]
            format_rate = percent if document["is_share"] else number
            low, high = format_rate(rate["low"]), format_rate(rate["high"])
            cells.append(Cell(f"{low} to {high}", key(rate["high"])))
        rows.append(Row(cells))
    return Table("Rates by group", heads, rows, kind="cards")
