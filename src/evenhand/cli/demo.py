"""The command `evenhand demo`: a model on data that comes with the package, audited."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import click

from evenhand._audit import Audit, audit
from evenhand._writing import write_all
from evenhand.cli.failures import UNWRITTEN, failures_in_one_line, interruptible
from evenhand.cli.summary import show
from evenhand.cli.terminal import busy, complain, console, tell


@click.command("demo", epilog="Example: evenhand demo --html report.html --open")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("evenhand-report.html"),
    show_default=True,
    help="Where to write the report.",
)
@click.option("--open", "opened", is_flag=True, help="Open the report in a browser.")
def demo(html: Path, opened: bool) -> None:
    """Train a model on UCI Adult, audit it by sex × race, and write the report."""
    with interruptible():
        with failures_in_one_line(), busy("Training and auditing …"):
            report = audited_adult()
        show(report.document(), (), console())
        if failed := write_all({html: report.to_html}):
            complain(failed)
            raise click.exceptions.Exit(UNWRITTEN)
        tell(f"The report is in {html.resolve()}")
        if opened:
            webbrowser.open(html.resolve().as_uri())


def audited_adult() -> Audit:
    """A logistic regression that predicts income, audited on people it has not seen."""
    from evenhand.datasets import load, split

    adult = load("adult", sensitive=["sex", "race"])
    parts = split(adult, seed=0).normalized()
    model = income_model(adult).fit(parts.X_train, parts.y_train)
    return audit(
        parts.y_test,
        model,
        data=parts.X_test,
        sensitive_features=["sex", "race"],
        favorable=1,
        title="UCI Adult: who is predicted to earn more than $50,000?",
    )


def income_model(adult: Any) -> Any:
    """Logistic regression on one-hot categories and scaled numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), list(adult.categorical)),
        ("passthrough", list(adult.numeric)),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))
