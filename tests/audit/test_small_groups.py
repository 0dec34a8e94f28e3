"""Small groups: shown, counted, said to be too few, and never leading."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

import evenhand as eh
from evenhand.cli.summary import show

RACES = {"White": 0.7, "Black": 0.15, "Asian": 0.08, "Native": 0.03, "Other": 0.04}
AGES = ["under 25", "25 to 34", "35 to 44", "45 to 54", "55 to 64", "65 and over"]


def sixty_groups(seed, rows=12_000):
    """Sex × race × age, where only being male and being white raise the selection rate."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "sex": rng.choice(["Female", "Male"], rows, p=[0.4, 0.6]),
            "race": rng.choice(list(RACES), rows, p=list(RACES.values())),
            "age": rng.choice(AGES, rows),
        }
    )
    rate = 0.2 + 0.1 * (people.sex == "Male") + 0.1 * (people.race == "White")
    return people, (rng.random(rows) < 0.3).astype(int), (rng.random(rows) < rate).astype(int)


def lopsided(small=12, seed=0):
    """Three groups, one of a few rows."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b", "tiny"], [1500, 1500, small])
    rate = np.select([group == "a", group == "b"], [0.3, 0.6], 0.45)
    return group, (rng.random(len(group)) < rate).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_of_sixty_groups_the_headline_names_male_and_white(seed, depth):
    people, truth, predicted = sixty_groups(seed)
    asked = {"criteria": ["statistical_parity", "error_parity"], "measures": "mpd", "depth": depth}
    found = eh.audit(truth, predicted, sensitive_features=people, **asked)
    finding = found.finding("statistical_parity")
    assert finding.verdict == "differs"
    assert finding.pair.high[:2] == ("Male", "White")
    assert finding.pair.low[0] == "Female"
    assert finding.pair.low[1] != "White"
    named = [subgroup["label"] for subgroup in found.document()["summary"]["subgroups"]]
    assert set(named[:2]) == {"Male", "White"}
    assert f"<li>{named[0]} (" in found.to_html().split('id="criteria"')[0]


def test_a_group_of_a_few_rows_is_said_to_be_too_small_in_every_form():
    group, decision = lopsided()
    found = eh.audit(None, decision, sensitive_features=group)
    assert [(one.label, one.rows) for one in found.too_few] == [("tiny", 12)]
    assert found.too_few[0].rows_needed > 100
    sentence = found.document()["too_few"]["sentence"]
    few = "1 of 3 groups has too few rows to show a difference of 5 percentage points from"
    assert sentence.startswith(few)
    assert "tiny (12)" in sentence
    assert sentence in found.to_markdown()
    assert sentence in found.to_html()
    missed = "In 1 group a difference of 5 percentage points could be missed"
    assert missed in found.to_html()
    assert "nothing is known" not in found.to_html()


def test_the_size_that_would_do_is_about_that_of_a_binomial_test():
    group, decision = lopsided()
    needed = eh.audit(None, decision, sensitive_features=group).too_few[0].rows_needed
    rest = decision[group != "tiny"].mean()
    error = 0.05 / 3  # three comparisons
    sizes = np.arange(50, 6000, 10)
    shown = stats.binom.sf(np.ceil(sizes * (rest + 0.05)) - 1, sizes, rest) < error / 2
    least = sizes[np.flatnonzero(shown)[0]]
    assert least / 2 < needed < 4 * least


@pytest.mark.slow
def test_a_wider_margin_and_less_confidence_need_fewer_rows():
    group, decision = lopsided()

    def needed(**options):
        return eh.audit(None, decision, sensitive_features=group, **options).too_few[0].rows_needed

    assert needed(margin=0.1) < needed() < needed(margin=0.03)
    assert needed(confidence=0.8) < needed() < needed(confidence=0.99)


def test_groups_that_could_have_shown_a_difference_are_not_too_small():
    group, decision = lopsided()
    large = group != "tiny"
    assert not eh.audit(None, decision[large], sensitive_features=group[large]).too_few


def test_a_tiny_group_that_surely_differs_is_not_too_small():
    group, decision = lopsided(small=25)
    decision[group == "tiny"] = 1
    decision[group != "tiny"] = np.arange(3000) % 4 == 0
    found = eh.audit(None, decision, sensitive_features=group)
    assert "tiny" not in [one.label for one in found.too_few]


def test_of_a_regression_the_margin_is_a_tenth_of_a_standard_deviation():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [2000, 2000, 10])
    predicted = rng.normal(size=len(group))
    truth = predicted + rng.normal(size=len(group))
    found = eh.audit(truth, predicted, sensitive_features=group, criteria="weak_parity")
    assert [one.label for one in found.too_few] == ["tiny"]
    assert "a tenth of a standard deviation" in found.document()["too_few"]["sentence"]


def test_no_pair_is_named_where_nothing_is_sure():
    group, decision = lopsided()
    rng = np.random.default_rng(1)
    finding = eh.audit(
        None,
        rng.permutation(decision),
        sensitive_features=group,
        criteria="statistical_parity",
    ).findings[0]
    assert finding.verdict == "cannot tell"
    assert "Furthest apart" not in finding.sentence


def test_a_few_rows_of_small_losses_do_not_lead():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [3000, 3000, 12])
    truth = np.zeros(len(group))
    error = rng.lognormal(0, 1.5, len(group)) * np.where(group == "b", 1.5, 1.0)
    error[group == "tiny"] = np.linspace(0.2, 0.21, 12)
    found = eh.audit(
        truth + 0.5,
        truth + 0.5 + error,
        sensitive_features=group,
        criteria="performance_parity(mae)",
    )
    pair = found.findings[0].pair
    assert {pair.high, pair.low} == {"a", "b"}


def test_a_lower_bound_in_percentage_points_is_rounded_down():
    group = np.repeat(["a", "b"], 1000)
    decision = np.concatenate([np.arange(1000) < 300, np.arange(1000) < 500]).astype(int)
    finding = eh.audit(
        None, decision, sensitive_features=group, criteria="statistical_parity"
    ).findings[0]
    told = float(finding.sentence.split("at least ")[1].split(" percentage points")[0])
    assert 100 * finding.gap.low - 0.1 < told <= 100 * finding.gap.low + 1e-9


def test_every_form_says_how_many_rows_would_tell():
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b"], 60)
    decision = rng.permutation(np.repeat([0, 1], 60))
    asked = {"sensitive_features": group, "criteria": "statistical_parity", "measures": "mpd"}
    found = eh.audit(None, decision, **asked)
    sentence = found.findings[0].sentence
    assert "Inconclusive: the true gap may be anything from 0 to " in sentence
    assert "times as many rows would show" in sentence
    assert sentence in found.to_markdown()
    assert f"<p>{sentence}</p>" in found.to_html()
    screen = Console(width=400, record=True, file=io.StringIO())
    show(found.document(), (), screen, full=True)
    text = screen.export_text()
    assert sentence in text
    assert "Furthest apart" not in text


def test_the_headline_gives_a_difference_of_rates_in_percentage_points():
    group, decision = lopsided()
    page = eh.audit(None, decision, sensitive_features=group).to_html()
    assert "percentage points" in page.split("</header>")[0]


@pytest.mark.slow
def test_groups_that_were_found_alike_are_not_too_small_to_say():
    rng = np.random.default_rng(0)
    truth = np.tile(rng.integers(0, 5, 1500), 2)
    predicted = np.where(np.tile(rng.random(1500) < 0.6, 2), truth, (truth + 1) % 5)
    jobs = np.array(["clerk", "driver", "nurse", "teacher", "engineer"])
    group = np.repeat(["women", "men"], 1500)
    found = eh.audit(jobs[truth], jobs[predicted], sensitive_features=group)
    assert found.finding("statistical_parity").verdict == "alike"
    assert not any(s.statistic.startswith("selection") for s in found.too_few)
    assert "could be missed" not in found.summary
    narrow = eh.audit(jobs[truth], jobs[predicted], sensitive_features=group, margin=0.01)
    assert narrow.finding("statistical_parity").verdict == "cannot tell"
    assert "in both a difference of 1 percentage point could be missed" in narrow.summary
