"""Count once, ask many questions: tallies of batches add up to the tally of all rows.

A shop sees its decisions in daily batches and keeps none of the rows. Each batch becomes a small
table of counts; the counts add up, whatever batch lacks whatever group, and answer every question
about labels that comes up later.
"""

from collections.abc import Iterator

import numpy as np

import evenhand as eh


def days(count: int = 30, rows: int = 400) -> Iterator[tuple[np.ndarray, ...]]:
    """Truth, decision and language of each customer, day by day; the last group is rare."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        language = rng.choice(["de", "fr", "it", "rm"], rows, p=[0.63, 0.25, 0.11, 0.01])
        pays = rng.random(rows) < 0.8
        accepted = rng.random(rows) < np.where(pays, 0.9, 0.3) - 0.1 * (language == "fr")
        yield pays, accepted, language


def main() -> None:
    counts = sum(eh.tally(pays, ok, sensitive_features=language) for pays, ok, language in days())
    print(counts)
    print(dict(zip(counts.groups, counts.table("group").astype(int).tolist(), strict=True)))

    for name in ("statistical_parity", "equal_opportunity", "predictive_parity"):
        reading = eh.CRITERIA[name].read(counts, measure="mpd", favorable=True)
        rates = ", ".join(
            f"{group} {rate:.2f}"
            for group, rate in zip(reading.groups, reading.table[-1], strict=True)
        )
        print(f"{name:18} {reading.value:.2f}  ({rates})")

    merged = counts.settle_rare(min_count=500, rare="merge")
    print(*merged.notes, sep="\n")
    print(
        f"without rare groups {eh.evaluate('equal_opportunity', merged, favorable=True):.4f} (PQ)"
    )


if __name__ == "__main__":
    main()
