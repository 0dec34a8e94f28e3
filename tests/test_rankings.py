"""Rankings: statistics beside brute force and scikit-learn, through every way in, and bad input."""

import json
from itertools import combinations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats
from sklearn.metrics import dcg_score

import evenhand
import evenhand as eh
import evenhand.mitigation
from evenhand.cli.compare import compare as command
from evenhand.statistics import STATISTICS

OF_LISTS = [name for name, one in STATISTICS.items() if one.needs == "lists"]


def lists(seed=0, queries=12, size=8, groups="abc", levels=3, ties=False, unit=1.0):
    """Rows in random order; scores with ties, or without."""
    rng = np.random.default_rng(seed)
    rows = queries * size
    frame = pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(queries)], size),
            "group": rng.choice([*groups], rows),
            "relevance": rng.integers(0, levels, rows) * unit,
            "score": rng.integers(0, 4, rows).astype(float) if ties else rng.random(rows),
            "weight": rng.integers(1, 4, rows).astype(float),
        }
    )
    frame["place"] = frame.groupby("query")["score"].rank(ascending=False, method="first")
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def findings(audit):
    return json.loads(audit.to_json())["findings"]


def by_hand(frame, place, top_k, attention):
    """Every statistic by group, row by row and pair by pair, with the weights of rows."""
    names = ("w", "exposure", "top", "first", "relevance", "gain")
    pairs = ("won", "pairs", "won within", "pairs within", "won across", "pairs across")
    groups = sorted(set(frame["group"]))
    sums = {group: dict.fromkeys((*names, *pairs), 0.0) for group in groups}
    for _, rows in frame.groupby("query"):
        for i, row in rows.iterrows():
            above = (place[rows.index] < place[i]).sum()
            level = (place[rows.index] == place[i]).sum()
            places = range(above + 1, above + level + 1)
            own, weight = sums[row["group"]], row["weight"]
            exposure = np.mean([attention(p) for p in places])
            own["w"] += weight
            own["exposure"] += weight * exposure
            own["top"] += weight * np.mean([p <= top_k for p in places])
            own["first"] += weight * np.mean([p == 1 for p in places])
            own["relevance"] += weight * row["relevance"]
            own["gain"] += weight * exposure * row["relevance"]
            for j, other in rows.iterrows():
                if other["relevance"] < row["relevance"]:
                    ahead = 0.5 * (place[i] == place[j]) + (place[i] < place[j])
                    side = " within" if other["group"] == row["group"] else " across"
                    for end in ("", side):
                        own[f"won{end}"] += weight * ahead
                        own[f"pairs{end}"] += weight
    quotients = {
        "exposure": ("exposure", "w"),
        "top_k_share": ("top", "w"),
        "first_place": ("first", "w"),
        "exposure_per_relevance": ("exposure", "relevance"),
        "discounted_recall": ("gain", "relevance"),
        "pairwise_accuracy": ("won", "pairs"),
        "pairwise_within": ("won within", "pairs within"),
        "pairwise_across": ("won across", "pairs across"),
    }
    return {
        name: [sums[group][above] / sums[group][below] for group in groups]
        for name, (above, below) in quotients.items()
    }


ATTENTION = {
    "log": ("log", lambda place: 1 / np.log2(1 + place)),
    "inverse": ("inverse", lambda place: 1 / place),
    "a factor": (0.7, lambda place: 0.7 ** (place - 1)),
    "given": ([1.0, 0.4, 0.1], lambda place: [1.0, 0.4, 0.1, 0, 0, 0, 0, 0][place - 1]),
}


@pytest.mark.parametrize(("levels", "unit"), [(2, 1.0), (7, 1.0), (7, 0.37), (3, 70_000.0)])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", ATTENTION)
def test_statistics_of_rankings_are_those_of_brute_force(name, ties, levels, unit):
    frame = lists(1, ties=ties, levels=levels, unit=unit)
    discount, attention = ATTENTION[name]
    expected = by_hand(frame, -frame["score"], 3, attention)
    counts = eh.tally(
        "relevance",
        y_score="score",
        sensitive_features="group",
        query="query",
        sample_weight="weight",
        discount=discount,
        top_k=3,
        data=frame,
    )
    for each in OF_LISTS:
        np.testing.assert_allclose(STATISTICS[each].read(counts).values[0], expected[each])


