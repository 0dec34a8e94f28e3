"""Days of a watch: parts that come late, twice, corrected, renamed, in other words, or never whole.

The oracle is a list of all rows ever counted. After every step, what the state says equals what
those rows say; or the step was refused, and not a byte of the state has changed.
"""

from __future__ import annotations

import atexit
import errno
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from click.testing import CliRunner
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import evenhand as eh
from evenhand.cli.watch import watch as command

CRITERIA = ("statistical_parity", "equal_opportunity")
BOUNDS = [f"{name}.mpd > 0.2" for name in CRITERIA]
GROUPS = ("a", "b", 3)
FIRST = 739_000
SPELLINGS = {
    "numbers": (0, 1),
    "text": ("0", "1"),
    "decimals": ("0.0", "1.0"),
    "floats": (0.0, 1.0),
    "truth": (False, True),
    "words of truth": ("False", "True"),
}
FOREIGN = {"yes": ("no", "yes"), "stray": ("0", "n/a"), "other": (7, 8), "case": ("N", "Y")}
CALLS = ("open", "replace", "fsync", "fstat", "close", "unlink", "chmod", "stat")


class Part:
    """Rows (truth or None, prediction, group) of one day, under a name."""

    def __init__(self, rows, day, late):
        self.rows, self.day, self.late = tuple(rows), day, late

    def counts(self, spelling="numbers", clustered=False, group=lambda group: group):
        labels = {**SPELLINGS, **FOREIGN}[spelling]
        truth = [labels[y] for y, _, _ in self.rows] if self.rows[0][0] is not None else None
        decided = [labels[p] for _, p, _ in self.rows]
        whom = [group(g) for _, _, g in self.rows]
        cluster = {"cluster": range(len(self.rows))} if clustered else {}
        return eh.tally(truth, decided, sensitive_features=np.array(whom, object), **cluster)


def rows_of(seed, number, groups, with_truth, rate):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        g = groups[int(rng.integers(len(groups)))]
        y, p = int(rng.random() < 0.5), int(rng.random() < (rate if g == "a" else 0.5))
        made.append((y if with_truth else None, p, g))
    return made


PARTS = {
    "seed": st.integers(0, 10**6),
    "number": st.sampled_from([1, 7, 40, 300]),
    "groups": st.sampled_from([GROUPS, ("a", "b"), ("b",), ("a", 3)]),
    "with_truth": st.booleans(),
    "rate": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    "day": st.sampled_from([0, 1, 2, 3, 40, 700]),
}
SPELLED = st.sampled_from(list(SPELLINGS))


