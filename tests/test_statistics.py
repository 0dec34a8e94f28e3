"""Statistics by group beside SciPy and scikit-learn; their bounds, batches and formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import log_loss, r2_score, roc_auc_score

import evenhand as eh
from evenhand._data.summaries import SCORE_BINS
from evenhand.statistics import KINDS, STATISTICS, F, Kind, Rows, summarize

STATED = {name: criterion.statistic for name, criterion in eh.CRITERIA.items()} | STATISTICS
READ = [name for name, statistic in STATED.items() if not isinstance(statistic, F)]
RANKED = [name for name in READ if STATED[name].needs == "lists"]  # bounds: test_rankings
COUNTED = [name for name in READ if KINDS[STATED[name].needs].summary is eh.Tally]
RNG = np.random.default_rng(7)
G = np.repeat([*"abc"], [30, 50, 20])
Y, P = RNG.integers(0, 2, (2, 100))
SCORE, WEIGHT = RNG.random(100).round(3), RNG.integers(1, 4, 100).astype(float)
X, XHAT = RNG.normal(2, 1, (2, 100))


def rows(name, y, p, score, **more):
    """Columns of labels or numbers, or lists of ten rows, as the statistic needs them."""
    if KINDS[STATED[name].needs].about == "lists":
        place = np.arange(len(y), dtype=float) if score is None else score
        query = np.arange(len(y)) // 10
        more = {"sample_weight": more.get("sample_weight"), "query": query, "top_k": 1}
        return Rows(abs(y), None, G[: len(y)], y_score=place, **more)
    return Rows(y, p, G[: len(y)], y_score=score, strata=np.zeros(len(y)), classes=[0, 1], **more)


def table(name, *columns, **more):
    statistic = STATED[name]
    return statistic.read(summarize(statistic.needs, rows(name, *columns, **more)))


@pytest.mark.parametrize("name", [name for name in READ if name not in RANKED])
def test_finite_bounds_are_attained(name):
    y = np.arange(100) % 2
    decided = {"right": y, "wrong": 1 - y, "everyone": 0 * y + 1, "nobody": 0 * y}
    decided["one group"] = (G == "a").astype(int)
    tables = [table(name, y, p, p.astype(float), score_of=1).values for p in decided.values()]
    values = np.concatenate([values.ravel() for values in tables])
    low, high = STATED[name].bounds
    if np.isinf([low, high]).all():
        return
    assert np.isinf(low) or np.nanmin(values) == low
    assert np.isinf(high) or np.nanmax(values) == high


@pytest.mark.parametrize("name", COUNTED)
def test_a_batch_of_tallies_is_read_as_each_of_them(name):
    numeric = KINDS[STATED[name].needs].about == "numbers"
    columns = (X, XHAT, SCORE) if numeric else (Y, P, SCORE)
    source = summarize(STATED[name].needs, rows(name, *columns, sample_weight=WEIGHT))
    factors = RNG.integers(1, 9, (5, source.cells.shape[1])).astype(float)
    both = {of: np.stack([values * by for by in factors]) for of, values in source.sums.items()}
    batch = STATED[name].read(replace(source, sums=both))
    assert batch.values.shape[0] == 5
    for at in range(5):
        alone = replace(source, sums={of: values[at] for of, values in both.items()})
        np.testing.assert_allclose(batch.values[at], STATED[name].read(alone).values)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("r2", lambda y, p, w, _: r2_score(y, p, sample_weight=w)),
        ("rmse", lambda y, p, w, _: np.sqrt(np.average((y - p) ** 2, weights=w))),
        (
            "gaussian_log_likelihood",
            lambda y, p, w, mse: np.average(norm.logpdf(y, p, np.sqrt(mse)), weights=w),
        ),
    ],
)
def test_statistics_of_regression_are_scipys_and_scikit_learns(name, function):
    mse = np.average((X - XHAT) ** 2, weights=WEIGHT)
    parts = [group == G for group in "abc"]
    expected = [function(X[part], XHAT[part], WEIGHT[part], mse) for part in parts]
    found = table(name, X, XHAT, None, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.values, [expected])
    assert found.cells == ("all",)


def test_without_any_error_no_variance_makes_it_likely():
    assert np.isnan(table("gaussian_log_likelihood", X, X, None).values).all()


def test_a_group_that_weighs_nothing_leaves_the_pooled_variance_as_it_is():
    weight = np.where(G == "c", 0.0, WEIGHT)
    found = table("gaussian_log_likelihood", X, XHAT, None, sample_weight=weight).values[0]
    there = G != "c"
    mse = np.average((X - XHAT)[there] ** 2, weights=weight[there])
    parts = [group == G for group in "ab"]
    expected = [
        np.average(norm.logpdf(X[part], XHAT[part], np.sqrt(mse)), weights=weight[part])
        for part in parts
    ]
    np.testing.assert_allclose(found, [*expected, np.nan])


def test_errors_however_small_have_a_likelihood():
    errors = 1e-3 * RNG.standard_normal(100)
    found = table("gaussian_log_likelihood", X, X + errors, None).values[0]
    density = norm.logpdf(errors, scale=np.sqrt(np.mean(errors**2)))
    np.testing.assert_allclose(found, [density[group == G].mean() for group in "abc"])


def test_cross_entropy_and_likelihood_are_scikit_learns_log_loss():
    expected = [log_loss(Y[g == G], SCORE[g == G], labels=[0, 1]) for g in "abc"]
    np.testing.assert_allclose(table("cross_entropy", Y, P, SCORE).values, [expected])
    np.testing.assert_allclose(table("log_likelihood", Y, P, SCORE).values, [-np.array(expected)])


def test_areas_are_of_every_class_but_of_the_second_of_two():
    assert table("auroc", Y, P, SCORE).cells == (1,)
    y = np.arange(100) % 3
    scores = RNG.dirichlet(np.ones(3), 100)
    source = summarize("ranks", Rows(y, None, G, y_score=scores))
    found = STATISTICS["auroc"].read(source)
    assert found.cells == (0, 1, 2)
    for k, by_group in enumerate(found.values):
        expected = [roc_auc_score(y[g == G] == k, scores[g == G, k]) for g in "abc"]
        np.testing.assert_allclose(by_group, expected)


class TestAScore:
    def test_in_one_column_is_that_of_the_second_label_or_the_favorable_one(self):
        y = np.where(Y == 1, "yes", "no")
        second, favorable = (
            STATISTICS["auroc"].read(
                summarize("ranks", Rows(y, None, G, y_score=SCORE, favorable=label, score_of="yes"))
            )
            for label in (None, "no")
        )
        expected = [roc_auc_score(Y[g == G], SCORE[g == G]) for g in "abc"]
        np.testing.assert_allclose(second.values, [expected])
        np.testing.assert_allclose(favorable.values, [expected])
        assert (second.cells, favorable.cells) == (("yes",), ("no",))

    @pytest.mark.parametrize("label", [0, 1])
    def test_of_rows_that_all_have_one_label_of_0_and_1_is_that_of_1(self, label):
        y = np.full(100, label)
        found = summarize("losses", Rows(y, None, G, y_score=SCORE))
        loss = -np.log(SCORE if label else 1 - SCORE)
        expected = [loss[g == G].sum() for g in "abc"]
        np.testing.assert_allclose(found.table("group", of="cross_entropy"), expected)

    def test_in_one_column_is_that_of_the_larger_of_two_numbers(self):
        source = summarize("ranks", Rows(2 * Y, None, G, y_score=SCORE))
        assert source.classes == (2,)
        expected = [roc_auc_score(Y[g == G], SCORE[g == G]) for g in "abc"]
        np.testing.assert_allclose(STATISTICS["auroc"].read(source).values, [expected])

    @pytest.mark.parametrize("labels", [[2], ["yes"], [0, 1, 2]])
    def test_in_one_column_needs_two_labels(self, labels):
        with pytest.raises(eh.InputError, match="y_score has one column, but y_true takes"):
            summarize("ranks", Rows(np.resize(labels, 100), None, G, y_score=SCORE))

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_must_be_finite_in_every_column(self, wrong):
        scores = np.column_stack([1 - SCORE, SCORE])
        scores[3, 0] = wrong
        with pytest.raises(eh.InputError, match="not finite"):
            summarize("ranks", Rows(Y, None, G, y_score=scores))

    @pytest.mark.parametrize("extreme", [-0.01, 1.01])
    def test_that_is_no_probability_is_refused_where_one_is_needed(self, extreme):
        scores = np.column_stack([SCORE, SCORE])
        scores[5, 1] = extreme
        for kind in ("losses", "bins"):
            with pytest.raises(eh.InputError, match="Probabilities lie in"):
                summarize(kind, Rows(Y, None, G, y_score=scores))

    def test_of_exactly_0_or_1_is_a_probability(self):
        score = Y.astype(float)
        assert summarize("losses", Rows(Y, None, G, y_score=score)).sums["rows"].sum() == 100
        bins = summarize("bins", Rows(Y, None, G, y_score=score))
        assert bins.table("bin", of="hits").tolist() == [0.0] * 9 + [Y.sum()]

    def test_is_binned_by_tenths_each_with_its_lower_end(self):
        assert SCORE_BINS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
        bins = summarize("bins", Rows([0, 1, 1], None, [*"aaa"], y_score=[0.1, 0.19, 0.2]))
        assert bins.table("bin", of="rows").tolist() == [0, 2, 1] + [0] * 7


def test_only_strata_and_bins_usually_lack_some_groups():
    assert {name for name, kind in KINDS.items() if kind.is_sparse} == {"strata", "bins"}


def test_a_kind_says_how_it_is_made_or_is_none():
    with pytest.raises(NotImplementedError):
        Kind().summarize(Rows(Y, P, G))


def test_a_distribution_is_swept_and_not_read():
    with pytest.raises(eh.InputTypeError, match="swept, not read"):
        F("yhat").read(summarize("steps", Rows(None, X, G)))


def test_the_sums_that_a_statistic_reads_are_those_of_its_formula():
    assert STATISTICS["r2"].sums == {"squared_error", "y", "y²"}
    assert STATISTICS["mae"].sums == {"absolute_error"}
    assert STATISTICS["tpr"].sums == set()


FORMULAS = {
    "selection_rate": "P(ŷ = c | a)",
    "tpr": "tp / (tp + fn)",
    "f1": "2 tp / (2 tp + fp + fn)",
    "error_ratio": "fn / fp",
    "average_odds": "½ [tp / (tp + fn) + fp / (fp + tn)]",
    "cross_entropy": "E(cross_entropy | a)",
    "mean_prediction": "E(ŷ | a)",
    "equalized_odds": "P(ŷ = c | y = k, a)",
    "conditional_statistical_parity": "P(ŷ = c | s = k, a)",
    "calibration_parity": "E(y = c | score bin, a)",
    "strong_parity": "P(ŷ ≤ t | a)",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_written_in_the_papers_notation(name):
    assert (STATISTICS | STATED)[name].formula == FORMULAS[name]
