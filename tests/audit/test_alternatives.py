"""The frontier beside an audit's findings: where the model stands, and what is said if not."""

import re

import numpy as np
import pytest

import evenhand as eh
from evenhand._audit import alternatives as module

FITTED_ONCE = {"rate_error": None, "truth": "labels"}  # without rows left out


def people(n=1000, groups=2, seed=0):
    random = np.random.default_rng(seed)
    group = random.integers(0, groups, n)
    score = 1 / (1 + np.exp(-(random.normal(size=n) + 1.2 * group / max(groups - 1, 1))))
    y = (random.random(n) < score).astype(int)
    return y, score, np.array([f"g{g}" for g in group])


@pytest.mark.slow
def test_the_audits_frontier_is_that_of_the_frontier_function():
    y, score, group = people()
    audit = eh.audit(y, sensitive_features=group, y_score=score, criteria="statistical_parity")
    place = audit.alternatives.standing
    options = {"capacity": float(np.mean(score >= 0.5)), "favorable": 1, **FITTED_ONCE}
    full = eh.frontier(y, score, sensitive_features=group, values=list(place.bound), **options)
    curve = full.to_dict()
    assert np.allclose(place.cost, np.add(curve["cost"], curve["rising_cost"]), atol=1e-6)
    assert place.value == pytest.approx(full.model.value, abs=1e-12)
    assert place.model_cost == pytest.approx(full.model.cost, abs=1e-12)
    assert place.summary[0] == full.sentences[0]


def test_closing_the_gap_selects_as_many_as_the_model_and_says_for_whom_that_changes():
    y, score, group = people(groups=3)
    audit = eh.audit(y, sensitive_features=group, y_score=score, criteria="statistical_parity")
    decided = score >= 0.5
    for name in np.unique(group):
        own = group == name
        change = decided.mean() * own.sum() - decided[own].sum()  # at equal rates
        word = "more" if change > 0 else "fewer"
        said = f"{abs(change):.0f} {word}(?: selected)? in {name}"
        assert re.search(said, audit.alternatives.standing.people)
        assert re.search(said, audit.to_html())
        assert re.search(said, audit.to_markdown())


@pytest.mark.slow
def test_the_model_stands_where_the_finding_says():
    y, score, group = people(groups=4)
    for criterion in ("statistical_parity", "equalized_odds"):
        audit = eh.audit(y, sensitive_features=group, y_score=score, criteria=criterion)
        standing = audit.alternatives.standing
        assert standing.value == pytest.approx(audit.finding(criterion, "mpd").value)


@pytest.mark.slow
def test_weights_and_a_favorable_zero_are_heeded():
    y, score, group = people()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    options = {"sensitive_features": group, "sample_weight": weight, "favorable": 0, "score_of": 0}
    audit = eh.audit(y, y_score=1 - score, criteria="statistical_parity", **options)
    place = audit.alternatives.standing
    selected = float(np.average(1 - score >= 0.5, weights=weight))
    held = {**FITTED_ONCE, "capacity": selected, "values": list(place.bound)}
    curve = eh.frontier(y, 1 - score, **held, **options).to_dict()
    assert np.allclose(place.cost, np.add(curve["cost"], curve["rising_cost"]), atol=1e-6)
    options["score_of"] = 1
    turned = eh.audit(y, y_score=score, criteria="statistical_parity", **options)
    assert np.allclose(turned.alternatives.standing.cost, place.cost, atol=1e-7)


@pytest.mark.slow
def test_scores_beyond_so_many_are_read_in_bins_and_no_curve_is_lower(monkeypatch):
    y, score, group = people()
    asked = {"sensitive_features": group, "y_score": score, "criteria": "statistical_parity"}
    exact = eh.audit(y, **asked).alternatives.standing
    monkeypatch.setattr(module, "MOST_SCORES", 100)
    binned = eh.audit(y, **asked).alternatives
    assert module.COUNTED in binned.notes
    on_exact = np.interp(binned.standing.bound, exact.bound, exact.cost)
    assert (np.array(binned.standing.cost) >= on_exact - 1e-3).all()


