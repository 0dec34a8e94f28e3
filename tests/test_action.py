"""The GitHub action: its shell steps, run with an environment like that of a runner."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import evenhand

ROOT = Path(__file__).parents[1]
FILE = ROOT / "action.yml"
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="a source distribution has no action")


@pytest.fixture(scope="module")
def action():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path, action, monkeypatch):
    """Run the steps Audit and Gate with these inputs; evenhand is the one under test."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    main = f'#!/bin/sh\nexec "{sys.executable}" -m evenhand "$@"\n'
    for name, text in {
        "evenhand": main,
        "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
    }.items():
        (scripts / name).write_text(text)
        (scripts / name).chmod(0o755)
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.touch()

    def run(**inputs):
        given = {name: known.get("default", "") for name, known in action["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        base = os.environ | {name: str(file) for name, file in files.items()}
        base |= {
            "RUNNER_TEMP": str(tmp_path),
            "PYTHONPATH": str(Path(evenhand.__file__).parents[1]),
        }
        status, steps = 0, {step.get("name"): step for step in action["runs"]["steps"]}
        done = []
        for name in ("Audit", "Gate"):
            outputs = dict(line.split("=", 1) for line in read(files["GITHUB_OUTPUT"]).splitlines())
            env = {
                key: filled(text, given, outputs, scripts)
                for key, text in steps[name]["env"].items()
            }
            command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]["run"]]
            done.append(
                subprocess.run(
                    command,
                    env=base | env,
                    cwd=tmp_path,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            )
            status = done[-1].returncode
        return status, outputs, read(files["GITHUB_STEP_SUMMARY"]), done

    return run


def read(file):
    return file.read_text(encoding="utf-8")


def filled(text, given, outputs, scripts):
    """The expressions of a step's environment, as the runner fills them in."""
    for name, value in given.items():
        text = text.replace(f"${{{{ inputs.{name} }}}}", value)
    for name, value in outputs.items():
        text = text.replace(f"${{{{ steps.audit.outputs.{name} }}}}", value)
    return text.replace("${{ steps.install.outputs.bin }}", str(scripts))


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    group = rng.choice(["F", "M"], 2000)
    y = rng.integers(0, 2, 2000)
    frame = pd.DataFrame({"y": y, "even": y, "uneven": np.where(group == "F", 0, y), "sex": group})
    frame.to_csv(tmp_path / "rows one.csv", index=False)
    return {"files": "rows one.csv\n", "group": "\n  sex  \n", "target": "y"}


def test_the_action_is_composite_and_describes_every_input_and_output(action):
    assert action["runs"]["using"] == "composite"
    described = [*action["inputs"].values(), *action["outputs"].values()]
    assert all(one["description"] for one in described)
    assert all("shell" in step for step in action["runs"]["steps"] if "run" in step)
    assert [name for name, one in action["inputs"].items() if one.get("required")] == [
        "files",
        "group",
        "fail-if",
    ]


def test_no_input_is_pasted_into_a_script(action):
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_steps_name_only_inputs_that_exist(action):
    import re

    named = set(re.findall(r"inputs\.([\w-]+)", FILE.read_text(encoding="utf-8")))
    assert named == set(action["inputs"])


@pytest.mark.slow
@pytest.mark.skipif(BASH is None, reason="there is no bash")
class TestRun:
    def test_a_passed_gate_writes_the_summary_and_passes(self, runner, rows, tmp_path):
        status, outputs, summary, _ = runner(
            **rows, prediction="even", fail_if="equalized_odds.mpd > 0.1\n\n"
        )
        assert (status, outputs["status"]) == (0, "0")
        assert summary.startswith("# ")
        assert outputs["summary"].strip() in summary.replace("\\", "")
        folder = Path(outputs["folder"])
        written = {file.name for file in folder.iterdir()}
        assert written == {"report.html", "report.md", "audit.json", "junit.xml"}
        assert Path(outputs["report"]) == folder / "report.html"

    def test_a_violated_gate_fails_after_everything_is_written(self, runner, rows):
        status, outputs, summary, _ = runner(
            **rows, prediction="uneven", fail_if="demographic_parity > 0.1\nfour_fifths < 0.8"
        )
        assert (status, outputs["status"]) == (1, "1")
        assert "differs" in summary
        junit = read(Path(outputs["folder"]) / "junit.xml")
        assert junit.count("<failure") == 2

    def test_an_inconclusive_gate_fails_unless_it_is_allowed(self, runner, rows):
        gate = {"prediction": "even", "fail_if": "demographic_parity > 0.01"}
        assert runner(**rows, **gate)[0] == 3
        status, _, _, done = runner(**rows, **gate, allow_inconclusive="true")
        assert status == 0
        assert "::warning::" in done[-1].stdout

    def test_a_command_that_cannot_be_used_is_status_2(self, runner, rows):
        status, outputs, summary, done = runner(**rows, prediction="nowhere")
        assert (status, outputs["status"], summary) == (2, "2", "")
        assert "nowhere" in done[0].stderr

    def test_further_options_and_odd_names_are_passed_as_they_are(self, runner, rows, tmp_path):
        status, _, _, _ = runner(
            **rows,
            prediction="even",
            fail_if="none\n",
            arguments='--title=$(touch broken) "x"\n--criterion=error_parity',
        )
        assert status == 0
        assert not (tmp_path / "broken").exists()

    @pytest.mark.parametrize("gate", [{"fail_if": " \n"}, {"fail_on": "error_parity > 0.1"}])
    def test_a_build_without_a_gate_fails(self, runner, rows, gate):
        status, outputs, _, done = runner(**rows, prediction="even", **gate)
        assert (status, outputs["status"]) == (2, "2")
        assert "::error::No gate was judged" in done[0].stdout

    def test_a_misspelt_gate_fails_the_build(self, runner, rows):
        assert runner(**rows, prediction="even", fail_if="equalised_odds > 0.1")[0] == 2

    def test_gates_may_come_from_a_file_of_options(self, runner, rows, tmp_path):
        (tmp_path / "gates.toml").write_text('fail-if = ["demographic_parity > 0.1"]')
        options = {"arguments": "--config=gates.toml"}
        assert runner(**rows, prediction="even", **options)[0] == 0
        assert runner(**rows, prediction="uneven", **options)[0] == 1

    def test_a_command_that_audits_nothing_fails_the_build(self, runner, rows):
        gate = "demographic_parity > 0.1"
        status, _, _, done = runner(
            **rows, prediction="uneven", fail_if=gate, arguments="--title=x\n--help"
        )
        assert status == 2
        assert "::error::Nothing was audited" in done[0].stdout

    def test_what_is_printed_cannot_command_the_runner(self, runner, rows, tmp_path):
        names = {"F": "::error::forged", "M": "##[error]forged"}
        table = pd.read_csv(tmp_path / "rows one.csv").replace({"sex": names})
        table.to_csv(tmp_path / "rows one.csv", index=False)
        _, _, _, done = runner(**rows, prediction="uneven", fail_if="demographic_parity > 0.1")
        lines = done[0].stdout.splitlines()
        begin, end = (i for i, line in enumerate(lines) if line.startswith("::"))
        assert lines[begin].removeprefix("::stop-commands::") == lines[end].strip(":")
        assert len(lines[end].strip(":")) == 32
        assert any("forged" in line for line in lines[begin:end])
        assert not [line for line in lines if "##[" in line]
