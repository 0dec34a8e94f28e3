"""A report as Markdown, in which no name can be markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand._words import escaped, markdown_table, visible
from evenhand.report.blocks import (
    Bullets,
    Fold,
    Heading,
    Report,
    Section,
    Steps,
    Table,
    Terms,
    Text,
)

MAX_ROWS = 60


def markdown(report: Report) -> str:
    """The whole report; what is closed on a page is folded here too."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    yield f"**{escaped(report.lede)}** {escaped(' '.join(report.about))}".rstrip()
    if report.claim:
        yield escaped(report.claim)
    for block in report.facts:
        yield from paragraphs(block)
    for section in report.sections:
        yield from section_parts(section)


def section_parts(section: Section) -> Iterator[str]:
    """A section under its heading; nothing where all of it is drawn."""
    parts = [part for block in section.in_text for part in paragraphs(block)]
    if parts and section.is_titled:
        yield f"## {escaped(section.title)}"
    yield from parts


def paragraphs(block: Any) -> Iterator[str]:
    """A block, in paragraphs; charts and what is made for pages alone are left out."""
    match block:
        case Text(text=text, kind=kind) if text:
            yield f"**{escaped(text)}**" if kind == "strong" else escaped(text)
        case Heading(text=text):
            yield f"### {escaped(text)}"
        case Bullets(items=items, head=head) if items:
            if head:
                yield escaped(head)
            yield "\n".join(f"- {escaped(item)}" for item in items)
        case Steps(items=items) if items:
            yield "\n".join(
                f"{number}. **{escaped(step.found)}** {escaped(step.remedy)}"
                + (f" {escaped(step.cost)}" if step.cost else "")
                + (f"\n   `{_code(step.call)}`" if step.call else "")
                for number, step in enumerate(items, 1)
            )
        case Terms(pairs=pairs) if pairs:
            yield "\n".join(f"- {escaped(name)}: {escaped(text or '')}" for name, text in pairs)
        case Table():
            yield from _table(block)
        case Fold(title=title, blocks=blocks):
            yield f"<details><summary>{escaped(title)}</summary>"
            for part in blocks:
                yield from paragraphs(part)
            yield "</details>"


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield f"**{escaped(table.caption)}**"
    rows = [*table.rows[:MAX_ROWS], *table.foot]
    heads = [escaped(head.name) for head in table.heads]
    yield markdown_table(heads, [_texts(row.cells) for row in rows])
    hidden = len(table.rows) - MAX_ROWS
    note = f"{hidden:,} more rows are not shown." if hidden > 0 else table.more
    if note:
        yield escaped(note)


def _texts(cells: Sequence[Any]) -> list[str]:
    return [f"{cell.marked} {cell.under}".strip() for cell in cells]


def _code(call: str) -> str:
    """A call in a code span, which no backtick ends early."""
    return visible(call).replace("`", "'")
