"""CPU seconds of `evenhand audit` on files that take long to read: compressed, or very wide.

python benchmarks/files.py                 200 MB of CSV, compressed, and a CSV of 20,000 columns
python benchmarks/files.py --scale 0.1     a tenth of the rows
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ASKED = "--target y --prediction p --group g --criterion statistical_parity --measure mpd --quiet"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    with tempfile.TemporaryDirectory() as folder:
        for name, path in (
            ("compressed, 4,500,000 rows", compressed(Path(folder), int(4_500_000 * scale))),
            ("20,000 columns, 200 rows", wide(Path(folder), int(20_000 * scale))),
        ):
            size = path.stat().st_size / 1e6
            print(f"{name} ({size:,.0f} MB): {cpu_seconds(path):.1f} CPU seconds", flush=True)


def compressed(folder: Path, rows: int) -> Path:
    rng, path = np.random.default_rng(0), folder / "rows.csv.gz"
    frame = people(rng, rows).assign(id=rng.integers(0, 10**9, rows), x=rng.normal(size=rows))
    with gzip.open(path, "wb", compresslevel=1) as file:
        frame.to_csv(file, index=False)
    return path


def wide(folder: Path, columns: int) -> Path:
    rng, path = np.random.default_rng(0), folder / "wide.csv"
    noise = pd.DataFrame(rng.random((200, columns)).round(3)).add_prefix("c")
    pd.concat([people(rng, 200), noise], axis=1).to_csv(path, index=False)
    return path


def people(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    columns = {name: rng.integers(0, 2, rows) for name in ("y", "p")}
    return pd.DataFrame({**columns, "g": rng.choice(["women", "men", "other"], rows)})


def cpu_seconds(path: Path) -> float:
    """Of a process of its own, with the start of Python and all imports."""
    before = os.times()
    command = [sys.executable, "-m", "evenhand", "audit", str(path), *ASKED.split()]
    subprocess.run(command, check=True)
    after = os.times()
    return (after[2] + after[3]) - (before[2] + before[3])


if __name__ == "__main__":
    main()
