"""Make a model fairer: what each bound on the inequality costs in accuracy.

A classifier for UCI Adult is post-processed so that the selection rates by sex are at most so
unequal, by PQ. The base model is fitted once; the curve shows what evenness costs, and one point of
it is then fitted and used like any scikit-learn model.
"""

from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand.datasets import load, split
from evenhand.mitigation import RateConstrainedClassifier, tradeoff


def main() -> None:
    parts = split(load("adult"), seed=0).normalized()
    columns = ["age", "education_num", "hours_per_week", "sex"]
    train, test = parts.X_train[columns], parts.X_test[columns]

    base = LogisticRegression(max_iter=1000)
    fairer = RateConstrainedClassifier(base, group="sex", sees_group=False, random_state=0)
    curve = tradeoff(
        fairer,
        train,
        parts.y_train,
        test=(test, parts.y_test),
        grid=[0.0, 0.01, 0.05, 1.0],
        criteria=["statistical_parity"],
        measures=["mpd"],
    )
    print(curve.to_frame().round(3).to_string(index=False))

    chosen = fairer.set_params(epsilon=0.01).fit(train, parts.y_train)
    value = eh.evaluate(
        "statistical_parity", parts.y_test, chosen.predict(test), sensitive_features=test["sex"]
    )
    print(f"\nWith epsilon=0.01, the largest difference on new people is {value:.3f}")


if __name__ == "__main__":
    main()