def test_finite_bounds_of_statistics_of_rankings_are_attained():
    """Group a is relevant and first in every list, then last; pairs within it go either way."""
    query, group = np.repeat(np.arange(5), 4), np.tile([*"aabb"], 5)
    relevance = np.tile([3, 2, 1, 0], 5)
    seen = {name: [] for name in OF_LISTS}
    for place in ([1, 2, 3, 4], [4, 3, 2, 1]):
        named = {"sensitive_features": group, "query": query, "top_k": 2}
        counts = eh.tally(relevance, np.tile(place, 5), **named)
        alone = eh.tally(relevance, np.tile(place, 5), **named | {"top_k": 1})
        for name in OF_LISTS:
            for each in (counts, alone):
                seen[name] += STATISTICS[name].read(each).values.ravel().tolist()
    query, place = np.arange(20) // 2, np.tile([1, 2], 10)  # one of each group in every list
    one = eh.tally(np.tile([1, 0], 10), place, sensitive_features=np.tile([*"ab"], 10), query=query)
    seen["first_place"] += STATISTICS["first_place"].read(one).values.ravel().tolist()
    for name in OF_LISTS:
        low, high = STATISTICS[name].bounds
        assert np.isinf(high) or (np.nanmin(seen[name]), np.nanmax(seen[name])) == (low, high)


def test_every_statistic_of_rankings_is_checked_by_brute_force():
    frame = lists()
    assert set(OF_LISTS) == set(by_hand(frame, -frame["score"], 3, lambda place: 1 / place))


def test_places_and_scores_without_ties_count_the_same():
    frame = lists(2)
    named = {"sensitive_features": "group", "query": "query", "top_k": 2, "data": frame}
    by_place = eh.tally("relevance", "place", **named)
    by_score = eh.tally("relevance", y_score="score", **named)
    assert by_place.sums.keys() == by_score.sums.keys()
    for name, total in by_place.sums.items():
        np.testing.assert_allclose(total, by_score.sums[name])


def test_gain_is_the_dcg_of_scikit_learn():
    frame = lists(3)
    counts = eh.tally("relevance", "place", sensitive_features="group", query="query", data=frame)
    each = [dcg_score([rows["relevance"]], [rows["score"]]) for _, rows in frame.groupby("query")]
    assert counts.sums["gain"].sum() == pytest.approx(sum(each))


def test_rows_that_were_not_shown_have_no_exposure_and_are_below_all_others():
    frame = lists(4)
    cut = frame["place"].where(frame["place"] <= 5)
    named = {"sensitive_features": frame["group"], "query": frame["query"], "top_k": 3}
    audit = eh.audit(frame["relevance"], cut, **named)
    assert any("36 rows without a place count as not shown" in note for note in audit.notes)
    expected = by_hand(
        frame.assign(weight=1.0), cut.fillna(9), 3, lambda p: (p <= 5) / np.log2(1 + p)
    )
    counts = eh.tally(frame["relevance"], cut, **named)
    for name in OF_LISTS:
        np.testing.assert_allclose(STATISTICS[name].read(counts).values[0], expected[name])


def test_several_lists_of_one_query_are_lists_of_their_own_and_one_cluster():
    frame = lists(5)
    twice = pd.concat([frame.assign(draw=1), frame.assign(draw=2, place=9 - frame["place"])])
    named = {"sensitive_features": "group", "data": twice}
    counts = eh.tally("relevance", "place", query=["query", "draw"], **named)
    assert len(counts.labels("cluster")) == 12
    mean = eh.tally(
        None,
        "place",
        query="query",
        sensitive_features="group",
        data=frame,
        discount=[(1 / np.log2(1 + p) + 1 / np.log2(10 - p)) / 2 for p in range(1, 9)],
    )
    exposure = STATISTICS["exposure"]
    np.testing.assert_allclose(exposure.read(counts).values, exposure.read(mean).values)
    with pytest.raises(
        eh.InputError, match=r"place 1 occurs twice in the list q\d+.*several lists"
    ):
        eh.tally("relevance", "place", query="query", **named)


