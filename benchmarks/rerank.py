"""A store of a leaderboard's size, simulated, and how long a new measure takes to re-rank it.

    python benchmarks/rerank.py --to FOLDER --problems 20 --methods 15 --settings 5

Twenty problems of about ten thousand test rows each (a fifth of Adult), two base models, five
splits: 15,000 files of predictions, a third of them chances of decisions at random.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from evenhand.benchmark import Question, Store, rank, results
from evenhand.benchmark.design.questions import QUESTIONS
from evenhand.benchmark.predictions import Predictions, Truth

GROUPS = (list("ab"), list("abcde"), [f"{x}{y}" for x in "ab" for y in "cdefg"])


def fill(store: Store, problems: int, methods: int, settings: int, splits: int, rows: int) -> int:
    """Predictions as a run would leave them; how many files."""
    rng = np.random.default_rng(0)
    written = 0
    for problem in range(problems):
        groups = GROUPS[problem % len(GROUPS)]
        name = f"problem {problem}"
        for split in range(splits):
            group = rng.integers(0, len(groups), rows)
            score = rng.normal(size=rows) + 0.1 * group
            y = (score + rng.normal(size=rows) > 0.3).astype(np.uint8)
            about = {"kind": "classification", "classes": ["no", "yes"], "groups": groups}
            about |= {"favorable": 1, "seed": split, "train": 4 * rows, "test": rows}
            about |= {"title": name, "is_stand_in": False, "provenance": "simulated"}
            about |= {"sensitive": ["g"] if len(groups) < 10 else ["g", "h"], "rows": 5 * rows}
            split_key = f"{problem:04d}{split:04d}"
            store.add_truth(name, split_key, Truth(np.arange(rows), y, group, about))
            for base in ("logistic", "boosting"):
                for method in range(methods):
                    for setting in range(settings if method else 1):
                        strength = setting / max(settings - 1, 1)
                        cut = score - 0.1 * strength * group + 0.05 * rng.normal(size=rows)
                        chance = 1 / (1 + np.exp(-4 * (cut - 0.3)))
                        both = np.column_stack([1 - chance, chance])
                        labels = (cut > 0.3).astype(np.uint8)
                        is_drawn = method % 3 == 1
                        key = f"{problem:04d}{split:02d}{base[0]}{method:03d}{setting:03d}"
                        entry = {"key": key, "problem": name, "base": base}
                        entry |= {"method": f"method {method}" if method else "Base"}
                        entry |= {"constraint": "statistical_parity" if method else None}
                        entry |= {"parameter": "strength", "hyperparameter": strength}
                        entry |= {"seed": split, "fit_rows": None, "split_key": split_key}
                        entry |= {"by_lot": is_drawn, "has_scores": not is_drawn}
                        entry |= {"cpu_seconds": 1.0, "seconds": 1.0, "notes": [], "versions": {}}
                        given = {"chances": both} if is_drawn else {"scores": both}
                        store.add(Predictions(labels=labels, **given), entry)
                        written += 1
    return written


def main() -> None:
    """Fill a store if it is not there, then time first scores and re-ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, required=True)
    for name, number in {"problems": 20, "methods": 15, "settings": 5, "splits": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--rows", type=int, default=9768)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    store = Store(asked.to)
    if not asked.to.exists():
        size = (asked.problems, asked.methods, asked.settings, asked.splits, asked.rows)
        print(f"{fill(store, *size):,} files written", flush=True)
    performance = Question("accuracy")
    for criterion, measure in (
        ("statistical_parity", "mpd"),  # counts the labels of every file, once for all measures
        ("statistical_parity", "gini"),
        ("equalized_odds", "pq"),
        ("strong_parity", "mpd"),  # reads all probabilities
    ):
        question = Question(criterion, measure)
        questions = {**QUESTIONS, "classification": (performance, question)}
        began, spent = time.perf_counter(), sum(os.times()[:4])
        found = results(store, questions=questions, n_jobs=asked.jobs, lots="expected")
        scored = time.perf_counter() - began
        rankings = rank(found, question.name)
        wall, cpu = time.perf_counter() - began, sum(os.times()[:4]) - spent
        print(
            f"{criterion} by {measure}: {found.runs.num_rows:,} runs, {len(rankings)} rankings, "
            f"{wall:.1f} s ({scored:.1f} s to score), {cpu:.1f} s of processors",
            flush=True,
        )


if __name__ == "__main__":
    main()
