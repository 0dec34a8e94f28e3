"""Published bias audits of New York City's Local Law 144, through our page.

python benchmarks/new_york.py              the audits whose published numbers are beside this file
python benchmarks/new_york.py AUDITS.csv   all that a file has, such as audits_full.csv of
                                           github.com/aclu-national/auditing-the-audits-facct-2025
                                           (Gerchick et al., FAccT 2025: 116 audits)
python benchmarks/new_york.py --page       writes the tables of docs/explanation/new-york.md anew

A ratio is reproduced if it is the published rate over the highest one of its table, to within what
the rounding of all three allows: the highest of all categories, as the rule's text has it, or the
highest of those whose ratio is published.

The lowest ratio of a table is bounded by giving those of unknown category any of its categories.
Tables do not say how the unknown were decided about: here they are selected as often as the others.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import evenhand as eh

ROOT = Path(__file__).parents[1]
BESIDE = Path(__file__).with_suffix(".csv")
PAGE = ROOT / "docs/explanation/new-york.md"
TABLE = ["audit_id", "selection_or_scoring_rate", "protected_char_group"]
UNKNOWN = "Missing/Unknown"


def decimals(values):
    """How many decimals the numbers of a column have, as they were published.

    >>> decimals(np.array([0.47, 0.4920000000000001]))
    3
    """
    texts = [f"{value:.6f}".rstrip("0") for value in values if np.isfinite(value)]
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def one_table(lines):
    """What becomes of a published table: reproduced ratios, verdicts, and unknown people."""
    unknown = (lines.race_ethnicity == UNKNOWN) | (lines.sex == UNKNOWN)
    people = lines.number_of_applications
    known = lines[~unknown & lines.result.notna()].copy()
    found = {
        "people": people.sum(),
        "unknown": people[unknown].sum(),
        "ratios": 0,
        "by all": 0,
        "by included": 0,
        "above": 0,
        "below": 0,
        "truly below": 0,
        "significant": 0,
        "bounded": 0,
        "may be below": 0,
        "surely below": 0,
    }
    published = known.impact_ratio.to_numpy(dtype=float)
    rates = known.result.to_numpy(dtype=float)
    there = np.isfinite(published)
    if len(known) < 2 or not there.any():
        return found
    half = 0.5 * 10.0 ** -decimals(rates), 0.5 * 10.0 ** -decimals(published)
    for name, among in (("by all", np.ones(len(known), dtype=bool)), ("by included", there)):
        highest = rates[among].max()
        if highest > 0:
            ours = rates / highest
            reach = half[1] + half[0] / highest * (1 + ours) + 1e-9
            found[name] = int((np.abs(ours - published) <= reach)[there].sum())
    found["ratios"] = int(there.sum())
    found["above"] = int((published[there] > 1).sum())
    found["below"] = int((published[there] < 0.8).sum())
    found["truly below"] = int((rates[there] < 0.8 * rates[there].max()).sum())
    compared = known[there]
    if len(compared) > 1 and (compared.number_of_applications > 0).all():
        found["significant"] = whole_interval_below(compared)
        if unknown.any() and people[unknown].notna().all():
            least, greatest = lowest_ratio(compared, people[unknown].sum())
            found["bounded"] = 1
            found["may be below"] = int(least < 0.8 <= greatest)
            found["surely below"] = int(greatest < 0.8)
    return found


def counts_of(category, people, rates):
    """A line for those selected in each category, and one for the others."""
    people = np.asarray(people, dtype=int)
    selected = np.rint(np.asarray(rates) * people).astype(int)
    table = pd.DataFrame({"category": category})
    both = [table.assign(decision=1, n=selected), table.assign(decision=0, n=people - selected)]
    return pd.concat(both).query("n > 0")


def categories(known):
    return list(known.race_ethnicity + " × " + known.sex)


def lowest_ratio(known, unknown):
    """Between which values the lowest ratio of a table lies, whatever the unknown are."""
    people, rates = known.number_of_applications, known.result
    answers = eh.bounds(
        "selection_rate_ratio",
        data=counts_of(
            [*categories(known), None],
            [*people, unknown],
            [*rates, np.average(rates, weights=people)],
        ),
        y_true=None,
        y_pred="decision",
        favorable=1,
        sample_weight="n",
        sensitive_features="category",
    ).answers
    return answers["bounds"].least, answers["bounds"].greatest


def whole_interval_below(known):
    """How many of the ratios have their whole interval below four-fifths, on our page."""
    counts = counts_of(categories(known), known.number_of_applications, known.result)
    audit = eh.audit(
        data=counts,
        y_true=None,
        y_pred="decision",
        favorable=1,
        rows="n",
        sensitive_features="category",
        criteria="selection_rate_ratio",
    )
    page = audit.document(standard="nyc-ll144")
    return sum(row["four_fifths"] == "below" for row in page["tables"][0]["rows"])


def study(audits):
    """A line for each kind of table, and one for all."""
    found = pd.DataFrame(
        [
            {"kind": kind, **one_table(lines)}
            for (_, _, kind), lines in audits.groupby(TABLE, sort=False, dropna=False)
        ]
    )
    sums = found.groupby("kind", sort=False).sum()
    sums.insert(0, "tables", found.groupby("kind", sort=False).size())
    return pd.concat([sums, sums.sum().to_frame("all").T])


RATIOS = {
    "tables": "tables",
    "ratios": "ratios",
    "by all": "reproduced, highest of all",
    "by included": "reproduced, highest of those published",
    "above": "published above 1",
    "below": "published below 0.8",
    "truly below": "below 0.8 by the rates",
    "significant": "whole interval below 0.8",
}
PEOPLE = {
    "people": "people",
    "unknown": "of unknown category",
    "bounded": "tables that count them",
    "may be below": "lowest ratio may be below 0.8 or not",
    "surely below": "below 0.8 whatever they are",
}


def shown(sums, heads):
    """A table of the page."""
    lines = ["| | " + " | ".join(heads.values()) + " |", "| --- |" + " --- |" * len(heads)]
    for name, row in sums.iterrows():
        cells = {key: f"{row[key]:,.0f}" for key in heads}
        if "unknown" in cells:
            cells["unknown"] += f" ({row.unknown / max(row.people, 1):.0%})"
        lines.append(f"| {name} | " + " | ".join(cells.values()) + " |")
    return "\n".join(lines) + "\n"


def written(text, sums):
    """The page with its tables anew."""
    for mark, heads in (("ratios", RATIOS), ("people", PEOPLE)):
        table = shown(sums, heads)
        text = re.sub(
            rf"(<!-- {mark} -->\n\n)(?:\|.*\n)+", lambda head, table=table: head[1] + table, text
        )
    return text


def main(arguments):
    paths = [one for one in arguments if not one.startswith("--")]
    sums = study(pd.read_csv(paths[0] if paths else BESIDE))
    if "--page" in arguments:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), sums), encoding="utf-8")
    print(shown(sums, RATIOS), shown(sums, PEOPLE), sep="\n", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
