"""evenhand.compat.fairlearn beside fairlearn itself: the same names, numbers and pandas shapes."""

import inspect
import pickle
import subprocess
import sys
import warnings
from functools import partial

import fairlearn.metrics as theirs
import fairlearn.postprocessing
import fairlearn.reductions
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn
from sklearn.exceptions import UndefinedMetricWarning

import evenhand as eh
from evenhand.compat import _recipes
from evenhand.compat import fairlearn as ours
from evenhand.compat._disaggregation import Metric

LIBRARIES = {"fairlearn": theirs, "evenhand": ours}
METHODS = ("between_groups", "to_overall")
ERRORS = ("raise", "coerce")
BASE = [
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
    "mean_prediction",
    "count",
]
SKLEARN = [
    "accuracy_score",
    "zero_one_loss",
    "balanced_accuracy_score",
    "precision_score",
    "recall_score",
    "f1_score",
    "mean_absolute_error",
    "mean_squared_error",
    "root_mean_squared_error",
]


def spread(y_true, y_pred, sample_weight=None):
    """A metric that nobody has a recipe for."""
    return np.average(np.abs(y_true - y_pred) ** 3, weights=sample_weight)


def matrix(y_true, y_pred):
    return sklearn.confusion_matrix(y_true, y_pred, labels=[0, 1])


def metric_of(name, library):
    if name in ("spread", "matrix"):
        return globals()[name]
    return getattr(library if name in BASE else sklearn, name)


def answers(frame):
    """Everything that a frame says, by name; an error is part of it."""
    asked = {"by_group": lambda: frame.by_group, "overall": lambda: frame.overall}
    for errors in ERRORS:
        asked[f"min {errors}"] = partial(frame.group_min, errors=errors)
        asked[f"max {errors}"] = partial(frame.group_max, errors=errors)
        for method in METHODS:
            asked[f"difference {method} {errors}"] = partial(frame.difference, method, errors)
            asked[f"ratio {method} {errors}"] = partial(frame.ratio, method, errors)
    if frame.n_boot:
        asked["overall_ci"] = lambda: frame.overall_ci
        asked["by_group_ci"] = lambda: frame.by_group_ci
        asked["min_ci"], asked["max_ci"] = frame.group_min_ci, frame.group_max_ci
        for method in METHODS:
            asked[f"difference_ci {method}"] = partial(frame.difference_ci, method)
            asked[f"ratio_ci {method}"] = partial(frame.ratio_ci, method)
    return {name: answer_of(ask) for name, ask in asked.items()}


def answer_of(ask):
    try:
        return ask()
    except Exception as error:
        return ValueError if isinstance(error, ValueError) else type(error)


def assert_same(here, there):
    assert isinstance(here, list) == isinstance(there, list)
    if isinstance(there, list):
        assert len(here) == len(there)
        for mine, other in zip(here, there, strict=True):
            assert_same(mine, other)
    elif isinstance(there, pd.DataFrame):
        pd.testing.assert_frame_equal(here, there, rtol=1e-9, atol=1e-12)
    elif isinstance(there, pd.Series):
        pd.testing.assert_series_equal(here, there, rtol=1e-9, atol=1e-12)
    else:
        assert type(here) is type(there)
        np.testing.assert_equal(np.shape(here), np.shape(there))
        if not isinstance(there, type):
            np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12)


