"""A criterion as a term of the loss, corrected for the noise of small groups."""

from __future__ import annotations

from typing import Any, Literal

import torch
from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named, split_name
from evenhand.measures import MeasureLike
from evenhand.statistics import KINDS
from evenhand.torch.inputs import read_rows
from evenhand.torch.measures import measure_of
from evenhand.torch.noise import variances
from evenhand.torch.numbers import NUMBERS, cumulative, mean_variances, means, values_of
from evenhand.torch.shared import summed_over_processes
from evenhand.torch.soft_tally import SoftTally, count_shares, decided
from torch import Tensor, nn

Noise = Literal["subtract", "memory"]


class Penalty(nn.Module):
    """The inequality of a batch by a criterion and a measure, to be added to a loss.

    A batch has few rows of a small group, so its rates are noisy, and a plain measure penalizes
    even a fair model. `noise="memory"` adds the cells of past batches, without their gradients;
    `noise="subtract"` removes the average contribution of noise, by some measures.

    Parameters
    ----------
    criterion : str or Criterion, default "statistical_parity"
        A criterion of labels (statistical parity, equalized odds, accuracy parity, …), or of
        numbers: weak, strong and Wasserstein parity.
    measure : {"pq", "cv", "cv²", "gini", "mpd", "shortfall"} or Measure, default "mpd"
        The measure of inequality. A `Measure` of your own needs its gradient, `slope`, and is
        computed on the CPU.
    groups : int
        The number of groups; those absent from a batch are left out of it.
    noise : {"memory", "subtract"} or None, default "memory"
        The correction for noise. "subtract" needs "pq", "cv" or "cv²", and leaves out groups with
        fewer than two rows to compare in a batch; with many small groups use "memory".
    memory : float, default 0.99
        The weight of past batches at every step, with `noise="memory"`; less in the first steps,
        when the model changes fast. Batches older than an epoch mislead: use at most
        1 − 1 / (batches in an epoch).
    temperature : float, optional
        Sharpens probabilities: they are raised to 1 / temperature. For predicted numbers it is the
        softness of a cut, in standard deviations; 0.1 by default.
    hard : bool, default False
        Count decisions, with the gradient of the underlying probabilities.
    favorable : int, default 1
        The favorable label, for criteria that compare only one; and the compared class of two.
    aggregate : {"mean", "worst"}, default "mean"
        The aggregate over classes or cells. The worst of noisy cells is too large on average,
        whatever is subtracted from each.
    p, q : float, optional
        The orders of the measure "pq", 1 and 2 by default; or name it "pq(p=0.5, q=3)".

    Notes
    -----
    Given the numbers of rows by group, "cv²" with noise subtracted is a quotient of unbiased
    estimates of its numerator and its denominator; "pq" is a smooth function of it. Under
    `DistributedDataParallel` the cells of all processes are added up.

    Examples
    --------
    >>> import torch
    >>> penalty = Penalty("statistical_parity", "mpd", groups=2, noise=None)
    >>> chances = torch.tensor([0.9, 0.7, 0.2, 0.4])
    >>> round(float(penalty(chances, group=torch.tensor([0, 0, 1, 1]))), 6)
    0.5

    """

    cells: Tensor
    steps: Tensor

    def __init__(
        self,
        criterion: str | Criterion = "statistical_parity",
        measure: MeasureLike = "mpd",
        *,
        groups: int,
        noise: Noise | None = "memory",
        memory: float = 0.99,
        temperature: float | None = None,
        hard: bool = False,
        favorable: int = 1,
        aggregate: Literal["mean", "worst"] = "mean",
        p: float | None = None,
        q: float | None = None,
    ) -> None:
        super().__init__()
        self.criterion = _criterion(criterion)
        stated = split_name(criterion)[1] if isinstance(criterion, str) else None
        self._measure, self.measure, subtracts = measure_of(stated or measure, p, q)
        self.p, self.q = p, q
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 2:
            raise InputError(f"groups={groups!r}: it is a whole number, and at least two.")
        if noise not in (None, "subtract", "memory"):
            raise InputError(
                f"noise={noise!r} is none of 'subtract', 'memory' and None."
                f"{did_you_mean(noise, ('subtract', 'memory'))}"
            )
        if noise == "subtract" and self.criterion.statistic.sweeps:
            raise InputError(
                f"Noise cannot be subtracted from {self.criterion.name!r}: use noise='memory'."
            )
        if noise == "subtract" and not subtracts:
            raise InputError(
                f"Noise cannot be subtracted from {self.measure!r}, of which no estimate is "
                "unbiased. Use noise='memory', or one of pq, cv, cv²."
            )
        if temperature is not None and not 0 < temperature < float("inf"):
            raise InputError(f"temperature={temperature!r} is not positive.")
        if not 0 <= memory < 1:
            raise InputError(f"memory={memory!r} is not from 0 to below 1.")
        self.groups, self.noise, self.memory = groups, noise, memory
        if aggregate not in ("mean", "worst"):
            raise InputError(f"aggregate={aggregate!r} is neither 'mean' nor 'worst'.")
        self.temperature, self.hard, self.favorable = temperature, hard, favorable
        self.aggregate = aggregate
        self.register_buffer("cells", torch.empty(0))
        self.register_buffer("steps", torch.zeros(()))

    def forward(
        self,
        predictions: Tensor,
        y_true: Tensor | None = None,
        *,
        group: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        """The inequality of a batch.

        Parameters
        ----------
        predictions : Tensor of shape (rows,) or (rows, classes)
            Probabilities (not logits), or predicted numbers.
        y_true : Tensor of shape (rows,), optional
            True classes or numbers, if the criterion needs them.
        group : Tensor of shape (rows,)
            Groups from 0; rows with negative groups are left out.
        sample_weight : Tensor of shape (rows,), optional
            Weights of the rows; those of 0 are left out.

        Returns
        -------
        Tensor
            A scalar; 0, with gradients of 0, if fewer than two groups can be compared.

        Raises
        ------
        InputError
            If predictions are NaN, infinite or not probabilities, a weight is NaN, infinite or
            negative, or a class or group is out of range.

        """
        statistic = self.criterion.statistic
        of_labels = not (statistic.sweeps or statistic.mean_of)
        needs_truth = statistic.needs == "labels" or statistic.mean_of not in (None, "yhat")
        rows = read_rows(
            predictions, y_true if needs_truth else None, group, sample_weight,
            groups=self.groups, of_labels=of_labels,
        )  # fmt: skip
        if statistic.sweeps:
            below = cumulative(
                rows.predictions, rows, self.groups, self.with_past, self.temperature
            )
            return self._measured(below, None)
        if statistic.mean_of:
            numbers = values_of(statistic.mean_of, rows)
            mean, weight = means(numbers, rows, self.groups, self.with_past)
            if self.noise != "subtract":
                return self._measured(mean, None)
            varied = mean_variances(numbers, rows, mean, weight, summed_over_processes)
            return self._measured(mean, varied)
        shares = decided(rows.predictions, self.temperature, hard=self.hard)
        counts = count_shares(shares, rows, self.groups, squares=self.noise == "subtract")
        counts = SoftTally(self.with_past(counts.cells), counts.truths, counts.classes, self.groups)
        is_one = self.criterion.one_class or counts.classes == 2
        favorable = self.favorable if is_one else None
        source: Any = counts  # read as a tally
        table = self.criterion.table(source, favorable)
        values: Any = table.values
        if self.noise != "subtract":
            return self._measured(values, None)
        all_cells: Any = statistic.read(source)
        spread = variances(statistic, counts, all_cells.values)
        if len(table.cells) < len(all_cells.cells):  # of one class: one in so many
            first = all_cells.cells.index(table.cells[0])
            spread = spread[first :: max(len(all_cells.cells) // len(table.cells), 1)]
        return self._measured(values, spread)

    def with_past(self, cells: Tensor) -> Tensor:
        """The sums of all processes, and with memory of past batches.

        The gradient is scaled as if all rows were in this batch.
        """
        cells = summed_over_processes(cells)
        if self.noise != "memory":
            return cells
        if self.cells.shape != cells.shape or self.cells.dtype != cells.dtype:
            self.cells = torch.zeros_like(cells, requires_grad=False)
        total = cells.detach() + self.cells
        if self.training:  # in place, so that recorded CUDA graphs still see it
            self.steps += 1
            self.cells.copy_((self.steps / (self.steps + 9)).clamp_max(self.memory) * total)
        part, all_rows = cells.detach()[:, -1].sum(), total[:, -1].sum()
        factor = all_rows / torch.where(part > 0, part, all_rows.clamp_min(1))
        return total + (cells - cells.detach()) * factor

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Allocate the remembered cells, whose shape is unknown before the first batch."""
        if f"{prefix}cells" in state_dict:
            self.cells = torch.empty_like(state_dict[f"{prefix}cells"], device=self.cells.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _measured(self, values: Tensor, spread: Tensor | None) -> Tensor:
        if spread is None:
            return self._aggregated(self._measure(values))
        defined = torch.where(spread.isnan(), torch.nan, values)  # a single row has no variance
        return self._aggregated(self._measure(defined, spread))

    def _aggregated(self, cells: Tensor) -> Tensor:
        defined = ~cells.isnan()
        if self.aggregate == "mean" and self.criterion.name != "strong_parity":
            return torch.where(defined, cells, 0.0).sum() / defined.sum().clamp_min(1)
        worst = torch.where(defined, cells, -torch.inf).amax()
        return torch.where(defined.any(), worst, torch.zeros_like(worst))

    def extra_repr(self) -> str:
        """The settings, in a line."""
        return (
            f"{self.criterion.name!r}, {self.measure!r}, groups={self.groups}, noise={self.noise!r}"
        )


def _criterion(criterion: str | Criterion) -> Criterion:
    criterion = named(criterion)
    statistic = criterion.statistic
    if not (
        statistic.mean_of in NUMBERS
        or statistic.sweeps
        or statistic.needs in ("labels", "predictions")
    ):
        raise InputError(
            f"{criterion.name!r} cannot be trained for: it reads {KINDS[statistic.needs].columns}. "
            "There are criteria of labels, and weak, strong and Wasserstein parity of numbers."
        )
    return criterion
