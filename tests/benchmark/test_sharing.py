"""Designs that build on others: more methods, fewer tasks, and predictions that are there."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmark.designs import SMALL, design
from evenhand.benchmark import (
    BASES,
    Base,
    Question,
    Results,
    Store,
    Treatment,
    rank,
    read_design,
    results,
    run,
    status,
)
from evenhand.benchmark import treatment as treat
from evenhand.benchmark.design import fingerprints
from evenhand.benchmark.figures.panels import readings
from evenhand.benchmark.figures.theme import theme_of
from evenhand.benchmark.predictions import Predictions
from evenhand.benchmark.running.fitting import Work
from evenhand.benchmark.running.preparation import Prepared
from evenhand.benchmark.tables import score_table
from evenhand.mitigation import EqualizedOddsClassifier, LinearPostClassifier

FEW = (Treatment(), treat("EqOdds"))
TWO = (SMALL, replace(SMALL, name="other", rows=300))


class Mine(LinearPostClassifier):
    """A method of one's own."""


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    run(design(*FEW, problems=TWO), folder, n_jobs=1)
    return folder


@pytest.mark.slow
def test_a_design_plus_a_method_is_one_line():
    wanted = design(*FEW, problems=TWO)
    more = wanted.plus(Mine, treat("Reweight"))
    assert wanted.runs().keys() < more.runs().keys()
    assert {run.treatment.name for run in more.runs().values()} == {
        *("Base", "EqOdds", "Mine", "Reweight")
    }
    assert {run.problem.name for run in more.only("small").runs().values()} == {"small"}
    with pytest.raises(ValueError, match=r"has no problem 'smal'\. Did you mean 'small'"):
        more.only("smal")


@pytest.mark.slow
def test_what_others_have_stored_is_not_fitted_again(published, tmp_path, monkeypatch):
    wanted = design(*FEW, problems=TWO).only("small").plus(treat(Mine, stage="post"))
    state = run(replace(wanted, stored=str(published)), tmp_path, n_jobs=1)
    assert (state.runs, state.failures) == (3, {})
    found = {entry["method"]: entry for entry in Store(tmp_path).entries().values()}
    assert found["EqOdds"]["stored_as"] == found["EqOdds"]["key"]
    assert "stored_as" not in found["Mine"]


@pytest.mark.slow
def test_predictions_of_other_versions_are_taken_over_and_say_so(published, tmp_path, monkeypatch):
    theirs = results(published).to_frame("problem = 'small' and method = 'EqOdds'")
    monkeypatch.setattr("evenhand.benchmark.design.fingerprints.version_of", lambda name: "newer 9")
    wanted = design(*FEW, problems=TWO).only("small")
    assert not wanted.runs().keys() & Store(published).keys()
    state = run(replace(wanted, stored=str(published)), tmp_path, n_jobs=1)
    assert (state.runs, state.missing) == (2, 0)
    assert not list(tmp_path.glob("bases/*/*"))
    known = Store(published).keys()
    for entry in Store(tmp_path).entries().values():
        assert entry["stored_as"] in known
        assert entry["key"] in wanted.runs()
    ours = results(tmp_path, wanted).to_frame("method = 'EqOdds'")
    values = [one.set_index(["question", "lot"])["value"].sort_index() for one in (ours, theirs)]
    assert values[0].equals(values[1])


@pytest.mark.slow
def test_a_method_that_was_edited_is_fitted_again(published, tmp_path, monkeypatch):
    source = "evenhand.benchmark.design.fingerprints.source_fingerprint"
    edited = "evenhand.mitigation.equalized_odds"
    real = fingerprints.source_fingerprint
    monkeypatch.setattr(source, lambda module: "edited" if module == edited else real(module))
    wanted = design(*FEW, problems=TWO).only("small")
    state = run(replace(wanted, stored=str(published)), tmp_path, n_jobs=1)
    assert (state.runs, state.missing) == (2, 0)
    found = {entry["method"]: entry for entry in Store(tmp_path).entries().values()}
    assert found["Base"]["stored_as"] == found["Base"]["key"]
    assert "stored_as" not in found["EqOdds"]


