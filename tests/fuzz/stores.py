"""Stored runs with a bit flipped, an end cut off or bytes overwritten."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from evenhand.benchmark import Store
from evenhand.benchmark.sealed import DamagedFileError, read_about, read_columns, save_columns
from fuzz.commands import damage


@cache
def original() -> Path:
    """A folder with two runs of one split, made once."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-store-"))
    rng, store = np.random.default_rng(0), Store(folder)
    truth = {"row": np.arange(40, dtype=np.int32), "y": rng.integers(0, 2, 40).astype(np.uint8)}
    truth["group"] = rng.integers(0, 3, 40).astype(np.uint16)
    about = {"groups": ["a", "b", "c"], "classes": ["0", "1"], "kind": "binary"}
    for key in ("k1", "k2"):
        entry = {"key": key, "problem": "p", "split_key": "s", "seed": 1}
        columns = {"label": rng.integers(0, 2, 40).astype(np.uint8), "score_1": rng.random(40)}
        save_columns(store.run_path(entry), columns, entry)
    save_columns(store.truth_path(entry), truth, about)
    store.entries()
    return folder


def attack(seed: int) -> None:
    """What is read is what was written, or the file is named as damaged; then it is set aside."""
    rng = np.random.default_rng([3, seed])
    with tempfile.TemporaryDirectory() as place:
        store = Store(Path(shutil.copytree(original(), Path(place) / "store")))
        wanted = Store(original()).entries()
        files = sorted(path for path in store.folder.rglob("*") if path.is_file())
        hit = files[int(rng.integers(len(files)))]
        damage(hit, rng)
        if hit.suffix == ".parquet":
            before = original() / hit.relative_to(store.folder)
            try:
                said, columns = read_about(hit), read_columns(hit)
            except DamagedFileError:
                pass
            else:
                assert said == read_about(before)
                np.testing.assert_equal(columns, read_columns(before))
        store.set_aside_damaged()
        for key, entry in store.entries().items():
            assert entry == wanted[key], (hit, entry)
            store.predictions(entry)
            try:
                store.truth(entry)
            except DamagedFileError as error:
                assert hit == store.truth_path(entry), hit
                assert "bench run" in str(error), error  # noqa: PT017
