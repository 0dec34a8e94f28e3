"""Watching: how often fair streams alarm, how soon uneven ones do, how wide bands are, the cost.

    python benchmarks/watch.py alarms --streams 2000 --looks 1000 --groups 2 10 50
    python benchmarks/watch.py rows
    python benchmarks/watch.py widths
    python benchmarks/watch.py coverage --streams 100 --groups 2 10 50
    python benchmarks/watch.py crowds --streams 1000
    python benchmarks/watch.py clusters --streams 1000 --looks 200
    python benchmarks/watch.py drift --streams 200 --looks 1000
    python benchmarks/watch.py delays --streams 100
    python benchmarks/watch.py cost

Each prints a table in Markdown. Streams are vectorized; every look is looked at.
"""

import argparse
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta, chi2, ncx2, norm

import evenhand as eh
from evenhand._audit.questions import questions_of
from evenhand._uncertainty.geometry import upper_limits
from evenhand.measures import MEASURES as KNOWN
from evenhand.watch.bands import (
    SCALE,
    Bound,
    _AnytimeSearch,
    _Cell,
    _cloud,
    _heterogeneity,
    _stretched,
    band_of,
)
from evenhand.watch.boundary import widening
from evenhand.watch.change import log_shifted
from evenhand.watch.clusters import (
    Pairs,
    bets_of,
    log_clusters_differ,
    means_of,
    rates_of_means,
)
from evenhand.watch.evalues import (
    Excess,
    against_later,
    against_others,
    group_weights,
    log_against_equality,
    log_mean,
    log_one_differs,
)
from evenhand.watch.ledger import added
from evenhand.watch.many_groups import AnytimeVariationTest
from evenhand.watch.rates import Rates
from evenhand.watch.within import Scores, scores_of, within

ERROR = 0.05
ROWS = 10  # of each group in a look
GAP = 0.1
SIZES = ("equal", "unequal", "changing")
MEASURES = {name: KNOWN[name] for name in ("mpd", "gini", "pq")}


class Stream:
    """Many streams at once: hits and rows so far, and the sums that evidence is made of."""

    def __init__(self, streams: int, groups: int) -> None:
        self.shape = (streams, groups)
        self.hits, self.rows = np.zeros(self.shape), 0
        self.sums = [[np.zeros(self.shape) for _ in range(3)] for _ in range(2)]
        self.weights = group_weights(np.zeros(groups, dtype=int))

    def add(self, hits: np.ndarray, rows: int) -> None:
        self.hits, self.rows = self.hits + hits, self.rows + rows
        sizes = np.full(self.shape, float(rows))
        for total, how in zip(self.sums, (against_others, against_later), strict=True):
            for part, more in zip(total, how(hits, sizes), strict=True):
                part += more

    def log_evidence(self) -> np.ndarray:
        return log_against_equality(Excess(*self.sums[0]), Excess(*self.sums[1]), self.weights)

    def plain_gate(self) -> np.ndarray:
        """A chi-squared test of homogeneity at 5 %, as if this were the only look."""
        pooled = self.hits.mean(axis=1, keepdims=True) / self.rows
        variance = np.maximum(self.rows * pooled * (1 - pooled), 1e-12)[:, 0]
        spread = ((self.hits - self.rows * pooled) ** 2).sum(axis=1) / variance
        return chi2.sf(spread, self.shape[1] - 1) < ERROR

    def bootstrap(self) -> np.ndarray:
        """Bootstrap intervals of the groups' rates, of which some two do not overlap.

        A group's bootstrapped rate is binomial; its quantiles are taken to be normal.
        """
        rate = self.hits / self.rows
        half = norm.isf(ERROR / 2) * np.sqrt(rate * (1 - rate) / self.rows)
        return (rate - half).max(axis=1) > (rate + half).min(axis=1)


def ever(rates, looks, streams, seed, every=1):
    """The share of streams that ever alarm, by each way of looking."""
    rng = np.random.default_rng(seed)
    stream = Stream(streams, len(rates))
    alarmed = {name: np.zeros(streams, dtype=bool) for name in ("watch", "gate", "bootstrap")}
    for look in range(1, looks + 1):
        stream.add(rng.binomial(ROWS, rates, size=stream.shape).astype(float), ROWS)
        alarmed["watch"] |= stream.log_evidence() >= np.log(1 / ERROR)
        if look >= 10 and look % every == 0:  # the others are given a hundred rows to begin with
            alarmed["gate"] |= stream.plain_gate()
            alarmed["bootstrap"] |= stream.bootstrap()
    return alarmed


