"""An audit on the terminal: a summary of a screen, or everything; and what became of gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand._audit.gate import Judgement
from evenhand._words import number, p_value, plural, shortened
from evenhand.cli.terminal import NARROW, cell, columns, folded, plain
from evenhand.report.formats import words
from evenhand.report.groups import MARKS, amount, apart, group_lines, overall_lines

Document = dict[str, Any]

MOST_LINES = 40  # of the summary; gates come on top
MOST_GROUPS = 20
LEAST_GROUPS = 4
LEAST_LABEL = 14
LONGEST_HEAD = 11
CRITERION = 39  # columns for the first of two criteria
MOST = 8
FEW = 3
LONGEST_WORD = len("inconclusive")
STYLES = {
    "differs": "red",
    "exceeds": "red",
    "falls short": "red",
    "violation": "red",
    "error": "red",
    "inconclusive": "yellow",
    "undefined": "dim",
    "alike": "green",
    "cannot tell": "yellow",
    "within tolerance": "green",
    "pass": "green",
}
HEADS = {
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
    "cannot tell": "These rows cannot tell, which does not clear the model",
    "undefined": "There is nothing to compare in",
}


def show(
    document: Document,
    judgements: Sequence[Judgement],
    console: Console,
    *,
    full: bool = False,
    quiet: bool = False,
) -> None:
    """Print the summary; in full, all the tables too; quietly, no more than the gates."""
    if not quiet:
        for part in _summary(document, console):
            console.print(part)
        if full:
            _show_all(document, console)
    body = gates(judgements)
    if body.row_count:
        console.print(Text("Gates", style="bold"))
        console.print(Padding(body, (0, 0, 0, 2), expand=False))


def _summary(document: Document, console: Console) -> Iterator[RenderableType]:
    """A screen: what is found, the groups × metrics, the criteria, and who is apart."""
    summary = document["summary"]
    yield Text(_title(document), style="bold")
    yield (sentence := _sentence(summary))
    tail = [*_lines(summary, document), _legend(summary, document)]
    room = MOST_LINES - 1 - _height(console, sentence, *tail)
    for most in range(MOST_GROUPS, LEAST_GROUPS - 1, -1):
        table = Padding(group_table(summary["table"], console.width, most), (1, 0), expand=False)
        if _height(console, table) <= room:
            break
    yield table
    yield from tail


def _height(console: Console, *parts: RenderableType) -> int:
    return sum(len(console.render_lines(part)) for part in parts)


def _sentence(summary: Document) -> Text:
    return Text.assemble((plain(summary["sentence"]), "bold"), " ", plain(summary["about"]))


def group_table(table: Document, width: int, most: int) -> Table:
    """The groups × metrics, at most so many groups; long names take several lines."""
    names = [HEADS.get(metric["key"], metric["name"]) for metric in table["metrics"]]
    heads = [shortened(name, LONGEST_HEAD) for name in names]
    table_of_groups = columns("group", "n", *heads, right=tuple(range(1, 2 + len(heads))))
    lines = group_lines(table, most)
    hidden = len(table["groups"]) - len(lines)
    for line in lines:
        table_of_groups.add_row(Text(plain(line.label)), line.rows, *map(_marked, line.cells))
    if hidden:
        table_of_groups.add_row(Text(f"and {plural(hidden, 'more group')}", style="dim"))
    for line, label in zip(
        overall_lines(table), ("everyone", "observed gap", "observed ratio"), strict=True
    ):
        named = "observed gap, pts" if line.cells[0][0].endswith("pts") else label
        cells = (f"{text.removesuffix(' pts')} " for text, _ in line.cells)
        table_of_groups.add_row(named, line.rows, *cells, style="dim")
    wide = sum(max(map(len, (head, *column))) for head, column in _columns(table_of_groups, heads))
    table_of_groups.columns[0].max_width = max(width - wide - len(heads) - 1, LEAST_LABEL)
    return table_of_groups


def _columns(table: Table, heads: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The columns of numbers, as text."""
    for head, column in zip(("n", *heads), table.columns[1:], strict=True):
        yield head, [str(text) for text in column.cells]


def _marked(cell_of: tuple[str, int]) -> Text:
    text, side = cell_of
    return Text(f"{text}{MARKS[side] or ' '}", style="bold" if side else "")


def _lines(summary: Document, document: Document) -> Iterator[RenderableType]:
    """What follows the table: impact ratio, criteria by verdict, subgroups, notes."""
    if summary["impact_ratio"]:
        yield Padding(Text(plain(summary["impact_ratio"]["sentence"])), (0, 0, 1, 0))
    yield from _criteria(summary["criteria"])
    for subgroup in summary["subgroups"][:FEW]:
        yield Text(plain(_subgroup(subgroup)))
    if document["frontier"] and document["frontier"]["curve"]:
        yield Text(plain(" ".join(document["frontier"]["sentences"][:3])))
    for note in document["notes"][:FEW]:
        yield Text(f"Note: {plain(note)}", style="dim")


