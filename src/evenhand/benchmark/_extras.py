"""Packages that only benchmarks need."""

from __future__ import annotations

from importlib.util import find_spec

from evenhand._errors import MissingExtraError


def require(*packages: str) -> None:
    """Raise one clear error if a package of the `benchmark` extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f'A benchmark needs {" and ".join(missing)}: pip install "evenhand[benchmark]"',
            name=missing[0],
        )
