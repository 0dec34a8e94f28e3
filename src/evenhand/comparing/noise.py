"""What chance alone would show, for every model."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.comparing.evidence import Sources
from evenhand.comparing.question import Question
from evenhand.uncertainty import Chance, chance
from evenhand.uncertainty.multiplicity import LEVEL


def noise(
    asked: Question,
    sources: Sources,
    replicates: int,
    random_state: int | np.random.Generator | None,
) -> list[Chance]:
    """For each model, its value beside what fair models show."""
    options: dict[str, Any] = {"replicates": replicates, "random_state": random_state}
    return [
        chance(source, asked.criterion, **options, **asked.asked) for source in sources[asked.needs]
    ]


def enough(replicates: int, claims: int) -> int:
    """Refuse so few fair models that no claim among so many could ever reach the level."""
    if replicates + 1 < claims / LEVEL:
        raise ValueError(
            f"{replicates} replicates cannot show a disparity among {claims} models: the smallest "
            f"p-value is too large. Pass replicates={round(2 * claims / LEVEL)}, or 0 for none."
        )
    return replicates
