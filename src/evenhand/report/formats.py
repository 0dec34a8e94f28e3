"""Numbers, p-values and names as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evenhand._words import UNDEFINED, number, percent, rounded
from evenhand._words import name as name
from evenhand.measures import measure_named


def difference(value: float | None) -> str:
    """A number with its sign.

    >>> difference(0.15), difference(-0.15), difference(0.0)
    ('+0.150', '−0.150', '0')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def key(value: float | None) -> str:
    """What a table is sorted by.

    >>> key(0.24427805418528883), key(None)
    ('0.244278', '')
    """
    return "" if value is None else f"{value:.6g}"


def count(value: float | None) -> str:
    """A whole number with thousands separators; sums of weights may have a fraction.

    >>> count(48842), count(12.5)
    ('48,842', '12.5')
    """
    if value is None:
        return UNDEFINED
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


ACRONYMS = {
    **{name: name.upper() for name in ("auroc", "mse", "rmse", "mae", "f1")},
    **{name: name.upper() for name in ("ppv", "npv", "tpr", "fpr", "tnr", "fnr")},
    "r2": "R²",
    "first place": "the first place",
}
PAIRWISE = "performance_parity(pairwise_"


def words(identifier: str) -> str:
    """A registered name as words.

    >>> words("equalized_odds"), words("performance_parity(f1)")
    ('Equalized odds', 'Parity of F1')
    >>> words("performance_parity(pairwise_across)")
    'Pairwise parity across groups'
    """
    if identifier.startswith(PAIRWISE):
        argument = identifier.removeprefix(PAIRWISE).removesuffix(")")
        return "Pairwise parity" if argument == "accuracy" else f"Pairwise parity {argument} groups"
    plain = identifier.removeprefix("performance_").replace("_", " ").replace("(", " of ")
    head, joint, argument = plain.removesuffix(")").partition(" of ")
    return f"{head[:1].upper()}{head[1:]}{joint}{ACRONYMS.get(argument, argument)}"


def phrase(identifier: str) -> str:
    """A registered name within a sentence.

    >>> phrase("equalized_odds"), phrase("performance_parity(mse)"), phrase("wasserstein_parity")
    ('equalized odds', 'parity of MSE', 'Wasserstein parity')
    """
    text = words(identifier)
    return text if text.startswith("Wasserstein") else text[:1].lower() + text[1:]


VARIABLES = re.compile(r"^\w+ over ([\w, ]+?) of ")
ONLY_CELL = ("", "all")  # the label of a criterion's only cell


def cell_name(label: str | None, formula: str) -> str:
    """A cell with the variables that the criterion's formula runs over.

    >>> cell_name("0 × 1", "worst over k, c of S over a of P(ŷ = c | y = k, a)")
    'k = 0, c = 1'
    >>> cell_name("0.1052153363264099", "worst over t of S over a of P(ŷ ≤ t | a)")
    't = 0.105'
    >>> cell_name("all", "S over a of correct / all")
    'all rows'
    """
    if label is None:
        return UNDEFINED
    if label.strip() in ONLY_CELL:
        return "all rows"
    parts = label.split(" × ")
    match = VARIABLES.match(formula)
    variables = match[1].split(", ") if match else []
    if len(variables) != len(parts):
        return " × ".join(map(_short, parts))
    return ", ".join(
        f"{variable} = {_short(part)}" for variable, part in zip(variables, parts, strict=True)
    )


def within(label: str | None, formula: str) -> str:
    """The cell of a number, as the end of a phrase; nothing where there is one cell only.

    >>> within("1", "worst over c of S over a of P(ŷ = c | a)"), within("all", "")
    (', c = 1', '')
    """
    if label is None or label.strip() in ONLY_CELL:
        return ""
    return f", {cell_name(label, formula)}"


def _short(part: str) -> str:
    return number(float(part)) if re.fullmatch(r"-?\d+\.\d{5,}", part) else part


class Verdict(NamedTuple):
    """A mark that needs no color, a style class, and the meaning in a sentence."""

    mark: str
    kind: str
    meaning: str


