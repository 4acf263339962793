"""`search(...)` in front of post-processing."""

import pytest

from foldwise.game.errors import DefinitionError
from foldwise.postprocess.language import PipelineError, parse_pipeline
from foldwise.search.language import parse_steps
from foldwise.search.settings import SearchSettings


@pytest.mark.parametrize(
    "text, settings, pipeline",
    [
        ("search(fast)", SearchSettings(), "none"),
        ("search()", SearchSettings(), "none"),
        (" Search ( NORMAL ) ", SearchSettings("normal"), "none"),
        ("search(deep, gadget=unsafe)", SearchSettings("deep", "unsafe"), "none"),
        ("search(gadget=resolve)", SearchSettings(gadget="resolve"), "none"),
        ("search(fast, turn=off)", SearchSettings(turn="off"), "none"),
        ("search(fast, turn=normal, river=deep)", SearchSettings(turn="normal", river="deep"), "none"),
        ("search(fast, flop=normal)", SearchSettings(flop="normal"), "none"),
        ("search(fast) | threshold(0.05)", SearchSettings(), "threshold(0.05)"),
        ("search(fast, work=2)", SearchSettings(work=2.0), "none"),
        ("search(flop=fast, work=0.3)", SearchSettings(flop="fast", work=0.3), "none"),
        ("search(fast)|new(0.2)|purify except flop", SearchSettings(), "new(0.2) | purify except flop"),
        ("search(fast) | none", SearchSettings(), "none"),
        ("threshold(0.05)", None, "threshold(0.05)"),
        ("none", None, "none"),
    ],
)
def test_steps_are_read_and_written(text, settings, pipeline):
    steps = parse_steps(text)
    assert steps.search == settings
    assert steps.pipeline == parse_pipeline(pipeline)
    assert parse_steps(str(steps)) == steps


@pytest.mark.parametrize(
    "text, character, complaint",
    [
        ("search", 7, "search(MODE)"),
        ("search(slow)", 8, "one of fast, normal, deep"),
        ("search(fast, slow)", 14, "a mode first"),
        ("search(fast, gadget=none)", 14, "unsafe, resolve, combined"),
        ("search(fast, turn=off, turn=off)", 24, "each option of search once"),
        ("search(fast, preflop=fast)", 14, "gadget=, flop=, turn=, river= or work="),
        ("search(fast, flop=fast, turn=off)", 8, "leave turn on"),
        ("search(fast, work=much)", 14, "work to be a number"),
        ("search(fast, work=nan)", 8, "0.0625 to 64"),
        ("search(fast, work=100)", 8, "0.0625 to 64"),
        ("search(fast, work=2, work=3)", 22, "each option of search once"),
        ("search(fast, work)", 14, "a mode first"),
        ("search(fast) new(0.2)", 14, "'|' or the end"),
        ("search(fast) | threshold(2)", 26, "a number from 0 to 1"),
        ("search(fast) | search(fast)", 16, "expected none"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text, character, complaint):
    with pytest.raises(PipelineError, match=f"character {character}:") as caught:
        parse_steps(text)
    assert complaint in str(caught.value)


def test_settings_refuse_unknown_names():
    for wrong in ({"mode": "slow"}, {"gadget": "safe"}, {"turn": "on"}, {"river": "slow"}):
        with pytest.raises(DefinitionError, match="expected"):
            SearchSettings(**wrong)


def test_streets_have_modes_of_their_own():
    settings = SearchSettings("fast", turn="off", river="deep")
    assert [None if (mode := settings.on(street)) is None else mode.name for street in range(4)] == [
        None,
        None,
        None,
        "deep",
    ]
