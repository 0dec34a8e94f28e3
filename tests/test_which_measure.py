"""The page that compares measures: its tables follow from its script."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks/which_measure.py"


@pytest.fixture(scope="module")
def study():
    pytest.importorskip("matplotlib")
    spec = spec_from_file_location("which_measure", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["disagreement", "break-even", "power", "choice", "rare", "stored"]
)
def test_every_table_of_the_page_follows_from_its_script(study, name):
    make, _ = study.TABLES[name]
    text = study.PAGE.read_text(encoding="utf-8")
    assert study.written(text, {name: make()}) == text


def test_the_page_has_every_table_and_figure_of_the_script(study):
    text = study.PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- ([\w-]+) -->\n\n\|", text)) == set(study.TABLES)
    assert set(re.findall(r"which-measure-([\w-]+)\.png", text)) == set(study.FIGURES)
