"""The command line: `evenhand audit`, `compare`, `bench`, `datasets`, `criteria`, `demo`, …"""

from evenhand.cli.program import main

__all__ = ["main"]
