"""Standard errors beside R's `survey` and statsmodels, through `contrasts`."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.metrics import r2_score, roc_auc_score

import evenhand as eh
from lanes import one_in
from later import Later

sm = Later("statsmodels.api")

ROW = np.arange(60)
PSU = ROW // 5
GROUP = (ROW * 7 % 5 < 2).astype(int)
DESIGN = pd.DataFrame(
    {
        "psu": PSU,
        "stratum": PSU // 4,
        "group": GROUP,
        "value": np.round(np.sin(ROW * 1.7) * 2 + 3 * np.cos(PSU * 2.3) + GROUP * 0.5, 3),
        "hit": ((ROW * ROW * 3 + PSU) % 7 < 3).astype(int),
        "weight": 1 + (ROW * 11 % 7) / 2,
        "rater": ROW * 13 % 9,
    }
)

# R 4.2, survey 4.1.1, with d the table above and for v in value, hit:
#   b <- svyby(~v, ~group, design, svymean, covmat=TRUE); SE(svycontrast(b, c(-1, 1)))
# where design is
#   rows             svydesign(ids=~1, weights=~1, data=d), then weights=~weight
#   clusters         svydesign(ids=~psu, weights=~1, data=d), then weights=~weight
#   nested clusters  svydesign(ids=~paste(psu, group), weights=~weight, data=d)
#   strata           as.svrepdesign(svydesign(ids=~psu, strata=~stratum, weights=~weight, data=d),
#                                   type="JKn", mse=TRUE)
#   replicates       as.svrepdesign(svydesign(ids=~psu, weights=~weight, data=d), type="JK1",
#                                   mse=TRUE)
BY_SURVEY = {
    "rows": (0.597137506886, 0.131678830347),
    "weighted rows": (0.606748098883, 0.134848107056),
    "clusters": (0.512566052432, 0.151220251733),
    "weighted clusters": (0.554935434736, 0.120043972403),
    "nested clusters": (0.865546739829, 0.148198501949),
    "strata": (0.571905945249, 0.126577692384),
    "replicates": (0.557856641367, 0.12032495256),
}
LINEAR_STRATA = (0.572131794202, 0.125692635537)  # svydesign with strata, linearized


def left_out():
    """Replicates that leave out one cluster each."""
    weight = DESIGN.weight.to_numpy()
    kept = DESIGN.psu.to_numpy()[:, None] != np.arange(12)
    return eh.survey_weights(
        weight, replicate_weights=weight[:, None] * kept * 12 / 11, method="jackknife"
    )


def designs():
    stratified = eh.survey_weights(DESIGN.weight, strata=DESIGN.stratum, cluster=DESIGN.psu)
    return {
        "rows": {},
        "weighted rows": {"sample_weight": DESIGN.weight},
        "clusters": {"cluster": DESIGN.psu},
        "weighted clusters": {"cluster": DESIGN.psu, "sample_weight": DESIGN.weight},
        "nested clusters": {
            "cluster": 2 * DESIGN.psu + DESIGN.group,
            "sample_weight": DESIGN.weight,
        },
        "strata": {"sample_weight": stratified},
        "replicates": {"sample_weight": left_out()},
    }


def errors(by="difference", criteria=("weak_parity", "statistical_parity"), **columns):
    """Standard errors of group 1 beside group 0, of the mean value and of the rate of hits."""
    known = []
    for criterion, of in zip(criteria, ("value", "hit"), strict=True):
        found = eh.contrasts(
            criterion,
            None,
            DESIGN[of],
            sensitive_features=DESIGN.group,
            to=0,
            by=by,
            favorable=1 if of == "hit" else None,
            **columns,
        )
        known += [each.error for each in found if each.group == 1]
    return known


@pytest.mark.parametrize("design", BY_SURVEY)
def test_standard_errors_are_those_of_survey_in_r(design):
    assert errors(**designs()[design]) == pytest.approx(BY_SURVEY[design], rel=1e-7)


def test_standard_errors_of_ratios_are_those_of_svycontrast():
    """SE(svycontrast(b, quote(`1` / `0`))) with weighted clusters."""
    found = errors("ratio", cluster=DESIGN.psu, sample_weight=DESIGN.weight)
    assert found == pytest.approx((2.70693798131, 0.179807895634), rel=1e-7)


def test_the_stratified_jackknife_is_near_the_linearized_variance():
    stratified = errors(**designs()["strata"])
    assert stratified == pytest.approx(LINEAR_STRATA, rel=0.01)
    clusters = errors(cluster=DESIGN.psu, sample_weight=DESIGN.weight)
    assert np.abs(np.subtract(clusters, LINEAR_STRATA)).min() > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_of_crossed_clusters_are_those_of_statsmodels(weighted):
    """Its correction is c / (c − 1) of every clustering times (n − 1) / (n − 2); ours the first."""
    weight = DESIGN.weight if weighted else np.ones(60)
    clusters = DESIGN[["psu", "rater"]]
    found = errors(cluster=clusters, sample_weight=DESIGN.weight if weighted else None)
    for error, of in zip(found, ("value", "hit"), strict=True):
        model = sm.WLS(DESIGN[of], sm.add_constant(DESIGN.group.astype(float)), weights=weight)
        fitted = model.fit(cov_type="cluster", cov_kwds={"groups": clusters.to_numpy()})
        assert error == pytest.approx(fitted.bse["group"] * np.sqrt(58 / 59), rel=1e-7)


def squared_error(rows):
    return ((rows.value - rows.score) ** 2).mean()


def mean_error(rows):
    return (rows.score - rows.value).mean()


def explained(rows):
    return r2_score(rows.value, rows.score)


def average_odds(rows):
    return (rows.hit[rows.y == 1].mean() + rows.hit[rows.y == 0].mean()) / 2


def hit_rate(rows):
    return rows.hit[rows.y == 1].mean()


def area(rows):
    return roc_auc_score(rows.y, rows.score)


@pytest.mark.parametrize(
    ("by_hand", "clustered"),
    one_in(2, (squared_error, mean_error, explained, hit_rate, average_odds, area), (False, True)),
)
def test_standard_errors_are_those_of_the_jackknife(by_hand, clustered):
    """Leaving out one unit at a time says the same as influences, but for a part of 1 / units."""
    rng = np.random.default_rng(2)
    rows = pd.concat([DESIGN] * 4, ignore_index=True)
    rows["psu"] = np.arange(len(rows)) // 3
    rows["y"] = rng.integers(0, 2, len(rows))
    rows["score"] = np.round(rng.random(len(rows)) + 0.3 * rows.y, 2)
    asked = {
        squared_error: ("performance_parity", rows.value, rows.score, {"g": "mse"}),
        mean_error: ("performance_parity", rows.value, rows.score, {"g": "mean_error"}),
        explained: ("performance_parity", rows.value, rows.score, {"g": "r2"}),
        average_odds: (
            *("performance_parity", rows.y, rows.hit),
            {"g": "average_odds", "favorable": 1},
        ),
        hit_rate: ("equal_opportunity", rows.y, rows.hit, {"favorable": 1}),
        area: ("performance_parity", rows.y, None, {"g": "auroc", "y_score": rows.score}),
    }
    *columns, options = asked[by_hand]
    cluster = rows.psu if clustered else None
    common = {"sensitive_features": rows.group, "to": 0, "cluster": cluster}
    found = next(c for c in eh.contrasts(*columns, **common, **options) if c.group == 1)

    def difference(part):
        return by_hand(part[part.group == 1]) - by_hand(part[part.group == 0])

    unit = (rows.psu if clustered else pd.Series(rows.index)).to_numpy()
    without = [difference(rows[unit != one]) for one in np.unique(unit)]
    assert found.value == pytest.approx(difference(rows))
    assert found.error == pytest.approx(np.sqrt((len(without) - 1) * np.var(without)), rel=0.03)


@pytest.mark.parametrize("more", [{"sample_weight": np.ones(60)}, {"cluster": ROW}])
def test_weights_of_1_and_clusters_of_one_row_have_the_plain_standard_errors(more):
    assert errors(**more) == errors()


def test_one_stratum_of_rows_has_the_standard_errors_of_its_weights():
    one = eh.survey_weights(DESIGN.weight, strata=np.zeros(60))
    assert errors(sample_weight=one) == errors(sample_weight=DESIGN.weight)
    assert errors(sample_weight=eh.survey_weights(np.ones(60), strata=np.zeros(60))) == errors()


def test_answers_to_one_question_that_hardly_differ_are_compared_within_it():
    """70 scenarios × 2 groups × 45 answers: levels that vary a hundred times as much as the gap."""
    rng = np.random.default_rng(4)
    scenario, group = np.repeat(np.arange(70), 90), np.tile([0, 1], 3150)
    own = rng.normal(0, 0.1, (70, 2))[scenario, group] + 0.147 * group
    value = rng.normal(0, 1.5, 70)[scenario] + own + rng.normal(0, 0.4, 6300)
    means = np.bincount(2 * scenario + group, value).reshape(70, 2) / 45
    textbook = ttest_rel(means[:, 1], means[:, 0]).confidence_interval(0.95)
    columns = {"sensitive_features": group, "cluster": scenario}
    found = eh.interval("weak_parity", None, value, measure="mpd", **columns)
    assert (found.low, found.high) == pytest.approx(tuple(textbook), rel=0.03)


def test_a_stratum_with_one_cluster_is_refused():
    with pytest.raises(eh.InputError, match="single cluster"):
        eh.survey_weights(np.ones(4), strata=["a", "a", "a", "b"])


def test_strata_and_replicates_are_two_answers_to_one_question():
    with pytest.raises(eh.InputError, match="leave out strata"):
        eh.survey_weights(
            np.ones(4), replicate_weights=np.ones((4, 2)), method="brr", strata=[*"aabb"]
        )
    with pytest.raises(eh.InputError, match="goes with strata="):
        eh.survey_weights(np.ones(4), cluster=[*"aabb"])


def test_clusters_of_two_strata_may_share_a_name():
    same = eh.survey_weights(DESIGN.weight, strata=DESIGN.stratum, cluster=DESIGN.psu % 4)
    assert errors(sample_weight=same) == errors(**designs()["strata"])
