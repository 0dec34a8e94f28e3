"""What is attacked, by name: each attack takes the number of a case."""

from __future__ import annotations

from collections.abc import Callable

import journeys
from fuzz import (
    commands,
    counting,
    counts,
    days,
    downloads,
    exports,
    penalties,
    states,
    stores,
)

TARGETS: dict[str, Callable[[int], None]] = {
    "counting": counting.attack,
    "counts": counts.attack,
    "commands": commands.attack,
    "stores": stores.attack,
    "downloads": downloads.attack,
    "exports": exports.attack,
    "journeys": journeys.walk,
    "states": states.attack,
    "days": days.attack,
    "penalties": penalties.attack,
}
