"""Submissions are checked, scored here, and shown on a page that sorts without a connection."""

import json
import re
import runpy
import shutil
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmark.designs import design
from evenhand.benchmark import (
    BASES,
    Design,
    Problem,
    Store,
    Treatment,
    add_submission,
    check_submission,
    leaderboard,
    results,
    run,
    treatment,
    write_leaderboard,
)
from evenhand.benchmark.boards.standings import Board
from evenhand.benchmark.boards.submissions import SubmissionError
from evenhand.benchmark.ranking.areas import Area
from evenhand.benchmark.ranking.ranks import ranking_of
from evenhand.cli.benchmark import bench
from report import browser
from report.parsing import parsed

PROBLEMS = (Problem("one", "simulated", rows=400), Problem("two", "simulated", rows=500))
HEAD = 'method = "Mine"\nbase = "logistic"\ngroup_known = false\nauthors = "A. <b>Author</b>"\n'
TABLE = '[[predictions]]\nfile = "{file}"\nproblem = "{problem}"\nseed = {seed}\n'


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    methods = (Treatment(), treatment("Reweight"), treatment("LinearPost", grid=(0.01, 0.1)))
    run(design(*methods, problems=PROBLEMS, seeds=(0, 1, 2)), folder, n_jobs=1)
    return folder


@pytest.fixture(scope="module")
def boards(filled):
    return leaderboard(filled)


@pytest.fixture
def store(filled, tmp_path):
    """A copy that may be added to."""
    return Store(shutil.copytree(filled, tmp_path / "store"))


def bases(store):
    plain = (one for one in store.entries().values() if one["method"] == "Base")
    return [one for one in plain if one["base"] == "logistic"]


def written(store, folder, change=lambda frame, entry: frame, head=HEAD):
    """A submission that answers as the base model does, but the more cautious for all."""
    folder.mkdir(exist_ok=True)
    text = head
    for entry in bases(store):
        truth, given = store.truth(entry), store.predictions(entry)
        frame = pd.DataFrame({"row": truth.rows})
        for at, name in enumerate(truth.classes):
            frame[f"score_{name}"] = given.scores[:, at]
        frame["label"] = np.array(truth.classes)[given.labels]
        frame = change(frame.sample(frac=1, random_state=0), entry)
        file = f"{entry['problem']}-{entry['seed']}.csv"
        frame.to_csv(folder / file, index=False)
        text += TABLE.format(file=file, problem=entry["problem"], seed=entry["seed"])
    (folder / "submission.toml").write_text(text, "utf-8")
    return folder


@pytest.mark.slow
def test_a_submission_is_scored_from_its_predictions(store, tmp_path):
    submission = check_submission(written(store, tmp_path / "mine"), store)
    assert (submission.method, len(submission.runs), submission.notes) == ("Mine", 6, ())
    assert add_submission(submission, store) == 6
    assert add_submission(submission, store) == 0
    found = results(store)
    value = found.query(
        "select problem, seed, question, max(value) filter (method = 'Base') as base, "
        "max(value) filter (method = 'Mine') as mine from results where lot = 'expected' "
        "and method in ('Base', 'Mine') group by all having base is not null"
    )
    np.testing.assert_allclose(value["mine"], value["base"], rtol=1e-4, atol=1e-6)
    assert len(value) > 100


@pytest.mark.slow
def test_a_later_submission_takes_the_place_of_the_earlier(store, tmp_path):
    add_submission(check_submission(written(store, tmp_path / "mine"), store), store)

    def none(frame, entry):
        return frame.assign(label=store.truth(entry).classes[0]).filter(["row", "label"])

    add_submission(check_submission(written(store, tmp_path / "again", none), store), store)
    with pytest.warns(UserWarning, match="earlier version"):
        found = results(store)
    gaps = found.query(
        "select value from results where method = 'Mine' and question = 'statistical_parity.mpd'"
    )
    assert gaps["value"].tolist() == [0.0] * 6


FAULTS = {
    "predicts row": lambda frame, entry: pd.concat([frame, frame.iloc[:1]]),
    "lacks 1 row of": lambda frame, entry: frame.iloc[1:],
    "label 'maybe'": lambda frame, entry: frame.assign(label="maybe"),
    "no column row": lambda frame, entry: frame.drop(columns="row"),
    "no column label": lambda frame, entry: frame[["row"]],
}


@pytest.mark.slow
@pytest.mark.parametrize("told", FAULTS)
def test_what_is_wrong_is_said_of_every_file(store, tmp_path, told):
    folder = written(store, tmp_path / "mine", FAULTS[told])
    with pytest.raises(SubmissionError, match=told) as failure:
        check_submission(folder, store)
    assert str(failure.value).count(".csv: ") == 6


