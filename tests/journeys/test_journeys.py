"""The first journeys of `make fuzz`, which walks many more; and that a fault would be noticed."""

from dataclasses import fields

import pytest

import evenhand as eh
import journeys
from journeys import doors, outputs, said
from journeys.generator import journey_of
from lanes import one_in

STEP = 5


@pytest.mark.slow
@pytest.mark.parametrize("first", one_in(2, range(0, 200, STEP)))
def test_a_journey_ends_well(first):
    for number in range(first, first + STEP):
        journeys.walk(number)


@pytest.mark.parametrize("number", [0, 7, 123])
def test_a_number_is_one_journey(number):
    one, two = journey_of(number), journey_of(number)
    named = [field.name for field in fields(one) if field.name != "rng"]
    assert all(repr(getattr(one, name)) == repr(getattr(two, name)) for name in named)


def ordinary():
    """The first journey of two classes that nothing is wrong with."""
    for number in range(1000):
        journey = journey_of(number)
        whole = journey.task == "binary" and journey.truth is not None
        plain = not (journey.refused or journey.doubtful or len(journey.people) > 1)
        told = journey.favorable is not None and journey.score is None
        if whole and plain and told and journey.rows > 50:
            return journey
    raise AssertionError("There is none.")


def test_a_turned_rate_is_noticed():
    journey = ordinary()
    audit = doors.audited(journey)
    journey.truth[:], journey.predicted[:] = (
        [next(c for c in journey.classes if c != label) for label in column]
        for column in (journey.truth, journey.predicted)
    )
    with pytest.raises(AssertionError):
        said.agrees(journey, audit)


def test_another_number_at_a_door_is_noticed(monkeypatch):
    monkeypatch.setattr(eh, "evaluate", lambda *_, **__: 0.123456)
    with pytest.raises(AssertionError, match=r"at evaluate is 0\.123456"):
        doors.evaluated(ordinary(), None)


def test_an_error_that_is_not_ours_names_its_journey(monkeypatch):
    def broken(journey, audit):
        raise IndexError("no such cell")

    monkeypatch.setattr(outputs, "OUTPUTS", (broken,))
    with pytest.raises(IndexError) as error:
        journeys.walk(ordinary().number)
    assert error.value.__notes__[0].startswith(f"journey {ordinary().number}: ")


@pytest.mark.parametrize(
    ("text", "share", "is_so"),
    [("42%", 0.4231, True), ("4.2%", 0.0423, True), ("43%", 0.4231, False), ("<0.1%", 0.01, False)],
)
def test_a_percentage_in_words_is_read(text, share, is_so):
    assert said.near(text, share) is is_so
