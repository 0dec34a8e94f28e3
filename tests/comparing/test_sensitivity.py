"""What becomes of values, ranks and verdicts when a choice is made otherwise."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import kendalltau

import evenhand as eh
from comparing.models import QUICK, column, rows
from evenhand._compare.sensitivity import ORDERS, views

pytestmark = pytest.mark.slow


def people(seed=0, size=1200):
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], size), rng.choice([*"abc"], size)
    age = rng.integers(18, 80, size)
    y = rng.integers(0, 3, size)
    shift = np.where(sex == "M", 0.2, 0.0)
    made = {
        f"model {k}": np.where(rng.random(size) < 0.5 + k * shift, y, rng.integers(0, 3, size))
        for k in range(3)
    }
    return y, made, {"sex": sex, "race": race, "age": age}


@pytest.fixture(scope="module")
def compared():
    y, made, columns = people()
    whom = eh.groups(columns, bins={"age": [18, 30, 45, 60, 80]})
    criteria = ["statistical_parity", "equalized_odds"]
    return eh.compare(y, made, sensitive_features=whom, criteria=criteria, **QUICK)


@pytest.fixture(scope="module")
def settings(compared):
    return compared.sensitivity()


def value(row, made, y, whom, **options):
    found = made[row["model"]]
    options = {"measure": "pq", **options}
    return eh.evaluate(row["criterion"], y, found, sensitive_features=whom, **options)


def test_every_setting_is_that_of_evaluate(settings):
    y, made, columns = people()
    whom = eh.groups(columns, bins={"age": [18, 30, 45, 60, 80]})
    how = {
        "default": lambda _: {"measure": "pq"},
        "measure": lambda name: {"measure": name},
        "transform": lambda name: {"transform": name},
        "aggregate": lambda name: {"aggregate": name},
    }
    checked = 0
    for row in rows(settings):
        if row["varied"] in how:
            expected = value(row, made, y, whom, **how[row["varied"]](row["setting"]))
            assert row["value"] == pytest.approx(expected)
            checked += 1
    assert checked == 2 * 3 * (1 + 2 + 2 + 3)


def test_the_orders_are_those_of_the_ablation(settings):
    """p from 0.1 to 0.9 and 1, q from 1.1 to 2.5, one at a time around (1, 2)."""
    assert {p for p, q in ORDERS if q == 2} == {round(k / 10, 1) for k in range(1, 10)} | {1}
    assert {q for p, q in ORDERS if p == 1} == {round(1 + k / 10, 1) for k in range(1, 16)}
    y, made, columns = people()
    whom = eh.groups(columns, bins={"age": [18, 30, 45, 60, 80]})
    for row in rows(settings, varied="orders", setting="pq(p=0.3, q=2)"):
        expected = value(row, made, y, whom, measure=partial(eh.pq, p=0.3, q=2))
        assert row["value"] == pytest.approx(expected)


@pytest.mark.parametrize("chosen", [["sex"], ["race", "age"], ["age"]])
def test_coarser_groups_are_those_counted_anew(settings, chosen):
    y, made, columns = people()
    bins = {"age": [18, 30, 45, 60, 80]} if "age" in chosen else None
    whom = eh.groups({name: columns[name] for name in chosen}, bins=bins)
    found = rows(settings, varied="groups", setting=" × ".join(chosen))
    assert len(found) == 6
    for row in found:
        assert row["value"] == pytest.approx(value(row, made, y, whom))


def test_bins_are_merged_two_by_two(settings):
    y, made, columns = people()
    whom = eh.groups(columns, bins={"age": [18, 45, 80]})
    found = rows(settings, setting="age in 2 bins")
    assert len(found) == 6
    for row in found:
        assert row["value"] == pytest.approx(value(row, made, y, whom))


def test_ranks_and_agreement_are_with_the_default(settings):
    by_setting = {}
    for row in rows(settings):
        by_setting.setdefault((row["criterion"], row["varied"], row["setting"]), []).append(row)
    for (criterion, _, _), found in by_setting.items():
        base = [row["value"] for row in by_setting[criterion, "default", "pq"]]
        values = [row["value"] for row in found]
        assert found[0]["tau"] == pytest.approx(kendalltau(values, base)[0])
        best = f"model {int(np.argmin(values))}"
        assert {row["best"] for row in found} == {best}
        assert found[0]["best_changes"] == (best != f"model {int(np.argmin(base))}")


def test_groupings_of_ones_own(compared):
    y, made, columns = people()
    found = compared.sensitivity(
        orders=[], depth=0, groupings={"a or not": lambda label: label[1] == "a"}, verdicts=False
    )
    own = rows(found, setting="a or not")
    whom = columns["race"] == "a"
    assert [row["value"] for row in own] == [
        pytest.approx(value(row, made, y, whom)) for row in own
    ]
    assert set(found["verdict"]) == {"not tested"}


def test_regression_has_its_settings_and_the_degenerate_one_shows():
    """The supremum of PQ on raw CDFs is 1 − 1/√d for every continuous predictor."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    y = rng.random(300) + 0.3 * group
    made = {f"model {k}": y + 0.1 * k * rng.random(300) for k in range(3)}
    found = eh.compare(y, made, sensitive_features=group, measures=["pq"], **QUICK)
    table = found.sensitivity(orders=[(0.5, 2)])
    raw = table.query("criterion == 'strong_parity' and setting == 'raw'")
    assert list(raw["value"]) == [pytest.approx(1 - 1 / np.sqrt(2))] * 3
    assert all(np.isnan(tau) for tau in raw["tau"])
    assert raw["best"].iloc[0] == "model 0, model 1, model 2"
    assert set(table.query("criterion == 'strong_parity'")["verdict"]) == {"differs"}
    assert not rows(table, varied="aggregate")


