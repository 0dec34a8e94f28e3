"""An audit on the terminal: findings, who is most surely apart, what was left out, the gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand._audit.gate import Judgement
from evenhand._words import number, p_value, plural
from evenhand.cli.terminal import NARROW, cell, columns, folded, plain

Document = dict[str, Any]

MOST = 8
FEW = 3
LONGEST_WORD = len("inconclusive")
STYLES = {
    "differs": "red",
    "exceeds": "red",
    "violation": "red",
    "error": "red",
    "inconclusive": "yellow",
    "undefined": "dim",
    "alike": "green",
    "cannot tell": "yellow",
    "within tolerance": "green",
    "pass": "green",
}


def show(document: Document, judgements: Sequence[Judgement], console: Console) -> None:
    """Print the audit; what it says in full is in its other formats."""
    console.print(Text(_title(document), style="bold"))
    console.print(_about(document), style="dim")
    console.print(Padding(findings(document, console.width), (1, 0), expand=False))
    for title, body in (
        ("Most surely apart", furthest(document, console.width)),
        ("Cannot tell", listed(_unknown(document))),
        ("Subgroups that differ from the rest", subgroups(document)),
        ("Too few rows to say", listed(_too_few(document))),
        ("Left out", listed(_left_out(document))),
        ("Notes", listed([plain(note) for note in document["notes"]])),
        ("Gates", gates(judgements)),
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
    """For each criterion by which groups differ, the two that are most surely apart."""
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


def _how_to_read(document: Document) -> str:
    many = document["multiplicity"]
    margins = {
        finding["margin"] for finding in document["findings"] if finding["verdict"] == "alike"
    }
    meanings = {
        "differs": "differs: the groups are not all alike",
        "alike": f"alike: within {' or '.join(map(number, sorted(margins)))} of each other",
        "cannot tell": "cannot tell: too few rows, which is no acquittal",
    }
    asked = plural(many["hypotheses"], "hypothesis", "hypotheses")
    found = {finding["verdict"] for finding in document["findings"]}
    return (
        "0: the groups are equal; larger: less so. "
        f"p: adjusted ({many['method']}) for {asked}."
        f"\n{'; '.join(text for verdict, text in meanings.items() if verdict in found)}."
    )
