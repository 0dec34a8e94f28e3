"""What each verdict of an audit means, and the mark that stands for it."""

from __future__ import annotations

from typing import NamedTuple


class Verdict(NamedTuple):
    """A mark that needs no colour, a style class, and the meaning in a sentence."""

    mark: str
    kind: str
    meaning: str


VERDICTS = {
    "disparity": Verdict(
        "●",
        "beyond",
        "More than chance: were the groups treated alike, so large a value would be rare, "
        "even with as many questions asked as here.",
    ),
    "within noise": Verdict(
        "○",
        "within",
        "Chance alone could have shown this. That is not evidence of equality: few rows "
        "cannot show small differences.",
    ),
    "undefined": Verdict(
        "–",
        "undefined",
        "Fewer than two groups have the statistic, so there is nothing to compare.",
    ),
    "exceeds": Verdict(
        "▲", "beyond", "The whole interval lies above the tolerance that was asked for."
    ),
    "within tolerance": Verdict(
        "✓", "within", "The whole interval lies at or below the tolerance that was asked for."
    ),
    "inconclusive": Verdict(
        "?",
        "undefined",
        "The interval holds the tolerance: these rows cannot tell which side is true.",
    ),
}


def verdict(named: str) -> Verdict:
    """A verdict by its name; an unknown one is shown as it is."""
    return VERDICTS.get(named, Verdict("·", "undefined", named))
