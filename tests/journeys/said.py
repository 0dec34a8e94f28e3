"""What an audit says, in numbers and in words, held against the brute force."""

from __future__ import annotations

import math
import re
from typing import Any

import evenhand as eh
from evenhand._data.groups import show
from evenhand._words import number
from journeys.generator import Journey, Label
from journeys.oracle import Truth, close, rounding

METRICS = {
    "selection rate": "selection_rate",
    "true positive rate": "true_positive_rate",
    "false positive rate": "false_positive_rate",
    "precision": "precision",
    "accuracy": "accuracy",
}
SELECTED = re.compile(
    r"(?P<low>.+) were selected (?P<part>.+) as often as (?:those of )?(?P<high>.+) "
    r"\((?P<a>\S+) against (?P<b>\S+)\)\.",
    re.DOTALL,
)
HAD = re.compile(
    r"(?P<low>.+) had an? (?P<metric>.+) of (?P<a>\S+), against (?P<b>\S+) "
    r"for (?P<high>.+?)\. The ",
    re.DOTALL,
)
PREDICTED = re.compile(
    r"(?P<first>.+) were (?P<side>over|under)-predicted by (?P<a>\S+) on average, "
    r"(?:those of )?(?P<second>.+) (?P<other>over-predicted|under-predicted|only) by (?P<b>\S+)\.",
    re.DOTALL,
)
FRACTIONS = {
    "a tenth of": 1 / 10,
    "a fifth of": 1 / 5,
    "a quarter of": 1 / 4,
    "a third of": 1 / 3,
    "half": 1 / 2,
    "two-thirds of": 2 / 3,
    "three-quarters of": 3 / 4,
}


def agrees(journey: Journey, audit: eh.Audit) -> None:
    """Counts, rates, values, intervals, verdicts and the headline are those of the rows."""
    truth = Truth(journey, audit.evidence.columns)
    summary = audit.document()["summary"]
    counted(truth, audit, summary["table"])
    for finding in audit.findings:
        measured(truth, audit, finding)
    headline(truth, audit, summary)
    grammar(audit)


ODD = re.compile(
    r"(?<![\d.,])1 (rows|groups|clusters|comparisons|points|percentage points)\b"
    r"|\b([a-z]{2,}) \2\b|[( ] |\(\)| [.,;)]|\b0\.\d+ (to|and) 0\.\d+ percent"
)
PLAIN = re.compile(r"\w[\w+.-]*( × \w[\w+.-]*)*")


def grammar(audit: eh.Audit) -> None:
    """Sentences begin with a capital, numbers agree with nouns, and no word is said twice."""
    document = audit.document()
    labels = [show(label) for label in (*audit.evidence.groups, *audit.evidence.classes)]
    if not all(PLAIN.fullmatch(label) for label in labels):
        return
    said = [document["summary"]["sentence"], document["summary"]["about"], *document["notes"]]
    said += [finding.sentence for finding in audit.findings]
    said += [step[part] for step in document["next"] for part in ("found", "remedy", "cost")]
    said += [line["words"].capitalize() for line in document["summary"]["criteria"]]
    twins = {label.lower() for label in labels if label != label.lower()} & {*labels}
    for sentence in filter(None, said):
        assert ODD.search(sentence) is None, sentence
        assert twins or not sentence[0].islower(), sentence


def plain(label: Label) -> Label:
    """A label as the generator has it, from whatever the library made of it."""
    if isinstance(label, tuple):
        return tuple(map(plain, label))
    return label.item() if hasattr(label, "item") else label


def group_of(truth: Truth, label: Label) -> Label:
    """The group of that label in the rows."""
    label = plain(label)
    for alike in (lambda group: group == label, lambda group: str(group) == str(label)):
        for group in truth.groups:
            if (group is None) == (label is None) and alike(group):
                return group
    raise AssertionError(f"There is no group {label!r} among {truth.groups}.")


