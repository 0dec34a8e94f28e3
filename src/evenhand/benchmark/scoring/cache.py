"""Scores of many splits, kept on disk, so that only what is new is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand._writing import fill_whole
from evenhand.benchmark.design.fingerprints import fingerprint, source_fingerprint
from evenhand.benchmark.design.importing import is_import_path
from evenhand.benchmark.design.questions import Questions
from evenhand.benchmark.progress import tracked
from evenhand.benchmark.scoring.scores import Lots, SplitScores, scores
from evenhand.benchmark.store import Entry, Store

SOURCES = ("evenhand.benchmark.scoring.scores", "evenhand.criteria")  # with what they import
COLUMNS = ("key", "question", "lot", "value")


def scored(
    store: Store,
    entries: Mapping[str, Entry],
    questions: Questions,
    lots: Lots,
    n_jobs: int,
    progress: bool | None = None,
) -> Any:
    """The table of scores of these runs: key, question, lot and value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    folder, address = store.folder / "scores", _address(questions, lots)
    cached = _read(folder, address)
    done = set() if cached is None else set(pc.unique(cached["key"]).to_pylist())
    todo = [entry for key, entry in entries.items() if key not in done]
    new = _computed(store, todo, questions, lots, n_jobs, progress)
    parts = [part for part in (cached, new) if part is not None]
    if not parts:
        return _columns([])
    table = pa.concat_tables(parts).unify_dictionaries()
    if new is not None:
        _save(folder, address, table)
    return table.filter(pc.is_in(table["key"].cast("string"), pa.array(list(entries), pa.string())))


def _address(questions: Questions, lots: Lots) -> str:
    """Fingerprint of what scores depend on, for given predictions."""
    values = [asdict(question) for group in questions.values() for question in group]
    names = [value[key] for value in values for key in ("criterion", "measure")]
    own = {name.partition(":")[0] for name in names if name is not None and is_import_path(name)}
    sources = [source_fingerprint(module) for module in (*SOURCES, *sorted(own))]
    return fingerprint([values, sources, *([] if lots == "all" else [lots])])


def _computed(
    store: Store,
    entries: list[Entry],
    questions: Questions,
    lots: Lots,
    n_jobs: int,
    progress: bool | None,
) -> Any:
    from joblib import Parallel, delayed

    splits: dict[str, list[Entry]] = {}
    for entry in entries:
        splits.setdefault(f"{entry['problem']} {entry['split_key']}", []).append(entry)
    if not splits:
        return None
    absolute = replace(store, folder=store.folder.absolute())  # workers may run in another folder
    work = (delayed(_answers)(absolute, group, questions, lots) for group in splits.values())
    parallel = Parallel(n_jobs=n_jobs if len(splits) > 1 else 1, return_as="generator")
    return _columns(tracked(parallel(work), len(splits), "splits scored", progress))


def _answers(store: Store, entries: list[Entry], questions: Questions, lots: Lots) -> SplitScores:
    kind = store.truth(entries[0]).about["kind"]
    return scores(store, entries, questions[kind], lots)


def _columns(scores: Iterable[SplitScores]) -> Any:
    """Answers below each other, questions in the outer order; what has no answer is left out."""
    import pyarrow as pa

    tables = []
    for split in scores:
        questions, answers = split.values.shape
        columns = {
            "key": np.tile(np.array(split.keys, dtype=object), questions),
            "question": np.repeat([question.name for question in split.questions], answers),
            "lot": np.tile(np.array(split.lots, dtype=object), questions),
            "value": split.values.ravel(),
        }
        defined = ~np.isnan(columns["value"])
        tables.append(_coded(pa.table({name: column[defined] for name, column in columns.items()})))
    return pa.concat_tables(tables).unify_dictionaries() if tables else _empty()


def _coded(table: Any) -> Any:
    """Texts as dictionary codes, since few are repeated many times."""
    for place, name in enumerate(COLUMNS[:-1]):
        table = table.set_column(place, name, table[name].cast("string").dictionary_encode())
    return table


def _empty() -> Any:
    import pyarrow as pa

    text = pa.array([], pa.string())
    return _coded(pa.table([text, text, text, pa.array([], pa.float64())], names=list(COLUMNS)))


def _read(folder: Path, address: str) -> Any:
    """The scores of an address; None where there are none, or they are damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in sorted(folder.glob(f"{address}-*.parquet")):
        content = path.read_bytes()
        if path.stem == f"{address}-{_hash(content)}":
            return pq.read_table(pa.BufferReader(content), read_dictionary=list(COLUMNS[:-1]))
    return None


def _save(folder: Path, address: str, table: Any) -> None:
    """Write a file whose name ends with the hash of its content, in place of the one before."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{address}-{_hash(content)}.parquet"
    fill_whole(path, lambda file: file.write(content))
    for before in set(folder.glob(f"{address}-*.parquet")) - {path}:
        before.unlink(missing_ok=True)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
