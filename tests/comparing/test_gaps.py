"""Gaps that are wider by one model than by another: textbook tests, laws, and small groups."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp, ttest_ind

import evenhand as eh
from comparing.models import labeled, rows

SIZES = (2000, 2000, 10, 10, 10)


def gaps(y, models, group, **options):
    options = {"measures": ["mpd"], "replicates": 5, **options}
    return rows(eh.compare(y, models, sensitive_features=group, **options).gaps)


def selected(seed, gap=0.1, sizes=SIZES):
    """Two models that decide nine tenths of the rows alike; one has a gap."""
    rng = np.random.default_rng(seed)
    group = np.repeat([*"abcde"][: len(sizes)], sizes)
    one, two = rng.random((2, len(group)))
    two = np.where(rng.random(len(group)) < 0.9, one, two)
    made = {"gap": one < 0.3 + gap * (group == "a"), "fair": two < 0.3}
    return {name: each.astype(int) for name, each in made.items()}, group


def numbered(seed, sizes=(500, 400)):
    rng = np.random.default_rng(seed)
    group = np.repeat([*"abc"][: len(sizes)], sizes)
    y = rng.standard_normal(len(group))
    first = y + rng.standard_normal(len(group)) + 0.2 * (group == "a")
    return y, {"one": first, "two": y + 0.5 * rng.standard_normal(len(group))}, group


def test_groups_of_ten_hide_no_gap_between_two_large_groups():
    for seed in range(3):
        models, group = selected(seed)
        found = eh.compare(
            None, models, sensitive_features=group, measures=["mpd"], replicates=5, favorable=1
        )
        (row,) = rows(found.gaps)
        assert (row["group"], row["other_group"], row["beyond_chance"]) == ("a", "b", True)
        assert row["low"] < 0.1 < row["high"]
        assert row["high"] - row["low"] < 0.08
        assert not rows(found.differences)[0]["beyond_chance"]  # of all groups nobody can say
        assert "a is" in found.summary
        assert "but single gaps do" in found.summary


@pytest.mark.slow
def test_gaps_that_are_the_same_with_both_models_are_seldom_called_different():
    wrong = sum(
        gaps(None, selected(seed, gap=0.0)[0], selected(seed)[1])[0]["p_value"] <= 0.05
        for seed in range(80)
    )
    assert wrong <= 9  # of a true 0.05 as many or fewer are seen with probability 0.99


def test_of_two_groups_it_is_welchs_test_of_what_changes():
    y, models, group = numbered(0)
    (row,) = gaps(y, models, group, criteria="weak_parity", task="regression")
    change = models["one"] - models["two"]
    known = ttest_ind(change[group == "a"], change[group == "b"], equal_var=False)
    ends = known.confidence_interval()
    assert row["p_value"] == pytest.approx(known.pvalue, rel=0.05)
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), rel=0.02)


def test_where_every_cluster_has_a_row_of_both_groups_it_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    pair, group = np.repeat(np.arange(40), 2), np.tile([*"ab"], 40)
    level = rng.standard_normal(40)[pair]
    models = {"one": level * (1 + 0.2 * (group == "a")) + rng.standard_normal(80)}
    models["two"] = models["one"] - level + 0.4 * rng.standard_normal(80)
    asked = {"criteria": "weak_parity", "task": "regression", "cluster": pair}
    (row,) = gaps(None, models, group, **asked)
    change = models["one"] - models["two"]
    known = ttest_1samp(change[group == "a"] - change[group == "b"], 0.0)
    assert row["p_value"] == pytest.approx(known.pvalue, rel=0.05)


def test_a_rate_given_the_truth_is_that_of_the_rows_that_have_it():
    y, models, group = labeled(1, rows=900, models=2)
    whole = gaps(y, models, group, criteria="equal_opportunity", favorable=1)
    kept = y == 1
    part = {name: each[kept] for name, each in models.items()}
    alone = gaps(None, part, group[kept], criteria="statistical_parity", favorable=1)
    for name in ("gap", "other_gap", "low", "high", "p_value"):
        assert whole[0][name] == pytest.approx(alone[0][name], rel=1e-9)


def test_a_ratio_whose_rows_depend_on_the_model_has_the_error_of_the_jackknife():
    y, models, group = labeled(2, rows=1200, models=2, groups=2)
    asked = {"criteria": "performance_parity", "g": "ppv", "favorable": 1}
    (row,) = gaps(y, models, group, **asked)
    assert row["other_group"] != row["group"]

    def gap(kept):
        def precision(model, name):
            of = kept & (group == name) & (models[model] == 1)
            return y[of].mean()

        first, second = models
        sides = [precision(first, g) - precision(second, g) for g in "ab"]
        return sides[0] - sides[1]

    everyone = np.ones(len(y), bool)
    left = np.array([gap(np.arange(len(y)) != i) for i in range(len(y))])
    error = np.sqrt(((left - left.mean()) ** 2).sum())
    assert abs(row["difference"]) == pytest.approx(abs(gap(everyone)))
    assert row["high"] - row["low"] == pytest.approx(2 * norm.ppf(0.975) * error, rel=0.05)


def test_names_and_order_of_groups_rows_and_models_change_nothing():
    models, group = selected(5, gap=0.03)
    (known,) = gaps(None, models, group, favorable=1)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(group))
    renamed = np.array([*"zyxwv"])[np.searchsorted([*"abcde"], group)]
    shuffled = {name: each[order] for name, each in models.items()}
    for made, named, back in (
        (models, renamed, dict(zip("zyxwv", "abcde", strict=True))),
        (shuffled, group[order], {name: name for name in "abcde"}),
    ):
        (row,) = gaps(None, made, named, favorable=1)
        pair = {back[row["group"]], back[row["other_group"]]}
        assert pair == {known["group"], known["other_group"]}
        for name in ("difference", "low", "high", "p_value"):
            assert row[name] == pytest.approx(known[name], rel=1e-12)
    (swapped,) = gaps(None, dict(reversed(models.items())), group, favorable=1)
    assert swapped["p_value"] == pytest.approx(known["p_value"], rel=1e-9)
    assert (swapped["group"], swapped["other_group"]) == (known["other_group"], known["group"])
    assert swapped["low"] == pytest.approx(known["low"], rel=1e-9)


@pytest.mark.parametrize("made", [labeled, numbered], ids=["labels", "numbers"])
def test_weights_of_one_and_clusters_of_one_row_are_the_plain_answer(made):
    y, models, group = made(4)
    plain = gaps(y, models, group)
    alone = {"sample_weight": np.ones(len(y))}, {"cluster": np.arange(len(y))}
    for asked in alone:
        assert gaps(y, models, group, **asked) == plain


def test_lines_that_stand_for_many_rows_are_those_rows():
    models, group = selected(6)
    lines = np.stack([*models.values(), np.unique(group, return_inverse=True)[1]])
    each, times = np.unique(lines, axis=1, return_counts=True)
    counted = {"gap": each[0], "fair": each[1]}
    named = np.array([*"abcde"])[each[2]]
    (one,) = gaps(None, models, group, favorable=1)
    (two,) = gaps(None, counted, named, favorable=1, rows=times)
    assert one == pytest.approx(two)


def test_models_that_agree_in_every_row_have_the_same_gaps():
    y, models, group = labeled(models=1)
    same = {"one": models["model 0"], "two": models["model 0"].copy()}
    for row in gaps(y, same, group):
        assert (row["difference"], row["p_value"], row["beyond_chance"]) == (0, 1, False)