@pytest.mark.slow
def test_nothing_is_said_where_groups_do_not_differ():
    y, score, _ = people()
    group = np.random.default_rng(2).choice(["a", "b"], len(y))
    audit = eh.audit(y, sensitive_features=group, y_score=score)
    assert audit.alternatives is None
    assert "What closing the gap would cost" not in audit.to_markdown()


@pytest.mark.slow
def test_without_scores_the_report_says_what_it_needs():
    y, score, group = people()
    audit = eh.audit(y, (score > 0.5).astype(int), sensitive_features=group)
    assert audit.alternatives.standing is None
    assert "--score" in audit.to_markdown()
    assert "--score" in audit.to_html()


@pytest.mark.slow
def test_of_too_many_groups_the_command_is_named(monkeypatch):
    monkeypatch.setattr(module, "MOST_GROUPS", 1)
    y, score, group = people()
    audit = eh.audit(y, sensitive_features=group, y_score=score)
    assert "evenhand frontier" in audit.alternatives.notes[0]


@pytest.mark.slow
def test_the_page_says_that_rules_know_the_group_and_shows_the_model():
    y, score, group = people()
    audit = eh.audit(y, sensitive_features=group, y_score=score)
    page = audit.to_html()
    assert 'id="frontier"' in page
    assert "disparate treatment" in page
    assert "the model:" in page
    assert "disparate treatment" in audit.to_markdown()


@pytest.mark.slow
def test_a_frame_that_is_counted_in_its_engine_has_a_frontier(monkeypatch):
    pl = pytest.importorskip("polars")
    from evenhand._data import tables

    y, score, group = people()
    frame = pl.DataFrame({"y": y, "score": score, "group": group})
    names = {"y_true": "y", "y_score": "score", "sensitive_features": "group"}
    exact = eh.audit(data=frame, **names).alternatives.standing
    monkeypatch.setattr(tables, "ROWS_TO_BRING", 100)
    counted = eh.audit(data=frame.lazy(), **names).alternatives.standing
    assert counted.value == pytest.approx(exact.value)
    assert np.allclose(np.interp(exact.bound, counted.bound, counted.cost), exact.cost, atol=2e-3)


def earnings(n=800):
    random = np.random.default_rng(3)
    group = random.choice(["a", "b", "c"], n)
    predicted = random.normal(size=n) + 0.7 * (group == "b")
    return predicted + random.normal(size=n), predicted, group


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "weak_parity", "wasserstein_parity"])
def test_predicted_amounts_have_the_frontier_of_the_frontier_function(criterion):
    y, predicted, group = earnings()
    weight = np.random.default_rng(4).uniform(0.5, 2, len(y))
    options = {"sensitive_features": group, "sample_weight": weight}
    audit = eh.audit(y, predicted, task="regression", criteria=criterion, **options)
    place = audit.alternatives.standing
    full = eh.frontier(y, predicted, criterion=criterion, values=list(place.bound), **options)
    assert np.allclose(np.square(place.cost), full.to_dict()["cost"], atol=1e-9)
    assert place.value == pytest.approx(audit.finding(criterion, "mpd").value)
    assert place.model_cost == 0
    assert "moves predictions by" in place.summary[1]
    assert "nan" not in " ".join(place.summary)


@pytest.mark.slow
def test_a_regressions_page_draws_how_far_predictions_must_move():
    y, predicted, group = earnings()
    audit = eh.audit(y, predicted, sensitive_features=group, task="regression")
    page = audit.to_html()
    assert "How far predictions move" in page
    assert (
        "How far predictions move"
        not in eh.audit(
            y, predicted - 0.7 * (group == "b"), sensitive_features=group, task="regression"
        ).to_html()
    )
    assert "moves predictions by" in audit.to_markdown()
