"""The command `evenhand`: one group, whose commands live beside what they command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

HELP = """How evenly a model treats groups.

Exit status: 0 when all went well, 1 when something failed, 2 when the command was misspelt.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; without arguments, the ones the program was called with."""
    try:
        import click
        import rich  # noqa: F401
    except ImportError as missing:
        sys.exit(f'The command line needs {missing.name}: pip install "evenhand[cli]"')
    from evenhand.datasets.commands import datasets

    group = click.Group("evenhand", help=HELP, commands={"datasets": datasets})
    group.main(arguments, prog_name="evenhand")
