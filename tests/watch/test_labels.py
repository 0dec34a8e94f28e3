"""Labels from day to day: a gate that was violated does not pass because rows are spelled anew."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.watch import watch as command
from lanes import one_in
from watch.states import state_of

BOUND = "statistical_parity.mpd > 0.2"


def rows(seed, labels=(0, 1), rates=(0.2, 0.7), number=300, groups=("a", "b"), **options):
    rng = np.random.default_rng(seed)
    where = rng.integers(0, 2, number)
    hits = rng.random(number) < np.where(where == 0, *rates)
    decided = [labels[int(hit)] for hit in hits]
    return eh.tally(None, decided, sensitive_features=[groups[i] for i in where], **options)


def violated(favorable=1, **options):
    """A watch whose bound is violated after five days."""
    watched = eh.Watch("statistical_parity", fail_if=[BOUND], favorable=favorable, **options)
    for day in range(1, 6):
        watched.update(rows(day), part=str(day), at=f"2026-02-0{day}")
    assert outcome(watched) == "violation"
    return watched


def outcome(watched):
    return watched.status().judgements[0].outcome


SPELLINGS = [("0", "1"), ("0.0", "1.0"), (0.0, 1.0), (False, True), ("False", "True"), (" 0", "1 ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "favorable"), one_in(3, SPELLINGS, [1, "1", True, 1.0]), ids=repr
)
def test_a_label_in_another_spelling_is_the_same_label(labels, favorable):
    spelled, plain = (violated(favorable) for _ in range(2))
    for day in range(6, 9):
        spelled.update(rows(day, labels), part=str(day), at=f"2026-02-0{day}")
        plain.update(rows(day), part=str(day), at=f"2026-02-0{day}")
    assert repr(spelled.status().document()) == repr(plain.status().document())
    assert not spelled.update(rows(8), part="8", at="2026-02-08")


def test_a_group_in_another_spelling_is_the_same_group():
    watched = eh.Watch("statistical_parity", favorable=1)
    for day, groups in enumerate([(1, 2), ("1", "2"), (1.0, 2.0)], 1):
        watched.update(rows(day, groups=groups), part=str(day), at=f"2026-02-0{day}")
    assert watched.groups == (1, 2)
    watched.rename({"1": "one"})
    watched.update(rows(4, groups=("1", "2")), part="4", at="2026-02-04")
    assert set(watched.groups) == {"one", 2}


@pytest.mark.parametrize(
    "labels", [("no", "yes"), ("N", "Y"), ("0", "yes"), (0, 2), ("-", "+")], ids=str
)
@pytest.mark.parametrize("options", [{}, {"cluster": range(300)}], ids=["rows", "clusters"])
def test_a_part_without_the_favorable_label_and_with_new_ones_is_refused(labels, options):
    watched = eh.Watch("statistical_parity", fail_if=[BOUND], favorable=1)
    watched.update(rows(1, **options), part="1", at="2026-02-01")
    before = state_of(watched)
    with pytest.raises(eh.InputError, match="predictions never has the favorable label 1"):
        watched.update(rows(2, labels, **options), part="2", at="2026-02-02")
    with pytest.raises(eh.InputError, match="never has the favorable label"):
        watched.correct("1", rows(1, **options), rows(1, labels, **options))
    assert state_of(watched) == before


def test_without_a_favorable_label_a_part_must_share_some_label():
    watched = violated(favorable=None)
    with pytest.raises(eh.InputError, match="none of the labels there were so far"):
        watched.update(rows(6, (2, 3)))
    with pytest.raises(eh.InputError, match="has 'no' and 'yes'; so far there were 0 and 1"):
        watched.update(rows(6, ("no", "yes")))
    watched.update(rows(6, (0, 2)), part="6")
    assert watched.status().parts == 6


@pytest.mark.slow
def test_a_stray_word_does_not_undo_what_was_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def day(number, stray=None):
        group = rng.choice(["F", "M"], 400)
        decided = (rng.random(400) < np.where(group == "F", 0.2, 0.7)).astype(int).astype(object)
        if stray is not None:
            decided[7] = stray
        name = f"2026-03-0{number}.csv"
        pd.DataFrame({"sex": group, "decision": decided}).to_csv(name, index=False)
        return CliRunner().invoke(command, ["append", name, "--state", "w.json"]).exit_code

    asked = ["--criterion", "statistical_parity", "--prediction", "decision", "--group", "sex"]
    made = [*asked, "--favorable", "1", "--fail-if", BOUND]
    assert CliRunner().invoke(command, ["init", "--state", "w.json", *made]).exit_code == 0
    statuses = [day(1), day(2), day(3)]
    assert statuses[-1] == 1
    before = (tmp_path / "w.json").read_text()
    refused = day(4, "n/a")
    assert refused == 2
    assert (tmp_path / "w.json").read_text() == before
    assert day(5) == 1


def test_the_labels_of_a_baseline_are_known_labels():
    watched = eh.Watch("statistical_parity", favorable="1", baseline=rows(0))
    assert watched.update(rows(1, ("0", "1")))
    with pytest.raises(eh.InputError, match="never has the favorable label"):
        watched.update(rows(2, ("no", "yes")))
    with pytest.raises(eh.InputError, match="never has the favorable label 'yes'"):
        eh.Watch("statistical_parity", favorable="yes", baseline=rows(0))


def test_a_misspelt_favorable_label_is_refused_with_the_first_part():
    watched = eh.Watch("statistical_parity", favorable="Yes", fail_if=[BOUND])
    with pytest.raises(eh.InputError, match="never has the favorable label 'Yes'"):
        watched.update(rows(1, ("no", "yes")))
    assert watched.update(rows(1, ("no", "no")), part="nobody was selected")
    assert watched.update(rows(2, ("no", "Yes")))


def test_truth_in_other_words_than_predictions_is_refused():
    y, p, g = [0, 1] * 50, [0, 1] * 50, ["a", "a", "b", "b"] * 25
    watched = eh.Watch(["statistical_parity", "equal_opportunity"], favorable=1)
    watched.update(eh.tally(y, p, sensitive_features=g))
    other = eh.tally([2 + label for label in y], p, sensitive_features=g)
    with pytest.raises(eh.InputError, match="true labels never has the favorable label 1"):
        watched.update(other)


def test_counts_of_text_and_numbers_do_not_add_up():
    with pytest.raises(eh.InputTypeError, match="Labels mix text and numbers"):
        rows(1) + rows(2, ("0", "1"))


@pytest.mark.slow
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("options", [{}, {"cluster": range(300)}], ids=["rows", "clusters"])
def test_no_bound_is_kept_while_all_predictions_are_one(label, options):
    watched = eh.Watch("statistical_parity", fail_if=["statistical_parity.mpd > 0.5"], favorable=1)
    for day in range(4):
        watched.update(rows(day, (label, label), **options), part=str(day))
        assert outcome(watched) == "inconclusive"
    assert f"every row has the prediction {label}" in watched.status().judgements[0].sentence
    assert watched.status().findings[0].verdict == "cannot tell"
    watched.update(rows(9, rates=(0.5, 0.5), number=2000, **_more(options)), part="9")
    assert outcome(watched) == "pass"
    watched.correct("9", rows(9, rates=(0.5, 0.5), number=2000, **_more(options)),
                    rows(9, (label, label), number=2000, **_more(options)))  # fmt: skip
    assert outcome(watched) == "inconclusive"


def _more(options):
    return {"cluster": range(2000)} if options else {}


def test_no_bound_is_kept_while_all_amounts_are_one():
    watched = eh.Watch("weak_parity", limits={"weak_parity": (0, 50)}, fail_if=["weak_parity > 9"])
    watched.update(
        eh.tally(None, [20.1] * 4000, sensitive_features=["a", "b"] * 2000, task="regression")
    )
    assert "every row has the amount 20.1" in watched.status().judgements[0].sentence
    amounts = [20.1, 20.1, 19.0, 19.0] * 1000
    watched.update(eh.tally(None, amounts, sensitive_features=["a", "b"] * 2000, task="regression"))
    assert outcome(watched) == "pass"


def test_no_bound_is_kept_while_a_group_has_no_rate():
    y, g = [1, 0] * 1000, ["a", "a", "b", "b"] * 500
    watched = eh.Watch("equal_opportunity", fail_if=["equal_opportunity > 0.3"], favorable=1)
    watched.update(eh.tally(y, y, sensitive_features=g))
    assert outcome(watched) == "pass"
    watched.update(eh.tally([0] * 100, [0] * 100, sensitive_features=["c"] * 100))
    assert "there is no value of c at 1" in watched.status().judgements[0].sentence
    assert outcome(watched) == "inconclusive"


def test_a_part_without_a_name_is_always_a_new_one():
    watched = eh.Watch("statistical_parity", favorable=1)
    watched.update(rows(1), part="part 2")
    assert watched.update(rows(1))
    assert watched.status().parts == 2


def test_a_part_that_was_late_is_corrected_as_late_only():
    y, p, g = [0, 1] * 50, [0, 1, 1, 1] * 25, ["a", "a", "b", "b"] * 25
    watched = eh.Watch(["statistical_parity", "equal_opportunity"], favorable=1)
    counts = eh.tally(y, p, sensitive_features=g)
    watched.update(counts, part="labels", late=True)
    with pytest.raises(eh.InputError, match="was counted as late"):
        watched.update(counts, part="labels")
    with pytest.raises(eh.InputError, match="correct it as it was counted, with late=True"):
        watched.correct("labels", counts, counts)
    watched.correct("labels", counts, counts, late=True)


def test_names_that_were_changed_twice_and_swapped_names_hold_for_parts_to_come():
    watched = eh.Watch("statistical_parity", favorable=1)
    watched.update(rows(1), part="1", at="2026-02-01")
    watched.rename({"a": "A"})
    watched.rename({"A": "first"})
    watched.update(rows(2), part="2", at="2026-02-02")
    assert not watched.update(rows(1), part="1", at="2026-02-01")
    assert set(watched.groups) == {"first", "b"}
    watched.rename({"first": "b", "b": "first"})
    assert set(watched.groups) == {"first", "b"}
    watched.correct("1", rows(1), rows(2))
    assert watched.status().rows == 600


def test_a_day_on_which_nobody_was_selected_counts_for_clusters_as_for_rows():
    both = []
    for options in ({}, {"cluster": range(300)}):
        watched = eh.Watch("statistical_parity", favorable=1)
        for day, labels in enumerate([(0, 0), (0, 1), (0, 0)]):
            watched.update(rows(day, labels, **options), part=str(day), at=f"2026-02-0{day + 1}")
        (finding,) = watched.status().findings
        both.append([(rate.group, rate.rate, rate.rows) for rate in finding.rates])
    assert both[0] == both[1]


def test_clusters_of_a_new_class_are_refused():
    watched = eh.Watch("statistical_parity")
    watched.update(rows(1, cluster=range(300)), part="1")
    with pytest.raises(eh.InputError, match="The class 2 is new; so far there were 0 and 1"):
        watched.update(rows(2, (0, 2), cluster=range(300)), part="2")
    assert watched.status().parts == 1
