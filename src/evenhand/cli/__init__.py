"""The command line: `evenhand audit`, `compare`, `bench`, `datasets`, `demo` and registries."""

from evenhand.cli.program import main

__all__ = ["main"]
