"""Calls that give another number than their name or description promises."""

import inputs
from answers import AIF360, FAIRBENCH, FAIRLEARN, HOLISTICAI, OXONFAIR, Answer, Call, Question
from classification import TO_OVERALL

by_name = Question(
    "Another number than the name says",
    (
        Answer(
            "recall_score(y[low == 1], p[low == 1])",
            "The recall of women.",
            (
                Call(
                    HOLISTICAI,
                    'precision_matrix(a, p, y).loc["Female", 1]',
                    "The two are exchanged.",
                ),
            ),
            (
                Call(
                    HOLISTICAI, 'recall_matrix(a, p, y).loc["Female", 1]', "This is the precision."
                ),
            ),
            by="scikit-learn",
        ),
        Answer(
            "accuracy_score(y[low == 1], p[low == 1])",
            "The accuracy for women.",
            near=(
                Call(
                    HOLISTICAI,
                    'accuracy_matrix(a, p, y).loc["Female", 1]',
                    "tp / (tp + fp + fn), Jaccard's index.",
                ),
            ),
            by="scikit-learn",
        ),
        Answer(
            "np.std(1 + p - y) / np.mean(1 + p - y)",
            "The coefficient of variation of benefits, √(2 GE).",
            (Call(AIF360, "metric.coefficient_of_variation()"),),
            (
                Call(
                    HOLISTICAI,
                    "coefficient_of_variation(p, y)",
                    "2 √GE, as it documents: √2 times as large.",
                ),
            ),
            by="NumPy",
        ),
        Answer(
            'ask("performance_parity", g="fnr", favorable=1, measure=mean_gap)',
            "The gap of FNR. Predictive equality is usually that of FPR.",
            (Call(OXONFAIR, "predictive_equality(y, p, a)"),),
        ),
        Answer(
            "(recall_score(y, p) * recall_score(1 - y, 1 - p)) ** 0.5",
            "The geometric mean of TPR and TNR.",
            near=(
                Call(
                    FAIRBENCH,
                    "measures.gmi(predictions=p, labels=y)",
                    "So described, but it takes precision and recall.",
                ),
            ),
            by="scikit-learn",
        ),
    ),
    "Adult by sex.",
)

overall = Question(
    "A difference from everyone",
    (
        Answer(
            None,
            "The largest distance of a group from the rate of all rows.",
            (
                Call(
                    FAIRLEARN,
                    TO_OVERALL,
                ),
            ),
            (
                Call(
                    FAIRBENCH,
                    "quick.vsall_largestmaxdiff_pr(predictions=p, sensitive=who)",
                    "So described, but it compares all pairs: MPD.",
                ),
            ),
        ),
    ),
    "Adult by race.",
)

quantile = Question(
    "A quantile in a name",
    (
        Answer(
            "statistical_parity_regression(low, high, p, q=0.5)",
            "The gap at the median.",
            near=(
                Call(
                    HOLISTICAI,
                    'regression_bias_metrics(low, high, p, y)["Value"]["Statistical Parity Q50"]',
                    "Its summary table has q=0.8 under this name.",
                ),
            ),
            by=HOLISTICAI,
        ),
    ),
    "The regression, by sex.",
)

deviation = Question(
    "Generalized entropy of order 0",
    (
        Answer(
            "-np.mean(np.log((1 + p - y) / np.mean(1 + p - y)))",
            "The mean log deviation of benefits.",
            near=(
                Call(
                    AIF360, "generalized_entropy_error(y, p, alpha=0)", "Divides by the mean again."
                ),
                Call(HOLISTICAI, "generalized_entropy_index(p, y, alpha=0)", "So too."),
            ),
            by="NumPy",
        ),
    ),
    "`y = [0, 0, 1]`, `p = [0, 1, 1]`.",
)

overflow = Question(
    "Many rows",
    (
        Answer(
            "matthews_corrcoef(y, p)",
            "Matthews correlation; evenhand has no such statistic.",
            (Call(OXONFAIR, "mcc(y, p, a)"),),
            (
                Call(
                    FAIRBENCH,
                    "measures.mcc(predictions=p, labels=y)",
                    "A product of four counts wraps at 2⁶³; FairBench refuses its own result.",
                ),
            ),
            by="scikit-learn",
        ),
    ),
    "The test rows of Adult 20 times over, 195,360 in all.",
)

QUESTIONS = {
    by_name: inputs.by_sex,
    overall: inputs.by_race,
    quantile: inputs.hours_by_sex,
    deviation: inputs.three_rows,
    overflow: inputs.twenty_times,
}
