"""Models compared by their scores, within strata, and with the weights of a survey."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import evenhand as eh
from comparing.models import column, rows
from evenhand.cli.compare import compare

OF_SCORES = (
    "performance_parity(auroc)",
    "performance_parity(cross_entropy)",
    "calibration_within_groups",
    "calibration_parity",
    "strong_parity",
    "wasserstein_parity",
)
DESIGNS = ("plain", "weights", "clusters", "survey")
OF_LABELS = ("statistical_parity", "equalized_odds", "conditional_statistical_parity")


@pytest.fixture(scope="module")
def people():
    """People of 48 places in four regions, with the scores of two models and replicate weights."""
    rng = np.random.default_rng(3)
    place = np.repeat(np.arange(48), 20)
    frame = pd.DataFrame({"place": place, "region": place // 12, "g": rng.choice([*"ab"], 960)})
    frame["y"] = (rng.random(960) < 0.4).astype(int)
    level = rng.standard_normal(960) + 1.2 * frame.y + 0.5 * rng.standard_normal(48)[place]
    frame["s"] = 1 / (1 + np.exp(-level))
    noise = rng.standard_normal(960) * np.where(frame.g == "a", 0.2, 1.2)
    frame["t"] = 1 / (1 + np.exp(-level - noise))
    frame["w"] = rng.uniform(0.5, 2, 960)
    survey = eh.survey_weights(frame.w, strata=frame.region, cluster=place)
    names = [f"r{i}" for i in range(1, 49)]
    return frame.join(pd.DataFrame(survey.replicates.T, columns=names))


def design(people, name):
    if name == "survey":
        return {
            "sample_weight": eh.survey_weights(people.w, strata=people.region, cluster=people.place)
        }
    weighted = {"sample_weight": people.w}
    return {"plain": {}, "weights": weighted, "clusters": weighted | {"cluster": people.place}}[
        name
    ]


def compared(people, criteria=OF_SCORES + OF_LABELS, **options):
    options = {"sensitive_features": people.g, "strata": people.y, "measures": "mpd"} | options
    scores = {"s": people.s, "t": people.t}
    return eh.compare(people.y, y_score=scores, criteria=list(criteria), **options)


@pytest.mark.parametrize(
    "of", ["plain", *(pytest.param(of, marks=pytest.mark.slow) for of in DESIGNS[1:])]
)
def test_values_and_tests_of_scores_are_those_of_an_audit(people, of):
    values = compared(people, **design(people, of)).values
    for model in "st":
        audit = eh.audit(
            people.y,
            y_score=people[model],
            sensitive_features=people.g,
            strata=people.y,
            measures="mpd",
            criteria=[*OF_SCORES, *OF_LABELS],
            **design(people, of),
        )
        for finding in audit.findings:
            (row,) = rows(values, criterion=finding.criterion, model=model)
            (of_audit,) = finding.values.values()
            assert row["p_value"] == finding.p_value
            assert (row["value"], row["high"]) == pytest.approx(
                (of_audit.value, of_audit.high), rel=1e-12
            )


@pytest.mark.parametrize("of", DESIGNS)
def test_strata_of_the_truth_are_equalized_odds(people, of):
    found = compared(people, OF_LABELS[1:], **design(people, of))
    for table in ("differences", "gaps"):
        one, other = (
            rows(found.to_frame(table), criterion=criterion) for criterion in OF_LABELS[1:]
        )
        for first, second in zip(one, other, strict=True):
            names = ("difference", "low", "high", "p_value")
            assert [first[n] for n in names] == pytest.approx([second[n] for n in names])


def placements(score, y):
    """An area, and the placements of positives and of negatives, less it (DeLong et al. 1988)."""
    high, low = score[y == 1].to_numpy(), score[y == 0].to_numpy()
    wins = (high[:, None] > low).astype(float)
    return wins.mean(), wins.mean(axis=1) - wins.mean(), wins.mean(axis=0) - wins.mean()


def delong(frame):
    """The difference of two models' areas, and its variance."""
    (one, won, lost), (two, won_too, lost_too) = (placements(frame[m], frame.y) for m in "st")
    parts = (won - won_too, lost - lost_too)
    return one - two, sum(part.var(ddof=1) / len(part) for part in parts)


