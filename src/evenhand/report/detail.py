"""The collapsed parts of an audit's report: values, subgroups, thresholds, method, provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand._words import UNDEFINED, number, p_value, percent, plural
from evenhand.report.blocks import (
    Cell,
    Figure,
    Fold,
    Head,
    Row,
    Section,
    Table,
    Template,
    Terms,
    Text,
)
from evenhand.report.charts import curves, ecdf
from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.ecdf import extremes
from evenhand.report.findings import measures_in, values, values_as_text
from evenhand.report.formats import count, key, measure_name, measures_of, name, verdict, words
from evenhand.report.groups import FOLDED, MAX_DRAWN

Document = Mapping[str, Any]

STEPS = 51  # points of a curve that is drawn
FEWER_STEPS = 21  # of each curve where there are many
SUBGROUPS = 15
OF_LABELS = ("binary", "multiclass")  # tasks


def detail(document: Document) -> Section:
    """Everything else, collapsed until opened."""
    folds = (make(document) for make in FOLDS)
    blocks = [fold for fold in folds if fold is not None]
    source = document["provenance"]
    source_line = f"evenhand {document['evenhand']}, {source['date']}, data {source['data'][:12]}"
    return Section(
        "more",
        "In detail",
        blocks,
        text=[
            *([small] if (small := too_small(document)) else []),
            Fold("All values by measure", list(values_as_text(document))),
            Text(source_line, "quiet"),
        ],
        brief=[Text(_closing(document), "quiet")],
        is_titled=False,
    )


def too_small(document: Document) -> Fold | None:
    """The groups whose rows could not have shown a difference that matters."""
    sentence = (document.get("too_few") or {"sentence": ""})["sentence"]
    if not sentence or document["summary"]["counts"].keys() <= {"undefined"}:
        return None  # more rows of the same decision would not help
    small = len(document["too_few"]["groups"])
    title = f"{plural(small, 'group')} {'has' if small == 1 else 'have'} too few rows"
    return Fold(title, [Text(sentence)], "small")


def _closing(document: Document) -> str:
    summary = document["summary"]
    flagged = any(any(group["apart"]) for group in summary["table"]["groups"])
    level = percent(document["confidence"])
    of_class, rates = summary["table"]["of_class"], ""
    if of_class is not None and document["favorable"] is None:
        rates = f"Rates of “{of_class}”. "
    elif of_class is None and document["task"] in OF_LABELS:
        rates = "In quotes: the share predicted to be of that class. "
    sides = "▲ above, ▼ below everyone else, significant. " if flagged else ""
    return f"{rates}{sides}{level} confidence. Everything: --full, --html, or to_html()."


def intersections(document: Document) -> Fold | None:
    """The criteria by each column and combination, and the subgroups in order."""
    views, subgroups = document["views"], document["subgroups"]
    if not views and not subgroups:
        return None
    blocks: list[Any] = []
    if views:
        blocks = [
            Text(
                "The same criteria by each column alone and by their combinations. More groups "
                "also mean more noise: compare the marks, not just the values."
            ),
            _views_table(views),
            Text("● differs, ? inconclusive, – undefined.", "quiet"),
        ]
    if subgroups:
        flagged = sum(bool(subgroup["flagged"]) for subgroup in subgroups)
        share = f"{count(flagged)} of" if flagged else "None of"
        verb = "stand" if flagged > 1 else "stands"
        text = (
            f"{share} {plural(len(subgroups), 'subgroup')} {verb} out. “At least” is "
            f"a lower bound of the difference from everyone else. {document['scan']['sentence']} "
            "“People” is that bound times the number of rows: how many people the difference "
            "affects at least, where the statistic is a rate."
        )
        hidden = max(0, len(subgroups) - SUBGROUPS)
        remark = f"{count(hidden)} more are in the document." if hidden else ""
        blocks += [Text(text), _subgroup_table(subgroups[:SUBGROUPS], remark)]
    return Fold("Intersections and subgroups", blocks, "intersections")


def _views_table(views: Sequence[Document]) -> Table:
    """A line for each criterion, a column for each view, by the first measure."""
    first = views[0]["findings"][0]["measure"] if views[0]["findings"] else ""
    by_view = [
        {f["criterion"]: f for f in view["findings"] if f["measure"] == first} for view in views
    ]
    heads = [Head("Criterion")]
    for view in views:
        groups = plural(view["groups"], "group")
        heads.append(Head(f"{' × '.join(view['columns'])} ({groups})", True))
    rows = []
    for criterion in dict.fromkeys(question for view in by_view for question in view):
        cells = [_view_cell(view.get(criterion)) for view in by_view]
        rows.append(Row([Cell(words(criterion)), *cells], {"criterion": criterion}))
    return Table("Views", heads, rows, caption=measure_name(first), kind="views cards")


def _view_cell(finding: Document | None) -> Cell:
    if finding is None:
        return Cell(UNDEFINED)
    outcome = verdict(finding["verdict"])
    tip = f"{finding['verdict']}; p adjusted {p_value(finding['p_adjusted'])}"
    return Cell(f"{number(finding['value'])} {outcome.mark}", kind=outcome.kind, tip=tip)


def _subgroup_table(subgroups: Sequence[Document], remark: str) -> Table:
    numbers = ("Rows", "Value", "Others", "Difference", "At least", "People")
    heads = [Head("Subgroup"), Head("Statistic"), *(Head(head, True) for head in numbers)]
    rows = []
    for subgroup in subgroups:
        people = None if subgroup["people"] is None else float(int(subgroup["people"]))
        mark = "● " if subgroup["flagged"] else ""
        cells = [
            Cell(f"{mark}{name(subgroup['label'])}", kind="beyond" if subgroup["flagged"] else ""),
            Cell(subgroup["statistic"]),
            Cell(count(subgroup["rows"])),
            *(Cell(number(subgroup[part]), key(subgroup[part])) for part in ("value", "rest")),
            Cell(number(subgroup["difference"]), key(subgroup["difference"])),
            Cell(number(subgroup["at_least"]), key(subgroup["at_least"])),
            Cell(count(people)),
        ]
        rows.append(Row(cells, {"group": subgroup["label"]}))
    return Table("Ranked subgroups", heads, rows, kind="sortable cards subgroups", more=remark)


def thresholds(document: Document) -> Fold | None:
    """How unequal decisions would be at other thresholds of the score."""
    sweep = document["thresholds"]
    if sweep is None or not sweep["series"]:
        return None
    first = sweep["series"][0]["measure"]
    series = [
        (words(line["criterion"]), line["values"])
        for line in sweep["series"]
        if line["measure"] == first
    ]
    title = f"Criteria by {measure_name(first)} against the decision threshold"
    chart = curves("threshold-curves", title, sweep["at"], series, sweep["used"])
    legend = [(f"s{i % COLORS}", label) for i, (label, _) in enumerate(series)]
    text = (
        "How unequal the decisions would be at other thresholds of the score. The best threshold "
        "for one criterion need not be the best for another, and a threshold that selects nobody, "
        "or everybody, treats all groups alike and is of no use."
    )
    figure = Figure("threshold-curves", chart, measure_name(first), legend)
    return Fold("Other thresholds", [Text(text), figure], "thresholds")


def distributions(document: Document) -> Fold | None:
    """The groups' distributions, with the names of those that stand out."""
    content = document["distributions"]
    if content is None:
        return None
    noun = {"prediction": "predictions", "score": "scores"}.get(content["of"], content["of"])
    steps = STEPS if len(content["groups"]) <= MAX_DRAWN else FEWER_STEPS
    points = slice(None, None, -(-len(content["at"]) // steps))
    levels = [level[points] for level in content["levels"]]
    parts = (content["groups"], levels, content["pooled"][points])
    marked = extremes(*parts)
    title = f"Distribution of the {noun} by group"
    chart = ecdf("distribution", title, content["at"][points], *parts)
    legend = [(f"s{i}", name(content["groups"][g])) for i, g in enumerate(marked)]
    legend.append(("pooled", "all rows"))
    text = (
        f"The share of each group whose {noun[:-1]} is at most the value on the axis. Groups whose "
        f"lines differ widely are treated differently; a line above the others has lower {noun}."
    )
    if len(content["groups"]) < len(document["groups"]):
        total = plural(len(document["groups"]), "group")
        text += f" Drawn are the {len(content['groups'])} largest of {total}."
    unnamed = len(content["groups"]) - len(marked)
    caption = ""
    if unnamed:
        thin = plural(unnamed, "other group")
        caption = f"The thin lines are {thin}; the two lowest and the two highest are named."
    return Fold(
        "Distributions",
        [Text(text), Figure("distribution", chart, caption, legend)],
        "distributions",
    )


def method(document: Document) -> Template:
    """What each number is, and what it does not mean."""
    return Template(
        "method.html", {"measures": measures_of(measures_in(document)), "document": document}
    )


def provenance(document: Document) -> Fold:
    """What to write under a report, so that it can be traced."""
    source = document["provenance"]
    classes = f"; classes {', '.join(document['classes'])}" if document["classes"] else ""
    weighted = "weighted" if document["weighted"] else "unweighted"
    versions = ", ".join(f"{package} {version}" for package, version in source["versions"].items())
    short = len(document["groups"]) > FOLDED
    part = f", for the {FOLDED} groups that contribute most" if short else ""
    pairs = [
        ("Date", source["date"]),
        *([("Model", source["model"])] if source["model"] else []),
        (
            "Data",
            f"{plural(document['rows'], 'row')}, {weighted}{classes}; SHA-256 of the counted cells "
            f"{source['data']}",
        ),
        ("Versions", f"{versions}, Python {source['python']}"),
        (
            "Everything",
            f"The JSON document (schema {document['schema']}) is in the element #document of this "
            "file, compressed by gzip and written in base64. Numbers have five digits; curves, "
            f"shares and pooled values have three{part}. The audit's to_json writes plain "
            "JSON with all digits.",
        ),
    ]
    return Fold("Provenance", [Terms(pairs, "facts")], "provenance")


FOLDS: list[Callable[[Document], Fold | Template | None]] = [
    too_small,
    values,
    intersections,
    thresholds,
    distributions,
    method,
    provenance,
]
