"""How often intervals of the parts of a gap hold the truth, and how often a reversal is called.

People are drawn from a known population: groups differ in base rates, in how they are decided and
in explaining columns. Rows are independent, weighted (weights follow the outcome), or in clusters
that have both groups and a level of their own. The truth is what the formulas give of a million
people. `python benchmarks/why.py --rounds 400`; the Monte-Carlo error of .95 is then .011.
"""

import argparse
from itertools import pairwise, product

import numpy as np

import evenhand as eh

MANY = 1_000_000
CLUSTER = 10
CUT = 0.5  # of the amount, where it is a score that decides
KINDS = ("outcomes", "strata", "models")
DESIGNS = ("rows", "weights", "clusters", "clusters and weights")


def drawn(rows, design, random):
    """Truth, decision, group, stratum, amount, weight and cluster of people."""
    cluster = np.arange(rows) // CLUSTER
    level = random.normal(size=cluster[-1] + 1)[cluster] * (0.6 if "clusters" in design else 0.0)
    group = (random.random(rows) < 0.4).astype(int)
    amount = random.normal(size=rows) + 0.6 * group + 0.5 * level
    stratum = np.clip(np.floor(amount + 2), 0, 3).astype(int)
    y = (random.random(rows) < 1 / (1 + np.exp(-(0.8 * amount - 0.4 * group)))).astype(int)
    logit = 1.5 * y - 0.8 + 0.5 * amount + 0.3 * group + level
    decided = (random.random(rows) < 1 / (1 + np.exp(-logit))).astype(int)
    weight = None
    if "weights" in design:
        weight = random.lognormal(0.0, 0.5, rows) * (1 + 0.5 * decided)
    return y, decided, group, stratum, amount, weight, cluster


def account(people, design, by):
    y, decided, group, stratum, amount, weight, cluster = people
    columns = {"sensitive_features": group, "sample_weight": weight, "between": (1, 0)}
    columns["cluster"] = cluster if "clusters" in design else None
    columns["by"] = {"outcomes": None, "strata": {"x": stratum}, "models": {"x": amount}}[by]
    return eh.explain("statistical_parity", y, decided, **columns)


def truth(design, by, random):
    people = drawn(MANY if by != "models" else MANY // 4, design, random)
    people = (*people[:-1], people[-1] * 0) if by != "models" else people
    return [part.value for part in account(people, design.replace("clusters", ""), by).parts]


def coverage(design, by, rows, rounds, random):
    known, held = truth(design, by, random), []
    for _ in range(rounds):
        found = account(drawn(rows, design, random), design, by).parts
        pairs = zip(found, known, strict=False)
        held.append([part.low <= value <= part.high for part, value in pairs][: len(known)])
    short = min(map(len, held))
    return found, np.mean([each[:short] for each in held], axis=0)


def score_ranges(design, rows, rounds, random):
    """How often intervals of what ranges of a score add hold the truth, all ranges at once."""
    _, _, group, _, amount, weight, _ = drawn(MANY, design, random)
    weight = np.ones(MANY) if weight is None else weight
    order = np.argsort(amount)
    amount, held = amount[order], 0
    of = [np.where(group == label, weight, 0.0)[order] for label in (1, 0)]
    below = [np.append(0.0, np.cumsum(each) / each.sum()) for each in of]
    selected = [1 - each[np.searchsorted(amount, CUT)] for each in below]
    for _ in range(rounds):
        y, _, group, _, score, weight, cluster = drawn(rows, design, random)
        columns = {"sensitive_features": group, "sample_weight": weight, "between": (1, 0)}
        columns["cluster"] = cluster if "clusters" in design else None
        found = eh.explain("statistical_parity", y, y_score=score, threshold=CUT, **columns)
        ranges = sorted(found.regions, key=lambda one: one.span)
        pairs = [(one.span[1], two.span[0]) for one, two in pairwise(ranges)]
        ends = [CUT if one < CUT <= two else (one + two) / 2 for one, two in pairs]
        at = np.searchsorted(amount, [-np.inf, *ends, np.inf])
        apart = np.diff(below[0][at]) - np.diff(below[1][at])
        middle = (selected[0] + selected[1]) / 2
        truth = apart * np.where([one.span[0] >= CUT for one in ranges], 1 - middle, -middle)
        held += all(one.low <= t <= one.high for one, t in zip(ranges, truth, strict=True))
    return held / rounds


def reversals(rows, rounds, random):
    """How often a reversal is called where people alike are treated alike."""
    called = 0
    for _ in range(rounds):
        group = random.integers(0, 2, rows)
        x = (random.random(rows) < 0.3 + 0.4 * group).astype(int)
        decided = (random.random(rows) < 0.3 + 0.3 * x).astype(int)
        columns = {"sensitive_features": group, "by": {"x": x}, "between": (1, 0)}
        called += eh.explain("statistical_parity", None, decided, **columns).is_reversed
    return called


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 1500])
    parser.add_argument("--by", nargs="*", default=[*KINDS, "scores"])
    options = parser.parse_args()
    random = np.random.default_rng(1)
    for by, design, rows in product(options.by, DESIGNS, options.rows):
        if by == "scores":
            held = score_ranges(design, rows, options.rounds, random)
            print(f"{by} {design} {rows}: all ranges at once {held:.3f}", flush=True)
            continue
        found, held = coverage(design, by, rows, options.rounds, random)
        told = [f"{part.name} {share:.3f}" for part, share in zip(found, held, strict=False)]
        print(f"{by} {design} {rows}: {', '.join(told)}", flush=True)
    called = reversals(300, options.rounds, random)
    print(f"reversals called where there is none: {called} of {options.rounds}")


if __name__ == "__main__":
    main()
