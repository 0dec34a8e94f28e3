"""A criterion in the log of a Lightning trainer, with its noise floor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evenhand._columns import Label
from evenhand._errors import InputError, require_package
from evenhand._uncertainty.chance import chance
from evenhand.criteria.evaluation import named
from evenhand.torch.counting import DeviceTally
from torch import Tensor

require_package("lightning", "Logging a criterion in a Lightning trainer")

from lightning.pytorch import Callback  # noqa: E402

Rows = tuple[Tensor, Tensor, Tensor]  # predictions, true classes, groups


class CriterionCallback(Callback):
    """Log a criterion of the decisions on validation rows, with its noise floor.

    Rows are counted on the model's device, over all processes. At the end of a validation epoch
    three numbers are logged: the criterion, `…_floor` (its mean for a fair model with groups of
    these sizes) and `…_high` (which a fair model exceeds once in twenty times). A value below that
    is no evidence of a disparity.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        A criterion of labels.
    measure : str, default "mpd"
        The measure of inequality.
    classes, groups : sequence of labels, or int
        The classes and groups in the order of their codes, or their numbers.
    read : callable, default None
        A function of the output of `validation_step` and the batch that returns predictions, true
        classes and groups, as for `DeviceTally.update`. By default the step returns a mapping with
        "predictions", "y_true" and "group".
    favorable : label, default None
        The favorable class, for criteria about one.
    replicates : int, default 200
        The number of fair models drawn for the floor.
    name : str, default None
        Its name in the log; by default "val", criterion and measure, joined by underscores.

    Examples
    --------
    >>> from evenhand.torch import CriterionCallback
    >>> logged = CriterionCallback("equal_opportunity", "mpd", classes=2, groups=["f", "m"])
    >>> logged.name
    'val_equal_opportunity_mpd'

    """

    def __init__(
        self,
        criterion: str = "statistical_parity",
        measure: str = "mpd",
        *,
        classes: Sequence[Label] | int,
        groups: Sequence[Label] | int,
        read: Callable[[Any, Any], Rows] | None = None,
        favorable: Label = None,
        replicates: int = 200,
        name: str | None = None,
    ) -> None:
        definition = named(criterion)
        if definition.statistic.needs not in ("labels", "predictions"):
            raise InputError(f"{definition.name!r} is not a criterion of labels.")
        criterion = definition.name
        self.criterion, self.measure, self.favorable = criterion, measure, favorable
        self.read, self.replicates = read or _returned, replicates
        self.name = name or f"val_{criterion}_{measure}"
        self.counts = DeviceTally(classes, groups)

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        """Start counting.

        Parameters
        ----------
        trainer, pl_module : object
            The trainer and the model.

        """
        self.counts.reset()

    def on_validation_batch_end(
        self,
        trainer: Any,  # noqa: ARG002
        pl_module: Any,  # noqa: ARG002
        outputs: Any,
        batch: Any,
        batch_idx: int,  # noqa: ARG002
        dataloader_idx: int = 0,  # noqa: ARG002
    ) -> None:
        """Count a batch.

        Parameters
        ----------
        trainer, pl_module : object
            The trainer and the model.
        outputs : object
            The output of the step.
        batch : object
            The batch.
        batch_idx, dataloader_idx : int
            Its index, and that of its loader.

        """
        self.counts.update(*(part.detach() for part in self.read(outputs, batch)))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the value, its floor and the 95% quantile of fair models.

        Parameters
        ----------
        trainer, pl_module : object
            The trainer and the model.

        """
        if trainer.sanity_checking:
            return
        finding = chance(
            self.criterion,
            self.counts.tally(),
            measure=self.measure,
            favorable=self.favorable,
            replicates=self.replicates,
            random_state=0,
        )
        values = {"": finding.value, "_floor": finding.floor, "_high": finding.high}
        for end, value in values.items():
            pl_module.log(f"{self.name}{end}", float(value), rank_zero_only=True)


def _returned(outputs: Any, batch: Any) -> Rows:  # noqa: ARG001
    """The rows that a step returned by name."""
    names = ("predictions", "y_true", "group")
    if not isinstance(outputs, dict) or any(name not in outputs for name in names):
        raise InputError(
            f"validation_step has to return a dict with {', '.join(map(repr, names))}; or pass "
            "read=, a function of what it returns and the batch."
        )
    predictions, y_true, group = (outputs[name] for name in names)
    return predictions, y_true, group
