"""A watch as a report's document and as OpenMetrics text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from evenhand._data.groups import show
from evenhand._result import json_number
from evenhand.watch.ledger import day_name
from evenhand.watch.look import Look, status_of
from evenhand.watch.memory import Memory
from evenhand.watch.rates import is_mean
from evenhand.watch.status import Status

SCHEMA = "evenhand.watch-report/1"
MOST_POINTS = 60  # of a timeline
Samples = list[tuple[dict[str, str], float]]


def document_of(memory: Memory) -> dict[str, Any]:
    """The status, every criterion and the groups' rates over time, as JSON values."""
    look = Look(memory)
    status = status_of(memory).document()
    criteria = []
    for finding in status["findings"]:
        question = look.question(finding["criterion"])
        needs = look.source(question)
        sums = list(memory.ledger.until(*look.tables(question)))
        step = max(ceil(len(sums) / MOST_POINTS), 1)
        shown = sums[(len(sums) - 1) % step :: step]
        rates_by_day = [(day_name(day), look.gaps(question, part).rates) for day, part in shown]
        times = {
            measure: [_point(day, look.interval(rates, measure)) for day, rates in rates_by_day]
            for measure in question.measures
        }
        spans = sorted(memory.ledger.spans.get(needs, {}).items())
        rates_by_span = [(span, look.rates(part, question)) for span, part in spans]
        width, first = memory.ledger.width, memory.ledger.first or 1
        shares = [
            {
                "day": day_name(max(span * width, first)),
                "rates": [
                    [show(cell), show(group), json_number(rates.values[i, j]), rates.sizes[i, j]]
                    for i, cell in enumerate(rates.cells)
                    for j, group in enumerate(rates.groups)
                    if rates.sizes[i, j]
                ],
            }
            for span, rates in rates_by_span
        ]
        criteria.append(
            {
                "name": finding["criterion"],
                "asks": question.criterion.asks,
                "is_rate": not is_mean(question),
                "unit": "cluster" if needs.startswith("means ") else "row",
                "timelines": times,
                "spans": shares,
                "bounds": {
                    gate.measure: gate.bound
                    for gate in memory.settings.gates
                    if gate.criterion == question.name
                },
            }
        )
    return {
        **status,
        "schema": SCHEMA,
        "span_days": memory.ledger.width,
        "quiet_days": memory.settings.quiet_days,
        "criteria": criteria,
        "history": [list(row) for row in memory.history],
    }


def openmetrics(status: Status) -> str:
    """The status for a scraper."""
    families: dict[str, tuple[str, Samples]] = {
        "evenhand_watch_value": ("Inequality within parts so far.", _values(status, "value")),
        "evenhand_watch_low": ("Lower end, valid at all looks.", _values(status, "low")),
        "evenhand_watch_high": ("Upper end, valid at all looks.", _values(status, "high")),
        "evenhand_watch_e_value": (
            "Evidence against equality of all groups.",
            [({"criterion": each.criterion}, each.e_value) for each in status.findings],
        ),
        "evenhand_watch_differs": (
            "1 once groups were shown to differ.",
            [({"criterion": f.criterion}, float(f.verdict == "differs")) for f in status.findings],
        ),
        "evenhand_watch_bound_violated": (
            "1 if the whole interval lies beyond the bound.",
            [
                ({"bound": str(each.gate)}, float(each.outcome == "violation"))
                for each in status.judgements
            ],
        ),
        "evenhand_watch_changed": (
            "1 if a gap was shown to have changed.",
            [
                ({"criterion": each.criterion, "against": each.against}, float(each.changed))
                for each in status.changes
            ],
        ),
        "evenhand_watch_rate": ("Rate of a group, all parts together.", list(_rates(status))),
        "evenhand_watch_rows": ("Rows counted.", [({}, float(status.rows))]),
        "evenhand_watch_parts": ("Parts counted.", [({}, float(status.parts))]),
    }
    lines = []
    for name, (about, samples) in families.items():
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {about}"]
        lines += [f"{name}{_labels(labels)} {_value(value)}" for labels, value in samples]
    return "\n".join([*lines, "# EOF", ""])


def _point(day: str, interval: Any) -> dict[str, Any]:
    ends = {name: json_number(getattr(interval, name)) for name in ("value", "low", "high")}
    return {"day": day, **ends}


def _values(status: Status, end: str) -> list[tuple[dict[str, str], float]]:
    return [
        ({"criterion": finding.criterion, "measure": measure}, getattr(interval, end))
        for finding in status.findings
        for measure, interval in finding.intervals.items()
    ]


def _rates(status: Status) -> Iterator[tuple[dict[str, str], float]]:
    for finding in status.findings:
        for rate in finding.rates:
            labels = {
                "criterion": finding.criterion,
                "cell": show(rate.cell),
                "group": show(rate.group),
            }
            yield labels, rate.rate


def _labels(labels: Mapping[str, str]) -> str:
    r"""Labels with backslashes, quotes and line ends escaped.

    >>> _labels({"group": 'a "b"'})
    '{group="a \\"b\\""}'
    """
    if not labels:
        return ""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    texts = (
        f'{key}="{"".join(escapes.get(character, character) for character in value)}"'
        for key, value in labels.items()
    )
    return "{" + ",".join(texts) + "}"


def _value(value: float) -> str:
    return "NaN" if value != value else repr(float(value))
