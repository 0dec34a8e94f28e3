"""Questions about scores, and about benefits of single rows."""

from answers import AIF360, FAIRBENCH, FAIRLEARN, HOLISTICAI, OXONFAIR, Answer, Call, Question
from classification import SIDES

scores = Question(
    "Scores: AUROC, cross-entropy, calibration",
    (
        Answer(
            'ask("performance_parity", g="auroc", y_score=s, measure="mpd")',
            "The highest area minus the lowest, ties counted half.",
            (
                Call(
                    FAIRLEARN,
                    "MetricFrame(metrics=roc_auc_score, y_true=y, y_pred=s, "
                    "sensitive_features=a).difference()",
                ),
                Call(FAIRBENCH, "quick.pairwise_maxdiff_auc(scores=s, labels=y, sensitive=who)"),
            ),
            (
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxbarea_auc(scores=s, labels=y, sensitive=who)",
                    "The area between two ROC curves, on a grid; curves that cross do not cancel.",
                ),
            ),
        ),
        Answer(
            'ask("performance_parity", b, g="auroc", y_score=s, favorable=1, measure=signed)',
            "Signed: all others minus the privileged group.",
            (
                Call(
                    HOLISTICAI,
                    f"abroca({SIDES}, s, y)",
                    "A difference of areas, though ABROCA names the area between the curves.",
                ),
            ),
        ),
        Answer(
            'ask("performance_parity", g="cross_entropy", y_score=s, measure=highest)',
            "The worst group's mean loss; equal groups do not make it 0.",
            (Call(FAIRLEARN, "log_loss_group_max(y, s, sensitive_features=a)"),),
        ),
        Answer(
            'ask("calibration_parity", y_score=s, measure="mpd")',
            "The worst of ten score bins; bins with few rows of a group scatter. None of the five "
            "measures calibration.",
        ),
        Answer(
            'ask("calibration_within_groups", y_score=s, measure="mpd")',
            "The groups' mean calibration errors.",
        ),
    ),
)

benefit = Question(
    "Inequality of individual benefits",
    (
        Answer(
            None,
            "Generalized entropy of ŷ − y + 1 over all rows. It knows no groups, so it is no "
            "criterion here.",
            (
                Call(AIF360, "generalized_entropy_error(y, p)"),
                Call(AIF360, "metric.generalized_entropy_index()"),
                Call(HOLISTICAI, "generalized_entropy_index(p, y)"),
                Call(OXONFAIR, "gen_entropy(y, p, a)"),
            ),
        ),
        Answer(
            None,
            "The part of it that lies between groups, weighted by their sizes.",
            (Call(AIF360, "between_group_generalized_entropy_error(y, p, prot_attr=a)"),),
        ),
    ),
)

QUESTIONS = (scores, benefit)
