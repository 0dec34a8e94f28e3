"""Rows and options that cannot be audited: status 2, and one line that says why."""

import numpy as np
import pytest


def changed(people, **columns):
    return people.assign(**columns)


def hole(people, column, value=None):
    return people.assign(
        **{column: people[column].astype(object).where(np.arange(len(people)) != 3, value)}
    )


ROWS = {
    "a missing prediction": (lambda rows: hole(rows, "p"), "'p' has 1 missing label;"),
    "a NaN label": (
        lambda rows: changed(rows, y=rows.y.astype(float).where(rows.index != 3)),
        "'y' has 1 missing label;",
    ),
    "a missing group": (
        lambda rows: hole(rows, "g"),
        "1 of 600 rows has no value of 'g'. Drop such rows, ask for answers that hold "
        "whatever their group is with --missing unknown, or make them a group of their own "
        "with --missing group.",
    ),
    "one group": (lambda rows: changed(rows, g="a"), "There is only one group, 'a'"),
    "no rows": (lambda rows: rows[:0], "There are no rows to count"),
    "labels of two kinds": (
        lambda rows: changed(rows, y=rows.y.astype(str)),
        "Labels mix text and numbers",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ROWS)
def test_rows_that_cannot_be_audited_are_refused(run, people, case):
    change, message = ROWS[case]
    result = run(change(people))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


SCORES = {
    "inf": (
        lambda rows: rows.s.where(rows.index != 3, np.inf),
        "'s' has 1 value that is missing",
    ),
    "nan": (lambda rows: rows.s.where(rows.index != 3), "'s' has 1 value that is missing"),
    "text": (lambda rows: rows.s.astype(str), "'s' must hold numbers"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SCORES)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_scores_and_values_must_be_finite_numbers(run, people, case, task):
    change, message = SCORES[case]
    names = ("--target", "y", "--prediction", "p", "--score", "s", "--group", "g")
    if task == "regression":
        names = ("--target", "y", "--prediction", "s", "--group", "g", "--task", "regression")
    result = run(people.assign(s=change(people)), columns=names)
    assert result.exit_code == 2
    assert message in result.stderr


WEIGHTS = {
    "negative": (-1.0, "The weights in 'w' include negative ones, such as -1"),
    "infinite": (np.inf, "'w' has 600 values that are missing or not finite"),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_are_none_are_refused(run, people, case):
    value, message = WEIGHTS[case]
    result = run(people.assign(w=value), "--weight", "w")
    assert result.exit_code == 2
    assert message in result.stderr


OPTIONS = {
    ("--group", "gg"): "The table has no column 'gg'. Did you mean 'g'? It has y, p, s, g, h, w.",
    ("--criterion", "statistical_party"): "Did you mean 'statistical_parity'?",
    ("--measure", "ginny"): "There is no measure 'ginny'; there are",
    ("--favorable", "yes"): "The favorable label 'yes' is not among the labels [0, 1]",
    ("--min-count", "9"): "--min-count needs --rare",
    ("--min-count", "900", "--rare", "drop"): "nobody would be left. Lower --min-count",
    ("--confidence", "1.5"): "0<x<1",
    ("--depth", "0"): "x>=1",
    ("--task", "ranking"): "--task ranking needs --query",
    ("--top-k", "3"): "--top-k is about rankings: pass --query, the column",
    ("--fail-if", "statistical_parity = 0.1"): "A gate has the form CRITERION.MEASURE > BOUND",
    ("--fail-if", "statistical_parity > > 0.1"): "A gate has the form CRITERION.MEASURE > BOUND",
    ("--fail-if", "statistical_parity.pq < 0.1"): "write 'statistical_parity.pq > 0.1'",
    ("--fail-if", "selection_rate_ratio > 0.8"): "write 'selection_rate_ratio.ratio < 0.8'",
    ("--fail-if", "selection_rate_ratio >= 0.8"): "write 'selection_rate_ratio.ratio <= 0.8'",
    ("--fail-if", "selection_rate_ratio < 0"): "could never fail",
    ("--fail-if", "selection_rate_ratio < 80"): "four-fifths are 0.8",
    ("--fail-if", "statistical_parity.pq > nan"): "A gate has the form CRITERION.MEASURE > BOUND",
    ("--fail-if", "statistical_parity.pq > -1"): "and a bound of at least 0",
    ("--fail-if", "statistical_party.pq > 1"): "Did you mean 'statistical_parity'?",
    ("--fail-if", "statistical_parity.pqq > 1"): "Did you mean 'pq'?",
    ("--fail-if", "performance_parity(f2).pq > 1"): "There is no statistic g='f2'",
    ("--fail-if", "selection_rate_ratio.pq > 1"): "write 'selection_rate_ratio.ratio < 0.8'",
    ("--fail-if", "calibration_parity.pq > 0.1"): "it needs --score with probabilities",
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", OPTIONS, ids=" ".join)
def test_options_that_cannot_be_used_are_refused(run, people, arguments):
    result = run(people, *arguments)
    assert result.exit_code == 2
    assert OPTIONS[arguments] in " ".join(result.stderr.split())


@pytest.mark.parametrize("gate", ["statistical_party.pq > 1", "statistical_parity.pqq > 1"])
def test_gates_are_checked_before_the_file_is_looked_for(run, gate):
    result = run("absent.parquet", "--fail-if", gate)
    assert "Did you mean" in result.stderr


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("--group", "Name the column of the groups"),
        ("--prediction", "Name the column of the --prediction or --score"),
    ],
)
def test_what_must_be_said_is_asked_for(run, people, missing, message):
    names = {"--target": "y", "--prediction": "p", "--group": "g"}
    del names[missing]
    result = run(people, columns=[text for pair in names.items() for text in pair])
    assert result.exit_code == 2
    assert message in result.stderr


def test_no_file_at_all_is_asked_for(run):
    result = run([])
    assert result.exit_code == 2
    assert "Name the FILE to audit" in result.stderr


ODD = {
    "all of one class": lambda rows: changed(rows, y=1, p=1),
    "a constant score": lambda rows: changed(rows, s=0.5),
    "script": lambda rows: changed(rows, g=rows.g.replace("a", "<script>alert(1)</script>")),
    "empty text": lambda rows: changed(rows, g=rows.g.replace("a", "")),
    "emoji": lambda rows: changed(rows, g=rows.g.replace("a", "👩🏽‍🚀 🇧🇷")),
    "markup": lambda rows: changed(rows, g=rows.g.replace("a", "[bold red]x[/]")),
    "control characters": lambda rows: changed(rows, g=rows.g.replace("a", "\x1b[2Jx\r\n")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ODD)
def test_odd_rows_are_audited_all_the_same(run, people, case):
    result = run(ODD[case](people), "--score", "s", "--html", "r.html", "--markdown", "r.md")
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_a_label_can_neither_steer_the_terminal_nor_run_in_the_report(run, people, folder):
    names = {"a": "<script>alert(1)</script>", "b": "\x1b[2J[red]"}
    result = run(people.assign(g=people.g.map(names)), "--html", "r.html", "--junit", "r.xml")
    assert "\x1b" not in result.stdout
    assert "\ufffd[2J[red]" in result.stdout
    assert "<script>alert(1)</script>" not in (folder / "r.html").read_text()


@pytest.mark.slow
def test_missing_groups_may_be_a_group(run, people):
    result = run(hole(people, "g"), "--missing", "group")
    assert result.exit_code == 0
    assert "1 of 600 rows has no value of 'g'; such rows are a group of their own" in result.stdout


@pytest.mark.slow
def test_a_thousand_groups_fit_on_a_screen(run, people, folder):
    n = 10_000
    rng = np.random.default_rng(0)
    rows = {"y": rng.integers(0, 2, n), "p": rng.integers(0, 2, n), "g": rng.integers(0, 10**3, n)}
    result = run(type(people)(rows), "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) < 60


@pytest.mark.parametrize(
    ("word", "option"),
    [("--sensitive_features", "--group"), ("--y-true", "--target"), ("--gate", "--fail-if")],
)
def test_words_of_functions_and_other_tools_lead_to_the_option(capsys, word, option):
    from evenhand.cli.program import main

    with pytest.raises(SystemExit, match="2"):
        main(["audit", "people.csv", word, "x"])
    assert f"No such option: {word}. Did you mean '{option}'?" in capsys.readouterr().err


REFUSED = {
    "replicates": (
        ("--weight", "s", "--replicate-weights", "s", "--replicate-method", "acs"),
        "--replicate-weights 's' is not a range of columns",
    ),
    "one of three": (
        ("--replicate-weights", "s1-9"),
        "need three: --weight, --replicate-weights (the columns) and --replicate-method, such as",
    ),
    "a ranking": (("--task", "ranking"), "--task ranking needs --query, the column"),
    "rare groups": (
        ("--missing", "unknown", "--min-count", "5", "--rare", "merge"),
        "--min-count does not work with groups that are not known for sure",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named_by_its_option(run, people, case):
    options, message = REFUSED[case]
    result = run(hole(people, "g") if case == "rare groups" else people, *options)
    assert result.exit_code == 2
    assert message in result.stderr
