"""The audit as Markdown: the summary, fit for a comment on a pull request; all values folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evenhand._words import escaped, markdown_table, number, p_value
from evenhand.report.formats import VERDICTS, words
from evenhand.report.groups import MARKS, amount, apart, group_lines, overall_lines

Document = dict[str, Any]

MOST_GROUPS = 20
MOST_ROWS = 60
FINDING = ("criterion", "measure", "value", "interval", "p adjusted", "verdict")
SUBGROUP = ("subgroup", "rows", "statistic", "value", "everyone else", "at least")


def markdown(document: Document) -> str:
    """An audit's document as Markdown, in which no name can be markup."""
    return "\n\n".join(_parts(document)) + "\n"


def _parts(document: Document) -> Iterator[str]:
    summary = document["summary"]
    yield f"# {escaped(document['title'] or 'Audit')}"
    yield f"**{escaped(summary['sentence'])}** {escaped(summary['about'])}"
    yield groups_table(summary["table"])
    if summary["impact_ratio"]:
        yield escaped(summary["impact_ratio"]["sentence"])
    yield criteria_table(summary["criteria"])
    if document["frontier"]:
        yield from _frontier(document["frontier"])
    if summary["subgroups"]:
        yield "## Subgroups apart from everyone else"
        yield markdown_table(SUBGROUP, map(_subgroup, summary["subgroups"]))
        yield document["scan"]["sentence"]
    if document["too_few"]["groups"]:
        yield f"## Too few rows to say\n\n{escaped(document['too_few']['sentence'])}"
    if document["notes"]:
        yield "## Notes\n\n" + "\n".join(f"- {escaped(note)}" for note in document["notes"])
    yield from _folded(document)


def _frontier(known: Document) -> Iterator[str]:
    """What less disparity would cost, in a line each."""
    yield "## What less disparity would cost"
    if known["sentences"]:
        yield "\n".join(f"- {escaped(sentence)}" for sentence in known["sentences"])
    yield escaped(" ".join(known["notes"]))


def groups_table(table: Document) -> str:
    """The groups × metrics of a summary, the largest groups where there are many."""
    heads = ["group", "n", *map(_head, table["metrics"])]
    lines = [*group_lines(table, MOST_GROUPS), *overall_lines(table)]
    text = markdown_table(heads, [[line.label, line.rows, *line.texts] for line in lines])
    more = len(table["groups"]) - MOST_GROUPS
    if more > 0:
        text += f"\n\n({more:,} more groups not shown)"
    if any(any(group["apart"]) for group in table["groups"]):
        text += f"\n\n{MARKS[1]} above and {MARKS[-1]} below everyone else, beyond chance."
    return text


def _head(metric: Document) -> str:
    """Its name in small letters, unless it is an abbreviation or the name of a class."""
    name = str(metric["name"])
    return name if name in ("MAE", "RMSE", "R²") or name.startswith("“") else name.lower()


def criteria_table(lines: Iterable[Document]) -> str:
    """A line for each criterion: its verdict, and what that means in words."""

    def row(line: Document) -> Sequence[str]:
        judged = f"; {line['judged']}" if line["judged"] else ""
        mark = VERDICTS[line["verdict"]].mark if line["verdict"] in VERDICTS else "·"
        return words(line["name"]), f"{mark} {line['verdict']}{judged}", line["words"]

    return markdown_table(("criterion", "verdict", "in words"), map(row, lines))


def _subgroup(one: Document) -> tuple[str, ...]:
    amounts = (amount(one[name], one["is_rate"]) for name in ("value", "rest"))
    return (
        one["label"],
        f"{one['rows']:,}",
        one["statistic"],
        *amounts,
        apart(one["at_least"], one["is_rate"]),
    )


def _folded(document: Document) -> Iterator[str]:
    """Every value and conclusion, closed until somebody asks."""
    findings = document["findings"]
    gated = any(row["judged"] for row in findings)
    heads = (*FINDING, "tolerance", "judged") if gated else FINDING
    yield "<details><summary>All values by measure</summary>"
    yield _table(heads, [_finding(one, gated) for one in findings])
    conclusions = {row["criterion"]: escaped(row["conclusion"]) for row in findings}
    yield "\n".join(f"- {name}: {text}" for name, text in conclusions.items())
    yield "</details>"
    source, versions = document["provenance"], document["provenance"]["versions"]
    yield f"evenhand {versions['evenhand']}, {source['date']}, data {source['data'][:12]}"


def _finding(one: Document, gated: bool) -> tuple[str, ...]:
    judged = number(one["tolerance"]) if one["judged"] else "", one["judged"] or ""
    return (
        one["criterion"],
        one["measure"],
        number(one["value"]),
        f"{number(one['low'])} to {number(one['high'])}",
        p_value(one["p_adjusted"]),
        one["verdict"],
        *(judged if gated else ()),
    )


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    text, hidden = markdown_table(heads, rows[:MOST_ROWS]), len(rows) - MOST_ROWS
    return f"{text}\n\n({hidden} more not shown)" if hidden > 0 else text