@pytest.mark.slow
def test_predictions_for_other_settings_or_rows_are_not_taken(published, tmp_path):
    other = (replace(BASES["logistic"], settings={"max_iter": 500}),)
    study = replace(design(*FEW).studies[0], bases=other)
    taken = Store(tmp_path).adopt(
        Store(published),
        [
            {"key": key, **one.value, "split_key": one.split_key, "settings": "[{}, {}]"}
            for key, one in replace(design(), studies=(study,)).runs().items()
        ],
    )
    assert taken == 0


@pytest.mark.slow
def test_a_file_extends_a_design_by_one_line(tmp_path):
    (tmp_path / "theirs.toml").write_text(
        "seeds = 2\n[problems.simulated]\nrows = 300\n[problems.adult]\n[methods.EqOdds]\n"
    )
    (tmp_path / "mine.toml").write_text(
        "extends = 'theirs.toml'\ntasks = ['simulated']\nstored = 'published'\n[methods.Reweight]\n"
    )
    theirs, mine = (read_design(tmp_path / f"{name}.toml") for name in ("theirs", "mine"))
    assert theirs.only("simulated").runs().keys() < mine.runs().keys()
    assert {run.treatment.name for run in mine.runs().values()} == {"Base", "EqOdds", "Reweight"}
    assert mine.stored == str(tmp_path / "published")
    assert (mine.name, len(mine.runs())) == ("mine", 6)
    (tmp_path / "changed.toml").write_text(
        "extends = 'theirs.toml'\nseeds = [7]\nbases = ['boosting']\nheld_out = 0.5\n"
        "[problems.other]\nsource = 'simulated'\nrows = 200\n"
    )
    runs = read_design(tmp_path / "changed.toml").runs().values()
    assert {(one.problem.name, one.seed, one.base.name) for one in runs} == {
        ("other", 7, "boosting")
    }


@pytest.mark.slow
def test_the_papers_design_plus_a_method_is_one_line(tmp_path):
    pytest.importorskip("paper")
    (tmp_path / "mine.toml").write_text(
        "extends = 'paper.design:PAPER'\ntasks = ['simulated']\nseeds = 1\n[methods.mine]\n"
        "method = 'fairlearn.ThresholdOptimizer'\n"
    )
    from paper.design import PAPER

    names = {run.treatment.name for run in read_design(tmp_path / "mine.toml").runs().values()}
    seeds = tuple(replace(one, seeds=(0,)) for one in PAPER.only("simulated").studies)
    theirs = {run.treatment.name for run in replace(PAPER, studies=seeds).runs().values()}
    assert names == theirs | {"mine"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends = 'gone.toml'\n", r"gone\.toml cannot be read"),
        ("extends = 'math:floor'\n", "and not a Design"),
        ("tasks = ['adult']\n[problems.adult]\n[methods.EqOdds]\n", "say which one with extends"),
        ("held_out = 'some'\n[problems.adult]\n[methods.EqOdds]\n", "held_out is 'some'"),
        ("held_out = 1.5\n[problems.adult]\n[methods.EqOdds]\n", "held_out is 1.5; give a share"),
        ("[problems.adult]\n[methods.EqOdds]\ngrid=[nan]\nmethod='LinearPost'", "holds nan"),
        ("[problems.adult]\n[methods.EqOdds]\nstage = 'post'\n", "is for an estimator of your own"),
        ("[problems.adult]\n[methods.m]\nestimator = 'math:floor'\n", "not a class of estimators"),
        ("[problems.adult]\n[methods.m]\nestimator = 'sklearn.svm:SVC'\n", "no parameter 'estim"),
        ("bases = [3]\n[problems.adult]\n[methods.EqOdds]\n", "bases holds 3"),
        ("[bases.f]\ncolor = 1\n[problems.adult]\n[methods.EqOdds]\n", "has the key 'color'"),
        ("[bases.forrest]\n[problems.adult]\n[methods.EqOdds]\n", "no base model 'forrest'"),
    ],
)
def test_a_mistake_is_named_with_the_way_out(tmp_path, text, message):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises((ValueError, TypeError), match=message):
        read_design(tmp_path / "mine.toml").runs()


