"""Audits in MLflow: an evaluator for `mlflow.models.evaluate`, and a function for any audit.

MLflow finds the evaluator under the name "evenhand" once the package is installed.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from pathlib import Path
from typing import Any

from evenhand._audit import Audit, audit
from evenhand._errors import InputError, require_package
from evenhand._scoring import columns_from

require_package("mlflow", "Logging an audit in MLflow")

from mlflow.entities import Metric  # noqa: E402
from mlflow.models.evaluation import (  # noqa: E402
    EvaluationArtifact,
    EvaluationResult,
    ModelEvaluator,
)
from mlflow.tracking import MlflowClient  # noqa: E402
from mlflow.tracking.fluent import active_run  # noqa: E402

FOLDER = "evenhand"
AT_ONCE = 500  # metrics of a request; MLflow takes 1,000


class EvenhandEvaluator(ModelEvaluator):  # type: ignore[misc]
    """Audits the model or predictions passed to `mlflow.models.evaluate`.

    Its configuration names the sensitive columns of the data, and may have any option of
    `evenhand.audit`: "favorable", "criteria", "measures", "confidence", "min_count" and so on.
    Without sensitive columns it does nothing.

    Examples
    --------
    >>> EvenhandEvaluator.can_evaluate(
    ...     model_type="classifier", evaluator_config={"sensitive_features": "sex"}
    ... )
    True

    """

    @classmethod
    def can_evaluate(
        cls,
        *,
        model_type: str | None,
        evaluator_config: dict[str, Any] | None,
        **kwargs: Any,  # noqa: ARG003
    ) -> bool:
        """Whether there are sensitive columns, and labels or numbers to compare."""
        has_groups = "sensitive_features" in (evaluator_config or {})
        return has_groups and model_type in ("classifier", "regressor", None)

    def evaluate(
        self,
        *,
        model_type: str | None,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any],
        model: Any = None,
        extra_metrics: Any = None,  # noqa: ARG002
        custom_artifacts: Any = None,  # noqa: ARG002
        predictions: str | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> EvaluationResult:
        """Audit, and log the findings in the run.

        Parameters
        ----------
        model_type : {"classifier", "regressor"} or None
            What is predicted.
        dataset : mlflow EvaluationDataset
            Features, labels and, without a model, predictions.
        run_id : str
            Of the run to log in.
        evaluator_config : dict
            "sensitive_features", and options of `evenhand.audit`.
        model : pyfunc model, optional
            What predicts for the features.
        extra_metrics, custom_artifacts : object, optional
            Of other evaluators; not used.
        predictions : str, optional
            The column of the model's output, where it has several.
        **kwargs : object
            What later releases of MLflow may pass.

        Returns
        -------
        mlflow EvaluationResult
            The metrics, and the page and the document as artifacts.

        """
        options = dict(evaluator_config)
        names = options.pop("sensitive_features")
        if model_type == "regressor":
            options.setdefault("task", "regression")
        result = audit(
            dataset.labels_data,
            _predicted(dataset, model, predictions),
            sensitive_features=columns_from(dataset.features_data, names),
            **options,
        )
        return log_audit(result, run_id=run_id)


def log_audit(found: Audit, *, run_id: str | None = None) -> EvaluationResult:
    """Log an audit in a run of MLflow: every value with its interval, the page and the document.

    Parameters
    ----------
    found : Audit
        What `evenhand.audit` and its like give.
    run_id : str, optional
        The run to log in; by default the active one.

    Returns
    -------
    mlflow EvaluationResult
        Metrics by name: "evenhand/statistical_parity.mpd", with ".low" and ".high" for the ends of
        its interval; and the artifacts "evenhand/report.html" and "evenhand/audit.json". The tag
        "evenhand.summary" has the summary in a sentence.

    Raises
    ------
    InputError
        If there is no run to log in.

    Examples
    --------
    >>> import evenhand
    >>> found = evenhand.audit(None, [1, 0] * 50, sensitive_features=["F", "F", "M", "M"] * 25)
    >>> log_audit(found)
    Traceback (most recent call last):
    evenhand.InputError: There is no active run: pass run_id=, or call mlflow.start_run().

    """
    if run_id is None:
        run = active_run()
        if run is None:
            raise InputError("There is no active run: pass run_id=, or call mlflow.start_run().")
        run_id = run.info.run_id
    client, metrics = MlflowClient(), metrics_of(found)
    logged = [Metric(key, value, 0, 0) for key, value in metrics.items()]
    for start in range(0, len(logged), AT_ONCE):
        client.log_batch(run_id, metrics=logged[start : start + AT_ONCE])
    client.set_tag(run_id, "evenhand.summary", found.summary[:5000])
    texts = {"report.html": found.to_html(), "audit.json": found.to_json()}
    root = client.get_run(run_id).info.artifact_uri
    artifacts = {}
    for name, text in texts.items():
        client.log_text(run_id, text, f"{FOLDER}/{name}")
        artifacts[f"{FOLDER}/{name}"] = TextArtifact(f"{root}/{FOLDER}/{name}", text)
    return EvaluationResult(metrics=metrics, artifacts=artifacts)


def metrics_of(found: Audit) -> dict[str, float]:
    """The values of an audit with the ends of their intervals, by names that MLflow takes.

    Parameters
    ----------
    found : Audit
        The audit.

    Returns
    -------
    dict
        What is undefined is left out.

    Examples
    --------
    >>> import evenhand
    >>> asked = {"sensitive_features": ["F", "F", "M", "M"] * 25, "measures": "mpd"}
    >>> metrics_of(evenhand.audit(None, [1, 0] * 50, **asked))["evenhand/statistical_parity.mpd"]
    0.0

    """
    metrics = {}
    for value in found.measured:
        name = f"{value.criterion}.{value.measure}"  # MLflow allows no brackets, commas or =
        name = re.sub(r"[(,] *", ".", re.sub(r"[)=]", "", name))
        for key, number in (("", value.value), (".low", value.low), (".high", value.high)):
            if isfinite(number):
                metrics[f"{FOLDER}/{name}{key}"] = float(number)
    return metrics


class TextArtifact(EvaluationArtifact):  # type: ignore[misc]
    """A logged text; JSON is read as such."""

    def _save(self, output_artifact_path: str) -> None:
        Path(output_artifact_path).write_text(self._content, encoding="utf-8")

    def _load_content_from_file(self, local_artifact_path: str) -> Any:
        text = Path(local_artifact_path).read_text(encoding="utf-8")
        return json.loads(text) if local_artifact_path.endswith(".json") else text


def _predicted(dataset: Any, model: Any, column: str | None) -> Any:
    """The model's predictions for the features, or those in the data."""
    if model is None:
        if dataset.predictions_data is None:
            raise InputError("There is neither a model nor a column of predictions to audit.")
        return dataset.predictions_data
    predicted = model.predict(dataset.features_data)
    return predicted[column] if column is not None else predicted


__all__ = ["EvenhandEvaluator", "log_audit", "metrics_of"]
