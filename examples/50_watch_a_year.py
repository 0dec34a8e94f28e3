"""Watch a year of decisions: a model whose threshold for one group drifts in autumn.

A classifier for UCI Adult decides for 120 people a day, drawn anew from the people it was not
fitted to. Until September it treats them as it was released; then a feature goes stale
for women, and they are selected less and less. Every day is looked at, and no look costs any error.
"""

import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand.datasets import load, split

ROWS, START, DRIFT = 120, date(2025, 1, 1), date(2025, 9, 1)


def main() -> None:
    parts = split(load("adult"), seed=0).normalized()
    columns = ["age", "education_num", "hours_per_week"]
    model = LogisticRegression(max_iter=1000).fit(parts.X_train[columns], parts.y_train)
    score = model.predict_proba(parts.X_test[columns])[:, 1]
    truth, sex = parts.y_test.to_numpy(), parts.X_test["sex"].to_numpy()
    yes = model.classes_[1]

    def decided(rows: np.ndarray, stale: float) -> np.ndarray:
        lowered = score[rows] * np.where(sex[rows] == "Female", 1 - stale, 1.0)
        return np.where(lowered >= 0.4, yes, model.classes_[0])

    everyone = np.arange(len(truth))
    release = eh.tally(truth, decided(everyone, 0.0), sensitive_features=sex)
    watch = eh.Watch(
        ["statistical_parity", "equal_opportunity"],
        fail_if={"equal_opportunity.mpd": 0.25},
        measures="mpd",
        favorable=yes,
        baseline=release,
    )
    rng = np.random.default_rng(0)
    for number in range(365):
        day = START + timedelta(days=number)
        stale = 0.45 * max((day - DRIFT).days, 0) / 120
        rows = rng.choice(everyone, ROWS)
        counts = eh.tally(truth[rows], decided(rows, stale), sensitive_features=sex[rows])
        watch.update(counts, part=day.isoformat(), at=day)
        if day.day == 1:
            status = watch.status()
            bound = status.judgements[0].outcome
            print(f"{day}: {status['equal_opportunity']}; bound: {bound}")
    print(watch.status())
    page = Path(tempfile.mkdtemp()) / "watch.html"
    page.write_text(watch.to_html(), encoding="utf-8")
    print(f"The page is {page}.")


if __name__ == "__main__":
    main()
