"""Evidence counted in an engine is that of the rows; in bins, it is off by no more than it says."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import log_loss, roc_auc_score

import evenhand as eh
from evenhand import CRITERIA, InputError, groups
from evenhand._data import tables
from evenhand._data.binned import Spread
from evenhand._data.summaries import SCORE_BINS
from lanes import one_in

ROWS = 4000


@pytest.fixture
def in_bins(monkeypatch):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", 0)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1])
    value = rng.lognormal(0.4 * (group == "b"))
    label = (rng.random(ROWS) < 0.3 + 0.1 * (group == "a")).astype(int)
    score = rng.beta(1 + label, 3)
    return pd.DataFrame(
        {
            "sex": group,
            "race": rng.choice(["x", "y"], ROWS),
            "value": value,
            "guess": value / 2 + rng.normal(size=ROWS),
            "label": label,
            "score": score,
            "decision": (score > 0.4).astype(int),
            "region": rng.integers(0, 3, ROWS),
            "weight": rng.random(ROWS),
        }
    )


LABELS = {"y_true": "label", "y_pred": "decision", "sensitive_features": ["sex", "race"]}
VALUES = {"y_true": "value", "y_pred": "guess", "sensitive_features": "sex"}
SCORES = {**LABELS, "sensitive_features": "sex", "y_score": "score"}


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_labels_are_counted_as_pandas_counts_them(local_engine, people, weight):
    found = eh.Data(
        data=local_engine(people), **LABELS, strata="region", sample_weight=weight
    ).counted
    weights = people[weight] if weight else pd.Series(1.0, people.index)
    table = found.sources["labels"].table("y", "yhat", "group")
    for (y, yhat, sex, race), part in people.groupby(["label", "decision", "sex", "race"]):
        at = found.groups.index((sex, race))
        assert table[y, yhat, at] == pytest.approx(weights[part.index].sum())
    strata = found.sources["strata"].table("yhat", "stratum", "group", of="rows")
    assert strata.sum(axis=(0, 2)).tolist() == people.region.value_counts().sort_index().tolist()
    assert (found.task, found.favorable) == ("binary", 1)
    assert found.columns == ("sex", "race")


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_moments_in_bins_are_those_of_the_rows(local_engine, people, in_bins, weight):
    found = eh.Data(data=local_engine(people), **VALUES, sample_weight=weight).counted
    sums = found.sources["moments"]
    error = people.value - people.guess
    weights = people[weight] if weight else 1.0
    for name, column in {
        "yhat": people.guess,
        "yhat²": people.guess**2,
        "y": people.value,
        "y²": people.value**2,
        "squared_error": error**2,
        "squared_error²": error**4,
        "absolute_error": error.abs(),
        "absolute_error²": error**2,
    }.items():
        expected = (column * weights).groupby(people.sex).sum()
        np.testing.assert_allclose(sums.table("group", of=name), expected)


def stated(notes, words):
    return float(re.search(rf"off by at most (\d[\d.e-]*\d) ?{words}", " ".join(notes))[1])


@pytest.mark.slow
def test_the_largest_gap_of_distributions_is_off_by_no_more_than_stated(
    local_engine, people, in_bins
):
    found = eh.Data(data=local_engine(people), **VALUES).counted
    value = CRITERIA["strong_parity"](found.sources["steps"], measure="mpd")
    parts = [people.guess[people.sex == one] for one in "abc"]
    pairs = [(parts[i], parts[j]) for i in range(3) for j in range(i)]
    exact = max(ks_2samp(one, two).statistic for one, two in pairs)
    bound = stated(found.notes, r"\(Kolmogorov")
    assert 0 < bound < 0.02
    assert exact - bound <= value <= exact + 1e-12


def test_coarse_bins_say_so(people, in_bins, monkeypatch):
    from evenhand._data import binned

    monkeypatch.setattr(binned, "MOST_BINS", 16)
    monkeypatch.setattr(binned, "LEAST_BINS", 16)
    found = eh.Data(data=people, **VALUES).counted
    exact = eh.Data(data=people, **VALUES).counted.sources["steps"]
    assert len(np.unique(exact.values)) <= 17
    bound = stated(found.notes, r"\(Kolmogorov")
    at = np.unique(found.sources["steps"].values)
    for sex in "abc":
        ours = people.guess[people.sex == sex].to_numpy()
        inside = np.sort(ours)
        below = at[np.maximum(np.searchsorted(at, inside, side="right") - 1, 0)]
        exact_level = np.searchsorted(inside, inside, side="right") / len(ours)
        known_level = np.searchsorted(inside, below, side="right") / len(ours)
        known_level[inside < at[0]] = 0
        assert (exact_level - known_level).max() <= bound * 1.01
        levels = np.searchsorted(inside, at, side="right") / len(ours)
        code = found.groups.index(sex)
        binned = found.sources["steps"]
        mine = binned.codes == code
        counted = [binned.weights[mine & (binned.values <= t)].sum() / len(ours) for t in at]
        np.testing.assert_allclose(counted, levels)


def test_few_distinct_values_are_exact(people, in_bins):
    rounded = people.assign(guess=people.guess.round(1))
    found = eh.Data(data=rounded, **VALUES).counted
    assert found.notes == (
        f"All {rounded.guess.nunique()} distinct values of 'guess' were counted.",
    )
    parts = [rounded.guess[rounded.sex == one] for one in "abc"]
    exact = max(ks_2samp(parts[i], parts[j]).statistic for i in range(3) for j in range(i))
    value = CRITERIA["strong_parity"](found.sources["steps"], measure="mpd")
    assert value == pytest.approx(exact, abs=1e-12)


@pytest.mark.slow
def test_areas_and_losses_in_bins_are_those_of_scikit_learn(local_engine, people, in_bins):
    found = eh.Data(data=local_engine(people), **SCORES).counted
    ask = CRITERIA["performance_parity"]
    areas = ask.with_statistic("auroc").table(found.sources["ranks"]).values[0]
    losses = ask.with_statistic("cross_entropy").table(found.sources["losses"]).values[0]
    bound = stated([note for note in found.notes if "ROC" in note], "")
    for sex, area, loss in zip(found.groups, areas, losses, strict=True):
        part = people[people.sex == sex]
        assert area == pytest.approx(roc_auc_score(part.label, part.score), abs=bound)
        assert loss == pytest.approx(log_loss(part.label, part.score))


@pytest.mark.slow
def test_calibration_and_thresholds_in_bins_are_those_of_the_rows(local_engine, people, in_bins):
    found = eh.Data(data=local_engine(people), **SCORES).counted
    tenth = np.minimum((people.score * 10).astype(int), 9)
    hits = people.groupby([tenth, "sex"]).label.sum().unstack(fill_value=0)
    np.testing.assert_allclose(found.sources["bins"].table("bin", "group", of="hits"), hits)
    edges = found.thresholds.labels("bin")[1:-1]
    counts = found.thresholds.table("bin", "y", "group", of="rows")
    assert len(edges) > 100
    for at in (0, 50, len(edges) - 1):
        chosen = people[people.score >= edges[at]]
        expected = chosen.groupby(["label", "sex"]).size().unstack(fill_value=0)
        expected = expected.reindex(index=[0, 1], columns=list("abc"), fill_value=0)
        np.testing.assert_array_equal(counts[at + 1 :].sum(axis=0), expected)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.45])
def test_scores_beside_the_edges_of_calibration_bins_are_on_their_side(
    local_engine, in_bins, spread
):
    edges = np.arange(1, 10).astype(float) / 10
    beside = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)])
    score = np.concatenate([beside, 0.5 + spread * np.tile([-1, 1], 5000)])
    rows = pd.DataFrame({"score": score, "sex": np.resize(["a", "b"], len(score))})
    rows["label"] = rows["decision"] = np.resize([0, 1, 1], len(score))
    found = eh.Data(data=local_engine(rows), **SCORES).counted
    counted = found.sources["bins"].table("bin")
    exact = np.bincount(np.searchsorted(edges, score, side="right"), minlength=10)
    np.testing.assert_array_equal(counted, exact)


def test_bins_of_one_width_begin_at_every_tenth():
    for most in (*range(250, 1000, 7), 8192, 16384):
        number = Spread(0.0, 1.0, 0.5, 0.3).even_bins(most)
        assert most / 2 < number <= most
        for edge in SCORE_BINS[1:-1]:
            assert np.floor(edge * number) > np.floor(np.nextafter(edge, 0) * number)
    assert Spread(0.0, 1.0, 0.001, 0.01).even_bins(8192) is None
    assert Spread(-1.0, 1.0, 0.0, 0.5).even_bins(8192) is None


@pytest.mark.slow
@pytest.mark.parametrize("wrong", one_in(2, [None, np.nan, np.inf, -np.inf]))
def test_a_quick_look_misses_no_score_that_is_not_finite(engine, people, in_bins, wrong):
    damaged = people.assign(score=people.score.where(people.index != 7, wrong))
    with pytest.raises(InputError, match="'score' has 1 value that is missing or not finite"):
        eh.Data(data=engine(damaged), **SCORES).counted


def test_scores_that_are_nearly_alike_are_looked_at_with_care(engine, people, in_bins):
    moved = people.assign(score=1e9 + people.score)
    found = eh.Data(data=engine(moved), **SCORES).counted.sources["steps"]
    assert len(np.unique(found.values)) > 1000


@pytest.mark.slow
def test_a_score_alone_decides_at_a_half(local_engine, people, in_bins):
    found = eh.Data(data=local_engine(people), **{**SCORES, "y_pred": None}).counted
    chosen = (people.score >= 0.5).groupby(people.sex).sum()
    rows = found.sources["predictions"].table("yhat", "group", of="rows")
    assert rows[1].tolist() == chosen.tolist()
    assert found.decided_at == 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "weight", "limit"),
    one_in(
        2,
        [SCORES, {**SCORES, "y_pred": None}],
        [None, "weight"],
        ["ROWS_AT_ONCE", "MOST_CELLS"],
    ),
)
def test_labels_and_scores_are_counted_together_as_they_are_one_after_the_other(
    local_engine, people, in_bins, monkeypatch, limit, weight, names
):
    calls = []
    counted = tables.count_scores
    monkeypatch.setattr(
        tables, "count_scores", lambda *a, **k: calls.append("keys" in k) or counted(*a, **k)
    )
    together = eh.Data(data=local_engine(people), **names, sample_weight=weight).counted
    assert calls == [True]
    monkeypatch.setattr(tables, limit, 100)
    apart = eh.Data(data=local_engine(people), **names, sample_weight=weight).counted
    assert calls[1:] == ([False] if limit == "ROWS_AT_ONCE" else [True, False])
    assert together.notes == apart.notes
    assert (together.classes, together.favorable) == (apart.classes, apart.favorable)
    assert together.decided_at == apart.decided_at
    for name in ("labels", "predictions", "losses", "bins"):
        ours, theirs = together.sources[name], apart.sources[name]
        assert ours.axes == theirs.axes
        assert ours.sums.keys() == theirs.sums.keys()
        for part in ours.sums:
            np.testing.assert_allclose(ours.sums[part], theirs.sums[part], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"label": lambda frame: frame.label.map({0: "no", 1: "yes"})},
        {"label": lambda frame: frame.label * 2},
        {"label": lambda frame: frame.label.astype(float)},
        {"sex": lambda frame: frame.index % 300},
    ],
    ids=["text", "far apart", "floats", "many groups"],
)
def test_where_labels_or_groups_are_not_known_beforehand_they_are_counted_first(
    people, in_bins, change
):
    changed = people.assign(**change)
    if "label" in change:
        changed = changed.assign(decision=changed.label)
    found = eh.Data(data=changed, **SCORES, favorable=changed.label.max()).counted
    rows = changed.groupby("sex").size()
    assert found.sources["labels"].table("group", of="rows").tolist() == rows.tolist()
    assert found.rows.sum() == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("bring", [0, 10**6])
@pytest.mark.parametrize("rare", ["merge", "drop"])
def test_rare_groups_are_settled_in_every_summary(people, monkeypatch, bring, rare):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", bring)
    least = int((people.sex == "c").sum()) + 1
    for names in (SCORES, VALUES, {**LABELS, "sensitive_features": "sex"}):
        found = eh.Data(data=people, **names, min_count=least, rare=rare).counted
        assert len(found.groups) == (3 if rare == "merge" else 2)
        kept = ROWS if rare == "merge" else int((people.sex != "c").sum())
        assert found.rows.sum() == kept
        assert any("1 of 3 groups has fewer than" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "task"),
    [
        ({"label": "value"}, "regression"),
        ({"label": "region"}, "multiclass"),
        ({"label": "label"}, "binary"),
    ],
)
def test_the_task_is_seen_in_the_columns(local_engine, people, change, task):
    names = {"y_true": change["label"], "y_pred": "predicted", "sensitive_features": "sex"}
    people = people.assign(predicted=people[change["label"]])
    assert eh.Data(data=local_engine(people), **names).counted.task == task


@pytest.mark.slow
def test_very_many_whole_numbers_can_be_either_so_the_caller_is_asked(local_engine, people):
    income = np.arange(ROWS) * 1000
    many = people.assign(income=income, predicted=income)
    names = {"y_true": "income", "y_pred": "predicted", "sensitive_features": "sex"}
    with pytest.raises(ValueError, match=r"'income' takes 4000 different whole numbers.*task="):
        eh.Data(data=local_engine(many), **names).counted
    assert eh.Data(data=local_engine(many), **names, task="regression").counted.task == "regression"
    few = people.assign(income=people.region * 1000, predicted=people.region * 1000)
    assert eh.Data(data=local_engine(few), **names).counted.task == "multiclass"


def test_a_favorable_label_may_be_given_as_it_is_written(people):
    names = {**SCORES, "favorable": "0", "score_of": "1"}
    found = eh.Data(data=people, **names).counted
    assert (found.favorable, found.score_of) == (0, 1)


def test_missing_values_in_the_stratum_are_refused(people):
    holes = people.assign(region=people.region.where(people.index > 3))
    with pytest.raises(ValueError, match="4 of 4000 rows have no value of 'region'"):
        eh.Data(data=holes, **LABELS, strata="region").counted


@pytest.mark.slow
@pytest.mark.parametrize("bring", [0, 10**6])
@pytest.mark.parametrize(
    ("decision", "at"), [(0.5, 0.5), (0.4, "least"), (None, None)], ids=["half", "other", "none"]
)
def test_the_threshold_behind_the_decisions_is_found(people, monkeypatch, bring, decision, at):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", bring)
    chosen = people.score > decision if decision else people.label == 1
    found = eh.Data(data=people.assign(decision=chosen.astype(int)), **SCORES).counted
    assert found.decided_at == (people.score[chosen].min() if at == "least" else at)


def test_scores_in_place_of_predictions_are_pointed_out(local_engine, people):
    names = {"y_true": "label", "y_pred": "score", "sensitive_features": "sex"}
    with pytest.raises(ValueError, match="'label' holds labels, and 'score' numbers such as"):
        eh.Data(data=local_engine(people), **names).counted
    assert (
        eh.Data(data=local_engine(people), **names, task="regression").counted.task == "regression"
    )


@pytest.mark.slow
@pytest.mark.parametrize("bring", [0, 10**6])
def test_columns_may_have_any_name(people, monkeypatch, bring):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", bring)
    odd = {"sex": "y", "race": "yhat", "region": "fine", "score": "bin", "weight": "rows"}
    renamed = people.rename(columns=odd)
    names = {**SCORES, "sensitive_features": ["sex", "race"], "strata": "region"}
    given = {
        part: [odd[one] for one in name] if isinstance(name, list) else odd.get(name, name)
        for part, name in names.items()
    }
    one = eh.Data(data=people, **names, sample_weight="weight").counted
    two = eh.Data(data=renamed, **given, sample_weight="rows").counted
    for need in ("labels", "strata", "losses"):
        ours, theirs = one.sources[need], two.sources[need]
        assert ours.axes == theirs.axes
        np.testing.assert_allclose(ours.sums["weight"], theirs.sums["weight"])


def test_labels_seen_in_dropped_groups_only_are_still_labels(people):
    odd = people.assign(label=np.where(people.sex == "c", 2, people.label))
    names = {**LABELS, "sensitive_features": "sex", "min_count": 1000, "rare": "drop"}
    one = eh.Data(data=odd, **names).counted
    whole = groups(odd.sex, min_count=1000, rare="drop")
    other = eh.Data(odd.label, odd.decision, sensitive_features=whole).counted
    assert one.classes == other.classes == (0, 1, 2)
    assert one.groups == other.groups == ("a", "b")


def test_a_score_alone_needs_the_truth(people):
    names = {"y_true": None, "y_pred": None, "y_score": "score", "sensitive_features": "sex"}
    with pytest.raises(ValueError, match="a score alone decides"):
        eh.Data(data=people, **names).counted
