"""What many tests look at is made once: results, their findings, and each figure."""

import os
from functools import cache

import pytest

from paper.findings import findings
from paper.tests import invented

os.environ["EVENHAND_OFFLINE"] = "1"  # no test downloads a data set


@pytest.fixture(scope="session")
def results():
    """The paper's runs with invented scores and noise floors."""
    return invented.with_lots(invented.results(), {"floor": 0.03, "high": 0.05})


@pytest.fixture(scope="session")
def verdicts(results):
    return findings(results)


@pytest.fixture(scope="session")
def drawn(results):
    """Figures of the whole table, each drawn once."""
    return cache(lambda name: invented.drawing_of(results, name))
