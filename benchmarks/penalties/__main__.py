"""What a penalty costs a training step, and what it buys: on a GPU, or on the CPU with less.

python benchmarks/penalties data FOLDER OUT             five tasks as OUT/*.npz
python benchmarks/penalties speed [OUT/acs.npz]         a step, an epoch, counting
python benchmarks/penalties checks                      what refusing bad batches costs a step
python benchmarks/penalties trade OUT/*.npz > LINES     loss against inequality
python benchmarks/penalties summary LINES [PNG]         in how many cells which is least
python benchmarks/penalties odds OUT/acs_hundred.npz > LINES    what each `noise` gives
python benchmarks/penalties table LINES                 the same as tables
python benchmarks/penalties blind OUT/acs.npz           post-processing that guesses the group
python benchmarks/penalties beside > LINES              Adult and Law School by post-processing too
python benchmarks/penalties picture LINES PNG           the same as a table and a picture
"""

from __future__ import annotations

import argparse
from pathlib import Path

WHAT = [
    "data",
    "speed",
    "checks",
    "trade",
    "summary",
    "odds",
    "table",
    "blind",
    "beside",
    "picture",
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[512, 8192])
    parser.add_argument("--only", nargs="+", help="names of penalties")
    parser.add_argument("--criteria", nargs="+", default=["equal_opportunity", "equalized_odds"])
    asked = parser.parse_args()
    if asked.what == "data":
        import tasks

        for name in tasks.TASKS:
            tasks.save(name, *asked.files)
    elif asked.what == "speed":
        import speed

        speed.run(asked.files[0] if asked.files else None)
    elif asked.what == "checks":
        import checks

        checks.run()
    elif asked.what in ("trade", "summary"):
        import trade

        if asked.what == "summary":
            trade.summary(*asked.files)
        else:
            only = lambda name: not asked.only or name in asked.only  # noqa: E731
            trade.run(asked.files, asked.seeds, asked.batches, only)
    elif asked.what in ("odds", "table"):
        import odds

        if asked.what == "table":
            odds.table(asked.files)
        else:
            odds.run(asked.files[0], range(asked.seeds), asked.criteria)
    elif asked.what == "blind":
        import blind

        blind.run(asked.files[0], asked.seeds)
    else:
        import beside

        beside.picture(*asked.files) if asked.what == "picture" else beside.run(asked.seeds)


if __name__ == "__main__":
    main()
