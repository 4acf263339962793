"""Bet sizes as text: which actions the abstract game keeps.

One text per street, one set per number of raises already made on it, separated by `|`; the last set serves all later
raises::

    f c 0.5p 1p a | f c 1p a | f c

`f` fold, `c` check or call, `m` the smallest legal raise, `0.5p` a raise of half the pot after calling, `a` all-in, `*`
every legal raise. A set without a raise caps the betting. Rules for sizes that do not fit (`game.trees.tree.BetMenu`): below
the smallest legal raise they become it; from `all_in_share` of the stack on they become all-in; equal ones are one.
"""

import re
from collections.abc import Sequence

from foldwise.game.errors import FormatError
from foldwise.game.trees.tree import ALL_IN, EVERY_SIZE, MINIMUM_RAISE, BetMenu, BetSize, pot_size

_POT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)p")
_NAMED = {"m": MINIMUM_RAISE, "a": ALL_IN, "*": EVERY_SIZE}


def parse_sizes(text: str) -> tuple[tuple[BetSize, ...], ...]:
    """The sets of one street, by raises already made."""
    sets = []
    at = 0
    for part in text.split("|"):
        words = part.split()
        for required in ("f", "c"):
            if required not in words:
                raise FormatError(
                    f"bet sizes {text!r}: {part.strip()!r} lacks {required!r}: every set begins with 'f c'"
                )
        sizes = []
        for word in words:
            if word in ("f", "c"):
                continue
            match = _POT.fullmatch(word)
            if word in _NAMED:
                sizes.append(_NAMED[word])
            elif match and float(match[1]) > 0.0:
                sizes.append(pot_size(float(match[1])))
            else:
                raise FormatError(
                    f"bet sizes {text!r}: {word!r} at character {text.index(word, at) + 1}: expected f, c, m, a, * or "
                    "a multiple of the pot such as 0.5p"
                )
        sets.append(tuple(sizes))
        at += len(part) + 1
    return tuple(sets)


def make_menu(first: Sequence[str], second: Sequence[str], all_in_share: float) -> BetMenu:
    """The menu of two players from their texts, one per street."""
    return BetMenu(
        sizes=tuple(tuple(parse_sizes(text) for text in texts) for texts in (first, second)),
        all_in_share=all_in_share,
    )
