"""Damaged files, odd environments, impatient users: one line, never the status of a defect."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.ipc
import pytest

from evenhand._files.files import connect
from evenhand.cli.failures import done_unless_stopped, failures_in_one_line
from lanes import one_in

PROGRAM = [sys.executable, "-c", "from evenhand.cli import main; main()", "audit"]
COLUMNS = ["--target", "y", "--prediction", "p", "--group", "g"]
QUICK = ["--criterion", "statistical_parity", "--measure", "mpd"]
OUTPUTS = ("html", "json", "markdown", "junit")


def refused(result):
    """The one line that says why a file or command cannot be used."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("Error: ") == 1
    return result.stderr


FLIPPED = {
    "the checksum": lambda size: size - 6,
    "the length": lambda size: size - 2,
    "the middle": lambda size: size // 2,
    "the method": lambda _: 2,
    "the magic number": lambda _: 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv.gz", "jsonl.gz"])
@pytest.mark.parametrize("place", FLIPPED)
def test_a_gzip_file_with_one_flipped_bit_is_refused(run, people, folder, kind, place):
    lines = people.to_json(orient="records", lines=True)
    text = people.to_csv(index=False) if kind == "csv.gz" else lines
    damaged = bytearray(gzip.compress(text.encode()))
    damaged[FLIPPED[place](len(damaged))] ^= 1
    (folder / f"rows.{kind}").write_bytes(damaged)
    assert "damaged or cut short" in refused(run(f"rows.{kind}"))


@pytest.mark.parametrize("end", [b"garbage", b"\x1f\x8b", b"\x1f\x8b\x08\x00"])
def test_a_gzip_file_with_something_after_its_end_is_refused(run, people, folder, end):
    whole = gzip.compress(people.to_csv(index=False).encode())
    (folder / "rows.csv.gz").write_bytes(whole + end)
    refused(run("rows.csv.gz"))


def test_all_members_of_a_gzip_file_are_read(run, people, folder):
    text = people.to_csv(index=False).encode()
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text[:500]) + gzip.compress(text[500:]))
    assert run("rows.csv.gz", "--json", "out.json").exit_code == 0
    assert json.loads((folder / "out.json").read_text())["rows"] == 600


@pytest.fixture
def stream(folder):
    """A stream whose last numbers look like the mark of its end, and where its batches end."""
    ends = []
    table = pa.table({"y": [0, 1] * 40, "p": [1, 0] * 40, "g": ["a", "b"] * 40})
    table = table.append_column("z", pa.array([-1, 0] * 40, pa.int32()))
    name = str(folder / "rows.arrows")
    with pa.OSFile(name, "wb") as file, pa.ipc.new_stream(file, table.schema) as sink:
        for batch in table.to_batches(max_chunksize=20):
            ends.append(file.tell())
            sink.write_batch(batch)
        ends.append(file.tell())
    return (folder / "rows.arrows"), ends


@pytest.mark.slow
def test_an_arrow_stream_cut_anywhere_is_refused(run, stream):
    path, ends = stream
    whole = path.read_bytes()
    assert run("rows.arrows").exit_code == 0
    assert whole[: ends[-1]].endswith(b"\xff\xff\xff\xff\0\0\0\0")
    for size in (*ends, len(whole) - 1, len(whole) - 4):
        path.write_bytes(whole[:size])
        refused(run("rows.arrows"))


def test_two_arrow_streams_in_one_file_are_refused(run, stream):
    path, _ = stream
    path.write_bytes(2 * path.read_bytes())
    assert "something follows its end" in refused(run("rows.arrows"))


def test_an_arrow_stream_without_rows_is_refused(run, folder):
    table = pa.table({"y": [0], "p": [1], "g": ["a"]})
    with pa.ipc.new_stream(str(folder / "rows.arrows"), table.schema):
        pass
    assert "There are no rows to count" in refused(run("rows.arrows"))


def other_name(path, kind):
    """Another name of a file."""
    if kind == "the same name":
        return path
    if kind == "another way there":
        return path.parent / "." / ".." / path.parent.name / path.name
    link = path.parent / "link"
    link.symlink_to(path) if kind == "a symbolic link" else link.hardlink_to(path)
    return link


@pytest.mark.parametrize(
    "kind", ["the same name", "another way there", "a symbolic link", "a hard link"]
)
@pytest.mark.parametrize("option", OUTPUTS)
def test_an_output_that_is_an_input_is_refused(run, people, folder, option, kind):
    people.to_csv(folder / "k.csv", index=False)
    before = (folder / "k.csv").read_bytes()
    target = other_name(folder / "k.csv", kind)
    line = refused(run(["k.*"], f"--{option}", str(target)))
    assert "would overwrite k.csv, which is read" in line
    assert (folder / "k.csv").read_bytes() == before


