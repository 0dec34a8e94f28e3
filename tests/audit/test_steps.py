"""What to do next: steps that fit what was found, with calls that run."""

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


@pytest.mark.slow
def test_groups_that_are_many_numbers_are_to_be_cut_into_ranges():
    given, options = SITUATIONS["a group for every age"]
    people = {"age": given["groups"], "sex": GROUP}
    for groups, column in ((given["groups"], "group"), (people, "age")):
        found = eh.audit(
            given["y_true"], given["y_pred"], sensitive_features=groups, depth=2, **options
        )
        step = next(one for one in found.document()["next"] if "too small" in one["found"])
        assert step["remedy"].startswith(f"“{column}” has 60 different numbers")
        ranges = eval(step["call"], {"eh": eh, **given, "groups": groups})
        assert len(ranges.evidence.groups) == (4 if column == "group" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_call_that_a_report_advises_runs(situation):
    given, options = SITUATIONS[situation]
    columns = {name: given[name] for name in ("y_true", "y_pred") if given[name] is not None}
    if given["y_score"] is not None:
        columns["y_score"] = given["y_score"]
    found = eh.audit(**columns, sensitive_features=given["groups"], **options)
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