def _criteria(lines: Sequence[Document]) -> Iterator[RenderableType]:
    """Two to a line, under their verdicts."""
    order = list(VERDICTS)
    ranked = sorted(lines, key=lambda line: _place(order, line["verdict"]))
    for verdict, same in groupby(ranked, key=lambda line: str(line["verdict"])):
        many = [Text(f"  {_criterion(line)}") for line in same]
        head = f"{VERDICTS.get(verdict, verdict)} ({len(many)}):"
        yield Text(head, style=STYLES.get(verdict, ""))
        table = columns("", "")
        table.show_header = False
        table.columns[0].min_width = CRITERION
        for i in range(0, len(many), 2):
            table.add_row(*many[i : i + 2])
        yield table


def _place(order: Sequence[str], verdict: str) -> int:
    return order.index(verdict) if verdict in order else len(order)


def _criterion(line: Document) -> str:
    name = words(line["name"]).replace("Performance parity: ", "Parity of ")
    return " ".join(filter(None, (plain(name), line["short"], line["judged"])))


def _subgroup(one: Document) -> str:
    value, rest = (amount(one[name], one["is_rate"]) for name in ("value", "rest"))
    return (
        f"{one['label']} ({one['rows']:,}): {one['statistic']} {value}, everyone else {rest}; "
        f"at least {apart(one['at_least'], one['is_rate'])} apart"
    )


def _legend(summary: Document, document: Document) -> Text:
    flagged = any(any(group["apart"]) for group in summary["table"]["groups"])
    sides = f"{MARKS[1]} above, {MARKS[-1]} below everyone else beyond chance. " if flagged else ""
    level = f"{document['confidence']:.0%} confidence."
    of_class = summary["table"]["of_class"]
    unnamed = of_class is not None and document["favorable"] is None
    rates = f"Rates of “{plain(of_class)}”. " if unnamed else ""
    if of_class is None and document["task"] != "regression":
        rates = "In quotes: the share predicted to be of that class. "
    return Text(f"{rates}{sides}{level} Everything: --full, --html.", style="dim")


def _show_all(document: Document, console: Console) -> None:
    """Every table of the audit."""
    console.print(Padding(_about(document), (1, 0, 0, 0)), style="dim")
    console.print(Padding(findings(document, console.width), (1, 0), expand=False))
    for title, body in (
        ("Furthest apart beyond chance", furthest(document, console.width)),
        ("Cannot tell", listed(_unknown(document))),
        ("Subgroups apart from everyone else", subgroups(document)),
        ("Too few rows to say", listed(_too_few(document))),
        ("Left out", listed(_left_out(document))),
        ("Notes", listed([plain(note) for note in document["notes"]])),
    ):
        if body.row_count:
            console.print(Text(title, style="bold"))
            console.print(Padding(body, (0, 0, 1, 2), expand=False))


def findings(document: Document, width: int) -> Table:
    """A line for each criterion and measure; what gates say of it stands beside the verdict."""
    narrow = width < NARROW
    between = "–" if narrow else " – "
    level = f"{document['confidence']:.0%} interval"
    gated = any(finding["judged"] for finding in document["findings"])
    heads = ("criterion", "measure", "value", level, "p", "verdict", *(["gate"] if gated else []))
    table = columns(*heads, right=(2, 4), whole=(0, 1, 3))
    for column in table.columns[5:]:
        column.min_width = LONGEST_WORD
    for name, rows in groupby(document["findings"], key=lambda finding: str(finding["criterion"])):
        many = list(rows)
        lines = folded(name, 18 if narrow else 40)
        beside = [*lines[: len(many) - 1], "\n".join(lines[len(many) - 1 :]), *[""] * len(many)]
        for finding, text in zip(many, beside, strict=False):
            table.add_row(Text(text), *_finding(finding, between, gated))
    return table


def _finding(finding: Document, between: str, gated: bool) -> list[str | Text]:
    words = [finding["verdict"], *([finding["judged"] or ""] if gated else [])]
    return [
        finding["measure"],
        number(finding["value"]),
        between.join((number(finding["low"]), number(finding["high"]))),
        p_value(finding["p_adjusted"]),
        *(Text(word, style=STYLES.get(word, "")) for word in words),
    ]


def furthest(document: Document, width: int) -> Table:
    """For each criterion by which groups differ, the two that are furthest apart beyond chance."""
    table = columns("criterion", "cell", "lowest", "", "highest", "", right=(3, 5), whole=(0,))
    seen = set()
    for finding in document["findings"]:
        unsure = finding["pair"] is None or finding["verdict"] != "differs"
        if unsure or finding["criterion"] in seen:
            continue
        seen.add(finding["criterion"])
        low, high = finding["pair"]["low"], finding["pair"]["high"]
        table.add_row(
            Text("\n".join(folded(finding["criterion"], 18 if width < NARROW else 40))),
            cell(finding["pair"]["cell"]),
            Text(plain(low["group"])),
            number(low["value"]),
            Text(plain(high["group"])),
            number(high["value"]),
        )
    return table


