"""`--search` and searching players on the command line, with a made-up strategy in the place of a folder."""

import json
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

from foldwise.abstraction.bet_sizes import make_menu
from foldwise.agent.player_spec import parse_player
from foldwise.cli.main import main
from foldwise.cli.support.search_option import searching, with_search
from foldwise.game.errors import DefinitionError
from foldwise.game.library import find_definition
from foldwise.matches.plan import MatchPlan
from foldwise.search.modes import MODES, Budget
from foldwise.search.player import SearchPlayer
from foldwise.search.players import check_plays_tables, is_searching, make_player
from foldwise.search.settings import seat_search
from tests.support.made_strategies import made_player, short_hunl

TEXTS = ("f c", "f c", "f c a | f c", "f c a | f c")


class MadeUp:
    """An `OpenStrategy` without a folder."""

    def __init__(self, folder):
        self.definition = short_hunl(500)
        bets = SimpleNamespace(menu=lambda: make_menu(TEXTS, TEXTS, 1.0))
        self.strategy = SimpleNamespace(
            folder=folder,
            abstraction_config=lambda: SimpleNamespace(bets=bets),
            manifest=SimpleNamespace(
                arrays={"probabilities": SimpleNamespace(xxh3="made up")}, game="hunl", cards="made up", history=[]
            ),
        )

    def verify(self):
        pass

    def player(self, pipeline, seed, translation=None):
        return made_player(self.definition, *TEXTS, seed=seed, pipeline=str(pipeline))


@pytest.fixture
def made_up(monkeypatch):
    quick = replace(MODES["fast"], turn=Budget(0.0, 1, 1), river=Budget(0.0, 3, 3))
    monkeypatch.setitem(MODES, "fast", quick)
    # Loaded after the next line, it would keep the made-up class.
    import_module("foldwise.matches.scoring.scorers")
    monkeypatch.setattr("foldwise.agent.strategy_player.OpenStrategy", MadeUp)


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_lbr_against_a_search_says_how_it_was_done(made_up, capsys):
    code, out, _ = run(capsys, "lbr", "folder", "--search", "fast", "--hands", 2, "--bets", "fc", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["method"], found["postprocess"], found["hands"]) == ("vector", "search(fast)", 4)
    assert found["roots"] >= 1
    assert {"lbr_mbb", "ci95_mbb", "seconds"} <= found.keys()


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (("lbr", "folder", "--search", "slow"), "--search 'slow': expected off, fast, normal, deep"),
        (("lbr", "folder", "--search", "fast", "--method", "hands"), "give --method vector"),
        (("lbr", "folder", "--method", "both"), "expected hands or vector"),
        (("lbr", "folder", "--search", "fast", "--postprocess", "search(fast)"), "give one of them"),
        (("lbr", "folder", "--search", "fast", "--postprocess", "search(slow)"), "give one of them"),
        (("lbr", "folder", "--postprocess", "search(slow)"), "one of fast, normal, deep"),
        (("exploitability", "folder", "--search", "fast"), "--real-cards --from turn"),
        (("exploitability", "folder", "--real-cards", "--from", "flop"), "--real-cards --from turn"),
        (("exploitability", "folder", "--real-bets"), "hole cards 2, rounds 4, boards 2,598,960"),
        (("exploitability", "folder", "--real-bets", "--search", "fast"), "give one"),
        (("exploitability", "folder", "--real-bets", "--resume"), "not for --real-bets"),
        (("exploitability", "folder", "--real-bets", "--translation", "harmonic"), "expected pseudo-harmonic"),
        (("exploitability", "folder", "--translation", "arithmetic"), "add --real-bets"),
        (("match", "bot:call", "bot:call", "--search", "fast"), "is not a strategy"),
        (
            ("play", "strategy:folder", "h", 1, "--search", "fast", "--t_per_hand", 7000),
            "expected seconds up to 600, as in 7",
        ),
        (("play", "strategy:folder", "h", 1, "--search", "fast", "--t_per_hand", 0), "expected seconds up to 600"),
        (("play", "strategy:folder", "h", 1, "--search", "fast", "--t_per_hand", "nan"), "expected seconds up to 600"),
        (
            ("play", "strategy:folder", "http://h", "--search", "fast", "--t_per_hand", 7),
            "expected HOST and PORT of a dealer",
        ),
        (("play", "bot:call", "h", 1, "--t_per_hand", 7), "does not search"),
        (
            (
                "play",
                "strategy:folder",
                "h",
                1,
                "--search",
                "off",
                "--postprocess",
                "search(work=2)",
                "--t_per_hand",
                7,
            ),
            "give one of them",
        ),
    ],
)
def test_what_cannot_be_is_one_line(made_up, capsys, arguments, complaint):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert complaint in err
    assert out == ""
    assert len(err.strip().splitlines()) == 1


