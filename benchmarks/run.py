"""Speed and memory next to peers, as ratios within one run.

python benchmarks/run.py                      all of it, some minutes
python benchmarks/run.py strings importing    some of it
python benchmarks/run.py --scale 0.1          a quick look at a tenth of the rows
"""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import machine, python_version

from report import Line, shown

BENCHMARKS = ("strings", "compat", "memory", "integers", "curves", "importing")
PACKAGES = ("evenhand", "numpy", "pandas", "pyarrow")
PEERS = ("fairlearn", "aequitas", "aif360", "holisticai", "oxonfair", "fairbench")


def main() -> int:
    """Run the benchmarks that were asked for, and say which bars were missed."""
    options = _options()
    warnings.simplefilter("ignore")
    logging.disable()  # peers announce optional parts that are not installed
    print(f"{machine()}, Python {python_version()}, {', '.join(map(_versioned, PACKAGES + PEERS))}")
    results: dict[str, list[Line]] = {}
    for name in options.benchmarks or BENCHMARKS:
        benchmark = import_module(name)
        print(f"\n{name}: {benchmark.__doc__}\n")
        results[name] = list(shown(benchmark.lines(options.scale)))
    if options.json:
        told = {name: [line.as_dict() for line in lines] for name, lines in results.items()}
        options.json.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    bars = [line for lines in results.values() for line in lines if line.bar]
    missed = [line for line in bars if line.verdict == "MISS"]
    print(f"\n{len(bars) - len(missed)} of {len(bars)} bars met.")
    for line in missed:
        print(f"missed: {line.case}, {line.who}")
    return int(options.strict and bool(missed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmarks", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the rows")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is missed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the lines there too")
    options = parser.parse_args()
    unknown = set(options.benchmarks) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {sorted(unknown)}; there are {', '.join(BENCHMARKS)}")
    return options


def _versioned(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} missing"


if __name__ == "__main__":
    raise SystemExit(main())
