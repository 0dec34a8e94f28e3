"""python -m fuzz [TARGET …] [--cases N] [--seed S] [--folder F]: attack, and go on where it ended.

Failures are printed with the number that makes them again, and kept in the folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

from fuzz.targets import TARGETS


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    parser.add_argument("--cases", type=int, default=1000, help="cases of each target")
    parser.add_argument("--seed", type=int, help="begin at this case, not where the last run ended")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"), help="where it is kept")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = sum(attacked(name, options) for name in options.targets)
    return 1 if failed else 0


def attacked(name: str, options: argparse.Namespace) -> int:
    """Run the cases of one target; how many failed."""
    attack, place = TARGETS[name], options.folder / f"{name}.json"
    done = json.loads(place.read_text())["next"] if place.exists() else 0
    first = done if options.seed is None else options.seed
    failures, began, shown = 0, time.monotonic(), time.monotonic()
    for seed in range(first, first + options.cases):
        try:
            attack(seed)
        except Exception:
            failures += 1
            what = {"target": name, "seed": seed, "error": traceback.format_exc()}
            with (options.folder / "failures.jsonl").open("a") as file:
                file.write(json.dumps(what) + "\n")
            last = what["error"].strip().splitlines()[-1]
            print(f"{name} --seed {seed} --cases 1: {last}", flush=True)
        place.write_text(json.dumps({"next": max(done, seed + 1)}))  # a case again undoes none
        seconds, end = (1, "\r") if sys.stderr.isatty() else (60, "\n")
        if time.monotonic() - shown > seconds:
            shown = time.monotonic()
            print(f"{name}: {seed - first + 1:,} cases", end=end, file=sys.stderr, flush=True)
    seconds = time.monotonic() - began
    print(
        f"{name}: {options.cases:,} cases from {first:,}, {failures} failed, {seconds:.0f} s",
        flush=True,
    )
    return failures


if __name__ == "__main__":
    raise SystemExit(main())
