"""A next step: the finding, the remedy, the call and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Step = dict[str, str]
Summary = Mapping[str, Any]


def step(finding: str, remedy: str, call: str = "", cost: str = "", *, action: str) -> Step:
    """A step; `action` is the remedy in half a line, for the first screen."""
    return {"found": finding, "remedy": remedy, "call": call, "cost": cost, "action": action}