def test_clicks_in_place_of_a_discount_are_the_exposure():
    frame = lists(6).assign(clicks=np.arange(96) % 5)
    named = {"sensitive_features": "group", "query": "query", "data": frame}
    found = eh.CRITERIA["exposure_per_relevance"].read_data(
        eh.Data("relevance", "place", exposure="clicks", **named)
    )
    by_group = frame.groupby("group")[["clicks", "relevance"]].sum()
    np.testing.assert_allclose(found.table[0], by_group["clicks"] / by_group["relevance"])


@pytest.mark.parametrize("levels", [2, 5])
def test_many_lists_count_the_same_in_any_order_of_rows(levels):
    """So many rows that they are counted some lists at a time."""
    frame = lists(4, queries=4000, size=7, groups="abcd", levels=levels)
    named = {"sensitive_features": "group", "query": "query", "top_k": 2}
    mixed = eh.tally("relevance", "place", data=frame, **named)
    for key in (["query", "place"], "query", ["query", "group"]):
        ordered = eh.tally(
            "relevance", "place", data=frame.sort_values(key, kind="stable"), **named
        )
        np.testing.assert_array_equal(ordered.cells, mixed.cells)
        for name, total in mixed.sums.items():
            np.testing.assert_allclose(ordered.sums[name], total)
    place = frame["place"]
    expected = frame.assign(e=1 / np.log2(1 + place), t=(place <= 2) * 1.0).groupby("group")
    assert mixed.table("group", of="exposure") == pytest.approx(expected["e"].sum().to_numpy())
    assert mixed.table("group", of="top") == pytest.approx(expected["t"].sum().to_numpy())
    others = frame.merge(frame, on="query", suffixes=("", "_other"))
    pairs = others[others["relevance"] > others["relevance_other"]]
    won = pairs.assign(won=pairs["place"] < pairs["place_other"]).groupby("group")["won"]
    assert mixed.table("group", of="pairs").tolist() == won.size().tolist()
    assert mixed.table("group", of="won").tolist() == won.sum().tolist()


def test_batches_of_lists_add_up_to_all_of_them():
    frame = lists(7)
    first = frame["query"].isin([f"q{i}" for i in range(5)])
    named = {"sensitive_features": "group", "query": "query", "top_k": 3}
    parts = [eh.tally("relevance", "place", data=frame[part], **named) for part in (first, ~first)]
    whole = eh.audit("relevance", "place", data=frame, **named)
    assert findings(eh.audit(sum(parts), sensitive_features="group")) == findings(whole)


def relation(columns):
    return duckdb.from_df(pd.DataFrame(columns))


LIBRARIES = {
    "Polars": pl.DataFrame,
    "lazy Polars": pl.LazyFrame,
    "DuckDB": relation,
    "lists": dict,
}


@pytest.fixture(scope="module")
def audited_frame():
    columns = ("relevance", "place")
    named = {"sensitive_features": "group", "query": "query"}
    return findings(eh.audit(*columns, **named, top_k=3, data=lists(8)))


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_columns_and_tables_of_any_library_give_the_same_audit(library, audited_frame):
    frame = lists(8)
    table = library(frame.to_dict("list"))
    columns = {
        "y_true": "relevance",
        "y_pred": "place",
        "sensitive_features": "group",
        "query": "query",
    }
    if isinstance(table, dict):
        found = eh.audit(top_k=3, **{name: table[of] for name, of in columns.items()})
    else:
        found = eh.audit(top_k=3, data=table, **columns)
    assert findings(found) == audited_frame
    asked = dict.fromkeys(one["criterion"] for one in findings(found))
    assert [*asked][:2] == ["exposure_parity", "top_k_parity"]


def test_the_audit_of_a_ranking_reads_well_in_every_format():
    audit = eh.audit(
        "relevance",
        "place",
        sensitive_features="group",
        query="query",
        top_k=3,
        data=lists(9, queries=80),
        fail_if="top_k_parity.mpd > 0.9",
    )
    assert audit.finding("top_k_parity", "mpd").value < 0.9
    assert audit.by_group.loc["a", "exposure"] > 0
    for text in (str(audit), audit.to_markdown(), audit.to_html()):
        assert "Exposure" in text
        assert "Rows come in 80 queries" in text
        assert "predicted" not in text.replace("predicted_", "")


