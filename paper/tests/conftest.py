"""What many tests look at is made once: results, their findings, and each figure."""

from functools import cache

import pytest

from paper.findings import findings
from paper.tests import invented


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
