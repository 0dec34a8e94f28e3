"""Error rates of criteria of rankings, and how long it takes to count them.

`python benchmarks/rankings.py [RUNS [FEWEST MOST]]` simulates lists of items whose groups share
every query, with a known truth, and prints for each criterion how often a gap is found where there
is none (type I, at 5%), how often one is found that is there (power), and how often 95% intervals
of the largest difference hold the truth; FEWEST and MOST choose designs by their number of groups.
`python benchmarks/rankings.py again SEED RUNS DESIGN CRITERION` draws lists of one design anew, in
which groups are alike, and prints how often a gap is found.
`python benchmarks/rankings.py time ROWS` counts one ranking of lists of 100 and compares the
processor time, of all threads, with that of a plain group-by of the same rows by query and group,
in the engine that holds them, and with the least that other ways would take: to read the columns
out of the engine, and a running sum by list within it, which pairs would need.
"""

import sys
import time
from functools import partial

import numpy as np

import evenhand as eh

CRITERIA = (
    "exposure_parity",
    "top_k_parity",
    "exposure_per_relevance",
    "pairwise_parity",
    "performance_parity(first_place)",
    "performance_parity(discounted_recall)",
    "performance_parity(pairwise_within)",
    "performance_parity(pairwise_across)",
)
DESIGNS = {  # queries, rows of a list, groups, spread of a group's luck in a query, share of one
    "50 lists of 10, 2 groups": (50, 10, 2, 0.0, None),
    "50 lists of 100, 2 groups": (50, 100, 2, 0.0, None),
    "500 lists of 10, 2 groups": (500, 10, 2, 0.0, None),
    "500 lists of 100, 2 groups that vary by query": (500, 100, 2, 0.7, None),
    "200 lists of 20, 2 groups that vary by query": (200, 20, 2, 0.7, None),
    "50 lists of 20, a group of a tenth that varies": (50, 20, 2, 0.7, 0.1),
    "50 lists of 20, 5 groups that vary by query": (50, 20, 5, 0.7, None),
    "500 lists of 10, 20 groups": (500, 10, 20, 0.0, None),
    "50 lists of 10, 100 groups of about 5 rows": (50, 10, 100, 0.0, None),
    "50 lists of 10, 250 groups of about 2 rows": (50, 10, 250, 0.0, None),
    "200 lists of 10, 500 groups of about 4 rows": (200, 10, 500, 0.0, None),
    "200 lists of 100, 1,000 groups": (200, 100, 1000, 0.0, None),
}
GAP = 0.3  # by which the scores of the first group are lower, where there is a gap
OF_TRUTH = 3_000_000  # rows that the truth is read from


