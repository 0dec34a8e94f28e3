"""Wording: suggested names, formatted numbers, plurals, and tables in Markdown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, log10
from typing import Any

UNDEFINED = "–"
NAMED = 2  # groups whose changes are named, in either direction
NOTHING = 1e-9  # rounding, not inequality
COLONS = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:)", re.MULTILINE)
BRACKET = re.compile(r"(##\w*)\[")


def did_you_mean(
    name: Any, names: Iterable[Any], terms: Mapping[str, Iterable[str]] | None = None
) -> str:
    """A hint at the nearest name, with a space before it; empty if none is near.

    `terms` are words by the name that they mean; where none is found, letters decide.

    >>> did_you_mean("equal_odds", ["equalized_odds", "accuracy_parity"])
    " Did you mean 'equalized_odds'?"
    >>> did_you_mean("adverse_gap", ["wage_gap"], {"four_fifths": ["adverse"]})
    " Did you mean 'four_fifths'?"
    """
    meant = _meant(str(name), terms or {})
    if meant is not None:
        return f" Did you mean {meant!r}?"
    by_text = {str(candidate): candidate for candidate in names}
    matches = difflib.get_close_matches(str(name), list(by_text), n=1)
    return f" Did you mean {by_text[matches[0]]!r}?" if matches else ""


def _meant(name: str, terms: Mapping[str, Iterable[str]]) -> str | None:
    """The thing whose synonym occurs in the name; the synonym with most words wins."""
    words = {*_parts(name)}
    sizes = {
        thing: max((len(_parts(term)) for term in synonyms if words >= {*_parts(term)}), default=0)
        for thing, synonyms in terms.items()
    }
    best = max(sizes, key=lambda thing: sizes[thing], default=None)
    return best if best is not None and sizes[best] else None


def _parts(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


def plural(count: float, noun: str, nouns: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(12500, "row"), plural(2, "criterion", "criteria")
    ('1 row', '12,500 rows', '2 criteria')
    """
    return f"{count:,.0f} {noun if count == 1 else nouns or noun + 's'}"


def name(label: str) -> str:
    """A visible label: blank ones are put in quotation marks.

    >>> name("Female"), name(" ")
    ('Female', '“ ” (blank)')
    """
    return label if label.strip() else f"“{label}” (blank)"


def capitalized(words: str) -> str:
    """Words at the beginning of a sentence.

    >>> capitalized("every row has the score 0.5")
    'Every row has the score 0.5'
    """
    return words[:1].upper() + words[1:]


def number(value: float | None, digits: int = 3, toward: int = 0) -> str:
    """Three decimals, four if small and fewer if large, with thousands separators.

    With `toward` of −1 or 1 it is rounded down or up, so that a bound still holds as written.

    >>> [number(x) for x in (0.20593, 0.00312, 0.0000021, 1, -1.5, 52041.2)]
    ['0.206', '0.0031', '<0.0001', '1', '−1.500', '52,041']
    >>> number(None), number(float("nan")), number(1e-17)
    ('–', '–', '0')
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    size = abs(value)
    if size < NOTHING:
        return "0"
    if size < 1000 and size == int(size):
        return f"{value:.0f}".replace("-", "−")
    if size >= 1e9:
        return f"{value:.{digits}g}".replace("-", "−")
    if size < 0.00005:
        return "<0.0001" if value > 0 else "−<0.0001"
    decimals = max(0, digits + (size < 0.01) - max(0, floor(log10(size))))
    return f"{rounded(value, decimals, toward):,.{decimals}f}".replace("-", "−")


def rounded(value: float, decimals: int, toward: int = 0) -> float:
    """A number cut to its decimals, down or up with `toward` of −1 or 1; else unchanged.

    >>> rounded(0.0659, 3, -1), rounded(0.0651, 3, 1), rounded(0.065, 3, 1)
    (0.065, 0.066, 0.065)
    """
    if not toward:
        return value
    scale = 10.0**decimals
    integer = floor(value * scale + 1e-9) if toward < 0 else ceil(value * scale - 1e-9)
    return integer / scale


def extent(low: float | None, high: float | None, to: str = "to") -> str:
    """The ends of an interval, rounded outward.

    >>> extent(0.0659, 0.12341), extent(-0.0659, 1), extent(None, None)
    ('0.065 to 0.124', '−0.066 to 1', '– to –')
    """
    return f"{number(low, toward=-1)} {to} {number(high, toward=1)}"


def read_number(text: str) -> float:
    """The number in a text of plain digits, or a ValueError.

    Python would read 0.0_5 as 0.05, and the digits of every script.

    >>> read_number("-2.5e3")
    -2500.0
    >>> read_number("0.0_5")
    Traceback (most recent call last):
    ValueError: '0.0_5' is not a number in plain digits
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number in plain digits")
    return float(text)


