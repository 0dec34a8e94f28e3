"""Change of gaps within parts: beside a baseline, in the last window, or since an unknown day.

A gap may be steady, as may a bound that tolerates it, so a gap is compared with that of the past
and not with none. Let U be what a group has beyond its share (`within.py`), g the gaps of before
and after together, and X = U − L g of what came after: about 0 on average if gaps stayed the same.
With b the part of the information that is from before and c = 1 − b that from after, X is b times
an error of after less c times one of before, so for a tilt t the logarithm of E exp(t X) is at most

    V₁ (cosh bt − 1) + V₀ (cosh ct − 1), and skewness alike,

in which V are the variances given the margins of each part, enlarged where gaps make them larger. X
is a Brownian motion in V₁b, so the mixture over tilts is an e-process. Started again with each span
of days and added up it is the e-detector of Shiryaev and Roberts (Shin, Ramdas and Rinaldo 2022): a
bound of A is passed after A days on average, or more, if gaps stay the same.
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
    """Log e-values (…, cells, groups) that gaps after are not those before; 0 where either is none.

    `spread` is how many times as large variances are as those of independent rows.
    """
    whole = before + after
    total = whole.each(lambda part: part.reshape(-1, *part.shape[-2:])[0])
    rest = after.beyond - expected(total, after.information, pairs)
    share = before.information / np.maximum(whole.information, LEAST)
    spread = spread * _enlarged(total, rates.sizes)
    logs = []
    for tilt in TILTS:
        back, forth = tilt * share, tilt * (1 - share)
        cost = after.variance * (np.cosh(back) - 1) + before.variance * (np.cosh(forth) - 1)
        skew = after.third * (np.sinh(back) - back) - before.third * (np.sinh(forth) - forth)
        logs += [sign * (tilt * rest - spread * skew) - spread * cost for sign in (1, -1)]
    found = log_mean(np.stack(logs, axis=-1), np.repeat(WEIGHTS / 2, 2))
    is_known = (before.information > LEAST) & (after.information > LEAST)
    return np.asarray(np.where(is_known, found, 0.0))


def _enlarged(scores: Scores, sizes: Floats) -> Floats:
    """How many times as large U's variance is with these gaps as if groups were alike."""
    mine = sizes / np.maximum(sizes.sum(axis=-1, keepdims=True), LEAST)
    information = np.maximum(scores.information, LEAST)
    rate = np.clip(scores.level / information, 0.0, 1.0)
    others = np.clip(rate - scores.beyond / information, 0.0, 1.0)
    common = mine * rate + (1 - mine) * others
    apart = (1 - mine) * rate * (1 - rate) + mine * others * (1 - others)
    return np.asarray(np.maximum(apart / np.maximum(common * (1 - common), LEAST), 1.0))


def beside(
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
    """Every group's gap beside what it was, by log e-values (cells, groups)."""
    each = log_mean(logs.T, np.full(len(logs), 1 / len(logs)))
    every = float(np.logaddexp(log_mean(each, weights), np.log(max(1 - weights.sum(), 1e-300))))
    needed = 1 / error
    shown = np.flatnonzero(each + np.log(weights) >= np.log(needed))
    which = shown[np.argsort(-each[shown])].tolist()
    changed = every >= np.log(needed)
    which = which or ([int(each.argmax())] if changed else [])
    groups = tuple(rates.groups[i] for i in which)
    most = 1 if len(rates.groups) == 2 else 3  # a gap of two groups is one gap
    told = [_moved(rates, before, now, logs, i) for i in which[:most]]
    more = f", and {len(which) - 3} more" if len(which) > 3 else ""
    sentence = f"{name}: no group's gap to the others is shown to have changed {when}."
    if changed:
        sentence = f"{name} has changed {when}: {listing(told)}{more}."
    return Change(
        name,
        against,
        bool(changed),
        float(np.exp(min(every, 690.0))),
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
    """Whether gaps are no longer those of the past: the e-detector over all starts.

    `logs` (starts, cells, groups) are of each group's e-process from there on, the latest first.
    """
    each = log_mean(np.moveaxis(logs, 1, -1), np.full(logs.shape[1], 1 / logs.shape[1]))
    padded = np.concatenate([each, np.zeros((len(each), 1))], axis=1)
    sums = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    total, best = float(np.logaddexp.reduce(sums)), int(np.argmax(sums))
    evidence, since = float(np.exp(min(total, 690.0))), day_name(starts[best])
    arl = f"once in {days:,.0f} days or more on average"
    if evidence < days:
        sentence = f"{name}: no sign that gaps between groups have changed."
        return Change(name, "any time", False, evidence, days, (), None, sentence)
    leading = _leading(each[best] + np.log(weights), groups)
    names = listing([show(group) for group in leading[:3]])
    sentence = f"{name}: gaps between groups have changed since about {since}, most of all that of "
    sentence += f"{names} to the others (by chance this is said {arl})."
    return Change(name, "any time", True, evidence, days, leading, since, sentence)


def _leading(logs: Floats, groups: tuple[Label, ...]) -> tuple[Label, ...]:
    """The group that carries most of it, and others that carry at least a tenth as much."""
    order = np.argsort(-logs)
    near = order[logs[order] >= logs[order[0]] - np.log(10)]
    return tuple(groups[i] for i in near.tolist())


def _moved(rates: Rates, before: Scores, now: Scores, logs: Floats, group: int) -> str:
    """A group's gap to the others within parts, before and now."""
    at = int(logs[:, group].argmax()), group
    was, is_now = (
        _side(float(part.beyond[at] / part.information[at]), rates.limits) for part in (before, now)
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
