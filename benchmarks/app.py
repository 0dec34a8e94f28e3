"""The page of `evenhand app`: how long a click takes, the start, and a large file.

python benchmarks/app.py clicks    processor time of the server for each click, 10⁶ rows × 3 columns
python benchmarks/app.py start     from the command to the counts and the report of the Adult data
python benchmarks/app.py large     10⁷ rows of CSV: seconds, memory, progress and cancel

With --rows another number of rows. Times of the clock stand beside the processor's, for a machine
that does nothing else they are about the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import pandas as pd

from evenhand.app.desk import Desk, StoppedError
from evenhand.app.questions import Interview
from evenhand.app.server import application
from evenhand.datasets import load

SCORED = {
    "lines": "people",
    "target": "0",
    "prediction": "none",
    "score": "1",
    "favorable0": "1",
    "score_of0-1": "1",
    "threshold1": "0.5",
    "group": ["2", "3", "4"],
}
CLICKS: dict[str, dict[str, Any]] = {
    "the first time: rows are counted": {},
    "the same again": {},
    "two of the group columns": {"group": ["2", "3"]},
    "one group column": {"group": ["4"]},
    "another threshold": {"threshold1": "0.6"},
    "a threshold with one column": {"threshold1": "0.6", "group": ["2"]},
    "a margin": {"margin": "0.02"},
    "another confidence": {"confidence": "0.9"},
    "three columns at a time": {"depth": "3"},
    "another favorable outcome": {"favorable0": "0"},
    "a column more, in bins: rows are counted": {"group": ["2", "3", "5"], "bins5": "4"},
    "other bins": {"group": ["2", "3", "5"], "bins5": "0, 30, 50, 120"},
}
TESTED_AGAIN = ("a margin", "another confidence", "two of the group columns")
TESTED_AGAIN += ("another threshold", "another favorable outcome")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("clicks", "start", "large"))
    parser.add_argument("--rows", type=float)
    given = parser.parse_args()
    if given.what == "clicks":
        clicks(int(given.rows or 1e6))
    elif given.what == "large":
        large(int(given.rows or 1e7))
    else:
        start()


def loans(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], rows)
    score = np.clip(rng.beta(2, 2, rows) + 0.1 * (sex == "M"), 0, 1).round(6)
    return pd.DataFrame(
        {
            "outcome": np.where(rng.random(rows) < score, "repaid", "default"),
            "score": score,
            "sex": sex,
            "race": rng.choice([*"ABCDE"], rows),
            "region": rng.choice(["north", "south", "east", "west"], rows),
            "age": rng.integers(18, 80, rows),
        }
    )


@contextmanager
def opened(path: Path) -> Iterator[tuple[Desk, Callable[[str, Mapping[str, Any]], int]]]:
    """A desk with this file, and a request to its pages."""
    desk = Desk()
    try:
        key, pages = desk.open(path, path.name), application(desk)

        def ask(part: str, query: Mapping[str, Any]) -> int:
            return asyncio.run(_answered(pages, f"/files/{key}{part}", query))

        yield desk, ask
    finally:
        desk.close()


async def _answered(pages: Any, path: str, query: Mapping[str, Any]) -> int:
    """Bytes of the answer."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [],
    }
    size = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal size
        assert message.get("status", 200) == 200, message
        size += len(message.get("body", b""))

    await pages(scope, receive, send)
    return size