class Days(RuleBasedStateMachine):
    """A state on the disk, all rows that it should have counted, and what parts call the groups."""

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.path = self.folder / "w.json"
        self.parts, self.names, self.number = {}, {group: group for group in GROUPS}, 0
        self.copies = []

    def teardown(self):
        self.stack.close()

    @initialize(clustered=st.booleans(), remember=st.sampled_from([3, 500]))
    def begin(self, clustered, remember):
        self.clustered, self.remember = clustered, remember
        watch = eh.Watch(CRITERIA, fail_if=BOUNDS, measures="mpd", favorable=1, remember=remember)
        columns = {"target": "y", "prediction": "p", "group": ["g"]}
        watch._memory.columns = columns | ({"cluster": "who"} if clustered else {})
        watch.save(self.path)

    @rule(spelling=SPELLED, late=st.booleans(), **PARTS)
    def append(self, spelling, late, **how):
        part = self.drawn(late=late and how["with_truth"], **how)
        self.refused_or(part, lambda watch, name: watch.update(
            part.counts(spelling, self.clustered), part=name, at=self.day(part), late=part.late
        ))  # fmt: skip

    @rule(spelling=st.sampled_from(list(FOREIGN)), **PARTS)
    def append_other_words(self, spelling, **how):
        """Rows whose labels nobody knows: the gate must not take them for rows without hits."""
        part = self.drawn(late=False, **how)
        if len({p for _, p, _ in part.rows}) < 2 or not self.has_both():
            return
        before, watch = self.path.read_bytes(), eh.Watch.load(self.path)
        with suppress(eh.InputError):
            watch.update(part.counts(spelling, self.clustered), part="other", at=self.day(part))
            raise AssertionError(f"{spelling} was counted")
        watch.save(self.path)
        assert self.path.read_bytes() == before

    @precondition(lambda self: self.parts)
    @rule(data=st.data(), spelling=SPELLED)
    def append_again(self, data, spelling):
        """A part that was counted is counted once; with other numbers it is refused."""
        name = data.draw(st.sampled_from(sorted(self.parts)))
        part, before = self.parts[name], self.path.read_bytes()
        other = data.draw(st.booleans())
        counts = (Part(part.rows + part.rows[:1], part.day, part.late) if other else part).counts(
            spelling, self.clustered
        )
        watch = eh.Watch.load(self.path)
        try:
            counted = watch.update(counts, part=name, at=self.day(part), late=part.late)
        except eh.InputError:
            assert other or self.remember < 500
        else:
            assert not counted
            assert not other
            watch.save(self.path)
        assert self.path.read_bytes() == before

    @precondition(lambda self: self.parts)
    @rule(data=st.data(), spelling=SPELLED, **PARTS)
    def correct(self, data, spelling, **how):
        name = data.draw(st.sampled_from(sorted(self.parts)))
        old = self.parts[name]
        how["with_truth"] = old.rows[0][0] is not None
        new = Part(self.drawn(late=old.late, **how).rows, old.day, old.late)
        before, watch = self.path.read_bytes(), eh.Watch.load(self.path)
        try:
            watch.correct(
                name, old.counts(clustered=self.clustered),
                new.counts(spelling, self.clustered), late=old.late,
            )  # fmt: skip
        except eh.InputError:
            assert self.remember < 500
            assert self.path.read_bytes() == before
            return
        self.save(watch)
        self.parts[name] = new

    @rule(data=st.data())
    def rename(self, data):
        """Groups go by other names; two of one name are one; names can be swapped."""
        known = [g for g in sorted(set(self.names.values()), key=str) if isinstance(g, str)]
        old, new = data.draw(st.permutations([*known, "x", "y"]))[:2]
        names = {old: new, new: old} if data.draw(st.booleans()) else {old: new}
        before, watch = self.path.read_bytes(), eh.Watch.load(self.path)
        if old not in known or (len(names) == 2 and new not in known):
            return
        try:
            watch.rename(names)
        except eh.InputError:
            assert self.clustered
            assert self.path.read_bytes() == before
            return
        self.save(watch)
        self.names = {raw: names.get(now, now) for raw, now in self.names.items()}

    @rule(
        spelling=st.sampled_from(["numbers", "text", "words of truth", "stray"]),
        as_counts=st.booleans(),
        **PARTS,
    )
    def append_by_command(self, spelling, as_counts, **how):
        part = self.drawn(late=False, **how)
        name = f"part {self.number}"
        if not self.has_both():  # until then a stray word may be the other of two labels
            spelling = "text"
        labels = {**SPELLINGS, **FOREIGN}[spelling]
        table = pd.DataFrame(part.rows, columns=["y", "p", "g"]).assign(who=range(len(part.rows)))
        for column in ("y", "p"):
            table[column] = [None if v is None else labels[v] for v in table[column]]
        if not how["with_truth"]:
            table = table.drop(columns="y")
        more = []
        if as_counts and not self.clustered:
            columns = [column for column in ("y", "p", "g") if column in table]
            table = table.groupby(columns).size().rename("n").reset_index()
            more = ["--rows", "n"]
        file = self.folder / "part.csv"
        table.to_csv(file, index=False)
        before = self.path.read_bytes()
        given = [file, "--state", self.path, "--part", name, "--date", self.day(part), *more]
        done = CliRunner().invoke(command, ["append", *map(str, given)])
        assert done.exit_code in (0, 1, 2, 3), done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        if done.exit_code == 2:
            assert self.path.read_bytes() == before
            assert spelling == "stray" or self.remember < 500, done.output
        else:
            self.parts[name] = part

    @precondition(lambda self: hasattr(os, "fork"))
    @rule(
        how=st.sampled_from(["kill", errno.ENOSPC, errno.EIO, "full"]),
        at=st.integers(1, 40),
        lasting=st.booleans(),
        again=st.booleans(),
    )
    def fail(self, how, at, lasting, again):
        """A process is killed, or the disk fails, at some system call of an append."""
        part = self.drawn(at, 20, GROUPS, True, 0.2, 2, late=False)
        name, before = f"part {self.number}", eh.Watch.load(self.path).status().parts
        counts = part.counts(clustered=self.clustered)
        named = {"part": name, "at": self.day(part)}
        left = set(unfinished(self.folder))
        status = failing(self.path, Fault(how, at, lasting), counts, **named)
        watch = eh.Watch.load(self.path)
        counted = watch.status().parts - before
        assert counted in (0, 1)
        assert status in (DONE, SURVIVED, REFUSED) or (how == "kill" and status == KILLED), status
        assert status not in (DONE, SURVIVED) or counted or self.remember < 500
        assert status != REFUSED or not counted
        if status == DONE and counted:
            assert not unfinished(self.folder)
        elif status != KILLED and not lasting:  # where nothing can be removed, the next write does
            assert left.issuperset(unfinished(self.folder))
        if again and (self.remember == 500 or not counted):
            with suppress(eh.InputError):
                assert watch.update(counts, **named) == (not counted)
                self.save(watch)
                counted = 1
        if counted:
            self.parts[name] = part

    @rule(**PARTS)
    def write_twice(self, **how):
        """Of two that have read one state, the second must read it again."""
        part = self.drawn(late=False, **how)
        one, two = (eh.Watch.load(self.path) for _ in range(2))
        counts, name = part.counts(clustered=self.clustered), f"part {self.number}"
        try:
            one.update(counts, part=name, at=self.day(part))
        except eh.InputError:
            assert self.remember < 500
            return
        one.save(self.path)
        self.parts[name] = part
        before = self.path.read_bytes()
        two.rename({"nobody": "no one"})
        with suppress(eh.InputError):
            two.save(self.path)
            raise AssertionError("a state was written over another")
        assert self.path.read_bytes() == before
        one.save(self.path)

    @rule()
    def keep_a_copy(self):
        self.copies.append((self.path.read_bytes(), dict(self.parts), dict(self.names)))

    @precondition(lambda self: self.copies)
    @rule()
    def take_the_copy(self):
        """An older state goes on from where it was."""
        content, self.parts, self.names = self.copies.pop()
        self.path.write_bytes(content)

    @rule(at=st.integers(1, 10**6), bit=st.integers(0, 7))
    def damage(self, at, bit):
        whole = self.path.read_bytes()
        for damaged in (whole[: at % len(whole)], _flipped(whole, at % len(whole), bit)):
            self.path.write_bytes(damaged)
            with suppress(eh.InputError):
                assert eh.Watch.load(self.path).status().parts == len(self.parts)
        self.path.write_bytes(whole)

    @invariant()
    def the_state_says_what_all_rows_say(self):
        if not self.path.exists():
            return
        status = eh.Watch.load(self.path).status()
        assert status.parts == len(self.parts)
        found = {finding.criterion: finding for finding in status.findings}
        for name, judged in zip(CRITERIA, status.judgements, strict=True):
            rows = self.rows(name)
            if name not in found:
                assert not rows or self.clustered
                assert judged.outcome == "inconclusive"
                continue
            rates = rates_by_group(name, rows)
            known = {str(r.group): (r.rate, r.rows) for r in found[name].rates if r.rows}
            if not known and not any(p == 1 or y == 1 for y, p, _ in rows):
                continue  # the favorable label was never seen
            assert known == {g: (hits / of, of) for g, (hits, of) in rates.items() if of}, name
            value = found[name].intervals["mpd"].value
            shares = [hits / of for hits, of in rates.values() if of]
            gap = gap_within([rates_by_group(name, part) for part in self.by_part(name)])
            if len(shares) > 1 and gap is not None:
                assert abs(value - gap) < 1e-3
            if len(self.by_part(name)) == 1 and len(shares) > 1:
                assert abs(value - (max(shares) - min(shares))) < 1e-9
            self.gate_is_right(judged, gap, rates, rows)

    def gate_is_right(self, judged, gap, rates, rows):
        shares = [hits / of for hits, of in rates.values() if of]
        if judged.outcome == "violation":
            assert gap is None or gap > 0.199
        if judged.outcome == "pass":
            assert gap <= 0.201
            assert len(shares) > 1
            assert all(of for _, of in rates.values())
            assert len({p for _, p, _ in rows}) > 1

    def save(self, watch):
        """Write the state; what killed processes and broken disks have left is gone then."""
        watch.save(self.path)
        assert not unfinished(self.folder)

    def rows(self, criterion):
        """All rows ever counted that a criterion can be asked about."""
        return [row for part in self.by_part(criterion) for row in part]

    def by_part(self, criterion):
        """The same, part by part."""
        asks_truth = criterion == "equal_opportunity"
        parts = [
            [
                (y, p, str(self.names[g]))
                for y, p, g in part.rows
                if (y is not None if asks_truth else not part.late)
            ]
            for part in self.parts.values()
        ]
        return [part for part in parts if part]

    def drawn(self, seed, number, groups, with_truth, rate, day, late):
        self.number += 1
        return Part(rows_of(seed, number, groups, with_truth, rate), FIRST + day, late)

    def day(self, part):
        return pd.Timestamp.fromordinal(part.day).date().isoformat()

    def has_both(self):
        """Whether both labels are known, so that a foreign one is known to be one."""
        return len({p for part in self.parts.values() for _, p, _ in part.rows}) == 2

    def refused_or(self, part, act):
        name = f"part {self.number}"
        before, watch = self.path.read_bytes(), eh.Watch.load(self.path)
        try:
            assert act(watch, name)
        except eh.InputError:
            assert self.remember < 500
            assert self.path.read_bytes() == before
            return
        self.save(watch)
        self.parts[name] = part


