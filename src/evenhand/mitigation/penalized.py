"""Networks and linear models trained with a fairness penalty, as scikit-learn estimators.

They can be constructed and copied without PyTorch; only fitting needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from evenhand._errors import InputError, refusing, require
from evenhand.criteria import CRITERIA
from evenhand.measures import MEASURES, MeasureLike, resolve
from evenhand.mitigation._fields import Count, NonNegative, Positive, Unseen
from evenhand.mitigation.estimators import GroupClassifier, GroupRegressor
from evenhand.mitigation.group_reader import GroupReader, Rows, Stage

if TYPE_CHECKING:
    from torch import Tensor, nn

Floats = NDArray[np.float64]
LABEL_CRITERIA = tuple(
    name for name, each in CRITERIA.items() if each.statistic.needs in ("labels", "predictions")
)
NUMBER_CRITERIA = ("weak_parity", "strong_parity", "wasserstein_parity")
ROWS_TO_SHOW = 50_000  # a bar is shown where fitting takes a while
MEMORY = 0.99  # of past batches, where an epoch has enough of them
HELD_OUT = 0.1  # of the rows, for early stopping


class _Penalized(GroupReader):
    """Shared by both estimators: parameters, rows to tensors, fit, and outputs back.

    Parameters
    ----------
    strength : float, default 1.0
        What the penalty is multiplied by; 0 is plain training.
    bound : float, default None
        Instead of a penalty, a bound: the most inequality, kept by an augmented Lagrangian.
    noise : {"subtract", "memory"} or None, default "memory"
        What is done about the noise of small groups in a batch.
    hidden : sequence of int, default (64, 64)
        The sizes of the layers; () is a linear model.
    learning_rate : float, default 0.003
        Of the training (Adam).
    batch_size : int, default 512
        Rows in a step of the training.
    max_epochs : int, default 30
        Passes over the rows, at most.
    patience : int, default 5
        Epochs without progress on a tenth of the rows before training stops; None never stops, and
        neither does a bound.
    device : str, default "auto"
        Where it is trained: "cpu", "cuda", "mps", or the fastest at hand.
    progress : bool, default None
        Whether a bar is shown; None shows it for many rows.

    Attributes
    ----------
    term_ : torch.nn.Module or None
        The penalty, or the bound.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from the features, and what they are divided by.
    history_ : list of float
        The mean objective of each epoch.

    """

    stage: ClassVar[Stage] = "in"
    hyperparameter: ClassVar[str | None] = "strength"
    _extra: ClassVar[str | None] = "torch"
    _reads_group: ClassVar[bool] = False
    criterion: str = "statistical_parity"
    measure: MeasureLike = "mpd"
    strength: NonNegative = 1.0
    bound: NonNegative | None = None
    noise: Literal["subtract", "memory"] | None = "memory"
    temperature: float | None = None
    hard: bool = False
    hidden: Sequence[int] = (64, 64)
    learning_rate: Positive = 0.003
    batch_size: Count = 512
    max_epochs: Count = 30
    patience: Count | None = 5
    device: str = "auto"
    progress: bool | None = None
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)
    draw: bool = field(default=True, init=False)
    row_id: Any = field(default=None, init=False)

    def _start(self, rows: Rows, outputs: int) -> None:
        """Create the network, the term of the loss, and the scaling of features."""
        require("torch", purpose=f"Fitting a {type(self).__name__}", extra="torch")
        import torch
        from evenhand.torch.shared import best_device
        from evenhand.torch.training import network_of

        dense = self._dense(rows.X)
        self.mean_ = dense.mean(axis=0)
        spread = dense.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._device = best_device(self.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            if self.estimator is None:
                network = network_of(dense.shape[1], outputs, tuple(self.hidden))
            elif isinstance(self.estimator, torch.nn.Module):
                network = deepcopy(self.estimator)
            else:
                raise InputError(
                    f"estimator is a {type(self.estimator).__name__}: it is a torch.nn.Module from "
                    "the features to an output for each class, or None for a network of ours."
                )
        self.network_ = network.to(self._device)
        self.term_ = self._term(len(self.sensitive_.labels), len(rows.y))

    def _term(self, groups: int, rows: int) -> nn.Module | None:
        """A penalty or a bound, with a memory of at most an epoch."""
        from evenhand.torch.constraint import Constraint
        from evenhand.torch.penalty import Penalty

        batches = max(rows // self.batch_size, 1)
        memory = min(MEMORY, 1 - 1 / batches)
        options: dict[str, Any] = {"temperature": self.temperature, "hard": self.hard}
        options["memory"] = memory
        if self.bound is not None:
            arguments = {**options, "epsilon": self.bound, "groups": groups}
            return Constraint(self._asked, self._measure, **arguments).to(self._device)
        if not self.strength:
            return None
        options |= {"noise": self.noise, "groups": groups}
        return Penalty(self._asked, self._measure, **options).to(self._device)

    def _run(self, rows: Rows, y: Tensor, loss: Any, link: Any, epochs: int) -> None:
        import torch
        from evenhand.torch.training import Batch, Training

        batch = Batch(
            self._inputs(rows.X),
            y.to(self._device),
            torch.as_tensor(rows.group.astype(np.int64)).to(self._device),
            torch.as_tensor(rows.weight.astype(np.float32)).to(self._device),
        )
        held_out = None
        patience = None if self.bound is not None else self.patience  # a bound moves the objective
        if patience is not None and epochs > 1:
            is_held_out = np.random.default_rng(self._seed).random(len(batch)) < HELD_OUT
            if 20 <= is_held_out.sum() < len(batch):
                training_rows, validation_rows = (
                    torch.as_tensor(np.flatnonzero(part)) for part in (~is_held_out, is_held_out)
                )
                batch, held_out = (
                    batch[training_rows.to(self._device)],
                    batch[validation_rows.to(self._device)],
                )
        training = Training(
            loss,
            link,
            self.term_,
            1.0 if self.bound is not None else self.strength,
            self.learning_rate,
            self.batch_size,
            epochs,
            patience,
            self.progress if self.progress is not None else len(batch) >= ROWS_TO_SHOW,
        )
        self.history_ = [
            *getattr(self, "history_", []),
            *training.fit(self.network_, batch, held_out, self._seed),
        ]

    def _note_loose(self, rows: Rows, predicted: NDArray[Any], unit: str = "") -> None:
        """Note that the bound was never active, if so; the fit is as without it."""
        if self.bound is None or self.term_ is None or self.term_.pushed:
            return
        if isinstance(self._measure, str) and self._measure not in MEASURES:
            return  # a measure of losses alone, such as "cv"
        measure = resolve(self._measure)
        value = CRITERIA[self._asked](
            rows.y,
            predicted,
            sensitive_features=rows.group,
            sample_weight=rows.sample_weight,
            measure=measure,
        )
        quantity = f"{self._asked}.{measure.name}{unit}"
        self._note_unbound(quantity, value, measure, "bound")

    def _way_to_encode(self, columns: str) -> str:
        return f"write {columns} in numbers, as OrdinalEncoder does"

    def _dense(self, X: Any) -> Floats:
        features = self._features(X)
        if hasattr(features, "toarray"):
            features = features.toarray()
        with refusing("The network reads numbers, and a feature is none"):
            dense = np.asarray(features, dtype=np.float64)
        if not np.isfinite(dense).all():
            raise InputError("X has NaN or infinite values; fill or drop those rows.")
        return dense

    def _inputs(self, X: Any) -> Tensor:
        import torch

        scaled = (self._dense(X) - self.mean_) / self.scale_
        return torch.as_tensor(scaled.astype(np.float32)).to(self._device)

    def _outputs(self, X: Any) -> Tensor:
        import torch

        self.network_.eval()
        with torch.no_grad():
            outputs: Tensor = self.network_(self._inputs(X))
        return outputs.double().cpu()


class PenalizedClassifier(_Penalized, GroupClassifier):
    """A network that is trained with a criterion in its loss; the group is read at fit alone.

    Parameters
    ----------
    estimator : torch.nn.Module, default None
        From features to an output (logit) for each class; None is a network of `hidden` layers.
    criterion : str, default "statistical_parity"
        What is to be even: any criterion of labels.
    measure : str, default "mpd"
        How unequal it is; as of `evenhand.torch.Penalty`.
    temperature : float, default None
        Makes probabilities as sharp as decisions in the penalty.
    hard : bool, default False
        Count decisions in the penalty, with the gradient of the probabilities.

    Attributes
    ----------
    network_ : torch.nn.Module
        The fitted network, of scaled features.

    Notes
    -----
    The same seed gives the same model on the CPU.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import PenalizedClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 2000)
    >>> X = np.column_stack([group, random.normal(group), random.normal(size=2000)])
    >>> y = (X[:, 1] + X[:, 2] > 0.5).astype(int)
    >>> def gap(model):
    ...     chosen = model.fit(X, y).predict(X)
    ...     return abs(chosen[group == 0].mean() - chosen[group == 1].mean())
    >>> common = {"group": 0, "sees_group": False, "random_state": 0, "max_epochs": 10}
    >>> common["measure"] = "pq"
    >>> plain = gap(PenalizedClassifier(**common, strength=0.0))
    >>> bool(gap(PenalizedClassifier(**common, strength=50.0)) < plain / 2)
    True

    """

    criteria: ClassVar[tuple[str, ...]] = LABEL_CRITERIA
    draw: bool = field(default=False, init=False)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more epoch on these rows; the first call learns the classes and groups.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            The features, with the group columns among them. All groups must be in the first call.
        y : array-like of shape (n_rows,)
            The true classes.
        classes : array-like, default None
            All classes, in the first call; by default those of its rows.
        sample_weight : array-like of shape (n_rows,), default None
            The weight of each row.

        Returns
        -------
        PenalizedClassifier
            This estimator, fitted on.

        """
        if not hasattr(self, "network_"):
            rows = self._read(X, y, sample_weight)
            if classes is not None:
                labels = np.unique(np.asarray(classes))
                place = np.searchsorted(labels, self.classes_)
                rows = Rows(rows.X, place[rows.y], rows.group, rows.sample_weight)
                self.classes_ = labels
            with self._naming_text_columns(rows.X):
                self._start(rows, len(self.classes_))
        else:
            X = self._checked(X, reset=False)
            codes = np.searchsorted(self.classes_, np.asarray(y))
            weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
            rows = Rows(X, codes, self.sensitive_.codes(X), weight)
        self._train(rows, 1)
        return self

    def _fit(self, rows: Rows) -> None:
        self._require_criterion()
        self.history_ = []
        self._start(rows, len(self.classes_))
        self._train(rows, self.max_epochs)
        self._note_loose(rows, self._outputs(rows.X).argmax(dim=1).numpy())

    def _train(self, rows: Rows, epochs: int) -> None:
        from torch.nn import functional

        import torch

        def loss(outputs: Tensor, y: Tensor, weight: Tensor) -> Tensor:
            return (functional.cross_entropy(outputs, y, reduction="none") * weight).mean()

        def link(outputs: Tensor) -> Tensor:
            return torch.softmax(outputs, dim=1)

        self._run(rows, torch.as_tensor(rows.y.astype(np.int64)), loss, link, epochs)

    def _decide(self, X: Any, group: Any) -> Floats:  # noqa: ARG002
        return np.asarray(self._outputs(X).softmax(dim=1).numpy())


