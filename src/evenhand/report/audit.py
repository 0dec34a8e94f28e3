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

from evenhand._words import (
    UNDEFINED,
    capitalized,
    extent,
    listing,
    number,
    p_value,
    percent,
    plural,
)
from evenhand.report import why
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
    Step,
    Steps,
    Table,
    Template,
    Terms,
    Text,
)
from evenhand.report.charts import Rates, Tradeoff, Values, curves, ecdf
from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.ecdf import extremes
from evenhand.report.charts.rates import Rate
from evenhand.report.charts.values import Seen
from evenhand.report.criteria import inequality, sections
from evenhand.report.formats import (
    amount,
    apart,
    count,
    is_width,
    key,
    measure_name,
    measures_of,
    name,
    share_of,
    verdict,
    words,
)

Document = Mapping[str, Any]

MOST_OPEN = 6  # groups in the table that is not closed
MOST_DRAWN = 12  # groups in a chart: it ends within a screen and a half of a phone
FOLDED = 500  # lines of a table that is closed
STEPS = 51  # points of a curve that is drawn
FEWER_STEPS = 21  # of each curve where there are many
SUBGROUPS = 15
FEW = 3
MOST_NAMED = 8
SIDES = {1: "above", -1: "below", 0: "around"}
OF_LABELS = ("binary", "multiclass")  # tasks
SHORT = {
    "base_rate": "base",
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "precision": "prec.",
    "accuracy": "acc.",
    "mean_prediction": "mean",
    "mean_target": "target",
    "mean_error": "bias",
}
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


