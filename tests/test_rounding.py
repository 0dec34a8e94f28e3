"""Bounds as they are written: rounded outward, and alike wherever one stands."""

import re

import numpy as np
import pytest

import evenhand as eh


@pytest.fixture(scope="module")
def finding():
    """The lower end is 0.0659…: nearest is 0.066, and what may be said is 0.065."""
    chosen = np.concatenate([np.arange(1000) < hits for hits in (300, 405)]).astype(int)
    audit = eh.audit(
        None,
        chosen,
        sensitive_features=np.repeat(["a", "b"], 1000),
        favorable=1,
        criteria="statistical_parity",
    )
    return audit.finding("statistical_parity")


def ends(text):
    """The two ends of the interval that a text holds."""
    found = re.search(r"(−?[\d.]+) to (−?[\d.]+)", text)
    return [float(end.replace("−", "-")) for end in found.groups()]


def test_every_text_has_the_same_bounds_and_none_is_narrower_than_the_interval(finding):
    low, high = finding.gap.low, finding.gap.high
    written = np.floor(1000 * low) / 1000, np.ceil(1000 * high) / 1000
    assert round(low, 3) > low or round(high, 3) < high  # else nothing is asked
    for text in (repr(finding), repr(finding.gap)):
        assert ends(text) == pytest.approx(written), text
    assert f"at least {100 * written[0]:.1f} percentage points" in finding.sentence


def test_intervals_and_contrasts_are_written_outward():
    rng = np.random.default_rng(0)
    for seed in range(5):
        value, group = rng.normal(seed, 1.0, 60), rng.integers(0, 2, 60)
        asked = ("weak_parity", None, value)
        interval = eh.interval(*asked, sensitive_features=group, measure="mpd")
        contrast = eh.contrasts(*asked, sensitive_features=group, to=0)[-1]
        for known in (interval, contrast):
            low, high = ends(repr(known))
            assert known.low - 0.002 <= low <= known.low + 1e-9
            assert known.high - 1e-9 <= high <= known.high + 0.002
