"""What must not depend on the machine or on how the tests were started."""

import os

from hypothesis import settings

# Time limits of single examples say more of the machine than of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

# Workers of pytest-xdist inherit the width of the terminal; ours is that of a pipe.
os.environ.pop("COLUMNS", None)