def drawn(rng, queries, size, groups, luck, share, gap=0.0):
    """The tally of lists of items; scores of the first group are lower by the gap.

    Relevance is 0, 1 or 2 and does not depend on the group. In every query each group has a luck of
    its own, so that rows of one query and group go together.
    """
    rows = queries * size
    query = np.repeat(np.arange(queries), size)
    shares = None if share is None else [share, 1 - share]
    group = rng.choice(groups, rows, p=shares)
    relevance = rng.binomial(2, 0.3, rows)
    score = relevance + rng.normal(size=rows)
    score += luck * rng.normal(size=(queries, groups))[query, group] - gap * (group == 0)
    return eh.tally(
        relevance,
        y_score=score,
        sensitive_features=group,
        query=query,
        top_k=max(size // 5, 1),
    )


def truths(rng, size, *design):
    """The largest difference by criterion: of the first group from all others, which are alike."""
    sums = {}
    lists = OF_TRUTH // size
    for begin in range(0, lists, 5000):
        counts = drawn(rng, min(5000, lists - begin), size, *design, gap=GAP)
        for name in counts.sums:
            table = counts.table("group", of=name)
            first = [float(group == 0) for group in counts.groups]
            both = np.array([table @ first, table.sum() - table @ first])
            sums[name] = sums.get(name, 0.0) + both
    means = {
        "exposure_parity": ("exposure", "rows"),
        "top_k_parity": ("top", "rows"),
        "exposure_per_relevance": ("exposure", "relevance"),
        "pairwise_parity": ("won", "pairs"),
        "performance_parity(first_place)": ("first", "rows"),
        "performance_parity(discounted_recall)": ("gain", "relevance"),
        "performance_parity(pairwise_within)": ("won within", "pairs within"),
        "performance_parity(pairwise_across)": ("won across", "pairs across"),
    }
    return {
        name: float(np.abs(np.diff(sums[above] / sums[below]))[0])
        for name, (above, below) in means.items()
    }


def simulate(runs, fewest=2, most=1000):
    """Print error rates by design and criterion."""
    print(f"{'design':47} {'criterion':38} type I  power  coverage   ({runs} runs each)")
    for at, (name, design) in enumerate(DESIGNS.items()):
        if not fewest <= design[2] <= most:
            continue
        rng = np.random.default_rng((35, at))
        truth = truths(rng, *design[1:])
        null = {one: [] for one in CRITERIA}
        found = {one: [] for one in CRITERIA}
        # Luck moves a small group as a whole to either end of a list, and a large one less: with it
        # groups of other sizes are not alike.
        queries, size, groups, luck, share = design
        alike = (queries, size, groups, luck if share is None else 0.0, share)
        for _ in range(runs):
            for gap, seen, of in ((0.0, null, alike), (GAP, found, design)):
                counts = drawn(rng, *of, gap=gap)
                for criterion in CRITERIA:
                    seen[criterion].append(eh.interval(criterion, counts, measure="mpd"))
        for criterion in CRITERIA:
            error = np.mean([one.low > 0 for one in null[criterion]])
            power = np.mean([one.low > 0 for one in found[criterion]])
            held = np.mean([one.low <= truth[criterion] <= one.high for one in found[criterion]])
            print(f"{name:47} {criterion:38} {error:6.3f} {power:6.2f} {held:9.3f}", flush=True)


def again(seed, runs, design, criterion):
    """Print how often a gap is found where groups are alike, with other draws."""
    rng = np.random.default_rng((77, seed))
    found = [
        eh.interval(criterion, drawn(rng, *DESIGNS[design]), measure="mpd").low > 0
        for _ in range(runs)
    ]
    print(f"{design}, {criterion}: {np.mean(found):.3f} of {runs}")


def timed(rows):
    """Print the processor seconds of one count, and of a plain group-by by the table's engine."""
    import duckdb
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

    keys = ["query", "group"]
    database = duckdb.connect()
    database.register("lists", frame.to_arrow())
    database.execute("create table stored as select * from lists")
    stored, pandas = database.table("stored"), frame.to_pandas()
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=0)
    sql = 'select query, "group", sum(place), count(*) from stored group by 1, 2'
    below = "sum(relevance) over (partition by query order by place)"
    engines = {
        "Polars": (frame, lambda: frame.group_by(keys).agg(pl.col("place").sum(), pl.len())),
        "pandas": (pandas, lambda: pandas.groupby(keys)["place"].agg(["sum", "size"])),
        "DuckDB": (stored, lambda: database.execute(sql).fetchnumpy()),
        "Polars, rows in any order": (
            mixed,
            lambda: mixed.group_by(keys).agg(pl.col("place").sum(), pl.len()),
        ),
    }
    floors = {
        "DuckDB": {
            "its columns read": lambda: stored.to_arrow_table(),
            "a running sum by list": lambda: database.execute(
                f"select sum(below) from (select {below} as below from stored)"
            ).fetchall(),
        },
        "Polars": {
            "a running sum by list": lambda: frame.sort("query", "place").select(
                pl.col("relevance").cum_sum().over("query")
            )
        },
    }
    for engine, (table, plain) in engines.items():
        named = {"sensitive_features": "group", "query": "query", "data": table}
        works = {
            "a plain group-by": plain,
            **floors.get(engine, {}),
            "exposure": partial(eh.tally, None, "place", **named),
            "exposure, top k and pairs": partial(eh.tally, "relevance", "place", top_k=10, **named),
        }
        first = None
        for name, work in works.items():
            best = min(seconds(work) for _ in range(3))
            first = first or best
            print(f"{engine}: {name:26} {best:.2f} s, {best / first:.1f} ×", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["time"]:
        timed(int(sys.argv[2]))
    elif sys.argv[1:2] == ["again"]:
        again(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    else:
        simulate(*map(int, sys.argv[1:] or [400]))
