"""What inspect_ai and lm_eval write is audited as the how-to says."""

import doctest
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import evenhand

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "how-to" / "language-models.md"
in_a_clone = pytest.mark.skipif(
    not PAGE.exists(), reason="a source distribution has no docs folder: run from a clone"
)


def blocks(kind):
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


@pytest.fixture
def folder(tmp_path):
    """A folder as the two tools leave it."""
    shutil.copy(HERE / "inspect_samples.parquet", tmp_path / "samples.parquet")
    written = tmp_path / "results" / "model" / "samples_sums_2026-01-01.jsonl"
    written.parent.mkdir(parents=True)
    written.write_bytes(gzip.decompress((HERE / "samples_sums.jsonl.gz").read_bytes()))
    return tmp_path


@pytest.mark.slow
@in_a_clone
def test_the_examples_of_the_page_are_true(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks("{doctest}"))
    page = doctest.DocTestParser().get_doctest(text, {}, "page", str(PAGE), 0)
    runner = doctest.DocTestRunner(verbose=False)
    said = []
    runner.run(page, out=said.append)
    assert not said, "".join(said)
    assert runner.summarize(verbose=False).attempted > 10


@pytest.mark.slow
@in_a_clone
@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are those of a shell")
@pytest.mark.parametrize("number", [0, 1])
def test_the_commands_of_the_page_audit_the_files_of_the_tools(folder, number):
    command = f'evenhand() {{ "{sys.executable}" -m evenhand "$@"; }}\n{blocks("sh")[number]}'
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{(160, 640)[number]} rows in 2 groups" in done.stdout
    assert "Rows come in 40 clusters" in done.stdout


def test_inspect_ai_writes_the_columns_that_the_page_names():
    samples = pd.read_parquet(HERE / "inspect_samples.parquet")
    assert {"metadata_group", "metadata_template", "metadata_name", "epoch"} <= {*samples}
    assert {*samples["score_match"]} == {*samples["score_refused"]} == {"C", "I"}
    assert not samples.duplicated(["id", "epoch"]).any()


def test_lm_eval_writes_a_line_for_every_prompt_and_filter():
    with gzip.open(HERE / "samples_sums.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert {type(line["doc"]) for line in lines} == {dict}
    keys = {(line["doc_id"], line["filter"]) for line in lines}
    assert len(keys) == len(lines) == 2 * len({line["doc_id"] for line in lines})
    assert {line["exact_match"] for line in lines} == {0.0, 1.0}


@pytest.mark.parametrize(("score", "favorable"), [("score_match", "C"), ("score_refused", "I")])
def test_templates_leave_the_value_and_the_interval_holds_it(score, favorable):
    samples = pd.read_parquet(HERE / "inspect_samples.parquet")
    alone, together = (
        evenhand.interval(
            "statistical_parity",
            None,
            samples[score],
            sensitive_features=samples["metadata_group"],
            cluster=cluster,
            favorable=favorable,
        )
        for cluster in (None, samples["metadata_template"])
    )
    assert together.value == alone.value
    assert together.low <= together.value <= together.high
