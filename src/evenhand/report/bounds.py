"""Reports where groups are not known: of one criterion, or of all; and what each answer assumes."""

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
from evenhand.report.charts.values import Seen
from evenhand.report.formats import apart, is_width, key, measure_name, name, within, words

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
    return _of_audit(document) if "findings" in document else _of_one(document)


def charts(document: Document) -> dict[str, Any]:
    """The charts that figures show, by name: every answer, or the decisive one of every criterion.

    Only criteria in one unit, that of the first, stand on one axis.
    """
    if "findings" not in document:
        one = _answered(document)
        seen = [_seen(TITLES[each["name"]], each, one) for each in one["answers"]]
        return {"answers": _drawn("What each assumption gives", seen, one)}
    findings = [_answered({**document, **one}) for one in document["findings"]]
    first, decisive, seen = findings[0], document["decisive"], []
    for each in findings:
        answer = next((one for one in each["answers"] if one["name"] == decisive), None)
        if answer and all(each[part] == first[part] for part in ("measure", "is_share")):
            seen.append(_seen(words(each["criterion"]), answer, each))
    title = f"{TITLES[decisive]} answer by criterion" if decisive != "bounds" else "Bounds"
    return {"criteria": _drawn(title, seen, first)}


def _seen(label: str, answer: Document, document: Document) -> Seen:
    """An answer as a line of a chart, in color if the verdict rests on it."""
    decides = answer["name"] == document["decisive"]
    verdict = VERDICTS[document["verdict"]] if decides else "only if its assumption holds"
    kind = {"differs": "beyond", "alike": "within"}.get(verdict, "")
    ends = {part: answer[part] for part in ("value", "low", "high")}
    return Seen(label, tolerance=document["fail_if"], verdict=verdict, kind=kind, **ends)


def _drawn(title: str, seen: Sequence[Seen], document: Document) -> Values:
    unit = measure_name(document["measure"]).lower()
    is_rate = _in_points(document)
    unit += ", percentage points" if is_rate else ""
    return Values(title, seen, unit, is_rate, f"{title}; the table has the numbers.")


def _pictured(document: Document) -> list[Figure]:
    return [
        Figure(f"{ident}-chart", chart, f"{chart.title}: {chart.unit}")
        for ident, chart in charts(document).items()
    ]


def _in_points(document: Document) -> bool:
    return bool(document["is_share"] and is_width(document["measure"]))


def _of_one(document: Document) -> Report:
    pictures, document = _pictured(document), _answered(document)
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


def _of_audit(document: Document) -> Report:
    findings = [_answered({**document, **one}) for one in document["findings"]]
    table, notes = _criteria(document, findings), [Text(each) for each in document["notes"]]
    notes += _fit(findings[0])
    assumed = {one["name"]: one["assumes"] for each in findings for one in each["answers"]}
    gates = Bullets([gate["sentence"] for gate in document["gates"]])
    terms = Terms([(TITLES[one], said) for one, said in assumed.items()])
    rates: list[tuple[list[Any], list[str]]] = []  # of criteria that compare the same ones, once
    for each in findings:
        blocks = [*_cell(each), _rates(each), *_notes(each)]
        titles = next((titles for known, titles in rates if known == blocks), None)
        if titles is None:
            rates.append((blocks, titles := []))
        titles.append(_title(each, findings))
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
    names = [one["name"] for each in findings for one in each["answers"]]
    names = list(dict.fromkeys([document["decisive"], *names]))
    level = f"{100 * document['confidence']:g}% intervals of every answer"
    heads = [Head("Criterion"), Head("Verdict"), *(Head(TITLES[one], True) for one in names)]
    rows = []
    for each in findings:
        known = {one["name"]: one for one in each["answers"]}
        verdict = each["verdict"]
        kind = verdict if verdict in ("differs", "alike") else "cannot tell"
        cells = [Cell(_title(each, findings)), Cell(VERDICTS[verdict], kind=kind)]
        for one in names:
            answer = known.get(one)
            cells.append(
                Cell("–") if answer is None else Cell(_ends(answer, each), key(answer["high"]))
            )
        rows.append(Row(cells))
    return Table("Criteria", heads, rows, caption=level, kind="cards answers")


