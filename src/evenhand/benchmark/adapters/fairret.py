"""fairret: penalties in the loss of a network for differences between groups."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand._errors import require_package
from evenhand.mitigation import PenalizedClassifier
from evenhand.mitigation._fields import NonNegative
from evenhand.mitigation.methods import Method

if TYPE_CHECKING:
    from torch import nn

STRENGTHS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0)


class FairretClassifier(PenalizedClassifier):
    """The network of `PenalizedClassifier`, with a penalty of fairret in its loss instead of ours.

    Parameters
    ----------
    criterion : {"statistical_parity", "equalized_odds", "equal_opportunity"}
        Which of fairret's statistics is charged for; by default "statistical_parity".
    strength : float, default 0.3
        What the term is multiplied by.
    term : str, default "NormLoss"
        A class of `fairret.loss`.

    Examples
    --------
    >>> FairretClassifier(group="sex", strength=0.1)
    FairretClassifier(group='sex', strength=0.1)

    """

    statistics: ClassVar[dict[str, tuple[str, ...]]] = {
        "statistical_parity": ("PositiveRate",),
        "equalized_odds": ("TruePositiveRate", "FalsePositiveRate"),
        "equal_opportunity": ("TruePositiveRate",),
    }
    criteria: ClassVar[tuple[str, ...]] = tuple(statistics)
    strength: NonNegative = 0.3
    term: str = "NormLoss"
    measure: Any = field(default="mpd", init=False)
    bound: Any = field(default=None, init=False)
    noise: Any = field(default=None, init=False)
    temperature: Any = field(default=None, init=False)
    hard: bool = field(default=False, init=False)

    def _term(self, groups: int, rows: int) -> nn.Module:  # noqa: ARG002
        require_package("fairret", type(self).__name__)
        from fairret import loss, statistic

        import torch

        rates = [getattr(statistic, name)() for name in self.statistics[self.criterion]]
        compared = statistic.StackedLinearFractionalStatistic(*rates) if rates[1:] else rates[0]
        penalty = getattr(loss, self.term)(compared)

        class Charge(torch.nn.Module):
            def forward(self, chances: Any, y: Any, group: Any, sample_weight: Any) -> Any:  # noqa: ARG002
                membership = torch.nn.functional.one_hot(group, groups).to(chances.dtype)
                truth = () if isinstance(compared, statistic.PositiveRate) else (y[:, None],)
                try:
                    return penalty(chances[:, 1:], membership, *truth, pred_as_logit=False)
                except NotImplementedError:  # nobody is selected, or nobody counts
                    return 0 * chances.sum()

        return Charge()


METHODS = (
    Method(
        name="fairret.NormLoss",
        estimator=FairretClassifier,
        stage="in",
        task="classification",
        criteria=FairretClassifier.criteria,
        classes="two",
        needs_group_at_predict=False,
        randomized=False,
        needs_base=False,
        extra="torch",
        hyperparameter="strength",
        grid=dict.fromkeys(FairretClassifier.criteria, STRENGTHS),
        citation="Buyl, Defrance, De Bie: fairret, a Framework for Differentiable Fairness "
        "Regularization Terms, 2024",
    ),
)
