"""The command line: `evenhand audit`, `bench`, `datasets`, `criteria`, `measures` and `demo`."""

from evenhand.cli.program import main

__all__ = ["main"]
