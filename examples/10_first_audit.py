"""Count the predictions of a model once, then ask any fairness question.

A logistic regression predicts income on UCI Adult; the groups are sex × race.
"""

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand as eh
from evenhand.datasets import load, split
from evenhand.groups import show

CRITERIA = ["statistical_parity", "equalized_odds", "equal_opportunity", "accuracy_parity"]
MEASURES = ["mpd", "gini", "pq"]


def main() -> None:
    adult = load("adult", sensitive=["sex", "race"])
    parts = split(adult, seed=0).normalised()
    one_hot = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer(
        (one_hot, list(adult.categorical)), (("passthrough"), list(adult.numeric))
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=1000))
    model.fit(parts.X_train, parts.y_train)
    y_pred = model.predict(parts.X_test)
    print(f"{adult.title}: logistic regression, accuracy {(y_pred == parts.y_test).mean():.3f}\n")

    people = parts.X_test[list(adult.sensitive)]
    counts = eh.tally(parts.y_test, y_pred, sensitive_features=people)
    print(f"{'how uneven, 0 is even':26}{''.join(f'{name:>8}' for name in MEASURES)}")
    for name in CRITERIA:
        values = [eh.evaluate(name, counts, measure=measure) for measure in MEASURES]
        print(f"{name:26}{''.join(f'{value:8.3f}' for value in values)}")

    selected = eh.STATISTICS["selection_rate"].read(counts).values[1]
    found = eh.STATISTICS["tpr"].read(counts).values[1]
    rows = counts.table("group", of="rows")
    print(f"\n{'group':30}{'rows':>7}{'selected':>10}{'TPR':>8}")
    for i in selected.argsort():
        label = show(counts.groups[i])
        print(f"{label:30}{rows[i]:7.0f}{selected[i]:10.3f}{found[i]:8.3f}")

    fewer = counts.settle_rare(100, "merge")
    print("\n" + "\n".join(fewer.notes))
    for measure in MEASURES:
        value = eh.evaluate("statistical_parity", fewer, measure=measure)
        print(f"then statistical_parity by {measure}: {value:.3f}")


if __name__ == "__main__":
    main()
