"""What a model that treats all groups alike would show at these group sizes, by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import evenhand as eh
from evenhand.benchmark import Results, Store

FLOOR, HIGH = "floor", "high"
ASKED = {
    "statistical_parity.mpd": ("statistical_parity", "mpd"),
    "statistical_parity.gini": ("statistical_parity", "gini"),
    "statistical_parity.pq": ("statistical_parity", "pq"),
}
REPLICATES = 1000


def with_floors(results: Results, store: Store | str | Path) -> Results:
    """The same results, with noise floors of the base model's scores of parity.

    They are further rows of `scores`: the lot "floor" is the mean that a model with the same
    selection rate in every group shows at these group sizes, the lot "high" what such a model
    exceeds once in twenty times (`evenhand.chance`, from the counts of the test rows).
    """
    opened = store if isinstance(store, Store) else Store(Path(store))
    return results.with_scores(_floors(results, opened))


def _floors(results: Results, store: Store) -> Iterator[tuple[str, str, str, float]]:
    wanted = set(
        results.query("select key from runs where method = 'Base' and base = 'logistic'")["key"]
    )
    for key, entry in store.entries().items():
        if key not in wanted:
            continue
        tally = store.tally(entry)
        for question, (criterion, measure) in ASKED.items():
            found = eh.chance(
                criterion, tally, measure=measure, replicates=REPLICATES, random_state=0
            )
            yield key, question, FLOOR, found.floor
            yield key, question, HIGH, found.high


def floor_of(results: Results, questions: Iterable[str]) -> Any:
    """Floor and high of the base model, by problem, split and question."""
    long = results.query(
        "select problem, seed, question, lot, value from results "
        f"where lot in ('{FLOOR}', '{HIGH}')"
    )
    long = long[long["question"].isin(list(questions))]
    wide = long.pivot_table(index=["problem", "seed", "question"], columns="lot", values="value")
    return wide.reindex(columns=[FLOOR, HIGH]).reset_index()
