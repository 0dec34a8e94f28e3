"""An output is written whole or not at all, and one that fails loses nothing else."""

import os
import stat
import threading

import pytest

from evenhand import _writing as writing
from evenhand._writing import fill_whole, write_whole


def test_the_old_file_stays_when_writing_fails(tmp_path, monkeypatch):
    target = tmp_path / "r.html"
    target.write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "new" * 1000)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_an_interrupt_leaves_no_half_file(tmp_path, monkeypatch):
    def interrupt(*names):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "r.html", "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a file that is written is locked on POSIX")
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    import fcntl

    names = {
        "left": ".r[1].html.0123abcd.unfinished",
        "written": ".r[1].html.89abcdef.unfinished",
        "of another file": ".r1.html.0123abcd.unfinished",
        "not ours": ".r[1].html.notes.unfinished",
    }
    for name in names.values():
        (tmp_path / name).write_text("half")
    with open(tmp_path / names["written"], "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        write_whole(tmp_path / "r[1].html", "new")
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {"r[1].html", *names.values()} - {names["left"]}


def test_a_file_keeps_its_rights_and_a_new_one_gets_the_usual_ones(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("x")
    old.chmod(0o640)
    for path in (old, new):
        write_whole(path, "text")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~mask


def test_the_mask_of_the_process_is_never_touched(tmp_path, monkeypatch):
    """Another thread would create files that anyone may write."""
    monkeypatch.setattr(writing.os, "umask", None)
    write_whole(tmp_path / "new", "text")
    assert (tmp_path / "new").read_text() == "text"


def test_a_private_file_is_never_readable_by_others_while_it_is_replaced(tmp_path):
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    seen = []
    fill_whole(path, lambda file: seen.append(os.fstat(file.fileno()).st_mode))
    assert stat.S_IMODE(seen[0]) == 0o600


@pytest.mark.slow
def test_one_output_that_fails_loses_neither_the_table_nor_the_others(run, people, folder):
    bad = {"html": "/dev/full", "markdown": "absent/r.md"}
    asked = [text for name, path in bad.items() for text in (f"--{name}", path)]
    result = run(people, *asked, "--json", "out.json")
    assert result.exit_code == 4
    assert "Statistical parity" in result.stdout
    assert (folder / "out.json").exists()
    errors = result.stderr.splitlines()
    assert "Error: /dev/full was not written: No space left on device." in errors
    assert "Error: absent/r.md was not written: the folder absent does not exist." in errors


@pytest.mark.slow
def test_the_gate_decides_the_status_even_if_an_output_fails(run, people):
    gate = ("--fail-if", "statistical_parity.mpd > 0.01")
    assert run(people, *gate, "--html", "/dev/full").exit_code == 1


def test_a_folder_in_place_of_an_output_is_refused_before_any_work(run, people, folder):
    (folder / "out").mkdir()
    result = run(people, "--html", "out")
    assert result.exit_code == 2
    assert "is a directory" in result.stderr


def test_an_interrupt_while_counting_is_one_line_and_status_130(run, people, monkeypatch):
    from evenhand.cli import audit as module

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "Data", interrupt)
    result = run(people, "--html", "r.html")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted; no output was left half written.\n"
    assert result.stdout == ""


def test_a_defect_is_not_taken_for_a_fault_of_the_file(run, people, monkeypatch):
    from evenhand.cli import audit as module

    def defect(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(module, "audit_evidence", defect)
    assert isinstance(run(people).exception, ZeroDivisionError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    fill_whole(pipe, lambda file: file.write(b"picture"))
    reader.join(timeout=30)
    assert read == [b"picture"]
    assert pipe.is_fifo()


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "page.html"
    link.symlink_to(tmp_path / "folder" / "real.html")
    write_whole(link, "page")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real.html").read_text() == "page"
