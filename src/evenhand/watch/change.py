"""Changes of gaps within parts: from a baseline, in the last window, or at an unknown time.

A gap may be stable and tolerated by a bound, so it is compared with the past gap and not with 0.
Let U be a group's excess (`within.py`), g the gaps of before and after together, and X = U − L g
for the time after: its mean is about 0 if gaps stayed the same. With b the share of the information
from before and c = 1 − b that from after, X is b times an error of after less c times one of
before, so for a tilt t the logarithm of E exp(t X) is at most

    V₁ (cosh bt − 1) + V₀ (cosh ct − 1), and similarly for the skewness,

where V are the variances given the margins of each part, enlarged where gaps make them larger. X is
a Brownian motion in V₁b, so the mixture over tilts is an e-process. Restarted with each span of
days and summed it is the e-detector of Shiryaev and Roberts (Shin, Ramdas and Rinaldo 2022): if
gaps stay the same, a bound of A is passed after A days on average, or later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._words import gap_points, listing, number
from evenhand.watch.evalues import TILTS, WEIGHTS, log_mean
from evenhand.watch.ledger import day_name
from evenhand.watch.rates import Rates
from evenhand.watch.status import Against, Change
from evenhand.watch.within import Scores, expected

Floats = NDArray[np.float64]

LEAST = 1e-9


def log_shifted(
    rates: Rates, before: Scores, after: Scores, pairs: Floats | None, spread: Floats
) -> Floats:
    """Log e-values (…, cells, groups) of a change of gaps; 0 where either period has no rows.

    `spread` is the ratio of variances to those of independent rows.
    """
    both_parts = before + after
    total = both_parts.each(lambda part: part.reshape(-1, *part.shape[-2:])[0])
    remaining = after.beyond - expected(total, after.information, pairs)
    share = before.information / np.maximum(both_parts.information, LEAST)
    spread = spread * _enlarged(total, rates.sizes)
    logs = []
    for tilt in TILTS:
        back, forth = tilt * share, tilt * (1 - share)
        cost = after.variance * (np.cosh(back) - 1) + before.variance * (np.cosh(forth) - 1)
        skew = after.third * (np.sinh(back) - back) - before.third * (np.sinh(forth) - forth)
        logs += [sign * (tilt * remaining - spread * skew) - spread * cost for sign in (1, -1)]
    statistics = log_mean(np.stack(logs, axis=-1), np.repeat(WEIGHTS / 2, 2))
    is_known = (before.information > LEAST) & (after.information > LEAST)
    return np.asarray(np.where(is_known, statistics, 0.0))


def _enlarged(scores: Scores, sizes: Floats) -> Floats:
    """The ratio of U's variance with these gaps to that of equal groups."""
    mine = sizes / np.maximum(sizes.sum(axis=-1, keepdims=True), LEAST)
    information = np.maximum(scores.information, LEAST)
    rate = np.clip(scores.level / information, 0.0, 1.0)
    elsewhere = np.clip(rate - scores.beyond / information, 0.0, 1.0)
    common = mine * rate + (1 - mine) * elsewhere
    difference = (1 - mine) * rate * (1 - rate) + mine * elsewhere * (1 - elsewhere)
    return np.asarray(np.maximum(difference / np.maximum(common * (1 - common), LEAST), 1.0))


def compare_gaps(
    name: str,
    rates: Rates,
    logs: Floats,
    before: Scores,
    now: Scores,
    weights: Floats,
    error: float,
    against: Against,
    when: str,
) -> Change:
    """The change of every group's gap, by log e-values (cells, groups)."""
    by_group = log_mean(logs.T, np.full(len(logs), 1 / len(logs)))
    joint = float(np.logaddexp(log_mean(by_group, weights), np.log(max(1 - weights.sum(), 1e-300))))
    needed = 1 / error
    significant = np.flatnonzero(by_group + np.log(weights) >= np.log(needed))
    leading = significant[np.argsort(-by_group[significant])].tolist()
    changed = joint >= np.log(needed)
    leading = leading or ([int(by_group.argmax())] if changed else [])
    groups = tuple(rates.groups[i] for i in leading)
    limit = 1 if len(rates.groups) == 2 else 3  # a gap of two groups is one gap
    descriptions = [_gap_change(rates, before, now, logs, i) for i in leading[:limit]]
    suffix = f", and {len(leading) - 3} more" if len(leading) > 3 else ""
    sentence = f"{name}: no group's gap to the others is shown to have changed {when}."
    if changed:
        sentence = f"{name} has changed {when}: {listing(descriptions)}{suffix}."
    return Change(
        name,
        against,
        bool(changed),
        float(np.exp(min(joint, 690.0))),
        needed,
        groups,
        None,
        sentence,
    )


def since_unknown(
    name: str,
    starts: list[int],
    logs: Floats,
    groups: tuple[Label, ...],
    weights: Floats,
    days: float,
) -> Change:
    """Whether gaps have changed at an unknown time, by the e-detector over all starts.

    `logs` (starts, cells, groups) are each group's e-process from a start on, the latest first.
    """
    by_group = log_mean(np.moveaxis(logs, 1, -1), np.full(logs.shape[1], 1 / logs.shape[1]))
    padded = np.concatenate([by_group, np.zeros((len(by_group), 1))], axis=1)
    sums = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    total, best = float(np.logaddexp.reduce(sums)), int(np.argmax(sums))
    evidence, since = float(np.exp(min(total, 690.0))), day_name(starts[best])
    arl = f"once in {days:,.0f} days or more on average"
    if evidence < days:
        sentence = f"{name}: no sign that gaps between groups have changed."
        return Change(name, "any time", False, evidence, days, (), None, sentence)
    leading = _leading(by_group[best] + np.log(weights), groups)
    names = listing([show(group) for group in leading[:3]])
    sentence = f"{name}: gaps between groups have changed since about {since}, most of all that of "
    sentence += f"{names} to the others (by chance this is said {arl})."
    return Change(name, "any time", True, evidence, days, leading, since, sentence)


def _leading(logs: Floats, groups: tuple[Label, ...]) -> tuple[Label, ...]:
    """The group with the most evidence, and others with at least a tenth as much."""
    order = np.argsort(-logs)
    places = order[logs[order] >= logs[order[0]] - np.log(10)]
    return tuple(groups[i] for i in places.tolist())


def _gap_change(rates: Rates, before: Scores, now: Scores, logs: Floats, group: int) -> str:
    """A group's gap to the others within parts, before and now."""
    place = int(logs[:, group].argmax()), group
    was, is_now = (
        _side(float(part.beyond[place] / part.information[place]), rates.limits)
        for part in (before, now)
    )
    return f"{show(rates.groups[group])} from {was} to {is_now}"


def _side(gap: float, limits: tuple[float, float]) -> str:
    """A gap in words.

    >>> _side(-0.1234, (0.0, 1.0))
    '12.3 percentage points below the others'
    """
    low, high = limits
    size = abs(gap) * (high - low)
    amount = gap_points(size) if limits == (0.0, 1.0) else number(size)
    return f"{amount} {'above' if gap > 0 else 'below'} the others"
