"""A finding in words that one can repeat: who, how much, how sure; rates in percent."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from evenhand._audit.finding import Finding, GroupValues, Pair
from evenhand._audit.naming import Names
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._words import capitalized, number, percent, percents, points, points_up
from evenhand.criteria.criterion import class_of

METRICS = {
    "equal_opportunity": "true positive rate",
    "predictive_equality": "false positive rate",
    "predictive_parity": "precision",
    "false_omission_rate_parity": "false omission rate",
    "accuracy_parity": "accuracy",
    "error_parity": "error rate",
    "average_odds": "mean of true and false positive rate",
    "treatment_equality": "ratio of misses to false alarms",
    "calibration_parity": "outcome at like scores",
    "calibration_within_groups": "calibration error",
    "weak_parity": "mean prediction",
    "performance_parity(mean_error)": "mean error",
    "performance_parity(mse)": "mean squared error",
    "performance_parity(mae)": "mean absolute error",
    "performance_parity(auroc)": "AUROC",
    "performance_parity(cross_entropy)": "cross-entropy",
}
SIGNED = METRICS["performance_parity(mean_error)"]
INDICES = ("performance_parity(auroc)", "performance_parity(f1)", "calibration_within_groups")
SELECTION = ("statistical_parity", "selection_rate_ratio", "conditional_statistical_parity")
NEAR = 0.045  # how far off a named fraction may be, as a share of it
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
        """What is compared, in the field's words."""
        name, good = finding.criterion, self.evidence.favorable
        if name in SELECTION:
            if good is not None and class_of(cell) == good:
                return "selection rate"
            return f"share predicted “{show(class_of(cell))}”"
        if name == "equalized_odds" and isinstance(cell, tuple) and len(cell) == 2:
            return self._odds(*cell)
        if name in METRICS:
            of_class = good is None and cell in self.evidence.classes
            return METRICS[name] + (f" for “{show(cell)}”" if of_class else "")
        if finding.estimates is None and isinstance(cell, float):
            return f"share at or below {number(cell)}"
        return name.replace("_", " ").replace("(", ": ").removesuffix(")")

    def sentence(self, finding: Finding, values: GroupValues) -> str:
        """A sentence or two about the finding that a manager can repeat."""
        write = {
            "differs": self._differs,
            "alike": self._alike,
            "cannot tell": self._unsure,
            "not tested": self._unsure,
        }.get(finding.verdict)
        if write is None:
            return f"{capitalized(self._undefined(finding))}."
        return write(finding, values)

    def is_share(self, finding: Finding) -> bool:
        """Whether the values are shares of rows, and so are written in percent."""
        return finding.is_rate and finding.criterion not in INDICES

    def _gap_is_share(self, finding: Finding) -> bool:
        """Whether a gap is one of shares: of rates, or of distributions at one cut point."""
        swept = finding.estimates is None
        cells = (value.worst_cell for value in finding.values.values())
        return self.is_share(finding) or (swept and any(isinstance(cell, float) for cell in cells))

    def line(self, finding: Finding) -> str:
        """The verdict's grounds in half a line."""
        if finding.verdict == "undefined":
            return self._undefined(finding)
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            ratio = finding["ratio"]
            low, high = floor(100 * ratio.low + 1e-9) / 100, ceil(100 * ratio.high - 1e-9) / 100
            between = f" (between {low:.2f} and {high:.2f})"
            return f"the lowest rate is {ratio.value:.2f} times the highest{between}"
        if finding.verdict == "differs":
            apart = self._at_least(finding)
            apart = f"the largest gap is at least {apart}" if apart else ""
            pair = self._pair(finding)
            return "; ".join(filter(None, (pair, apart))) or "the groups differ"
        if finding.verdict == "alike":
            return f"the groups differ by at most {self._at_most(finding)}"
        if np.isfinite(finding.gap.high):
            return f"the true gap may be anything from 0 to {self._at_most(finding)}"
        return "the true gap may be anything"

    def short(self, finding: Finding) -> str:
        """How far the groups are apart, at least or at most, in a few words."""
        if finding.verdict == "undefined":
            return ""
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            return f"{finding['ratio'].value:.2f}"
        if finding.verdict == "differs":
            apart = self._at_least(finding)
            return f"≥ {_brief(apart)}" if apart else self._against(finding)
        if not np.isfinite(finding.gap.high):
            return "no upper bound"
        return f"≤ {_brief(self._at_most(finding))}"

    def _odds(self, truth: Label, prediction: Label) -> str:
        good = self.evidence.favorable
        if good is None or len(self.evidence.classes) != 2:
            return f"share predicted “{show(prediction)}” where the truth is “{show(truth)}”"
        right = "true" if truth == prediction else "false"
        return f"{right} {'positive' if prediction == good else 'negative'} rate"

    def _name(self, label: Label) -> str:
        return self.names(self.evidence.columns, label)

    def _values(self, finding: Finding, *values: float) -> list[str]:
        share = self.is_share(finding) or finding.estimates is None
        if share and all(0 <= value <= 1 for value in values):
            return percents(*values)
        return [number(value) for value in values]

    def _pair(self, finding: Finding) -> str:
        if finding.pair is None:
            return ""
        high, high_value, low, low_value, cell = finding.pair
        texts = self._values(finding, low_value, high_value)
        where = ""
        if finding.estimates is None and isinstance(cell, float):
            where = f"share at or below {number(cell)}: "
        elif finding.criterion == "equalized_odds":
            where = f"{self.metric(finding, cell)}: "
        return f"{where}{self._name(low)} {texts[0]}, {self._name(high)} {texts[1]}"

    def _against(self, finding: Finding) -> str:
        """The values of the two groups shown to differ, where no gap is proved."""
        if finding.pair is None:
            return ""
        ends = finding.pair.low_value, finding.pair.high_value
        return " vs ".join(number(end, 2) for end in ends)

    def _at_least(self, finding: Finding) -> str:
        low = number(finding.gap.low, toward=-1)
        if not finding.gap.low > 0 or low.startswith("<"):
            return ""
        return points(finding.gap.low) if self._gap_is_share(finding) else low

    def _at_most(self, finding: Finding) -> str:
        return (
            points_up(finding.gap.high)
            if self._gap_is_share(finding)
            else number(finding.gap.high, toward=1)
        )

    def _differs(self, finding: Finding, values: GroupValues) -> str:
        apart = self._at_least(finding)
        if finding.pair is None:
            name = self.metric(finding, None)
            return f"The groups differ in {name}{f', by at least {apart}' if apart else ''}."
        high, high_value, low, low_value, cell = finding.pair
        name, texts = self.metric(finding, cell), self._values(finding, low_value, high_value)
        against = f"{texts[0]} against {texts[1]}"
        alone = len(values.groups) == 2 and len(values.cells) <= len(self.evidence.classes or "1")
        gap = "The gap" if alone else "The largest gap between groups"
        more = f" {gap} is at least {apart}." if apart else ""
        if name == SIGNED:
            return f"{self._missed(finding.pair)}{more}"
        ratio = low_value / high_value if high_value else 0.0
        if finding.criterion in SELECTION and name != "selection rate" and ratio > 0:
            often = fraction(ratio).removesuffix(" of")
            return (
                f"“{show(class_of(cell))}” was predicted {often} as often for {self._name(low)} as "
                f"for {self._name(high)} ({against}).{more}"
            )
        if name == "selection rate" and ratio > 0:
            often = fraction(ratio).removesuffix(" of")
            return (
                f"{self._name(low)} were selected {often} as often as {self._name(high)} "
                f"({against}).{more}"
            )
        if name.startswith("share"):
            ends = f"{texts[0]} for {self._name(low)}, against {texts[1]} for {self._name(high)}"
            return f"The {name} was {ends}.{more}"
        return (
            f"{self._name(low)} had {_article(name)} {name} of {texts[0]}, against {texts[1]} for "
            f"{self._name(high)}.{more}"
        )

    def _missed(self, pair: Pair) -> str:
        """Who is under- and over-predicted, and by how much; the larger error comes first."""
        ends = [(pair.low, pair.low_value), (pair.high, pair.high_value)]
        ends.sort(key=lambda end: -abs(end[1]))
        (first, most), (second, least) = [(self._name(label), error) for label, error in ends]
        sides = [_side(error) for error in (most, least)]
        said = f"{first} were {sides[0]} by {number(abs(most))} on average"
        if number(least) == "0":
            return f"{said}; {second} were not."
        again = "only" if sides[0] == sides[1] else sides[1]
        return f"{said}, {second} {again} by {number(abs(least))}."

    def _alike(self, finding: Finding, values: GroupValues) -> str:
        name = self._plural(finding, values)
        most = self._at_most(finding)
        return f"The groups are alike in {name}: they differ by at most {most}."

    def _unsure(self, finding: Finding, values: GroupValues) -> str:
        name, seen = self._plural(finding, values), self._seen(finding, values)
        most = ""
        if np.isfinite(finding.gap.high) and finding.gap.high > 0:
            most = f" The true gap may be anything from 0 to {self._at_most(finding)}."
        said = f"Inconclusive: these rows do not show whether the groups differ in {name} ({seen})."
        return f"{said}{most}"

    def _undefined(self, finding: Finding) -> str:
        lacking = "fewer than two groups have a value, so there is nothing to compare"
        return finding.sameness or lacking

    def _plural(self, finding: Finding, values: GroupValues) -> str:
        cell = finding.pair.cell if finding.pair is not None else next(iter(values.cells), None)
        favorable = self.evidence.favorable
        if finding.pair is None and favorable in values.cells:
            cell = favorable
        return self.metric(finding, cell)

    def _seen(self, finding: Finding, values: GroupValues) -> str:
        """The range of the values in the cell that is spoken of; of two groups, both."""
        cells = list(values.cells)
        at = 0
        if finding.pair is not None and finding.pair.cell in cells:
            at = cells.index(finding.pair.cell)
        row = values.values[at] if cells else np.array([])
        known = np.flatnonzero(np.isfinite(row))
        if len(known) < 2:
            return "too few groups have a value"
        low, high = known[np.argmin(row[known])], known[::-1][np.argmax(row[known[::-1]])]
        texts = self._values(finding, float(row[low]), float(row[high]))
        if len(set(texts)) == 1:
            return f"{texts[0]} in {'both' if len(known) == 2 else 'all'}"
        if len(known) == 2:
            return (
                f"{texts[0]} for {self._name(values.groups[low])} and {texts[1]} for "
                f"{self._name(values.groups[high])}"
            )
        return f"{texts[0]} to {texts[1]}"


def fraction(share: float) -> str:
    """How large a part is of the whole, as people say it.

    >>> fraction(0.51), fraction(0.27), fraction(0.7), fraction(0.03), fraction(0.98)
    ('about half', '27% of', '70% of', 'less than a tenth of', '98% of')
    """
    for exact, words in FRACTIONS.items():
        if abs(share - exact) <= NEAR * exact:
            return f"about {words}"
    if share < min(FRACTIONS):
        return f"less than {FRACTIONS[min(FRACTIONS)]}"
    return f"{percent(share)} of"


def _side(error: float) -> str:
    return "over-predicted" if error > 0 else "under-predicted"


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"


def _brief(apart: str) -> str:
    return apart.replace("percentage points", "pts")
