"""Counts of batches, files and workers add up to those of one pass, and what cannot is refused."""

from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from strategies import classified

NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}


def batches(rows, data):
    """Slices of the rows, each with at least one."""
    size = len(rows.group)
    cuts = data.draw(st.sets(st.integers(1, size - 1), max_size=4)) if size > 1 else ()
    return [slice(a, b) for a, b in pairwise([0, *sorted(cuts), size])]


def assert_same(one, two):
    assert one.axes == two.axes
    assert (one.cells == two.cells).all()
    assert one.sums.keys() == two.sums.keys()
    for name in one.sums:
        np.testing.assert_allclose(one.sums[name], two.sums[name], rtol=1e-12)


def framed(rows):
    return pd.DataFrame({"y": rows.y_true, "p": rows.y_pred, "g": rows.group, "w": rows.weight})


def counted(frame):
    return eh.tally(data=frame, **NAMES, sample_weight="w", sums={"loss": "w"})


@pytest.mark.slow
@pytest.mark.parametrize("made", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@given(rows=classified(), data=st.data())
def test_frames_of_a_stream_add_up_to_one_pass(made, rows, data):
    whole = framed(rows)
    parts = [counted(made(whole[part])) for part in batches(rows, data)]
    assert_same(sum(parts), counted(made(whole)))
    assert_same(sum(data.draw(st.permutations(parts))), counted(made(whole)))


@pytest.mark.slow
@given(rows=classified(), data=st.data())
def test_moments_of_a_stream_add_up_to_one_pass(rows, data):
    def moments(part=slice(None)):
        value = rows.y_true[part] + rows.weight[part] / 7
        weight, group = rows.weight[part], rows.group[part]
        return eh.tally(
            value,
            rows.y_pred[part],
            sensitive_features=group,
            sample_weight=weight,
            task="regression",
        )

    assert_same(sum(map(moments, batches(rows, data))), moments())


@pytest.mark.slow
@given(rows=classified(), data=st.data())
def test_distributions_of_a_stream_add_up_to_one_pass(rows, data):
    def ordered(part=slice(None)):
        options = {"y_true": rows.y_true[part], "sample_weight": rows.weight[part]}
        return eh.distribution(rows.y_pred[part], sensitive_features=rows.group[part], **options)

    streamed, whole = sum(map(ordered, batches(rows, data))), ordered()
    assert streamed.groups == whole.groups
    np.testing.assert_array_equal(streamed.values, whole.values)
    for measure in ("mpd", "gini"):
        value = eh.CRITERIA["strong_parity"](streamed, measure=measure)
        assert value == pytest.approx(
            eh.CRITERIA["strong_parity"](whole, measure=measure), nan_ok=True
        )


@pytest.fixture
def stream(tmp_path):
    """Three Parquet files, of which one lacks a group, and all their rows."""
    rng = np.random.default_rng(4)
    group = np.sort(rng.choice([*"abc"], 3000, p=[0.6, 0.3, 0.1]))
    score = rng.random(3000).round(2)
    rows = pd.DataFrame({"g": group, "score": score, "y": (rng.random(3000) < score).astype(int)})
    rows["p"] = (score >= 0.5).astype(int)
    files = [tmp_path / f"{place}.parquet" for place in range(3)]
    for place, file in enumerate(files):
        rows[place * 1000 : (place + 1) * 1000].to_parquet(file)
    return files, rows


def of_file(file):
    return eh.tally(data=pl.scan_parquet(file), **NAMES)


def alike(one, two):
    """Two audits with the same findings and subgroups."""
    one, two = one.document(), two.document()
    return all(one[part] == two[part] for part in ("findings", "groups", "subgroups"))


@pytest.mark.slow
def test_batches_of_a_parquet_stream_are_audited_as_one_table(stream):
    files, rows = stream
    streamed = (
        eh.tally(data=batch, **NAMES)
        for file in files
        for batch in pq.ParquetFile(file).iter_batches(batch_size=170)
    )
    report = eh.audit(sum(streamed), sensitive_features="g")
    assert alike(report, eh.audit(data=rows, **NAMES))


@pytest.mark.slow
def test_workers_count_files_and_their_sum_is_that_of_one_pass(stream):
    files, rows = stream
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        total = sum(pool.map(of_file, files))
    assert_same(total, eh.tally(data=rows, **NAMES))


@pytest.mark.slow
def test_scores_of_a_stream_are_counted_by_value_and_audited_with_their_rows(stream):
    files, rows = stream
    keys = ["y", "p", "g", "score"]
    parts = [pl.read_parquet(file).group_by(keys).len("n") for file in files]
    counts = pl.concat(parts).group_by(keys).agg(pl.col("n").sum())
    report = eh.audit(data=counts, **NAMES, y_score="score", rows="n")
    whole = eh.audit(data=rows, **NAMES, y_score="score")
    for finding in whole.findings:
        for name, value in finding.values.items():
            same = report.finding(finding.criterion).values[name]
            assert [same.value, same.low, same.high] == pytest.approx(
                [value.value, value.low, value.high], rel=1e-6, nan_ok=True
            )


def ages(values, bins):
    group = eh.groups({"age": values}, bins={"age": bins})
    return {"sensitive_features": group}


def test_quantiles_of_each_batch_do_not_add_up():
    young, old = np.arange(20.0, 40.0), np.arange(30.0, 70.0)
    parts = [eh.tally([0, 1] * (len(a) // 2), [1] * len(a), **ages(a, 2)) for a in (young, old)]
    with pytest.raises(eh.InputError, match=r"bins differ, such as .* same edges"):
        sum(parts)
    scores = [eh.distribution(a, **ages(a, 2)) for a in (young, old)]
    with pytest.raises(eh.InputError, match="bins differ"):
        sum(scores)


def test_bins_with_common_edges_add_up_though_a_batch_lacks_some():
    young, old = np.arange(20.0, 40.0), np.arange(40.0, 70.0)
    edges = [0, 30, 40, 100]
    parts = [eh.tally([0] * len(a), [1] * len(a), **ages(a, edges)) for a in (young, old)]
    both = np.concatenate([young, old])
    assert_same(sum(parts), eh.tally([0] * 50, [1] * 50, **ages(both, edges)))


def test_rare_groups_are_merged_after_batches_are_added():
    one = eh.tally([0, 1, 1], [1, 1, 1], sensitive_features=["a", "a", "b"])
    two = eh.tally([0, 1, 1], [1, 1, 1], sensitive_features=["b", "b", "c"])
    with pytest.raises(eh.InputError, match="Add them first, then call settle_rare"):
        one.settle_rare(2, "merge") + two
    assert (one + two).settle_rare(2, "merge").groups == ("a", "b", "(rare groups)")


def test_counts_of_another_kind_are_refused():
    labels = eh.tally([0, 1], [1, 1], sensitive_features=["a", "b"])
    values = eh.tally([0.5, 1.0], [1.0, 2.0], sensitive_features=["a", "b"], task="regression")
    with pytest.raises(eh.InputError, match="different axes"):
        labels + values
    with pytest.raises(TypeError):
        labels + eh.distribution([0.5, 1.0], sensitive_features=["a", "b"])
