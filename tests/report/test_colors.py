"""The colors: legible on their paper in both themes, and told apart by color-blind readers."""

import re
from importlib.resources import files

import numpy as np
import pytest

# Viénot, Brettel and Mollon (1999), on linear RGB.
BLIND = {
    "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@pytest.fixture(params=["light", "dark"])
def theme(request):
    text = (files("evenhand.report") / "templates" / f"{request.param}.css").read_text("utf-8")
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", text))


def linear(color: str) -> np.ndarray:
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""
    low, high = sorted(float(LUMINANCE @ linear(color)) + 0.05 for color in (one, other))
    return high / low


@pytest.mark.parametrize("name", ["ink", "soft", "link", "beyond", "above", "below"])
def test_text_has_a_contrast_of_at_least_four_and_a_half(theme, name):
    assert contrast(theme[name], theme["paper"]) >= 4.5


@pytest.mark.parametrize("name", ["around", *(f"s{i}" for i in range(8))])
def test_marks_have_a_contrast_of_at_least_three(theme, name):
    assert contrast(theme[name], theme["paper"]) >= 3


@pytest.mark.parametrize("blindness", BLIND)
def test_above_and_below_differ_for_color_blind_readers(theme, blindness):
    seen = [np.array(BLIND[blindness]) @ linear(theme[name]) for name in ("above", "below")]
    shown = [np.clip(color, 0, 1) ** (1 / 2.4) for color in seen]
    assert np.linalg.norm(shown[0] - shown[1]) > 0.3