class PenalizedRegressor(_Penalized, GroupRegressor):
    """A network for numbers that is trained with a criterion in its loss; blind to the group.

    Parameters
    ----------
    estimator : torch.nn.Module, default None
        From features to one output; None is a network of `hidden` layers.
    criterion : str, default "weak_parity"
        What is to be even: "weak_parity" (means), "strong_parity" or "wasserstein_parity".
    measure : str, default "mpd"
        How unequal it is; as of `evenhand.torch.Penalty`. Predictions are in standard deviations
        of the target, so that means may be negative and only "mpd" measures them.
    temperature : float, default None
        How soft a cut is, in standard deviations, for strong and Wasserstein parity.

    Attributes
    ----------
    network_ : torch.nn.Module
        The fitted network, of scaled features and for the scaled target.
    center_, unit_ : float
        The same of the target.

    Notes
    -----
    The same seed gives the same model on the CPU.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import PenalizedRegressor
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 1000)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = X[:, 1] + random.normal(size=1000)
    >>> fair = PenalizedRegressor(group=0, strength=5.0, max_epochs=5, random_state=0).fit(X, y)
    >>> fair.predict(X[:2]).shape
    (2,)

    """

    criteria: ClassVar[tuple[str, ...]] = NUMBER_CRITERIA
    criterion: str = "weak_parity"
    hard: bool = field(default=False, init=False)

    def _fit(self, rows: Rows) -> None:
        self._require_criterion()
        self.history_ = []
        self._start(rows, 1)
        self.center_, self.unit_ = float(rows.y.mean()), float(rows.y.std()) or 1.0

        def loss(outputs: Tensor, y: Tensor, weight: Tensor) -> Tensor:
            return ((outputs[:, 0] - y) ** 2 * weight).mean()

        def link(outputs: Tensor) -> Tensor:
            return outputs[:, 0]

        import torch

        scaled = ((rows.y - self.center_) / self.unit_).astype(np.float32)
        self._run(rows, torch.as_tensor(scaled), loss, link, self.max_epochs)
        self._note_loose(rows, self._outputs(rows.X)[:, 0].numpy(), " in standard deviations of y")

    def _regress(self, X: Any, group: Any) -> Floats:  # noqa: ARG002
        return np.asarray(self.center_ + self.unit_ * self._outputs(X)[:, 0].numpy())