def test_the_next_step_depends_on_whether_relevance_explains_the_gap():
    rng = np.random.default_rng(14)
    query, group = np.repeat(np.arange(150), 10), rng.integers(0, 2, 1500)
    relevance = rng.binomial(1, 0.3 + 0.3 * group)
    named = {"sensitive_features": group, "query": query}
    steps = {
        "Pass how relevant": (None, relevance),
        "may follow from it": (relevance, relevance),
        "of the same relevance": (rng.permutation(relevance), relevance),
    }
    for words, (truth, order) in steps.items():
        score = order + 0.3 * rng.normal(size=1500)
        assert words in " ".join(eh.audit(truth, y_score=score, **named).to_markdown().split())


def test_an_audit_begins_with_the_first_places_that_were_asked_for_and_a_rule_evens_them():
    rng = np.random.default_rng(8)
    rows = pd.DataFrame({"query": np.repeat(np.arange(200), 10), "relevance": 0})
    rows["sex"] = rng.choice(["women", "men"], 2000)
    rows["relevance"] = rng.binomial(1, 0.3, 2000)
    rows["score"] = rows["relevance"] + rng.random(2000) + 0.3 * (rows["sex"] == "men")
    named = {"sensitive_features": "sex", "query": "query", "data": rows, "top_k": 3}
    found = eh.audit("relevance", y_score="score", **named)
    assert found.summary.startswith("Women were among the first 3 places 59% as often as men (22%")
    fitted = eval(found.document()["next"][0]["call"], {"evenhand": evenhand, "rows": rows})
    assert eh.evaluate("top_k_parity", None, fitted.predict(rows), **named, measure="mpd") < 0.04


@pytest.mark.parametrize(("discount", "most"), [("log", 1.0), ([3, 2, 1], 3.0)])
def test_no_group_can_have_more_than_the_attention_of_the_best_place(discount, most):
    rng = np.random.default_rng(6)
    query, provider = np.repeat(np.arange(50), 10), rng.integers(0, 300, 500)
    named = {"sensitive_features": provider, "query": query, "discount": discount}
    for name in ("exposure_parity", "performance_parity(discounted_recall)"):
        relevance = rng.binomial(1, 0.5, 500)
        data = eh.Data(relevance, y_score=rng.random(500), **named, sample_weight=np.full(500, 2.0))
        assert 0.5 < eh.interval(name, data, measure="mpd").high <= most


def test_rows_of_one_query_are_one_cluster_however_many_there_are():
    frame = lists(10, queries=60)
    many = pd.concat([frame.assign(draw=i) for i in range(20)])
    named = {"sensitive_features": "group", "measure": "mpd"}
    once = eh.interval("exposure_parity", None, "place", query="query", data=frame, **named)
    often = eh.interval(
        "exposure_parity", None, "place", query=["query", "draw"], data=many, **named
    )
    assert often.value == pytest.approx(once.value)
    assert often.high - often.value > 0.7 * (once.high - once.value)


def rankings(rng, queries=60, size=12, gap=0.0):
    query = np.repeat(np.arange(queries), size)
    group = rng.integers(0, 2, queries * size)
    score = rng.normal(size=queries * size) - gap * group
    return {"y_score": score, "sensitive_features": group, "query": query}


@pytest.mark.slow
def test_equal_groups_that_share_every_list_rarely_differ_and_a_gap_is_covered():
    rng = np.random.default_rng(35)
    wrong = [
        eh.interval("exposure_parity", None, **rankings(rng), measure="mpd").low > 0
        for _ in range(100)
    ]
    assert np.mean(wrong) <= 0.11  # 5% and three standard errors
    truth = eh.evaluate("exposure_parity", None, **rankings(rng, 20_000, gap=0.5), measure="mpd")
    found = [
        eh.interval("exposure_parity", None, **rankings(rng, gap=0.5), measure="mpd")
        for _ in range(100)
    ]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.88