def assert_frames_agree(make):
    """`make` gives a frame of the library it is given; both must say the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            there = make(theirs)
        except Exception as error:
            with pytest.raises((type(error), ValueError)):
                make(ours)
            return
        here = make(ours)
        assert here.control_levels == there.control_levels
        assert here.sensitive_levels == there.sensitive_levels
        said, known = answers(here), answers(there)
        for name, answer in known.items():
            try:
                assert_same(said[name], answer)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error


KINDS = {
    "text": np.array(["a", "bb", "c", "éclair"]),
    "numbers": np.array([3, 1, 2, 0]),
    "floats": np.array([0.5, -1.0, 2.0, 1.5]),
    "truth values": np.array([True, False]),
    "objects": np.array(["x", "y", "z"], dtype=object),
}


@st.composite
def columns(draw, rows, count):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [
        KINDS[draw(st.sampled_from(sorted(KINDS)))][: draw(st.integers(1, 4))].take(
            rng.integers(0, 99, rows), mode="wrap"
        )
        for _ in range(count)
    ]


def presented(draw, values, base):
    """Columns as a user may hold them: list, array, series, dataframe or dict."""
    if len(values) == 1 and draw(st.booleans()):
        return draw(
            st.sampled_from(
                [
                    values[0].tolist(),
                    values[0],
                    pd.Series(values[0]),
                    pd.Series(values[0], name=base),
                ]
            )
        )
    named = {f"{base} {at}": column for at, column in enumerate(values)}
    frame = pd.DataFrame(named)
    if draw(st.booleans()):
        frame = frame.astype({frame.columns[0]: "category"})
    same_kind = len({column.dtype.kind for column in values}) == 1
    return draw(st.sampled_from([named, frame] + ([np.stack(values, axis=1)] if same_kind else [])))


@st.composite
def cases(draw, names):
    """Arguments of a MetricFrame, with metrics by name."""
    rows = draw(st.integers(2, 40))  # fairlearn refuses an array of one row
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(
        st.sampled_from([[0, 1], [-1, 1], [False, True], [0.0, 1.0], [1], [0], [0, 1, 2]])
    )
    sensitive = draw(columns(rows, draw(st.integers(1, 2))))
    control = draw(columns(rows, draw(st.integers(0, 2))))
    weights = draw(st.sampled_from(["none", "positive", "some zero", "per metric"]))
    some = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    weight = rng.integers(0 if weights == "some zero" else 1, 4, rows).astype(float)
    params = {}
    if weights != "none":
        other = rng.random(rows) + 0.1
        params = {
            name: {"sample_weight": other if weights == "per metric" and at else weight}
            for at, name in enumerate(some)
            if name not in ("count", "matrix")
        }
    return {
        "metrics": some,
        "alone": draw(st.booleans()),
        "params": params,
        "y_true": np.array(labels)[rng.integers(0, len(labels), rows)],
        "y_pred": np.array(labels)[rng.integers(0, len(labels), rows)],
        "sensitive_features": presented(draw, sensitive, "sensitive"),
        "control_features": presented(draw, control, "control") if control else None,
    }


def frame_of(case, library, **more):
    metrics = {name: metric_of(name, library) for name in case["metrics"]}
    params = case["params"]
    if case["alone"]:
        name = case["metrics"][0]
        metrics, params = metrics[name], params.get(name)
    columns = ("y_true", "y_pred", "sensitive_features", "control_features")
    return library.MetricFrame(
        metrics=metrics, sample_params=params, **{key: case[key] for key in columns}, **more
    )


@pytest.mark.slow
@settings(max_examples=30)
@given(cases(BASE + SKLEARN))
def test_every_number_and_shape_is_that_of_fairlearn(case):
    assert_frames_agree(partial(frame_of, case))


@pytest.mark.slow
@settings(max_examples=15)
@given(cases(["spread", "matrix", "accuracy_score", "count"]))
def test_a_metric_of_ones_own_is_called_as_fairlearn_calls_it(case):
    assert_frames_agree(partial(frame_of, case))


@pytest.mark.slow
@settings(max_examples=6)
@given(cases([*BASE, "accuracy_score", "spread"]), st.integers(0, 2**31))
def test_bootstrap_samples_of_one_seed_are_those_of_fairlearn(case, seed):
    draws = {"n_boot": 4, "ci_quantiles": [0.1, 0.5], "random_state": seed}
    assert_frames_agree(partial(frame_of, case, **draws))


@st.composite
def parity_cases(draw):
    case = draw(cases(["selection_rate"]))
    columns = {key: case[key] for key in ("y_true", "y_pred", "sensitive_features")}
    weight = case["params"].get("selection_rate", {}).get("sample_weight")
    return columns | {"sample_weight": weight, "method": draw(st.sampled_from(METHODS))}


@pytest.mark.slow
@settings(max_examples=15)
@given(parity_cases(), st.sampled_from(["worst_case", "mean"]))
def test_parity_functions_give_the_numbers_of_fairlearn(case, agg):
    for name in (
        "demographic_parity_difference",
        "demographic_parity_ratio",
        "equal_opportunity_difference",
        "equal_opportunity_ratio",
        "equalized_odds_difference",
        "equalized_odds_ratio",
    ):
        more = {"agg": agg} if name.startswith("equalized") else {}
        call = {
            library: partial(answer_of, partial(getattr(module, name), **case, **more))
            for library, module in LIBRARIES.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here, there = call["evenhand"](), call["fairlearn"]()
        if isinstance(there, type):
            assert here is there, name
        else:
            np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12, err_msg=name)


DERIVED = [
    name for name in theirs.__all__ if name.endswith(("_difference", "_ratio", "_min", "_max"))
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DERIVED))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_derived_metric_gives_the_number_of_fairlearn(name, weighted):
    rng = np.random.default_rng(3)
    y_true, group = rng.integers(0, 2, 200), rng.choice(["a", "b", "c"], 200)
    y_pred = rng.random(200) if name.startswith(("roc", "log")) else rng.integers(0, 2, 200)
    more = {"sample_weight": rng.random(200)} if weighted else {}
    here, there = (
        getattr(library, name)(y_true, y_pred, sensitive_features=group, **more)
        for library in (ours, theirs)
    )
    np.testing.assert_allclose(here, there, rtol=1e-12)


def test_a_derived_metric_takes_the_arguments_of_its_metric_and_of_its_transform():
    y, p, group = list("yynyn"), list("ynnyy"), [1, 1, 2, 2, 2]
    for method in METHODS:
        here, there = (
            library.make_derived_metric(metric=library.selection_rate, transform="ratio")(
                y, p, sensitive_features=group, pos_label="y", method=method
            )
            for library in (ours, theirs)
        )
        assert here == there


def test_every_public_name_is_that_of_fairlearn():
    others = set(ours.__all__) - set(theirs.__all__)
    assert set(theirs.__all__) <= set(ours.__all__)
    assert others <= {*dir(fairlearn.postprocessing), *dir(fairlearn.reductions)}


def drawn(axes):
    """What a plot shows: its labels, texts, points and lines."""
    try:
        points = [part.get_offsets().tolist() for part in axes.collections]
        lines = [(line.get_label(), line.get_xydata().tolist()) for line in axes.lines]
        texts = [(text.get_position(), text.get_text()) for text in axes.texts]
        return axes.get_xlabel(), axes.get_ylabel(), axes.get_title(), points, lines, texts
    finally:
        plt.close(axes.figure)


@pytest.mark.parametrize(
    "asked",
    [
        {"point_labels": True, "point_labels_position": (0.1, -0.1)},
        {"axis_labels": ["x", "y"], "label": "m", "legend": True},
        {"point_labels": ["first", "second"], "axis_labels": False},
    ],
)
def test_models_are_drawn_where_fairlearn_draws_them(asked):
    rng = np.random.default_rng(0)
    truth, group = rng.integers(0, 2, 60), rng.choice(["a", "b"], 60)
    asked = asked | {"y_preds": {name: rng.integers(0, 2, 60) for name in ("one", "two")}}
    asked |= {"y_true": truth, "sensitive_features": group, "y_axis_metric": sklearn.accuracy_score}
    one, two = (
        drawn(
            library.plot_model_comparison(
                **asked, x_axis_metric=library.demographic_parity_difference
            )
        )
        for library in LIBRARIES.values()
    )
    assert one[2:] == two[2:]
    if asked.get("axis_labels", True):
        assert one == two


@pytest.mark.parametrize(
    "shape",
    [
        list,
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows, index=[7, 8]),
        lambda rows: pd.Series(rows[1], index=range(60, 120)),
        lambda rows: tuple(map(pd.Series, rows)),
    ],
)
def test_models_may_be_rows_of_any_table(shape):
    rng = np.random.default_rng(1)
    truth, group = rng.integers(0, 2, 60), rng.choice(["a", "b"], 60)
    asked = {"y_preds": shape(rng.integers(0, 2, (2, 60))), "y_true": truth[:, None]}

    def both(y_true, y_pred, **more):
        return np.mean(y_true == y_pred) + len(more)

    one, two = (
        drawn(
            library.plot_model_comparison(
                **asked,
                sensitive_features=group,
                x_axis_metric=both,
                y_axis_metric=library.selection_rate,
            )
        )
        for library in LIBRARIES.values()
    )
    assert one == two


@pytest.mark.parametrize("columns", [1, 2])
def test_roc_curves_are_those_of_fairlearn(columns):
    rng = np.random.default_rng(0)
    truth, score = rng.integers(0, 2, 400), rng.random(400)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "race": rng.choice(["x", "y"], 400)})
    people = people.iloc[:, :columns].astype(object)
    people.loc[3, "sex"] = None
    asked = {"sensitive_features": people, "title": "curves"}
    one, two = (
        drawn(library.plot_roc_curve_by_group(truth, score, **asked))
        for library in LIBRARIES.values()
    )
    assert one == two


@pytest.mark.parametrize(
    "wrong",
    [
        {"y_preds": [[0, 1, 1]]},
        {"y_preds": np.zeros((1, 2, 1))},
        {"axis_labels": ["x"]},
        {"point_labels": ["a", "b"]},
        {"y_preds": [0, 1], "point_labels": True},
        {"point_labels_position": (1,)},
        {"legend": "yes"},
        {"x_axis_metric": None},
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong):
    asked = {"y_preds": [[0, 1]], "y_true": [0, 1], "y_axis_metric": sklearn.accuracy_score}
    with pytest.raises(eh.InputError):
        ours.plot_model_comparison(**{**asked, "x_axis_metric": sklearn.accuracy_score, **wrong})


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
def test_a_single_column_without_a_name_has_no_label_to_write(library):
    rates = dict.fromkeys(["x_axis_metric", "y_axis_metric"], sklearn.accuracy_score)
    asked = {"y_preds": np.array([0, 1]), "y_true": np.array([0, 1]), **rates}
    with pytest.raises(IndexError):
        library.plot_model_comparison(**asked, sensitive_features=["a", "b"], point_labels=True)


@pytest.mark.parametrize("name", sorted(set(theirs.__all__) - set(DERIVED)) + DERIVED)
def test_signatures_are_those_of_fairlearn(name):
    def shape(thing):
        parameters = inspect.signature(thing).parameters.values()
        return [(p.name, p.kind, p.default) for p in parameters]

    assert shape(getattr(ours, name)) == shape(getattr(theirs, name))


@pytest.mark.parametrize(
    "name", ["group_min", "group_max", "difference", "ratio", "difference_ci", "ratio_ci"]
)
def test_methods_take_the_arguments_of_fairlearn_by_name_and_by_place(name):
    here, there = (
        inspect.signature(getattr(library.MetricFrame, name)).parameters.values()
        for library in (ours, theirs)
    )
    assert [(p.name, p.kind, p.default) for p in here] == [
        (p.name, p.kind, p.default) for p in there
    ]


ROWS = {
    "y_true": [1, 0, 1, 0, 1, 1],
    "y_pred": [1, 1, 0, 0, 1, 1],
    "sensitive_features": pd.Series(list("aabbcc"), name="sex"),
}


@pytest.mark.slow
@pytest.mark.parametrize("bound", [{"pos_label": 0}, {"pos_label": 1, "zero_division": np.nan}])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
def test_arguments_bound_by_partial_are_read_from_the_same_counts(name, bound, monkeypatch):
    metric = partial(getattr(sklearn, name), **bound)
    assert _recipes.recipe_of(metric) is not None
    assert_frames_agree(lambda library: library.MetricFrame(metrics={"m": metric}, **ROWS))


def test_text_labels_need_no_call_either():
    words = np.array(["no", "yes"])
    rows = ROWS | {key: words[ROWS[key]] for key in ("y_true", "y_pred")}

    def make(library):
        rates = {
            name: partial(getattr(library, name), pos_label="yes")
            for name in BASE
            if "rate" in name
        }
        return library.MetricFrame(metrics=rates | {"acc": sklearn.accuracy_score}, **rows)

    assert_frames_agree(make)
    frame = make(ours)
    assert all(metric.recipe for metric in frame._sample.metrics)
    assert frame.by_group.loc["c", "selection_rate"] == 1


def test_metrics_of_fairlearn_itself_are_recognized():
    frame = ours.MetricFrame(metrics=theirs.selection_rate, **ROWS)
    assert frame._sample.metrics[0].recipe is not None
    assert frame.by_group.tolist() == [1, 0, 1]


def test_a_stranger_of_a_known_name_is_called():
    def accuracy_score(y_true, y_pred):
        return 7.0

    frame = ours.MetricFrame(metrics=accuracy_score, **ROWS)
    assert frame.by_group.tolist() == [7, 7, 7]
    assert frame.by_group.name == "accuracy_score"


def test_no_recognized_metric_is_called(monkeypatch):
    """Or the time would grow with the number of groups."""
    called = []
    monkeypatch.setattr(Metric, "__call__", lambda metric, *_: called.append(metric.name))
    known = {name: metric_of(name, ours) for name in BASE + SKLEARN}
    rows = ROWS | {"y_pred": ROWS["y_true"], "y_true": [1, 0, 1, 0, 1, 0]}
    ours.MetricFrame(metrics=known, **rows)
    assert not called


def test_labels_that_only_single_groups_keep_to_two_are_left_to_the_metric():
    rows = {
        "y_true": [0, 1, -1, 1],
        "y_pred": [1, 1, -1, -1],
        "sensitive_features": list("abab"),
        "control_features": [0, 0, 1, 1],
    }
    assert_frames_agree(
        lambda library: library.MetricFrame(metrics=library.true_positive_rate, **rows)
    )


@pytest.mark.parametrize("shape", [(6, 1), (6, 3)])
def test_predictions_of_several_columns_reach_the_metric_whole(shape):
    chances = np.random.default_rng(0).random(shape)

    def width(y_true, y_pred):
        return float(np.asarray(y_pred).sum() + np.ndim(y_pred))

    rows = ROWS | {"y_pred": chances}
    assert_frames_agree(lambda library: library.MetricFrame(metrics={"width": width}, **rows))


def test_a_perfect_model_is_as_uneven_here_as_in_fairlearn_where_a_group_has_no_positives():
    y, group = [1, 0, 0, 0], ["a", "a", "b", "b"]
    for library in (ours, theirs):
        assert library.equalized_odds_difference(y, y, sensitive_features=group) == 1
    with pytest.warns(eh.UndefinedWarning, match="left out: b at 1"):
        assert np.isnan(eh.evaluate("equal_opportunity", y, y, sensitive_features=group))


SCRIPT = """
from fairlearn.metrics import MetricFrame, count, false_positive_rate, selection_rate
from sklearn.metrics import accuracy_score

