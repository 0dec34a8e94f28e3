"""Large jobs run with fewer workers."""

from benchmark.designs import design
from evenhand.benchmark import Problem, Treatment
from evenhand.benchmark.running import schedule
from evenhand.benchmark.running.jobs import jobs


def job(rows):
    problem = Problem("p", "acs_income", rows=rows)
    return jobs(design(Treatment(), problems=(problem,)).runs().values())[0][0]


def test_as_many_workers_as_have_room():
    big = job(1_000_000)
    room = schedule.memory_of(big) / schedule.RESERVE
    assert schedule.workers([big] * 8, limit=8, free=int(3.5 * room)) == 3
    assert schedule.workers([big] * 8, limit=2, free=int(3.5 * room)) == 2
    assert schedule.workers([big] * 8, limit=8, free=0) == 1
    assert schedule.workers([big], limit=8, free=int(9 * room)) == 1


def test_small_jobs_are_not_held_back_by_large_ones():
    big, small = job(1_000_000), job(1000)
    free = int(1.5 * schedule.memory_of(big) / schedule.RESERVE)
    batches = schedule.batches([big, small, small, small], limit=3, free=free)
    assert batches == [(1, [big]), (3, [small, small, small])]


def test_a_sample_needs_no_more_than_its_rows():
    assert job(1000).rows == 1000
    assert job(None).rows == 1_664_500


def test_free_memory_is_a_positive_number():
    assert schedule.free_memory() > 0
