"""Logs of evaluations are read in one call, and what is not clear in them is refused."""

import gzip
import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy.stats import ttest_1samp

import evenhand as eh

HERE = Path(__file__).parent
LOG = HERE / "loans.json"
LINES = HERE / "samples_sums.jsonl.gz"
ASKED = {"score": "match", "sensitive_features": "group", "cluster": "template"}


def archived(log, path):
    """A log as inspect_ai's archive: a header, and a file for each sample and epoch."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        archive.writestr("summaries.json", "[]")
        for sample in log["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    return path


def small(**changes):
    """A log of a few samples."""
    sample = {"id": 1, "epoch": 1, "metadata": {"group": "a"}, "scores": {"match": {"value": "C"}}}
    samples = [{**sample, "id": i, "metadata": {"group": "ab"[i % 2]}} for i in range(8)]
    return {"eval": {"task": "t", "model": "m"}, "samples": samples} | changes


def written(folder, log, name="log.json"):
    path = folder / name
    path.write_text(json.dumps(log))
    return path


def by_hand():
    samples = pd.read_parquet(HERE / "inspect_samples.parquet")
    return eh.tally(
        None,
        samples["score_match"],
        sensitive_features={"group": samples["metadata_group"]},
        cluster={"template": samples["metadata_template"]},
    )


def zstandard_archive(log, path):
    """The same archive with every file compressed by Zstandard (method 93), written by hand."""
    parts = {"header.json": {**log, "samples": None}}
    for sample in log["samples"]:
        parts[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    written, directory = b"", b""
    for name, part in parts.items():
        content, label = json.dumps(part).encode(), name.encode()
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, "zstd") as packing:
            packing.write(content)
        packed = sink.getvalue().to_pybytes()
        about = (93, 0, 0x21, zlib.crc32(content), len(packed), len(content), len(label), 4)
        local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 63, 0, *about) + label + b"\0\0\0\0"
        directory += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 63, 63, 0, *about[:-1], 0, 0, 0, 0, 0, len(written)
        )
        directory += label
        written += local + packed
    sizes = (len(parts), len(parts), len(directory), len(written), 0)
    path.write_bytes(written + directory + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, *sizes))
    return path


def test_a_log_compressed_by_zstandard_is_read_and_checked(tmp_path, monkeypatch):
    path = zstandard_archive(json.loads(LOG.read_text()), tmp_path / "loans.eval")
    assert {each.compress_type for each in zipfile.ZipFile(path).infolist()} == {93}
    found, same = (eh.read_evaluation(each, **ASKED).tally() for each in (path, LOG))
    np.testing.assert_array_equal(found.table("yhat", "group"), same.table("yhat", "group"))
    whole = path.read_bytes()
    at = whole.index(b"PK\1\2") + 16  # the checksum of the first file
    path.write_bytes(whole[:at] + b"\0\0\0\0" + whole[at + 4 :])
    with pytest.raises(eh.InputError, match=r"cannot be read as a log.*CRC"):
        eh.read_evaluation(path, **ASKED)
    path.write_bytes(whole)
    if sys.version_info < (3, 14):
        monkeypatch.setattr("evenhand._errors.find_spec", lambda name: None)
        with pytest.raises(ImportError, match=r"needs pyarrow: pip install .evenhand\[files\]"):
            eh.read_evaluation(path, **ASKED)


@pytest.mark.parametrize("form", ["json", "eval", "folder"])
def test_a_log_of_inspect_ai_is_what_its_samples_say(tmp_path, form):
    path = LOG
    if form != "json":
        path = archived(json.loads(LOG.read_text()), tmp_path / "loans.eval")
    data = eh.read_evaluation(tmp_path if form == "folder" else path, **ASKED)
    asked = {"favorable": "C"}
    assert eh.interval("statistical_parity", data) == eh.interval(
        "statistical_parity", by_hand(), **asked
    )


def test_samples_of_lm_eval_are_those_of_one_filter():
    with gzip.open(LINES, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    strict = [line for line in lines if line["filter"] == "strict-match"]
    wanted = eh.interval(
        "statistical_parity",
        None,
        [int(line["exact_match"]) for line in strict],
        sensitive_features=[line["doc"]["group"] for line in strict],
        cluster=[line["doc"]["template"] for line in strict],
    )
    asked = {"sensitive_features": "doc.group", "cluster": "template"}
    data = eh.read_evaluation(LINES, filter_name="strict-match", **asked)
    assert eh.interval("statistical_parity", data) == wanted
    with pytest.raises(eh.InputError, match=r"once for each of the filters .*strict-match"):
        eh.read_evaluation(LINES, **asked)
    with pytest.raises(eh.InputError, match="no filter 'strict'"):
        eh.read_evaluation(LINES, filter_name="strict", **asked)


def test_epochs_of_a_prompt_go_together_by_default():
    data = eh.read_evaluation(LOG, score="match", sensitive_features=["group", "name"])
    assert len(data.tally().clusters) == 1
    assert len(data.tally().groups) == 4


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"score": None}, "There are the scores match and refused. Name one"),
        ({"score": "mach"}, "Did you mean 'match'"),
        ({"sensitive_features": "grup"}, "Did you mean 'group'"),
        ({"sensitive_features": []}, "names fields of the log"),
        ({"missing": "ignore"}, "missing is 'error' or 'drop'"),
    ],
)
def test_what_is_not_in_a_log_is_refused_with_what_is(asked, message):
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.read_evaluation(LOG, **{**ASKED, **asked})


def test_answers_without_a_score_are_refused_with_the_groups_that_have_them(tmp_path):
    log = small()
    for sample in log["samples"][:3]:
        sample["scores"] = None
    path = written(tmp_path, log)
    with pytest.raises(eh.InputError, match="3 of 8 answers have no score 'match': a 2 and b 1"):
        eh.read_evaluation(path, sensitive_features="group")
    data = eh.read_evaluation(path, sensitive_features="group", missing="drop")
    assert data.tally().table("group").tolist() == [2, 3]


def test_several_models_and_copies_of_a_sample_are_refused(tmp_path):
    written(tmp_path, small(), "one.json")
    written(tmp_path, small(eval={"task": "t", "model": "other"}), "two.json")
    with pytest.raises(eh.InputError, match="of the models m and other"):
        eh.read_evaluation(tmp_path, sensitive_features="group")
    written(tmp_path, small(), "two.json")
    with pytest.raises(eh.InputError, match="appears twice"):
        eh.read_evaluation(tmp_path, sensitive_features="group")


def test_a_scorer_of_several_values_and_fields_within_fields_have_names_with_dots(tmp_path):
    log = small()
    for at, sample in enumerate(log["samples"]):
        sample["scores"] = {"judge": {"value": {"kind": at % 3, "long": 1}}}
        sample["metadata"] = {"who": {"sex": "FM"[at % 2]}}
    path = written(tmp_path, log)
    data = eh.read_evaluation(path, score="judge.kind", sensitive_features="who.sex")
    assert data.tally().groups == ("F", "M")
    assert data.tally().labels("yhat") == (0, 1, 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.eval", b"no archive"),
        ("x.json", b"{"),
        ("x.json", b"[]"),
        ("x.json", b'{"eval": {}, "samples": [{}]}'),
        ("samples_t_2026-01-01.jsonl", b"{}\n"),
        ("samples_t_2026-01-01.jsonl", b"\xff\xfe"),
        ("samples_t_2026-01-01.jsonl.gz", b"no gzip"),
    ],
)
def test_a_file_that_is_no_log_is_refused_by_name(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(eh.InputError, match="cannot be read as a log"):
        eh.read_evaluation(tmp_path / name, sensitive_features="group")
    with pytest.raises(eh.InputError, match="no file or folder"):
        eh.read_evaluation(tmp_path / "none", sensitive_features="group")


def test_the_scores_of_bbq_are_gaps_between_the_two_people_of_a_question():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"question": np.repeat(np.arange(50), 6)})
    said = rng.choice(["target", "other", "unknown"], len(rows), p=[0.4, 0.25, 0.35])
    people = pd.concat([rows.assign(person=one, named=said == one) for one in ("target", "other")])
    known = people[np.tile(said != "unknown", 2)]
    biased = 2 * np.mean(said[said != "unknown"] == "target") - 1
    for table, score in ((known, biased), (people, np.mean(said != "unknown") * biased)):
        found = eh.contrasts(
            "statistical_parity", None, "named", sensitive_features="person", data=table,
            cluster="question", to="other", favorable=True,
        )  # fmt: skip
        assert {each.group: each.value for each in found}["target"] == pytest.approx(score)


def test_a_difference_of_mean_logits_within_questions_has_the_interval_of_the_paired_t_test():
    rng = np.random.default_rng(1)
    question, sex = np.repeat(np.arange(70), 10), np.tile(["female", "male"], 350)
    logit = rng.normal(1, 2, 70)[question] + 0.3 * (sex == "female") + rng.normal(0, 0.5, 700)
    (found,) = (
        each
        for each in eh.contrasts(
            "weak_parity", None, logit, sensitive_features=sex, cluster=question, to="male",
            task="regression",
        )
        if each.group == "female"
    )  # fmt: skip
    table = pd.DataFrame({"q": question, "s": sex, "l": logit}).pivot_table("l", "q", "s")
    within = table["female"] - table["male"]
    ends = ttest_1samp(within, 0).confidence_interval()
    assert found.value == pytest.approx(within.mean())
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=0.01)
