"""Error rates of criteria of rankings, and how long it takes to count them.

`python benchmarks/rankings.py [RUNS [FEWEST MOST]]` simulates lists of items whose groups share
every query, with a known truth, and prints for each criterion how often a gap is found where there
is none (type I, at 5%), how often one is found that is there (power), and how often 95% intervals
of the largest difference hold the truth; FEWEST and MOST choose designs by their number of groups.
`python benchmarks/rankings.py time ROWS` counts one ranking and compares the processor time, of all
threads, with that of a plain group-by of the same rows.
"""

import sys
import time

import numpy as np

import evenhand as eh

CRITERIA = ("exposure_parity", "top_k_parity", "exposure_per_relevance", "pairwise_parity")
DESIGNS = {  # queries, rows of a list, groups, spread of a group's luck in a query
    "50 lists of 10, 2 groups": (50, 10, 2, 0.0),
    "50 lists of 100, 2 groups": (50, 100, 2, 0.0),
    "200 lists of 20, 2 groups that vary by query": (200, 20, 2, 0.7),
    "50 lists of 20, 5 groups that vary by query": (50, 20, 5, 0.7),
    "500 lists of 10, 20 groups": (500, 10, 20, 0.0),
    "50 lists of 10, 100 groups of about 5 rows": (50, 10, 100, 0.0),
    "50 lists of 10, 250 groups of about 2 rows": (50, 10, 250, 0.0),
    "200 lists of 10, 500 groups of about 4 rows": (200, 10, 500, 0.0),
    "200 lists of 100, 1,000 groups": (200, 100, 1000, 0.0),
}


def drawn(rng, queries, size, groups, luck, gap=0.0, share=None):
    """Lists of items; scores of the first group are lower by the gap.

    Relevance is 0, 1 or 2 and does not depend on the group. In every query each group has a luck of
    its own, so that rows of one query and group go together.
    """
    rows = queries * size
    query = np.repeat(np.arange(queries), size)
    group = rng.choice(groups, rows, p=share)
    relevance = rng.binomial(2, 0.3, rows)
    score = relevance + rng.normal(size=rows)
    score += luck * rng.normal(size=(queries, groups))[query, group] - gap * (group == 0)
    return query, group, relevance, score


def asked(columns, criterion, top_k):
    """The interval of the largest difference."""
    query, group, relevance, score = columns
    return eh.interval(
        criterion,
        relevance,
        y_score=score,
        sensitive_features=group,
        query=query,
        top_k=top_k,
        measure="mpd",
    )


def simulate(runs, fewest=2, most=1000):
    """Print error rates by design and criterion."""
    rng = np.random.default_rng(35)
    print(f"{'design':46} {'criterion':24} type I  power  coverage   ({runs} runs each)")
    for name, (queries, size, groups, luck) in DESIGNS.items():
        if not fewest <= groups <= most:
            continue
        top_k, gap = max(size // 5, 1), 0.3
        whole = drawn(rng, max(400_000 // size, 1), size, groups, luck, gap)
        truth = {one: asked(whole, one, top_k).value for one in CRITERIA}
        for criterion in CRITERIA:
            null = [
                asked(drawn(rng, queries, size, groups, luck), criterion, top_k).low > 0
                for _ in range(runs)
            ]
            found = [
                asked(drawn(rng, queries, size, groups, luck, gap), criterion, top_k)
                for _ in range(runs)
            ]
            power = np.mean([one.low > 0 for one in found])
            held = np.mean([one.low <= truth[criterion] <= one.high for one in found])
            print(
                f"{name:46} {criterion:24} {np.mean(null):6.3f} {power:6.2f} {held:9.3f}",
                flush=True,
            )


def timed(rows):
    """Print the processor seconds of one count, and of a plain group-by of the same rows."""
    import polars as pl

    rng = np.random.default_rng(0)
    queries = rows // 100
    place = np.argsort(rng.random((queries, 100)), axis=1).ravel() + 1
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(queries), 100),
            "group": rng.choice(2, rows),
            "place": place,
            "relevance": rng.binomial(1, 0.2, rows),
        }
    )

    def seconds(work):
        began = time.process_time()
        work()
        return time.process_time() - began

    def plain():
        frame.group_by("query", "group").agg(pl.col("place").sum(), pl.len())

    named = {"sensitive_features": "group", "query": "query", "data": frame}
    works = {
        "a plain group-by": plain,
        "exposure": lambda: eh.tally(None, "place", **named),
        "exposure, top k and pairs": lambda: eh.tally("relevance", "place", top_k=10, **named),
    }
    first = None
    for name, work in works.items():
        best = min(seconds(work) for _ in range(3))
        first = first or best
        print(f"{rows:,} rows, {name}: {best:.2f} s, {best / first:.1f} ×", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["time"]:
        timed(int(sys.argv[2]))
    else:
        simulate(*map(int, sys.argv[1:] or [400]))
