import numpy as np
import pandas as pd
import pytest

from evenhand.app.desk import Desk


@pytest.fixture
def desk():
    there = Desk()
    yield there
    there.close()


@pytest.fixture(scope="session")
def loans():
    """Loans: what became of them, what was decided, by which score, and about whom."""
    rng = np.random.default_rng(0)
    n = 400
    sex, race = rng.choice(["F", "M"], n), rng.choice(["Black", "White"], n)
    score = np.clip(rng.beta(2, 2, n) + 0.2 * (sex == "M"), 0, 1).round(2)
    return pd.DataFrame(
        {
            "outcome": np.where(rng.random(n) < score, "repaid", "default"),
            "decision": np.where(score > 0.6, "repaid", "default"),
            "score": score,
            "sex": sex,
            "race": race,
            "age": rng.integers(18, 80, n),
            "income": (1000 * rng.random(n)).round(2),
            "predicted": (1000 * rng.random(n)).round(2),
            "grade": rng.choice(["a", "b", "c"], n),
            "given": rng.choice(["a", "b", "c"], n),
            "person": np.arange(n) // 2,
            "region": rng.choice(["north", None], n),
        }
    )
