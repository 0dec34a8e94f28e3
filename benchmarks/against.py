"""How long the same calls take with the code as it is and with that of an earlier commit.

`python benchmarks/against.py COMMIT [WORD …]` checks the commit out into a temporary folder and
runs every case (or those whose names hold one of the words) in processes that take turns: one
imports evenhand from here, one from there. The least processor time of each counts, and the peak of
memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3

ROWS = """
rng = np.random.default_rng(0)
n = {rows}
group = rng.integers(0, {groups}, n)
score = rng.beta(2, 3, n).round(3)
y = (rng.random(n) < score).astype(int)
pred = (score >= 0.5).astype(int)
cluster = rng.integers(0, 100_000, n)
rows = dict(sensitive_features=group)
"""
AMOUNTS = """
rng = np.random.default_rng(0)
n = {rows}
group = rng.integers(0, {groups}, n)
y = rng.normal(size=n) + group
pred = y + rng.normal(size=n)
"""
SMALL, WIDE, MANY = (10_000, 2), (1_000_000, 50), (200_000, 1_000)
CASES = {  # rows and groups, what is made ready, what is timed
    "import": ((1, 1), "", "pass"),
    "tally of 10⁶ × 50": (WIDE, ROWS, "eh.tally(y, pred, **rows)"),
    "audit of 10⁴ × 2": (SMALL, ROWS, "eh.audit(y, pred, favorable=1, **rows)"),
    "audit of 10⁴ × 2 with scores": (
        SMALL,
        ROWS,
        "eh.audit(y, pred, y_score=score, favorable=1, **rows)",
    ),
    "audit of 10⁶ × 50": (WIDE, ROWS, "eh.audit(y, pred, favorable=1, **rows)"),
    "audit of 10⁶ × 50 with scores": (
        WIDE,
        ROWS,
        "eh.audit(y, pred, y_score=score, favorable=1, **rows)",
    ),
    "audit of 2·10⁵ × 1,000": (MANY, ROWS, "eh.audit(y, pred, favorable=1, **rows)"),
    "audit of 10⁶ rows in 10⁵ clusters × 20": (
        (1_000_000, 20),
        ROWS,
        "eh.audit(y, pred, cluster=cluster, favorable=1, **rows)",
    ),
    "audit of 10⁶ weighted rows in 10⁵ clusters × 20": (
        (1_000_000, 20),
        ROWS + "weight = rng.gamma(2, 1, n)\n",
        "eh.audit(y, pred, cluster=cluster, sample_weight=weight, favorable=1, **rows)",
    ),
    "audit of 10⁶ rows in 10⁵ clusters that cross 200 × 20": (
        (1_000_000, 20),
        ROWS + "cluster = dict(template=cluster, rater=rng.integers(0, 200, n))\n",
        "eh.audit(y, pred, cluster=cluster, favorable=1, **rows)",
    ),
    "audit of 10⁵ numbers × 5": (
        (100_000, 5),
        AMOUNTS,
        "eh.audit(y, pred, task='regression', sensitive_features=group)",
    ),
    "page of an audit": (
        (100_000, 10),
        ROWS + "audit = eh.audit(y, pred, favorable=1, **rows)\n",
        "audit.to_html()",
    ),
    "power of five groups": (
        (1, 1),
        "",
        "eh.power([900, 300, 100, 50, 50], rate=.3, difference=.1)",
    ),
    "interval of 10⁶ × 50": (
        WIDE,
        ROWS + "tally = eh.tally(y, pred, **rows)\n",
        "eh.interval('equalized_odds', tally)",
    ),
    "contrasts of 2·10⁵ × 1,000": (
        MANY,
        ROWS + "tally = eh.tally(y, pred, **rows)\n",
        "eh.contrasts('statistical_parity', tally)",
    ),
    "compare three models on 10⁵ × 5": (
        (100_000, 5),
        ROWS + "models = dict(a=pred, b=(score > .4).astype(int), c=(score > .6).astype(int))\n",
        "eh.compare(y, models, favorable=1, **rows)",
    ),
    "frontier of 10⁵ × 5": (
        (100_000, 5),
        ROWS,
        "eh.frontier(y, score, values=11, favorable=1, **rows)",
    ),
    "parity of 10⁵ amounts × 5": (
        (100_000, 5),
        AMOUNTS + "from evenhand.mitigation import BarycenterRegressor\n"
        "from sklearn.linear_model import LinearRegression\n"
        "import pandas as pd\n"
        "X = pd.DataFrame(dict(pred=pred, group=group))\n"
        "model = BarycenterRegressor(LinearRegression(), group='group')\n",
        "model.fit(X, y).predict(X)",
    ),
}
TIMED = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
begun = time.process_time()
import evenhand as eh
imported = time.process_time() - begun
import numpy as np
{ready}
def timed():
    begun = time.process_time()
    {call}
    return time.process_time() - begun
took = [timed() for _ in range({times})]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([imported if {is_import} else min(took), peak]))
"""


def spent(case: str, source: Path, compiled: Path) -> tuple[float, float] | None:
    """Seconds and MiB of a case with the code of a folder; None where it cannot run there."""
    (rows, groups), ready, call = CASES[case]
    is_import = case == "import"
    code = TIMED.format(
        ready=ready.format(rows=rows, groups=groups),
        call=call,
        times=1 if rows > SMALL[0] or is_import else 3,
        is_import=is_import,
    )
    settings = {"PYTHONPATH": source, "PYTHONPYCACHEPREFIX": compiled, "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an import would compile every module again
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{case}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main(commit: str, words: list[str]) -> None:
    """Print one line for each case."""
    with TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", then, commit], cwd=ROOT, check=True
        )
        try:
            print(f"| | {commit} | now | ratio | memory, ratio |\n| --- | --- | --- | --- | --- |")
            for case in CASES:
                if not words or any(word in case for word in words):
                    print(line(case, then / "src"), flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", then], cwd=ROOT, check=True)


def line(case: str, then: Path) -> str:
    """A row of the table."""
    compiled = then.parent.with_name("compiled")
    sources = then, ROOT / "src"
    found = [[spent(case, source, compiled) for source in sources] for _ in range(ROUNDS)]
    old, new = ([one for one in some if one] for some in zip(*found, strict=True))
    if not old or not new:
        return f"| {case} | {'runs' if old else '–'} | {'runs' if new else '–'} | | |"
    before, held = (min(some) for some in zip(*old, strict=True))
    after, holds = (min(some) for some in zip(*new, strict=True))
    ratio, memory = after / before, holds / held
    return f"| {case} | {before:.3f} s | {after:.3f} s | {ratio:.2f} | {memory:.2f} |"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