def test_a_negative_mean_is_undefined_where_it_cannot_be_measured():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 200)
    made = {f"model {k}": rng.normal(size=200) - 0.5 * k * group for k in range(2)}
    options = {"criteria": ["weak_parity"], "measures": ["pq"], "transform": "exp", **QUICK}
    found = eh.compare(None, made, sensitive_features=group, **options)
    table = found.sensitivity(orders=[], verdicts=False)
    assert set(column(table, "verdict", setting="raw")) == {"undefined"}
    assert set(column(table, "best", setting="raw")) == {""}


def test_the_verdict_depends_on_the_groups_and_on_no_other_choice(settings):
    found = {}
    for row in rows(settings):
        groups = row["setting"] if row["varied"] == "groups" else "all"
        found.setdefault((row["criterion"], groups, row["model"]), set()).add(row["p_value"])
    assert all(len(p_values) == 1 for p_values in found.values())


def test_sensitivity_no_longer_draws(compared):
    with pytest.raises(TypeError, match="replicates"):
        compared.sensitivity(replicates=0)


def test_a_merged_group_stays_merged_in_every_view():
    labels = ("(rare groups)", ("F", "a"), ("F", "b"), ("M", "a"))
    found = {view.name: view.labels for view in views(labels, ("sex", "race"), 2)}
    assert found == {"sex": ("(rare groups)", "F", "M"), "race": ("(rare groups)", "a", "b")}


def test_one_plain_column_has_no_coarser_view():
    assert list(views(("a", "b", "c"), ("group",), 2)) == []


def test_five_bins_become_three_and_then_two():
    whom = eh.groups({"age": [5, 15, 25, 35, 45]}, bins={"age": [0, 10, 20, 30, 40, 50]})
    found = [[str(label) for label in view.labels] for view in views(whom.labels, ("age",), 2)]
    assert found == [["[0, 20]", "(20, 40]", "(40, 50]"], ["[0, 40]", "(40, 50]"]]
