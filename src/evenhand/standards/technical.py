"""Evidence for technical documentation: data, definitions, versions, limits of each number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._words import number, plural
from evenhand.measures import measure_named
from evenhand.standards.profiles import Standard
from evenhand.standards.sample import Subject
from evenhand.standards.tables import Filled, Table, TableColumn


def technical(_: Standard, subject: Subject, __: Mapping[str, Any]) -> Filled:
    """The content of the audit's document, in the order of a file on a system."""
    document = subject.document
    return Filled(
        [_values(document), _definitions(document), _measures(document), _groups(document)],
        [document["summary"]["sentence"]],
        _facts(document),
        document["notes"],
    )


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    origin, multiplicity = document["provenance"], document["multiplicity"]
    versions = [f"{name} {version}" for name, version in origin["versions"].items()]
    favorable = document["favorable"]
    assumed = ", assumed" if document["favorable_assumed"] else ""
    return [
        (
            "Data",
            f"{plural(document['rows'], 'row')} in {plural(len(document['groups']), 'group')}"
            f" by {' × '.join(document['group_columns'])}"
            f"{', weighted' if document['weighted'] else ''}",
        ),
        ("SHA-256 of the data", origin["data"]),
        (
            "Task",
            document["task"] + (f", favorable label {favorable}{assumed}" if favorable else ""),
        ),
        ("Model", origin["model"] or "not recorded: predictions were audited"),
        ("Versions", ", ".join([*versions, f"Python {origin['python']}"])),
        (
            "Confidence",
            f"{100 * document['confidence']:g}% for each interval; verdicts at the level "
            f"{number(multiplicity['level'])}, adjusted ({multiplicity['method']}) for "
            f"{plural(multiplicity['hypotheses'], 'hypothesis', 'hypotheses')}",
        ),
    ]


def _values(document: Mapping[str, Any]) -> Table:
    columns = [
        TableColumn("criterion", "Criterion", "name"),
        TableColumn("measure", "Measure", "text"),
        TableColumn("value", "Value", "number"),
        TableColumn("interval", "Interval", "ratios"),
        TableColumn("p_adjusted", "p, adjusted", "p"),
        TableColumn("verdict", "Verdict", "text"),
    ]
    rows = [
        {
            **finding,
            "measure": _title(finding["measure"]),
            "interval": (finding["low"], finding["high"]),
        }
        for finding in document["findings"]
    ]
    return Table("What was measured", columns, rows)


def _definitions(document: Mapping[str, Any]) -> Table:
    columns = [
        TableColumn("criterion", "Criterion", "name"),
        TableColumn("formula", "Definition; S is the measure", "text"),
        TableColumn("is_not", "What it is not", "text"),
    ]
    rows = [
        {
            "criterion": criterion["name"],
            "formula": criterion["formula"],
            "is_not": criterion["is_not"],
        }
        for criterion in document["criteria"]
    ]
    return Table("Definitions of the criteria", columns, rows)


def _measures(document: Mapping[str, Any]) -> Table:
    columns = [
        TableColumn("measure", "Measure S", "text"),
        TableColumn("formula", "Definition, for the values w of d groups", "text"),
        TableColumn("is_not", "What it is not", "text"),
    ]
    names = dict.fromkeys(finding["measure"] for finding in document["findings"])
    rows = [
        {"measure": _title(name), "formula": resolved.formula, "is_not": resolved.is_not}
        if resolved
        else {"measure": name, "formula": "of the caller's own", "is_not": ""}
        for name, resolved in ((name, measure_named(name)) for name in names)
    ]
    return Table("Definitions of the measures", columns, rows)


def _title(measure: str) -> str:
    resolved = measure_named(measure)
    return measure if resolved is None else resolved.title


def _groups(document: Mapping[str, Any]) -> Table:
    columns = [TableColumn("group", "Group", "text"), TableColumn("rows", "Rows", "count")]
    rows = [{"group": group["label"], "rows": group["rows"]} for group in document["groups"]]
    return Table("The groups", columns, rows)
