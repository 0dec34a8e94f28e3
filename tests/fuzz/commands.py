"""The command line, on files that are whole and on files that are damaged."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from evenhand.cli.audit import audit
from evenhand.cli.failures import STATUSES
from fuzz.counting import strictly
from fuzz.oracle import CELLS, evaluate
from fuzz.tables import Case, case_of

MEASURES = ("mpd", "gini", "shortfall")
ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".arrow", ".feather")
JUNK = (b"\x00", b"\xff\xfe", b'"', b"\n", b",", b"\r\n\r\n", b"{", b"PAR1", b"\xc3", b"1e999")


def attack(seed: int) -> None:
    """A stated status and nothing else; on a whole file, the oracle's value."""
    rng = np.random.default_rng([2, seed])
    case = case_of(rng)
    criterion, measure = str(rng.choice(list(CELLS))), str(rng.choice(MEASURES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{rng.choice(ENDINGS)}"
        written(case, path)
        whole = rng.random() < 0.5
        if not whole:
            damage(path, rng)
        outputs = {name: Path(folder) / f"out.{name}" for name in ("json", "junit", "markdown")}
        arguments = [str(path), "--target", "y", "--prediction", "p", "--group", "g"]
        arguments += ["--criterion", criterion, "--measure", measure]
        arguments += [part for name, to in outputs.items() for part in (f"--{name}", str(to))]
        bound = rng.choice(["> 0.1", ">= 0.5", "> nan", "> -1", "", "> 2"])
        arguments += ["--fail-if", f"{criterion}.{measure} {bound}"] if rng.random() < 0.5 else []
        arguments += options(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CliRunner().invoke(
                audit, arguments, env={"COLUMNS": str(rng.integers(-1, 200))}
            )
        assert found.exit_code in STATUSES, (found.exit_code, found.output, found.exception)
        assert "Traceback" not in found.output, found.output
        leftovers = [name for name in os.listdir(folder) if name.startswith(".")]
        assert not leftovers, leftovers
        if whole and outputs["json"].exists():
            checked(outputs["json"], case, criterion, measure)


def options(rng: np.random.Generator) -> list[str]:
    """Now and then an option that may not fit."""
    some = ("--favorable 1", "--favorable c1", "--confidence 0.5", "--confidence 2", "--full")
    some += (
        "--quiet",
        "--min-count 3 --rare merge",
        "--missing group",
        "--task binary",
        "--depth 0",
    )
    return str(rng.choice(some)).split() if rng.random() < 0.4 else []


def written(case: Case, path: Path) -> None:
    """A whole file of that ending."""
    y, p, g, _ = zip(*case.rows, strict=True)
    frame = pd.DataFrame({"y": y, "p": p, "g": [f"<{name}>" for name in g]})
    name = path.name
    if name.endswith((".csv", ".csv.gz")):
        frame.to_csv(path, index=False)
    elif name.endswith(".tsv"):
        frame.to_csv(path, index=False, sep="\t")
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_feather(path, compression="uncompressed")


def damage(path: Path, rng: np.random.Generator) -> None:
    """Flip bits, cut, or put junk in."""
    content = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(0, len(content) + 1)) if content else 0
        kind = rng.choice(["flip", "cut", "junk", "twice", "none"], p=[0.4, 0.25, 0.25, 0.05, 0.05])
        if kind == "flip" and content:
            content[place % len(content)] ^= 1 << int(rng.integers(8))
        elif kind == "cut":
            del content[place:]
        elif kind == "junk":
            content[place:place] = JUNK[int(rng.integers(len(JUNK)))]
        elif kind == "twice":
            content += bytes(content)
        elif kind == "none":
            content.clear()
    path.write_bytes(content)


def checked(path: Path, case: Case, criterion: str, measure: str) -> None:
    """The document is strict JSON, and its value the oracle's, where no option changed the rows."""
    document = strictly(path.read_text("utf-8"))
    labels = {label for row in case.rows for label in row[:2]}
    if document["rows"] != len(case.rows) or not labels <= {0, 1}:
        return
    rows = [(y, p, g, 1) for y, p, g, _ in case.rows]
    wanted = evaluate(criterion, rows, measure, "worst")  # type: ignore[arg-type]
    for finding in document["findings"]:
        asked = (finding["criterion"], finding["measure"]) == (criterion, measure)
        if asked and document["favorable"] in (1, "1", None):
            value = finding["value"]
            assert (value is None) == math.isnan(wanted), (value, wanted)
            assert value is None or math.isclose(value, wanted, abs_tol=1e-8), (value, wanted)
