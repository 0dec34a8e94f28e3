"""What an audit's report keeps closed until somebody asks."""

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
from evenhand.report.groups import FOLDED, MOST_DRAWN

Document = Mapping[str, Any]

STEPS = 51  # points of a curve that is drawn
FEWER_STEPS = 21  # of each curve where there are many
SUBGROUPS = 15
OF_LABELS = ("binary", "multiclass")  # tasks


def detail(document: Document) -> Section:
    """Everything else, closed until somebody asks."""
    folds = (make(document) for make in FOLDS)
    blocks = [fold for fold in folds if fold is not None]
    source = document["provenance"]
    made = f"evenhand {document['evenhand']}, {source['date']}, data {source['data'][:12]}"
    return Section(
        "more",
        "In detail",
        blocks,
        text=[
            *([small] if (small := too_small(document)) else []),
            Fold("All values by measure", list(values_as_text(document))),
            Text(made, "quiet"),
        ],
        brief=[Text(_closing(document), "quiet")],
        is_titled=False,
    )


def too_small(document: Document) -> Fold | None:
    """The groups whose rows could not have shown a difference that matters."""
    told = (document.get("too_few") or {"sentence": ""})["sentence"]
    if not told or document["summary"]["counts"].keys() <= {"undefined"}:
        return None  # more rows of the same decision would not help
    many = len(document["too_few"]["groups"])
    title = f"{plural(many, 'group')} {'has' if many == 1 else 'have'} too few rows"
    return Fold(title, [Text(told)], "small")


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
    views, found = document["views"], document["subgroups"]
    if not views and not found:
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
    if found:
        flagged = sum(bool(subgroup["flagged"]) for subgroup in found)
        some = f"{count(flagged)} of" if flagged else "None of"
        verb = "stand" if flagged > 1 else "stands"
        said = (
            f"{some} {plural(len(found), 'subgroup')} {verb} out. “At least” is "
            f"a lower bound of the difference from everyone else. {document['scan']['sentence']} "
            "“People” is that bound times the number of rows: how many people the difference "
            "affects at least, where the statistic is a rate."
        )
        more = max(0, len(found) - SUBGROUPS)
        more_said = f"{count(more)} more are in the document." if more else ""
        blocks += [Text(said), _subgroup_table(found[:SUBGROUPS], more_said)]
    return Fold("Intersections and subgroups", blocks, "intersections")


def _views_table(views: Sequence[Document]) -> Table:
    """A line for each criterion, a column for each view, by the first measure."""
    first = views[0]["findings"][0]["measure"] if views[0]["findings"] else ""
    by_view = [
        {f["criterion"]: f for f in view["findings"] if f["measure"] == first} for view in views
    ]
    heads = [Head("Criterion")]
    for view in views:
        of = plural(view["groups"], "group")
        heads.append(Head(f"{' × '.join(view['columns'])} ({of})", True))
    rows = []
    for criterion in dict.fromkeys(asked for view in by_view for asked in view):
        cells = [_view_cell(view.get(criterion)) for view in by_view]
        rows.append(Row([Cell(words(criterion)), *cells], {"criterion": criterion}))
    return Table("Views", heads, rows, caption=measure_name(first), kind="views cards")


def _view_cell(finding: Document | None) -> Cell:
    if finding is None:
        return Cell(UNDEFINED)
    told = verdict(finding["verdict"])
    tip = f"{finding['verdict']}; p adjusted {p_value(finding['p_adjusted'])}"
    return Cell(f"{number(finding['value'])} {told.mark}", kind=told.kind, tip=tip)


def _subgroup_table(found: Sequence[Document], more: str) -> Table:
    numbers = ("Rows", "Value", "Others", "Difference", "At least", "People")
    heads = [Head("Subgroup"), Head("Statistic"), *(Head(head, True) for head in numbers)]
    rows = []
    for one in found:
        people = None if one["people"] is None else float(int(one["people"]))
        mark = "● " if one["flagged"] else ""
        cells = [
            Cell(f"{mark}{name(one['label'])}", kind="beyond" if one["flagged"] else ""),
            Cell(one["statistic"]),
            Cell(count(one["rows"])),
            *(Cell(number(one[part]), key(one[part])) for part in ("value", "rest")),
            Cell(number(one["difference"]), key(one["difference"])),
            Cell(number(one["at_least"]), key(one["at_least"])),
            Cell(count(people)),
        ]
        rows.append(Row(cells, {"group": one["label"]}))
    return Table("Ranked subgroups", heads, rows, kind="sortable cards subgroups", more=more)


def thresholds(document: Document) -> Fold | None:
    """How unequal decisions would be at other thresholds of the score."""
    known = document["thresholds"]
    if known is None or not known["series"]:
        return None
    first = known["series"][0]["measure"]
    series = [
        (words(one["criterion"]), one["values"])
        for one in known["series"]
        if one["measure"] == first
    ]
    title = f"Criteria by {measure_name(first)} against the decision threshold"
    chart = curves("threshold-curves", title, known["at"], series, known["used"])
    legend = [(f"s{i % COLORS}", label) for i, (label, _) in enumerate(series)]
    said = (
        "How unequal the decisions would be at other thresholds of the score. The best threshold "
        "for one criterion need not be the best for another, and a threshold that selects nobody, "
        "or everybody, treats all groups alike and is of no use."
    )
    figure = Figure("threshold-curves", chart, measure_name(first), legend)
    return Fold("Other thresholds", [Text(said), figure], "thresholds")


def distributions(document: Document) -> Fold | None:
    """The groups' distributions, with the names of those that stand out."""
    known = document["distributions"]
    if known is None:
        return None
    of = {"prediction": "predictions", "score": "scores"}.get(known["of"], known["of"])
    steps = STEPS if len(known["groups"]) <= MOST_DRAWN else FEWER_STEPS
    kept = slice(None, None, -(-len(known["at"]) // steps))
    levels = [level[kept] for level in known["levels"]]
    parts = (known["groups"], levels, known["pooled"][kept])
    marked = extremes(*parts)
    title = f"Distribution of the {of} by group"
    chart = ecdf("distribution", title, known["at"][kept], *parts)
    legend = [(f"s{i}", name(known["groups"][g])) for i, g in enumerate(marked)]
    legend.append(("pooled", "all rows"))
    said = (
        f"The share of each group whose {of[:-1]} is at most the value on the axis. Groups whose "
        f"lines are far apart are treated differently; a line above the others has lower {of}."
    )
    if len(known["groups"]) < len(document["groups"]):
        all_of = plural(len(document["groups"]), "group")
        said += f" Drawn are the {len(known['groups'])} largest of {all_of}."
    others = len(known["groups"]) - len(marked)
    caption = ""
    if others:
        thin = plural(others, "other group")
        caption = f"The thin lines are {thin}; the two lowest and the two highest are named."
    return Fold(
        "Distributions",
        [Text(said), Figure("distribution", chart, caption, legend)],
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