frame = MetricFrame(
    metrics={
        "accuracy": accuracy_score,
        "selected": selection_rate,
        "fpr": false_positive_rate,
        "rows": count,
    },
    y_true=truth,
    y_pred=predicted,
    sensitive_features=people[["sex", "race"]],
    control_features=people["site"],
)
print(frame.by_group, frame.overall, frame.difference(), frame.ratio(method="to_overall"))
print(frame.by_group["selected"].unstack("race").to_string())
print(frame.group_min().to_dict(), frame.control_levels, frame.sensitive_levels)
"""


def test_a_script_runs_unchanged_but_for_the_import(capsys):
    rng = np.random.default_rng(5)
    people = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 300),
            "race": rng.choice(["Black", "Other", "White"], 300),
            "site": rng.choice(["north", "south"], 300),
        }
    )
    truth, predicted = rng.integers(0, 2, (2, 300))
    printed = []
    for script in (SCRIPT, SCRIPT.replace("fairlearn.metrics", "evenhand.compat.fairlearn")):
        exec(script, {"people": people, "truth": truth, "predicted": predicted})
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_metric_without_a_name_is_called_metric_with_a_warning():
    with pytest.warns(UserWarning, match="no __name__"):
        frame = ours.MetricFrame(metrics=partial(ours.selection_rate, pos_label=0), **ROWS)
    assert frame.by_group.name == "metric"


def test_an_undefined_precision_is_zero_with_one_warning():
    rows = ROWS | {"y_pred": [0, 0, 0, 0, 1, 1]}
    with pytest.warns(UndefinedMetricWarning, match="precision_score is 0/0 in 2 of 3 cells"):
        frame = ours.MetricFrame(metrics=sklearn.precision_score, **rows)
    assert frame.by_group.tolist() == [0, 0, 1]


def test_no_metrics_give_empty_tables_as_in_fairlearn():
    assert_frames_agree(lambda library: library.MetricFrame(metrics={}, **ROWS))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": None}, "metrics is None"),
        ({"metrics": {"a": 3}}, "'a' is 3, which cannot be called"),
        ({"y_pred": [1]}, "y_true has 6 rows, y_pred has 1 rows"),
        ({"sensitive_features": {}}, "no column among the sensitive features"),
        ({"sensitive_features": [1, 2]}, "has 2 rows, y_true has 6 rows"),
        ({"sensitive_features": ["a", None, "b", "a", "b", "a"]}, "1 missing values"),
        ({"sensitive_features": [[1], [2], [1], [2], [1], [2]]}, "one value a row"),
        ({"sensitive_features": [(1,), (2,), (1,), (2,), (1,), (2,)]}, "one value a row"),
        ({"sensitive_features": np.ones((6, 2, 2))}, "of \\(6, 2, 2\\)"),
        ({"sensitive_features": pd.Series(range(6), name=3)}, "must be text"),
        ({"sensitive_features": pd.DataFrame({3: range(6)})}, "must be text"),
        ({"sensitive_features": {"a": [1], "b": [1, 2]}}, "not columns of equal length"),
        ({"control_features": pd.Series(range(6), name="sex")}, "Two features are called 'sex'"),
        ({"sample_params": [1]}, "must be a dict, not a list"),
        ({"metrics": {"a": len}, "sample_params": {"b": {}}}, r"is for \['b'\]"),
        ({"sample_params": {"sample_weight": [1]}}, "there are 6 rows"),
        ({"n_boot": 3}, "both n_boot and ci_quantiles"),
        ({"ci_quantiles": [0.5]}, "both n_boot and ci_quantiles"),
        ({"n_boot": 0, "ci_quantiles": [0.5]}, "n_boot is 0"),
        ({"n_boot": 3, "ci_quantiles": [1.5]}, "ci_quantiles has 1.5"),
        ({"n_boot": 3, "ci_quantiles": [0.5], "random_state": "a"}, "random_state is 'a'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_fairlearn_refuses_is_refused_with_the_way_out(changed, message):
    arguments = {"metrics": ours.selection_rate} | ROWS | changed
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message) as refused:
        ours.MetricFrame(**arguments)
    with pytest.raises((ValueError, TypeError, AssertionError)) as known:
        theirs.MetricFrame(**arguments)
    if message not in OWN_WORDS:
        assert refused.value.args[0] == known.value.args[0]


# Where fairlearn passes on what NumPy or pandas say of the shapes inside it.
OWN_WORDS = ("no column among the sensitive features", "there are 6 rows")


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.MetricFrame(metrics=f.selection_rate, **ROWS).difference(method="x"),
        lambda f: f.MetricFrame(metrics=f.selection_rate, **ROWS).ratio(errors="x"),
        lambda f: f.MetricFrame(metrics=f.selection_rate, **ROWS).group_max_ci(),
        lambda f: f.MetricFrame(metrics=matrix, **ROWS).group_min(),
        lambda f: f.MetricFrame(
            metrics=matrix, **ROWS, n_boot=3, ci_quantiles=[0.5], random_state=0
        ),
        lambda f: f.equalized_odds_ratio(**ROWS, agg="best"),
        lambda f: f.selection_rate([], []),
        lambda f: f.count([1, 0], [1]),
        lambda f: f.true_positive_rate([0, 1, 2], [0, 1, 2], pos_label=1),
        lambda f: f.true_positive_rate([3, 4], [3, 4]),
        lambda f: f.true_positive_rate([3, 4], [3, 4], pos_label=5),
        lambda f: f.make_derived_metric(metric="x", transform="ratio"),
        lambda f: f.make_derived_metric(metric=f.selection_rate, transform="x"),
        lambda f: f.make_derived_metric(metric=lambda y, p, method: 0, transform="ratio"),
    ],
)
def test_code_that_reads_the_words_of_fairlearns_errors_finds_them(ask):
    with pytest.raises(eh.InputError) as refused:
        ask(ours)
    with pytest.raises(ValueError) as known:  # noqa: PT011  whatever it says
        ask(theirs)
    assert refused.value.args[0] == known.value.args[0]


def test_fairlearns_plot_draws_our_frame():
    from fairlearn.experimental.enable_metric_frame_plotting import plot_metric_frame

    metrics = {"selected": ours.selection_rate, "accuracy": sklearn.accuracy_score}
    frame = ours.MetricFrame(metrics=metrics, **ROWS, n_boot=50, ci_quantiles=[0.01, 0.99])
    drawn = plot_metric_frame(frame, subplots=True).flatten()
    named = [{text.get_text() for text in ax.get_legend().get_texts()} for ax in drawn]
    assert [set(metrics) & names for names in named] == [{"selected"}, {"accuracy"}]
    again = pickle.loads(pickle.dumps(frame))
    assert type(again) is ours.MetricFrame
    assert again.by_group.equals(frame.by_group)


def test_unknown_words_for_methods_and_errors_are_refused():
    frame = ours.MetricFrame(metrics=ours.selection_rate, **ROWS)
    for ask in (frame.difference, frame.ratio):
        with pytest.raises(eh.InputError, match="'between_groups' or 'to_overall'"):
            ask(method="to_best")
    for ask in (frame.difference, frame.ratio, frame.group_min, frame.group_max):
        with pytest.raises(eh.InputError, match=r"\['raise', 'coerce'\]. errors is 'ignore'"):
            ask(errors="ignore")
    with pytest.raises(eh.InputError, match="whose intervals need no draws"):
        frame.group_min_ci()
    with pytest.raises(eh.InputError, match="'worst_case' or 'mean'"):
        ours.equalized_odds_ratio(**ROWS, agg="best")


@pytest.mark.slow
def test_a_frame_hands_its_rows_over_to_the_audit():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["F", "M"], 2000), "site": rng.integers(0, 3, 2000)})
    y_true = rng.integers(0, 2, 2000)
    y_pred = (rng.random(2000) < np.where(people["sex"] == "F", 0.2, 0.6)).astype(int)
    frame = ours.MetricFrame(
        metrics=ours.selection_rate,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=people["sex"],
        control_features=people["site"],
    )
    criteria = ["statistical_parity", "conditional_statistical_parity"]
    report = frame.audit(criteria=criteria, title="Selection")
    assert [finding.verdict for finding in report.findings] == ["differs", "differs"]
    same = eh.audit(
        y_true,
        y_pred,
        sensitive_features=people[["sex"]],
        strata=people[["site"]],
        criteria=criteria,
        title="Selection",
    )
    assert report.to_json() == same.to_json()


@pytest.mark.slow
def test_without_pandas_the_frame_says_what_to_install():
    code = """
import sys
sys.modules["pandas"] = None
from evenhand import MissingExtraError
from evenhand.compat.fairlearn import MetricFrame, count
assert count([1], [1]) == 1
try:
    MetricFrame(metrics=count, y_true=[1], y_pred=[1], sensitive_features=[1])
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "evenhand[data]"' in done.stdout


@pytest.mark.slow
def test_importing_evenhand_does_not_import_compat():
    code = "import evenhand, sys; print([name for name in sys.modules if 'compat.fair' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