def counted(truth: Truth, audit: eh.Audit, table: dict[str, Any]) -> None:
    """Rows and metrics of every group."""
    evidence = audit.evidence
    sizes = {
        group_of(truth, label): int(n)
        for label, n in zip(evidence.groups, evidence.rows, strict=True)
    }
    assert sizes == dict(truth.sizes), (sizes, truth.sizes)
    keys = [metric["key"] for metric in table["metrics"]]
    written = {label: show(label) for label in evidence.classes}  # 1 may be kept as 1.0
    shown_as = written.get
    of_class = None
    if truth.journey.task != "regression" and truth.favorable is None:
        of_class = next((c for c in truth.classes if shown_as(c) == table["of_class"]), None)
    for label, line in zip(evidence.groups, table["groups"], strict=True):
        group = group_of(truth, label)
        assert line["rows"] == truth.sizes[group], (label, line)
        for key, value in zip(keys, line["values"], strict=True):
            if key == "r2":
                continue
            shown = next(
                (c for c in truth.classes if key == f"selection_rate({shown_as(c)})"), None
            )
            name = "selection_rate" if shown is not None else key
            wanted = truth.metric(name, shown if shown is not None else of_class)
            scale = max([1.0, *(abs(x) for x in wanted.values())])
            assert close(value, wanted.get(group, math.nan), scale), (key, group, value, wanted)


def measured(truth: Truth, audit: eh.Audit, finding: Any) -> None:
    """The values of a finding by every measure, its intervals, its verdict and its pair."""
    name = finding.criterion
    for measure, found in finding.values.items():
        if truth.knows(name, measure):
            wanted = truth.value(name, measure)
            scale = max(rounding(truth.journey), abs(wanted)) if math.isfinite(wanted) else 1.0
            assert close(found.value, wanted, scale), (name, measure, found.value, wanted)
        inside(found.low, found.value, found.high, (name, measure))
    gap = finding.gap
    if not math.isnan(gap.value):
        inside(gap.low, gap.value, gap.high, (name, "gap"))
    for p in (finding.p_value, finding.p_adjusted):
        assert math.isnan(p) or 0 <= p <= 1, (name, p)
    assert not finding.p_adjusted < finding.p_value * (1 - 1e-6), (name, finding.p_value)
    if finding.verdict == "differs":
        assert not gap.value <= 0, (name, gap)
        if truth.knows(name, "mpd"):
            assert truth.value(name, "mpd") > 0, name
    if finding.verdict == "differs" and finding.pair is not None and truth.knows(name, "mpd"):
        paired(truth, finding)
    rates(truth, audit, finding)


def rates(truth: Truth, audit: eh.Audit, finding: Any) -> None:
    """The groups' own values lie in their intervals, and are those of the rows."""
    values = next(one for one in audit.group_values if one.criterion == finding.criterion)
    cells = dict(_hashable(truth.cells(finding.criterion))) if _has_cells(truth, finding) else {}
    for i, cell in enumerate(values.cells):
        for j, group in enumerate(values.groups):
            value = float(values.values[i, j])
            if math.isnan(value):
                continue
            inside(float(values.low[i, j]), value, float(values.high[i, j]), (cell, group))
            wanted = cells.get(plain(cell))
            if wanted is not None:
                exact = wanted.get(group_of(truth, group), math.nan)
                assert close(value, exact, max(1.0, abs(exact))), (cell, group, value, exact)


def _has_cells(truth: Truth, finding: Any) -> bool:
    swept = finding.criterion in ("strong_parity", "wasserstein_parity")
    return truth.knows(finding.criterion, "mpd") and not swept


def _hashable(cells: Any) -> list[tuple[Any, Any]]:
    return [(label, values) for label, values in cells]


def paired(truth: Truth, finding: Any) -> None:
    """The two groups that are named are so, and in that order."""
    high, high_value, low, low_value, cell = finding.pair
    assert high_value >= low_value, finding.pair
    if not _has_cells(truth, finding):
        return
    for label, values in truth.cells(finding.criterion):
        if label == plain(cell) or len(truth.cells(finding.criterion)) == 1:
            for group, value in ((high, high_value), (low, low_value)):
                exact = values.get(group_of(truth, group), math.nan)
                assert close(value, exact, max(1.0, abs(exact))), (finding.pair, values)


