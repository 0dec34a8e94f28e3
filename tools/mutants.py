"""Mutation testing: change the code in one place, and see whether a test notices.

    python tools/mutants.py [AREA …] [--sample N] [--seed S]
    python tools/mutants.py AREA --quick      without the tests that are marked slow
    python tools/mutants.py AREA --again      only those that survived the last run

An area's tests run once, to learn which of them reach which line; each mutant then meets those
that reach its line, the fastest first, up to the first that fails. It runs in a copy of the tree
and in a process of its own, forked from one in which the large libraries are loaded already. Text
is not mutated, nor what stands in a `raise`, beyond leaving the error out. Mutants that no
test could tell from the code are listed with the reason in `equivalent_mutants.toml`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import fairlearn.metrics
import hypothesis
import pandas
import pytest
import scipy.optimize
import scipy.stats
import sklearn.linear_model
import sklearn.metrics
import statsmodels.stats.oneway

ROOT = Path(__file__).parents[1]
LOADED = (
    fairlearn,
    pandas,
    scipy,
    sklearn,
    statsmodels,
)  # before the fork, so that no mutant waits for them
SOURCE = "src/evenhand"
KEPT = ROOT / ".mutants"
EQUIVALENT = tomllib.loads((Path(__file__).parent / "equivalent_mutants.toml").read_text())
SECONDS = 60  # a mutant that takes this long, or three times its tests' time, was noticed

COUNTS = ["test_tally", "test_criteria", "test_expected", "test_extreme_weights", "test_kinds"]
AREAS = {  # the files to mutate under src/evenhand, and the test files beside their doctests
    "measures": (
        ["measures/*.py"],
        ["test_measures", "test_axioms", "test_aggregates", "test_theorems", "test_ratio"],
    ),
    "statistics": (
        ["statistics/*.py"],
        [
            *COUNTS,
            "test_statistics",
            "test_distributions",
            "test_ratio",
            "test_faults",
            "torch/test_penalties",
        ],
    ),
    "criteria": (
        ["criteria/*.py"],
        [
            *COUNTS,
            "test_statistics",
            "test_distributions",
            "test_ratio",
            "test_reference",
            "test_words",
        ],
    ),
    "tally": (["_data/tallies.py", "_data/counting.py"], [*COUNTS, "test_groups"]),
    "inference": (
        ["_uncertainty/*.py"],
        [
            *("test_homogeneity", "test_intervals", "test_pooling", "test_power"),
            *("test_uncertainty", "test_uncertainty_beyond_counts", "comparing/test_paired"),
            *("test_ratio", "audit/test_subgroups", "audit/test_small_groups"),
            *("inference/test_answers", "inference/test_sentences", "inference/test_parts"),
            *("inference/test_hypergeometric", "inference/test_designs", "inference/test_limits"),
            *("inference/test_searches", "inference/test_chances", "test_one_answer"),
            *("test_contrasts", "test_surveys", "test_clusters"),
        ],
    ),
    "comparing": (
        ["_compare/*.py"],
        [
            *("comparing/test_compare", "comparing/test_gaps", "comparing/test_paired"),
            *("comparing/test_performance", "comparing/test_ranking", "comparing/test_scores"),
            *("comparing/test_sensitivity", "comparing/test_forms_and_refusals"),
            "comparing/test_page",
        ],
    ),
}

SPARED = ("strict", "copy")  # of zip and astype: a guard of our own, and speed
SWAPS = {  # operators of the grammar, and what may stand in their place
    "Lt": "LtE GtE",
    "LtE": "Lt Gt",
    "Gt": "GtE LtE",
    "GtE": "Gt Lt",
    "Eq": "NotEq",
    "NotEq": "Eq",
    "In": "NotIn",
    "NotIn": "In",
    "Is": "IsNot",
    "IsNot": "Is",
    "And": "Or",
    "Or": "And",
    "Add": "Sub",
    "Sub": "Add",
    "Mult": "Div",
    "Div": "Mult",
    "FloorDiv": "Mult",
    "Pow": "Mult",
    "Mod": "Mult",
    "BitAnd": "BitOr",
    "BitOr": "BitAnd",
}


class Mutant(NamedTuple):
    """One change: the text between two places of a file, and what stands there instead."""

    file: str
    lines: tuple[int, int]
    span: tuple[int, int]  # in bytes
    old: str
    new: str
    key: tuple[str, str, str, int]  # what stays as other lines of the file change
    in_function: bool  # elsewhere, every test of the area meets it

    def __str__(self) -> str:
        return f"{self.file}:{self.lines[0]}: {self.old} → {self.new}"


def mutants(file: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = (ROOT / SOURCE / file).read_bytes()
    lines = source.splitlines(keepends=True)
    starts = list(accumulate(map(len, lines), initial=0))

    seen: Counter[Any] = Counter()

    def visit(node: Any, in_function: bool) -> Iterator[Mutant]:
        for part, new in changes(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            old = " ".join(source[start:end].decode().split())
            line = lines[part.lineno - 1].decode().strip()
            change = (file, line, f"{old} → {new}")
            seen[change] += 1
            where, key = (part.lineno, part.end_lineno), (*change, seen[change])
            yield Mutant(file, where, (start, end), old, new, key, in_function)
        within = in_function or isinstance(node, ast.FunctionDef | ast.Lambda)
        if isinstance(node, ast.Raise) or is_spared(node):
            return
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list", "bases"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        # defaults are computed once, where the function is made
                        yield from visit(child, within and not isinstance(child, ast.arguments))

    yield from visit(ast.parse(source), False)


def is_spared(node: Any) -> bool:
    """Whether nothing within a node is mutated."""
    return isinstance(node, ast.keyword) and (node.arg in SPARED or axis_of(node) is not None)


def axis_of(node: Any) -> int | None:
    """The axis that an array is worked on along, where a keyword names one."""
    if isinstance(node, ast.keyword) and node.arg == "axis":
        with contextlib.suppress(ValueError):
            axis = ast.literal_eval(node.value)
            return axis if isinstance(axis, int) else None
    return None


def changes(node: Any) -> Iterator[tuple[Any, str]]:
    """What may stand in place of a node, or of a part of it."""
    if axis_of(node) is not None:  # of two axes the last is 1, so another is 0 or the last
        yield node.value, "0" if axis_of(node) != 0 else "-1"
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        if isinstance(node.test, ast.Call | ast.Name | ast.Attribute):
            yield node.test, f"(not {ast.unparse(node.test)})"
    elif isinstance(node, ast.arguments):
        for default in (*node.defaults, *node.kw_defaults):
            if isinstance(default, ast.Constant) and isinstance(default.value, str):
                yield default, "'mutated'"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for swap in swaps(node.ops[0]):
            yield node, f"({ast.unparse(ast.Compare(node.left, [swap], node.comparators))})"
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        for swap in swaps(node.op):
            yield node, f"({ast.unparse(type(node)(**{**vars(node), 'op': swap}))})"
    elif isinstance(node, ast.UnaryOp):
        yield node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, str(node.value + 1 if abs(node.value) < 1e9 else 2 * node.value)
    elif isinstance(node, ast.Return) and node.value is not None:
        if ast.unparse(node.value) != "None":
            yield node, "return None"
    elif isinstance(node, ast.Raise):
        yield node, "pass"


def swaps(operator: ast.AST) -> list[Any]:
    """The operators that may stand in its place."""
    return [getattr(ast, name)() for name in SWAPS.get(type(operator).__name__, "").split()]


class Reached:
    """A plugin of pytest: which tests reach which lines, and how long they take."""

    def __init__(self, files: list[str]) -> None:
        self.measured = coverage.Coverage(data_file=None, config_file=False, include=files)
        self.seconds: dict[str, float] = {}

    def pytest_sessionstart(self) -> None:
        """Start before the first import."""
        self.measured.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Name the test that runs now; it computes anew what an earlier one left in a cache."""
        forget()
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up set-up, call and tear-down."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def result(self) -> dict[str, Any]:
        """Seconds of the tests, and for each file and line the tests that reach it."""
        self.measured.stop()
        data = self.measured.get_data()
        lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        return {"seconds": self.seconds, "lines": lines}