def clicks(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loans.parquet"
        loans(rows).to_parquet(path)
        with opened(path) as (_, ask):
            ask("", {"lines": "people"})  # what is imported late is no click
            print("| click | of a processor | of the clock | kB |\n| --- | --- | --- | --- |")
            for name, more in CLICKS.items():
                timed(name, lambda more=more: ask("", SCORED | more))
            timed("the tests, in their place below", lambda: ask("/tests", SCORED))
            timed("the page with these tests again", lambda: ask("", SCORED))
            for name in TESTED_AGAIN:
                more = SCORED | CLICKS[name]
                timed(f"the tests, with {name}", lambda more=more: ask("/tests", more))


def timed(name: str, run: Callable[[], int]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    size = run()
    own, clock = time.process_time() - cpu, time.perf_counter() - wall
    print(f"| {name} | {own:.3f} s | {clock:.3f} s | {size / 1e3:.0f} |", flush=True)


def start() -> None:
    task = load("adult")
    rows = pd.DataFrame(task.X).assign(income=np.asarray(task.y))
    rows["decision"] = (rows["education_num"] + rows["hours_per_week"] / 10 > 15).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        rows.to_csv(path, index=False)
        at = {name: str(place) for place, name in enumerate(rows.columns)}
        query = {"lines": "people", "target": at["income"], "prediction": at["decision"]}
        query |= {"score": "none", f"favorable{at['income']}-{at['decision']}": "1"}
        begun = time.perf_counter()
        command = [sys.executable, "-m", "evenhand", "app", str(path), "--no-browser"]
        page = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            told = _first_line(page)
            print(f"{len(rows):,} rows; the link after {_since(begun, page.pid)}")
            link = urlsplit(told.split()[-1])
            cookie = ""
            chosen = urlencode({**query, "group": [at["sex"], at["race"]]}, doseq=True)
            file = ""
            for name, address in (
                ("the first page", f"/?{link.query}"),
                ("the questions", ""),
                ("the counts", f"?{chosen}"),
                ("the report", f"/tests?{chosen}"),
            ):
                asked = HTTPConnection(link.hostname or "", link.port or 0)
                asked.request("GET", f"{file}{address}", headers={"Cookie": cookie})
                answer = asked.getresponse()
                content = answer.read()
                file = file or re.findall(r"/files/\w+", content.decode())[0]
                cookie = (answer.getheader("Set-Cookie") or cookie).partition(";")[0]
                assert answer.status == 200, answer.status
                print(f"{name} after {_since(begun, page.pid)}, {len(content):,} bytes", flush=True)
        finally:
            page.terminate()
            page.wait()


def _since(begun: float, process: int) -> str:
    """Seconds of the clock, and of a processor that the page's process has taken."""
    clock = time.perf_counter() - begun
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, parts[11:13])) / os.sysconf("SC_CLK_TCK")
    return f"{own:.2f} s of a processor ({clock:.2f} s of the clock)"


def _first_line(page: subprocess.Popen[str]) -> str:
    for stream in (page.stdout, page.stderr):
        assert stream is not None
        line = stream.readline()
        if "http" in line:
            return line
    raise AssertionError("the page did not start")


def large(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loans.csv"
        made = f"import app; app.loans({rows}).to_csv({str(path)!r}, index=False)"
        subprocess.run([sys.executable, "-c", made], check=True, cwd=Path(__file__).parent)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of CSV")
        before = memory()
        shares: list[float] = []
        cpu = time.process_time()
        desk = Desk()
        try:
            with watched(desk, shares):
                key = desk.open(path, path.name)
            said = f"{time.process_time() - cpu:.1f} s of a processor"
            print(f"opened: {said}, {memory() - before:,.0f} MB, progress {_few(shares)}")
            work, shares = desk.files[key], []
            asked = {k: v if isinstance(v, list) else [v] for k, v in SCORED.items()}
            choices = Interview(work.table, asked).choices
            assert choices is not None
            cpu = time.process_time()
            with watched(desk, shares):
                work.counted(choices)
            said = f"{time.process_time() - cpu:.1f} s of a processor"
            print(f"counted: {said}, {memory() - before:,.0f} MB, progress {_few(shares)}")
            print(f"cancel while it is opened: {stopping(path):.2f} s of the clock")
        finally:
            desk.close()


def memory() -> float:
    """The most that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


@contextmanager
def watched(desk: Desk, shares: list[float]) -> Iterator[None]:
    """Note down the progress that the page would show."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            if desk.files:
                shares.append(next(reversed(desk.files.values())).progress()["share"] or 0.0)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()


def _few(shares: list[float]) -> str:
    some = shares[:: max(len(shares) // 6, 1)]
    return json.dumps([round(share, 2) for share in some])


def stopping(path: Path) -> float:
    """From a press on Cancel to the end of the work, a second after it began."""
    desk, ended = Desk(), threading.Event()

    def work() -> None:
        try:
            desk.open(path, path.name)
        except StoppedError:
            ended.set()

    reading = threading.Thread(target=work)
    reading.start()
    time.sleep(1)
    begun = time.perf_counter()
    next(reversed(desk.files.values())).stop()
    reading.join()
    assert ended.is_set(), "it was not stopped"
    took = time.perf_counter() - begun
    desk.close()
    return took


if __name__ == "__main__":
    main()
