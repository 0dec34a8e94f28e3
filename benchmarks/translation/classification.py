"""Questions about labels and scores."""

from answers import AIF360, FAIRBENCH, FAIRLEARN, HOLISTICAI, OXONFAIR, Answer, Call, Question

PRIV = "prot_attr=a, priv_group=top"
SIDES = "low, high"
TO_OVERALL = 'demographic_parity_difference(y, p, sensitive_features=a, method="to_overall")'

parity = Question(
    "Selection rates: difference",
    (
        Answer(
            'ask("statistical_parity", measure="mpd")',
            "The highest rate minus the lowest. Both classes give the same gap.",
            (
                Call(FAIRLEARN, "demographic_parity_difference(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "pos_pred_rate.max_diff(y, p, a)"),
                Call(HOLISTICAI, 'multiclass_statistical_parity(a, p, aggregation_fun="max")'),
                Call(FAIRBENCH, "quick.pairwise_maxdiff_pr(predictions=p, sensitive=who)"),
                Call(AIF360, "np.ptp(intersection(selection_rate, y, p, prot_attr=a))"),
            ),
            (
                Call(
                    FAIRLEARN,
                    TO_OVERALL,
                    "The largest distance of a group from the rate of all rows; large groups pull "
                    "that rate to themselves.",
                ),
            ),
        ),
        Answer(
            'ask("statistical_parity", favorable=1, measure=mean_gap)',
            "The mean over all pairs of groups, which a single odd group moves little.",
            (
                Call(OXONFAIR, "demographic_parity(y, p, a)"),
                Call(HOLISTICAI, "multiclass_statistical_parity(a, p)", "The mean is its default."),
            ),
        ),
        Answer(
            'ask("statistical_parity", b, favorable=1, measure=signed)',
            "Signed: all others minus the privileged group. MPD is its absolute value.",
            (
                Call(AIF360, f"statistical_parity_difference(y, p, {PRIV})", "Merges all others."),
                Call(AIF360, "metric.statistical_parity_difference()"),
                Call(HOLISTICAI, f"statistical_parity({SIDES}, p)"),
            ),
        ),
        Answer(
            'ask("statistical_parity", favorable=1, measure="gini")',
            "Relative, so it depends on the class. Without `favorable` evenhand takes the worse "
            "of the two.",
            (Call(FAIRBENCH, "quick.pairwise_gini_pr(predictions=p, sensitive=who)"),),
        ),
        Answer('ask("statistical_parity")', "evenhand's default: PQ of the worse class."),
    ),
)

impact = Question(
    "Selection rates: ratio (disparate impact)",
    (
        Answer(
            'ask("selection_rate_ratio")',
            "The lowest rate over the highest; 1 is equal.",
            (
                Call(FAIRLEARN, "demographic_parity_ratio(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "pos_pred_rate.min_ratio(y, p, a)"),
                Call(
                    FAIRBENCH, "1 - float(quick.pairwise_maxrel_pr(predictions=p, sensitive=who))"
                ),
            ),
        ),
        Answer(
            'ask("statistical_parity", favorable=1, measure=mean_ratio)',
            "The mean over all pairs, each smaller over larger.",
            (Call(OXONFAIR, "disparate_impact(y, p, a)"),),
        ),
        Answer(
            'ask("statistical_parity", b, favorable=1, measure=quotient)',
            "All others over the privileged group; it may exceed 1.",
            (
                Call(AIF360, f"disparate_impact_ratio(y, p, {PRIV})"),
                Call(HOLISTICAI, f"disparate_impact({SIDES}, p)"),
                Call(
                    HOLISTICAI,
                    f"four_fifths({SIDES}, p)",
                    "Turned over where it exceeds 1, as it does not here.",
                ),
            ),
        ),
    ),
)

odds = Question(
    "Equalized odds",
    (
        Answer(
            'ask("equalized_odds", measure="mpd")',
            "The larger of the gaps of TPR and FPR.",
            (
                Call(FAIRLEARN, "equalized_odds_difference(y, p, sensitive_features=a)"),
                Call(OXONFAIR, "equalized_odds_max(y, p, a)"),
            ),
        ),
        Answer(
            'ask("equalized_odds", b, measure="mpd")',
            "The same between the privileged group and all others.",
            (Call(AIF360, "metric.equalized_odds_difference()"),),
        ),
        Answer(
            'ask("equalized_odds", measure="mpd", aggregate="mean")',
            "The mean of the two gaps.",
            (Call(FAIRLEARN, 'equalized_odds_difference(y, p, sensitive_features=a, agg="mean")'),),
            (
                Call(
                    HOLISTICAI,
                    'multiclass_equality_of_opp(a, p, y, aggregation_fun="max")',
                    "The mean of the two within each pair of groups, then the worst pair: less, "
                    "if different pairs are worst.",
                ),
            ),
        ),
        Answer(
            'ask("equalized_odds", measure=mean_gap, aggregate="mean")',
            "The mean over TPR and FPR of the mean over pairs.",
            (
                Call(OXONFAIR, "equalized_odds(y, p, a)"),
                Call(
                    HOLISTICAI,
                    "multiclass_equality_of_opp(a, p, y)",
                    "Not equal opportunity: all rates.",
                ),
                Call(HOLISTICAI, "multiclass_true_rates(a, p, y)", "The same for two classes."),
            ),
        ),
        Answer(
            'ask("equalized_odds", favorable=1, measure="ratio")',
            "The smaller of the ratios of TPR and FPR, lowest over highest.",
            (Call(FAIRLEARN, "equalized_odds_ratio(y, p, sensitive_features=a)"),),
        ),
    ),
)

average_odds = Question(
    "Average odds",
    (
        Answer(
            'ask("average_odds", b, favorable=1, measure=signed)',
            "The mean of the signed gaps of TPR and FPR: opposite signs cancel.",
            (
                Call(AIF360, f"average_odds_difference(y, p, {PRIV})"),
                Call(HOLISTICAI, f"average_odds_diff({SIDES}, p, y)"),
            ),
        ),
        Answer(
            'ask("equalized_odds", b, measure="mpd", aggregate="mean")',
            "The mean of the absolute gaps: nothing cancels.",
            (Call(AIF360, f"average_odds_error(y, p, {PRIV})"),),
        ),
        Answer(
            'ask("average_odds", favorable=1, measure=mean_gap)',
            "½ (TPR + FPR) of each group; the mean over pairs.",
            (Call(HOLISTICAI, "multiclass_average_odds(a, p, y)"),),
        ),
    ),
)

QUESTIONS = (parity, impact, odds, average_odds)
