"""Translation: which abstract size a real bet stands for.

Sizes are pot fractions: chips beyond the call over the pot after the call, so that a call has size 0. Do not pass
chips: the pseudo-harmonic mapping is scale-free only once every size is divided by the pot.

Source: Ganzfried and Sandholm (IJCAI 2013), sections 4 to 6. A mapping f gives the probability that a bet of x pots,
between the abstract sizes A < B, is read as A. Its deterministic version reads A up to the median x*, B above it.
`agent/mappings/translation_kernels.py` computes it; here are its names.
"""

from enum import IntEnum
from typing import NamedTuple

from foldwise.game.errors import DefinitionError


class Mapping(IntEnum):
    """How a bet between two abstract sizes is read."""

    PSEUDO_HARMONIC = 0
    ARITHMETIC = 1
    GEOMETRIC = 2


class Translation(NamedTuple):
    """A mapping, and whether a bet is read by chance or by the median."""

    mapping: Mapping = Mapping.PSEUDO_HARMONIC
    randomised: bool = True

    def __str__(self) -> str:
        name = self.mapping.name.lower().replace("_", "-")
        return name if self.randomised else f"{name} deterministic"


DEFAULT_TRANSLATION = Translation()
TRANSLATIONS = {
    str(translation): translation
    for mapping in Mapping
    for translation in (Translation(mapping), Translation(mapping, False))
}


def parse_translation(text: str) -> Translation:
    """`pseudo-harmonic`, `arithmetic` or `geometric`, each alone or followed by `deterministic`."""
    found = TRANSLATIONS.get(" ".join(text.split()))
    if found is not None:
        return found
    raise DefinitionError(
        f"translation {text.strip()!r}: expected pseudo-harmonic, arithmetic or geometric, "
        "followed by 'deterministic' to read without chance"
    )
