"""Questions about predicted numbers."""

from answers import FAIRBENCH, FAIRLEARN, HOLISTICAI, Answer, Call, Question
from classification import SIDES

ANY = 'score_bound="unbounded"'

outcome = Question(
    "Predicted numbers",
    (
        Answer(
            'ask("weak_parity", measure="mpd")',
            "The highest mean prediction minus the lowest.",
            (
                Call(
                    FAIRLEARN,
                    "MetricFrame(metrics=mean_prediction, y_true=y, y_pred=p, "
                    "sensitive_features=a).difference()",
                ),
                Call(FAIRBENCH, f"quick.pairwise_maxdiff_avgscore(scores=p, sensitive=who, {ANY})"),
            ),
        ),
        Answer(
            'ask("weak_parity", b, measure=signed)',
            "Signed: all others minus the privileged group.",
            (Call(HOLISTICAI, f"avg_score_diff({SIDES}, p)"),),
        ),
        Answer(
            'ask("weak_parity", b, measure=quotient)',
            "All others over the privileged group.",
            (Call(HOLISTICAI, f"avg_score_ratio({SIDES}, p)"),),
        ),
        Answer(
            'ask("strong_parity", b, measure="mpd")',
            "The largest gap of the distributions over all cut points: Kolmogorov–Smirnov.",
            near=(
                Call(
                    HOLISTICAI,
                    f"max_statistical_parity({SIDES}, p)",
                    "Over 150 quantiles only, so never more.",
                ),
            ),
        ),
        Answer(
            'ask("wasserstein_parity", b, measure="mpd")',
            "The area between the distributions, in hours.",
            near=(
                Call(
                    HOLISTICAI,
                    f"statistical_parity_auc({SIDES}, p)",
                    "The mean gap over 150 quantiles: no unit, the same for any monotone scale.",
                ),
            ),
        ),
    ),
)

loss = Question(
    "Errors of numbers",
    (
        Answer(
            'ask("performance_parity", g="mae", measure="mpd")',
            "The highest mean absolute error minus the lowest.",
            (
                Call(
                    FAIRLEARN,
                    "MetricFrame(metrics=mean_absolute_error, y_true=y, y_pred=p, "
                    "sensitive_features=a).difference()",
                ),
                Call(
                    FAIRBENCH,
                    f"quick.pairwise_maxdiff_mabs(scores=p, targets=y, sensitive=who, {ANY})",
                ),
            ),
        ),
        Answer(
            'ask("performance_parity", b, g="mae", measure=quotient)',
            "All others over the privileged group.",
            (Call(HOLISTICAI, f"mae_ratio({SIDES}, p, y)"),),
        ),
        Answer(
            'ask("performance_parity", b, g="rmse", measure=quotient)',
            "The same of root mean squared errors.",
            (Call(HOLISTICAI, f"rmse_ratio({SIDES}, p, y)"),),
        ),
        Answer(
            'ask("performance_parity", g="mse", measure=highest)',
            "The worst group's loss, which bounded group loss keeps below a limit.",
            (Call(FAIRLEARN, "mean_squared_error_group_max(y, p, sensitive_features=a)"),),
        ),
        Answer(
            'ask("performance_parity", g="r2", measure="mpd")',
            "R² within each group, against that group's own mean.",
            (
                Call(
                    FAIRBENCH,
                    f"quick.pairwise_maxdiff_r2(scores=p, targets=y, sensitive=who, {ANY})",
                ),
            ),
        ),
        Answer(
            None,
            "The difference of correlations, signed.",
            (Call(HOLISTICAI, f"correlation_diff({SIDES}, p, y)"),),
        ),
    ),
)

QUESTIONS = (outcome, loss)
