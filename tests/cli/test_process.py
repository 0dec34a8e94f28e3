"""The command as a process: signals, pipes and full disks."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from evenhand.cli import main; main()", "audit"]
COLUMNS = ["--target", "y", "--prediction", "p", "--group", "g", "--measure", "mpd"]
QUICK = ["--criterion", "statistical_parity"]


@pytest.fixture
def rows(people, folder):
    people.to_parquet(folder / "rows.parquet")
    return [*COMMAND, "rows.parquet", *COLUMNS, *QUICK]


def test_the_status_is_that_of_the_gate(rows):
    for gate, status in (("> 0.01", 1), ("> 0.99", 0)):
        done = subprocess.run(
            [*rows, "--fail-if", f"statistical_parity.mpd {gate}"], capture_output=True, check=False
        )
        assert done.returncode == status
        assert b"\x1b" not in done.stdout + done.stderr
        assert done.stderr == b""


def test_a_full_disk_under_stdout_is_no_verdict(rows, folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*rows, "--json", "out.json"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 4
    assert b"was not printed: No space left on device" in done.stderr
    assert (folder / "out.json").exists()


def test_a_reader_that_leaves_early_is_no_verdict(rows, folder):
    inside, outside = os.pipe()
    os.close(inside)
    with os.fdopen(outside, "wb") as pipe:
        done = subprocess.run(
            [*rows, "--json", "out.json"], stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 4
    assert (folder / "out.json").exists()


def test_ctrl_c_is_one_line_and_status_130(folder):
    (folder / "options.toml").write_text('target = "y"\nprediction = "p"\ngroup = "g"\n')
    with (folder / "rows.csv").open("w") as file:
        file.write("y,p,g\n")
        some = [f"{i % 2},{i % 3 % 2},{'ab'[i % 5 % 2]}\n" for i in range(30_000)]
        file.writelines(100 * some)
    running = subprocess.Popen(
        [*COMMAND, "rows.csv", "--config", "options.toml", "--html", "r.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr.readline() == "Options from options.toml\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert len(err.splitlines()) == 1
    assert err.startswith("Interrupted")
    assert out == ""
    assert sorted(path.name for path in folder.iterdir()) == ["options.toml", "rows.csv"]


@pytest.mark.parametrize(
    "raised",
    [
        "KeyboardInterrupt",
        "__import__('click').Abort",
        "SystemError('an import was cut short') from KeyboardInterrupt()",
    ],
)
def test_an_interrupt_anywhere_is_not_a_verdict(raised):
    code = (
        "import evenhand.cli.program as cli\n"
        f"def stopped(): raise {raised}\n"
        "cli._group = stopped\n"
        "cli.main([])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr == b"Interrupted.\n"


def test_an_unwritable_folder_is_one_line(rows, folder):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    (folder / "locked").mkdir(mode=0o500)
    done = subprocess.run(
        [*rows, "--html", "locked/r.html"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr == "Error: locked/r.html was not written: Permission denied.\n"


@pytest.mark.parametrize("behind", ["None", "failure"], ids=["alone", "behind itself"])
def test_a_defect_has_a_status_of_its_own(folder, behind):
    code = (
        "import evenhand.cli.program as cli\n"
        f"failure = ZeroDivisionError()\ndef broken(): raise failure from {behind}\n"
        "cli._group = broken\n"
        "cli.main([])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 70
    assert b"ZeroDivisionError" in done.stderr
