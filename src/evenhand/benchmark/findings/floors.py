"""What a model that treats all groups alike would show at these group sizes, by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._uncertainty import chance
from evenhand.benchmark.findings.families import among
from evenhand.benchmark.scoring.counted import EXPECTED, counts
from evenhand.benchmark.scoring.kept import COLUMNS
from evenhand.benchmark.store import Store

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

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
    import pyarrow as pa

    found = list(_floors(results, store if isinstance(store, Store) else Store(Path(store))))
    if not found:
        return results
    columns = dict(zip(COLUMNS, zip(*found, strict=True), strict=True))
    more = pa.table({name: pa.array(columns[name]) for name in COLUMNS})
    more = pa.table(
        {
            name: more[name].cast(pa.string()).dictionary_encode()
            if name != "value"
            else more[name]
            for name in COLUMNS
        }
    )
    here = results.scores.select(list(COLUMNS))
    return replace(results, scores=pa.concat_tables([here, more]).unify_dictionaries())


def _floors(results: Results, store: Store) -> Iterator[tuple[str, str, str, float]]:
    wanted = set(
        results.query("select key from runs where method = 'Base' and base = 'logistic'")["key"]
    )
    for key, entry in store.entries().items():
        if key not in wanted:
            continue
        tally = counts(store.truth(entry), EXPECTED, store.predictions(entry))
        for question, (criterion, measure) in ASKED.items():
            found = chance(tally, criterion, measure=measure, replicates=REPLICATES, random_state=0)
            yield key, question, FLOOR, found.floor
            yield key, question, HIGH, found.high


def floor_of(results: Results, questions: Iterable[str]) -> Any:
    """Floor and high of the base model, by problem, split and question."""
    where = f"lot in ('{FLOOR}', '{HIGH}') and {among('question', questions)}"
    long = results.query(f"select problem, seed, question, lot, value from results where {where}")
    wide = long.pivot_table(index=["problem", "seed", "question"], columns="lot", values="value")
    return wide.reindex(columns=[FLOOR, HIGH]).reset_index()