def finite_number(text: str) -> float | None:
    """The finite number in a text of plain digits, or None."""
    try:
        value = read_number(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def gap_points(gap: float) -> str:
    """An observed difference of rates, in percentage points.

    >>> gap_points(0.1234), gap_points(0.0004)
    ('12.3 percentage points', '0.0 percentage points')
    """
    return f"{100 * gap:.1f} percentage points"


def points(low: float) -> str:
    """A lower bound of a difference of rates in percentage points, rounded down.

    >>> points(0.0879), points(0.0004)
    ('8.7 percentage points', '0.04 percentage points')
    """
    tenths = int(1000 * low + 1e-9)
    return f"{tenths / 10 if tenths else 100 * low:{'.1f' if tenths else '.1g'}} percentage points"


def points_up(high: float) -> str:
    """An upper bound of a difference of rates in percentage points, rounded up.

    >>> points_up(0.0311), points_up(1.0), points_up(0.01)
    ('3.2 percentage points', '100 percentage points', '1 percentage point')
    """
    tenths = ceil(1000 * high - 1e-9)
    unit = "percentage point" if tenths == 10 else "percentage points"
    return f"{tenths / 10:.{0 if tenths % 10 == 0 else 1}f} {unit}"


def people_changed(names: Sequence[Any], change: Sequence[float]) -> str:
    """Who is selected more often and who less, in people; the largest changes are named.

    >>> people_changed(["F", "M"], [311.6, -40.2])
    ': 312 more selected in F; 40 fewer in M'
    """
    order = sorted(range(len(change)), key=change.__getitem__)
    more = [(round(float(change[i])), names[i]) for i in order[::-1] if change[i] >= 0.5]
    fewer = [(round(-float(change[i])), names[i]) for i in order if change[i] <= -0.5]
    sides, verb = [], " selected"
    for groups, word in ((more, "more"), (fewer, "fewer")):
        changes = [*groups[:NAMED]]
        if others := sum(count for count, _ in groups[NAMED:]):
            changes.append((others, "other groups"))
        texts = []
        for count, name in changes:
            texts.append(f"{count:,} {word}{verb} in {name}")
            verb = ""  # said once
        sides += [", ".join(texts)] if texts else []
    return ": " + "; ".join(sides) if sides else ""


def percent(share: float | None) -> str:
    """A share of the whole; one decimal below ten percent.

    >>> percent(0.4231), percent(0.0423), percent(0.0), percent(None)
    ('42%', '4.2%', '0%', '–')
    """
    if share is None or not isfinite(share):
        return UNDEFINED
    if 0 < abs(share) < 0.0005:
        return "<0.1%" if share > 0 else "−<0.1%"
    return f"{100 * share:.{1 if 0 < abs(share) < 0.0995 else 0}f}%".replace("-", "−")


def percents(*shares: float) -> list[str]:
    """Shares of the whole, with as many decimals as distinguish them.

    >>> percents(0.268, 0.272), percents(0.07, 0.256), percents(0.5, 0.5)
    (['26.8%', '27.2%'], ['7.0%', '26%'], ['50%', '50%'])
    """
    texts = [percent(share) for share in shares]
    for digits in (1, 2, 3):
        if len(set(texts)) == len(set(shares)):
            break
        texts = [f"{100 * share:.{digits}f}%".replace("-", "−") for share in shares]
    return texts


def listing(items: Sequence[str]) -> str:
    """Items joined as in a sentence.

    >>> listing(["a"]), listing(["a", "b", "c"]), listing([])
    ('a', 'a, b and c', '')
    """
    *first, last = items or [""]
    return f"{', '.join(first)} and {last}" if first else last


def shortened(label: str, longest: int) -> str:
    """A label without some of its middle words, since names of groups differ at their ends.

    >>> shortened("Female × Amer-Indian-Eskimo × Never-married", 30)
    'Female × … × Never-married'
    >>> shortened("Donaudampfschifffahrtsgesellschaft", 12)
    'Donau…schaft'
    """
    if len(label) <= longest:
        return label
    words, best = label.split(), ("", "")
    for first in range(1, len(words)):
        for last in range(1, len(words) - first + 1):
            ends = " ".join(words[:first]), " ".join(words[-last:])
            if len(best[0] + best[1]) < len(ends[0] + ends[1]) <= longest - 3:
                best = ends
    if best[0]:
        return f"{best[0]} … {best[1]}"
    return f"{label[: (longest - 1) // 2]}…{label[len(label) - longest // 2 :]}"


def p_value(value: float | None) -> str:
    """A p-value without its leading zero.

    >>> p_value(0.0003), p_value(0.0213), p_value(0.31), p_value(1.0), p_value(None)
    ('<.001', '.021', '.31', '1', '–')
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    if value < 0.001:
        return "<.001"
    return f"{value:.{3 if value < 0.1 else 2}f}".removeprefix("0") if value < 0.995 else "1"


def visible(text: str) -> str:
    r"""Text without control characters: a mark for anything unprintable except line breaks.

    Escapes, control characters, and those that turn the direction of writing. Nor can it steer a
    build server.

    >>> visible("a\x1b[31mb\u202e")
    'a�[31mb�'
    """
    return unheeded("".join(c if c == "\n" or c.isprintable() else "\ufffd" for c in text))


def plain(text: str) -> str:
    r"""Text in one line without control characters, which are shown as marks.

    >>> plain("a\x1b[31mb"), plain("")
    ('a�[31mb', '(empty)')
    """
    return visible(text).replace("\n", "\ufffd") or "(empty)"


def unheeded(text: str) -> str:
    r"""Text without commands for a build server, whatever the names of groups and files.

    GitHub obeys a line that begins with "::", and "##[" anywhere; Azure has "##vso[", TeamCity
    "##teamcity[". A space breaks each of them.

    >>> print(unheeded("::error::gone\n  ::notice::x, or ##[error]gone, ##vso[task.complete]"))
    : :error::gone
      : :notice::x, or ## [error]gone, ##vso [task.complete]
    """
    return BRACKET.sub(r"\1 [", COLONS.sub(r"\1: ", text))


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table; no cell can break out of it.

    >>> print(markdown_table(["group", "rows"], [["a|b", "3"]]))
    | group | rows |
    | --- | --- |
    | a\|b | 3 |
    """
    lines = [heads, ["---"] * len(heads), *([escaped(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    r"""Text in one line without markup.

    >>> print(escaped("a <b> *c*"))
    a \<b\> \*c\*
    """
    text = visible(text)
    for mark in "\\|<>`*[]":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