GOOD = {
    "y_true": [1, 0, 1, 0],
    "y_pred": [1, 2, 1, 2],
    "sensitive_features": [*"abba"],
    "query": [1, 1, 2, 2],
}
BAD = {
    "y_pred begins with the place 0": {"y_pred": [0, 1, 0, 1]},
    "place 1 occurs twice in the list 2": {"y_pred": [1, 2, 1, 1]},
    r"has the place 1.5; places are 1, 2, 3": {"y_pred": [1, 1.5, 1, 2]},
    "has the place 1e\\+300": {"y_pred": [1, 2, 1, 1e300]},
    "has the place -1": {"y_pred": [1, -1, 1, 2]},
    "Relevance is at least 0, and y_true has -1": {"y_true": [1, -1, 0, 0]},
    "Exposure is at least 0": {"exposure": [1, -1, 0, 0]},
    "at least 1; it is 0": {"top_k": 0},
    "Pass what orders the lists": {"y_score": [0.1, 0.2, 0.3, 0.4]},
    "discount=2": {"discount": 2},
    "discount='logarithm'": {"discount": "logarithm"},
    "1 of 4 rows has no query, so it is in no list": {"query": [1, 1, None, 2]},
    "threshold= is not used in a ranking": {"threshold": 0.5},
    "query= is of rankings, and task='binary'": {"task": "binary"},
    'task="ranking" needs query=': {"query": None, "task": "ranking"},
    "top_k= is about rankings: pass query=": {"query": None, "top_k": 1},
    "exposure= and top_k= are about rankings": {"query": None, "top_k": 1, "exposure": [1] * 4},
    "exposure= takes the place of discount=": {"exposure": [1] * 4, "discount": 0.5},
    "No row has a place": {"y_pred": [None] * 4},
    "Rankings are not counted with replicate weights": {
        "sample_weight": eh.survey_weights([1] * 4, replicate_weights=np.eye(4), method="jackknife")
    },
}


@pytest.mark.parametrize("message", BAD)
def test_bad_rankings_get_one_clear_error(message):
    with pytest.raises(eh.InputError, match=message):
        eh.audit(**GOOD | BAD[message])


def test_other_criteria_say_that_these_are_rankings():
    with pytest.raises(eh.InputError, match="The data lack labels to predict"):
        eh.evaluate("statistical_parity", **GOOD)
    with pytest.raises(eh.InputError, match="needs query"):
        eh.evaluate("exposure_parity", [1, 0], [1, 0], sensitive_features=["a", "b"])
    with pytest.raises(eh.InputError, match="top_k_parity cannot be asked here: it needs top_k="):
        eh.audit(**GOOD, criteria="top_k_parity")
    with pytest.raises(eh.InputError, match=r"pairwise_parity cannot be asked.*relevance"):
        eh.audit(**GOOD | {"y_true": None}, criteria="pairwise_parity")


def test_doors_that_do_not_read_rankings_say_so():
    data = eh.Data(**GOOD)
    with pytest.raises(eh.InputTypeError, match="are not read by frontier"):
        eh.frontier(data)
    chances = eh.probable({"a": [0.2, 0.8, 0.5, 0.1], "b": [0.8, 0.2, 0.5, 0.9]})
    with pytest.raises(eh.InputTypeError, match=r"not known\. Name that of each row"):
        eh.audit(**GOOD | {"sensitive_features": chances})
    with pytest.raises(eh.InputError, match="exposure_parity is about a ranking, and only gaps in"):
        eh.audit(data).explain()
    with pytest.raises(eh.InputError, match=r"say which of its numbers .* criterion='exposure_par"):
        eh.power(eh.tally(data), difference=0.1)


def test_an_audit_says_what_counts_as_the_top_and_how_much_attention_a_place_gets():
    notes = {
        "Exposure of a place: 1 / log2(1 + place). Top k: the first 1 place.": {"top_k": 1},
        "Exposure of a place: 0.8 to the power of place − 1.": {"discount": 0.8},
        "Exposure of a place: as listed for the first 2 places, then 0.": {"discount": [3, 1]},
        "Exposure is what was measured (exposure=), not that of places.": {
            "exposure": [1, 2, 0, 1]
        },
    }
    for note, columns in notes.items():
        assert eh.audit(**GOOD, **columns).notes[0] == note


