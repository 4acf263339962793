"""`champion`: a name for the strategy in the box with its search and post-processing, wherever a player can be named."""

from pathlib import Path

import pytest

from foldwise.abstraction import named_strategy
from foldwise.abstraction.named_strategy import NAMED, PlayedAs, played_as
from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.cli.play import PlayRequest, _spec
from foldwise.cli.support import players
from foldwise.cli.support.players import own_search, typed_player, typed_players
from foldwise.cli.support.search_option import played_steps, searching, seat_steps
from foldwise.game.errors import DefinitionError
from foldwise.search.language import inside_search, parse_steps
from foldwise.search.players import is_searching
from foldwise.search.settings import SearchSettings
from foldwise.web.table.opponents import Opponent

BOX = Path("the/box")
WITH_BOTH = PlayedAs("search(normal, flop=fast)", "threshold(0.05)")


@pytest.fixture
def box(monkeypatch):
    """The packed strategy's folder, without unpacking it."""
    monkeypatch.setattr("foldwise.cli.support.players.strategy_folder", lambda name: BOX)
    monkeypatch.setattr("foldwise.agent.player_spec.find_strategy", lambda name: BOX)


@pytest.fixture
def both(monkeypatch, box):
    """A champion that has post-processing too, to tell its parts apart."""
    monkeypatch.setitem(named_strategy.NAMED, "champion", WITH_BOTH)


def test_what_every_name_does_can_be_read():
    for name, played in NAMED.items():
        steps = parse_steps(played.steps() or "none")
        assert (steps.search is not None) == bool(played.search), name
        assert parse_player(f"strategy:{name}").postprocess == played.steps()
    assert NAMED["default"] == PlayedAs()
    assert NAMED["champion"].search


@pytest.mark.parametrize(
    "typed, steps",
    [
        ("champion", "search(normal, flop=fast) | threshold(0.05)"),
        ("strategy:champion", "search(normal, flop=fast) | threshold(0.05)"),
        ("best=champion", "search(normal, flop=fast) | threshold(0.05)"),
        ("champion|purify", "search(normal, flop=fast) | purify"),
        ("champion|none", "search(normal, flop=fast)"),
        ("champion|search(fast)", "search(fast)"),
        ("champion|Search(fast) | purify", "Search(fast) | purify"),
        ("champion|geometric", "search(normal, flop=fast) | threshold(0.05)"),
        ("default", ""),
        ("default|purify", "purify"),
    ],
)
def test_typed_steps_take_the_place_of_the_name_s(both, typed, steps):
    spec = typed_player(typed)
    assert spec.postprocess == steps
    assert Path(spec.subject) == BOX.resolve()
    assert parse_player(str(spec)) == spec  # as plans and results keep it
    assert (spec.translation is not None) == ("geometric" in typed)


@pytest.mark.parametrize(
    "postprocess, search, steps",
    [
        (None, "auto", "search(normal, flop=fast) | threshold(0.05)"),
        (None, None, "search(normal, flop=fast) | threshold(0.05)"),
        ("purify", "auto", "search(normal, flop=fast) | purify"),
        ("none", "auto", "search(normal, flop=fast)"),
        (None, "off", "threshold(0.05)"),
        (None, "deep", "search(deep) | threshold(0.05)"),
        ("purify", "deep", "search(deep) | purify"),
        ("none", "off", ""),
        ("search(fast) | purify", "auto", "search(fast) | purify"),
    ],
)
def test_an_option_takes_the_place_of_its_part(both, postprocess, search, steps):
    """For commands that name a strategy, and for those that name a player."""
    assert played_steps("champion", postprocess, search) == steps
    if search is not None:
        request = PlayRequest(player="champion", postprocess=postprocess)
        assert searching(_spec(request), search, own_search("champion")).postprocess == steps


