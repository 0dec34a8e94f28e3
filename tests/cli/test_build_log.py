"""What is printed lands in the log of a build; no label or name in it is a command to a server."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import main
from program import EVENHAND

COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
NAMES = ["::error::forged", "  ::set-output name=x::1", "a\n::error::b", "##[error]forged"]
NAMES += ["x ##vso[task.complete result=Succeeded]", "##teamcity[buildStatus]"]


def table(name="sex"):
    rng = np.random.default_rng(0)
    group = rng.choice(NAMES, 1200)
    score = rng.random(1200)
    kept = score > np.where(group == NAMES[0], 0.8, 0.3)
    truth = rng.random(1200) < score
    frame = {name: group, "y": truth.astype(int), "p": kept.astype(int), "q": 1 - kept, "s": score}
    return pd.DataFrame(frame)


def said(monkeypatch, tmp_path, *arguments):
    """All that a command prints, as a build server reads it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")  # narrow, so that names are folded
    found = CliRunner().invoke(EVENHAND, [str(each) for each in arguments])
    assert found.exit_code in (0, 1, 2, 3), found.output
    assert found.output
    return found.output


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "rows.csv", "--target", "y", "--prediction", "p", "--score", "s", "--full"],
        ["audit", "rows.csv", "--prediction", "p", "--fail-if", "demographic_parity > 0.1"],
        ["compare", "rows.csv", "--target", "y", "--prediction", "p", "--prediction", "q"],
    ],
    ids=lambda arguments: f"{arguments[0]} {len(arguments)}",
)
def test_no_group_or_column_commands_the_build(monkeypatch, tmp_path, arguments):
    column = "::warning::sex"
    table(column).to_csv(tmp_path / "rows.csv", index=False)
    text = said(monkeypatch, tmp_path, *arguments, "--group", column)
    assert "forged" in text or arguments[0] == "compare"
    assert not COMMAND.search(text)


@pytest.mark.slow
def test_no_label_or_part_commands_the_build_from_a_watch(monkeypatch, tmp_path):
    table().to_csv(tmp_path / "2026-03-01.csv", index=False)
    said(
        monkeypatch, tmp_path, "watch", "init", "--state", "w.json", "--prediction", "p",
        "--criterion", "equal_opportunity", "--target", "y", "--group", "sex", "--favorable", "1",
        "--fail-if", "equal_opportunity > 0.9",
    )  # fmt: skip
    for part in ("::error::x", "##[error]x"):
        for arguments in (
            ["append", "2026-03-01.csv", "--part", part],
            ["append", "2026-03-01.csv", "--part", part],
            ["append", "2026-03-01.csv", "--part", part, "--late"],
            ["status"],
            ["rename", "::error::forged=##[group]x", "##[error]forged=::error::forged"],
        ):
            text = said(monkeypatch, tmp_path, "watch", *arguments, "--state", "w.json")
            assert not COMMAND.search(text), arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "##[error]x.csv", "--prediction", "p", "--group", "g"],
        ["bench", "run", "##[error]x.toml"],
        ["watch", "status", "--state", "\n::error::x"],
        ["audit", "a.csv", "--prediction", "p", "--group", "g", "--fail-if", "##[error]x > 1"],
        ["::error::x"],
    ],
    ids=lambda arguments: arguments[0].strip(":"),
)
def test_no_name_in_an_error_commands_the_build(monkeypatch, tmp_path, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert not COMMAND.search("".join(capsys.readouterr()))


@pytest.mark.slow
def test_what_a_script_prints_is_no_command_either():
    rows = table()
    audit = eh.audit(rows["y"], rows["p"], sensitive_features=rows[["sex"]], title=NAMES[0])
    watch = eh.Watch("equal_opportunity", fail_if=["equal_opportunity > 0.9"], favorable=1)
    watch.update(eh.tally(rows["y"], rows["p"], sensitive_features=rows["sex"]))
    watch.update(eh.tally([0] * 9, [0] * 9, sensitive_features=["##[x]"] * 9))
    models = {NAMES[0]: rows["p"], NAMES[3]: rows["q"]}
    compared = eh.compare(rows["y"], models, sensitive_features=rows["sex"])
    for text in (str(audit), repr(audit), str(watch.status()), str(compared)):
        assert not COMMAND.search(text)
    with pytest.raises(eh.InputError) as refused:
        eh.audit(["##[x]", "y"], ["y", "y"], sensitive_features=["a", "b"], favorable="z")
    assert not COMMAND.search(str(refused.value))
    with pytest.raises(AssertionError) as failed:
        eh.assert_even(
            None, rows["p"], sensitive_features=rows["sex"], fail_if="demographic_parity > 0.01"
        )
    assert not COMMAND.search(str(failed.value))