def test_areas_of_everyone_are_compared_by_delong(people):
    found = compared(people)
    (pair,) = rows(found.to_frame("performance_differences"), metric="auroc")
    difference, variance = delong(people)
    assert pair["difference"] == pytest.approx(difference)
    assert stats.norm.isf(pair["p_value"] / 2) == pytest.approx(
        abs(difference) / np.sqrt(variance), rel=0.01
    )
    for model in "st":
        (value,) = column(found.performance, "value", metric="auroc", model=model)
        assert value == pytest.approx(roc_auc_score(people.y, people[model]))


def test_gaps_of_areas_change_as_delongs_differences_do(people):
    (gap,) = rows(compared(people, OF_SCORES[:1]).gaps)
    (one, var_one), (two, var_two) = (delong(people[people.g == g]) for g in "ab")
    error = np.sqrt(var_one + var_two)
    assert abs(gap["difference"]) == pytest.approx(abs(one - two))
    assert stats.norm.isf(gap["p_value"] / 2) == pytest.approx(abs(one - two) / error, rel=0.05)
    assert gap["high"] - gap["low"] == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_replicates_by_name_are_those_of_the_survey(people):
    names = {"sample_weight": "w", "replicate_weights": "r1-48", "replicate_method": 11 / 12}
    criteria = [OF_SCORES[0], "statistical_parity"]
    asked = {"sensitive_features": "g", "measures": "mpd", "criteria": criteria}
    models = {"one": "s", "two": "t"}
    named = eh.compare("y", y_score=models, data=people, **asked, **names)
    expected = compared(people, criteria, strata=None, **design(people, "survey"))
    for table in ("differences", "gaps"):
        for first, second in zip(
            rows(named.to_frame(table)), rows(expected.to_frame(table)), strict=True
        ):
            shown = ("difference", "low", "high", "p_value")
            assert [first[n] for n in shown] == pytest.approx([second[n] for n in shown])


@pytest.mark.parametrize("table", ["gaps", "differences"])
def test_surveys_of_clusters_compare_models_as_clusters_do(people, table):
    criteria = ("performance_parity(auroc)", "performance_parity(cross_entropy)")
    one_region = people.assign(region=0)
    survey, clusters, plain = (
        rows(compared(one_region, criteria, **design(one_region, of)).to_frame(table))
        for of in ("survey", "clusters", "plain")
    )
    for mine, theirs in zip(survey, clusters, strict=True):
        width = theirs["high"] - theirs["low"]
        assert mine["high"] - mine["low"] == pytest.approx(width, rel=0.08)
    assert [row["high"] for row in plain] != [row["high"] for row in clusters]


def test_two_models_alike_differ_by_less_than_their_intervals_are_wide(people):
    """In a survey too: replicates move the areas of both together."""
    scores = {"s": people.s, "nearly": people.s + 1e-3 * (people.place % 2)}
    asked = {"criteria": OF_SCORES[0], "measures": "mpd", "sensitive_features": people.g}
    for of in ("plain", "clusters", "survey"):
        found = eh.compare(people.y, y_score=scores, threshold=0.5, **asked, **design(people, of))
        (difference,), (value, _) = rows(found.differences), rows(found.values)
        assert difference["high"] - difference["low"] < value["high"] - value["low"]


@pytest.mark.slow
def test_numbers_of_rows_are_repeated_rows(people):
    times = np.arange(len(people)) % 3
    counted = compared(people, rows=times)
    repeated = compared(people.loc[np.repeat(people.index, times)])
    for table in ("values", "gaps", "performance_differences"):
        pd.testing.assert_frame_equal(counted.to_frame(table), repeated.to_frame(table))


def test_many_models_are_ranked_by_scores_and_by_decisions_on_the_same_draws(people):
    scores = {"s": people.s, "t": people.t, "less": people.s.round(1)}
    asked = {"criteria": [OF_SCORES[0], "statistical_parity"], "measures": "mpd", "replicates": 30}
    found = eh.compare(people.y, y_score=scores, sensitive_features=people.g, **asked)
    (row,) = rows(found.kendall)
    assert -1 <= row["low"] <= row["tau"] <= row["high"] <= 1
    assert found.task == "binary"


