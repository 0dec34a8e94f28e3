"""Published bias audits of New York City's Local Law 144, through our page.

python benchmarks/new_york.py              the audit whose published numbers are beside this file
python benchmarks/new_york.py AUDITS.csv   all that a file has, such as audits_full.csv of
                                           github.com/aclu-national/auditing-the-audits-facct-2025
                                           (Gerchick et al., FAccT 2025: 116 audits)
python benchmarks/new_york.py --page       writes the table of docs/explanation/new-york.md anew

A ratio is reproduced if it is the published rate over the highest one of its table, to within what
the rounding of all three allows: the highest of all categories, as the rule's text has it, or the
highest of those whose ratio is published.
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
        "below": 0,
        "significant": 0,
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
    found["below"] = int((published[there] < 0.8).sum())
    found["significant"] = whole_interval_below(known[there])
    return found


def whole_interval_below(known):
    """How many of the ratios have their whole interval below four-fifths, on our page."""
    if len(known) < 2 or not (known.number_of_applications > 0).all():
        return 0
    category = known.race_ethnicity + " × " + known.sex
    table = pd.DataFrame(
        {
            "category": category,
            "people": known.number_of_applications.astype(int),
            "selected": np.rint(known.result * known.number_of_applications).astype(int),
        }
    )
    both = [
        table.assign(decision=1, n=table.selected),
        table.assign(decision=0, n=table.people - table.selected),
    ]
    counts = pd.concat(both).query("n > 0")
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


def shown(sums):
    """The table of the page."""
    heads = ["tables", "people", "of unknown category", "ratios", "reproduced, highest of all"]
    heads += ["reproduced, highest of those published", "below 0.8", "whole interval below 0.8"]
    lines = ["| | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    for name, row in sums.iterrows():
        share = f"{row.unknown:,.0f} ({row.unknown / max(row.people, 1):.0%})"
        cells = [f"{row.tables:,.0f}", f"{row.people:,.0f}", share, f"{row.ratios:,.0f}"]
        cells += [f"{row[key]:,.0f}" for key in ("by all", "by included", "below", "significant")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def written(text, table):
    """The page with its table anew."""
    return re.sub(r"(<!-- audits -->\n\n)(?:\|.*\n)+", lambda head: head[1] + table, text)


def main(arguments):
    paths = [one for one in arguments if not one.startswith("--")]
    table = shown(study(pd.read_csv(paths[0] if paths else BESIDE)))
    if "--page" in arguments:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    print(table, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
