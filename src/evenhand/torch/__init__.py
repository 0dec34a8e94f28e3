"""Training that is even-handed: penalties and bounds of any criterion, in PyTorch, on any device.

predictions ── scatter ──▶ soft tally ── read ──▶ values by group ── measure, less noise ──▶ loss

`pip install "evenhand[torch]"`. Targets and groups are whole numbers from 0, as PyTorch has them.
"""

from typing import Any

from evenhand._errors import require

require("torch", purpose="Training with penalties", extra="torch")

from evenhand.torch.constraint import Constraint  # noqa: E402
from evenhand.torch.counting import DeviceTally  # noqa: E402
from evenhand.torch.penalty import Penalty  # noqa: E402
from evenhand.torch.soft_tally import SoftTally, soft_tally  # noqa: E402

__all__ = [
    "Constraint",
    "DeviceTally",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "Penalty",
    "SoftTally",
    "soft_tally",
]


def __getattr__(name: str) -> Any:
    """Estimators come with scikit-learn, which a training loop of one's own does not need."""
    if name in ("PenalizedClassifier", "PenalizedRegressor"):
        from evenhand.torch import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
