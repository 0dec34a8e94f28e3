"""Workbooks of Excel: the first sheet, whose first row is the header.

An .xlsx file is a zip of XML. Values are read as the text in the cells, and a column
is numbers only if all of them are, as in CSV. Dates are stored as numbers of days, and stay so.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

from evenhand._errors import InputError
from evenhand._files.text_files import typed

Part = TypeVar("Part", str, list[str | None])

SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
STRINGS = "xl/sharedStrings.xml"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MOST_UNPACKED = 2 * 2**30  # bytes; a small zip can hold a mountain of zeros
BYTES_OF_CELL = 64  # overhead of a cell in addition to its text, and of a row
TRUTH = {"0": "false", "1": "true"}


def excel_table(database: Any, paths: list[Path], columns: Sequence[str] | None) -> Any:
    """A relation over the first sheets of workbooks, whose headers are the same."""
    import pyarrow as pa

    header: list[str] | None = None
    lines: list[list[str | None]] = []
    for path in paths:
        names, rows = sheet(path)
        if header is not None and names != header:
            raise InputError(f"{path} has other columns than {paths[0]}: {names[:20]}.")
        header = names
        lines += rows
    cells = [*zip(*lines, strict=True)] if lines else [() for _ in header or ()]
    texts = {
        name: pa.array(values, pa.string())
        for name, values in zip(header or (), cells, strict=True)
    }
    database.register("workbook", pa.table(texts))
    return typed(database, "workbook", columns)


def sheet(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """The header and the rows of the first sheet."""
    try:
        with zipfile.ZipFile(path) as book:
            if sum(entry.file_size for entry in book.infolist()) > MOST_UNPACKED:
                raise _too_large(path)
            shared = list(_small_enough(_shared(book), path))
            cells = _small_enough(_rows(book, shared), path)
            rows = [row for row in cells if any(cell is not None for cell in row)]
    except (zipfile.BadZipFile, ET.ParseError, LookupError, ValueError, EOFError) as failure:
        if isinstance(failure, InputError):
            raise
        raise InputError(f"{path} cannot be read as a workbook of Excel: {failure}.") from failure
    if not rows:
        raise InputError(f"The first sheet of {path} is empty: it has no header and no rows.")
    names = [name or "" for name in rows[0]]
    while names and not names[-1]:
        names.pop()
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or "" in names:
        raise InputError(
            f"The header of {path} names {twice or ''!r} twice, or a column not at all."
        )
    for number, row in enumerate(rows[1:], 2):
        if any(cell is not None for cell in row[len(names) :]):
            raise InputError(f"Row {number} of {path} has more values than the header has names.")
    width = len(names)
    return names, [[*row[:width], *[None] * (width - len(row))] for row in rows[1:]]


def _small_enough(parts: Iterable[Part], path: Path) -> Iterator[Part]:
    """The same texts or rows; refused if they take more memory than a workbook may."""
    remaining = MOST_UNPACKED
    for part in parts:
        texts = [part] if isinstance(part, str) else part
        remaining -= BYTES_OF_CELL * (1 + len(texts)) + sum(len(text) for text in texts if text)
        if remaining < 0:
            raise _too_large(path)
        yield part


def _too_large(path: Path) -> InputError:
    return InputError(f"{path} unpacks to more than 2 GiB; save the sheet as CSV.")


def _shared(book: zipfile.ZipFile) -> Iterator[str]:
    """The texts that cells refer to by number."""
    if STRINGS not in book.namelist():
        return
    with book.open(STRINGS) as file:
        for _, part in ET.iterparse(file):
            if part.tag == f"{SPACE}si":
                yield _text(part)
                part.clear()


def _rows(book: zipfile.ZipFile, shared: Sequence[str]) -> Iterator[list[str | None]]:
    with book.open(_first_sheet(book)) as file:
        for _, part in ET.iterparse(file):
            if part.tag != f"{SPACE}row":
                continue
            row: list[str | None] = []
            for cell in part.iter(f"{SPACE}c"):
                at = _column(cell.get("r", ""), len(row))
                row += [None] * (at + 1 - len(row))
                row[at] = _value(cell, shared)
            part.clear()
            yield row


def _first_sheet(book: zipfile.ZipFile) -> str:
    """The file of the workbook's first sheet."""
    sheets = ET.fromstring(book.read("xl/workbook.xml")).iter(f"{SPACE}sheet")
    first = next(sheets, None)
    files = ET.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    target = {relation.get("Id"): relation.get("Target", "") for relation in files}[
        None if first is None else first.get(RELATION)
    ]
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _column(reference: str, following: int) -> int:
    """The place of a cell in its row.

    >>> _column("A1", 0), _column("AB7", 0), _column("", 3)
    (0, 27, 3)
    """
    letters = re.match(r"[A-Z]{1,3}", reference)
    if letters is None:
        return following
    at = 0
    for letter in letters[0]:
        at = 26 * at + ord(letter) - 64
    return at - 1


def _value(cell: ET.Element, shared: Sequence[str]) -> str | None:
    """The text of a cell; None if it is empty or an error such as #N/A."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _text(cell) or None
    value = cell.findtext(f"{SPACE}v")
    if value is None or kind == "e":
        return None
    if kind == "s":
        return shared[int(value)] or None
    if kind == "b":
        return TRUTH.get(value, value)
    if kind == "n" and re.fullmatch(r"-?\d+\.0+", value):
        return value.partition(".")[0]
    return value or None


def _text(part: ET.Element) -> str:
    """All runs of a text, without phonetic guides."""
    runs = (
        run.text or ""
        for child in part
        if child.tag != f"{SPACE}rPh"
        for run in child.iter(f"{SPACE}t")
    )
    return "".join(runs)