@pytest.mark.parametrize("option", OUTPUTS)
def test_an_output_over_the_options_is_refused(run, people, folder, option):
    (folder / "o.toml").write_text("margin = 0.1\n")
    result = run(people, "--config", "o.toml", f"--{option}", "o.toml")
    assert result.exit_code == 2
    assert (folder / "o.toml").read_text() == "margin = 0.1\n"


def test_two_outputs_in_one_file_are_refused_and_devices_take_all(run, people, folder):
    line = refused(run(people, "--html", "out", "--json", str(folder / "out")))
    assert "would overwrite the output of --json" in line
    assert run(people, "--html", os.devnull, "--json", os.devnull).exit_code == 0


def test_a_header_of_a_name_too_long_is_refused(run, folder):
    (folder / "rows.csv").write_text("y,p,g," + "h" * 140_000 + "\n0,1,a,1\n1,0,b,2\n")
    assert "The header of rows.csv cannot be read" in refused(run("rows.csv"))


def test_a_file_that_is_one_long_line_is_refused(run, folder):
    (folder / "rows.csv").write_text("y,p,g," * 400_000)
    assert "it is not a header" in refused(run("rows.csv"))


@pytest.mark.slow
@pytest.mark.parametrize("width", ["abc", "", "0", "-5", "1.5", "²", "9" * 30])
def test_any_width_of_the_terminal_will_do(run, people, monkeypatch, width):
    with monkeypatch.context() as patch:  # what runs the tests reads it too
        patch.setenv("COLUMNS", width)
        result = run(people)
    assert result.exit_code == 0


def test_deeply_nested_options_are_refused(run, people, folder):
    (folder / "o.toml").write_text("a = " + "[" * 5000 + "]" * 5000)
    result = run(people, "--config", "o.toml")
    assert result.exit_code == 2
    assert "cannot be read as TOML" in result.stderr


def test_a_word_in_a_message_is_no_interrupt(run, folder):
    (folder / "interrupted.parquet").write_bytes(b"PAR1 is no file PAR1")
    assert "interrupted.parquet" in refused(run("interrupted.parquet"))
    with pytest.raises(ZeroDivisionError), failures_in_one_line():
        raise ZeroDivisionError("interrupt")


@pytest.mark.slow
def test_a_title_that_is_no_text_is_written_with_a_mark(people, folder):
    people.to_csv(folder / "rows.csv", index=False)
    asked = [text for name in OUTPUTS for text in (f"--{name}", f"out.{name}")]
    done = subprocess.run(
        [*PROGRAM, "rows.csv", *COLUMNS, *QUICK, "--title", b"caf\xe9", *asked],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    for name in OUTPUTS:
        assert "caf" in (folder / f"out.{name}").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("closed", "name"),
    one_in(2, ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"], ["rows.csv", "absent.csv"]),
)
def test_closed_streams_change_no_status(people, folder, closed, name):
    status = 1 if name == "rows.csv" else 2
    people.to_csv(folder / "rows.csv", index=False)
    gate = ["--fail-if", "statistical_parity.mpd > 0.01", "--json", "out.json"]
    command = [*PROGRAM, name, *COLUMNS, *QUICK, *gate]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command], capture_output=True, check=False
    )
    assert done.returncode == status, done.stderr
    if status == 1:
        assert json.loads((folder / "out.json").read_text())["rows"] == 600


class Engine:
    """Queries one after another, each of which hears an interrupt only while it runs."""

    def __init__(self, queries):
        self.left, self.running, self.stopped = queries, False, threading.Event()
        self.between = threading.Event()

    def interrupt(self):
        if self.running:
            self.stopped.set()

    def work(self):
        while self.left:
            self.between.set()
            time.sleep(0.1)
            self.left, self.running = self.left - 1, True
            if self.stopped.wait(timeout=60):
                raise RuntimeError("interrupted")
            self.running = False


def test_an_interrupt_between_two_queries_is_heard(monkeypatch):
    from concurrent.futures import Future

    engine = Engine(queries=3)

    def interrupted(self, timeout=None):
        engine.between.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        done_unless_stopped(engine.work, engine.interrupt)
    assert engine.left == 2


def test_the_engine_of_files_loads_nothing_and_cannot_be_told_to():
    database = connect()
    settings = dict(database.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert settings[name] == "false"
        with pytest.raises(Exception, match="locked"):
            database.execute(f"SET {name} = true")
    with pytest.raises(Exception, match="locked"):
        database.execute("SET memory_limit = '1TB'")
