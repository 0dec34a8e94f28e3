"""States of a watch with anything in any place, and the checksum that goes with it."""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.watch.storage import _checksum
from fuzz.commands import damage

VALUES: list[Any] = [None, True, 0, -1, 1, 2, 10**9, 2**63, 10**40, 0.5, -0.0, 1e308, "", "x", "-1"]
VALUES += ["739000", [], {}, [[]], {"parts": ["a"]}, {"bin": [1, 2, False]}, "statistical_parity"]


@cache
def originals() -> list[str]:
    """States of rows, of clusters and of amounts, each with a baseline and a change of names."""
    rng, texts = np.random.default_rng(0), []
    for kind in ("rows", "clusters", "amounts"):
        asked: Any = ["statistical_parity", "equal_opportunity"]
        options: dict[str, Any] = {"favorable": 1, "fail_if": ["statistical_parity.mpd > 0.1"]}
        if kind == "amounts":
            asked, options = "weak_parity", {"limits": {"weak_parity": (0, 50)}}
        parts = []
        for _ in range(4):
            g, y, p = rng.choice(["a", "b", "c"], 60), rng.integers(0, 2, 60), rng.random(60) < 0.6
            if kind == "amounts":
                parts.append(eh.tally(None, 20 * p + y, sensitive_features=g, task="regression"))
            else:
                cluster = {"cluster": np.arange(60) // 2} if kind == "clusters" else {}
                counts = eh.tally(y, p.astype(int), sensitive_features=g, **cluster)
                parts.append(counts)
        watch = eh.Watch(asked, baseline=parts[0], **options)
        for day, part in enumerate(parts[1:]):
            watch.update(part, part=str(day), at=f"2026-02-0{day + 1}")
        watch.status()
        watch.rename({"c": "d"})
        with tempfile.TemporaryDirectory() as folder:
            watch.save(Path(folder) / "w.json")
            texts.append((Path(folder) / "w.json").read_text())
    return texts


def attack(seed: int) -> None:
    """What is read can be looked at in every way; or it is refused in words of ours."""
    rng = np.random.default_rng([5, seed])
    original = originals()[int(rng.integers(3))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        path.write_text(original)
        if rng.random() < 0.2:
            damage(path, rng)
            try:
                found = eh.Watch.load(path)
            except eh.EvenhandError:
                return
            found.save(Path(folder) / "again.json")
            assert (Path(folder) / "again.json").read_text() == original
            return
        state = json.loads(original)
        del state["checksum"]
        for _ in range(int(rng.integers(1, 4))):
            changed(state, rng)
        path.write_text(json.dumps({**state, "checksum": _checksum(state)}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            looked_at(path)


def looked_at(path: Path) -> None:
    try:
        watch = eh.Watch.load(path)
        watch.status().document()
        watch.to_openmetrics(), watch.to_markdown(), watch.to_html()
        watch.update(eh.tally([0, 1], [1, 0], sensitive_features=["a", "b"]), at="2026-02-09")
        watch.save(path)
        eh.Watch.load(path).status()
    except eh.EvenhandError:
        return


def changed(state: Any, rng: np.random.Generator) -> None:
    """Put something else in some place, or take it away."""
    while True:
        keys = list(state) if isinstance(state, dict) else list(range(len(state)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        inner = state[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
            break
        state = inner
    what = rng.random()
    if what < 0.15:
        del state[key]
    elif what < 0.3 and isinstance(state, list):
        state.append(state[key])
    elif what < 0.4 and isinstance(state, dict):
        state[str(VALUES[int(rng.integers(len(VALUES)))])] = state[key]
    else:
        state[key] = VALUES[int(rng.integers(len(VALUES)))]
