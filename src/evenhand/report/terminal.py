"""A report as lines of text, for `print` and the terminal; a caller may color them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

from evenhand._words import plain, plural, shortened
from evenhand.report.blocks import (
    MARKS,
    Bullets,
    Cell,
    Fold,
    Head,
    Heading,
    Report,
    Row,
    Section,
    Steps,
    Table,
    Terms,
    Text,
)

WIDTH = 100
MAX_LINES = 40  # of a summary
MAX_ROWS = 20
MIN_ROWS = 2
MAX_FOLDED = 60
MIN_LABEL = 14
FEW = 3
LONGEST_HEAD = 12
INDENT = "  "
POINTS = " pts"
WORDS, PARTS = re.compile(r" +|[^ ]+"), re.compile(r"[^_]+_*|_+")


class Line(NamedTuple):
    """A line and its style: "title", "strong", "quiet", or the kind of a verdict."""

    text: str
    style: str = ""


def lines(report: Report, *, width: int = WIDTH, full: bool = False) -> list[Line]:
    """The report in lines; a summary of a screen, or everything.

    A summary has at most `MAX_LINES` where tables that are elastic can give up lines.
    """
    for limit in range(MAX_ROWS, MIN_ROWS - 1, -1):
        lines_of_report = list(_report(report, width, limit, full))
        if full or len(lines_of_report) <= MAX_LINES:
            break
    return lines_of_report


def _report(report: Report, width: int, limit: int, full: bool) -> Iterator[Line]:
    yield from _wrapped(report.title, width, "title")
    yield from _wrapped(report.lede, width, "strong")
    if report.about:
        yield from _wrapped(" ".join(report.about), width)
    if report.claim and full:
        yield from _wrapped(report.claim, width)
    for block in report.facts:
        yield from _block(block, width, limit, full)
    for section in report.sections:
        yield from _section(section, width, limit, full)


def _section(section: Section, width: int, limit: int, full: bool) -> Iterator[Line]:
    is_brief = not full and section.brief is not None
    blocks = section.brief if is_brief and section.brief is not None else section.in_text
    content = [line for block in blocks for line in _block(block, width, limit, full)]
    if content and section.is_titled and not is_brief:
        yield Line("")
        yield Line(plain(section.title), "title")
    yield from content


def _block(block: Any, width: int, limit: int, full: bool) -> Iterator[Line]:
    match block:
        case Text(text=text, kind=kind) if text:
            yield from _wrapped(text, width, kind)
        case Heading(text=text):
            yield Line(plain(text), "strong")
        case Bullets() if block.items:
            yield from _bullets(block, width, len(block.items) if full else _room(limit))
        case Steps(items=items):
            for number, step in enumerate(items if full else items[: _room(limit)], 1):
                text_of_step = f"{number}. {step.found} {step.remedy} {step.cost}".rstrip()
                yield from _wrapped(text_of_step, width, hang="   ")
                if step.call and full:
                    yield Line(f"   {plain(step.call)}", "quiet")
        case Terms(pairs=pairs):
            for name, meaning in pairs:
                yield from _wrapped(f"{name}: {meaning or '…'}", width, hang=INDENT)
        case Table():
            yield from _table(block, width, limit if block.elastic and not full else MAX_FOLDED)
        case Fold(title=title, blocks=blocks) if full:
            yield Line("")
            yield Line(plain(title), "strong")
            for part in blocks:
                yield from _block(part, width, limit, full)


def _room(limit: int) -> int:
    """How many items of a list fit next to a table with `limit` lines."""
    if limit == MAX_ROWS:
        return MAX_FOLDED
    return FEW if limit > 4 * MIN_ROWS else FEW - 1 if limit > 2 * MIN_ROWS else 1


def _bullets(block: Bullets, width: int, limit: int) -> Iterator[Line]:
    if block.head:
        yield from _wrapped(block.head, width, block.kind)
    mark = INDENT if block.head else "• "
    items = [plain(item) for item in block.items[: limit if block.columns == 1 else None]]
    half = width // block.columns - 2
    if block.columns == 1 or max(map(columns_of, items)) > half - len(mark):
        for item in items:
            yield from _wrapped(f"{mark}{item}", width, "" if block.head else block.kind, INDENT)
        return
    for i in range(0, len(items), block.columns):
        cells = [_padded(f"{mark}{item}", half) for item in items[i : i + block.columns]]
        yield Line(" ".join(cells).rstrip())


def _table(table: Table, width: int, limit: int) -> Iterator[Line]:
    rows, hidden = list(table.rows), 0
    if len(rows) > limit:
        visible = sorted(sorted(range(len(rows)), key=lambda i: _weight(rows[i]))[:limit])
        hidden, rows = len(rows) - limit, [rows[i] for i in visible]
    fixed = [head.is_number for head in table.heads]
    heads = [_head(head) for head in table.heads]
    texts = [_texts(row, fixed) for row in (*rows, *table.foot)]
    places = _widths([heads, *texts], fixed, width)
    if table.caption:
        yield Line(plain(table.caption), "strong")
    for line in _aligned(heads, places, fixed):
        yield Line(line, "title")
    remainder = Line(
        f"and {plural(hidden, f'more {table.elastic}' if table.elastic else 'more row')}"
    )
    for number, (row, cells) in enumerate(zip((*rows, *table.foot), texts, strict=True)):
        if number == len(rows) and hidden:
            yield remainder._replace(style="quiet")
        kinds = [cell.kind for cell in row.cells if cell.kind]
        style = "quiet" if number >= len(rows) else kinds[0] if kinds else ""
        for line in _aligned(cells, places, fixed):
            yield Line(line, style)
    if hidden and not table.foot:
        yield remainder._replace(style="quiet")
    if table.more and not hidden:
        yield from _wrapped(table.more, width, "quiet")


def _head(head: Head) -> str:
    title = head.short or head.name
    return f"{shortened(title, LONGEST_HEAD)} " if head.is_number else title


def _texts(row: Row, fixed: Sequence[bool]) -> list[str]:
    """The cells of a row; a unit that all its numbers share is given once, with its name."""
    cells = [_text(cell, is_number) for cell, is_number in zip(row.cells, fixed, strict=True)]
    numbers = [cell.strip() for cell, is_fixed in zip(cells, fixed, strict=True) if is_fixed]
    if any(numbers) and all(number.endswith(POINTS) for number in numbers if number):
        cells = [cell.replace(POINTS, "") for cell in cells]
        cells[0] += ", pts"
    return cells


def _text(cell: Cell, is_number: bool) -> str:
    text = plain(cell.text) if cell.text else ""
    if is_number:
        under = f" ({plain(cell.under)})" if cell.under else ""
        return f"{text}{under}{MARKS[cell.side] or ' '}"
    return f"{text} {MARKS[cell.side]} {plain(cell.under) if cell.under else ''}".strip()


def _aligned(cells: Sequence[str], places: Sequence[int], fixed: Sequence[bool]) -> Iterator[str]:
    """A row of a table, in as many lines as its longest cell takes."""
    columns = list(zip(cells, places, fixed, strict=True))
    parts = [[cell] if is_fixed else _broken(cell, place) for cell, place, is_fixed in columns]
    for at in range(max(map(len, parts))):
        row = (part[at] if at < len(part) else "" for part in parts)
        padded = (
            _padded(cell, place, right=is_fixed)
            for cell, (_, place, is_fixed) in zip(row, columns, strict=True)
        )
        yield " ".join(padded).rstrip()


def _weight(row: Row) -> int:
    """Rows with weight or marks come before others; of equal ones, the first."""
    return -row.weight - sum(bool(cell.side) for cell in row.cells)


def _widths(texts: Sequence[Sequence[str]], fixed: Sequence[bool], width: int) -> list[int]:
    """How wide each column is: numbers whole, and words share what is left."""
    places = [max(columns_of(row[i]) for row in texts) for i in range(len(fixed))]
    room = (
        width
        - len(places)
        + 1
        - sum(p for p, is_fixed in zip(places, fixed, strict=True) if is_fixed)
    )
    words = [i for i, is_fixed in enumerate(fixed) if not is_fixed]
    while words and sum(places[i] for i in words) > max(room, MIN_LABEL * len(words)):
        widest = max(words, key=lambda i: places[i])
        places[widest] -= 1
    return places


def _wrapped(text: str, width: int, style: str = "", hang: str = "") -> Iterator[Line]:
    head = text[: len(text) - len(text.lstrip())]
    for line in _broken(plain(text), width - 1, hang):
        yield Line(f"{head}{line}" if not line.startswith(head) else line, style)


def _broken(text: str, width: int, hang: str = "") -> list[str]:
    """Text in lines of a width, broken at spaces, or within words too long."""
    result, width = [""], max(width, MIN_LABEL)
    pieces = (
        piece
        for word in WORDS.findall(text)
        for piece in (PARTS.findall(word) if columns_of(word) > width else [word])
    )
    for piece in pieces:
        if columns_of(result[-1]) + columns_of(piece) > width:
            if piece.isspace():
                continue
            result = (
                [*result[:-1], result[-1].rstrip(), hang]
                if result[-1].strip()
                else [*result[:-1], hang]
            )
        for letter in piece:
            if columns_of(result[-1]) + columns_of(letter) > width:
                result.append(hang)
            result[-1] += letter
    return result


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> columns_of("abc"), columns_of("日本")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    gap = " " * max(0, width - columns_of(text))
    return f"{gap}{text}" if right else f"{text}{gap}"
