# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Hand ranking kernels. The rank multiset of a hand is a number in base 5 (digit r: how many cards of rank r), so a
hand's key is a sum over its cards, and board and hole cards can be summed apart. A perfect hash maps key to rank.

A card's word holds its key in the low 32 bits and a one in the 4-bit counter of its suit above them; SUIT_START sets
the counters to three, so that a counter's top bit shows five or more cards of that suit.
"""

import numpy as np

from foldwise.game.compiled import kernel

SUIT_START = 0x3333 << 32
FLUSH_BITS = 0x8888 << 32
KEY_BITS = 0xFFFFFFFF
BUCKET_MULTIPLIER = 0x9E3779B1  # golden ratio of 2^32, odd
BUCKET_BITS = 13
FEW_CARDS = 4  # up to here neither straights nor flushes count
_BUCKET_SHIFT = 32 - BUCKET_BITS


@kernel(inline="always")
def word_rank(tables, word):
    """Rank by the multiplicities in a sum of card words; straights count, suits do not."""
    key = word & KEY_BITS
    bucket = ((key * BUCKET_MULTIPLIER) & KEY_BITS) >> _BUCKET_SHIFT
    hashed = (key * tables.multipliers[bucket]) & KEY_BITS
    return np.int64(tables.ranks[(hashed * tables.ranks.size) >> 32])


@kernel(inline="always")
def flush_suit(flush_bits):
    """The suit whose counter's top bit stands in `word & FLUSH_BITS`."""
    bits = flush_bits >> 35
    return (bits >> 4 & 1) + (bits >> 8 & 1) * 2 + (bits >> 12 & 1) * 3


@kernel
def rank_of_hand(tables, cards, num_cards):  # [>= num_cards]
    """Rank of the first `num_cards` cards, 1 to 7 of them; higher wins among hands of equal size."""
    word = SUIT_START
    for i in range(num_cards):
        word += tables.words[cards[i]]
    flush = word & FLUSH_BITS
    if flush == 0:
        return word_rank(tables, word)
    suit = flush_suit(flush)
    suited = 0
    for i in range(num_cards):
        if cards[i] & 3 == suit:
            suited |= 1 << (cards[i] >> 2)
    return np.int64(tables.flushes[suited])


@kernel
def rank_hands_into(tables, hands, out):  # [n, 1..7] cards, [n]
    """Rank of each row of `hands`."""
    num_cards = hands.shape[1]
    words = tables.words
    for h in range(hands.shape[0]):
        if num_cards == 7:  # unrolled: the common case
            word = (
                SUIT_START
                + words[hands[h, 0]]
                + words[hands[h, 1]]
                + words[hands[h, 2]]
                + words[hands[h, 3]]
                + words[hands[h, 4]]
                + words[hands[h, 5]]
                + words[hands[h, 6]]
            )
            if word & FLUSH_BITS == 0:
                out[h] = word_rank(tables, word)
            else:
                out[h] = rank_of_hand(tables, hands[h], 7)
        else:
            out[h] = rank_of_hand(tables, hands[h], num_cards)


@kernel
def rank_pairs_into(tables, board, num_board, out):  # [>= num_board], [1326] in the order of `game.hands.hole_cards`
    """Rank of every two hole cards on a fixed board of 3 to 5 cards; 0 where cards clash.

    The board's word is summed once; a flush is possible only in a suit the board holds three times or more.
    """
    words = tables.words
    board_word = SUIT_START
    board_mask = 0
    suit_ranks = 0  # 16 bits a suit
    for i in range(num_board):
        card = np.int64(board[i])
        board_word += words[card]
        board_mask |= 1 << card
        suit_ranks |= 1 << (16 * (card & 3) + (card >> 2))
    pair = 0
    for a in range(52):
        if board_mask >> a & 1:
            out[pair : pair + a] = 0
            pair += a
            continue
        word_a = board_word + words[a]
        for b in range(a):
            if board_mask >> b & 1:
                out[pair] = 0
            else:
                word = word_a + words[b]
                flush = word & FLUSH_BITS
                if flush == 0:
                    out[pair] = word_rank(tables, word)
                else:
                    suit = flush_suit(flush)
                    held = suit_ranks | 1 << (16 * (a & 3) + (a >> 2)) | 1 << (16 * (b & 3) + (b >> 2))
                    out[pair] = tables.flushes[(held >> (16 * suit)) & 0x1FFF]
            pair += 1


@kernel
def count_seven_card_ranks(tables, first_card, counts):  # [7463]
    """Add one at the rank of each seven-card hand whose highest card is `first_card`: for full enumeration."""
    words = tables.words
    hand = np.empty(7, np.int64)
    hand[0] = first_card
    word_0 = SUIT_START + words[first_card]
    # Seven loops one inside the other: a counter over the places, half as long to read, took 1.46 times as long.
    for c1 in range(first_card):
        hand[1] = c1
        word_1 = word_0 + words[c1]
        for c2 in range(c1):
            hand[2] = c2
            word_2 = word_1 + words[c2]
            for c3 in range(c2):
                hand[3] = c3
                word_3 = word_2 + words[c3]
                for c4 in range(c3):
                    hand[4] = c4
                    word_4 = word_3 + words[c4]
                    for c5 in range(c4):
                        hand[5] = c5
                        word_5 = word_4 + words[c5]
                        for c6 in range(c5):
                            word = word_5 + words[c6]
                            if word & FLUSH_BITS == 0:
                                counts[word_rank(tables, word)] += 1
                            else:
                                hand[6] = c6
                                counts[rank_of_hand(tables, hand, 7)] += 1