@pytest.mark.slow
def test_probabilities_must_add_up(store, tmp_path):
    def twice(frame, entry):
        scores = [name for name in frame if name.startswith("score_")]
        return frame.assign(**dict.fromkeys(scores, 0.9))

    with pytest.raises(SubmissionError, match="do not add up to 1"):
        check_submission(written(store, tmp_path / "mine", twice), store)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "told"),
    [
        (HEAD + "scores = 1\n", "never taken"),
        (HEAD.replace("group_known = false\n", ""), "does not say group_known"),
        (HEAD.replace('"Mine"', '"Base"'), "cannot be the name"),
        (HEAD.replace("logistic", "forest"), "the benchmark has logistic"),
        (HEAD.replace("false", '"no"'), "true or false"),
        (HEAD + "this is no TOML", "cannot be read"),
    ],
)
def test_metadata_are_checked(store, tmp_path, head, told):
    with pytest.raises(SubmissionError, match=told):
        check_submission(written(store, tmp_path / "mine", head=head), store)


def test_a_file_outside_of_the_folder_is_refused(store, tmp_path):
    folder = written(store, tmp_path / "mine")
    (folder / "submission.toml").write_text(
        HEAD + TABLE.format(file="../store/manifest.jsonl", problem="one", seed=0)
    )
    with pytest.raises(SubmissionError, match="outside"):
        check_submission(folder, store)


@pytest.mark.slow
def test_an_unknown_split_is_named_and_what_is_left_out_is_noted(store, tmp_path):
    folder = written(store, tmp_path / "mine")
    whole = (folder / "submission.toml").read_text()
    table = TABLE.format(file="one-0.csv", problem="one", seed=9)
    (folder / "submission.toml").write_text(HEAD + table)
    with pytest.raises(SubmissionError, match=r"no split 9 of 'one'; its splits are \[0, 1, 2\]"):
        check_submission(folder, store)
    (folder / "submission.toml").write_text(HEAD + table.replace("9", "0"))
    with pytest.raises(SubmissionError, match=r"one lacks 2 splits: 1, 2\. Predict"):
        check_submission(folder, store)
    tables = [one for one in whole.split("[[")[1:] if '"one"' in one]
    (folder / "submission.toml").write_text(HEAD + "".join(f"[[{one}" for one in tables))
    submission = check_submission(folder, store)
    assert submission.notes == ("leaves out two, and is ranked on each other problem alone",)
    add_submission(submission, store)
    ranked = {one.track for one in leaderboard(store) if "Mine" in ranked_in(one)}
    assert "binary, two groups, group not known, decisions, one alone" in ranked
    assert not any(track.endswith("decisions") for track in ranked)


def ranked_in(board):
    return [one.method for one in board.ranking.entrants]


def test_a_submission_that_is_there_or_takes_a_name_is_refused(store, tmp_path):
    folder = written(store, tmp_path / "mine")
    add_submission(check_submission(folder, store), store)
    with pytest.raises(SubmissionError, match="is a duplicate: these predictions of Mine"):
        check_submission(folder, store)
    for name in ("Reweight", "FairRR", "fairlearn.ThresholdOptimizer"):
        taken = written(store, tmp_path / "taken", head=HEAD.replace("Mine", name))
        with pytest.raises(SubmissionError, match=f"has a method called '{name}'; give yours"):
            check_submission(taken, store)


def test_damaged_files_are_refused_in_words(store, tmp_path):
    folder = written(store, tmp_path / "mine")
    (folder / "one-0.csv").write_bytes(b"\xff\xfe\x00")
    (folder / "one-1.csv").write_bytes(b"")
    (folder / "one-2.csv").unlink()
    with pytest.raises(SubmissionError) as refused:
        check_submission(folder, store)
    told = str(refused.value)
    assert [name for name in ("one-0.csv: ", "one-1.csv: ", "one-2.csv: ") if name in told] == [
        "one-0.csv: ",
        "one-1.csv: ",
        "one-2.csv: ",
    ]