def test_a_provider_that_stands_out_is_not_denied_where_no_criterion_tells():
    """One of 300 providers is always first; its rows are too few for the largest gap."""
    rng = np.random.default_rng(3)
    query, provider = np.repeat(np.arange(120), 20), rng.integers(0, 300, 2400)
    score = rng.normal(size=2400) + 9 * (provider == 7)
    named = {"y_score": score, "sensitive_features": provider, "query": query, "top_k": 1}
    audit = eh.audit(None, **named, criteria="performance_parity(first_place)", measures="mpd")
    page = audit.to_markdown()
    assert [finding.verdict for finding in audit.findings] == ["cannot tell"]
    assert "No criterion shows that the groups differ (95% confidence), but some stand out" in page
    assert "group=7 (10 rows): share of the top 100%, everyone else 4.6%; the gap is" in page


def test_lists_that_skip_places_or_hold_one_group_alone_are_noted():
    frame = lists(11)
    short = frame[~((frame["query"] == "q3") & (frame["place"] == 4))]
    short = short.assign(group=short["group"].mask(short["query"] == "q5", "a"))
    audit = eh.audit("relevance", "place", sensitive_features="group", query="query", data=short)
    assert any(
        "1 list skips places: the list q3 has 7 rows and a place 8" in note for note in audit.notes
    )
    assert any("1 of 12 lists holds one group alone" in note for note in audit.notes)
    named = {"sensitive_features": short["group"], "query": short["query"]}
    gapless = short.groupby("query")["place"].rank()
    models = {"shown": short["place"], "closed": gapless}
    noted = eh.compare(short["relevance"], models, **named).notes
    assert [note for note in noted if "list" in note] == [
        next(note for note in audit.notes if "one group alone" in note),
        "shown: " + next(note for note in audit.notes if "skips" in note),
    ]
    everything = eh.audit(**GOOD, top_k=2)
    assert any("No list has more than 2 places" in note for note in everything.notes)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["exposure_parity", "pairwise_parity"])
def test_many_providers_who_get_what_chance_gives_them_do_not_differ(criterion):
    """At 20 items each, of which few say much: whoever has none of the tail is lent that of all."""
    rng = np.random.default_rng(12)
    query, provider = np.repeat(np.arange(200), 100), rng.integers(0, 1000, 20_000)
    named = {"sensitive_features": provider, "query": query, "y_score": rng.normal(size=20_000)}
    for measure in ("gini", "pq"):
        found = eh.interval(criterion, rng.binomial(1, 0.4, 20_000), **named, measure=measure)
        assert found.low == 0 < found.value <= found.high


def test_pairs_of_every_two_rows_are_won_by_one_of_them():
    frame = lists(13, groups="a", levels=5).assign(group=np.arange(96))
    counts = eh.tally(
        frame["relevance"],
        frame["place"],
        sensitive_features=frame["group"].astype(str),
        query=frame["query"],
    )
    unequal = sum(
        one != other
        for _, rows in frame.groupby("query")
        for one, other in combinations(rows["relevance"], 2)
    )
    assert counts.sums["pairs"].sum() == unequal
    assert (counts.sums["won within"] == 0).all()


def test_rankings_are_compared_by_query_as_the_jackknife_has_it():
    """Differences of exposure and of pairs, whose errors are those of queries left out in turn."""
    rng = np.random.default_rng(15)
    frame = lists(15, queries=150, groups="ab")
    names = {"sensitive_features": "group", "query": "query"}
    near = frame.assign(score=frame["score"] + 0.3 * rng.random(len(frame)))
    uneven = near.assign(score=near["score"] - 0.5 * (near["group"] == "b"))
    places = {
        name: each.groupby("query")["score"].rank(ascending=False).astype(int)
        for name, each in {"near": near, "uneven": uneven, "base": frame}.items()
    }
    found = eh.compare("relevance", places, **names, top_k=3, measures="mpd", data=frame)
    assert {*found.values["criterion"]} == {
        "exposure_parity", "top_k_parity", "exposure_per_relevance", "pairwise_parity"
    }  # fmt: skip
    told = found.differences.set_index(["criterion", "model", "other"])["beyond_chance"]
    assert told["exposure_parity", "near", "uneven"]
    assert not told["exposure_parity", "near", "base"]
    for row in found.values.itertuples():
        asked = {"measure": "mpd", "top_k": 3, "data": frame.assign(place=places[row.model])}
        assert row.value == eh.evaluate(row.criterion, "relevance", "place", **names, **asked)

    def recall(rows, place):
        gain = rows["relevance"] / np.log2(1 + place[rows.index])
        return gain.sum() / rows["relevance"].sum()

    each = [
        recall(rest, places["near"]) - recall(rest, places["base"])
        for query in set(frame["query"])
        for rest in [frame[frame["query"] != query]]
    ]
    error = np.sqrt(149 * np.var(each))
    pairs = pd.DataFrame(found._table("performance_differences"))
    pair = pairs.set_index(["model", "other", "metric"]).loc["near", "base", "discounted_recall"]
    p_value = 2 * stats.t.sf(abs(pair["difference"]) / error, 149)
    assert pair["p_value"] == pytest.approx(p_value, rel=0.05)
    again = eh.compare("relevance", {"one": places["base"], "two": places["base"]}, **names,
                       measures="mpd", data=frame)  # fmt: skip
    assert (again.differences["p_value"] == 1).all()


