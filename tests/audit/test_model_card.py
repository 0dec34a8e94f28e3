"""The section of a model card: metadata that YAML reads, Markdown that no name can break."""

import numpy as np
import pytest
import yaml

import evenhand as eh

NASTY = '"}\n---\n# x: [a|b] <script>\x85 *y* \u2028名'


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", NASTY], 600)
    y = rng.integers(0, 2, 600)
    p = np.where(rng.random(600) < 0.8, y, group == "a").astype(int)
    return eh.audit(y, p, sensitive_features={"g | h": group}, title=NASTY)


def parted(card):
    assert card.startswith("---\n")
    metadata, _, section = card[4:].partition("\n---\n\n")
    return yaml.safe_load(metadata), section


def test_the_metadata_are_those_of_a_model_index(found):
    metadata, _ = parted(found.to_model_card(model="screening", dataset="people"))
    (entry,) = metadata["model-index"]
    (result,) = entry["results"]
    assert entry["name"] == "screening"
    assert result["task"] == {"type": "tabular-classification"}
    assert result["dataset"]["name"] == "people"
    for metric in result["metrics"]:
        assert {"type", "value", "name"} <= set(metric)
        assert isinstance(metric["value"], int | float)


@pytest.mark.slow
def test_every_criterion_has_its_largest_difference_and_its_interval(found):
    metadata, _ = parted(found.to_model_card())
    metrics = {one["type"]: one for one in metadata["model-index"][0]["results"][0]["metrics"]}
    for finding in found.findings:
        if finding.verdict == "undefined":
            continue
        value = next(iter(finding.values.values()))
        metric = metrics[f"{finding.criterion}.{value.measure}"]
        assert metric["value"] == pytest.approx(value.value)
        assert metric["args"]["low"] == pytest.approx(value.low)
        assert metric["args"]["verdict"] == finding.verdict


def test_no_name_is_markup(found):
    metadata, section = parted(found.to_model_card(model=NASTY, dataset=NASTY))
    assert metadata["model-index"][0]["name"].startswith('"}')
    assert "\n---" not in section.replace("\n| ---", "")
    assert "<script>" not in section
    assert "\n# " not in section
    table = [line for line in section.splitlines() if line.startswith("| Group")]
    assert len(table) == 1


def test_the_section_has_the_summary_and_the_groups(found, tmp_path):
    card = found.to_model_card(tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == card
    _, section = parted(card)
    assert section.startswith("## Fairness\n")
    assert "rows in 2 groups" in section
    assert "A low score is not “fair”" in section


def test_a_regression_is_a_tabular_regression():
    rng = np.random.default_rng(0)
    y, group = rng.normal(size=200), rng.choice(["a", "b"], 200)
    found = eh.audit(y, y + 1, sensitive_features=group, criteria="weak_parity")
    metadata, _ = parted(found.to_model_card())
    assert metadata["model-index"][0]["results"][0]["task"]["type"] == "tabular-regression"