def alarms(streams: int, looks: int, sizes: tuple[int, ...]) -> None:
    heads("groups", "rate", "watch", "upper limit", "plain gate", "bootstrap")
    for groups in sizes:
        for rate in (0.02, 0.3):
            found = ever(np.full(groups, rate), looks, streams, seed=groups)
            share = {name: each.mean() for name, each in found.items()}
            high = beta.isf(0.025, found["watch"].sum() + 1, streams - found["watch"].sum())
            print(
                f"| {groups} | {rate} | {share['watch']:.1%} | {high:.1%} "
                f"| {share['gate']:.0%} | {share['bootstrap']:.0%} |",
                flush=True,
            )


def watched_rows(rates, most, streams, seed):
    """Rows of each group until the watch alarms."""
    rng = np.random.default_rng(seed)
    stream, first = Stream(streams, len(rates)), np.full(streams, np.inf)
    while stream.rows < most and np.isinf(first).any():
        stream.add(rng.binomial(ROWS, rates, size=stream.shape).astype(float), ROWS)
        now = (stream.log_evidence() >= np.log(1 / ERROR)) & np.isinf(first)
        first = np.where(now, stream.rows, first)
    return first


def betting_rows(rates, most, streams, seed):
    """The same by Auditing Fairness by Betting (Chugg et al. 2023): pairs, online Newton steps."""
    rng = np.random.default_rng(seed)
    wealth, bet, squares = np.zeros(streams), np.zeros(streams), np.ones(streams)
    first = np.full(streams, np.inf)
    for row in range(1, most + 1):
        payoff = (rng.random(streams) < rates[0]) * 1.0 - (rng.random(streams) < rates[1])
        wealth += np.log1p(bet * payoff)
        first = np.where((wealth >= np.log(1 / ERROR)) & np.isinf(first), row, first)
        slope = -payoff / (1 + bet * payoff)
        squares += slope**2
        bet = np.clip(bet - 2 / (2 - np.log(3)) * slope / squares, -0.5, 0.5)
    return first


