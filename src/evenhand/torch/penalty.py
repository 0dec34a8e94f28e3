"""A criterion as a term of the loss, which does not charge for the noise of small groups."""

from __future__ import annotations

from typing import Any, Literal

import torch
from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
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
    """How unequal a batch is by a criterion and a measure, to be added to a loss.

    A batch has few rows of a small group, so its rates are noisy, and a plain measure charges even
    a fair model. `noise="subtract"` takes off what noise adds on average; `noise="memory"` adds the
    cells of past batches, without their gradients.

    Parameters
    ----------
    criterion : str or Criterion, default "statistical_parity"
        Of labels (statistical parity, equalized odds, accuracy parity, …), or of numbers: weak,
        strong and Wasserstein parity.
    measure : {"pq", "cv", "cv²", "gini", "mpd", "shortfall"} or Measure, default "pq"
        How unequal the groups' values are. A `Measure` of one's own brings its gradient, `slope`,
        and is computed on the CPU.
    groups : int
        How many groups there are; those absent from a batch are left out of it.
    noise : {"subtract", "memory"} or None, default "subtract"
        What is done about noise. "subtract" needs "pq", "cv" or "cv²", and leaves out groups with
        fewer than two rows to compare in a batch; with many small groups use "memory".
    memory : float, default 0.99
        What is kept of past batches at every step, with `noise="memory"`; less in the first steps,
        when the model changes fast. What is older than an epoch misleads: use at most
        1 − 1 / (batches in an epoch).
    temperature : float, optional
        Makes probabilities as sharp as decisions: they are raised to 1 / temperature. Of predicted
        numbers it is how soft a cut is, in standard deviations; 0.1 by default.
    hard : bool, default False
        Count decisions, with the gradient of the probabilities behind them.
    favorable : int, default 1
        The favorable label, for criteria about one; and of two classes the one that is looked at.
    aggregate : {"mean", "worst"}, default "mean"
        What is made of several classes or cells. The worst of noisy cells is too large on average,
        whatever is subtracted from each.
    p, q : float, optional
        The orders of the measure "pq", 1 and 2 by default; as "pq(p=0.5, q=3)" they are its name.

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
        measure: MeasureLike = "pq",
        *,
        groups: int,
        noise: Noise | None = "subtract",
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
        self._measure, self.measure, subtracts = measure_of(measure, p, q)
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
            True classes or numbers, where the criterion asks for them.
        group : Tensor of shape (rows,)
            Groups from 0; rows of negative ones are left out, whatever is in them.
        sample_weight : Tensor of shape (rows,), optional
            Weights of the rows; those of 0 are left out.

        Returns
        -------
        Tensor
            A number; 0, with gradients of 0, where fewer than two groups can be compared.

        Raises
        ------
        InputError
            If predictions are NaN, infinite or no probabilities, a weight is NaN, infinite or
            negative, or a class or group is beyond those there are.

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
        whole: Any = statistic.read(source)
        every = variances(statistic, counts, whole.values)
        if len(table.cells) < len(whole.cells):  # of one class: one in so many
            first = whole.cells.index(table.cells[0])
            every = every[first :: max(len(whole.cells) // len(table.cells), 1)]
        return self._measured(values, every)

    def with_past(self, cells: Tensor) -> Tensor:
        """The sums of all processes, and of past batches where they are remembered.

        The gradient is as large as if all rows were of this batch.
        """
        cells = summed_over_processes(cells)
        if self.noise != "memory":
            return cells
        if self.cells.shape != cells.shape or self.cells.dtype != cells.dtype:
            self.cells = torch.zeros_like(cells, requires_grad=False)
        whole = cells.detach() + self.cells
        if self.training:  # in place: a recorded graph goes on with it
            self.steps += 1
            self.cells.copy_((self.steps / (self.steps + 9)).clamp_max(self.memory) * whole)
        part, all_rows = cells.detach()[:, -1].sum(), whole[:, -1].sum()
        factor = all_rows / torch.where(part > 0, part, all_rows.clamp_min(1))
        return whole + (cells - cells.detach()) * factor

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Make room for what was remembered, whose shape only a batch tells."""
        if f"{prefix}cells" in state_dict:
            self.cells = torch.empty_like(state_dict[f"{prefix}cells"], device=self.cells.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _measured(self, values: Tensor, spread: Tensor | None) -> Tensor:
        if spread is None:
            return self._aggregated(self._measure(values))
        known = torch.where(spread.isnan(), torch.nan, values)  # one row tells no variance
        return self._aggregated(self._measure(known, spread))

    def _aggregated(self, cells: Tensor) -> Tensor:
        seen = ~cells.isnan()
        if self.aggregate == "mean" and self.criterion.name != "strong_parity":
            return torch.where(seen, cells, 0.0).sum() / seen.sum().clamp_min(1)
        worst = torch.where(seen, cells, -torch.inf).amax()
        return torch.where(seen.any(), worst, torch.zeros_like(worst))

    def extra_repr(self) -> str:
        """What it is, in a line."""
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
