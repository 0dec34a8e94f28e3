"""Audit a model: in which respects do groups differ, by how much, and which of them.

A logistic regression predicts income on UCI Adult; the groups are sex × race. The command
`evenhand demo` does the same with all criteria.
"""

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand as eh
from evenhand.datasets import load, split


def main() -> None:
    adult = load("adult", sensitive=["sex", "race"])
    parts = split(adult, seed=0).normalized()
    one_hot = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer(
        (one_hot, list(adult.categorical)), ("passthrough", list(adult.numeric))
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=1000))
    model.fit(parts.X_train, parts.y_train)

    found = eh.audit(
        parts.y_test,
        model,
        data=parts.X_test,
        sensitive_features=["sex", "race"],
        criteria=["statistical_parity", "equalized_odds", "accuracy_parity"],
        fail_if={"accuracy_parity.gini": 0.1},
        title="Logistic regression on UCI Adult",
    )
    print(found.to_markdown())
    for finding in found.findings:
        print(f"{finding.criterion} ({finding.verdict}): {finding.sentence}")
    print(found.finding("accuracy_parity", "gini").sentence)

    found.to_html("evenhand-report.html")
    print("\nThe report is in evenhand-report.html")


if __name__ == "__main__":
    main()