def test_a_seat_of_another_strategy_searches_as_before(monkeypatch, both):
    monkeypatch.setattr("foldwise.cli.support.search_option.seat_mode", lambda mode, folder, steps: "fast")
    assert seat_steps("runs/small", BOX, None, "auto") == "search(fast)"
    assert seat_steps("runs/small", BOX, "purify", "auto") == "search(fast) | purify"
    assert seat_steps("runs/small", BOX, "purify", "off") == "purify"
    assert played_steps("runs/small", None, None) == ""


@pytest.mark.parametrize(
    "words, complaint",
    [
        ("champion|search(fast) bot:call --search normal", "--search normal together with 'search(fast)': give one"),
        ("champion|search(fast) bot:call --search off", "--search off together with 'search(fast)': give one"),
        ("champion bot:call --search slow", "--search 'slow': expected auto, off, fast, normal, deep"),
    ],
)
def test_what_was_typed_twice_is_one_line(both, capsys, words, complaint):
    assert main(["match", *words.split()]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err and len(captured.err.splitlines()) == 1 and not captured.out


def test_play_refuses_steps_beside_an_option(both):
    with pytest.raises(DefinitionError, match="not a plain strategy folder"):
        _spec(PlayRequest(player="champion|purify", postprocess="new(0.2)"))


def test_a_match_of_the_champion_with_and_without_search(both):
    with_search, without = typed_players(["champion", "tables=champion"])
    assert is_searching(searching(with_search, None, own_search("champion")))
    tables = searching(without, "off", own_search("tables=champion"))
    assert not is_searching(tables) and tables.postprocess == "threshold(0.05)"
    other = searching(typed_player("champion|purify"), "fast", own_search("champion|purify"))
    assert other.postprocess == "search(fast) | purify"


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_called_champion_comes_before_the_name(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if kind == "folder":
        (tmp_path / "champion").mkdir()
        (tmp_path / "champion" / "manifest.json").touch()
    else:
        (tmp_path / "champion").write_bytes(b"another file")
    assert played_as("champion") == PlayedAs()
    assert parse_player("strategy:champion").postprocess == ""
    assert own_search("champion") == ""


@pytest.mark.parametrize(
    "words",
    [
        "play champion 127.0.0.1 9",
        "lbr champion --hands 2",
        "duel champion",
        "serve champion",
        "startme champion",
        "match champion bot:call",
        "compare champion --opponents bot:call",
        "compare default --opponents champion",
        "tournament champion bot:call",
        "inspect champion --betting / --hand AsAh",
    ],
)
def test_every_command_asks_for_the_strategy_in_the_box(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("foldwise.abstraction.named_strategy.default_file", lambda: tmp_path / "gone.packed")
    assert main(words.split()) == 2
    assert capsys.readouterr().err == (
        f"foldwise: '{tmp_path}/gone.packed' is missing: install foldwise again, or make it with 'foldwise pack'\n"
    )


def test_startme_writes_the_champion_s_search_into_the_script(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("foldwise.cli.support.strategies.find_strategy", lambda name, report=None: tmp_path)
    monkeypatch.setattr("foldwise.agent.strategy_player.OpenStrategy", lambda folder: None)
    assert main(["startme", "champion", "--json"]) == 0
    assert f"--postprocess '{NAMED['champion'].steps()}'" in (tmp_path / "startme.sh").read_text()
    assert main(["startme", "default", "--json"]) == 0
    assert "--postprocess none" in (tmp_path / "startme.sh").read_text()


def test_a_table_in_the_browser_searches_the_flop_too():
    text = NAMED["champion"].search.removeprefix("search(").removesuffix(")")
    assert Opponent(name="default", search=text).searches == parse_steps(NAMED["champion"].search).search
    assert inside_search("off") is None and inside_search("fast, flop=normal") == SearchSettings("fast", flop="normal")
    for wrong in ("slow", "fast)", "fast, flop=slow"):
        with pytest.raises(ValueError):
            Opponent(name="default", search=wrong)


def test_names_of_players_are_cut_from_what_is_typed():
    names = ["champion", "a=champion", "strategy:champion", "a=strategy:champion|purify", "bot:call"]
    assert [players._strategy_name(name) for name in names] == ["champion"] * 4 + ["bot:call"]
