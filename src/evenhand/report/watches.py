"""The parts of a watch's page: each criterion over time, and its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import number, p_value, plural
from evenhand.report.charts.svg import Scale
from evenhand.report.charts.times import band_over_time, days_scale, rates_over_time
from evenhand.report.formats import measure_name, words

MOST_GROUPS = 24
SAID = {"violation": "violated since", "pass": "kept since", "differs": "differs since"}


def lede(document: Mapping[str, Any]) -> list[str]:
    """What matters first, in sentences."""
    findings = document["findings"]
    apart = [each for each in findings if each["verdict"] == "differs"]
    violated = [each for each in document["gates"] if each["outcome"] == "violation"]
    sentences = [
        f"The bound {gate['gate']} has been violated since {gate['since']}." for gate in violated
    ]
    sentences += [
        f"{words(each['criterion'])}: groups are not alike, as is clear since {each['since']}."
        for each in apart
    ]
    if not sentences:
        sentences = ["No bound is violated, and no group is shown to be treated otherwise so far."]
    return sentences + [each["sentence"] for each in changes(document) if each["changed"]]


def changes(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was looked for, found or not, with criteria in words."""
    return [
        {
            **each,
            "sentence": each["sentence"].replace(each["criterion"], words(each["criterion"]), 1),
        }
        for each in document["changes"]
    ]


def table(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each criterion and measure."""
    gates = {each["gate"].partition(" ")[0]: each for each in document["gates"]}
    lines = []
    for finding in document["findings"]:
        for at, (measure, found) in enumerate(finding["measures"].items()):
            gate = gates.get(f"{finding['criterion']}.{measure}")
            lines.append(
                {
                    "criterion": words(finding["criterion"]) if at == 0 else "",
                    "verdict": finding["verdict"] if at == 0 else "",
                    "kind": "beyond" if finding["verdict"] == "differs" else "",
                    "since": (finding["since"] or "") if at == 0 else "",
                    "p": p_value(finding["p_value"]) if at == 0 else "",
                    "measure": measure_name(measure),
                    "value": number(found["value"]),
                    "interval": f"{number(found['low'])} to {number(found['high'])}",
                    "bound": "" if gate is None else gate["gate"].split(" ", 1)[1],
                    "outcome": "" if gate is None else gate["outcome"],
                }
            )
    return lines


def criteria(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Charts of each criterion."""
    findings = {each["criterion"]: each for each in document["findings"]}
    gates = {each["gate"].partition(" ")[0]: each for each in document["gates"]}
    parts = []
    for at, criterion in enumerate(document["criteria"]):
        finding = findings[criterion["name"]]
        bands = []
        for measure, points in criterion["timelines"].items():
            gate = gates.get(f"{criterion['name']}.{measure}")
            since, said = _marked(gate, finding)
            bands.append(
                {
                    "name": measure_name(measure),
                    "chart": band_over_time(
                        f"w{at}-{measure}",
                        measure_name(measure),
                        points,
                        bound=criterion["bounds"].get(measure),
                        since=since,
                        said=said,
                    ),
                }
            )
        small, more = _small_multiples(f"w{at}", criterion)
        parts.append(
            {
                "ident": f"criterion-{at}",
                "name": words(criterion["name"]),
                "asks": criterion["asks"],
                "bands": bands,
                "groups": small,
                "more": more,
            }
        )
    return parts


def _marked(gate: Mapping[str, Any] | None, finding: Mapping[str, Any]) -> tuple[str | None, str]:
    """Which day is marked in a chart, and what was said from then on."""
    if gate is not None and gate["outcome"] in SAID:
        return gate["since"], f"{SAID[gate['outcome']]} {gate['since']}"
    if finding["verdict"] == "differs":
        return finding["since"], f"{SAID['differs']} {finding['since']}"
    return None, ""


def _small_multiples(ident: str, criterion: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The groups' rates over time, of the last cell: the favorable class, where one is asked."""
    rows = [(span["day"], *rate) for span in criterion["spans"] for rate in span["rates"]]
    cells = list(dict.fromkeys(row[1] for row in rows))
    if not cells:
        return [], ""
    chosen = [row for row in rows if row[1] == cells[-1]]
    days = list(dict.fromkeys(row[0] for row in chosen))
    everyone = [(day, _overall(chosen, day)) for day in days]
    groups: dict[str, list[tuple[str, float]]] = {}
    sizes: dict[str, float] = {}
    for day, _, group, rate, size in chosen:
        groups.setdefault(group, []).append((day, rate))
        sizes[group] = sizes.get(group, 0.0) + size
    shown = sorted(groups, key=lambda group: -sizes[group])[:MOST_GROUPS]
    up = Scale.around([rate for group in shown for _, rate in groups[group]])
    across = days_scale(days)
    charts = [
        {
            "name": group,
            "rows": plural(sizes[group], criterion["unit"]),
            "chart": rates_over_time(
                f"{ident}-g{i}", group, groups[group], everyone, up, across,
                is_rate=criterion["is_rate"],
            ),
        }
        for i, group in enumerate(shown)
    ]  # fmt: skip
    notes = [] if len(cells) == 1 else [f"Shown is {cells[-1]}, of {len(cells)} cells."]
    if len(groups) > len(shown):
        notes.append(f"The {len(shown)} largest of {len(groups)} groups are shown.")
    return charts, " ".join(notes)


def _overall(rows: Sequence[tuple[Any, ...]], day: str) -> float:
    here = [(rate, size) for when, _, _, rate, size in rows if when == day]
    total = sum(rate * size for rate, size in here)
    return float(total / max(sum(size for _, size in here), 1e-9))
