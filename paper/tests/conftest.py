"""What many tests look at is made once: results, their findings, and each figure.

The paper is imported where it is used: pytest reads this file whatever it runs.
"""

import os
from functools import cache

import pytest

os.environ["EVENHAND_OFFLINE"] = "1"  # no test downloads a data set


@pytest.fixture(scope="session")
def results():
    """The paper's runs with invented scores and noise floors."""
    from paper.tests import invented

    return invented.with_lots(invented.results(), {"floor": 0.03, "high": 0.05})


@pytest.fixture(scope="session")
def verdicts(results):
    from paper.findings import findings

    return findings(results)


@pytest.fixture(scope="session")
def drawn(results):
    """Figures of the whole table, each drawn once."""
    from paper.tests import invented

    return cache(lambda name: invented.drawing_of(results, name))
