"""Pages of standards: what they hold, what they refuse, and that they print on three sheets."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.audit import audit as audit_command
from evenhand.cli.registries import standards as standards_command
from evenhand.standards import profiles
from report.browser import BROWSER, NAMES, run

RACES = {
    "Asian": (800, 0.40),
    "Black": (1100, 0.27),
    "Hispanic": (900, 0.30),
    "Native American": (28, 0.25),
    "Pacific Islander": (36, 0.31),
    "Two or more races": (160, 0.33),
    "White": (2100, 0.36),
    "Unknown": (240, 0.31),
}
STATED = {"lending": {"reference": {"sex": "Male", "race": "White"}}}


@pytest.fixture(scope="module")
def table():
    lines = []
    for race, (people, rate) in RACES.items():
        for sex, share, more in (
            ("Female", 0.46, -0.03),
            ("Male", 0.5, 0.02),
            ("Unknown", 0.04, 0),
        ):
            n = int(people * share) + 1
            hits = round(n * (rate + more))
            lines += [(sex, race, 1, hits), (sex, race, 0, n - hits)]
    counts = pd.DataFrame(lines, columns=["sex", "race", "selected", "n"])
    return counts[counts.n > 0]


def audited(table, **options):
    columns = {"y_true": None, "y_pred": "selected", "sensitive_features": ["sex", "race"]}
    asked = {"criteria": ["selection_rate_ratio"], **options}
    return eh.audit(data=table, **columns, rows="n", **asked)


@pytest.fixture(scope="module")
def found(table):
    return audited(table)


def rows_of(document, title):
    return next(table["rows"] for table in document["tables"] if table["title"] == title)


def test_the_standards_are_these():
    assert list(eh.standards.STANDARDS) == [
        "california-ads",
        "eu-ai-act",
        "evidence",
        "lending",
        "new-jersey",
        "nyc-ll144",
        "ugesp",
    ]


@pytest.mark.parametrize("name", eh.standards.STANDARDS)
def test_a_profile_is_dated_and_cites_its_sources(name):
    standard = eh.standards.STANDARDS[name]
    assert standard.reviewed < standard.review_by
    if name == "evidence":  # no law
        assert standard.law_date is None
    else:
        assert standard.law_date <= standard.in_force < standard.reviewed
    assert standard.review_by - standard.reviewed <= timedelta(days=366)
    assert standard.asks
    assert standard.cannot
    assert set(standard.criteria) <= set(eh.CRITERIA)
    assert set(standard.facts) <= {option.name for option in standard.options}


@pytest.mark.parametrize("name", eh.standards.STANDARDS)
def test_no_page_or_profile_calls_anything_compliant(found, name):
    page = found.to_html(standard=name, stated=STATED.get(name))
    assert "complian" not in page.lower()
    folder = Path(profiles.__file__).parent
    for file in folder.iterdir():
        if file.suffix in (".py", ".toml"):
            assert "complian" not in file.read_text(encoding="utf-8").lower()


@pytest.mark.parametrize("name", eh.standards.STANDARDS)
def test_a_profile_past_its_review_date_says_so_on_the_page(found, name):
    stated = STATED.get(name)
    assert "should have been reviewed" not in found.to_html(standard=name, stated=stated)
    later = replace(found, date="2031-01-01")
    assert "should have been reviewed again" in later.to_html(standard=name, stated=stated)


def test_local_law_144_has_three_tables_without_unknown_categories(found, table):
    document = found.document(standard="nyc-ll144")
    titles = [one["title"] for one in document["tables"]]
    assert titles == ["By sex", "By race", "By sex × race"]
    by_race = {row["category"]: row for row in rows_of(document, "By race")}
    assert "Unknown" not in by_race
    ours = table[table.race == "Black"]
    assert by_race["Black"]["people"] == ours.n.sum()
    assert by_race["Black"]["hits"] == ours[ours.selected == 1].n.sum()
    highest = max(row["rate"] for row in by_race.values())
    for row in by_race.values():
        assert row["rate"] == pytest.approx(row["hits"] / row["people"])
        assert row["impact_ratio"] == pytest.approx(row["rate"] / highest)
    facts = {fact["name"]: fact["text"] for fact in document["facts"]}
    hidden = table[(table.race == "Unknown") | (table.sex == "Unknown")].n.sum()
    assert f"{hidden:,} by sex × race (recorded as Unknown)" in facts["Unknown category"]
    assert facts["Tool"] is None


def test_categories_below_two_percent_are_left_out_with_a_reason_only(found):
    for stated, message in (
        ({"leave_out": 0.02}, "reason"),
        ({"leave_out": 0.05, "reason": "few"}, "no larger ones"),
    ):
        with pytest.raises(eh.InputError, match=message):
            found.to_html(standard="nyc-ll144", stated=stated)
    stated = {"leave_out": 0.02, "reason": "Too few people."}
    page = found.document(standard="nyc-ll144", stated=stated)
    by_race = {row["category"]: row for row in rows_of(page, "By race")}
    assert by_race["Pacific Islander"]["impact_ratio"] is None
    assert by_race["Pacific Islander"]["rate"] > 0
    assert "Too few people." in page["tables"][1]["notes"][0]


def test_the_denominator_is_the_highest_of_all_or_of_those_not_left_out():
    table = pd.DataFrame(
        {
            "race": ["a", "a", "b", "b", "c", "c"],
            "selected": [1, 0] * 3,
            "n": [5, 5, 400, 600, 300, 700],
        }
    )
    names = {"y_true": None, "y_pred": "selected", "sensitive_features": "race", "rows": "n"}
    audit = eh.audit(data=table, **names, criteria=["selection_rate_ratio"])
    ratios = {}
    for denominator in ("all", "included"):
        stated = {"leave_out": 0.02, "reason": "few", "denominator": denominator}
        rows = audit.document(standard="nyc-ll144", stated=stated)["tables"][0]["rows"]
        ratios[denominator] = [row["impact_ratio"] for row in rows]
    assert ratios["all"] == [None, pytest.approx(0.8), pytest.approx(0.6)]
    assert ratios["included"] == [None, pytest.approx(1.0), pytest.approx(0.75)]


@pytest.mark.parametrize("name", eh.standards.STANDARDS)
def test_every_legal_sentence_has_a_source_with_a_date_that_was_read_or_is_not_verified(
    found, name
):
    standard = eh.standards.STANDARDS[name]
    cited = {source.citation for source in standard.sources}
    assert {one.source for one in (*standard.asks, *standard.standing)} <= cited
    page = found.to_html(standard=name, stated=STATED.get(name))
    for source in standard.sources:
        assert source.date <= standard.reviewed
        shown = re.sub(r"<[^>]+>", "", html.unescape(page))
        read = "" if source.verified else "; not verified"
        assert f"{source.citation}, {source.date} ({source.about}{read})" in shown


@pytest.mark.parametrize("name", ["nyc-ll144", "lending", "california-ads", "new-jersey"])
def test_without_intervals_there_is_no_verdict_and_no_limit_that_no_rule_sets(found, name):
    stated = {"intervals": False, **STATED.get(name, {})}
    document = found.document(standard=name, stated=stated)
    told = json.dumps([document["shows"], document["tables"], document["notes"]])
    for word in ("four", "4/5", '0.8"', "inconclusive", "Inconclusive", "Beside"):
        assert word not in told, word


def test_intervals_can_be_turned_off(found):
    columns = found.document(standard="nyc-ll144", stated={"intervals": "no"})["tables"][0][
        "columns"
    ]
    assert [column["key"] for column in columns] == [
        "category",
        "people",
        "hits",
        "rate",
        "impact_ratio",
    ]


def test_scores_are_counted_strictly_above_the_median_of_everybody():
    score = np.array([1.0, 2, 2, 3, 4, 2, 5, 1, 2, 3])
    sex = np.array(["F", "F", "F", "F", "M", "M", "M", "M", "Unknown", "Unknown"])
    audit = eh.audit(None, score, sensitive_features=sex, task="regression")
    page = audit.document(standard="nyc-ll144")
    assert [row["hits"] for row in page["tables"][0]["rows"]] == [1, 2]
    rates = next(fact["text"] for fact in page["facts"] if fact["name"] == "Rates")
    assert "4 people score exactly that" in rates


@pytest.mark.slow
def test_pages_from_rows_from_counts_and_from_files_are_the_same(
    found, table, tmp_path, monkeypatch
):
    rows = table.loc[table.index.repeat(table.n)]
    features = rows[["sex", "race"]]
    asked = {"criteria": ["selection_rate_ratio"]}
    direct = eh.audit(None, rows.selected.to_numpy(), sensitive_features=features, **asked)
    monkeypatch.chdir(tmp_path)
    table.to_csv("counts.csv", index=False)
    columns = ["--rows", "n", "--prediction", "selected", "--group", "sex", "--group", "race"]
    for name in ("nyc-ll144", "ugesp"):
        asked = ["counts.csv", *columns, "--standard", name, "--csv", "page.csv"]
        result = CliRunner().invoke(audit_command, [*asked, "--json", "page.json"])
        assert result.exit_code == 0, result.output
        written = json.loads(Path("page.json").read_text(encoding="utf-8"))
        assert written["tables"] == found.document(standard=name)["tables"]
        assert written["tables"] == direct.document(standard=name)["tables"]
        text = Path("page.csv").read_text(encoding="utf-8")
        assert text.splitlines() == found.to_csv(standard=name).splitlines()


def test_a_group_of_a_few_never_sets_the_rate_that_others_are_held_against():
    counts = pd.DataFrame(
        {
            "race": ["White", "White", "Black", "Black", "Native", "Native"],
            "selected": [1, 0] * 3,
            "n": [4000, 6000, 780, 1720, 50, 70],
        }
    )
    columns = {"rows": "n", "y_true": None, "y_pred": "selected", "sensitive_features": ["race"]}
    audit = eh.audit(data=counts, **columns, criteria=["selection_rate_ratio"])
    page = audit.document(standard="ugesp")
    rows = {row["group"]: row for row in rows_of(page, "By race")}
    tests = {row["group"]: row for row in rows_of(page, "By race, tests and people")}
    assert rows["Black"]["ratio"] == pytest.approx(0.312 / 0.4)
    assert rows["Native"]["ratio"] == pytest.approx(50 / 120 / 0.4)
    assert rows["White"]["four_fifths"] == "highest"
    assert tests["Black"]["fisher_p"] < 1e-10
    assert "never counts as the highest" in page["tables"][0]["notes"][0]
    everyone = audit.document(standard="ugesp", stated={"least_share": 0})
    rows = {row["group"]: row for row in rows_of(everyone, "By race")}
    assert rows["Native"]["four_fifths"] == "highest"
    beside = rows_of(everyone, "By race, compared with the largest group (White)")
    black = next(row for row in beside if row["group"] == "Black")
    assert black["fisher_p"] == tests["Black"]["fisher_p"]
    assert black["ratio"] == pytest.approx(0.312 / 0.4)


def test_significance_is_in_the_headline_of_the_guidelines(found):
    shows = found.document(standard="ugesp")["shows"]
    assert "Different from Asian at the level 0.05 by Fisher’s exact test" in " ".join(shows)
    plain = found.document(standard="ugesp", stated={"test": "mid-p"})
    heads = [column["head"] for column in plain["tables"][1]["columns"]]
    assert "Mid-p" in heads
    assert "One swap turns it" in heads


def test_steps_lead_to_the_bottom_line():
    rows = []
    for race, applied, passed, hired in (("x", 100, 60, 30), ("y", 50, 20, 12)):
        rows += [("screen", race, 1, passed), ("screen", race, 0, applied - passed)]
        rows += [("interview", race, 1, hired), ("interview", race, 0, passed - hired)]
    table = pd.DataFrame(rows, columns=["step", "race", "selected", "n"])
    audit = eh.audit(
        data=table,
        y_true=None,
        y_pred="selected",
        sensitive_features="race",
        strata="step",
        rows="n",
        criteria="selection_rate_ratio",
    )
    page = audit.document(standard="ugesp", stated={"steps": ["screen", "interview"]})
    line = {row["group"]: row for row in rows_of(page, "By race")}
    assert (line["x"]["people"], line["x"]["hits"]) == (100, 30)
    assert line["y"]["ratio"] == pytest.approx((12 / 50) / (30 / 100))
    steps = rows_of(page, "By race, at each step")
    assert [row["ratio"] for row in steps] == pytest.approx([1, (20 / 50) / 0.6, 0.5 / 0.6, 1])
    for stated, message in (
        (["interview", "screen"], "from the first to the last"),
        (["screen", "offer"], "no step 'offer'"),
    ):
        with pytest.raises(eh.InputError, match=message):
            audit.document(standard="ugesp", stated={"steps": stated})


def test_a_tool_that_classifies_has_a_table_for_every_class_without_a_favorable_one():
    rng = np.random.default_rng(0)
    kind, sex = rng.choice(["lead", "plan", "talk"], 900), rng.choice(["Female", "Male"], 900)
    audit = eh.audit(None, kind, sensitive_features=pd.DataFrame({"sex": sex}))
    page = audit.document(standard="nyc-ll144")
    titles = [one["title"] for one in page["tables"]]
    assert titles == [f"By sex, classified as {one}" for one in ("lead", "plan", "talk")]
    for one, table in zip(("lead", "plan", "talk"), page["tables"], strict=True):
        hits = {row["category"]: row["hits"] for row in table["rows"]}
        assert hits == {each: int(((kind == one) & (sex == each)).sum()) for each in hits}
    with pytest.raises(eh.InputError, match="State by='class'"):
        audit.document(standard="nyc-ll144", stated={"by": "score"})


def test_test_data_ask_why_and_how(found):
    names = [
        [fact["name"] for fact in found.document(standard="nyc-ll144", stated=stated)["facts"]]
        for stated in ({"data_kind": "historical"}, {"data_kind": "test"})
    ]
    assert "Why no historical data" not in names[0]
    assert {"Why no historical data", "How the test data were made"} <= set(names[1])


@pytest.mark.parametrize(
    "word",
    [
        "Decline to self-identify",
        "I do not wish to answer",
        "Declined",
        "No answer",
        "NaN",
        "I don’t wish to answer",
        " PREFER NOT TO SAY ",
    ],
)
def test_the_usual_words_for_unknown_are_recognized_and_can_be_said_to_be_known(word):
    race = ["a"] * 40 + ["b"] * 40 + [word] * 20
    audit = eh.audit(None, [1, 0] * 50, sensitive_features=pd.DataFrame({"race": race}))
    page = audit.document(standard="nyc-ll144")
    assert [row["category"] for row in page["tables"][0]["rows"]] == ["a", "b"]
    facts = {fact["name"]: fact["text"] for fact in page["facts"]}
    assert "20 by race" in facts["Unknown category"]
    assert f"recorded as {word}" in facts["Unknown category"]
    known = audit.document(standard="nyc-ll144", stated={"unknown": ["x"]})
    assert len(known["tables"][0]["rows"]) == 3


def test_heads_are_words_and_not_names_of_columns():
    people = pd.DataFrame({"race_ethnicity": ["a", "b"] * 40})
    page = eh.audit(None, [1, 0, 0, 1] * 20, sensitive_features=people).document(standard="ugesp")
    assert page["tables"][0]["columns"][0]["head"] == "Race ethnicity"
    assert page["tables"][0]["title"] == "By race ethnicity"


RATES = {"nobody": [0.0, 0.0], "everybody": [1.0, 1.0], "noise": [0.1 + 0.2, 0.7 - 0.1]}


@pytest.mark.parametrize("name", RATES)
def test_rates_of_0_and_1_and_with_noise_are_read_as_they_are_meant(name):
    table = pd.DataFrame({"g": ["a", "b"], "n": [1203, 77], "r": RATES[name]})
    table["single"] = table.r.astype("float32")
    for column in ("r", "single"):
        asked = {"rate": column, "rows": "n", "sensitive_features": "g", "y_true": None}
        audit = eh.audit(data=table, **asked)
        rows = rows_of(audit.document(standard="ugesp"), "By g")
        assert [row["hits"] for row in rows] == np.rint(table.r * table.n).astype(int).tolist()
        counts = eh.tally(data=table, **asked)
        assert counts.labels("yhat") == (0, 1)


def test_a_csv_has_a_line_for_each_row_of_each_table(found):
    page = found.document(standard="ugesp")
    lines = list(csv.DictReader(io.StringIO(found.to_csv(standard="ugesp"))))
    assert len(lines) == sum(len(table["rows"]) for table in page["tables"])
    assert {"ratio_interval_low", "ratio_interval_high"} <= set(lines[0])


def test_lending_never_guesses_the_reference(found):
    for stated in (None, {"reference": "White"}, {"reference": {"sex": "Male", "race": "white"}}):
        with pytest.raises(eh.InputError, match="is the reference"):
            found.to_html(standard="lending", stated=stated)
    page = found.document(standard="lending", stated={"reference": "sex=Male, race=White"})
    rows = {row["group"]: row for row in rows_of(page, "By race, at the cut-off")}
    assert rows["White"]["air"] == 1
    assert rows["Black"]["air"] == pytest.approx(rows["Black"]["rate"] / rows["White"]["rate"])


def test_the_command_says_how_to_name_the_reference(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("counts.csv", index=False)
    columns = ["--rows", "n", "--prediction", "selected", "--group", "sex"]
    result = CliRunner().invoke(audit_command, ["counts.csv", *columns, "--standard", "lending"])
    assert result.exit_code == 2
    assert "as in --state 'reference=sex=Male'" in result.output.replace("\n", " ")


def test_lending_has_deciles_of_scores_and_tests_within_segments():
    rng = np.random.default_rng(0)
    n = 3000
    race = rng.choice(["White", "Black"], n)
    score = rng.normal(600, 50, n) - 20 * (race == "Black")
    repaid = (rng.random(n) < 0.7).astype(int)
    audit = eh.audit(
        repaid,
        (score >= 600).astype(int),
        y_score=score,
        sensitive_features=race,
        strata=rng.choice(["auto", "home"], n),
        criteria=["selection_rate_ratio"],
    )
    page = audit.document(standard="lending", stated={"reference": "White"})
    assert len(page["tables"]) == 4
    black = page["tables"][0]["rows"][0]
    assert black["smd"] == pytest.approx(-0.4, abs=0.1)
    top = page["tables"][1]["rows"][0]
    cut = np.sort(score)[::-1][299]
    rates = [np.mean(score[race == name] >= cut) for name in ("Black", "White")]
    assert top["air_best_10"] == pytest.approx(rates[0] / rates[1])
    assert 0 < page["tables"][2]["rows"][0]["cmh_p"] < 0.01


def test_evidence_has_the_hash_versions_definitions_and_blank_signatures(found):
    page = json.loads(found.to_json(standard="evidence"))
    facts = {fact["name"]: fact["text"] for fact in page["facts"]}
    assert facts["SHA-256 of the data"] == found.evidence.fingerprint
    assert eh.__version__ in facts["Versions"]
    definitions = rows_of(page, "Definitions of the criteria")
    criterion = eh.CRITERIA["selection_rate_ratio"]
    assert definitions[0]["formula"] == criterion.formula
    assert definitions[0]["is_not"] == criterion.is_not
    assert page["signatures"][-1] == "Signature"


def test_what_is_stated_must_be_known_and_of_its_kind(found):
    for stated, message in (
        ({"data_knd": "test"}, "Did you mean 'data_kind'"),
        ({"data_kind": "both"}, "'historical' or 'test'"),
        ({"intervals": "perhaps"}, "True or False"),
        ({"leave_out": "much"}, "a share"),
    ):
        with pytest.raises(eh.EvenhandError, match=message):
            found.to_html(standard="nyc-ll144", stated=stated)
    with pytest.raises(eh.InputError, match="Did you mean 'ugesp'"):
        found.to_html(standard="ugsep")
    with pytest.raises(eh.InputTypeError, match="name it by standard="):
        found.to_html(stated={})


def test_weights_are_no_people(table):
    weighted = eh.audit(
        data=table,
        y_true=None,
        y_pred="selected",
        sensitive_features="sex",
        sample_weight="n",
        criteria=["selection_rate_ratio"],
    )
    with pytest.raises(eh.InputError, match="counts people"):
        weighted.to_html(standard="ugesp")
    assert "weighted" in weighted.to_html(standard="evidence")


def test_with_three_columns_the_two_of_the_rule_are_named(table):
    wider = pd.concat([table.assign(office="x"), table.assign(office="y")])
    columns = {"y_true": None, "y_pred": "selected", "rows": "n"}
    audit = eh.audit(
        data=wider,
        **columns,
        sensitive_features=["office", "sex", "race"],
        criteria="selection_rate_ratio",
    )
    with pytest.raises(eh.InputError, match="State which"):
        audit.to_html(standard="nyc-ll144")
    page = audit.document(standard="nyc-ll144", stated={"columns": ["sex", "race"]})
    assert [one["title"] for one in page["tables"]] == ["By sex", "By race", "By sex × race"]


def test_names_of_groups_cannot_break_out_of_the_page():
    names = ["<script>alert(1)</script>"] * 50 + ["=HYPERLINK(1)"] * 50
    audit = eh.audit(None, [1, 0] * 50, sensitive_features=names)
    assert "<script>alert" not in audit.to_html(standard="ugesp")
    assert ",'=HYPERLINK(1)," in audit.to_csv(standard="ugesp")


def test_the_command_lists_the_standards_and_what_can_be_stated():
    listed = json.loads(CliRunner().invoke(standards_command, ["--json"]).output)
    assert [one["name"] for one in listed] == list(eh.standards.STANDARDS)
    assert "reference" in CliRunner().invoke(standards_command).output


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason=f"none of {NAMES} is installed")
@pytest.mark.parametrize("name", eh.standards.STANDARDS)
def test_the_page_prints_on_at_most_three_sheets(table, tmp_path, name):
    is_technical = eh.standards.STANDARDS[name].tables == "technical"
    found = audited(table, criteria=None) if is_technical else audited(table)
    path, sheets = tmp_path / "page.html", tmp_path / "page.pdf"
    found.to_html(path, standard=name, stated=STATED.get(name))
    run(tmp_path, f"--print-to-pdf={sheets}", path.as_uri())
    assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", sheets.read_bytes())) <= 3


def test_a_page_says_what_the_unknown_could_make_of_the_lowest_ratio():
    """Every way to put the eight of unknown sex, of whom four were selected, into two groups."""
    sex = ["F"] * 30 + ["M"] * 30 + ["Unknown"] * 8
    race = ["b", "w"] * 30 + ["b", "w", "Unknown", "b", "w", "Unknown", "b", "b"]
    hired = [1] * 10 + [0] * 20 + [1] * 20 + [0] * 10 + [1] * 4 + [0] * 4
    rates = [((10 + a) / (30 + a + b), (24 - a) / (38 - a - b)) for a in range(5) for b in range(5)]
    ratios = [min(pair) / max(pair) for pair in rates]
    audit = eh.audit(None, hired, sensitive_features={"sex": sex, "race": race}, favorable=1)
    by_sex, by_race, both = audit.document(standard="nyc-ll144")["shows"]
    said = "If the 8 people of unknown group were in these groups, the lowest ratio could be"
    low, high = by_sex.partition(f"{said} anything from ")[2].rstrip(".").split(" to ")
    assert float(low) == pytest.approx(min(ratios), abs=1e-3)
    assert float(high) == pytest.approx(max(ratios), abs=1e-3)
    assert "If the 2 people" in by_race
    assert said in both
    found = audit.document(standard="ugesp", stated={"columns": ["sex"]})["shows"][0]
    assert f"{said} anything from {low} to {high}." in found
    assert said not in audit.document(standard="nyc-ll144", stated={"unknown": ["x"]})["shows"][0]
    stated = {"columns": ["sex"], "reference": {"sex": "M"}}
    found = audit.document(standard="lending", stated=stated)["shows"][0]
    low = found.partition(f"{said} as low as ")[2].rstrip(".")
    assert float(low) == pytest.approx(min(one / other for one, other in rates), abs=1e-3)
