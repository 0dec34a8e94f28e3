"""Questions about single rates and errors."""

from answers import AIF360, FAIRBENCH, FAIRLEARN, HOLISTICAI, OXONFAIR, Answer, Call, Question
from classification import PRIV, SIDES

opportunity = Question(
    "Equal opportunity (TPR)",
    (
        Answer(
            'ask("equal_opportunity", measure="mpd")',
            "The highest TPR minus the lowest.",
            (
                Call(FAIRLEARN, "equal_opportunity_difference(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "recall.max_diff(y, p, a)"),
                Call(
                    FAIRBENCH, "quick.pairwise_maxdiff_tpr(predictions=p, labels=y, sensitive=who)"
                ),
            ),
        ),
        Answer(
            'ask("equal_opportunity", measure=mean_gap)',
            "The mean over pairs.",
            (Call(OXONFAIR, "equal_opportunity(y, p, a)"),),
        ),
        Answer(
            'ask("equal_opportunity", b, measure=signed)',
            "Signed: all others minus the privileged group.",
            (
                Call(AIF360, f"equal_opportunity_difference(y, p, {PRIV})"),
                Call(HOLISTICAI, f"equal_opportunity_diff({SIDES}, p, y)"),
            ),
        ),
        Answer(
            'ask("equal_opportunity", measure="ratio")',
            "The lowest TPR over the highest.",
            (Call(FAIRLEARN, "equal_opportunity_ratio(y, p, sensitive_features=a)"),),
        ),
    ),
)

equality = Question(
    "Predictive equality (FPR)",
    (
        Answer(
            'ask("predictive_equality", measure="mpd")',
            "The highest FPR minus the lowest.",
            (
                Call(FAIRLEARN, "false_positive_rate_difference(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "false_pos_rate.max_diff(y, p, a)"),
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxdiff_tnr(predictions=p, labels=y, sensitive=who)",
                    "TNR is 1 − FPR.",
                ),
            ),
            (Call(OXONFAIR, "predictive_equality(y, p, a)", "The mean gap of FNR, not of FPR."),),
        ),
        Answer(
            'ask("predictive_equality", b, measure=signed)',
            "Signed: all others minus the privileged group.",
            (
                Call(AIF360, f"difference(false_positive_rate_error, y, p, {PRIV})"),
                Call(HOLISTICAI, f"false_positive_rate_diff({SIDES}, p, y)"),
            ),
        ),
    ),
)

predictive = Question(
    "Predictive parity (PPV)",
    (
        Answer(
            'ask("predictive_parity", measure="mpd")',
            "The highest PPV minus the lowest.",
            (
                Call(
                    FAIRLEARN,
                    "MetricFrame(metrics=precision_score, y_true=y, y_pred=p, "
                    "sensitive_features=a).difference()",
                ),
                Call(OXONFAIR, "precision.max_diff(y, p, a)"),
                Call(
                    FAIRBENCH, "quick.pairwise_maxdiff_ppv(predictions=p, labels=y, sensitive=who)"
                ),
            ),
        ),
        Answer(
            'ask("predictive_parity", measure=mean_gap)',
            "The mean over pairs.",
            (Call(OXONFAIR, "predictive_parity(y, p, a)"),),
        ),
        Answer(
            'ask("performance_parity", g="ppv", measure=mean_gap, aggregate="mean")',
            "PPV of both classes (PPV of class 0 is NPV), the mean of the two.",
            (Call(OXONFAIR, "cond_use_accuracy(y, p, a)"),),
        ),
        Answer(
            '(ask("predictive_parity", b, measure=signed) '
            '+ ask("false_omission_rate_parity", b, measure=signed)) / 2',
            "The mean of the signed gaps of PPV and of the false omission rate.",
            (Call(AIF360, f"average_predictive_value_difference(y, p, {PRIV})"),),
        ),
    ),
)

accuracy = Question(
    "Accuracy and errors",
    (
        Answer(
            'ask("accuracy_parity", measure="mpd")',
            "The highest accuracy minus the lowest; `error_parity` gives the same by MPD.",
            (
                Call(FAIRLEARN, "accuracy_score_difference(y, p, sensitive_features=a)"),
                Call(FAIRLEARN, "zero_one_loss_difference(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "accuracy.max_diff(y, p, a)"),
                Call(
                    FAIRBENCH, "quick.pairwise_maxdiff_acc(predictions=p, labels=y, sensitive=who)"
                ),
            ),
        ),
        Answer(
            'ask("accuracy_parity", measure=mean_gap)',
            "The mean over pairs.",
            (Call(OXONFAIR, "accuracy_parity(y, p, a)"),),
        ),
        Answer(
            'ask("accuracy_parity", b, measure=signed)',
            "Signed: all others minus the privileged group.",
            (
                Call(AIF360, f"difference(accuracy_score, y, p, {PRIV})"),
                Call(HOLISTICAI, f"accuracy_diff({SIDES}, p, y)"),
            ),
        ),
        Answer(
            'ask("error_parity", measure="ratio")',
            "The lowest error rate over the highest.",
            (Call(FAIRLEARN, "zero_one_loss_ratio(y, p, sensitive_features=a)"),),
        ),
        Answer(
            'ask("error_parity", b, measure=quotient)',
            "All others over the privileged group.",
            (Call(AIF360, "metric.error_rate_ratio()"),),
        ),
    ),
)

treatment = Question(
    "Treatment equality (ratio of errors)",
    (
        Answer(
            'ask("treatment_equality", measure="mpd")', "FN / FP: the highest minus the lowest."
        ),
        Answer(
            'ask("treatment_equality", favorable=0, measure=mean_gap)',
            "FP / FN, the other way up: a false positive of 1 is a false negative of 0. The mean "
            "over pairs.",
            (Call(OXONFAIR, "treatment_equality(y, p, a)"),),
        ),
    ),
)

QUESTIONS = (opportunity, equality, predictive, accuracy, treatment)