def test_exploitability_from_the_turn_on(made_up, capsys, monkeypatch):
    """Two boards; what the responder wins from a search is less than from the random rows."""
    arguments = ("exploitability", "folder", "--real-cards", "--from", "turn", "--boards", 2, "--json")
    two = "foldwise.matches.scoring.turn_exploitability.unseen"  # rivers are enough to tell
    monkeypatch.setattr(two, lambda board: [card for card in (5, 18, 30, 44, 51, 12) if card not in board][:2])
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    table = json.loads(out)
    code, out, _ = run(capsys, *arguments, "--search", "fast")
    search = json.loads(out)
    assert (table["postprocess"], search["postprocess"]) == ("none", "search(fast)")
    assert table["boards"] == search["boards"] == 2
    assert search["exploitability_mbb"] < table["exploitability_mbb"]


def test_options_become_names():
    assert with_search("none", "off") == "none"
    assert with_search("none", "fast") == "search(fast)"
    assert with_search("new(0.2)", "deep") == "search(deep) | new(0.2)"
    spec = searching(parse_player("strategy:runs/small|new(0.2)|geometric"), "fast")
    assert str(spec) == "strategy:runs/small|search(fast) | new(0.2)|geometric"
    assert parse_player(str(spec)) == spec
    assert is_searching(spec)
    assert not is_searching("strategy:runs/small|new(0.2)")
    assert not is_searching("bot:call")


def test_names_become_players(made_up):
    player = make_player("strategy:folder|search(fast, gadget=unsafe) | threshold(0.1)", 3)
    assert isinstance(player, SearchPlayer)
    assert str(player.settings) == "search(fast, gadget=unsafe)"
    with pytest.raises(DefinitionError, match="searches"):
        check_plays_tables("strategy:folder|search(fast)", "--score aivat")


def test_a_match_in_memory_reports_its_solves(made_up, tmp_path):
    """Two hands from each side; the report is beside the logs, and in the result."""
    from foldwise.matches.duplicate.match import _play_memory_run
    from foldwise.matches.duplicate.search_reports import search_summary

    plan = MatchPlan(
        players=(parse_player("strategy:folder|search(fast)"), parse_player("bot:call")),
        game="hunl",
        definition=short_hunl(500).to_text(),
        hands=3,
        seed=1,
        repeat=1,
        over="memory",
    )
    for run_ in plan.runs(0):
        assert _play_memory_run(run_, tmp_path, None).count == 0
    found = search_summary(plan, tmp_path, 1)
    assert found is not None
    assert found["solves"] > 0
    assert found["fallbacks"] == 0
    assert found["pondered"] == 0  # in memory nobody watches
    assert 0.0 < found["seconds_p50"] <= found["seconds_p99"] <= found["seconds_max"]
    again = tmp_path / "again"
    again.mkdir()
    for run_ in plan.runs(0):
        _play_memory_run(run_, again, None)
        assert run_.log_path(again).read_bytes() == run_.log_path(tmp_path).read_bytes()


@pytest.mark.parametrize(("game", "expected"), [("hunl", "fast"), ("limit", "off"), ("leduc", "off")])
def test_a_seat_searches_by_itself_in_no_limit_holdem_only(game, expected):
    definition = find_definition(game)
    assert seat_search("auto", definition) == expected
    assert seat_search("normal", definition) == "normal"


def test_auto_leaves_other_players_and_a_named_search_as_they_are(made_up, monkeypatch):
    manifest = SimpleNamespace(definition=short_hunl(500).to_text())
    monkeypatch.setattr("foldwise.abstraction.strategy.Strategy", lambda folder: SimpleNamespace(manifest=manifest))
    assert str(searching(parse_player("strategy:folder|purify"), "auto")) == "strategy:folder|search(fast) | purify"
    for text in ("bot:call", "strategy:folder|search(deep)"):
        assert str(searching(parse_player(text), "auto")) == text