def test_the_command_compares_rankings_as_the_function_does(tmp_path):
    frame = lists(18, queries=40, groups="ab").assign(other=lambda rows: 9 - rows["place"])
    frame.to_csv(tmp_path / "lists.csv", index=False)
    options = "--target relevance --group group --query query --top-k 3 --discount 0.8 --quiet"
    models = ["--prediction", "place", "--prediction", "other", "--json", str(tmp_path / "found")]
    done = CliRunner().invoke(command, [str(tmp_path / "lists.csv"), *options.split(), *models])
    assert done.exit_code == 0, done.output
    found = eh.compare(
        "relevance",
        ["place", "other"],
        sensitive_features="group",
        query="query",
        top_k=3,
        discount=0.8,
        data=frame,
    )
    assert json.loads((tmp_path / "found").read_text())["tables"] == found.document()["tables"]


def test_scores_are_not_taken_for_the_places_of_compared_rankings():
    named = {"sensitive_features": GOOD["sensitive_features"], "query": GOOD["query"]}
    with pytest.raises(eh.InputError, match=r"'m'.* has the place 0.5; rankings are"):
        eh.compare(GOOD["y_true"], {"m": [0.5, 1, 2, 1]}, **named)
    with pytest.raises(eh.InputError, match="favorable= says nothing about a ranking"):
        eh.compare(GOOD["y_true"], {"m": GOOD["y_pred"]}, **named, favorable=1)


@pytest.mark.slow
@pytest.mark.parametrize(("alike", "possible"), [(1, 0.5), (30, 0.08)])
def test_pairs_that_were_all_won_do_not_show_that_the_next_one_will_be(alike, possible):
    """Each list has a pair of one group; Clopper and Pearson's limit of 30 of 30 is 0.88."""
    query = np.arange(2 * alike * 2) // 2
    group = np.where(query % 2, "a", "b")
    won = eh.interval(
        "performance_parity(pairwise_within)",
        np.tile([1, 0], len(query) // 2),
        np.tile([1, 2], len(query) // 2),
        sensitive_features=group,
        query=query,
        measure="mpd",
    )
    assert won.low == 0
    assert won.high > possible


def test_equal_groups_of_two_rows_rarely_differ_in_the_share_of_the_top():
    """A rate of two rows, both in the top, is no certain one."""
    rng = np.random.default_rng(16)
    query, top = np.repeat(np.arange(50), 10), {"top_k": 2, "measure": "mpd"}
    wrong = 0
    for _ in range(20):
        named = {"sensitive_features": rng.integers(0, 250, 500), "query": query}
        found = eh.interval("top_k_parity", None, y_score=rng.random(500), **named, **top)
        wrong += found.low > 0
    assert wrong <= 3


def test_a_tally_of_lists_says_how_many_lists_are_needed():
    frame = lists(17, queries=60, size=10, groups="ab")
    named = {"sensitive_features": "group", "query": "query", "top_k": 3, "data": frame}
    pilot = eh.tally("relevance", "place", **named)
    for criterion in ("top_k_parity", "exposure_parity", "exposure_per_relevance"):
        few, many = (eh.power(pilot, criterion=criterion, difference=d) for d in (0.05, 0.2))
        assert few.power < many.power
        assert many.clusters < few.clusters