VERDICTS = {
    "differs": Verdict(
        "●",
        "beyond",
        "The groups differ: if all were alike, data like these would be rare, even with as many "
        "questions asked as here.",
    ),
    "alike": Verdict(
        "✓", "within", "The groups are alike: any difference is smaller than the stated margin."
    ),
    "cannot tell": Verdict(
        "?",
        "undefined",
        "Inconclusive: these rows do not show whether the groups differ. That is not evidence of "
        "equality: look "
        "at the upper end of the interval.",
    ),
    "undefined": Verdict(
        "–",
        "undefined",
        "There is nothing to compare: fewer than two groups have the statistic, or all rows share "
        "one decision or score.",
    ),
    "exceeds": Verdict(
        "▲", "beyond", "The whole interval lies above the tolerance that was asked for."
    ),
    "falls short": Verdict(
        "▼", "beyond", "The whole interval lies below the least ratio that was asked for."
    ),
    "within tolerance": Verdict(
        "✓", "within", "The whole interval lies on the tolerated side of the bound."
    ),
    "inconclusive": Verdict(
        "?",
        "undefined",
        "The tolerance is in the interval: these rows do not show which side is true.",
    ),
}


def verdict(outcome: str) -> Verdict:
    """A verdict by its name; an unknown one is shown as it is."""
    return VERDICTS.get(outcome, Verdict("·", "undefined", outcome))


def measure_name(measure: str) -> str:
    """A measure as it is written in text.

    >>> measure_name("pq"), measure_name("my_own")
    ('PQ', 'My own')
    """
    registered = measure_named(measure)
    return registered.title if registered else words(measure)


def measure_phrase(measure: str) -> str:
    """A measure within a sentence.

    >>> measure_phrase("mpd"), measure_phrase("gini")
    ('largest difference', 'Gini')
    """
    title = measure_name(measure)
    return title if title.startswith(("Gini", "PQ")) else title[:1].lower() + title[1:]


def are_shares(unit: str, measure: str) -> bool:
    """Whether both a cost and a gap are shares of people, to be written in percent.

    >>> are_shares("Share of wrong decisions", "mpd"), are_shares("share of wrong decisions", "pq")
    (True, False)
    """
    registered = measure_named(measure)
    return unit.lower().startswith("share ") and registered is not None and registered.is_width


def measures_of(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Measures by name, each with its meaning."""
    registered = ((key, measure_named(key)) for key in keys)
    unknown = "a measure of the caller's own"
    return [
        (measure_name(key), measure.about if measure else unknown) for key, measure in registered
    ]


def is_width(measure: str) -> bool:
    """Whether a measure is the distance of the lowest from the highest, in the statistic's unit."""
    registered = measure_named(measure)
    return registered is not None and registered.is_width


def amount(value: float | None, is_rate: bool) -> str:
    """A rate in percent, anything else as a number.

    >>> amount(0.256, True), amount(0.256, False)
    ('26%', '0.256')
    """
    return percent(value) if is_rate else number(value)


def gap(value: float | None, is_rate: bool, toward: int = 0) -> str:
    """A difference: of rates in percentage points. A bound is rounded `toward` its side.

    >>> gap(0.2594, True), gap(12.5, False), gap(0.2594, True, 1), gap(-0.0002, True)
    ('25.9 pts', '12.50', '26.0 pts', '0.0 pts')
    """
    if value is None:
        return UNDEFINED
    if not is_rate:
        return number(value, toward=toward)
    text = f"{rounded(100 * value, 1, toward):.1f} pts".replace("-", "−")
    return text.removeprefix("−") if text == "−0.0 pts" else text


def gap_interval(low: float | None, high: float | None, is_rate: bool) -> str:
    """An interval of a difference, rounded outward.

    >>> gap_interval(0.0214, 0.05, True), gap_interval(0.0214, 0.05, False)
    ('2.1 to 5.0 pts', '0.021 to 0.050')
    """
    return f"{gap(low, is_rate, -1).removesuffix(' pts')} to {gap(high, is_rate, 1)}"


def share_of(value: float | None) -> str:
    """A ratio of the lowest to the highest in two decimals; what is not a zero is not shown as one.

    >>> share_of(0.094), share_of(0.0), share_of(0.002), share_of(None)
    ('0.09', '0', '<0.01', '–')
    """
    if value is None or not value:
        return UNDEFINED if value is None else "0"
    return f"{value:.2f}" if value >= 0.005 else "<0.01"


def judged(line: Mapping[str, Any]) -> str:
    """A verdict, and how the value compares with a tolerance if there is one."""
    return "; ".join(filter(None, (line["verdict"], line["judged"])))