def test_classifiers_give_their_scores_where_a_criterion_asks_for_them(people):
    X = people[["s", "t"]]
    models = {name: LogisticRegression(C=c).fit(X, people.y) for name, c in (("a", 1), ("b", 1e-4))}
    asked = {"sensitive_features": people.g, "criteria": OF_SCORES[0], "measures": "mpd"}
    found = eh.compare(people.y, models, data=X, **asked)
    scores = {name: model.predict_proba(X)[:, 1] for name, model in models.items()}
    decided = {name: model.predict(X) for name, model in models.items()}
    expected = eh.compare(people.y, decided, y_score=scores, **asked)
    pd.testing.assert_frame_equal(found.values, expected.values)


def test_several_columns_of_strata_are_crossed(people):
    several = people[["region", "y"]]
    crossed = compared(people, OF_LABELS[2:], strata=several).values
    joined = several.astype(str).agg(" ".join, axis=1)
    names = ["value", "low", "high", "p_value"]
    expected = compared(people, OF_LABELS[2:], strata=joined).values
    pd.testing.assert_frame_equal(crossed[names], expected[names])


def test_scores_order_the_lists_of_a_ranking(people):
    asked = {"sensitive_features": people.g, "query": people.place, "measures": "mpd"}
    by_score = eh.compare(people.y, y_score={"s": people.s, "t": people.t}, **asked)
    of_place = people.groupby("place")[["s", "t"]].rank(ascending=False)
    by_place = eh.compare(people.y, {"s": of_place.s, "t": of_place.t}, **asked)
    pd.testing.assert_frame_equal(by_score.values, by_place.values)
    with pytest.raises(eh.InputError, match="pass one of them"):
        eh.compare(people.y, {"s": of_place.s}, y_score={"s": people.s}, **asked)


def test_the_command_reads_scores_strata_and_replicates(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.to_csv("rows.csv", index=False)
    weights = "--weight w --replicate-weights r1-48 --replicate-method jackknife"
    done = CliRunner().invoke(
        compare,
        f"rows.csv --target y --score s --score other=t --group g --stratum region {weights} "
        "--criterion conditional_statistical_parity --criterion performance_parity(auroc) "
        "--measure mpd --json found.json",
    )
    assert done.exit_code == 0, done.output
    names = [f"r{i}" for i in range(1, 49)]
    survey = eh.survey_weights(people.w, replicate_weights=people[names], method="jackknife")
    expected = eh.compare(
        people.y,
        y_score={"s": people.s, "other": people.t},
        sensitive_features=people[["g"]],
        strata=people[["region"]],
        sample_weight=survey,
        criteria=["conditional_statistical_parity", OF_SCORES[0]],
        measures="mpd",
    )
    found = json.loads((tmp_path / "found.json").read_text())["tables"]["values"]
    for mine, theirs in zip(found, rows(expected.values), strict=True):
        assert mine["p_value"] == pytest.approx(theirs["p_value"], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "compare needs predictions, or y_score"),
        ({"y_score": [0.2, 0.8]}, "y_score is a list; it must name the models"),
        ({"y_score": {"one": "s", "two": -1}}, "y_score\\['two'\\]: .* rank against the label 1"),
        ({"y_score": {"one": "s", "two": 9}}, "y_score\\['two'\\].* is not a probability"),
        ({"predictions": {"one": "y"}, "y_score": {"two": "s"}}, "by the same names"),
        ({"predictions": {"one": "s"}}, "If these are scores, pass them as y_score="),
        ({"predictions": {"one": "p"}, "threshold": 0.5}, "Which one decides"),
        ({"predictions": {"one": "p"}, "score_of": 1}, "pass y_score"),
        ({"y_score": {"one": "s"}, "y_true": None, "criteria": OF_SCORES[0]}, "Pass predictions"),
        (
            {"predictions": {"one": "p"}, "y_true": None, "criteria": OF_SCORES[0]},
            "compares with the truth: pass y_true",
        ),
    ],
)
def test_scores_that_cannot_be_read_are_refused(people, options, message):
    columns = {
        **people.assign(p=(people.t > 0.5).astype(int)),
        -1: 1 - people.s,
        9: 9 * people.s,
    }
    options = {
        name: {model: columns[each] for model, each in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in options.items()
    }
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.compare(**{"y_true": people.y} | options, sensitive_features=people.g)


def test_areas_and_calibration_errors_are_no_percentages_here_either(people):
    criteria = ("performance_parity(auroc)", "statistical_parity")
    found = compared(people, criteria)
    assert "parity of AUROC (0." in found.summary
    rates = {one["name"]: one["is_rate"] for one in found.document()["criteria"]}
    assert rates == dict(zip(criteria, (False, True), strict=True))
