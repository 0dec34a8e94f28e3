"""What to do next: steps that fit what was found, with calls that run."""

from functools import cache

import numpy as np
import pytest

import evenhand as eh

pytestmark = pytest.mark.usefixtures("few_folds")

ROWS = 1200
RNG = np.random.default_rng(0)
GROUP = np.repeat(["a", "b"], ROWS // 2)
TRUTH = np.tile([0, 1], ROWS // 2)
NOISE = RNG.uniform(-0.3, 0.3, ROWS)
EVEN = np.clip(0.3 + 0.4 * TRUTH + NOISE, 0, 1)
NOBODY = np.where(np.arange(ROWS) < 5, "c", GROUP)  # five people, all of one true label
CLASSES = np.arange(ROWS) % 3
SCORES = (
    RNG.dirichlet(np.ones(3), ROWS) + np.eye(3)[CLASSES] * np.where(GROUP == "a", 1, 0.2)[:, None]
)
SCORES /= SCORES.sum(axis=1, keepdims=True)


def scored(y, score, group=GROUP, **options):
    given = {"y_true": y, "y_score": score, "y_pred": (np.asarray(score) >= 0.5).astype(int)}
    return given | {"groups": group}, {"favorable": 1, **options}


SITUATIONS = {
    "selection and errors differ": scored(TRUTH, np.clip(EVEN - 0.25 * (GROUP == "b"), 0, 1)),
    "base rates differ": scored(
        np.where(GROUP == "a", TRUTH, TRUTH * (np.arange(ROWS) % 4 > 1)),
        np.where(GROUP == "a", TRUTH, TRUTH * (np.arange(ROWS) % 4 > 1)) * 0.6 + 0.2,
    ),
    "scores mean different things": scored(TRUTH, np.where(GROUP == "a", EVEN, EVEN**3)),
    "a group lacks a label": scored(
        np.where(NOBODY == "c", 0, TRUTH), EVEN - 0.25 * (GROUP == "b") + 0.25, NOBODY
    ),
    "another threshold helps": scored(
        TRUTH, np.where(GROUP == "a", EVEN, 0.4 + 0.2 * (EVEN - 0.5))
    ),
    "no truth": (
        {"y_true": None, "y_pred": (GROUP == "a") * TRUTH, "y_score": None, "groups": GROUP}
        | {"columns": {"city": np.arange(ROWS) // 300 % 2}},
        {"favorable": 1},
    ),
    "several classes": (
        {"y_true": CLASSES, "y_pred": SCORES.argmax(axis=1), "y_score": SCORES, "groups": GROUP},
        {},
    ),
    "one true label": scored(0 * TRUTH, np.clip(EVEN - 0.25 * (GROUP == "b"), 0, 1)),
    "one decision": (
        {
            "y_true": np.where(GROUP == "a", TRUTH, TRUTH * (np.arange(ROWS) % 4 > 1)),
            "y_pred": np.ones(ROWS, int),
            "y_score": np.clip(EVEN - 0.25 * (GROUP == "b"), 0, 1),
            "groups": GROUP,
        },
        {"favorable": 1},
    ),
    "precision alone differs": (
        {
            "y_true": np.concatenate(
                [np.repeat([1, 0], [300, 300]), np.repeat([1, 0], [200, 400])]
            ),
            "y_pred": np.concatenate(
                [
                    np.repeat([1, 0, 1, 0], [210, 90, 90, 210]),
                    np.repeat([1, 0, 1, 0], [140, 60, 120, 280]),
                ]
            ),
            "y_score": None,
            "groups": GROUP,
        },
        {"favorable": 1},
    ),
    "few rows": scored(TRUTH[580:620], EVEN[580:620], GROUP[580:620]),
    "a group for every age": scored(TRUTH, EVEN, 18 + np.arange(ROWS) // 2 % 60),
    "nothing is shown": scored(TRUTH, EVEN),
    "numbers": (
        {
            "y_true": 10 * EVEN,
            "y_pred": 10 * EVEN + NOISE + (GROUP == "b"),
            "y_score": None,
            "groups": GROUP,
        },
        {},
    ),
}


@cache
def audited(situation):
    given, options = SITUATIONS[situation]
    columns = {key: given[key] for key in ("y_true", "y_pred", "y_score") if given[key] is not None}
    return eh.audit(**columns, sensitive_features=given["groups"], **options)


@pytest.mark.slow
def test_groups_that_are_many_numbers_are_to_be_cut_into_ranges():
    given, options = SITUATIONS["a group for every age"]
    people = {"age": given["groups"], "sex": GROUP}
    for groups, column in ((given["groups"], "group"), (people, "age")):
        found = eh.audit(
            given["y_true"], given["y_pred"], sensitive_features=groups, depth=2, **options
        )
        step = next(one for one in found.document()["next"] if "could be missed" in one["found"])
        assert step["remedy"].startswith(f"“{column}” has 60 different numbers")
        ranges = eval(step["call"], {"eh": eh, **given, "groups": groups})
        assert len(ranges.evidence.groups) == (4 if column == "group" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_call_that_a_report_advises_runs(situation):
    given, found = SITUATIONS[situation][0], audited(situation)
    steps = found.document()["next"]
    assert 1 <= len(steps) <= 3
    for step in steps:
        assert step["found"].endswith(".")
        assert step["remedy"].endswith(".")
        assert step["action"][:1].islower()
        assert not step["action"].endswith(".")
        if step["call"]:
            answer = eval(step["call"], {"eh": eh, "audit": found, **given})
            assert answer is not None
            if "threshold" in step["action"]:
                selected = (answer.evidence.decided_at <= np.asarray(given["y_score"])).mean()
                said = float(step["cost"].split("select ")[1].split("%")[0])
                assert said == pytest.approx(100 * selected, abs=1)


def test_nobody_is_selected_more_where_no_outcome_was_named_as_favorable():
    words = np.where((GROUP == "a") * TRUTH, "yes", "no")
    for favorable, told in ((None, False), ("yes", True)):
        found = eh.audit(None, words, sensitive_features=GROUP, favorable=favorable)
        (step,) = found.document()["next"]
        assert ("more selected in b" in step["cost"]) == told


def test_one_decision_for_all_is_no_work_that_is_worse_for_some():
    found = audited("one decision")
    assert {"accuracy_parity"} <= {f.criterion for f in found.findings if f.verdict == "differs"}
    said = " ".join(step["found"] for step in found.document()["next"])
    assert "works less well" not in said
    assert "say nothing about a and b" not in said


FOUND = {
    "selection and errors differ": ("Selection rates and error rates differ.", "selected in b"),
    "base rates differ": ("Selection rates differ; error rates are not", "selected in b"),
    "no truth": (
        "Selection rates differ.",
        "with the same number selected: 150 more selected in b",
    ),
    "several classes": ("The model works less well", "more decisions would be right: "),
    "another threshold helps": ("The threshold matters for ", " of people instead of "),
    "scores mean different things": ("Scores mean different things", "selected in "),
    "precision alone differs": ("Precision differs; ", "fewer would be selected wrongly: "),
    "few rows": (
        "In both a difference of 5 percentage points could be missed.",
        "Each would need about ",
    ),
    "a group lacks a label": ("Some criteria say nothing about c.", "It has 5 rows"),
}


@pytest.mark.slow
@pytest.mark.parametrize("situation", FOUND)
def test_every_step_has_a_call_and_says_its_cost_in_people(situation):
    beginning, cost = FOUND[situation]
    step = next(
        s for s in audited(situation).document()["next"] if s["found"].startswith(beginning)
    )
    assert step["call"]
    assert cost in step["cost"]