def test_base_models_may_be_a_list_of_names_and_tables(tmp_path):
    (tmp_path / "mine.toml").write_text(
        "seeds = 1\nbases = ['logistic', {name = 'tree', estimator = "
        "'sklearn.tree:DecisionTreeClassifier', settings = {max_depth = 2}}]\n"
        "[problems.simulated]\n[methods.EqOdds]\n"
    )
    bases = read_design(tmp_path / "mine.toml").studies[0].bases
    assert [base.name for base in bases] == ["logistic", "tree"]
    assert bases[1].estimator("classification").max_depth == 2


def test_a_known_base_model_keeps_its_settings_but_for_those_that_are_named(tmp_path):
    (tmp_path / "mine.toml").write_text(
        "[bases.logistic]\nsettings = {C = 0.5}\n[problems.simulated]\n[methods.EqOdds]\n"
    )
    (base,) = read_design(tmp_path / "mine.toml").studies[0].bases
    assert base.settings == {"max_iter": 1000, "C": 0.5}


def memorizing():
    return Base("forest", "sklearn.tree:DecisionTreeClassifier")


@pytest.mark.slow
def test_held_out_rows_are_kept_from_the_model_underneath(tmp_path):
    prepared = Prepared(SMALL.load(), memorizing(), seed=0, held_out=0.4)
    scores = prepared.scores()
    train = slice(0, prepared.fitted)
    assert scores.fits[train].mean() == pytest.approx(0.4, abs=0.01)
    assert not scores.fits[scores.test].any()
    right = scores.scores[:, 1].round() == scores.y
    assert right[train][~scores.fits[train]].all()  # a tree knows its own rows by heart
    assert right[train][scores.fits[train]].mean() < 0.9
    work = Work.of_scores(scores, treat("EqOdds"))
    assert len(work.X) == scores.fits.sum()
    everything = Prepared(SMALL.load(), memorizing(), seed=0).scores()
    assert everything.fits[train].all()


@pytest.mark.slow
def test_only_post_processors_see_held_out_rows(tmp_path):
    treatments = (Treatment(), treat("EqOdds"), treat("Reweight"))
    study = replace(design(*treatments).studies[0], bases=(memorizing(),), held_out=0.4)
    wanted = replace(design(), studies=(study,))
    shares = {run.treatment.name: run.held_out for run in wanted.runs().values()}
    assert shares == {"Base": 0.0, "EqOdds": 0.4, "Reweight": 0.0}
    plain = replace(wanted, studies=(replace(study, held_out=0.0),))
    assert len(wanted.runs().keys() & plain.runs().keys()) == 2
    run(wanted, tmp_path, n_jobs=1)
    run(plain, tmp_path, n_jobs=1)
    found = results(tmp_path).to_frame("method = 'EqOdds' and question = 'accuracy'")
    assert set(found["held_out"]) == {0.0, 0.4}


HELD = Results.from_rows(
    runs=[
        {"key": "b", "problem": "people", "base": "b", "method": "Base", "seed": 0},
        *(
            {"key": f"{key}", "problem": "people", "base": "b", "method": "mine", "seed": 0, **part}
            for key, part in {
                "all": {"held_out": 0.0},
                "held": {"held_out": 0.3},
                "few": {"fit_rows": 5000, "held_out": 0.0},
            }.items()
        ),
    ],
    questions=[Question("accuracy"), Question("statistical_parity", "mpd")],
    problems=[{"problem": "people", "kind": "classification"}],
    scores=[
        (key, question, "expected", value)
        for key, values in {
            "b": (0.9, 0.4),
            "all": (0.9, 0.1),
            "held": (0.9, 0.3),
            "few": (0.9, 0.2),
        }.items()
        for question, value in zip(("accuracy", "statistical_parity.mpd"), values, strict=True)
    ],
)


