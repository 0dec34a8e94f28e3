"""What must not depend on the machine or on how the tests were started."""

import os

import pytest
from hypothesis import settings

from engines import ENGINES, LOCAL

# Time limits of single examples say more of the machine than of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

# Workers of pytest-xdist inherit the width of the terminal; ours is that of a pipe.
os.environ.pop("COLUMNS", None)


@pytest.fixture(params=[engine.as_parameter for engine in ENGINES.values()])
def engine(request):
    """Every engine that holds tables, in turn; those that are not installed are skipped."""
    return request.param


@pytest.fixture(params=[engine.as_parameter for engine in LOCAL])
def local_engine(request):
    """Every engine that works in this process and needs no start."""
    return request.param
