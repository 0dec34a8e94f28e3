import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.cli.audit import audit

COLUMNS = ("--target", "y", "--prediction", "p", "--group", "g")
QUICK = ("--criterion", "statistical_parity", "--measure", "mpd")


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 600
    group = rng.choice(["a", "b"], n)
    score = rng.random(n).round(3)
    return pd.DataFrame(
        {
            "y": (rng.random(n) < score).astype(int),
            "p": (score > np.where(group == "a", 0.3, 0.6)).astype(int),
            "s": score,
            "g": group,
            "h": rng.choice(["x", "y", "z"], n),
            "w": rng.random(n),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


@pytest.fixture
def run(folder):
    """Audit a file, or a frame through a Parquet file, asking one quick question."""

    def call(rows, *arguments, columns=COLUMNS, quick=QUICK):
        if isinstance(rows, pd.DataFrame):
            rows.to_parquet(folder / "rows.parquet")
            rows = "rows.parquet"
        named = [rows] if isinstance(rows, str) else list(rows)
        return CliRunner().invoke(audit, [*named, *columns, *quick, *arguments])

    return call
