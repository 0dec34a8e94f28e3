"""Findings in plain sentences: who, how much, how certain; rates in percent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from evenhand._audit.finding import Finding, GroupValues, Pair
from evenhand._audit.naming import Names
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._words import capitalized, name, number, percent
from evenhand.criteria.compared import SELECTION, metric_of, with_article
from evenhand.criteria.criterion import class_of
from evenhand.criteria.terms import COMPARED

SIGNED = COMPARED["performance_parity(mean_error)"]
EXPOSURE = COMPARED["exposure_parity"]
WITHOUT_CUT = ("wasserstein_parity",)  # no single cut point shows where distributions differ
FIRST_PLACE = "performance_parity(first_place)"
THOUSAND = 1000
NUMBERED = re.compile(r"^\w.* \d+$")  # one of many places or teams, rather than people
FRACTION_TOLERANCE = 0.045  # relative error of a fraction in words
FRACTIONS = {
    1 / 10: "a tenth of",
    1 / 5: "a fifth of",
    1 / 4: "a quarter of",
    1 / 3: "a third of",
    1 / 2: "half",
    2 / 3: "two-thirds of",
    3 / 4: "three-quarters of",
}


@dataclass(frozen=True, eq=False)
class Wording:
    """Words for the findings about some groups, by their names."""

    evidence: Evidence
    names: Names

    def metric(self, finding: Finding, cell: Label) -> str:
        """The quantity that a finding compares."""
        criterion = finding.criterion
        values = "predictions" if self.evidence.task == "regression" else "scores"
        if criterion in WITHOUT_CUT:
            return f"distribution of {values}"
        if criterion == "top_k_parity":
            return f"share {self._first}"
        is_named = criterion in COMPARED or criterion in SELECTION
        if not is_named and finding.estimates is None and isinstance(cell, float):
            return f"share of {values} at or below {number(cell)}"
        return metric_of(criterion, cell, self.evidence.classes, self.evidence.favorable)

    def sentence(self, finding: Finding, values: GroupValues) -> str:
        """A sentence or two about the finding, in plain words."""
        write = {
            "differs": self._differs,
            "alike": self._alike,
            "cannot tell": self._unsure,
            "not tested": self._unsure,
        }.get(finding.verdict)
        if write is None:
            return f"{capitalized(self._undefined(finding))}."
        return write(finding, values)

    def line(self, finding: Finding) -> str:
        """The grounds of the verdict in half a line."""
        if finding.verdict == "undefined":
            return self._undefined(finding)
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            ratio = finding["ratio"]
            low, high = floor(100 * ratio.low + 1e-9) / 100, ceil(100 * ratio.high - 1e-9) / 100
            between = f" (between {low:.2f} and {high:.2f})"
            return f"the lowest rate is {ratio.value:.2f} times the highest{between}"
        if finding.verdict == "differs":
            gap = finding.at_least
            gap = f"the largest gap is at least {gap}" if gap else ""
            pair = self._pair(finding)
            return "; ".join(filter(None, (pair, gap))) or "the groups differ"
        if finding.verdict == "alike":
            return f"the groups differ by at most {finding.at_most}"
        if np.isfinite(finding.gap.high):
            return f"the true gap may be anything from 0 to {finding.at_most}"
        return "the true gap may be anything"

    def short(self, finding: Finding) -> str:
        """The lower or upper bound of the gap in a few characters."""
        if finding.verdict == "undefined":
            return ""
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            return f"{finding['ratio'].value:.2f}"
        if finding.verdict == "differs":
            gap = finding.at_least
            return f"≥ {_brief(gap)}" if gap else self._against(finding)
        if not np.isfinite(finding.gap.high):
            return "no upper bound"
        return f"≤ {_brief(finding.at_most)}"

    def _name(self, label: Label) -> str:
        return name(self.names(self.evidence.columns, label))

    def _who(self, label: Label) -> str:
        """A group within a sentence: “rows with sex=1”, “rows of District 8”, else its name."""
        text, columns = self._name(label), self.evidence.columns
        if text.startswith(f"{columns[0]}="):
            return f"rows with {text}"
        return f"rows of {text}" if NUMBERED.search(text) else text

    def _subject(self, label: Label) -> str:
        """A group at the start of a sentence, capitalized if it is a word."""
        text = self._who(label)
        if not text[:1].islower():
            return text
        names = (self._name(group) for group in self.evidence.groups if group != label)
        is_word = text[:3].isalpha() and len(text) > 2 and capitalized(text) not in names
        return capitalized(text) if is_word else f"Rows of {text}"

    def _compared(self, label: Label, reference: Label) -> tuple[str, str]:
        """A group as the subject of a sentence, and the group that it is compared with."""
        subject, compared = self._subject(label), self._who(reference)
        if subject.startswith("Rows of ") and compared == self._name(reference):
            compared = f"those of {compared}"
        return subject, compared

    def _pair(self, finding: Finding) -> str:
        if finding.pair is None:
            return ""
        high, high_value, low, low_value, cell = finding.pair
        texts = finding.written(low_value, high_value)
        where = ""
        is_cut = finding.estimates is None and isinstance(cell, float)
        if is_cut or finding.criterion == "equalized_odds":
            where = f"{self.metric(finding, cell)}: "
        return f"{where}{self._name(low)} {texts[0]}, {self._name(high)} {texts[1]}"

    def _against(self, finding: Finding) -> str:
        """The values of the two groups that differ, if no gap has a lower bound."""
        if finding.pair is None:
            return ""
        ends = finding.pair.low_value, finding.pair.high_value
        return " vs ".join(number(end, 2) for end in ends)

    def _differs(self, finding: Finding, values: GroupValues) -> str:
        at_least = finding.at_least
        if finding.pair is None or finding.criterion in WITHOUT_CUT:
            compared = with_article(self.metric(finding, None))
            return (
                f"The groups differ in {compared}{f', by at least {at_least}' if at_least else ''}."
            )
        high, high_value, low, low_value, cell = finding.pair
        metric, texts = self.metric(finding, cell), finding.written(low_value, high_value)
        against = f"{texts[0]} against {texts[1]}"
        alone = len(values.groups) == 2 and len(values.cells) <= len(self.evidence.classes or "1")
        gap = "The gap" if alone else "The largest gap between groups"
        bound = f" {gap} is at least {at_least}." if at_least else ""
        if metric == SIGNED:
            return f"{self._missed(finding.pair)}{bound}"
        ratio = low_value / high_value if high_value else 0.0
        if finding.criterion in SELECTION and metric != "selection rate" and ratio > 0:
            often = fraction(ratio).removesuffix(" of")
            return (
                f"“{show(class_of(cell))}” was predicted {often} as often for {self._who(low)} as "
                f"for {self._who(high)} ({against}).{bound}"
            )
        if metric == "selection rate" and ratio > 0:
            often = fraction(ratio).removesuffix(" of")
            subject, reference = self._compared(low, high)
            return f"{subject} were selected {often} as often as {reference} ({against}).{bound}"
        first = {"top_k_parity": f"were {self._first}", FIRST_PLACE: "came first"}
        if finding.criterion in first and ratio > 0:
            often = fraction(ratio).removesuffix(" of")
            subject, reference = self._compared(low, high)
            verb = first[finding.criterion]
            return f"{subject} {verb} {often} as often as {reference} ({against}).{bound}"
        if metric == EXPOSURE and ratio > 0:
            much = fraction(ratio).removesuffix(" of")
            subject, reference = self._compared(low, high)
            return f"{subject} got {much} as much exposure as {reference} ({against}).{bound}"
        if metric.startswith("share"):
            ends = f"{texts[0]} for {self._who(low)}, against {texts[1]} for {self._who(high)}"
            return f"The {metric} was {ends}.{bound}"
        return (
            f"{self._subject(low)} had {_article(metric)} {metric} of {texts[0]}, against "
            f"{texts[1]} for {self._who(high)}.{bound}"
        )

    @property
    def _first(self) -> str:
        """The places of lists that count as the top."""
        places = self.evidence.top_k
        if places is None:
            return "among the first places"
        return f"among the first {places} places" if places > 1 else "in the first place"

    def _missed(self, pair: Pair) -> str:
        """Sentence on under- and over-prediction; the larger error comes first."""
        ends = [(pair.low, pair.low_value), (pair.high, pair.high_value)]
        ends.sort(key=lambda end: -abs(end[1]))
        (larger, first_error), (smaller, second_error) = ends
        first, second = self._compared(larger, smaller)
        sides = [_side(error) for error in (first_error, second_error)]
        texts = [number(abs(first_error)), number(abs(second_error))]
        if abs(first_error) >= THOUSAND and abs(second_error) >= 1:
            texts[1] = f"{abs(second_error):,.0f}"  # no decimals, as the other number has none
        sentence = f"{first} were {sides[0]} by {texts[0]} on average"
        if texts[1] == "0":
            return f"{sentence}; {second} were not."
        side = "only" if sides[0] == sides[1] else sides[1]
        return f"{sentence}, {second} {side} by {texts[1]}."

    def _alike(self, finding: Finding, values: GroupValues) -> str:
        compared = with_article(self._plural(finding, values))
        return f"The groups are alike in {compared}: they differ by at most {finding.at_most}."

    def _unsure(self, finding: Finding, values: GroupValues) -> str:
        what, observed = (
            with_article(self._plural(finding, values)),
            self._observed(finding, values),
        )
        limit = ""
        if np.isfinite(finding.gap.high) and finding.gap.high > 0:
            limit = f" The true gap may be anything from 0 to {finding.at_most}."
        question = f"whether the groups differ in {what}{observed}"
        return f"Inconclusive: these rows do not show {question}.{limit}"

    def _undefined(self, finding: Finding) -> str:
        lacking = "fewer than two groups have a value, so there is nothing to compare"
        return finding.sameness or lacking

    def _plural(self, finding: Finding, values: GroupValues) -> str:
        cell = finding.pair.cell if finding.pair is not None else next(iter(values.cells), None)
        favorable = self.evidence.favorable
        if finding.pair is None and favorable in values.cells:
            cell = favorable
        return self.metric(finding, cell)

    def _observed(self, finding: Finding, values: GroupValues) -> str:
        """The range of values in the compared cell, in brackets; of two groups, both."""
        cells = list(values.cells)
        at = 0
        if finding.pair is not None and finding.pair.cell in cells:
            at = cells.index(finding.pair.cell)
        row = values.values[at] if cells else np.array([])
        defined = np.flatnonzero(np.isfinite(row))
        if len(defined) < 2:
            return ""
        low, high = defined[np.argmin(row[defined])], defined[::-1][np.argmax(row[defined[::-1]])]
        texts = finding.written(float(row[low]), float(row[high]))
        if len(set(texts)) == 1:
            return f" ({texts[0]} in {'both' if len(defined) == 2 else 'all'})"
        if len(defined) == 2:
            ends = (self._who(values.groups[end]) for end in (low, high))
            return f" ({texts[0]} for {next(ends)} and {texts[1]} for {next(ends)})"
        return f" ({texts[0]} to {texts[1]})"


def fraction(share: float) -> str:
    """A share as a fraction in words.

    >>> fraction(0.51), fraction(0.27), fraction(0.7), fraction(0.03), fraction(0.98)
    ('about half', '27% of', '70% of', 'less than a tenth of', '98% of')
    """
    for exact, words in FRACTIONS.items():
        if abs(share - exact) <= FRACTION_TOLERANCE * exact:
            return f"about {words}"
    if share < min(FRACTIONS):
        return f"less than {FRACTIONS[min(FRACTIONS)]}"
    return f"{percent(share)} of"


def _side(error: float) -> str:
    return "over-predicted" if error > 0 else "under-predicted"


def _article(noun: str) -> str:
    return "an" if noun.startswith((*"aeiouAEIO", "F1")) else "a"


def _brief(gap: str) -> str:
    return gap.replace("percentage point", "pt")