def fixed_rows(rates, power):
    """Rows of each group with which a single chi-squared test has that power."""
    rates, free = np.asarray(rates), len(rates) - 1
    critical, pooled = chi2.isf(ERROR, free), rates.mean()
    per_row = ((rates - pooled) ** 2).sum() / (pooled * (1 - pooled))
    low, high = 1.0, 1e7
    while high / low > 1.0005:
        middle = np.sqrt(low * high)
        enough = ncx2.sf(critical, free, middle * per_row) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def rows(streams: int) -> None:
    tests = ("one test, power 80 %", "power 50 %")
    heads("rates", "watch", "betting", *tests, "to betting", "to 80 %", "to 50 %")
    apart_one = np.full(50, 0.3)
    apart_one[7] += GAP
    cases = {
        "0.3 and 0.4": np.array([0.3, 0.3 + GAP]),
        "0.5 and 0.6": np.array([0.5, 0.5 + GAP]),
        "0.02 and 0.12": np.array([0.02, 0.02 + GAP]),
        "50 groups of 0.3, one of 0.4": apart_one,
    }
    for name, rates in cases.items():
        ours = np.median(watched_rows(rates, 4000, streams if len(rates) == 2 else streams // 5, 1))
        theirs = np.median(betting_rows(rates, 3000, streams, 2)) if len(rates) == 2 else np.nan
        tests = [fixed_rows(rates, power) for power in (0.8, 0.5)]
        ratios = [ours / each for each in (theirs, *tests)]
        texts = [f"{each:.0f}" for each in (ours, theirs, *tests)] + [
            f"{each:.2f}" for each in ratios
        ]
        print(f"| {name} | {' | '.join(texts).replace('nan', '–')} |", flush=True)


SIMILAR = 0.2  # the correlation of two rows of a cluster
CLUSTERS = 10  # of each group in a look, of 1 to 9 rows


def drawn_part(rng, rates, spans):
    """A look's clusters: a table (clusters, groups) of hits and rows; each in one group, or two."""
    groups, number = len(rates), CLUSTERS * len(rates)
    sizes = np.zeros((number, groups), dtype=int)
    sizes[np.arange(number), np.arange(number) % groups] = rng.integers(1, 10, number)
    if spans:
        other = (np.arange(number) + 1) % groups
        sizes[np.arange(number), other] = rng.integers(0, 10, number)
    scale = 1 / SIMILAR - 1
    place = rng.beta(rates.mean() * scale, (1 - rates.mean()) * scale, (number, 1))
    shifted = np.clip(place * rates / rates.mean(), 0, 1)  # a cluster's luck is all its groups'
    return rng.binomial(sizes, shifted), sizes


def clustered_stream(rng, rates, spans, looks):
    """Evidence at each look, with clusters and as if rows were independent; the sums at ten."""
    groups, weights = len(rates), group_weights(np.zeros(len(rates), dtype=int))
    bets, means, plain, kept = None, None, Stream(1, groups), []
    logs = np.zeros((looks, 2))
    for look in range(looks):
        hits, sizes = drawn_part(rng, rates, spans)
        cluster, group = np.nonzero(sizes)
        pairs = Pairs(None, cluster, group, tuple(range(groups)))
        flat = tuple(part[sizes > 0][None].astype(float) for part in (hits, sizes))
        part = Rates(*flat, ("yes",), tuple(range(len(group))), np.zeros(1, np.intp))
        more = bets_of(part, pairs), means_of(part, pairs)
        bets, means = more if bets is None else (added(bets, more[0]), added(means, more[1]))
        for total, how in zip(plain.sums, (against_others, against_later), strict=True):
            both = (each.sum(axis=0)[None].astype(float) for each in (hits, sizes))
            for each, new in zip(total, how(*both), strict=True):
                each += new
        logs[look] = log_clusters_differ(bets, weights), plain.log_evidence()[0]
        if look + 1 in np.geomspace(1, looks, 10).astype(int):
            kept.append(means)
    return logs, kept


def clusters(streams: int, looks: int) -> None:
    heads("groups", "rate", "clusters in", "alarms", "upper limit", "as if independent")
    for groups, rate in ((2, 0.3), (2, 0.05), (10, 0.3)):
        for spans in (False, True):
            rng, number = np.random.default_rng(groups), streams if groups == 2 else streams // 5
            ever = np.array(
                [
                    clustered_stream(rng, np.full(groups, rate), spans, looks)[0].max(axis=0)
                    for _ in range(number)
                ]
            )
            alarmed = (ever >= np.log(1 / ERROR)).sum(axis=0)
            high = beta.isf(0.025, alarmed[0] + 1, number - alarmed[0])
            where = "two groups" if spans else "one group"
            shares = f"{alarmed[0] / number:.1%} | {high:.1%} | {alarmed[1] / number:.0%}"
            print(f"| {groups} | {rate} | {where} | {shares} |", flush=True)
    heads("rates", "clusters in", "clusters of each group until an alarm", "bands that missed")
    for rates in (np.array([0.3, 0.4]), np.array([0.3, 0.3]), np.linspace(0.02, 0.1, 5)):
        for spans in (False, True):
            rng, number = np.random.default_rng(1), max(streams // 5, 10)
            found = [clustered_stream(rng, rates, spans, looks) for _ in range(number)]
            over = [np.flatnonzero(logs[:, 0] >= np.log(1 / ERROR)) for logs, _ in found]
            first = np.median([CLUSTERS * (at[0] + 1) if len(at) else np.inf for at in over])
            missed = sum(not _all_inside(means, rates) for _, means in found)
            where = "two groups" if spans else "one group"
            told = f"{rates.min():g} to {rates.max():g}, {len(rates)} groups"
            print(f"| {told} | {where} | {first:.0f} | {missed} of {number} |", flush=True)


def _all_inside(looks, rates):
    """Whether the bands of MPD and PQ held the truth at all of some looks."""
    question = questions_of(["statistical_parity"], ["mpd"])[0]
    weights = group_weights(np.zeros(len(rates), dtype=int))
    for means in looks:
        for measure in (KNOWN["mpd"], KNOWN["pq"]):
            so_far = rates_of_means(means, question, {})
            found = band_of(so_far, measure, ERROR, "calibrated", weights)
            if not found.low - 1e-9 <= measure(rates) <= found.high + 1e-9:
                return False
    return True


def rates_of(hits, sizes):
    groups = tuple(range(len(hits)))
    return Rates(hits[None], sizes[None], ("yes",), groups, np.zeros(1, np.intp))


def single_look(hits, sizes, measure):
    lines = pd.DataFrame(
        {
            "group": np.repeat(np.arange(len(hits)), 2),
            "decision": np.tile([0, 1], len(hits)),
            "n": np.stack([sizes - hits, hits], axis=1).ravel().astype(int),
        }
    )
    counts = eh.tally(data=lines, rows="n", y_pred="decision", sensitive_features="group")
    return eh.interval("statistical_parity", counts, measure=measure, favorable=1)


def truths():
    """Rates alike or not, and how the groups' sizes compare."""
    for groups in (2, 10, 50):
        for base in (0.02, 0.3):
            for spread in (0.0, 0.3):
                factors = 1 + spread * np.random.default_rng(groups).standard_normal(groups)
                true = base * np.clip(factors, 0.2, 2.0)
                about = f"about {base}, " + ("alike" if spread == 0 else "not alike")
                for sizes in SIZES:
                    yield true, about, sizes


def widths(sets: int) -> None:
    """Width of bands over that of a single look's calibrated interval, at the same counts."""
    heads("groups", "rates", "sizes", "measure", "100 rows", "1,000", "10,000")
    for true, about, sizes in truths():
        if sizes == "changing":
            continue
        groups = len(true)
        weights = group_weights(np.zeros(groups, dtype=int))
        for name, measure in MEASURES.items():
            texts = []
            for number in (100, 1000, 10_000):
                rng, ratios = np.random.default_rng(groups + number), []
                rows = np.maximum(np.rint(number * groups * _shares(sizes, groups, 0.0)), 1.0)
                for hits in rng.binomial(rows.astype(int), true, size=(sets, groups)).astype(float):
                    if hits.sum() == 0:
                        continue
                    band = band_of(rates_of(hits, rows), measure, ERROR, "calibrated", weights)
                    once = single_look(hits, rows, measure)
                    ratios.append((band.high - band.low) / (once.high - once.low))
                texts.append(f"{np.mean(ratios):.2f}")
            print(f"| {groups} | {about} | {sizes} | {name} | {' | '.join(texts)} |", flush=True)


def coverage(streams: int, sizes: tuple[int, ...]) -> None:
    """Streams in which a band missed the truth at some look, from 10 to 10,000 rows."""
    looks = np.unique(np.geomspace(10, 10_000, 14).astype(int))
    heads("groups", "rates", "sizes", *MEASURES)
    for true, about, kind in truths():
        if len(true) not in sizes:
            continue
        rng, missed = np.random.default_rng(len(true)), dict.fromkeys(MEASURES, 0)
        for _ in range(streams):
            for name in _missed(rng, true, kind, looks):
                missed[name] += 1
        texts = [f"{missed[name]} of {streams}" for name in MEASURES]
        print(f"| {len(true)} | {about} | {kind} | {' | '.join(texts)} |", flush=True)


def _missed(rng, true, kind, looks):
    """The measures whose bands missed the truth in a stream."""
    groups, names = len(true), set()
    hits, rows = np.zeros(groups), np.zeros(groups)
    for at, more in enumerate(np.diff(looks, prepend=0)):
        new = rng.multinomial(more * groups, _shares(kind, groups, at / len(looks)))
        new = np.full(groups, more) if kind == "equal" else new
        hits, rows = hits + rng.binomial(new, true), rows + new
        seen = rows > 0
        if seen.sum() >= 2 and hits.sum() > 0:
            names |= {
                name
                for name, measure in MEASURES.items()
                if not _holds(hits[seen], rows[seen], measure, float(measure(true[seen])))
            }
    return names


def _holds(hits, rows, measure, truth):
    """Whether a band holds the truth; only this level is tested, not searched for."""
    cell = _Cell(hits, rows, (0.0, 1.0), measure.is_relative)
    scale, reach = widening(rows, ERROR, _heterogeneity(cell))
    above, below = (_cloud(_stretched(cell, by, reach)) for by in (scale, SCALE))
    if float(measure(hits / rows)) <= truth:
        return upper_limits([above], measure, reach)[0] >= truth - 1e-9
    more = float(np.log1p(rows / SCALE).mean())
    alike, apart = (Bound(-2 * np.log(part), more) for part in (ERROR, ERROR / 2))
    search = _AnytimeSearch(below, measure, ERROR)
    return search._excess(0.0, alike) < 0 or (truth > 0 and search._excess(truth, apart) < 0)


def crowds(streams: int) -> None:
    """The same of PQ of many groups, which is quick: forty looks."""
    looks = np.unique(np.geomspace(10, 10_000, 40).astype(int))
    heads("groups", "rates", "times as many rows", "too even", "too uneven")
    for groups in (15, 50):
        for base in (0.02, 0.3):
            for spread in (0.0, 0.1, 0.3):
                factors = 1 + spread * np.random.default_rng(groups).standard_normal(groups)
                true = base * np.clip(factors, 0.2, 2.0)
                for times in (1, 5):
                    ever = _crowd_misses(true, times, looks, streams)
                    told = f"about {base}, CV {true.std() / true.mean():.2f}"
                    counts = f"{ever[0]} of {streams} | {ever[1]} of {streams}"
                    print(f"| {groups} | {told} | {times} | {counts} |", flush=True)


def _crowd_misses(true, times, looks, streams):
    rng, groups, misses = np.random.default_rng(1), len(true), [0, 0]
    level, shares = float(true.var() / true.mean() ** 2), np.geomspace(1, times, groups)
    for _ in range(streams):
        hits, rows, ever = np.zeros(groups), np.zeros(groups), [False, False]
        for more in np.diff(looks, prepend=0):
            new = np.maximum(np.rint(more * shares / shares.mean()), 1).astype(int)
            hits, rows = hits + rng.binomial(new, true), rows + new
            if hits.sum():
                crowd = AnytimeVariationTest(hits, rows, ERROR)
                ever[0] |= level > 0 and crowd.is_too_even(level)
                ever[1] |= crowd.is_too_uneven(max(level, 1e-12))
        misses = [have + each for have, each in zip(misses, ever, strict=True)]
    return misses


def _shares(sizes, groups, part):
    """Groups' shares of the rows in the part of a stream: alike, 1 to 20 times as many, or so in
    the first half and the other way round in the second, the last group only from then on."""
    if sizes == "equal":
        return np.full(groups, 1 / groups)
    times = np.geomspace(1, 20, groups)
    if sizes == "changing":
        times = times.copy() if part < 0.5 else times[::-1].copy()
        times[-1] *= part >= 0.5
    return times / times.sum()


def cost(days: int = 300) -> None:
    """CPU time of a part and of a status with a bound, of 200 groups: medians."""
    size = 20_000
    heads("criteria", "bound on", "rates", "a part, ms", "a status, ms", "state, kB")
    for criteria in (["statistical_parity"], ["statistical_parity", "equal_opportunity"]):
        for measure in ("mpd", "shortfall", "gini", "pq"):
            for spread in (0.0, 0.2):
                rng = np.random.default_rng(0)
                bounds = {f"{name}.{measure}": 0.1 for name in criteria}
                watch = eh.Watch(criteria, favorable=1, measures=measure, fail_if=bounds)
                spent, looked = [], []
                for day in range(days):
                    group = rng.integers(0, 200, size)
                    chosen = rng.random(size) < 0.3 + spread * (group / 200 - 0.5)
                    columns = rng.integers(0, 2, size), chosen.astype(int)
                    counts = eh.tally(*columns, sensitive_features=group)
                    at = date.fromordinal(738_000 + 6 * day)
                    for times, act in (
                        (spent, lambda: watch.update(counts, part=str(day), at=at)),  # noqa: B023
                        (looked, watch.status),
                    ):
                        start = time.process_time()
                        act()
                        times.append(time.process_time() - start)
                state = Path(tempfile.mkdtemp()) / "watch.json"
                watch.save(state)
                part, status = (1e3 * np.median(times[-50:]) for times in (spent, looked))
                told = "alike" if spread == 0 else "0.2 to 0.4"
                kilobytes = f"{state.stat().st_size / 1000:.0f}"
                figures = f"{part:.1f} | {status:.1f} | {kilobytes}"
                print(f"| {len(criteria)} | {measure} | {told} | {figures} |", flush=True)


DRIFTS = ("none", "mix and rate", "seasons", "a group absent", "mix and rate, steady gap 0.05")
PART = 40  # rows of a part, of both groups
SPANS = 120  # at most, as the watch keeps them


def drifting(kind, look, looks):
    """The second group's share of a part, its rate and that of the first."""
    place = look / looks
    share, rate = 0.05 + 0.9 * place, 0.1 + 0.5 * place
    if kind == "none":
        share, rate = 0.5, 0.3
    elif kind == "seasons":
        share, rate = 0.5 + 0.4 * np.sin(look / 30), 0.35 + 0.25 * np.sin(look / 30)
    elif kind == "a group absent":
        share, rate = share * (look % 7 < 4), 0.15 + 0.3 * (look % 7 < 4)
    gap = 0.05 if "gap" in kind else 0.0
    return share, rate + gap, rate


class Parts:
    """Streams of parts of two groups (starts, streams, groups), and the sums of all and by span."""

    def __init__(self, streams, looks):
        self.looks, self.shape = looks, (streams, 2)
        self.hits, self.sizes = np.zeros(self.shape), np.zeros(self.shape)
        self.joint, self.spans = [np.zeros(self.shape) for _ in range(3)], {}
        self.width, self.look = 1, 0

    def add(self, hits, sizes):
        part = scores_of(self._rates(hits, sizes))
        at = self.look // self.width
        self.spans[at] = self.spans[at] + part if at in self.spans else part
        self.hits, self.sizes = self.hits + hits, self.sizes + sizes
        for total, more in zip(self.joint, against_later(hits, sizes), strict=True):
            total += more
        self.look += 1
        while len(self.spans) > SPANS:
            self.width, merged = 2 * self.width, {}
            for place, sums in sorted(self.spans.items()):
                merged[place // 2] = merged[place // 2] + sums if place // 2 in merged else sums
            self.spans = merged

    def _rates(self, hits, sizes):
        streams = tuple(range(len(hits)))
        return Rates(hits, sizes, streams, (0, 1), np.arange(len(streams)))

    def totals(self):
        each = [sums for _, sums in sorted(self.spans.items(), reverse=True)]
        after_all = Scores(*(np.cumsum(parts, axis=0) for parts in zip(*each, strict=True)))
        return Scores(*(part[-1] for part in after_all)), after_all

    def log_evidence(self, total):
        weights = group_weights(np.zeros(2, dtype=int))
        return log_against_equality(Excess(*total[:3]), Excess(*self.joint), weights)

    def log_detector(self, total, later):
        """The logarithm of the e-detector of a changed gap."""
        rates = self._rates(self.hits, self.sizes)
        logs = log_shifted(rates, total - later, later, None, np.ones(self.shape))
        return np.logaddexp.reduce(log_mean(logs, np.array([0.5, 0.5])), axis=0)

    def log_apart_detector(self, later):
        """The same of groups that differ at all, whatever the gap of the past."""
        logs = log_one_differs(Excess(*later[:3]))
        return np.logaddexp.reduce(log_mean(logs, np.array([0.5, 0.5])), axis=0)

    def bands(self, total, streams, is_pooled=False):
        """The bands of MPD of some streams, of gaps within parts or of pooled rates."""
        weights = group_weights(np.zeros(2, dtype=int))
        for i in streams:
            rates = rates_of(self.hits[i], self.sizes[i])
            if not is_pooled:
                one = Scores(*(part[i : i + 1] for part in total))
                rates = within(rates, one, None, 0.0).rates
            yield band_of(rates, KNOWN["mpd"], ERROR, "calibrated", weights)


def _fed(parts, rng, kind):
    share, first, second = drifting(kind, parts.look, parts.looks)
    sizes = rng.binomial(PART, share, size=parts.shape[0])
    sizes = np.stack([PART - sizes, sizes], axis=1)
    parts.add(rng.binomial(sizes, [first, second]).astype(float), sizes.astype(float))


def drift(streams: int, looks: int) -> None:
    """Streams without a change that ever alarm, at all looks; bounds of 0.1 at forty of them."""
    heads("drift", "differs", "a change", "bound violated", "the same pooled", "kept at the end")
    some = np.unique(np.geomspace(20, looks, 40).astype(int))
    for kind in DRIFTS:
        rng, parts = np.random.default_rng(1), Parts(streams, looks)
        ever, looked = np.zeros((4, streams), dtype=bool), range(min(streams, 25))
        for look in range(1, looks + 1):
            _fed(parts, rng, kind)
            total, later = parts.totals()
            ever[0] |= parts.log_evidence(total) >= np.log(1 / ERROR)
            ever[1] |= parts.log_detector(total, later) >= np.log(3650)
            if look in some:
                for at, pooled in ((2, False), (3, True)):
                    lows = [band.low > GAP for band in parts.bands(total, looked, pooled)]
                    ever[at, : len(looked)] |= lows
        kept = sum(band.high <= GAP for band in parts.bands(total, looked))
        few = [f"{int(each[: len(looked)].sum())} of {len(looked)}" for each in ever[2:]]
        texts = [*(f"{each.mean():.1%}" for each in ever[:2]), *few, f"{kept} of {len(looked)}"]
        print(f"| {kind} | {' | '.join(texts)} |", flush=True)


def delays(streams: int) -> None:
    """Parts until a gap is found, within parts and as pooled rates or a gap of none find it."""
    heads("what", "within parts", "before", "ratio")
    for past in (100, 300):
        rng, parts = np.random.default_rng(2), Parts(streams, 1000)
        first = np.full((2, streams), np.inf)
        for look in range(1, past + 151):
            sizes = rng.multinomial(PART, [0.5, 0.5], size=streams)
            hits = rng.binomial(sizes, [0.4 if look > past else 0.3, 0.3])
            parts.add(hits.astype(float), sizes.astype(float))
            if look <= past:
                continue
            total, later = parts.totals()
            found = parts.log_detector(total, later), parts.log_apart_detector(later)
            for at, logs in enumerate(found):
                now = (logs >= np.log(3650)) & np.isinf(first[at])
                first[at] = np.where(now, look - past, first[at])
        _delay(f"a gap of 0 becomes 0.1 after {past} parts", first)
    few = min(streams, 50)
    rng, parts, first = np.random.default_rng(3), Parts(few, 1000), np.full((2, few), np.inf)
    while parts.look < 400 and np.isinf(first).any():
        sizes = rng.multinomial(PART, [0.5, 0.5], size=few)
        parts.add(rng.binomial(sizes, [0.45, 0.3]).astype(float), sizes.astype(float))
        if parts.look % 4 == 0:
            total, _ = parts.totals()
            for at, pooled in enumerate((False, True)):
                left = np.flatnonzero(np.isinf(first[at]))
                bands = parts.bands(total, left, pooled)
                first[at, left] = [parts.look if b.low > 0.05 else np.inf for b in bands]
    _delay("a steady gap of 0.15 violates a bound of 0.05", first)


def _delay(what, first):
    ours, before = np.median(first, axis=1)
    print(f"| {what} | {ours:.0f} | {before:.0f} | {ours / before:.2f} |", flush=True)


def heads(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=[*COMMANDS])
    parser.add_argument("--streams", type=int)
    parser.add_argument("--looks", type=int, default=300)
    parser.add_argument("--groups", type=int, nargs="+", default=[2, 10, 50])
    given = parser.parse_args()
    COMMANDS[given.what](given)


COMMANDS = {
    "alarms": lambda given: alarms(given.streams or 200, given.looks, tuple(given.groups)),
    "rows": lambda given: rows(given.streams or 500),
    "widths": lambda given: widths(given.streams or 8),
    "coverage": lambda given: coverage(given.streams or 20, tuple(given.groups)),
    "crowds": lambda given: crowds(given.streams or 250),
    "clusters": lambda given: clusters(given.streams or 200, given.looks),
    "drift": lambda given: drift(given.streams or 200, given.looks),
    "delays": lambda given: delays(given.streams or 100),
    "cost": lambda given: cost(given.streams or 300),
}


if __name__ == "__main__":
    main()
