"""Verdicts that could not have come out otherwise: two scores that are functions of one number.

Of two groups with values a and b, MPD is |a − b|. Gini and PQ do not change with a common factor,
so they are functions of the ratio a / b, both rising as it leaves 1. Of exponentials that ratio is
exp(a − b): Gini and PQ of them are functions of the gap, as MPD is. Rising functions of one number
put everything in the same order, and so do their largest values over the same classes or cut
points.
"""

from __future__ import annotations

from paper.findings.criteria import Asked

SAME_RATIO = (
    "For two groups both are functions of the ratio of the same two values: that the orders are "
    "the same is a theorem."
)
SAME_GAP = (
    "For two groups both are functions of the gap between the same two values: that the orders are "
    "the same is a theorem."
)
MEAN_AND_SUM = (
    "The sum is the mean times the number of classes, so that it orders settings as the mean does."
)


def depends_on(question: str) -> str:
    """Of two groups, which number of theirs a question is a rising function of.

    >>> depends_on("strong_parity.mpd"), depends_on("strong_parity.pq")
    ('gap', 'gap')
    >>> depends_on("statistical_parity.pq")
    'ratio'
    """
    measure = question.partition(" ")[0].rpartition(".")[2]
    return "gap" if measure == "mpd" or _is_exponential(question) else "ratio"


def theorem(asked: Asked, first: str, second: str, groups: int) -> str:
    """Why two questions order everything alike; nothing where they need not."""
    same_values = _values(first) == _values(second)
    if groups != 2 or asked.integral or not same_values:
        return ""
    told = {depends_on(first), depends_on(second)}
    if len(told) > 1:
        return ""
    return SAME_GAP if told == {"gap"} else SAME_RATIO


def _values(question: str) -> tuple[str, ...]:
    """The criterion and the options that say what is compared, without measure and transform."""
    head, *options = question.split(" ")
    return head.rpartition(".")[0], *(one for one in options if not one.startswith("transform="))


def _is_exponential(question: str) -> bool:
    """Strong parity takes exponentials by itself, unless it is kept to where F is not small."""
    head, *options = question.split(" ")
    if head.startswith("strong_parity") and not options:
        return True
    return "transform=exp" in options
