"""Groups compared with a reference: everyone, the best group, or one that is named."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn

import evenhand as eh
from strategies import predictions


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("groups", [2, 6])
@pytest.mark.parametrize(
    ("criterion", "metric"),
    [
        ("selection_rate_ratio", fairlearn.selection_rate),
        ("equal_opportunity", fairlearn.true_positive_rate),
        ("predictive_equality", fairlearn.false_positive_rate),
    ],
)
def test_to_overall_is_fairlearns(criterion, metric, groups, seed):
    rows = predictions(seed, classes=2, groups=groups)
    options = {"sensitive_features": rows.group, "sample_weight": rows.weight}
    frame = fairlearn.MetricFrame(
        metrics=metric,
        y_true=rows.y_true,
        y_pred=rows.y_pred,
        sensitive_features=rows.group,
        sample_params={"sample_weight": rows.weight},
    )
    columns = (criterion, rows.y_true, rows.y_pred)
    ours = eh.evaluate(*columns, measure="mpd", to="overall", **options)
    assert ours == pytest.approx(frame.difference(method="to_overall"))
    ours = eh.evaluate(*columns, measure="ratio", to="overall", **options)
    assert ours == pytest.approx(frame.ratio(method="to_overall"))
    short = eh.evaluate(*columns, measure="shortfall", to="overall", **options)
    assert short == pytest.approx(1 - ours)


RATES = {"a": [1, 1, 1, 0], "b": [1, 1, 0, 0], "c": [1, 0, 0, 0]}  # 0.75, 0.5 and 0.25
GROUP, PREDICTED = np.repeat([*RATES], 4), np.concatenate([*RATES.values()])


@pytest.mark.parametrize(
    ("to", "difference", "ratio"),
    [
        ("overall", 0.25, 0.5),
        ("best", 0.5, 1 / 3),
        (None, 0.5, 1 / 3),
        ("a", 0.5, 1 / 3),
        ("b", 0.25, 0.5),
        ("c", 0.5, 1 / 3),
    ],
)
def test_the_farthest_group_from_the_reference_counts(to, difference, ratio):
    columns = {"sensitive_features": GROUP, "favorable": 1, "to": to}
    ask = eh.CRITERIA["statistical_parity"]
    assert ask(None, PREDICTED, **columns) == pytest.approx(difference)
    assert ask(None, PREDICTED, measure="ratio", **columns) == pytest.approx(ratio)
    counts = eh.tally(None, PREDICTED, sensitive_features=GROUP)
    assert eh.evaluate("statistical_parity", counts, to=to) == pytest.approx(difference)


def test_a_group_that_is_alone_has_nobody_to_be_compared_with():
    truth = [1, 1, 0, 0]  # nobody in b qualifies
    with pytest.warns(eh.UndefinedWarning):
        value = eh.evaluate("equal_opportunity", truth, truth, sensitive_features=[*"aabb"], to="a")
    assert np.isnan(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "d"}, r"to='d' is not a group; there are \['a', 'b', 'c'\]"),
        ({"to": "overall", "measure": "gini"}, "statistical_parity by gini"),
        ({"to": "overall", "measure": "pq"}, "compares all groups with each other"),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        eh.evaluate("statistical_parity", None, PREDICTED, sensitive_features=GROUP, **options)


def test_distributions_have_no_reference():
    with pytest.raises(ValueError, match="strong_parity by mpd"):
        eh.evaluate("strong_parity", None, PREDICTED, sensitive_features=GROUP, to="overall")


@pytest.mark.parametrize("door", [eh.audit, eh.chance])
def test_who_compares_groups_with_each_other_alone_says_so(door):
    asked = () if door is eh.audit else ("statistical_parity",)
    with pytest.raises(TypeError, match="to=, is for evaluate"):
        door(*asked, None, PREDICTED, sensitive_features=GROUP, to="overall")


@pytest.mark.parametrize("named", [("F", "x"), "F × x"], ids=str)
def test_a_group_is_named_by_its_label_or_as_it_is_written_everywhere(named):
    rows = {"sensitive_features": pd.DataFrame({"sex": [*"FFMM"] * 50, "race": [*"xyxy"] * 50})}
    selected = [1, 0, 1, 1] * 30 + [0, 0, 1, 1] * 20
    score, truth = np.linspace(0, 1, 200), [0, 1] * 100
    asked = ("statistical_parity", None, selected)
    assert eh.evaluate(*asked, **rows, to=named) == pytest.approx(0.6)
    assert eh.interval(*asked, **rows, to=named).value == pytest.approx(0.6)
    assert eh.contrasts(*asked, **rows, to=named)[0].value == 0
    account = eh.explain("statistical_parity", truth, selected, **rows, between=[named, "M × y"])
    assert account.groups == (("F", "x"), ("M", "y"))
    fitted = {"values": 2, "rate_error": None, "truth": "labels"}
    curve = eh.frontier(truth, score, y_pred=selected, **rows, **fitted, reference=named)
    assert curve.model.value == pytest.approx(0.6)
    sizes = eh.tally(None, selected, **rows)
    assert "F × x" in eh.power(sizes, rate=0.6, difference=0.1, apart=named).summary