def _title(finding: Document, findings: Sequence[Document]) -> str:
    """The criterion; with its measure, where it is asked by several."""
    asked = [one["measure"] for one in findings if one["criterion"] == finding["criterion"]]
    title = words(finding["criterion"])
    return title if len(asked) == 1 else f"{title} by {finding['measure']}"


def _answered(document: Document) -> Document:
    """The same without answers that there are not, such as those that need probabilities."""
    there = [
        one for one in document["answers"] if one["low"] is not None or one["name"] == "bounds"
    ]
    return {**document, "answers": there}


def _ends(answer: Document, document: Document) -> str:
    """Both ends, of a gap between shares in points."""
    low, high = (_gap(answer[end], document, way) for end, way in (("low", -1), ("high", 1)))
    return f"{low.removesuffix(' pts')} to {high}"


def _gap(value: float | None, document: Document, toward: int = 0) -> str:
    return apart(value, _in_points(document), toward)


def _about(document: Document) -> str:
    known = document["known"]
    some = f", the group of {known:,} known" if known else ""
    return f"{plural(document['rows'], 'row')}{some}."


def _answers(document: Document) -> Table:
    level = f"{100 * document['confidence']:g}% interval"
    heads = [Head("Answer"), Head("Estimate", True), Head(level, True, "interval")]
    heads.append(Head("What it assumes"))
    rows = []
    for answer in document["answers"]:
        estimate = _gap(answer["value"], document)
        if answer["name"] == "bounds":
            least, most = (_gap(answer[end], document) for end in ("least", "greatest"))
            estimate = f"{least.removesuffix(' pts')} to {most}"
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
    told = document["random_p_value"]
    if told is not None and told < DOUBTFUL:
        text = "The people whose group is known do not look like a random sample"
        notes.append(Text(f"{text} (p {_p(told)}).", "caution"))
    elif told is not None:
        text = "The people whose group is known do not differ visibly from the others"
        proof = "That does not prove that they are a random sample."
        notes.append(Text(f"{text} (p {_p(told)}). {proof}", "quiet"))
    return notes


def _fit(document: Document) -> list[Text]:
    """Whether the probabilities are right for the people of known group."""
    told = document["proxy_p_value"]
    if told is None:
        return []
    if told < DOUBTFUL:
        text = "The probabilities do not fit the people whose group is known"
        return [Text(f"{text} (p {_p(told)}).", "caution")]
    text = "The people whose group is known do not differ visibly from their probabilities"
    return [Text(f"{text} (p {_p(told)}). That does not prove the probabilities right.", "quiet")]


def _p(value: float) -> str:
    written = p_value(value)
    return written if written.startswith("<") else f"= {written}"


def _cell(document: Document) -> list[Text]:
    """What the rates are, and of which class or pair of true and predicted label."""
    of = document["formula"].rpartition(" over a of ")[2]
    return [Text(f"Rates: {of}{within(document['cell'], document['formula'])}.", "quiet")]


def _rates(document: Document) -> Table:
    heads = [Head("Group"), Head("Share of people", True, "share")]
    heads += [Head(TITLES[answer["name"]], True) for answer in document["answers"]]
    rows = []
    for at, group in enumerate(document["groups"]):
        cells = [Cell(name(group["label"])), Cell(percent(group["share"]), key(group["share"]))]
        for answer in document["answers"]:
            rate = answer["rates"][at]
            shown = percent if document["is_share"] else number
            low, high = shown(rate["low"]), shown(rate["high"])
            cells.append(Cell(f"{low} to {high}", key(rate["high"])))
        rows.append(Row(cells))
    return Table("Rates by group", heads, rows, kind="cards")