def inside(low: float, value: float, high: float, what: Any) -> None:
    """An interval holds its value, but for rounding."""
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return
    slack = 1e-9 * (1 + abs(value))
    assert low - slack <= value <= high + slack, (what, low, value, high)


def headline(truth: Truth, audit: eh.Audit, summary: dict[str, Any]) -> None:
    """The first sentence names who is lower, and by how much, as the rows have it."""
    sentence, about = summary["sentence"], summary["about"]
    rows = f"{sum(truth.sizes.values()):,} row"
    assert about.startswith(rows), about
    assert f" in {len(truth.groups):,} group" in about, about
    if sentence.startswith("The groups are alike"):
        first = next(f for f in audit.findings if f.verdict == "alike")
        assert first.gap.high <= (first.margin or math.inf) + 1e-12, sentence
    labels = [line["label"] for line in summary["table"]["groups"]]
    known = dict(zip(labels, audit.evidence.groups, strict=True))
    if len(known) < len(labels):
        return
    for label, group in list(known.items()):  # as they are called in a sentence
        spoken = [label[:1].upper() + label[1:], f"rows with {label}", f"Rows with {label}"]
        for name in (*spoken, f"Rows of {label}"):
            known.setdefault(name, group)
    for pattern, check in ((SELECTED, selected), (HAD, had), (PREDICTED, predicted)):
        found = pattern.match(sentence)
        if found is not None:
            ends = [
                found[name]
                for name in ("low", "high", "first", "second")
                if name in found.re.groupindex
            ]
            if all(end in known for end in ends):  # else a name that has our words in it
                check(truth, found, [group_of(truth, known[end]) for end in ends])


def selected(truth: Truth, found: re.Match[str], ends: list[Label]) -> None:
    """The rates of two groups, and one as a part of the other."""
    low, high = (truth.metric("selection_rate")[end] for end in ends)
    assert low < high, (found[0], low, high)
    for text, value in ((found["a"], low), (found["b"], high)):
        assert near(text, value), (found[0], text, value)
    part = found["part"].removeprefix("about ")
    known = {words.removesuffix(" of"): exact for words, exact in FRACTIONS.items()}
    if part in known:
        assert math.isclose(low / high, known[part], rel_tol=0.05), (found[0], low / high)
    elif part == "less than a tenth":
        assert low / high < 0.1, found[0]
    else:
        assert near(part, low / high), (found[0], low / high)


def had(truth: Truth, found: re.Match[str], ends: list[Label]) -> None:
    """The rates of two groups, one after the other."""
    metric = METRICS.get(found["metric"])
    if metric is None:
        return
    for text, end in zip((found["a"], found["b"]), ends, strict=True):
        assert near(text, truth.metric(metric)[end]), (found[0], text)


def predicted(truth: Truth, found: re.Match[str], ends: list[Label]) -> None:
    """Who is over- and under-predicted, by how much, the larger error first."""
    first, second = (truth.metric("mean_error")[end] for end in ends)
    assert abs(first) >= abs(second), found[0]
    assert (first > 0) == (found["side"] == "over"), (found[0], first)
    same = (first > 0) == (second > 0)
    assert same == (found["other"] == "only"), (found[0], first, second)
    for text, value in ((found["a"], first), (found["b"], second)):
        ties = (number(abs(value) * (1 + by)) for by in (-1e-12, 0, 1e-12))  # by sums in any order
        assert text in ties, (found[0], text, value)


def near(text: str, share: float) -> bool:
    """Whether a percentage in words is that share, rounded as it is written."""
    if text == "<0.1%":
        return 0 < share < 0.001
    written = re.fullmatch(r"(\d+)(?:\.(\d+))?%", text)
    assert written is not None, text
    digits = len(written[2] or "")
    return abs(float(text[:-1]) - 100 * share) <= 0.5 * 10**-digits + 1e-9
