"""The command line: `evenhand audit`, `compare`, `watch`, `bench`, `datasets`, `demo` …."""

from evenhand.cli.program import main

__all__ = ["main"]
