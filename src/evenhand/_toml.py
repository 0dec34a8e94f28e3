"""Settings in TOML files, validated."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from evenhand._errors import InputError


def read_toml(path: Path, error: type[InputError] = InputError) -> dict[str, Any]:
    """The content of a file; any fault in it is one error."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        # A ValueError is no TOML, no UTF-8, or a number of thousands of digits.
        raise error(f"{path} cannot be read as TOML: {failure}") from failure
