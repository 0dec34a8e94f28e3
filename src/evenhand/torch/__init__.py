"""Training with fairness penalties and bounds, for any criterion, in PyTorch on any device.

predictions ── scatter ──▶ soft tally ── read ──▶ values by group ── measure, less noise ──▶ loss

`pip install "evenhand[torch]"`. Targets and groups are integers from 0, as usual in PyTorch.
"""

from importlib import import_module
from typing import Any

from evenhand._errors import require

require("torch", purpose="Training with penalties", extra="torch")

from evenhand.torch.constraint import Constraint  # noqa: E402
from evenhand.torch.counting import DeviceTally  # noqa: E402
from evenhand.torch.penalty import Penalty  # noqa: E402
from evenhand.torch.soft_tally import SoftTally, soft_tally  # noqa: E402

__all__ = [
    "Constraint",
    "CriterionCallback",
    "DeviceTally",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "Penalty",
    "SoftTally",
    "soft_tally",
]


def __getattr__(name: str) -> Any:
    """Classes that need more than PyTorch, imported lazily."""
    if name in ("PenalizedClassifier", "PenalizedRegressor"):
        return getattr(import_module("evenhand.mitigation"), name)
    if name == "CriterionCallback":  # needs Lightning
        from evenhand.torch.callback import CriterionCallback

        return CriterionCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
