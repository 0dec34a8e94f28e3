import subprocess
import sys
from importlib.metadata import version

import pytest

from evenhand.cli import main
from evenhand.datasets import TASKS, download


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.delenv("EVENHAND_OFFLINE")
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(download, "PAUSE_S", 0.0)

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


def test_list_names_every_task_without_color_codes(run):
    code, out, err = run("datasets", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(TASKS)
    assert "\x1b" not in out
    assert err == ""


def test_list_says_what_is_here(run, tmp_path):
    (tmp_path / "enem_2021_bahia.parquet").touch()
    rows = {line.split()[0]: line for line in run("datasets", "list")[1].splitlines()}
    assert "packaged with evenhand" in rows["adult"]
    assert "here, a stand-in" in rows["enem"]
    assert "to download" in rows["compas"]
    assert "simulated" in rows["simulated"]


def test_describe_gives_source_licence_and_how_files_are_verified(run, tmp_path):
    code, out, _ = run("datasets", "describe", "compas_two_years")
    text = " ".join(out.split())
    assert code == 0
    assert "Machine bias" in text
    assert "sha256 c451db85908b2f7f" in text
    assert "two_year_recid or is_recid" in text
    assert str(tmp_path)[-20:] in out.replace("\n", "").replace(" ", "")


def test_describe_says_where_no_checksum_is_known_and_what_is_a_stand_in(run):
    text = " ".join(run("datasets", "describe", "acs_income")[1].split())
    assert "no checksum known: counts are checked" in text
    assert "stand-in: ACS 2024 without California and Texas" in text


def test_fetch_has_nothing_to_do_for_packaged_and_simulated_tasks(run):
    assert run("datasets", "fetch", "adult")[1].startswith("adult needs no download")
    assert run("datasets", "fetch", "simulated")[0] == 0


def test_a_failed_fetch_is_one_message_and_status_2(run, monkeypatch):
    def offline(*args, **kwargs):
        import requests

        raise requests.ConnectionError("no network")

    monkeypatch.setattr("requests.get", offline)
    code, out, err = run("datasets", "fetch", "law_school")
    assert code == 2
    assert out == ""
    assert err.startswith("Error: bar_pass_prediction.csv is not here")
    assert "By hand: open https://" in err


def test_an_interrupted_fetch_says_how_to_resume(run, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("requests.get", interrupt)
    code, _, err = run("datasets", "fetch", "law_school")
    assert code == 130
    assert "Run the same command to go on" in err


def test_an_unknown_task_is_a_failure_with_a_suggestion(run):
    code, _, err = run("datasets", "describe", "adlt")
    assert code == 2
    assert "Did you mean 'adult'?" in err


@pytest.mark.parametrize("arguments", [("datasets", "list", "--what"), ("datasets", "describe")])
def test_a_misspelt_command_has_status_2(run, arguments):
    assert run(*arguments)[0] == 2


@pytest.mark.parametrize("command", ["list", "describe", "fetch"])
def test_help_has_an_example(run, command):
    code, out, _ = run("datasets", command, "--help")
    assert code == 0
    assert f"Example: evenhand datasets {command}" in out


@pytest.mark.parametrize("package", ["click", "rich"])
def test_a_missing_package_is_one_sentence_and_status_2(monkeypatch, capsys, package):
    """Status 1 would be a violated gate."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as stopped:
        main(["datasets", "list"])
    assert stopped.value.code == 2
    told = f'The command line needs {package}: pip install "evenhand[cli]"\n'
    assert capsys.readouterr() == ("", told)


def test_the_version_is_told(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"evenhand {version('evenhand')}\n")


@pytest.mark.slow
def test_the_package_can_be_run_as_a_module():
    command = [sys.executable, "-m", "evenhand", "measures"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "gini" in done.stdout
