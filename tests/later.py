"""Packages that take seconds to import, imported when they are first used.

Every worker collects every file, so that what is imported at the top of one is imported by all.
"""

from importlib import import_module

import pytest


class Later:
    """A module that is imported, or the test skipped, when something of it is asked for."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        if attribute.startswith(("_", "pytest")):  # pytest asks whatever it finds in a file
            raise AttributeError(attribute)
        package = self.name.partition(".")[0]
        pytest.importorskip(package, reason=f"{package} is not installed")
        return getattr(import_module(self.name), attribute)
