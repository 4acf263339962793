"""Hands of the reference dealer, replayed: cards from the seed, every state as each player saw it, values.

A golden file holds one game: `# game seed` before the hands of a match, `STATE:hand:betting:cards:values` as the
dealer logged it, and after some hands the lines its players received.
"""

from functools import cache
from itertools import islice

import pytest

from foldwise.game.cards import cards_text
from foldwise.game.hands.dealing import Deal, Shoe
from foldwise.game.hands.evaluator import rank_hand
from foldwise.game.text.match_state import parse_match_state, view
from tests.oracles.naive_cards import naive_strength
from tests.support.generators import golden_game
from tests.support.places import GOLDEN
from tests.support.replay import states_of

HANDS = GOLDEN / "hands"
FILES = sorted(path.name for path in HANDS.iterdir())


@cache
def deals(game_name: str, seed: int) -> list[Deal]:
    return list(islice(Shoe(golden_game(game_name), seed).deals(), 200))


def logged_number(value: float) -> str:
    """Six decimals, then no trailing zeros and no trailing point, as the dealer logs."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def matches(file_name: str):
    """(game name, seed, [(STATE line, received lines)]) of each match in a file."""
    found = []
    for line in (HANDS / file_name).read_text().splitlines():
        if line.startswith("#"):
            _, game_name, seed = line.split()
            found.append((game_name, int(seed), []))
        elif line.startswith("STATE:"):
            found[-1][2].append((line, []))
        else:
            found[-1][2][-1][1].append(line)
    return found


def dealt(file_name):
    """Every hand of a file: its game, its number, betting, shown cards and values, its deal, and the lines received."""
    for game_name, seed, hands in matches(file_name):
        for line, received in hands:
            _, number, betting, cards, values = line.split(":")
            yield (
                golden_game(game_name),
                int(number),
                betting,
                cards,
                values,
                deals(game_name, seed)[int(number)],
                received,
            )


@pytest.mark.parametrize("file_name", FILES)
def test_hands_of_the_reference_dealer(file_name):
    replayed = 0
    for game, number, betting, cards, values, deal, _ in dealt(file_name):
        end = states_of(game, betting)[-1]
        assert end.finished
        everything = view(end, deal.hole_cards, deal.board, 0, number)
        everything.hole_cards = list(deal.hole_cards)
        assert everything.text() == f"MATCHSTATE:0:{number}:{betting}:{cards}"
        hands_shown = [hole + deal.board for hole in deal.hole_cards]
        for rank in (rank_hand, naive_strength):
            ranks = [rank(hand) for hand in hands_shown] if end.is_showdown() else None
            assert "|".join(map(logged_number, end.settle(ranks))) == values
        replayed += 1
    assert replayed >= 30


@pytest.mark.parametrize("file_name", FILES)
def test_lines_the_players_received(file_name):
    """Text both ways, and who sees which cards."""
    compared = 0
    for game, number, betting, _, _, deal, received in dealt(file_name):
        if not received:
            continue
        states = states_of(game, betting)
        expected = [
            view(state, deal.hole_cards, deal.board, position, number).text()
            for position in range(game.num_players)
            for state in states
        ]
        assert received == expected
        for sent in received:
            read = parse_match_state(sent + "\r\n", game)
            assert read.text() == sent
            assert cards_text(read.hole_cards[read.position]) == cards_text(deal.hole_cards[read.position])
        compared += len(received)
    assert compared >= 20


def test_golden_set_covers_every_kind():
    """All-in run-outs, ties in fractions, side pots, the cap on actions, a raise above a short all-in."""
    lines = [line for name in FILES for line in (HANDS / name).read_text().splitlines() if line.startswith("STATE:")]
    assert len(lines) > 400
    assert any("///" in line for line in lines)
    assert any(".333333" in line for line in lines)
    assert any(line.split(":")[2].split("/")[0].count("r") == 63 for line in lines)
    assert any("r370cr450cr547c" in line for line in lines)
