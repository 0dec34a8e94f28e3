"""A criterion in the log of a Lightning trainer."""

import doctest
import warnings

import numpy as np
import pytest

import evenhand as eh
from later import Later

torch, lightning = Later("torch"), Later("lightning.pytorch")
ours = Later("evenhand.torch.callback")

pytestmark = pytest.mark.slow  # Lightning takes seconds to import
ROWS = 400


def linear_model(by_name=True):
    """A linear model that returns what the callback reads, by name or not."""

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = torch.nn.Linear(2, 2)

        def training_step(self, batch, _):
            X, y, _ = batch
            return torch.nn.functional.cross_entropy(self.layer(X), y)

        def validation_step(self, batch, _):
            X, y, group = batch
            logits = self.layer(X)
            return {"predictions": logits, "y_true": y, "group": group} if by_name else logits

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    return Model()


@pytest.fixture(scope="module")
def rows():
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(0, 3, (ROWS,), generator=generator)
    X = torch.randn(ROWS, 2, generator=generator) + 0.5 * group[:, None]
    return X, (X.sum(1) > 0.5).long(), group


def fitted(rows, callback, model=None):
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*rows), batch_size=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_epochs=2,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[callback],
        )
        model = model or linear_model()
        trainer.fit(model, loader, loader)
    return trainer.callback_metrics, model


def test_what_is_logged_is_what_the_decisions_show(rows):
    callback = ours.CriterionCallback("accuracy_parity", "mpd", classes=2, groups=["a", "b", "c"])
    logged, model = fitted(rows, callback)
    with torch.no_grad():
        decided = model.layer(rows[0]).argmax(1).numpy()
    columns = (rows[1].numpy(), decided)
    counts = eh.tally(*columns, sensitive_features=np.array([*"abc"])[rows[2].numpy()])
    expected = eh.CRITERIA["accuracy_parity"](counts, measure="mpd")
    assert float(logged["val_accuracy_parity_mpd"]) == pytest.approx(expected, abs=1e-6)
    floor, high = (float(logged[f"val_accuracy_parity_mpd_{end}"]) for end in ("floor", "high"))
    assert 0 < floor < high < 0.5


def test_a_function_may_say_where_the_rows_are(rows):
    callback = ours.CriterionCallback(
        classes=2, groups=3, name="gap", read=lambda logits, batch: (logits, batch[1], batch[2])
    )
    logged, _ = fitted(rows, callback, linear_model(by_name=False))
    assert {"gap", "gap_floor", "gap_high"} <= set(logged)
    with pytest.raises(eh.InputError, match="has to return a dict"):
        fitted(rows, ours.CriterionCallback(classes=2, groups=3), linear_model(by_name=False))


def test_only_criteria_of_labels_are_logged():
    with pytest.raises(eh.InputError, match="not a criterion of labels"):
        ours.CriterionCallback("weak_parity", classes=2, groups=2)


def test_the_example_says_what_it_prints():
    checked = doctest.testmod(pytest.importorskip("evenhand.torch.callback"))
    assert checked.failed == 0
    assert checked.attempted