def subgroups(document: Document) -> Table:
    """The subgroups that differ for more than chance, the worst first, and what that means."""
    heads = ("subgroup", "rows", "statistic", "value", "rest", "apart by at least")
    table = columns(*heads, right=(1, 3, 4, 5))
    flagged = [subgroup for subgroup in document["subgroups"] if subgroup["flagged"]]
    for subgroup in flagged[:MOST]:
        table.add_row(
            Text(plain(subgroup["label"])),
            f"{subgroup['rows']:,}",
            Text(plain(subgroup["statistic"])),
            number(subgroup["value"]),
            number(subgroup["rest"]),
            number(subgroup["at_least"]),
        )
    if len(flagged) > MOST:
        table.add_row(Text(f"and {document['scan']['flagged'] - MOST} more", style="dim"))
    if flagged:
        table.caption = Text(document["scan"]["sentence"], style="dim")
        table.caption_justify = "left"
    return table


def gates(judgements: Sequence[Judgement]) -> Table:
    """What became of every gate."""
    table = columns("")
    table.show_header = False
    for judgement in judgements:
        table.add_row(Text(judgement.sentence, style=STYLES[judgement.outcome]))
    return table


def listed(lines: Sequence[str]) -> Table:
    """Some lines, and how many more there are."""
    table = columns("")
    table.show_header = False
    for line in lines[:MOST]:
        table.add_row(Text(line))
    if len(lines) > MOST:
        table.add_row(Text(f"and {len(lines) - MOST} more", style="dim"))
    return table


def _left_out(document: Document) -> list[str]:
    """Groups in which a criterion is not defined; they are not compared there."""
    undefined: dict[str, dict[str, None]] = {}
    for finding in document["findings"]:
        gaps = undefined.setdefault(finding["criterion"], {})
        for gap in finding["left_out"]:
            gaps[f"{plain(gap['group'])} (at {plain(gap['cell'])})"] = None
    return [
        f"{criterion} is undefined for {', '.join(list(gaps)[:FEW])}"
        + (f" and {len(gaps) - FEW} more" if len(gaps) > FEW else "")
        for criterion, gaps in undefined.items()
        if gaps
    ]


def _unknown(document: Document) -> list[str]:
    """What these rows cannot tell, and how many would."""
    conclusions = {
        finding["criterion"]: finding["conclusion"]
        for finding in document["findings"]
        if finding["verdict"] == "cannot tell"
    }
    same = "These rows cannot tell: the groups"
    return [
        f"{name}: {plain(text).replace(same, 'the groups')}" for name, text in conclusions.items()
    ]


def _too_few(document: Document) -> list[str]:
    """The groups whose rows could not have shown a difference that matters, in a sentence."""
    return [plain(document["too_few"]["sentence"])] if document["too_few"]["groups"] else []


def _title(document: Document) -> str:
    return plain(document["title"] or "Audit")


def _about(document: Document) -> Text:
    return Text(", ".join(_facts(document)) + ".\n" + _how_to_read(document))


def _facts(document: Document) -> Iterator[str]:
    yield f"{document['rows']:,} rows"
    by = plain(" × ".join(document["group_columns"]))
    yield f"{len(document['groups']):,} groups by {by}"
    yield document["task"]
    if document["favorable"] is not None:
        yield f"favorable label {plain(document['favorable'])}"
    if document["weighted"]:
        yield "weighted"


def _equal(document: Document) -> str:
    ratios = {finding["measure"] == "ratio" for finding in document["findings"]}
    if ratios == {True}:
        return "1: the groups are equal; smaller: less so."
    return f"0: the groups are equal; larger: less so{' (ratio: 1 is equal)' * (True in ratios)}."


def _how_to_read(document: Document) -> str:
    many = document["multiplicity"]
    margins = {
        finding["margin"] for finding in document["findings"] if finding["verdict"] == "alike"
    }
    meanings = {
        "differs": "differs: the groups are not all alike",
        "alike": f"alike: within {' or '.join(map(number, sorted(margins)))} of each other",
        "cannot tell": "cannot tell: too few rows, which is not evidence of equality",
    }
    asked = plural(many["hypotheses"], "hypothesis", "hypotheses")
    verdicts = {finding["verdict"] for finding in document["findings"]}
    return (
        f"{_equal(document)} "
        f"p: adjusted ({many['method']}) for {asked}."
        f"\n{'; '.join(text for verdict, text in meanings.items() if verdict in verdicts)}."
    )
