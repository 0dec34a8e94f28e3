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


def shown(p_value: float) -> str:
    return f"{p_value:.3f}" if p_value >= 0.001 else "<.001"


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
    print("How uneven is it (0 is even), and what would a fair model show by chance?")
    heads = [f"{name:>8}{'fair':>8}{'p':>7}" for name in MEASURES]
    print(f"{'':20}{''.join(heads)}")
    for name in CRITERIA:
        found = [eh.chance(counts, name, measure=one, random_state=0) for one in MEASURES]
        cells = [f"{one.value:8.3f}{one.floor:8.3f}{shown(one.p_value):>7}" for one in found]
        print(f"{name:20}{''.join(cells)}")

    selected = eh.STATISTICS["selection_rate"].read(counts).values[1]
    found = eh.STATISTICS["tpr"].read(counts).values[1]
    rows = counts.table("group", of="rows")
    print(f"\n{'group':30}{'rows':>7}{'selected':>10}{'TPR':>8}")
    for i in selected.argsort():
        label = show(counts.groups[i])
        print(f"{label:30}{rows[i]:7.0f}{selected[i]:10.3f}{found[i]:8.3f}")

    fewer = counts.settle_rare(100, "merge")
    print("\n" + "\n".join(fewer.notes))
    found = eh.chance(fewer, "equal_opportunity", measure="mpd", random_state=0)
    print(
        f"Then equal_opportunity by mpd is {found.value:.3f}; fair models show {found.floor:.3f}."
    )


if __name__ == "__main__":
    main()
