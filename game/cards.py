"""Cards as integers: card = 4 * rank + suit, rank 0..12 for 2..A, suit 0..3 for c d h s."""

from collections.abc import Iterable, Sequence

from foldwise.game.errors import FormatError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52

_CARD_TEXT = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARD_NUMBER = {text: number for number, text in enumerate(_CARD_TEXT)}


def make_card(rank: int, suit: int) -> int:
    return 4 * rank + suit


def rank_of(card: int) -> int:
    return card >> 2


def suit_of(card: int) -> int:
    return card & 3


def card_text(card: int) -> str:
    return _CARD_TEXT[card]


def cards_text(cards: Iterable[int]) -> str:
    return "".join([_CARD_TEXT[card] for card in cards])


def parse_card(text: str) -> int:
    """`"As"` to 51; the case of either letter does not matter."""
    card = _CARD_NUMBER.get(text[:1].upper() + text[1:].lower())
    if card is None:
        raise FormatError(f"card {text!r}: expected a rank of {RANKS} and a suit of {SUITS}, as in As or Td")
    return card


def parse_cards(text: str) -> tuple[int, ...]:
    """`"AsKd"` to a tuple of cards, in order; blanks between cards are skipped, repeated cards refused."""
    packed = "".join(text.split())
    if len(packed) % 2:
        raise FormatError(f"cards {text!r}: expected two letters a card, as in AsKd2c")
    cards = tuple(parse_card(packed[i : i + 2]) for i in range(0, len(packed), 2))
    if len(set(cards)) != len(cards):
        raise FormatError(f"cards {text!r}: a card appears twice; give each card once")
    return cards


def card_mask(cards: Sequence[int]) -> int:
    """Bit `card` set for each card."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask
