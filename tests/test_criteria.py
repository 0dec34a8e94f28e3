"""Criteria against their definitions, fairlearn and scikit-learn."""

import numpy as np
import pytest
from fairlearn import metrics as fairlearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

import evenhand as eh
from evenhand._audit.gate import gate_of
from evenhand.criteria import accuracy_parity, equalized_odds, statistical_parity
from evenhand.criteria.criterion import Settings
from evenhand.criteria.terms import TERMS
from evenhand.datasets import load
from evenhand.measures import mpd, resolve
from evenhand.statistics import E, Rows, summarize
from strategies import classified, predictions

COUNTED = [name for name, criterion in eh.CRITERIA.items() if criterion.kind.about == "labels"]


def per_group(function, rows, **options):
    """A function of (truth, prediction, weight) in every group."""
    parts = [(rows.group == name) for name in np.unique(rows.group)]
    return np.array([function(rows.y_true[i], rows.y_pred[i], rows.weight[i]) for i in parts])


def evaluate(criterion, rows, **options):
    options = {"sensitive_features": rows.group, "sample_weight": rows.weight} | options
    return eh.evaluate(criterion, rows.y_true, rows.y_pred, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("groups", [2, 6])
def test_parity_and_odds_by_mpd_are_fairlearns(seed, groups):
    rows = predictions(seed, classes=2, groups=groups)
    options = {"sensitive_features": rows.group, "sample_weight": rows.weight}
    assert evaluate("statistical_parity", rows, measure="mpd") == pytest.approx(
        fairlearn.demographic_parity_difference(rows.y_true, rows.y_pred, **options)
    )
    assert evaluate("equalized_odds", rows, measure="mpd") == pytest.approx(
        fairlearn.equalized_odds_difference(rows.y_true, rows.y_pred, **options)
    )
    assert evaluate("equal_opportunity", rows, measure="mpd") == pytest.approx(
        fairlearn.equal_opportunity_difference(rows.y_true, rows.y_pred, **options)
    )
    assert evaluate("selection_rate_ratio", rows) == pytest.approx(
        fairlearn.demographic_parity_ratio(rows.y_true, rows.y_pred, **options)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("g", "metric"),
    [
        ("tpr", fairlearn.true_positive_rate),
        ("fpr", fairlearn.false_positive_rate),
        ("tnr", fairlearn.true_negative_rate),
        ("fnr", fairlearn.false_negative_rate),
        ("accuracy", sk.accuracy_score),
        ("f1", sk.f1_score),
        ("ppv", sk.precision_score),
    ],
)
def test_rates_by_group_are_those_of_a_metric_frame(g, metric):
    rows = predictions(classes=2)
    frame = fairlearn.MetricFrame(
        metrics=metric,
        y_true=rows.y_true,
        y_pred=rows.y_pred,
        sensitive_features=rows.group,
        sample_params={"sample_weight": rows.weight},
    )
    counts = eh.tally(
        rows.y_true, rows.y_pred, sensitive_features=rows.group, sample_weight=rows.weight
    )
    table = eh.statistics.STATISTICS[g].read(counts)
    np.testing.assert_allclose(table.values[-1], frame.by_group.to_numpy(dtype=float))


@pytest.mark.slow
@pytest.mark.parametrize("measure", [eh.mpd, eh.gini, eh.pq])
@given(rows=classified())
def test_statistical_parity_is_its_definition_for_any_classes_and_groups(measure, rows):
    cells = [
        measure(per_group(lambda y, p, w, c=c: w[p == c].sum() / w.sum(), rows))
        for c in np.unique(np.append(rows.y_true, rows.y_pred))
    ]
    counts = eh.tally(
        rows.y_true, rows.y_pred, sensitive_features=rows.group, sample_weight=rows.weight
    )
    for aggregate, function in {"worst": np.max, "mean": np.mean, "total": np.sum}.items():
        found = eh.CRITERIA["statistical_parity"](counts, measure=measure, aggregate=aggregate)
        assert found == pytest.approx(function(cells), abs=1e-12, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("measure", [eh.mpd, eh.gini, eh.pq])
@given(rows=classified())
def test_equalized_odds_is_its_definition_over_all_pairs(measure, rows):
    classes = np.unique(np.append(rows.y_true, rows.y_pred))

    def rate(c, k):
        def of(y, p, w):
            below = w[y == k].sum()
            return w[(y == k) & (p == c)].sum() / below if below else np.nan

        return of

    cells = [measure(per_group(rate(c, k), rows)) for c in classes for k in classes]
    expected = np.nanmax(cells) if not np.isnan(cells).all() else np.nan
    counts = eh.tally(
        rows.y_true, rows.y_pred, sensitive_features=rows.group, sample_weight=rows.weight
    )
    found = eh.CRITERIA["equalized_odds"](counts, measure=measure)
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_average_odds_is_half_of_tpr_plus_fpr_one_against_the_rest():
    rows = predictions(classes=3)

    def odds(c):
        def of(y, p, w):
            tpr = w[(y == c) & (p == c)].sum() / w[y == c].sum()
            return (tpr + w[(y != c) & (p == c)].sum() / w[y != c].sum()) / 2

        return of

    cells = [mpd(per_group(odds(c), rows)) for c in range(3)]
    assert evaluate("average_odds", rows) == pytest.approx(max(cells))
    assert evaluate("performance_parity", rows) == pytest.approx(max(cells))


def test_average_odds_can_be_blind_where_equalized_odds_is_not():
    """TPR .8 and .6 with FPR .2 and .4 average to .5 in both groups."""
    y = np.tile(np.repeat([1, 0], 5), 2)
    p = np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0])
    group = np.repeat(["a", "b"], 10)
    assert eh.evaluate("average_odds", y, p, sensitive_features=group) == pytest.approx(0, abs=1e-9)
    odds = eh.evaluate("equalized_odds", y, p, sensitive_features=group, measure="mpd")
    assert odds == pytest.approx(0.2)


def test_the_two_classes_of_a_binary_problem_differ_by_gini_and_not_by_mpd():
    p = np.array([1] + [0] * 9 + [1] * 2 + [0] * 8)
    group = np.repeat(["a", "b"], 10)
    reading = eh.CRITERIA["statistical_parity"].read(
        None, p, sensitive_features=group, measure="gini"
    )
    assert reading.cell_values == pytest.approx([0.0294, 0.1667], abs=1e-4)
    assert reading.worst_cell == 1
    by_mpd = eh.CRITERIA["statistical_parity"].read(
        None, p, sensitive_features=group, measure="mpd"
    )
    assert by_mpd.cell_values == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize(
    ("criterion", "of"),
    [
        ("equal_opportunity", lambda tp, fp, fn, tn: tp / (tp + fn)),
        ("predictive_equality", lambda tp, fp, fn, tn: fp / (fp + tn)),
        ("predictive_parity", lambda tp, fp, fn, tn: tp / (tp + fp)),
        ("false_omission_rate_parity", lambda tp, fp, fn, tn: fn / (fn + tn)),
        ("treatment_equality", lambda tp, fp, fn, tn: fn / fp),
        ("accuracy_parity", lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn)),
        ("error_parity", lambda tp, fp, fn, tn: (fp + fn) / (tp + fp + fn + tn)),
    ],
)
def test_criteria_of_the_field_follow_from_the_four_outcomes(criterion, of):
    rows = predictions(classes=2)

    def statistic(y, p, w):
        return of(*(w[(y == a) & (p == b)].sum() for a, b in [(1, 1), (0, 1), (1, 0), (0, 0)]))

    for measure in (eh.mpd, eh.gini, eh.pq):
        expected = measure(per_group(statistic, rows))
        assert evaluate(criterion, rows, measure=measure) == pytest.approx(expected)


def test_conditional_parity_compares_within_strata():
    rows = predictions(classes=2)
    strata = np.where(rows.weight > 0.5, "high", "low")
    within = [
        eh.evaluate(
            "statistical_parity", None, rows.y_pred[here], sensitive_features=rows.group[here]
        )
        for here in (strata == "high", strata == "low")
    ]
    found = eh.evaluate(
        "conditional_statistical_parity",
        None,
        rows.y_pred,
        sensitive_features=rows.group,
        strata=strata,
    )
    assert found == pytest.approx(max(within))


@pytest.mark.parametrize(
    ("g", "metric"),
    [
        ("mse", sk.mean_squared_error),
        ("rmse", sk.root_mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("r2", sk.r2_score),
    ],
)
def test_regression_losses_by_group_are_scikit_learns(g, metric):
    rng = np.random.default_rng(0)
    rows = predictions()._replace(y_true=rng.random(400), y_pred=rng.random(400))
    values = per_group(lambda y, p, w: metric(y, p, sample_weight=w), rows)
    found = evaluate("performance_parity", rows, g=g, measure="pq", transform="exp")
    assert found == pytest.approx(eh.pq(np.exp(values)))
    assert evaluate("performance_parity", rows, g=g) == pytest.approx(mpd(values))


def test_gaussian_log_likelihood_has_the_pooled_variance():
    rng = np.random.default_rng(0)
    y, p, group = rng.random(50), rng.random(50), rng.integers(0, 2, 50)
    variance = np.mean((y - p) ** 2)
    likelihood = -0.5 * np.log(2 * np.pi * variance) - (y - p) ** 2 / (2 * variance)
    expected = abs(likelihood[group == 0].mean() - likelihood[group == 1].mean())
    options = {"g": "gaussian_log_likelihood", "measure": "mpd", "sensitive_features": group}
    assert eh.evaluate("performance_parity", y, p, **options) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_losses_of_probabilities_by_group_are_scikit_learns(classes):
    rows, rng = predictions(classes=classes), np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(classes), 400)
    parts = [rows.group == name for name in np.unique(rows.group)]
    labels = range(classes)
    loss = [
        sk.log_loss(rows.y_true[i], proba[i], sample_weight=rows.weight[i], labels=labels)
        for i in parts
    ]
    options = {"y_score": proba, "measure": "mpd"}
    found = evaluate("performance_parity", rows, g="cross_entropy", **options)
    assert found == pytest.approx(mpd(loss))
    found = evaluate("performance_parity", rows, g="log_likelihood", **options)
    assert found == pytest.approx(mpd(loss))
    areas = [
        [
            sk.roc_auc_score(rows.y_true[i] == c, proba[i, c], sample_weight=rows.weight[i])
            for i in parts
        ]
        for c in labels
    ]
    found = evaluate("performance_parity", rows, g="auroc", **options)
    assert found == pytest.approx(max(mpd(area) for area in areas))


def test_any_loss_function_can_be_g():
    rows = predictions()
    loss = per_group(lambda y, p, w: np.average(abs(y - p) ** 3, weights=w), rows)
    found = evaluate("performance_parity", rows, g=lambda y, p: abs(y - p) ** 3, measure="gini")
    assert found == pytest.approx(eh.gini(loss))


def test_calibration_is_read_in_bins_of_the_score():
    rng = np.random.default_rng(0)
    score, group = rng.random(2000), rng.integers(0, 3, 2000)
    y = (rng.random(2000) < score ** (1 + group / 2)).astype(int)
    bins = np.minimum((score * 10).astype(int), 9)
    rates = np.array([[y[(bins == b) & (group == a)].mean() for a in range(3)] for b in range(10)])
    options = {"y_score": score, "sensitive_features": group}
    found = eh.evaluate("calibration_parity", y, measure="pq", **options)
    assert found == pytest.approx(eh.pq(rates).max())
    size = np.array([[((bins == b) & (group == a)).sum() for a in range(3)] for b in range(10)])
    means = np.array(
        [[score[(bins == b) & (group == a)].mean() for a in range(3)] for b in range(10)]
    )
    error = (size * abs(rates - means)).sum(axis=0) / size.sum(axis=0)
    found = eh.evaluate("calibration_within_groups", y, measure="mpd", **options)
    assert found == pytest.approx(mpd(error))


def test_regression_parity_by_its_three_definitions():
    rng = np.random.default_rng(0)
    p, group = rng.normal(5, 1, 300), rng.integers(0, 3, 300)
    means = [p[group == a].mean() for a in range(3)]
    options = {"sensitive_features": group}
    assert eh.evaluate("weak_parity", None, p, **options) == pytest.approx(mpd(means))
    cuts = np.sort(p)
    levels = np.array([[(p[group == a] <= t).mean() for a in range(3)] for t in cuts])
    strong = eh.evaluate("strong_parity", None, p, measure="pq", **options)
    assert strong == pytest.approx(eh.pq(np.exp(levels)).max())
    raw = eh.evaluate("strong_parity", None, p, measure="pq", transform="raw", **options)
    assert raw == pytest.approx(eh.pq(levels).max())
    area = eh.evaluate("wasserstein_parity", None, p, measure="gini", **options)
    assert area == pytest.approx(eh.gini(levels)[:-1] @ np.diff(cuts))


Y, P, GROUP = [1, 0, 1, 0, 1, 0], [1, 0, 0, 0, 1, 1], [*"aabbcc"]
SUMMARIES = {
    "equalized_odds": eh.tally(Y, P, sensitive_features=GROUP),
    "strong_parity": eh.distribution(P, sensitive_features=GROUP),
    "performance_parity": summarize("ranks", Rows(Y, None, GROUP, y_score=[0.9, 0, 0.5, 1, 1, 0])),
}
COLUMNS = {
    "y_pred": P,
    "sensitive_features": np.array(GROUP),
    "sample_weight": [9.0] * 6,
    "y_score": [0.5] * 6,
    "strata": GROUP,
    "classes": [0, 1],
}


class TestASummaryHoldsItsColumns:
    def ask(self, name, *arguments, **options):
        g = {"g": "auroc"} if name == "performance_parity" else {}
        criterion, summary = eh.CRITERIA[name], SUMMARIES[name]
        answers = [
            criterion(summary, *arguments, **g, **options),
            criterion.read(summary, *arguments, **g, **options).value,
            eh.evaluate(name, summary, *arguments, **g, **options),
        ]
        assert answers == [answers[0]] * 3
        return answers[0]

    def test_gini_is_not_the_largest_difference(self):
        """False positive rates are 0, 0 and 1."""
        assert self.ask("equalized_odds", measure=eh.gini) == pytest.approx(
            eh.gini([0.0, 0.0, 1.0])
        )
        assert self.ask("equalized_odds") == pytest.approx(1.0)
        assert self.ask("equalized_odds", measure="pq") == pytest.approx(eh.pq([0.0, 0.0, 1.0]))

    @pytest.mark.parametrize("column", COLUMNS)
    @pytest.mark.parametrize("name", SUMMARIES)
    def test_a_column_beside_it_is_refused_by_name(self, name, column):
        kind = type(SUMMARIES[name]).__name__
        with pytest.raises(eh.EvenhandError, match=f"A {kind} already holds .*; drop {column},"):
            self.ask(name, **{column: COLUMNS[column]})

    def test_all_columns_beside_it_are_listed(self):
        with pytest.raises(TypeError, match="drop y_pred, sample_weight, sensitive_features"):
            self.ask("equalized_odds", P, sensitive_features=np.array(GROUP), sample_weight=[1] * 6)

    def test_what_stands_in_the_wrong_place_is_named(self):
        counts, options = SUMMARIES["equalized_odds"], {"sensitive_features": GROUP}
        with pytest.raises(TypeError, match="A Tally replaces all columns"):
            equalized_odds(Y, counts, **options)
        with pytest.raises(TypeError, match=r"y_pred is gini, which is not a column.*measure="):
            equalized_odds(Y, eh.gini, **options)
        with pytest.raises(TypeError, match=r"drop y_pred.*passed as measure="):
            equalized_odds(counts, "gini")
        with pytest.raises(TypeError, match="statistical_parity is a criterion, not a measure"):
            equalized_odds(counts, measure=statistical_parity)

    def test_a_batch_is_asked_of_the_criterion_itself(self):
        counts = SUMMARIES["equalized_odds"]
        batch = eh.Tally(counts.axes, counts.cells, {"rows": np.stack([counts.sums["rows"]] * 3)})
        assert equalized_odds(batch, measure=eh.gini).shape == (3,)
        with pytest.raises(ValueError, match=r"a batch of tallies, \(3,\) in all"):
            eh.evaluate("equalized_odds", batch)

    @pytest.mark.slow
    @given(rows=classified(), measure=st.sampled_from([*eh.MEASURES]))
    def test_a_summary_answers_as_its_columns_do(self, rows, measure):
        options = {"sensitive_features": rows.group, "sample_weight": rows.weight}
        counts = eh.tally(rows.y_true, rows.y_pred, **options)
        for criterion in (statistical_parity, equalized_odds, accuracy_parity):
            whole = criterion(rows.y_true, rows.y_pred, measure=measure, **options)
            assert criterion(counts, measure=measure) == pytest.approx(whole, nan_ok=True)


class TestAReading:
    """Rates of two classes are 0.1 and 0.2 of ten rows, so the favorable class is less equal."""

    P = np.array([1] + [0] * 9 + [1] * 2 + [0] * 8)
    GROUP = np.repeat(["a", "b"], 10)

    def read(self, name="statistical_parity", y_true=None, **options):
        return eh.CRITERIA[name].read(y_true, self.P, sensitive_features=self.GROUP, **options)

    def test_the_worst_cell_is_the_one_that_is_least_equal_by_a_ratio_too(self):
        ratio = self.read(measure="ratio")
        assert ratio.cell_values == pytest.approx([0.8 / 0.9, 0.5])
        assert ratio.unevenness == pytest.approx([1 - 0.8 / 0.9, 0.5])
        assert ratio.worst_cell == 1
        shortfall = self.read(measure="shortfall")
        assert shortfall.unevenness == pytest.approx(ratio.unevenness)
        assert float(ratio) == pytest.approx(0.5)

    def test_nothing_is_the_worst_where_every_cell_is_undefined(self):
        alone = eh.tally(None, [1, 0], sensitive_features=["a", "a"])
        assert statistical_parity.read(alone).worst_cell is None

    def test_pairs_without_a_value_are_left_out_by_name(self):
        truth = np.where(self.GROUP == "a", 0, self.P)  # nobody in a qualifies
        odds = self.read("equalized_odds", truth)
        assert odds.left_out == (((1, 0), "a"), ((1, 1), "a"))
        assert str(odds) == (
            "equalized_odds = 0.1 (mpd, worst); undefined and left out: a at 1 × 0, a at 1 × 1"
        )

    def test_a_pair_that_any_of_a_batch_lacks_is_left_out(self):
        counts = eh.tally(None, [1, 0, 1], sensitive_features=["a", "b", "c"])
        rows = np.array([[3, 2, 4], [0, 2, 4], [3, 2, 0]])  # of b, a and c
        batch = eh.Tally(counts.axes, counts.cells, {"rows": rows})
        assert statistical_parity.read(batch).left_out == ((0, "b"), (0, "c"), (1, "b"), (1, "c"))
        assert str(statistical_parity.read(batch)).startswith("statistical_parity = [1. 0. 1.] (")

    def test_a_batch_of_many_is_shortened_to_four_digits_of_its_ends(self):
        counts = eh.tally(None, [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])
        for number, shown in ((6, "[0.1667 0.1667 0.1667 0.1667 0.1667 0.1667]"), (7, " ... ")):
            rows = np.tile([1, 1, 1, 2], (number, 1))
            batch = eh.Tally(counts.axes, counts.cells, {"rows": rows})
            assert shown in str(statistical_parity.read(batch))

    def test_an_integral_over_cut_points_has_no_cells_and_leaves_nothing_out(self):
        area = self.read("wasserstein_parity")
        assert (area.cells, area.left_out, area.table.shape) == ((), (), (0, 2))
        assert str(area) == "wasserstein_parity = 0.1 (mpd, integral)"
        assert self.read("strong_parity").left_out == ()

    def test_its_source_and_settings_are_not_printed(self):
        text = repr(self.read())
        assert text.startswith("Reading(criterion='statistical_parity'")
        assert "source=" not in text
        assert "settings=" not in text

    def test_a_transform_is_named_where_it_was_used(self):
        assert "(gini, exp transform, worst)" in str(self.read(measure="gini", transform="exp"))
        assert "(gini, worst)" in str(self.read(measure="gini", transform="raw"))
        assert "(mpd, worst)" in str(self.read(transform="exp"))  # a difference needs none


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("strong_parity", {"aggregate": "mean"}, "'worst' or 'integral', not 'mean'"),
        ("statistical_parity", {"transform": "log"}, "no transform 'log'; there are"),
        ("statistical_parity", {"tau": 0.1}, "tau is for 'strong_parity'"),
        ("statistical_parity", {"measure": "ratio", "aggregate": "total"}, "cannot be added up"),
        ("wasserstein_parity", {"measure": "ratio"}, "is 'worst' or 'mean', not .integral"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(name, options, message):
    with pytest.raises(eh.InputError, match=message):
        eh.evaluate(name, None, P, sensitive_features=GROUP, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("strong_parity", {"aggregate": "integral"}),
        ("strong_parity", {"tau": 0.1}),
        ("statistical_parity", {"aggregate": "total"}),
        ("statistical_parity", {"measure": "ratio", "aggregate": "mean"}),
        ("statistical_parity", {"measure": "gini", "transform": "raw"}),
    ],
)
def test_settings_that_go_together_are_answered(name, options):
    assert eh.evaluate(name, None, P, sensitive_features=GROUP, **options) >= 0


@pytest.mark.parametrize(
    "options", [{"measure": 3}, {"aggregate": 3}, {"transform": 3}, {"tau": "x"}]
)
def test_settings_of_the_wrong_kind_are_refused_by_name(options):
    (name,) = options
    for criterion in ("strong_parity", "statistical_parity"):
        with pytest.raises(eh.InputTypeError, match=f"{name} must be"):
            eh.CRITERIA[criterion].settings(**options)
        with pytest.raises(eh.InputTypeError, match=f"{name} must be"):
            eh.evaluate(criterion, None, P, sensitive_features=GROUP, **options)


def test_names_of_measures_and_aggregates_stand_for_their_functions():
    assert Settings("gini", "mean").resolve() == (
        eh.MEASURES["gini"],
        eh.measures.AGGREGATES["mean"],
    )
    assert Settings("ratio", "worst").resolve()[0] is eh.MEASURES["shortfall"]
    assert Settings("mpd", "integral").resolve() == (
        eh.MEASURES["mpd"],
        None,
    )  # which is none of cells


def test_an_unknown_statistic_is_named_beside_the_one_that_it_means():
    with pytest.raises(eh.InputError, match=r"no statistic g='acuracy'.*'accuracy'.*There are \["):
        eh.evaluate("performance_parity", Y, P, sensitive_features=GROUP, g="acuracy")


def test_a_statistic_that_needs_an_unknown_summary_is_refused_at_once():
    with pytest.raises(ValueError, match=r"needs 'moment'.*Did you mean 'moments'"):
        eh.Criterion("mine", E("yhat", needs="moment"))


class TestLawsOfEveryCountedCriterionByEveryMeasure:
    @pytest.mark.slow
    @given(rows=classified(classes=3))
    def test_renaming_and_reordering_groups_changes_nothing(self, rows):
        names = {name: 100 - i for i, name in enumerate(np.unique(rows.group))}
        other = rows._replace(group=np.array([names[name] for name in rows.group]))
        assert values(other) == pytest.approx(values(rows), abs=1e-12, nan_ok=True)

    @pytest.mark.slow
    @given(rows=classified(classes=3, groups=1))
    def test_identical_groups_score_zero_and_their_ratio_is_one(self, rows):
        twice = [np.concatenate([column, column]) for column in rows]
        twice[2] = np.repeat(["a", "b"], len(rows.group))
        found = values(type(rows)(*twice))
        equal = {
            asked: value if np.isnan(value) else float("ratio" in asked)
            for asked, value in found.items()
        }
        assert found == pytest.approx(equal, abs=1e-12, nan_ok=True)

    @pytest.mark.slow
    @given(rows=classified(classes=3))
    def test_a_weight_of_two_is_a_row_twice(self, rows):
        times = rows.weight.astype(int)
        repeated = [np.repeat(column, times) for column in rows]
        repeated[3] = np.ones(times.sum())
        found = values(type(rows)(*repeated))
        assert found == pytest.approx(values(rows), abs=1e-12, nan_ok=True)


def values(rows):
    """Every counted criterion by every measure."""
    counts = eh.tally(
        rows.y_true, rows.y_pred, sensitive_features=rows.group, sample_weight=rows.weight
    )
    best = max(rows.y_true.max(), rows.y_pred.max())
    return {
        (name, measure): eh.CRITERIA[name](
            counts, measure=measure, favorable=best if eh.CRITERIA[name].one_class else None
        )
        for name in COUNTED
        for measure in eh.MEASURES
    }


@pytest.mark.slow
@given(rows=classified(), replicates=st.integers(1, 4))
def test_a_batch_of_tallies_is_evaluated_at_once(rows, replicates):
    counts = eh.tally(rows.y_true, rows.y_pred, sensitive_features=rows.group)
    draws = np.random.default_rng(0).poisson(2, (replicates, counts.cells.shape[1]))
    batch = eh.Tally(counts.axes, counts.cells, {"rows": draws})
    found = eh.CRITERIA["equalized_odds"](batch, measure=eh.gini)
    each = [
        eh.CRITERIA["equalized_odds"](
            eh.Tally(counts.axes, counts.cells, {"rows": draw}), measure=eh.gini
        )
        for draw in draws
    ]
    assert found.shape == (replicates,)
    np.testing.assert_allclose(found, each)


@pytest.mark.slow
def test_on_adult_by_sex_and_race_the_values_are_fairlearns():
    people = load("adult").X
    y_true = load("adult").y.to_numpy()
    y_pred = (people["education_num"] > 10).to_numpy().astype(int)
    crossed = people["sex"].astype(str) + people["race"].astype(str)
    ours = eh.tally(y_true, y_pred, sensitive_features=people[["sex", "race"]])
    options = {"sensitive_features": crossed}
    parity = fairlearn.demographic_parity_difference(y_true, y_pred, **options)
    odds = fairlearn.equalized_odds_difference(y_true, y_pred, **options)
    assert eh.evaluate("statistical_parity", ours, measure="mpd") == pytest.approx(parity)
    assert eh.evaluate("equalized_odds", ours, measure="mpd") == pytest.approx(odds)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("demographic_parity", "statistical_parity"),
        ("disparate_impact", "selection_rate_ratio"),
        ("four_fifths", "selection_rate_ratio"),
        ("tpr_parity", "equal_opportunity"),
        ("fpr_parity", "predictive_equality"),
        ("false_positive_rate_parity", "predictive_equality"),
    ],
)
def test_the_fields_other_names_find_the_criterion(alias, name):
    rng = np.random.default_rng(0)
    y, p, group = rng.integers(0, 2, (3, 200))
    options = {"sensitive_features": group}
    assert eh.evaluate(alias, y, p, **options) == eh.evaluate(name, y, p, **options)
    found = eh.audit(y, p, criteria=alias, **options)
    assert [finding.criterion for finding in found.findings] == [name]
    assert found.finding(alias) is found.finding(name)
    measure = found.measured[0].measure
    bound = "< 0.8" if measure == "ratio" else "> 0.2"
    assert str(gate_of(f"{alias}.{measure} {bound}")) == f"{name}.{measure} {bound}"


def test_no_criterion_takes_the_name_of_another():
    others = [other for criterion in eh.CRITERIA.values() for other in criterion.also_called]
    assert len({*others, *eh.CRITERIA}) == len(others) + len(eh.CRITERIA)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("demographic_disparity", "statistical_parity"),
        ("adverse_impact", "selection_rate_ratio"),
        ("disparate_impact_ratio", "selection_rate_ratio"),
        ("80_percent_rule", "selection_rate_ratio"),
        ("equal_fpr", "predictive_equality"),
        ("false positive rate difference", "predictive_equality"),
        ("disparate_mistreatment", "equalized_odds"),
        ("average_abs_odds_difference", "average_odds"),
        ("equal_accuracy", "accuracy_parity"),
        ("Precision-Equality", "predictive_parity"),
        ("equal_opportunty", "equal_opportunity"),  # by its letters
        ("statistical_party", "statistical_parity"),
    ],
)
def test_an_unknown_criterion_is_taken_for_the_one_that_it_means(name, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        eh.evaluate(name, [0, 1], [0, 1], sensitive_features=["a", "b"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [("max_difference", "mpd"), ("theil", "gini"), ("min_max_ratio", "ratio"), ("ginny", "gini")],
)
def test_an_unknown_measure_is_taken_for_the_one_that_it_means(name, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        eh.evaluate("accuracy_parity", [0, 1], [0, 1], sensitive_features=["a", "b"], measure=name)


def test_terms_are_of_criteria_that_there_are():
    assert set(TERMS) == set(eh.CRITERIA)


class TestACriterionInWords:
    FORMULAS = {  # noqa: RUF012
        "statistical_parity": "worst over c of S over a of P(ŷ = c | a)",
        "equalized_odds": "worst over k, c of S over a of P(ŷ = c | y = k, a)",
        "wasserstein_parity": "∫ dt S over a of P(ŷ ≤ t | a)",
        "weak_parity": "S over a of E(ŷ | a)",
        "calibration_parity": "worst over score bin of S over a of E(y = c | score bin, a)",
    }

    @pytest.mark.parametrize("name", FORMULAS)
    def test_its_formula_says_what_is_compared_over_which_cells(self, name):
        criterion = eh.CRITERIA[name]
        assert criterion.formula == self.FORMULAS[name]
        assert repr(criterion) == f"<Criterion {name}: {criterion.formula}>"

    def test_its_range_is_that_of_its_statistic_by_every_measure(self):
        relative = "1 − 1/d by Gini, 1 − 1/√d by PQ(1, 2), 1 by shortfall"
        assert eh.CRITERIA["equal_opportunity"].range == f"0 to 1 by MPD, {relative}"
        assert eh.CRITERIA["treatment_equality"].range == f"0 to ∞ by MPD, {relative}"
        assert eh.CRITERIA["selection_rate_ratio"].range == (
            f"1 (equal) to 0 by ratio; 0 to 1 by MPD, {relative}"
        )
        shifted = eh.Criterion("x", E("yhat", bounds=(2.0, 5.0)))
        assert shifted.range == f"0 to 3 by MPD, {relative}"
        assert eh.CRITERIA["wasserstein_parity"].range.endswith("shortfall, times the range of ŷ")

    @pytest.mark.parametrize("name", eh.CRITERIA)
    def test_help_tells_the_question_the_direction_and_other_names(self, name):
        criterion = eh.CRITERIA[name]
        text = criterion.__doc__
        assert text.startswith(criterion.asks)
        assert f"runs over the groups. {criterion.direction}." in text
        assert all(other in text for other in criterion.also_called)
        assert ("Also called" in text) == bool(criterion.also_called)
        equal = "1" if resolve(criterion.measure).falls else "0"
        assert criterion.direction.startswith(f"{equal}: the groups are equal")

    def test_without_a_question_help_begins_with_its_name(self):
        assert eh.Criterion("even_means", E("yhat")).__doc__.startswith("even_means\n")


@pytest.mark.parametrize("name", COUNTED)
def test_a_question_about_one_class_is_asked_of_the_favorable_one(name):
    rows = predictions(classes=2)
    reading = eh.CRITERIA[name].read(rows.y_true, rows.y_pred, sensitive_features=rows.group)
    by_class = eh.CRITERIA[name].statistic.over == "c"
    one = {"selection_rate_ratio", "equal_opportunity", "predictive_equality", "predictive_parity"}
    one |= {"false_omission_rate_parity", "treatment_equality"}
    assert (by_class and reading.cells == (1,)) == (name in one)


@pytest.mark.parametrize("door", [eh.evaluate, eh.interval, eh.chance])
def test_a_warning_points_to_the_line_that_asked(door):
    with pytest.warns(eh.UndefinedWarning) as caught:
        door("statistical_parity", None, [1, 0], sensitive_features=["a", "a"])
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("thing", [3, None, ["statistical_parity"], {}])
def test_what_is_no_criterion_is_refused(thing):
    with pytest.raises(eh.InputTypeError, match="criterion"):
        eh.evaluate(thing, None, [1, 0], sensitive_features=["a", "b"])


def test_a_misspelt_argument_of_evaluate_is_named():
    with pytest.raises(TypeError, match="sensitive_features"):
        eh.evaluate("statistical_parity", None, [1, 0], sensitive_feature=["a", "b"])


def test_a_misspelt_option_of_reading_is_named():
    with pytest.raises(eh.InputTypeError, match="sensitive_features"):
        eh.CRITERIA["statistical_parity"].read(
            None, [0, 1], sensitive_features=[*"ab"], sensitive_feature=[*"ab"]
        )