def test_labels_that_are_whole_numbers_name_their_classes(store, tmp_path):
    def numbered(frame, entry):
        return frame.assign(label=frame["label"].astype(float))

    folder = written(store, tmp_path / "mine", numbered)
    plain = check_submission(written(store, tmp_path / "other"), store)
    for (_, one), (_, other) in zip(check_submission(folder, store).runs, plain.runs, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.long
def test_a_method_on_one_of_two_base_models_is_ranked_there_and_what_it_lacks_is_named(tmp_path):
    methods = (Treatment(), treatment("Reweight", name="Stranger"))
    study = design(*methods, problems=PROBLEMS, seeds=(0, 1)).studies[0]
    both = replace(study, bases=(BASES["logistic"], BASES["boosting"]))
    run(Design("two", (both,)), tmp_path / "store", n_jobs=1)
    store = Store(tmp_path / "store")
    folder = written(store, tmp_path / "mine", head=HEAD.replace("false", "true"))
    submission = check_submission(folder, store)
    assert submission.notes == (
        "stands on logistic and not on boosting, and is ranked on logistic alone",
    )
    add_submission(submission, store)
    boards = {one.track: one for one in leaderboard(store) if one.criterion == "equalized odds"}
    track = "binary, two groups, group known, decisions"
    assert set(boards) == {track, f"{track}, logistic alone"}
    assert boards[track].ranking.unranked == {"Mine": ("one with boosting", "two with boosting")}
    assert "Mine" in ranked_in(boards[f"{track}, logistic alone"])
    assert "Stranger" in ranked_in(boards[track])
    html = write_leaderboard(store, tmp_path / "board.html").read_text("utf-8")
    rows = [one for one in re.findall(r"<tr>.*?</tr>", html) if 'row">Stranger</th>' in one]
    assert rows
    assert all("of this benchmark" in one and "published" not in one for one in rows)
    assert "Mine is not ranked here: no result on one with boosting, two with boosting." in html
    for board in leaderboard(store):
        agrees(board.ranking)


def agrees(ranking):
    """That a headline says of the first method what the table does."""
    first, most = ranking.entrants[0], max(ranking.entrants, key=lambda one: one.removed.value)
    if "removes most of the gap" in ranking.sentence:
        assert ranking.sentence.startswith(first.method)
        assert round(first.removed.value, 2) >= round(most.removed.value, 2) - 0.01
    elif first.method == "Base":
        assert ranking.sentence.startswith("No method ranks before the base model")
    else:
        assert f"{most.method} removes more" in ranking.sentence


@pytest.mark.slow
def test_tracks_tell_who_knows_the_group(store, tmp_path):
    add_submission(check_submission(written(store, tmp_path / "mine"), store), store)
    boards = {(one.track, one.criterion): one.ranking for one in leaderboard(store)}
    known = boards["binary, two groups, group known, decisions", "statistical parity"]
    unknown = boards["binary, two groups, group not known, decisions", "statistical parity"]
    # the base model reads the group, so what is done to its training leaves it known
    assert {one.method for one in known.entrants} == {"Base", "Reweight", "LinearPost"}
    assert {one.method for one in unknown.entrants} == {"Base", "Mine"}
    assert ("binary, two groups, group not known, probabilities", "strong parity") in boards


@pytest.mark.slow
def test_blind_base_models_have_tracks_for_methods_that_do_not_need_the_group(
    tmp_path,
):
    blind = replace(BASES["logistic"], name="blind", is_blind=True)
    methods = (Treatment(), treatment("Reweight"), treatment("LinearPost", grid=(0.01, 0.1)))
    study = design(*methods, problems=PROBLEMS, seeds=(0, 1)).studies[0]
    both = Design("two", (replace(study, bases=(BASES["logistic"], blind)),))
    assert {(one.base, one.method, one.reason) for one in both.skipped()} == {
        ("blind", "LinearPost", "LinearPost needs the group at decision, and blind is blind to it")
    }
    run(both, tmp_path, n_jobs=1)
    boards = {one.track: one for one in leaderboard(tmp_path) if one.criterion == "equalized odds"}
    track = "binary, two groups, {}, decisions"
    assert set(boards) == {track.format("group known"), track.format("group not known")}
    known, unknown = (boards[track.format(side)] for side in ("group known", "group not known"))
    assert set(ranked_in(known)) == {"Base", "Reweight", "LinearPost"}
    assert set(ranked_in(unknown)) == {"Base", "Reweight"}
    assert {one.base for one in known.ranking.areas} == {"logistic"}
    assert {one.base for one in unknown.ranking.areas} == {"blind"}


@pytest.mark.slow
def test_ranks_by_the_other_measures_and_the_cost_stand_beside_those_by_one(filled, boards):
    for measure, symbol in (("gini", "Gini"), ("pq", "PQ")):
        for one, other in zip(boards, leaderboard(filled, measure=measure), strict=True):
            assert (one.track, one.criterion) == (other.track, other.criterion)
            assert one.ranks[symbol] == {each.method: each.rank for each in other.ranking.entrants}
            assert set(other.ranks) == {"MPD", "Gini", "PQ"} - {symbol}
    spent = results(filled).query("select method, median(cpu_seconds) from runs group by method")
    assert boards[0].cpu_seconds == pytest.approx(dict(spent.itertuples(index=False, name=None)))


def test_a_headline_says_who_leads_by_other_measures():
    share = {"a": 0.5, "b": 0.4, "Base": 0.0}
    areas = [
        Area("people", "logistic", name, np.full(3, value), np.zeros(3), 0.1, 0.25, 1)
        for name, value in share.items()
    ]
    ranking = ranking_of("binary, two groups", "equalized_odds.mpd", 0.05, areas)
    ranks = {"Gini": {"b": 1.0, "a": 2.0, "Base": 3.0}, "PQ": {"a": 1.0, "b": 2.0, "Base": 3.0}}
    board = Board("binary, two groups", "equalized odds", ranking, ranks)
    assert board.sentence == f"{ranking.sentence} By Gini b ranks first."


@pytest.fixture(scope="module")
def page(filled, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    store = Store(shutil.copytree(filled, folder / "store"))
    add_submission(check_submission(written(store, folder / "mine"), store), store)
    return write_leaderboard(store, folder / "board.html", title="Who & where")


@pytest.mark.slow
def test_the_page_needs_nothing_from_elsewhere_and_escapes_names(page):
    html = page.read_text("utf-8")
    assert "http://" not in html
    assert "https://" not in html
    assert "<b>Author" not in html
    assert parsed(html).all("h1")[0].text == "Who & where"


@pytest.mark.slow
def test_the_page_says_what_it_is_made_of_and_whose_methods_are_whose(page):
    seen = parsed(page.read_text("utf-8"))
    tiles = dict(
        zip((one.text for one in seen.all("dt")), (one.text for one in seen.all("dd")), strict=True)
    )
    assert tiles["runs"] == str(3 * 2 * (1 + 1 + 2) + 6)
    assert "hangs on an empty cell" in seen.all("section", id="method")[0].text
    assert "This is part of a run" not in seen.all("main")[0].text
    boards = [one for one in seen.all("section") if one.has_class("board")]
    pictures = [one for one in seen.all("figure") if "section" in one.parents]
    assert len(pictures) == len(boards)
    assert all("mean rank" in one.text for one in pictures)
    cells = {one.text for one in seen.all("td")}
    assert {"the base model", "published, our run", "A. <b>Author</b>"} <= cells
    heads = {one.text for one in seen.all("th")}
    assert {"Mean rank by MPD", "Rank by Gini", "Rank by PQ", "CPU s"} <= heads


@pytest.mark.slow
def test_the_page_of_part_of_a_run_says_so(store, tmp_path):
    methods = (Treatment(), treatment("Reweight"), treatment("LinearPost", grid=(0.01, 0.1)))
    planned = design(*methods, problems=PROBLEMS, seeds=(0, 1, 2, 3))
    path = write_leaderboard(store, tmp_path / "board.html", design=planned)
    told = "This is part of a run: 8 of 32 runs of the design have no result yet."
    assert told in path.read_text("utf-8")


@pytest.mark.slow
def test_packed_predictions_are_a_store_again(store, tmp_path):
    done = CliRunner().invoke(
        bench, ["pack", str(store.folder), "--to", str(tmp_path / "a.tar.xz")]
    )
    assert done.exit_code == 0, done.output
    assert "24 runs" in done.output
    store.pack(tmp_path / "b.tar.xz")
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()
    with tarfile.open(tmp_path / "a.tar.xz") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    there = Store(tmp_path / "there")
    assert there.entries() == store.entries()
    asked = "select key, question, value from results where lot = 'expected' order by all"
    assert results(there).query(asked).equals(results(store).query(asked))


@pytest.mark.slow
@pytest.mark.skipif(browser.BROWSER is None, reason="no Chromium")
def test_tables_are_sorted_and_filtered_in_a_browser(page, tmp_path):
    script = """
      const boards = all(".board").length;
      const track = document.querySelector('[name="track"]');
      track.value = "binary, two groups, group known, decisions";
      track.dispatchEvent(new Event("change", { bubbles: true }));
      const shown = new Set(seen(".board").map((part) => part.dataset.track));
      const table = seen(".board table")[0];
      const keys = (row) => Number(row.cells[2].dataset.key);
      const values = () => [...table.tBodies[0].rows].map(keys);
      const button = table.querySelectorAll("th button")[2];
      button.click(); const rising = values();
      button.click(); const falling = values();
      return { boards, shown: [...shown], rising, falling,
               sort: button.parentElement.getAttribute("aria-sort"),
               wide: document.documentElement.scrollWidth };
    """
    html = page.read_text("utf-8")
    inner = html.replace("<head>", f"<head>{browser.BEFORE}", 1)
    inner = inner.replace("</body>", f"{browser.AFTER % script}</body>", 1)
    (tmp_path / "inner.html").write_text(inner, "utf-8")
    frame = f'<iframe src="{(tmp_path / "inner.html").as_uri()}" width="390" height="800"></iframe>'
    (tmp_path / "outer.html").write_text(f"<!doctype html><body>{frame}</body>", "utf-8")
    options = ("--allow-file-access-from-files", "--virtual-time-budget=4000", "--dump-dom")
    dom = browser.run(tmp_path, *options, (tmp_path / "outer.html").as_uri())
    (probe,) = [one for one in parsed(dom).all("pre") if one.attributes.get("id") == "probe"]
    found = json.loads(probe.text)
    assert found["problems"] == []
    assert found["boards"] > 4
    assert found["shown"] == ["binary, two groups, group known, decisions"]
    assert found["rising"] == sorted(found["rising"])
    assert len(set(found["rising"])) == 3
    assert found["falling"] == found["rising"][::-1]
    assert found["sort"] == "descending"
    assert found["wide"] <= 390


@pytest.mark.slow
def test_the_commands_check_store_and_write(store, tmp_path):
    folder = written(store, tmp_path / "mine")
    before = store.keys()
    done = CliRunner().invoke(bench, ["submit", str(folder), "--to", str(store.folder), "--check"])
    assert "6 sets of predictions are sound; nothing was stored" in done.output
    assert store.keys() == before
    done = CliRunner().invoke(bench, ["submit", str(folder), "--to", str(store.folder)])
    assert done.exit_code == 0
    assert len(store.keys() - before) == 6
    done = CliRunner().invoke(bench, ["leaderboard", str(store.folder), "--jobs", "1"])
    assert done.exit_code == 0
    assert "Mine" in (store.folder / "leaderboard.html").read_text("utf-8")
    (folder / "one-0.csv").write_text("row,label\n1,yes\n")
    done = CliRunner().invoke(bench, ["submit", str(folder), "--to", str(store.folder)])
    assert done.exit_code == 2
    assert "one-0.csv" in done.output


SUMMARY = Path(__file__).parents[2] / "benchmarks" / "leaderboard" / "summary.py"


def summarized(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["summary.py", *map(str, arguments)])
    return runpy.run_path(str(SUMMARY), run_name="__main__")


@pytest.mark.slow
def test_the_summary_has_a_line_for_every_board_and_says_who_leads(
    filled, boards, tmp_path, monkeypatch
):
    plan = tmp_path / "plan.toml"
    plan.write_text('name = "plan"\n[problems.simulated]\nrows = 300\n[methods.Reweight]\n')
    options = ("--design", plan, "--to", tmp_path / "docs")
    with pytest.raises(SystemExit):
        summarized(monkeypatch, filled, *options)
    summarized(monkeypatch, filled, *options, "--partial")
    text = (tmp_path / "docs" / "summary.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| binary")]
    assert text.startswith("**Part of a run**")
    assert len(lines) == len(boards)
    for line, board in zip(lines, boards, strict=True):
        assert line.split(" | ")[3].startswith(f"{board.ranking.entrants[0].method} (")
    assert (tmp_path / "docs" / "summary.svg").exists()
    assert "By PQ it is first in 0 and not separable from the first in 0 of 0 tables" in text


@pytest.mark.parametrize(
    ("order", "apart", "told"),
    [
        ("FL", False, "first in 1 and not separable from the first in 0 of 1 tables"),
        ("LF", False, "first in 0 and not separable from the first in 1 of 1 tables"),
        (
            "LF",
            True,
            "0 of 1 tables of classes that rank it. Behind: binary, SP (behind LinearPost)",
        ),
        ("L", False, "0 of 0 tables"),
    ],
)
def test_the_summary_counts_where_our_method_leads(order, apart, told):
    names = [{"F": "Frontier", "L": "LinearPost"}[one] for one in order]
    entrants = [SimpleNamespace(method=name) for name in names]
    pairs = [SimpleNamespace(better=names[0], worse=names[-1], differs=apart)]
    ranking = SimpleNamespace(entrants=entrants, pairs=pairs)
    board = SimpleNamespace(track="binary", criterion="SP", ranking=ranking)
    assert told in runpy.run_path(str(SUMMARY))["standing"]({"pq": (board,)})
