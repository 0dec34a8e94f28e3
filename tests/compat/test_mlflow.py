"""The evaluator for MLflow, with MLflow itself: metrics, page and document in a run."""

import doctest
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from later import Later

mlflow = Later("mlflow")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # MLflow has its own
CONFIG = {"sensitive_features": "sex", "criteria": ["statistical_parity", "performance_parity(f1)"]}


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.normal(size=400), "sex": rng.choice(["F", "M"], 400)})
    people["y"] = (people.age + (people.sex == "M") > 0.5).astype(int)
    people["p"] = np.where(rng.random(400) < 0.8, people.y, 1 - people.y)
    return people


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run in a folder; MLflow finds the evaluator as it does when evenhand is installed."""
    from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry

    from evenhand.compat.mlflow import EvenhandEvaluator

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setitem(_model_evaluation_registry._registry, "evenhand", EvenhandEvaluator)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        yield run.info.run_id
    mlflow.set_tracking_uri(before)


def evaluate(people, **options):
    given = {"data": people, "targets": "y", "predictions": "p", "model_type": "classifier"}
    chosen = {"evaluators": "evenhand", "evaluator_config": CONFIG}
    return mlflow.models.evaluate(**given | chosen | options)


def test_the_entry_point_is_the_evaluator():
    from evenhand.compat import mlflow as ours

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["mlflow.model_evaluator"]["evenhand"].partition(":")
    assert module == ours.__name__
    assert getattr(ours, name) is ours.EvenhandEvaluator


def test_values_and_intervals_are_logged_as_the_audit_has_them(people, run):
    result = evaluate(people)
    found = eh.audit(
        people.y,
        people.p,
        sensitive_features=people[["sex"]],
        criteria=CONFIG["criteria"],
    )
    logged = mlflow.get_run(run).data
    for value in found.measured:
        name = f"evenhand/{value.criterion}.{value.measure}".replace("(f1)", ".f1")
        for key, number in (("", value.value), (".low", value.low), (".high", value.high)):
            assert logged.metrics[name + key] == pytest.approx(number)
            assert result.metrics[name + key] == pytest.approx(number)
    assert logged.tags["evenhand.summary"] == found.summary


def test_the_page_and_the_document_are_artifacts(people, run, tmp_path):
    result = evaluate(people)
    page = mlflow.artifacts.load_text(f"runs:/{run}/evenhand/report.html")
    document = json.loads(mlflow.artifacts.load_text(f"runs:/{run}/evenhand/audit.json"))
    assert page.startswith("<!doctype html>")
    assert document["schema"].startswith("evenhand.audit/")
    assert result.artifacts["evenhand/report.html"].content == page
    result.save(str(tmp_path / "saved"))
    again = mlflow.models.EvaluationResult.load(str(tmp_path / "saved"))
    assert again.metrics == result.metrics


def test_a_model_is_audited_by_its_predictions(people, run):
    def old(rows):
        return (rows["age"] > 0).astype(int).to_numpy()

    result = evaluate(people.drop(columns="p"), model=old, predictions=None)
    expected = eh.evaluate(
        "statistical_parity", None, (people.age > 0).astype(int), sensitive_features=people.sex
    )
    assert result.metrics["evenhand/statistical_parity.mpd"] == pytest.approx(expected)


def test_without_sensitive_columns_the_evaluator_stays_out_of_the_way():
    from evenhand.compat.mlflow import EvenhandEvaluator

    ask = EvenhandEvaluator.can_evaluate
    assert not ask(model_type="classifier", evaluator_config={})
    assert not ask(model_type="classifier", evaluator_config=None)
    assert not ask(model_type="question-answering", evaluator_config=CONFIG)
    assert ask(model_type="regressor", evaluator_config=CONFIG)


def test_a_threshold_on_the_upper_end_is_a_gate_that_fails_closed(people, run):
    from mlflow.models import MetricThreshold

    result = evaluate(people)
    bound = {"evenhand/statistical_parity.mpd.high": MetricThreshold(0.05, greater_is_better=False)}
    with pytest.raises(Exception, match=re.escape("statistical_parity.mpd.high")):
        mlflow.validate_evaluation_results(
            candidate_result=result, baseline_result=None, validation_thresholds=bound
        )


def test_any_audit_can_be_logged_in_the_active_run(people, run):
    from evenhand.compat.mlflow import log_audit

    found = eh.audit(None, people.p, sensitive_features=people.sex, measures="mpd")
    log_audit(found)
    assert "evenhand/statistical_parity.mpd.high" in mlflow.get_run(run).data.metrics


def test_without_a_run_there_is_nowhere_to_log(people):
    from evenhand.compat.mlflow import log_audit

    found = eh.audit(None, people.p, sensitive_features=people.sex, measures="mpd")
    with pytest.raises(eh.InputError, match="no active run"):
        log_audit(found)


def test_a_column_that_is_not_there_is_named(people, run):
    with pytest.raises(ValueError, match="X has no column 'sexx'"):
        evaluate(people, evaluator_config={"sensitive_features": "sexx"})


def test_the_examples_print_what_they_say():
    from evenhand.compat import mlflow as ours

    checked = doctest.testmod(ours, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert checked.failed == 0
    assert checked.attempted
