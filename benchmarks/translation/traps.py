"""Small inputs where tools part ways for other reasons than their definitions."""

import inputs
from answers import AIF360, FAIRBENCH, FAIRLEARN, HOLISTICAI, OXONFAIR, Answer, Call, Question

SELECTED = "demographic_parity_difference(y, p, sensitive_features=a)"
PAIRS = 'multiclass_statistical_parity(a, p, aggregation_fun="max")'

no_positives = Question(
    "A perfect classifier, and a group without positives",
    (
        Answer(
            'ask("equal_opportunity", measure="mpd")',
            "c has no TPR and is left out; the reading names it.",
            near=(
                Call(
                    FAIRLEARN,
                    "equal_opportunity_difference(y, p, sensitive_features=a)",
                    "0/0 is 0.",
                ),
                Call(
                    FAIRLEARN, "equalized_odds_difference(y, p, sensitive_features=a)", "0/0 is 0."
                ),
                Call(OXONFAIR, "recall.max_diff(y, p, a)", "0/0 is 0."),
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxdiff_tpr(predictions=p, labels=y, sensitive=who)",
                    "0/0 is 0.",
                ),
                Call(
                    HOLISTICAI,
                    'multiclass_equality_of_opp(a, p, y, aggregation_fun="max")',
                    "0/0 is ½ for each class: it adds 10⁻³² to all counts.",
                ),
            ),
        ),
        Answer(
            'ask("equal_opportunity", b, measure=signed)',
            "c against the others: one group is left, so there is no value; evenhand warns.",
            (Call(AIF360, "metric.equal_opportunity_difference()"),),
            (
                Call(
                    AIF360,
                    "equal_opportunity_difference(y, p, prot_attr=a, priv_group=top)",
                    "Its other interface: 0/0 is 0, with scikit-learn's warning.",
                ),
                Call(
                    HOLISTICAI, "equal_opportunity_diff(low, high, p, y)", "It expects both labels."
                ),
            ),
            no_number=True,
        ),
    ),
    "`y = p = [1, 0, 1, 0, 0, 0]`, `a` is `a, a, b, b, c, c`, and `top` is c.",
)

nobody = Question(
    "Nobody is selected",
    (
        Answer(
            'ask("selection_rate_ratio")',
            "All rates are 0, and so equal.",
            (
                Call(OXONFAIR, "disparate_impact(y, p, a)"),
                Call(
                    FAIRBENCH, "1 - float(quick.pairwise_maxrel_pr(predictions=p, sensitive=who))"
                ),
            ),
            (
                Call(
                    OXONFAIR, "pos_pred_rate.min_ratio(y, p, a)", "Worst, where its mean says best."
                ),
                Call(FAIRLEARN, "demographic_parity_ratio(y, p, sensitive_features=a)", "0/0."),
                Call(AIF360, "disparate_impact_ratio(y, p, prot_attr=a, priv_group=top)", "Worst."),
                Call(HOLISTICAI, "four_fifths(low, high, p)", "0/0."),
            ),
        ),
    ),
    "The same rows with `p = [0, 0, 0, 0, 0, 0]`.",
)

no_rows = Question(
    "A group with no rows",
    (
        Answer(
            'ask("statistical_parity", measure="mpd")',
            "An unused category is no group.",
            (Call(FAIRLEARN, SELECTED), Call(HOLISTICAI, PAIRS)),
            (
                Call(OXONFAIR, "pos_pred_rate.max_diff(y, p, masks)", "0/0."),
                Call(OXONFAIR, "recall.max_diff(y, p, masks)", "The empty group's TPR is 0."),
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxdiff_pr(predictions=p, sensitive=people)",
                    "The empty group's rate is 0.",
                ),
            ),
        ),
    ),
    "`y = p = [1, 0, 1, 0]`; `a` is a pandas Categorical `a, a, b, b` with a third category that "
    "does not occur. OxonFair and FairBench get a mask for each of the three: `masks`, `people`.",
)

no_group = Question(
    "A row without a group",
    (
        Answer(
            'ask("statistical_parity", measure="mpd")',
            "The error says how to make the missing a group of their own.",
            (
                Call(FAIRLEARN, SELECTED),
                Call(HOLISTICAI, PAIRS),
                Call(OXONFAIR, "pos_pred_rate.max_diff(y, p, a)"),
                Call(AIF360, "np.ptp(intersection(selection_rate, y, p, prot_attr=a))"),
            ),
            (
                Call(
                    AIF360,
                    'statistical_parity_difference(y, p, prot_attr=a, priv_group="a")',
                    "Counts the row as unprivileged.",
                ),
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxdiff_pr(predictions=p, sensitive=who)",
                    "Drops the row.",
                ),
            ),
            no_number=True,
        ),
    ),
    "`y = p = [1, 0, 1, 0]`, `a` is `a, a, b, NaN`.",
)

not_labels = Question(
    "Scores where labels belong",
    (
        Answer(
            'ask("statistical_parity", measure="mpd")',
            "The error says where scores go.",
            (Call(HOLISTICAI, "statistical_parity(low, 1 - low, p)"),),
            (
                Call(FAIRLEARN, SELECTED, "Counts the rows with a score of exactly 1."),
                Call(
                    AIF360,
                    "statistical_parity_difference(y, p, prot_attr=a, priv_group=top)",
                    "So too.",
                ),
                Call(OXONFAIR, "demographic_parity(y, p, a)", "Rounds every score down to 0."),
                Call(HOLISTICAI, PAIRS, "Takes each score for a class."),
                Call(
                    FAIRBENCH,
                    "quick.pairwise_maxdiff_pr(predictions=p, sensitive=who)",
                    "Compares mean scores.",
                ),
            ),
            no_number=True,
        ),
    ),
    "Adult by sex, with `p = s`.",
)

QUESTIONS = {
    no_positives: inputs.perfect,
    nobody: inputs.nobody,
    no_rows: inputs.no_rows,
    no_group: inputs.no_group,
    not_labels: inputs.not_labels,
}