def forget() -> None:
    """Empty the caches of all functions that were loaded from the tree."""
    here = f"{Path.cwd()}{os.sep}"
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", None)).startswith(here):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


class Chosen:
    """A plugin of pytest: only these tests, in this order."""

    def __init__(self, names: list[str]) -> None:
        self.place = {name: i for i, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out, and sort."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place),
            key=lambda item: self.place[item.nodeid],
        )


def in_fork(copy: Path, action: Callable[[], Any], seconds: float) -> Any:
    """What an action gives in a process of its own; None if it does not end in time."""
    answer = copy / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(copy)
        sys.path.insert(0, str(copy / "src"))
        os.environ["PYTHONPATH"] = str(copy / "src")
        log = os.open(copy / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            answer.write_text(json.dumps(action()))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return json.loads(answer.read_text()) if answer.exists() else None


def tested(paths: list[str], plugin: Any) -> int:
    """Run pytest here; its exit status."""
    quick = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # nobody reads the example
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, database=None, phases=quick, deadline=None
    )
    hypothesis.settings.load_profile("mutants")
    options = ["-x", "-q", "--tb=line", "-p", "no:randomly", "-p", "no:cacheprovider"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is loaded already
    options += ["-W", "ignore::pytest.PytestCollectionWarning"]  # classes may be called Test…
    return int(pytest.main([*options, *paths], plugins=[plugin]))


def survives(mutant: Mutant, copy: Path, reached: dict[str, Any]) -> bool:
    """Whether no test that reaches it fails."""
    place = copy / SOURCE / mutant.file
    seconds, lines = reached["seconds"], reached["lines"].get(str(place), {})
    names = set(seconds)
    if mutant.in_function:
        wanted = range(mutant.lines[0], mutant.lines[1] + 1)
        names &= {name for line in wanted for name in lines.get(str(line), ())}
    if not names:
        return True
    ordered = sorted(names, key=lambda name: seconds[name])
    source = place.read_bytes()
    (start, end), paths = mutant.span, sorted({name.partition("::")[0] for name in names})
    place.write_bytes(source[:start] + mutant.new.encode() + source[end:])
    try:
        limit = SECONDS + 3 * sum(seconds[name] for name in names)
        return in_fork(copy, lambda: tested(paths, Chosen(ordered)), limit) == 0
    finally:
        place.write_bytes(source)


def examine(area: str, options: argparse.Namespace, copy: Path) -> float:
    """Run an area's mutants; print those that survive, and give their share."""
    patterns, tests = AREAS[area]
    files = [file for pattern in patterns for file in sorted((copy / SOURCE).glob(pattern))]
    paths = [f"tests/{name}.py" for name in tests] + [str(f.relative_to(copy)) for f in files]
    quick = ["-m", "not slow"] if options.quick else []
    plugin = Reached([str(file) for file in files])
    reached = in_fork(copy, lambda: (tested([*quick, *paths], plugin), plugin.result()), 3600)
    if reached is None or reached[0] != 0:
        raise SystemExit(f"The tests fail without a mutant:\n{(copy / 'log.txt').read_text()}")
    sys.dont_write_bytecode = True  # of the tests it is there by now; of mutants it would mislead
    every = [m for file in files for m in mutants(str(file.relative_to(copy / SOURCE)))]
    known = {tuple(key) for entry in EQUIVALENT["equivalent"] for key in entry["mutants"]}
    kept = KEPT / f"{area}.json"
    if options.again:
        last = {tuple(key) for key in json.loads(kept.read_text())}
        sample = [mutant for mutant in every if mutant.key in last]
    else:
        chance = random.Random(f"{area} {options.seed}")
        sample = chance.sample(every, min(options.sample, len(every)))
    tried = [mutant for mutant in sample if mutant.key not in known]
    alive = []
    for mutant in sorted(tried):
        if survives(mutant, copy, reached[1]):
            alive.append(mutant)
            print(f"  survived: {mutant}", flush=True)
    KEPT.mkdir(exist_ok=True)
    kept.write_text(json.dumps([mutant.key for mutant in alive], ensure_ascii=False, indent=1))
    bounds = scipy.stats.binomtest(len(alive), max(len(tried), 1)).proportion_ci(0.95, "exact")
    print(
        f"{area}: {len(every)} mutants, {len(sample)} tried (seed {options.seed}), "
        f"{len(sample) - len(tried)} equivalent, {len(tried) - len(alive)} killed, {len(alive)} "
        f"survived: {len(alive) / max(len(tried), 1):.1%} "
        f"(95 %: {bounds.low:.1%} to {bounds.high:.1%})",
        flush=True,
    )
    return len(alive) / max(len(tried), 1)


def main() -> int:
    """Examine areas; 1 if more than a twentieth of an area's mutants survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("areas", nargs="*", default=list(AREAS), metavar="AREA")
    parser.add_argument("--sample", type=int, default=80, help="mutants of each area")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--quick", action="store_true", help="without tests marked slow")
    parser.add_argument("--again", action="store_true", help="those that survived the last run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name)
        shutil.copy(ROOT / "pyproject.toml", copy)
        return int(max(examine(area, options, copy) for area in options.areas) > 0.05)


if __name__ == "__main__":
    raise SystemExit(main())
