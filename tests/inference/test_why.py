"""Accounts of a gap: parts that add up, against hand arithmetic, statsmodels and brute force."""

import re
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from later import Later

oaxaca = Later("statsmodels.stats.oaxaca")

# Bickel, Hammel and O'Connell (1975), Science 187: applicants to the six largest departments of
# Berkeley's graduate school in 1973, (admitted, rejected) of men and of women.
BERKELEY = {
    "A": ((512, 313), (89, 19)),
    "B": ((353, 207), (17, 8)),
    "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)),
    "E": ((53, 138), (94, 299)),
    "F": ((22, 351), (24, 317)),
}
STATISTICS = (
    "statistical_parity",
    "accuracy_parity",
    "predictive_parity",
    "performance_parity(f1)",
    "performance_parity(npv)",
)


def admissions():
    rows = [
        (department, sex, label, number)
        for department, sexes in BERKELEY.items()
        for sex, counts in zip(("men", "women"), sexes, strict=True)
        for label, number in zip((1, 0), counts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["department", "sex", "admitted", "n"])


def by_department(**options):
    columns = {"sensitive_features": "sex", "data": admissions(), "rows": "n", "by": "department"}
    return eh.explain("statistical_parity", None, "admitted", **columns, **options)


def people(seed, rows=400, classes=2):
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, rows)
    y = np.minimum(
        random.integers(0, classes + 1, rows) * (random.random(rows) < 0.6 + 0.2 * group),
        classes - 1,
    )
    right = random.random(rows) < 0.6 + 0.2 * group
    p = np.where(right, y, random.integers(0, classes, rows))
    return y, p, np.array(["b", "a"])[group]


def added_up(found):
    return sum(part.value for part in found.parts)


@given(
    tables=st.lists(st.lists(st.integers(1, 400), min_size=9, max_size=9), min_size=2, max_size=4),
    classes=st.integers(2, 3),
    criterion=st.sampled_from(STATISTICS),
)
@settings(deadline=None, max_examples=60)
def test_parts_add_up_to_the_gap(tables, classes, criterion):
    cells = np.array(tables)[:, : classes**2].reshape(len(tables), classes, classes)
    rows = [(y, p, f"g{g}", cells[g, y, p]) for g, y, p in np.ndindex(cells.shape)]
    frame = pd.DataFrame(rows, columns=["y", "p", "g", "n"])
    found = eh.explain(criterion, "y", "p", sensitive_features="g", data=frame, rows="n")
    assert added_up(found) == pytest.approx(found.values[0] - found.values[1], abs=1e-12)
    assert found.gap.value == pytest.approx(added_up(found), abs=1e-12)
    assert all(part.low <= part.value <= part.high for part in found.parts)


def test_parts_of_a_selection_rate_are_averages_over_all_orders():
    y, p, group = people(1)
    found = eh.explain("statistical_parity", y, p, sensitive_features=group, between=("a", "b"))

    def known(name):
        chosen = group == name
        return [y[chosen].mean(), p[chosen & (y == 1)].mean(), p[chosen & (y == 0)].mean()]

    first, second = known("a"), known("b")
    parts = np.zeros(3)
    for order in permutations(range(3)):
        now = list(second)
        for at in order:
            before = now[1] * now[0] + now[2] * (1 - now[0])
            now[at] = first[at]
            parts[at] += (now[1] * now[0] + now[2] * (1 - now[0]) - before) / 6
    names = ("base", "true_positive", "false_positive")
    assert [found.part(name).value for name in names] == pytest.approx(parts, abs=1e-12)