DONE, REFUSED, BROKEN, SURVIVED, KILLED = 0, 3, 4, 5, -signal.SIGKILL


@dataclass(frozen=True)
class Fault:
    """What happens at the `at`th system call of a write, and, if it lasts, at all after it."""

    how: object
    at: int
    lasting: bool = False


def unfinished(folder):
    """Files that writers have left."""
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".unfinished"))


def fail_every_write(folder, how, lasting):
    """Let the first system call of a write fail, then the second, until none is left to fail."""
    path = folder / "w.json"
    part = Part(rows_of(0, 30, ("a", "b"), True, 0.5), 739_000, late=False)
    watched = eh.Watch("statistical_parity", favorable=1)
    watched.update(part.counts(), part="1", at="2026-01-01")
    watched.save(path)
    old, outcomes = path.read_bytes(), set()
    for at in range(1, 200):
        path.write_bytes(old)
        left = set(unfinished(folder))
        status = failing(path, Fault(how, at, lasting), part.counts(), part="2")
        parts = eh.Watch.load(path).status().parts
        outcomes.add((status, parts))
        assert (status, parts) in {
            (DONE, 2), (SURVIVED, 2), (REFUSED, 1), (KILLED, 1), (KILLED, 2)
        }, at  # fmt: skip
        if status == DONE:
            break
        assert status == KILLED or lasting or left.issuperset(unfinished(folder))
    else:
        raise AssertionError("it never ends")
    assert not unfinished(folder)
    assert outcomes & {(REFUSED, 1), (KILLED, 1)}


