"""Packages that are needed only for some tasks."""

from __future__ import annotations

from importlib.util import find_spec

from evenhand._errors import MissingExtraError


def require(*packages: str, purpose: str) -> None:
    """Raise one clear error if a package of the `data` extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f'{purpose} needs {" and ".join(missing)}: pip install "evenhand[data]"',
            name=missing[0],
        )
