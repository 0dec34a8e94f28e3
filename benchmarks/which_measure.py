"""When MPD, Gini and PQ rank models differently, and which is the better guide.

python benchmarks/which_measure.py    writes the tables of docs/explanation/which-measure.md anew,
                                      and its figures into docs/static

Simulations with known rates, and the stored results of the paper's experiments. All is seeded.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evenhand.measures import gini, mpd, pq

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/explanation/which-measure.md"
STORED = ROOT / "docs/paper/report/results"
MEASURES = {"MPD": mpd, "Gini": gini, "PQ": pq}
COLORS = {"MPD": "#8a8a8a", "Gini": "#3060a8", "PQ": "#d1600a"}
MARKERS = {"MPD": "s", "Gini": "o", "PQ": "^"}
STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
}
GROUPS = (2, 3, 5, 10, 20, 50)
PAIRS = 20_000
DRAWS = 2_000
LEVEL = 0.05  # of the tests


def rates(random, pairs, groups, level):
    """Rates of models: levels as given, log-odds of groups normal around them."""
    spread = random.uniform(0.1, 0.8, (pairs, 1))
    center = np.log(level / (1 - level)) + spread * random.normal(size=(pairs, groups))
    return 1 / (1 + np.exp(-center))


def opposite(one, other):
    """The share of pairs of models, neighbors in these lists, that two measures rank differently.

    >>> opposite(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[3.0, 4.0], [4.0, 3.0]]))
    0.5
    """
    first, second = (np.sign(np.diff(values, axis=1)) for values in (one, other))
    return float(np.mean(first * second < 0))


def disagreement():
    """By number of groups: how often measures rank two models differently, in percent."""
    found = {}
    for name, ratio in (("equal levels", 1.0), ("one level twice the other", 2.0)):
        for groups in GROUPS:
            random = np.random.default_rng([groups, int(ratio)])
            models = [rates(random, PAIRS, groups, 0.2 * factor) for factor in (1.0, ratio)]
            values = {
                word: np.column_stack([measure(own) for own in models])
                for word, measure in MEASURES.items()
            }
            found[name, groups] = {
                f"{a}, {b}": 100 * opposite(values[a], values[b])
                for a, b in (("MPD", "Gini"), ("MPD", "PQ"), ("Gini", "PQ"))
            }
    table = pd.DataFrame(found).T
    table.index.names = ["two models with", "groups"]
    return table


def break_even():
    """How far half of the groups must lag to be as uneven as one group that lags 10 points."""
    found = {}
    for groups in (4, 6, 10, 20, 50, 100):
        one = np.full(groups, 0.5)
        one[0] = 0.4
        steps = np.linspace(0, 0.1, 10_001)
        half = np.full((len(steps), groups), 0.5)
        half[:, : groups // 2] -= steps[:, None]
        found[groups] = {
            name: 100 * steps[np.argmin(np.abs(measure(half) - measure(one)))]
            for name, measure in MEASURES.items()
        }
    table = pd.DataFrame(found).T
    table.index.name = "groups"
    return table


def truths(kind, groups):
    """Rates of groups: one far below the others, or all of them spread a little."""
    even = np.full(groups, 0.3)
    if kind == "one group 10 points behind":
        even[0] -= 0.1
    else:
        even += 0.04 * np.where(np.arange(groups) % 2, 1, -1)
    return even


def sizes(kind, groups):
    """Rows of each group, 200 on average; or as by Zipf's law, the largest first."""
    if kind == "equal sizes":
        return np.full(groups, 200)
    share = 1 / np.arange(1, groups + 1)
    # The group that lags is neither the largest nor the smallest.
    return np.maximum(np.roll(200 * groups * share / share.sum(), -(groups // 2)), 8).astype(int)


def power():
    """How often a measure finds that groups differ, where equal groups seem to in 5% of draws."""
    found = {}
    for how in ("equal sizes", "unequal sizes"):
        for kind in ("one group 10 points behind", "groups 4 points above or below"):
            for groups in GROUPS:
                random = np.random.default_rng([groups, len(kind), len(how)])
                rows, true = sizes(how, groups), truths(kind, groups)
                level = (rows @ true) / rows.sum()
                seen = random.binomial(rows, true, (DRAWS, groups)) / rows
                null = random.binomial(rows, level, (DRAWS, groups)) / rows
                found[how, kind, groups] = {
                    name: 100 * np.mean(measure(seen) > np.quantile(measure(null), 1 - LEVEL))
                    for name, measure in MEASURES.items()
                }
    table = pd.DataFrame(found).T
    table.index.names = ["groups of", "truth", "groups"]
    return table


HARMS = {
    "lag of the worst group": lambda true: true.mean(axis=1) - true.min(axis=1),
    "people who lose out": lambda true: (
        (true.mean(axis=1, keepdims=True) - true).clip(0).mean(axis=1)
    ),
}


def choice():
    """How often a sample points to the model that does less harm, in percent.

    Both models select 20% on average; they differ in how the groups' rates are spread.
    """
    found = {}
    for harm, of in HARMS.items():
        for groups in (5, 50):
            for rows in (50, 1000):
                random = np.random.default_rng([groups, rows])
                models = [rates(random, DRAWS, groups, 0.2) for _ in range(2)]
                better = np.sign(of(models[0]) - of(models[1]))
                seen = [random.binomial(rows, true) / rows for true in models]
                found[harm, groups, rows] = {
                    name: 100 * np.mean(np.sign(measure(seen[0]) - measure(seen[1])) == better)
                    for name, measure in MEASURES.items()
                }
    table = pd.DataFrame(found).T
    table.index.names = ["harm", "groups", "rows of each group"]
    return table


def rare():
    """Two groups: a gap of six points in the middle and near the top, one of two points near 0."""
    cases = {
        "24% and 30%": (0.24, 0.30),
        "1% and 3%": (0.01, 0.03),
        "91% and 97%": (0.91, 0.97),
    }
    table = pd.DataFrame(
        {words: {name: measure(np.array(pair)) for name, measure in MEASURES.items()}
         for words, pair in cases.items()}
    ).T  # fmt: skip
    table.index.name = "selected"
    return table


def stored():
    """The paper's problems: how often two runs of one base and seed are ranked differently."""
    runs = pd.read_parquet(STORED / "runs.parquet")
    scores = pd.read_parquet(STORED / "scores.parquet")
    scores["lot"] = scores["lot"].astype(str)
    scores = scores.sort_values("lot").drop_duplicates("key", keep="last")  # expected, if there is
    table = runs.merge(scores, on="key")
    names = {name: f"statistical_parity.{name.lower()}" for name in MEASURES}
    table = table.dropna(subset=list(names.values()))
    groups = pd.read_parquet(STORED / "problems.parquet").set_index("problem")["n_groups"]
    found = {}
    for problem, own in table.groupby("problem"):
        counts = {f"{a}, {b}": [] for a, b in (("MPD", "Gini"), ("MPD", "PQ"), ("Gini", "PQ"))}
        for _, block in own.groupby(["base", "seed"]):
            signs = {}
            for name, column in names.items():
                values = block[column].to_numpy()
                gap = values[:, None] - values[None]
                signs[name] = np.sign(np.where(np.abs(gap) > 1e-9, gap, 0))[
                    np.triu_indices(len(values), 1)
                ]
            for pair in counts:
                a, b = pair.split(", ")
                known = (signs[a] != 0) & (signs[b] != 0)
                counts[pair] += (signs[a] != signs[b])[known].tolist()
        shares = {pair: 100 * float(np.mean(each)) for pair, each in counts.items()}
        found[problem] = {"groups": int(groups[problem]), **shares, "runs": len(own)}
    table = pd.DataFrame.from_dict(found, orient="index").sort_values(["groups", "MPD, Gini"])
    table.index.name = "problem"
    return table


def drawn_disagreement(table):
    """How often measures disagree, by number of groups."""
    figure = Figure(figsize=(8.6, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    styles = {
        "MPD, Gini": ("#3060a8", "o"),
        "MPD, PQ": ("#d1600a", "^"),
        "Gini, PQ": ("#8a8a8a", "s"),
    }
    for panel, (name, own) in zip(panels, table.groupby(level=0), strict=True):
        for pair, (color, marker) in styles.items():
            panel.plot(
                range(len(GROUPS)), own[pair].to_numpy(), color=color, marker=marker, label=pair
            )
        panel.set(title=name, xlabel="groups")
        panel.set_xticks(range(len(GROUPS)), GROUPS)
    panels[0].set(ylabel="pairs ranked differently, %", ylim=(0, 40))
    panels[0].legend(frameon=False, title="between", alignment="left", loc="upper left")
    return figure


def drawn_break_even(table):
    """What is as uneven as one group that is ten points behind."""
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    panel = figure.subplots()
    for name in MEASURES:
        panel.plot(
            range(len(table)),
            table[name].to_numpy(),
            color=COLORS[name],
            marker=MARKERS[name],
            label=name,
        )
    panel.set_xticks(range(len(table)), table.index)
    panel.set(xlabel="groups", ylabel="half of the groups behind, points", ylim=(0, 10.8))
    panel.legend(frameon=False, title="as uneven by", alignment="left", loc="center right")
    return figure


def drawn_power(table):
    """How often each measure finds a gap."""
    figure = Figure(figsize=(9.2, 5.4), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True, sharex=True)
    for panel, ((how, kind), own) in zip(
        panels.ravel(), table.groupby(level=[0, 1], sort=False), strict=True
    ):
        for name in MEASURES:
            panel.plot(
                range(len(GROUPS)),
                own[name].to_numpy(),
                color=COLORS[name],
                marker=MARKERS[name],
                label=name,
            )
        panel.set_title(f"{kind}, {how}", fontsize=10)
        panel.set_ylim(0, 102)
        panel.set_xticks(range(len(GROUPS)), GROUPS)
    for panel in panels[1]:
        panel.set_xlabel("groups")
    for panel in panels[:, 0]:
        panel.set_ylabel("gaps found, %")
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


TABLES = {
    "disagreement": (disagreement, 0),
    "break-even": (break_even, 1),
    "power": (power, 0),
    "choice": (choice, 0),
    "rare": (rare, 3),
    "stored": (stored, 0),
}
FIGURES = {
    "disagreement": drawn_disagreement,
    "break-even": drawn_break_even,
    "power": drawn_power,
}


def marked(table, digits):
    """A table in Markdown.

    >>> print(marked(pd.DataFrame({"MPD": {2: 1.26}}).rename_axis("groups"), 1))
    | groups | MPD |
    | --- | --- |
    | 2 | 1.3 |
    """
    flat = table.reset_index()
    lines = [list(flat.columns), ["---"] * flat.shape[1]]
    lines += [
        [f"{value:.{digits}f}" if isinstance(value, float) else str(value) for value in row]
        for row in flat.itertuples(index=False)
    ]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def written(text, tables):
    """The page with these tables in place of its own."""
    for name, table in tables.items():
        mark = f"<!-- {name} -->"
        own = f"{mark}\n\n{marked(table, TABLES[name][1])}\n\n<!-- end -->"
        text = re.sub(
            re.escape(mark) + r".*?<!-- end -->", lambda _, own=own: own, text, flags=re.DOTALL
        )
    return text


def main():
    """Make all tables and figures anew."""
    tables = {name: make() for name, (make, _) in TABLES.items()}
    for name, table in tables.items():
        print(name, marked(table, TABLES[name][1]), sep="\n", end="\n\n")
    if PAGE.exists():
        PAGE.write_text(written(PAGE.read_text(), tables))
    with mpl.rc_context(STYLE):
        for name, draw in FIGURES.items():
            draw(tables[name]).savefig(ROOT / f"docs/static/which-measure-{name}.png", dpi=110)


if __name__ == "__main__":
    main()
