"""Counters as a service exposes them, in the text format of Prometheus: a line for each cell.

`decisions_total{group="a",decision="1"} 123` is a line of the columns "group", "decision" and
"decisions_total". Lines of other metrics, comments, time stamps and exemplars are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand._errors import InputError
from evenhand._files.text_files import typed
from evenhand._words import did_you_mean

LABEL = r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\\n]|\\.)*)"\s*'
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?i:inf|infinity|nan)"
SAMPLE = re.compile(
    rf"(?P<name>[a-zA-Z_:][\w:]*)"
    rf"(?:\s*\{{(?P<labels>\s*|{LABEL}(?:,{LABEL})*(?:,\s*)?)\}}\s*|\s+)"
    rf"(?P<value>{NUMBER})(?:\s.*)?"
)
ESCAPES = {"n": "\n", "\\": "\\", '"': '"'}


def counter_table(database: Any, paths: list[Path], columns: Sequence[str] | None) -> Any:
    """A relation over one metric: its labels, and its value under its name, as in `columns`."""
    import pyarrow as pa

    all_samples = [sample for path in paths for sample in samples(path)]
    names = list(dict.fromkeys(name for name, _, _ in all_samples))
    metrics = [name for name in names if name in (columns or ())]
    if len(metrics) != 1:
        hint = next((did_you_mean(name, names) for name in columns or () if name), "")
        raise InputError(
            f"{paths[0]} has the metrics {names[:20]}: name one of them, that counts rows, by "
            f"--rows.{hint}"
        )
    lines = [
        {**labels, metrics[0]: value} for name, labels, value in all_samples if name == metrics[0]
    ]
    header = list(dict.fromkeys(column for line in lines for column in line))
    text = {column: [line.get(column) or None for line in lines] for column in header}
    database.register("counters", pa.table({k: pa.array(v, pa.string()) for k, v in text.items()}))
    return typed(database, "counters", columns)


def samples(path: Path) -> Iterator[tuple[str, dict[str, str], str]]:
    """The name, labels and value of every line of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as failure:
        raise InputError(f"{path} cannot be read as text: {failure}.") from failure
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        sample = SAMPLE.fullmatch(line.strip())
        if sample is None:
            raise InputError(
                f"{path} is not in the text format of Prometheus: line {number} is {line[:80]!r}."
            )
        labels = re.findall(LABEL, sample["labels"] or "")
        by_label = {label: _unescaped(value) for label, value in labels}
        if len(by_label) < len(labels):
            raise InputError(f"{path} has a label twice in line {number}: {line[:80]!r}.")
        yield sample["name"], by_label, sample["value"]


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[0]), value)