def test_no_mean_is_taken_over_runs_that_saw_other_rows():
    gaps = HELD.curves("question = 'statistical_parity.mpd' and method = 'mine'")
    assert sorted(gaps["mean"]) == [0.1, 0.2, 0.3]
    assert set(gaps["seeds"]) == {1}
    assert set(gaps["held_out"]) == {0.0, 0.3}


def test_the_same_method_on_other_rows_is_another_line_and_another_entrant():
    names = {"mine", "mine (30% held out)", "mine (5,000 rows)"}
    (ranking,) = rank(HELD, "statistical_parity.mpd")
    assert {one.method for one in ranking.entrants} == {"Base", *names}
    assert ranking.entrants[0].method == "mine"
    assert {row[2] for row in score_table(HELD, []).rows} == {"Base", *names}
    theme = theme_of(HELD)
    table = readings(HELD, ["accuracy"], ["people"], ["b"], theme)
    assert set(table["series"]) == {"Base", *names}
    assert len({theme.style(name) for name in names}) == 3


def test_a_method_on_the_same_rows_everywhere_keeps_its_name():
    one_part = HELD.runs.to_pylist()[:2]
    found = Results.from_rows(runs=one_part, questions=[], problems=[], scores=[])
    assert set(found.with_fitted_rows(found.runs.to_pandas())["method"]) == {"Base", "mine"}


@pytest.mark.slow
def test_a_strict_reader_of_json_lines_reads_the_manifest(tmp_path):
    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    run(design(*FEW), tmp_path, n_jobs=1)
    path = tmp_path / "manifest.jsonl"
    with path.open("ab") as file:
        file.write(b'{"key": "torn')
    run(design(*FEW, treat("Reweight")), tmp_path, n_jobs=1)
    content = path.read_text("utf-8")
    assert content.endswith("\n")
    entries = [json.loads(line, parse_constant=refuse) for line in content.split("\n")[:-1]]
    assert len(entries) == 3
    assert {entry["method"] for entry in entries} == {"Base", "EqOdds", "Reweight"}


def test_runs_that_do_not_tell_their_version_are_older_than_others(tmp_path):
    store = Store(tmp_path)
    labels = Predictions(labels=np.zeros(2, np.uint8))
    names = {"problem": "p", "base": "b", "method": "m", "constraint": None, "seed": 0}
    store.add(labels, {"key": "old", **names})
    store.add(labels, {"key": "new", **names, "version": "2", "data": "d", "written": 5.0})
    current, old = store.current()
    assert (list(current), list(old)) == (["new"], ["old"])


@pytest.mark.slow
def test_other_settings_on_another_problem_are_kept_and_said(tmp_path):
    plain, finer = (
        treat("LinearPost", grid=[0.01], settings=settings) for settings in ({}, {"bins": 4})
    )
    first = design(plain, problems=TWO[:1])
    mixed = replace(first, studies=(*first.studies, *design(finer, problems=TWO[1:]).studies))
    run(mixed, tmp_path, n_jobs=1)
    with pytest.warns(
        UserWarning, match=r"other settings .* \(LinearPost with logistic\); all"
    ) as caught:
        found = results(tmp_path)
    assert len(caught) == 1
    assert set(found.runs["key"].to_pylist()) == set(mixed.runs())
    edited = design(finer, problems=TWO[:1])
    run(edited, tmp_path, n_jobs=1)
    with pytest.warns(UserWarning, match=r"1 run of an earlier version .* \(LinearPost on small\)"):
        found = results(tmp_path)
    assert {*edited.runs()} < {*found.runs["key"].to_pylist()}
    assert found.runs.num_rows == 2


@pytest.mark.slow
def test_a_renamed_method_is_found_under_its_new_name(published):
    wanted = design(Treatment(), treat("EqOdds", name="Odds"))
    assert status(wanted, published).missing == 0
    assert set(results(published, wanted).to_frame()["method"]) == {"Base", "Odds"}


def test_a_class_is_enough_for_a_method():
    own = treat(EqualizedOddsClassifier, stage="post", randomized=True)
    assert (own.name, own.method.task, own.method.randomized) == (
        "EqualizedOddsClassifier",
        "classification",
        True,
    )
    assert np.isscalar(own.method.stage)