def report_of(document: Document) -> Report:
    """The report of an audit's document."""
    summary = document["summary"]
    made = (make(document) for make in SECTIONS)
    about = [summary["about"], _selected(document), _tolerances(document["findings"])]
    return Report(
        kind="audit",
        brand="audit",
        title=document["title"] or "Audit of a model",
        lede=summary["sentence"],
        about=[sentence for sentence in about if sentence],
        sections=[section for section in made if section is not None],
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
    table = group_table(summary["table"], _largest(summary["table"], MOST_DRAWN))
    hidden = len(summary["table"]["groups"]) - len(table.rows)
    if hidden:
        table = replace(table, more=f"and {plural(hidden, 'more group')}")
    impact = [Text(summary["impact_ratio"]["sentence"])] if summary["impact_ratio"] else []
    closing = f"{_legend(document)} A low score is not “fair”."
    return [table, *impact, criteria_table(summary["criteria"]), Text(closing)]


def charts(document: Document) -> dict[str, Any]:
    """The charts that figures show, by name."""
    firsts = [
        next(rows) for _, rows in groupby(document["findings"], key=lambda f: str(f["criterion"]))
    ]
    known = [f for f in firsts if f["verdict"] != "undefined" and f["gap"]["value"] is not None]
    rates = [f for f in known if f["is_rate"]]
    seen = [
        Seen(f"{words(f['criterion'])}: {f['verdict']}", *_gap(f), None, f["verdict"], _kind(f))
        for f in rates or known
    ]
    unit = "largest difference between groups" + (", percentage points" if rates else "")
    drawn = {
        "rates": rate_chart(document["summary"]),
        "criteria": Values("Largest difference by criterion", seen, unit) if seen else None,
        "frontier": _tradeoff(document),
    }
    return {name: chart for name, chart in drawn.items() if chart is not None}


def _gap(finding: Document) -> tuple[float | None, float | None, float | None]:
    scale = 100 if finding["is_rate"] else 1
    value, low, high = (finding["gap"][part] for part in ("value", "low", "high"))
    return (
        scale * value,
        None if low is None else scale * low,
        None if high is None else scale * high,
    )


def _kind(finding: Document) -> str:
    return verdict(finding["verdict"]).kind


# The groups


def groups(document: Document) -> Section:
    """The chart of the first rate, what it comes to, and the groups that matter as a table."""
    summary = document["summary"]
    table, rate = summary["table"], summary["headline"]
    impact = [Text(summary["impact_ratio"]["sentence"])] if summary["impact_ratio"] else []
    chosen = _that_matter(summary)
    hidden = len(table["groups"]) - len(chosen)
    blocks: list[Any] = [*_rate_figure(document), *impact]
    blocks.append(group_table(table, chosen))
    blocks.append(Text(_legend(document), "quiet"))
    if hidden:
        others = [i for i in _largest(table, FOLDED) if i not in chosen]
        rest = replace(group_table(table, others), foot=())
        title = f"The other {plural(hidden, 'group')}"
        if len(others) < hidden:
            title = f"The largest {count(len(others))} of {plural(hidden, 'other group')}"
        blocks.append(Fold(title, [rest]))
    title = f"{capitalized(rate['name'])} by group" if rate else "The groups"
    whole = group_table(table, range(len(table["groups"])), elastic="group")
    named = _named(summary)
    rows = [
        replace(row, weight=len(row.cells) * ((at in chosen) + (row.data["group"] in named)))
        for at, row in enumerate(whole.rows)
    ]
    brief = [Text(" "), replace(whole, rows=rows), *impact]
    return Section("groups", title, blocks, brief=brief, link="The groups")


def group_table(table: Document, chosen: Iterable[int], *, elastic: str = "") -> Table:
    """The groups × metrics of some groups, and three lines about all of them."""
    metrics = table["metrics"]
    heads = [Head("Group", short="group"), Head("Rows", True, "n")]
    heads += [Head(m["name"], True, SHORT.get(m["key"], ""), m["meaning"]) for m in metrics]
    everyone = {"label": "Everyone", **table["overall"], "apart": [0] * len(metrics)}
    gaps = [apart(v, m["is_rate"]) for v, m in zip(table["difference"], metrics, strict=True)]
    ratios = [share_of(value) for value in table["ratio"]]
    foot = [_group_row(everyone, metrics, own=False)]
    for label, texts in (("Largest difference", gaps), ("Lowest / highest", ratios)):
        foot.append(Row([Cell(label), Cell(""), *map(Cell, texts)]))
    rows = [_group_row(table["groups"][i], metrics) for i in chosen]
    return Table(
        "Groups and metrics", heads, rows, foot, kind="metrics cards sortable", elastic=elastic
    )


def _group_row(group: Document, metrics: Sequence[Document], *, own: bool = True) -> Row:
    cells = [Cell(name(group["label"])), Cell(count(group["rows"]))]
    for value, metric, side in zip(group["values"], metrics, group["apart"], strict=True):
        cells.append(Cell(amount(value, metric["is_rate"]), side=side))
    return Row(cells, {"group": group["label"]} if own else {})


def _that_matter(summary: Document) -> list[int]:
    """The groups that the sentence names, those that stand out, and then the largest."""
    groups, named = summary["table"]["groups"], _named(summary)
    if len(groups) <= MOST_OPEN:
        return list(range(len(groups)))

    def weight(i: int) -> tuple[bool, int, int]:
        return groups[i]["label"] in named, sum(map(abs, groups[i]["apart"])), groups[i]["rows"]

    return sorted(sorted(range(len(groups)), key=weight, reverse=True)[:MOST_OPEN])


def _named(summary: Document) -> frozenset[str]:
    """The groups that the impact ratio names, and so does the sentence."""
    impact = summary["impact_ratio"]
    return frozenset({impact["lowest"], impact["highest"]} if impact else ())


def _largest(table: Document, most: int) -> list[int]:
    groups = table["groups"]

    def weight(i: int) -> tuple[int, int]:
        return sum(map(abs, groups[i]["apart"])), groups[i]["rows"]

    return sorted(sorted(range(len(groups)), key=weight, reverse=True)[:most])


def _legend(document: Document) -> str:
    flagged = any(any(g["apart"]) for g in document["summary"]["table"]["groups"])
    level = percent(document["confidence"])
    marks = f"▲ above, ▼ below everyone else, significant at {level} (corrected). "
    said = "Largest difference and ratio are those observed; small groups make them larger."
    return (marks if flagged else "") + said


def _rate_figure(document: Document) -> list[Figure]:
    """The groups' first rate with intervals and sizes, beside four fifths of the highest."""
    summary = document["summary"]
    chart = rate_chart(summary)
    if chart is None:
        return []
    rate, shown = summary["headline"], len(chart.shown)
    caption = f"Dots are observed values, lines {percent(document['confidence'])} intervals; at "
    caption += "the right, value and rows."
    if shown < len(chart.groups):
        of = plural(len(chart.groups), "group")
        caption += f" Shown are the {shown} of {of} furthest from the overall value."
    legend = []
    if rate["overall"] is not None:
        legend.append(("overall", f"everyone: {amount(rate['overall'], rate['is_rate'])}"))
    if chart.line_at is not None:
        highest = name(summary["impact_ratio"]["highest"])
        legend.append(("fifths", f"four-fifths of the highest rate ({highest})"))
    return [Figure("headline-rates", chart, caption, legend)]


def rate_chart(summary: Document) -> Rates | None:
    """The chart of the groups' first rate; None where no group has one."""
    rate = summary["headline"]
    known = [group for group in (rate["groups"] if rate else []) if group["value"] is not None]
    if not known:
        return None
    keys = [metric["key"] for metric in summary["table"]["metrics"]]
    at = keys.index(rate["metric"]) if rate["metric"] in keys else None
    marks = {} if at is None else {g["label"]: g["apart"][at] for g in summary["table"]["groups"]}
    impact = summary["impact_ratio"] if rate["metric"] == "selection_rate" else None
    return Rates(
        f"{capitalized(rate['name'])} by group",
        [
            Rate(
                group["label"],
                **{part: group[part] for part in ("value", "low", "high", "rows")},
                kind=SIDES[marks[group["label"]]] if group["label"] in marks else None,
            )
            for group in known
        ],
        rate["overall"],
        most=MOST_DRAWN,
        always=_named(summary) if impact else frozenset(),
        greatest=1.0 if rate["is_rate"] else None,
        is_rate=rate["is_rate"],
        line_at=None if impact is None else impact["line"] * impact["highest_rate"],
    )


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
    held = Counter(f["judged"] for f in findings if f["tolerance"] is not None)
    words_of = {
        "exceeds": "exceed it with the whole interval",
        "falls short": "fall short of it with the whole interval",
        "within tolerance": "within it",
        "inconclusive": "inconclusive",
    }
    parts = [f"{held[verdict]} {words}" for verdict, words in words_of.items() if held[verdict]]
    return f"Values with a tolerance: {listing(parts)}." if parts else ""


# What to do


def standing_out(document: Document) -> Section | None:
    """The subgroups that differ from everyone else."""
    chosen = document["summary"]["subgroups"]
    if not chosen:
        return None
    lines = [_subgroup(one) for one in chosen]
    blocks = [Bullets(lines), Text(document["scan"]["sentence"], "quiet")]
    brief = [Bullets(lines[:FEW], "strong", STAND_OUT)]
    return Section("subgroups", STAND_OUT, blocks, brief=brief)


def _subgroup(one: Document) -> str:
    value, rest = (amount(one[part], one["is_rate"]) for part in ("value", "rest"))
    return (
        f"{name(one['label'])} ({plural(one['rows'], 'row')}): {one['statistic']} {value}, "
        f"everyone else {rest}; the gap is at least {apart(one['at_least'], one['is_rate'], -1)}."
    )


def _steps(document: Document) -> list[Step]:
    return [Step(**step) for step in document.get("next") or []]


def next_steps(document: Document) -> Section | None:
    """What follows from what was found."""
    known = _steps(document)
    if not known:
        return None
    return Section("next", NEXT, [Steps(known)], brief=[Heading(NEXT), Steps(known[:2])])


def why_they_differ(document: Document) -> Section | None:
    """What the gap of the first finding is made of, in two sentences and a chart."""
    known = document["why"]
    if known is None:
        return None
    caption = f"{why.CAPTION} {known['caution']}"
    blocks = [Text(known["sentence"]), Figure("waterfall", why.waterfall(known), caption)]
    return Section("why", "Why they differ", blocks, brief=[])


def closing_the_gap(document: Document) -> Section | None:
    """What less disparity would cost, and the curve that no rule can do better than."""
    known = document.get("frontier")
    if known is None:
        return None
    chart = _tradeoff(document)
    blocks: list[Any] = []
    if chart is not None:
        caption = f"{capitalized(chart.upward)} against {chart.across}. {CAPTION}"
        blocks = [Bullets(known["sentences"]), Figure("frontier-curve", chart, caption)]
    first, *others = known["notes"]
    notes = [Text(first, "caution" if chart is not None else "quiet")]
    notes.append(Text(" ".join(others), "quiet"))
    brief = [Text(" ".join(known["sentences"][:2]))] if chart is not None else []
    return Section("frontier", "What closing the gap would cost", [*blocks, *notes], brief=brief)


def _tradeoff(document: Document) -> Tradeoff | None:
    curve = (document.get("frontier") or {"curve": None})["curve"]
    if curve is None:
        return None
    across = f"{words(curve['criterion']).lower()} ({measure_name(curve['measure']).lower()})"
    return Tradeoff(
        f"{capitalized(curve['unit'])} against {across}",
        across,
        curve["unit"],
        curve["bound"],
        curve["cost"],
        {"the model": (curve["model"]["value"], curve["model"]["cost"])},
    )


# The criteria


def criteria(document: Document) -> Section:
    """Each criterion: what it asks, its verdict, and where the inequality sits."""
    parts = sections(document)
    asked = [(key, measure_name(key)) for key in _measures(document)]
    controls = Template("controls.html", {"measures": asked, "sections": parts})
    swept = {"distributions": document["distributions"] is not None}
    folds = Template("criteria.html", {"sections": parts, **swept})
    lines = document["summary"]["criteria"]
    return Section(
        "criteria",
        "Criteria",
        [Text(NOT_FAIR, "caution"), controls, folds],
        text=[criteria_table(lines)],
        brief=list(_by_verdict(lines)),
    )


def criteria_table(lines: Iterable[Document]) -> Table:
    """A line for each criterion: its verdict, and what that means in words."""
    rows = [
        Row(
            [
                Cell(words(line["name"])),
                Cell(f"{verdict(line['verdict']).mark} {_judged(line)}", kind=_kind(line)),
                Cell(line["words"]),
            ]
        )
        for line in lines
    ]
    return Table("Criteria", [Head("Criterion"), Head("Verdict"), Head("In words")], rows)


def _judged(line: Document) -> str:
    return "; ".join(filter(None, (line["verdict"], line["judged"])))


def _by_verdict(lines: Sequence[Document]) -> Iterable[Bullets]:
    order = list(VERDICTS)

    def place(line: Document) -> int:
        return order.index(line["verdict"]) if line["verdict"] in order else len(order)

    for named, same in groupby(sorted(lines, key=place), key=lambda line: str(line["verdict"])):
        items = [_short(line) for line in same]
        head = f"{VERDICTS.get(named, named)} ({len(items)}):"
        yield Bullets(items, named, head, columns=2)


def _short(line: Document) -> str:
    named = words(line["name"]).replace("Performance parity: ", "Parity of ")
    return " ".join(filter(None, (named, line["short"], line["judged"])))


def too_small(document: Document) -> Fold | None:
    """The groups whose rows could not have shown a difference that matters."""
    told = (document.get("too_few") or {"sentence": ""})["sentence"]
    if not told or document["summary"]["counts"].keys() <= {"undefined"}:
        return None  # more rows of the same decision would not help
    many = len(document["too_few"]["groups"])
    title = f"{plural(many, 'group')} {'is' if many == 1 else 'are'} too small to judge"
    return Fold(title, [Text(told)], "small")


def notes(document: Document) -> Section | None:
    """What was left out, merged or assumed."""
    if not document["notes"]:
        return None
    brief = [Text(f"Note: {note}", "quiet") for note in document["notes"][:FEW]]
    return Section("notes", "Notes", [Bullets(document["notes"], "notes")], brief=brief)


# In detail


def detail(document: Document) -> Section:
    """Everything else, closed until somebody asks."""
    folds = (make(document) for make in FOLDS)
    closing = (
        "Closed parts are not printed. To print them, open them on the page first; the HTML file "
        "has them all."
    )
    blocks = [*(fold for fold in folds if fold is not None), Text(closing, "on-paper")]
    source = document["provenance"]
    made = f"evenhand {document['evenhand']}, {source['date']}, data {source['data'][:12]}"
    return Section(
        "more",
        "In detail",
        blocks,
        text=[
            *([small] if (small := too_small(document)) else []),
            Fold("All values by measure", list(_values_as_text(document))),
            Text(made, "quiet"),
        ],
        brief=[Text(_closing(document), "quiet")],
        is_titled=False,
    )


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


def _values_as_text(document: Document) -> Iterable[Any]:
    yield findings_table(document)
    conclusions = {f["criterion"]: f["conclusion"] for f in document["findings"]}
    yield Bullets([f"{words(name)}: {said}" for name, said in conclusions.items()])
    undefined = list(_left_out(document))
    if undefined:
        yield Bullets(undefined, head="Left out where there is nothing to divide by (0/0):")


def _left_out(document: Document) -> Iterable[str]:
    for criterion, rows in groupby(document["findings"], key=lambda f: str(f["criterion"])):
        gaps = dict.fromkeys(
            f"{name(gap['group'])} (at {gap['cell']})" for f in rows for gap in f["left_out"]
        )
        if gaps:
            more = f" and {len(gaps) - FEW} more" if len(gaps) > FEW else ""
            yield f"{words(criterion)} is undefined for {', '.join(list(gaps)[:FEW])}{more}"


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
    of = f" of {finding['transform']}" if finding["transform"] else ""
    told = verdict(finding["verdict"])
    cells = [
        Cell(words(finding["criterion"])),
        Cell(f"{measure_name(finding['measure'])}{of}"),
        Cell(number(finding["value"]), key(finding["value"])),
        Cell(_between(finding), key(finding["low"])),
        Cell(p_value(finding["p_adjusted"]), key(finding["p_adjusted"])),
        Cell(f"{told.mark} {finding['verdict']}", kind=told.kind),
    ]
    if gated:
        bound = f"{finding['judged']} ({number(finding['tolerance'])})" if finding["judged"] else ""
        cells.append(Cell(bound, kind=verdict(finding["judged"] or "").kind))
    return Row(cells, {"measure": finding["measure"], "criterion": finding["criterion"]})


def _between(finding: Document) -> str:
    if finding["low"] is None or finding["high"] is None:
        return UNDEFINED
    return extent(finding["low"], finding["high"])


def _measures(document: Document) -> list[str]:
    return list(dict.fromkeys(finding["measure"] for finding in document["findings"]))


def values(document: Document) -> Fold:
    """Every value by measure, as a table and a chart, and who makes up the inequality."""
    named = [f["verdict"] for f in document["findings"]]
    named += [f["judged"] for f in document["findings"] if f["judged"]]
    meanings = [
        (f"{verdict(one).mark} {one}", verdict(one).meaning) for one in dict.fromkeys(named)
    ]
    blocks: list[Any] = [
        Text(
            "A criterion says which statistic should be equal, a measure how unequal it is; 0 is "
            "equal, and 1 by the ratio. Each criterion has one test and one verdict, the same by "
            "every measure."
        ),
        findings_table(document),
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
    first = _measures(document)[:1]
    seen = [
        Seen(
            label=words(f["criterion"]),
            kind=_kind(f),
            verdict=_judged(f),
            **{part: f[part] for part in ("value", "low", "high", "tolerance")},
        )
        for f in document["findings"]
        if f["measure"] in first and not _has_unit(f, bounds)
    ]
    title = "".join(measure_name(measure) for measure in first)
    return (
        [Figure("values-0", Values(f"Values and intervals: {title}", seen), title)] if seen else []
    )


def _has_unit(finding: Document, bounds: Mapping[str, Sequence[float | None]]) -> bool:
    free = is_width(finding["measure"]) and None in bounds.get(finding["criterion"], (0, 1))
    return bool(free) or finding["aggregate"] == "integral"


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
        is_or_are = "stands" if flagged == 1 else "stand"
        said = (
            f"{count(flagged)} of {plural(len(found), 'subgroup')} {is_or_are} out. “At least” is "
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
        "method.html", {"measures": measures_of(_measures(document)), "document": document}
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
            f"The document, schema {document['schema']}, is in this file, in the element "
            "#document, as JSON compressed by gzip, in base64, with five digits of its numbers "
            f"and three of curves, shares and pooled values{part}; the audit's to_json "
            "writes all as plain JSON.",
        ),
    ]
    return Fold("Provenance", [Terms(pairs, "facts")], "provenance")


SECTIONS: list[Callable[[Document], Section | None]] = [
    groups,
    why_they_differ,
    next_steps,
    closing_the_gap,
    standing_out,
    criteria,
    notes,
    detail,
]
FOLDS: list[Callable[[Document], Fold | Template | None]] = [
    too_small,
    values,
    intersections,
    thresholds,
    distributions,
    method,
    provenance,
]