def failing(path, fault, counts, **named):
    """The exit status of a process that updates a state while the disk fails or it is killed."""
    server = _server()
    pickle.dump((path, fault, counts, named), server.stdin)
    server.stdin.flush()
    return pickle.load(server.stdout)


@cache
def _server():
    """An interpreter that forks processes to fail.

    Not this one: where DuckDB has had threads, a forked process crashes when garbage is collected,
    which is at another place each time.
    """
    code = "from journeys.days import serve; serve()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes)
    atexit.register(server.communicate)
    return server


def serve():
    """Fork a process for each update that is asked for, and answer with its exit status."""
    while True:
        try:
            asked = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        child = os.fork()
        if not child:
            _fail(*asked)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        pickle.dump(status, sys.stdout.buffer)
        sys.stdout.flush()


def _fail(path, fault, counts, named):
    status = BROKEN
    try:
        watch = eh.Watch.load(path)
        counted = watch.update(counts, **named)
        if fault.how == "full":
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (fault.at * 50, resource.RLIM_INFINITY))
        asked = [0] if fault.how == "full" else _refuse(fault)
        if counted:
            watch.save(path)
        status = DONE if asked[0] < fault.at else SURVIVED
    except (OSError, eh.EvenhandError):
        status = REFUSED
    finally:
        os._exit(status)


def _refuse(fault):
    """Let system calls fail, or one of them be the last; how many there were is counted."""
    asked = [0]

    def guard(call):
        def guarded(*arguments, **options):
            asked[0] += 1
            if asked[0] == fault.at or (fault.lasting and asked[0] > fault.at):
                if fault.how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(fault.how, os.strerror(fault.how))
            return call(*arguments, **options)

        return guarded

    for name in CALLS:
        setattr(os, name, guard(getattr(os, name)))
    return asked


def rates_by_group(criterion, rows):
    """Hits and rows of every group, by hand."""
    rates = {group: (0, 0) for _, _, group in rows}
    for y, p, group in rows:
        if criterion == "statistical_parity" or y == 1:
            hits, of = rates[group]
            rates[group] = hits + (p == 1), of + 1
    return rates


def gap_within(parts):
    """The largest gap of a regression with a level for each part; None if it is not determined."""
    groups = sorted({group for part in parts for group, (_, of) in part.items() if of})
    lines, wishes, weights = [], [], []
    for at, part in enumerate(parts):
        for group, (hits, of) in part.items():
            if of:
                line = np.zeros(len(groups) + len(parts))
                line[[groups.index(group), len(groups) + at]] = 1
                lines.append(line), wishes.append(hits / of), weights.append(np.sqrt(of))
    if len(groups) < 2:
        return None
    by, design = np.array(weights), np.array(lines)
    if (
        np.linalg.matrix_rank(design)
        < len(groups) + (design[:, len(groups) :].sum(axis=0) > 0).sum() - 1
    ):
        return None
    found = np.linalg.lstsq(design * by[:, None], np.array(wishes) * by, rcond=None)[0]
    return min(float(np.ptp(found[: len(groups)])), 1.0)  # of rates


def _flipped(content, at, bit):
    damaged = bytearray(content)
    damaged[at] ^= 1 << bit
    return bytes(damaged)
