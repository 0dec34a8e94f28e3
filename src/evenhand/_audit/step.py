"""A step to take next: what was found, the remedy, the call, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Step = dict[str, str]
Summary = Mapping[str, Any]


def step(found: str, remedy: str, call: str = "", cost: str = "", *, action: str) -> Step:
    """A step; `action` is what to do in half a line, for the first screen."""
    return {"found": found, "remedy": remedy, "call": call, "cost": cost, "action": action}