def scored(seed=7, rows=900):
    """Truth, score of few values and group."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], rows)
    y = random.integers(0, 2, rows)
    score = np.clip(
        random.integers(0, 8, rows) + (group == "a") * random.integers(0, 2, rows), 0, 7
    )
    return y, score / 8, group


@pytest.mark.parametrize("way", ["rows", "table", "audit", "the other label"])
@pytest.mark.parametrize("criterion", ["statistical_parity", "accuracy_parity"])
def test_ranges_of_a_score_add_up_to_the_gap_and_are_as_by_hand(way, criterion):
    y, score, group = scored()
    table = pd.DataFrame({"y": y, "score": score, "group": group})
    decision = {"y_score": score, "threshold": 0.5, "sensitive_features": group}
    named = {"y_score": "score", "threshold": 0.5, "sensitive_features": "group", "data": table}
    if way == "audit":
        found = eh.audit(y, **decision).explain(criterion, between=("a", "b"))
    elif way == "table":
        found = eh.explain(criterion, "y", **named, between=("a", "b"))
    else:
        of = {"favorable": 0, "score_of": 1} if way == "the other label" else {}
        found = eh.explain(criterion, y, **decision, **of, between=("a", "b"))
    assert sum(one.value for one in found.regions) == pytest.approx(found.gap.value, abs=1e-12)
    decided = (score >= 0.5).astype(int)
    value = decided == y if criterion == "accuracy_parity" else decided
    value = 1 - value if way == "the other label" and criterion == "statistical_parity" else value
    sides = [group == "a", group == "b"]
    middle = np.mean([value[side].mean() for side in sides])
    for one in found.regions:
        inside = (score >= one.span[0]) & (score <= one.span[1])
        parts = [((value - middle) * inside)[side].mean() for side in sides]
        assert one.value == pytest.approx(parts[0] - parts[1], abs=1e-12)
        assert one.shares == pytest.approx([inside[side].mean() for side in sides])
        assert one.low < one.value < one.high
        near = {0.375: "just below the cut", 0.5: "just above the cut"}
        assert one.words == near.get(one.span[0], one.words.removeprefix("just "))


def half_width(part):
    return (part.high - part.low) / 2


@pytest.mark.parametrize(
    ("criterion", "by"),
    [("statistical_parity", None), ("predictive_parity", None), ("statistical_parity", "x")],
)
def test_standard_errors_are_those_of_moving_single_rows(criterion, by):
    y, p, group = people(3, rows=120)
    x = np.random.default_rng(3).integers(0, 3, len(y)) * (y + 1) % 4
    columns = {"sensitive_features": group, "between": ("a", "b"), "favorable": 1}
    columns |= {} if by is None else {"by": {"x": x}}

    def values(weight):
        found = eh.explain(criterion, y, p, sample_weight=weight, **columns)
        return np.array([part.value for part in found.parts])

    at_rest = values(np.ones(len(y)))
    steps = 1e-4 * np.eye(len(y))
    moved = [(values(1 + step) - at_rest) / 1e-4 for step in steps]
    wanted = np.sqrt(np.square(moved).sum(axis=0) * len(y) / (len(y) - 1))
    found = eh.explain(criterion, y, p, confidence=0.3, **columns)
    z = 0.38532  # of a normal; Student's of some hundred degrees of freedom are about the same
    assert [half_width(part) / z for part in found.parts] == pytest.approx(wanted, rel=0.08)


def test_rows_that_are_doubled_within_clusters_say_no_more():
    y, p, group = people(5)
    once = eh.explain("statistical_parity", y, p, sensitive_features=group, cluster=np.arange(400))
    columns = {"sensitive_features": np.tile(group, 2), "cluster": np.tile(np.arange(400), 2)}
    twice = eh.explain("statistical_parity", np.tile(y, 2), np.tile(p, 2), **columns)
    for part, other in zip(once.parts, twice.parts, strict=True):
        assert half_width(part) == pytest.approx(half_width(other), rel=0.02)


def test_strata_are_accounted_for_as_by_oaxaca_and_blinder():
    random = np.random.default_rng(2)
    group = random.integers(0, 2, 600)
    x = np.minimum(random.integers(0, 4, 600) + group, 3)
    p = (random.random(600) < 0.2 + 0.15 * x + 0.05 * group).astype(int)
    found = eh.explain(
        "statistical_parity", None, p, sensitive_features=group, by={"x": x}, between=(1, 0)
    )
    kept = x > 0  # of the lowest level there is nobody in group 1
    theirs = oaxaca.OaxacaBlinder(
        p[kept],
        np.column_stack([np.ones(kept.sum()), (x == 2)[kept], (x == 3)[kept], group[kept]]),
        3,
        hasconst=True,
        swap=False,
    )
    unexplained, explained, _ = theirs.two_fold(
        two_fold_type="self_submitted", submitted_weight=0.5
    ).params
    sign = np.sign(explained) * np.sign(found.part("composition").value)
    assert found.part("composition").value == pytest.approx(sign * explained, abs=1e-10)
    assert found.part("within").value == pytest.approx(sign * unexplained, abs=1e-10)
    assert added_up(found) == pytest.approx(found.gap.value, abs=1e-12)


def test_berkeley_is_a_reversal():
    found = by_department()
    men, women = (
        {name: np.array(counts[at]) for name, counts in BERKELEY.items()} for at in (0, 1)
    )
    size = [sum(counts.sum() for counts in one.values()) for one in (men, women)]
    within = sum(
        (men[d].sum() / size[0] + women[d].sum() / size[1])
        / 2
        * (men[d][0] / men[d].sum() - women[d][0] / women[d].sum())
        for d in BERKELEY
    )
    assert found.gap.value == pytest.approx(1198 / 2691 - 557 / 1835, abs=1e-12)
    assert found.part("within").value == pytest.approx(within, abs=1e-12)
    assert found.part("within").value < 0 < found.gap.value
    assert found.is_reversed
    assert "Simpson" in found.summary
    assert found.strata[0].name == "A"  # the department that carries it
    assert found.strata[0].high < 0 < min(one.high for one in found.strata[1:])


def test_counts_rows_and_tallies_give_one_account():
    counted = by_department()
    frame = admissions()
    rows = frame.loc[frame.index.repeat(frame.n), ["department", "sex", "admitted"]]
    columns = {"sensitive_features": rows.sex, "by": rows[["department"]]}
    arrays = eh.explain("statistical_parity", None, rows.admitted, **columns)
    tally = eh.tally(None, rows.admitted, sensitive_features=rows.sex, strata=rows.department)
    for other in (arrays, eh.explain("statistical_parity", tally)):
        assert [part.low for part in other.parts] == pytest.approx(
            [part.low for part in counted.parts], abs=1e-12
        )


def test_several_columns_add_up_to_the_composition():
    random = np.random.default_rng(4)
    group = random.integers(0, 2, 2000)
    x, z = (
        random.integers(0, 2, 2000) | (group & (random.random(2000) < share)) for share in (0.4, 0)
    )
    p = (random.random(2000) < 0.2 + 0.4 * x).astype(int)
    found = eh.explain("statistical_parity", None, p, sensitive_features=group, by={"x": x, "z": z})
    total = sum(part.value for part in found.columns)
    assert total == pytest.approx(found.part("composition").value, abs=1e-12)
    assert found.columns[0].name == "x"
    assert found.columns[0].low > 0 > found.columns[1].low


@pytest.mark.slow
def test_no_reversal_is_called_where_there_is_none():
    called = 0
    for seed in range(400):
        random = np.random.default_rng(seed)
        group = random.integers(0, 2, 300)
        x = (random.random(300) < 0.3 + 0.4 * group).astype(int)
        p = (random.random(300) < 0.3 + 0.3 * x).astype(int)  # alike within strata
        found = eh.explain(
            "statistical_parity", None, p, sensitive_features=group, by={"x": x}, between=(1, 0)
        )
        called += found.is_reversed
    assert called <= 20


def test_people_without_a_counterpart_are_named_and_not_extrapolated():
    group = ["a"] * 60 + ["b"] * 60
    x = ["u"] * 30 + ["only a"] * 30 + ["u"] * 60
    p = [1, 0, 0] * 10 + [1] * 30 + [1, 0] * 30
    found = eh.explain("statistical_parity", None, p, sensitive_features=group, by={"x": x})
    assert found.outside == (0.5, 0.0)
    assert found.part("outside").value == pytest.approx(2 / 3 - 1 / 3)
    assert found.part("within").value == pytest.approx(1 / 3 - 1 / 2)
    assert any("only a" in note for note in found.notes)
    assert "no counterpart" in found.summary
    assert added_up(found) == pytest.approx(found.gap.value, abs=1e-12)


def test_a_class_that_one_group_lacks_is_named():
    y, p = [0, 1, 2] * 20 + [0, 1] * 30, [0, 1, 1] * 20 + [1, 1] * 30
    found = eh.explain("accuracy_parity", y, p, sensitive_features=["a"] * 60 + ["b"] * 60)
    assert any("true label is 2" in note for note in found.notes)
    assert added_up(found) == pytest.approx(found.gap.value, abs=1e-12)


def test_numbers_are_explained_by_the_truth_and_the_errors():
    random = np.random.default_rng(0)
    group = random.integers(0, 2, 500)
    y = random.normal(10 + group, 2)
    p = y + random.normal(0.5 * group, 1)
    found = eh.explain(
        "weak_parity", y, p, sensitive_features=group, between=(1, 0), task="regression"
    )
    truth = y[group == 1].mean() - y[group == 0].mean()
    assert found.part("truth").value == pytest.approx(truth, abs=1e-12)
    assert added_up(found) == pytest.approx(p[group == 1].mean() - p[group == 0].mean(), abs=1e-12)
    sides = [np.var(y[group == g], ddof=1) / (group == g).sum() for g in (0, 1)]
    part = found.part("truth")
    assert half_width(part) / 1.965 == pytest.approx(np.sqrt(sum(sides)), rel=0.01)


PEOPLE = pd.DataFrame(
    {
        "y": [0, 1, 0, 1] * 10,
        "p": [0, 1, 1, 1, 0, 0, 0, 1] * 5,
        "g": ["a"] * 20 + ["b"] * 20,
        "one": 1,
        "endless": [np.inf, 0.5] * 20,
        "id": range(40),
        "same": [0, 1, 1, 1, 0, 0, 0, 1] * 5,
        "part": [0.5, None] * 20,
        "x": [0, 1] * 20,
    }
)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("p", "is y_pred"),
        ("g", "is sensitive_features"),
        ("one", "has one value"),
        ("id", "numbers the rows"),
        ("same", "the outcome under another name"),
        (["x", "same"], "the outcome under another name"),
        ("part", "no value of 'part'"),
        (["x", "one"], "one has one value, .* Leave it out"),
        ("endless", "'endless', an explaining column, has the value inf"),
        ("nowhere", "nowhere"),
    ],
)
def test_columns_that_cannot_explain_are_refused_in_words(by, words):
    with pytest.raises(eh.InputError, match=words):
        eh.explain("statistical_parity", "y", "p", sensitive_features="g", data=PEOPLE, by=by)


@pytest.mark.parametrize(
    ("criterion", "options", "words"),
    [
        ("equal_opportunity", {}, "explaining columns as by="),
        ("statistical_parity", {"between": ("a", "c")}, "no group 'c'"),
        ("statistical_parity", {"between": "ab"}, "two groups"),
        ("statistical_parity", {"confidence": 95}, "between 0 and 1"),
        ("strong_parity", {}, "not explained here"),
        ("performance_parity(average_odds)", {"by": "x"}, "not a ratio of sums"),
        ("treatment_equality", {"by": "x"}, "counts other people above the line"),
    ],
)
def test_questions_without_an_account_are_refused_in_words(criterion, options, words):
    with pytest.raises(eh.InputError, match=words):
        eh.explain(criterion, "y", "p", sensitive_features="g", data=PEOPLE, **options)


@pytest.mark.parametrize(
    ("criterion", "metric"),
    [
        ("equalized_odds", "(true|false) positive rate"),
        ("performance_parity(tnr)", "true negative rate"),
        ("performance_parity(accuracy)", "accuracy"),
    ],
)
def test_an_account_says_which_rate_differs(criterion, metric):
    random = np.random.default_rng(0)
    group, by, y, p = random.integers(0, 2, (4, 400))
    found = eh.explain(criterion, y, p, sensitive_features=group, by=by)
    assert re.match(f"The gap in {metric} between", found.summary)


def test_few_people_without_a_counterpart_do_not_widen_the_gap():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], 600)
    years = random.normal(5 + group, 2)
    years[0] = -15  # nobody of the other group is like this one
    bid = 10 * years + random.normal(size=1200)
    named = {"sensitive_features": group, "task": "regression"}
    found = eh.explain("weak_parity", None, bid, by={"years": years}, **named)
    assert max(found.outside) > 0
    half = 1.96 * np.sqrt(sum(bid[group == one].var(ddof=1) / 600 for one in (0, 1)))
    assert found.gap.high - found.gap.value == pytest.approx(half, rel=0.03)


def amounts(rows=4000, gap=0.3):
    """Group, an amount on which groups differ, a column of noise, and a decision by the first."""
    random = np.random.default_rng(7)
    group = random.integers(0, 2, rows)
    amount = random.normal(size=rows) + 0.8 * group
    decided = random.random(rows) < 1 / (1 + np.exp(-(amount**2 / 2 + amount + gap * group - 1)))
    return group, amount, random.normal(size=rows), decided.astype(int)


def test_amounts_are_compared_by_models_that_find_the_truth():
    group, amount, noise, decided = amounts(20_000)
    found = eh.explain(
        "statistical_parity",
        None,
        decided,
        sensitive_features=group,
        by={"amount": amount, "noise": noise},
        between=(1, 0),
    )
    at = np.random.default_rng(0).normal(size=400_000)

    def chance(amount, group):
        return 1 / (1 + np.exp(-(amount**2 / 2 + amount + 0.3 * group - 1)))

    (one, as_other), (as_one, other) = (
        [chance(at + mix, treated).mean() for treated in (1, 0)] for mix in (0.8, 0.0)
    )
    within = found.part("within")
    assert within.low <= (one - as_other + as_one - other) / 2 <= within.high
    assert within.high - within.low < 0.04
    assert added_up(found) == pytest.approx(found.gap.value, abs=1e-12)
    assert found.gap.value == pytest.approx(found.values[0] - found.values[1], abs=1e-12)
    assert [part.name for part in found.columns] == ["amount", "noise"]
    total = sum(part.value for part in found.columns)
    assert total == pytest.approx(found.part("composition").value, abs=1e-12)


def test_linear_amounts_are_accounted_for_as_by_oaxaca_and_blinder():
    random = np.random.default_rng(3)
    group = random.integers(0, 2, 3000)
    x, z = random.normal(size=(2, 3000)) + 0.5 * group
    value = 1 + x + 0.5 * z + 0.4 * group + random.normal(size=3000)
    columns = {"sensitive_features": group, "by": {"x": x, "z": z}, "between": (1, 0)}
    found = eh.explain("weak_parity", None, value, task="regression", **columns)
    exog = np.column_stack([np.ones(3000), x, z, group])
    theirs = oaxaca.OaxacaBlinder(value, exog, 3, hasconst=True, swap=False)
    unexplained, explained, _ = theirs.two_fold(
        two_fold_type="self_submitted", submitted_weight=0.5
    ).params
    assert found.part("composition").value == pytest.approx(abs(explained), abs=0.03)
    assert found.part("within").value == pytest.approx(abs(unexplained), abs=0.03)


@pytest.mark.parametrize("seed", [0, 3])
def test_few_people_alike_who_are_treated_alike_do_not_differ_within(seed):
    """Models that are shrunken too much put a part of the composition into that within."""
    random = np.random.default_rng(seed)
    group = np.arange(300) % 2
    x = random.normal(size=300) + 0.8 * group
    value = 2 * x + random.normal(0, 0.1, 300)
    columns = {"sensitive_features": group, "by": {"x": x}, "between": (1, 0)}
    within = eh.explain("weak_parity", None, value, task="regression", **columns).part("within")
    assert within.low < 0 < within.high < 0.05


def test_proxies_are_the_columns_that_tell_the_group():
    group, amount, noise, decided = amounts()
    found = eh.explain(
        "statistical_parity",
        None,
        decided,
        sensitive_features=group,
        by={"noise": noise, "amount": amount},
    )
    first, second = found.proxies
    assert (first.name, second.name) == ("amount", "noise")
    assert found.area == pytest.approx(first.area, abs=0.01)
    assert first.area > 0.65 > 0.55 > second.area
    assert first.area_without == pytest.approx(second.area, abs=0.01)
    assert second.area_without == pytest.approx(first.area, abs=0.01)
    assert first.low > 0 > second.low
    assert "predict the group" in str(found)


def test_people_unlike_everyone_of_the_other_group_are_left_out_and_named():
    group, amount, _, decided = amounts()
    far = np.where(np.arange(len(group)) % 4 == 0, amount + 9 * group, amount)
    found = eh.explain(
        "statistical_parity",
        None,
        decided,
        sensitive_features=group,
        by={"amount": far},
        between=(1, 0),
    )
    assert 0.2 < found.outside[0] < 0.4
    assert any("differ from nearly everyone" in note for note in found.notes)
    assert added_up(found) == pytest.approx(found.gap.value, abs=1e-12)
    with pytest.raises(eh.InputError, match="Nobody in one group"):
        eh.explain(
            "statistical_parity",
            None,
            decided,
            sensitive_features=group,
            by={"amount": amount + 90 * group},
        )


def test_numbers_are_compared_within_strata_too():
    random = np.random.default_rng(1)
    group, x = random.integers(0, 2, (2, 800))
    value = x + 0.5 * group + random.normal(size=800)
    columns = {"sensitive_features": group, "by": {"x": x}, "between": (1, 0)}
    found = eh.explain("weak_parity", None, value, task="regression", **columns)
    means = {key: value[(group == key[0]) & (x == key[1])].mean() for key in np.ndindex(2, 2)}
    shares = {key: np.mean(x[group == key[0]] == key[1]) for key in means}
    within = sum((shares[1, k] + shares[0, k]) / 2 * (means[1, k] - means[0, k]) for k in (0, 1))
    assert found.part("within").value == pytest.approx(within, abs=1e-12)


def test_an_audit_explains_its_first_finding_on_its_page():
    y, p, group = people(1, rows=1000)
    found = eh.audit(y, p, sensitive_features=group)
    alone = eh.explain("statistical_parity", y, p, sensitive_features=group)
    for account in (found.explain().document(), found.document()["why"]):
        lows = [part["low"] for part in account["parts"]]
        assert lows == pytest.approx([part.low for part in alone.parts], abs=1e-12)
        gap = found.finding("statistical_parity").gap
        assert account["gap"]["value"] == pytest.approx(gap.value, abs=1e-12)
    assert found.document()["why"]["sentence"] in found.to_html()
    assert "## Why they differ" in found.to_markdown()
    with pytest.raises(eh.InputError, match="y_true"):
        eh.audit(None, p, sensitive_features=group).explain()


def test_an_audit_without_a_difference_or_the_truth_accounts_for_none():
    y, p, group = people(1, rows=1000)
    alike = np.repeat(["a", "b"], 1000)
    for audit in (
        eh.audit([*y, *y], [*p, *p], sensitive_features=alike),
        eh.audit(None, p, sensitive_features=group),
    ):
        assert audit.document()["why"] is None
        assert "Why they differ" not in audit.to_markdown()


def test_a_favorable_label_that_never_occurs_has_no_gap():
    found = eh.explain(
        "statistical_parity",
        ["no"] * 60,
        ["no"] * 60,
        sensitive_features=["a"] * 30 + ["b"] * 30,
        favorable="yes",
    )
    assert found.gap.value == 0


def test_the_command_explains_a_file(tmp_path):
    from click.testing import CliRunner

    from evenhand.cli.explain import explain_

    frame = admissions()
    rows = frame.loc[frame.index.repeat(frame.n), ["department", "sex", "admitted"]]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = [str(tmp_path / "rows.csv"), "--prediction", "admitted", "--group", "sex"]
    asked += ["--by", "department", "--markdown", str(tmp_path / "why.md")]
    done = CliRunner().invoke(explain_, asked)
    assert done.exit_code == 0, done.output
    assert "Simpson" in done.output
    assert "Simpson" in (tmp_path / "why.md").read_text(encoding="utf-8")
    refused = CliRunner().invoke(explain_, [*asked[:5], "--by", "sex"])
    assert refused.exit_code == 2
    y, score, group = scored()
    pd.DataFrame({"y": y, "s": score, "g": group}).to_csv(tmp_path / "scores.csv", index=False)
    asked = [str(tmp_path / "scores.csv"), "--target", "y", "--score", "s", "--group", "g"]
    assert "above the cut" in CliRunner().invoke(explain_, [*asked, "--threshold", "0.5"]).output
    assert CliRunner().invoke(explain_, asked).exit_code == 2


def test_an_account_takes_every_form():
    found = by_department()
    assert "cause" in found.to_markdown()
    assert "<svg" in found.to_html()
    assert len(found.plot("waterfall").axes[0].get_yticks()) == 4
    assert list(found.to_frame("strata").columns[:4]) == ["name", "value", "low", "high"]
    assert found.document()["schema"] == "evenhand.account/1"


def test_few_people_of_one_true_label_leave_its_share_open():
    y, p = [1] * 20 + [1] * 10 + [0] * 10, [1] * 20 + [1] * 8 + [0] * 12
    found = eh.explain(
        "statistical_parity", y, p, sensitive_features=["a"] * 20 + ["b"] * 20, favorable=1
    )
    assert found.part("base").low < found.part("base").value < found.part("base").high


def test_a_gap_that_may_be_chance_and_parts_of_either_sign_are_called_that():
    truth, group = np.tile([0, 1], 200), np.repeat([*"ab"], 200)
    chosen = np.where(np.arange(400) % 40 < 18, truth, 1 - truth)
    chosen[:12] = 1
    found = eh.explain("statistical_parity", truth, chosen, sensitive_features=group)
    assert "may be chance (" in found.summary
    one = eh.explain("statistical_parity", [0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=[*"abbb"])
    assert min(part.low for part in (one.gap, *one.parts)) >= -1
    assert max(part.high for part in (one.gap, *one.parts)) <= 1
    signs = eh.explain(
        "weak_parity", [3.0, 4.0, 1.0, 2.0], [2.0, 3.0, 1.0, 2.0], sensitive_features=[*"aabb"]
    )
    assert (
        "It is the sum of 2 from differences in the true values and −1 from those" in signs.summary
    )


def test_columns_that_explain_nothing_are_not_said_to():
    random = np.random.default_rng(5)
    group, department = np.repeat(["a", "b"], 500), random.integers(0, 3, 1000)
    hired = random.random(1000) < np.where(group == "a", 0.6, 0.3)
    given = {"sensitive_features": group, "by": {"department": department}}
    found = eh.explain("statistical_parity", y_pred=hired.astype(int), favorable=1, **given)
    assert "Differences in department are not shown to explain any of it; " in found.summary
