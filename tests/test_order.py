"""The order of a whole run: what takes longest first, or one process still works on it when the other has nothing left."""

from pathlib import Path

from tests.conftest import LONGEST, TESTS, place_in_a_run


def test_what_is_named_is_there():
    assert not [name for name in LONGEST if not (TESTS / name).exists()]


def test_the_longest_come_first_and_the_others_stay_in_their_order():
    names = [
        "abstraction/test_config.py",
        "matches/scoring/test_scoring.py",
        "web/routes/test_browser.py",
        "agent/test_bots.py",
        "matches/scoring/test_aivat.py",
    ]
    sorted_names = sorted(names, key=lambda name: place_in_a_run(TESTS / name))
    assert [names.index(name) for name in sorted_names] == [2, 4, 1, 0, 3]


def test_this_run_is_in_that_order(request):
    places = [place_in_a_run(Path(item.path)) for item in request.session.items]
    assert places == sorted(places)
