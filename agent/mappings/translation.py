"""Translation: which abstract size a real bet stands for.

Sizes are pot fractions: chips beyond the call over the pot after the call, so that a call has size 0. Do not pass
chips: the pseudo-harmonic mapping is scale-free only once every size is divided by the pot.

Source: Ganzfried and Sandholm (IJCAI 2013), sections 4 to 6. A mapping f gives the probability that a bet of x pots,
between the abstract sizes A < B, is read as A. Its deterministic version reads A while f is at least 1/2: up to the
median x*, in the paper's words. `translation_kernels.py` computes both; here are their names.
"""

from typing import Final, NamedTuple

from foldwise.game.errors import DefinitionError

# The mappings: a name, and the kernel f(x, a, b) as MODULE:NAME. Strings, so that parsing a name loads no kernel.
MAPPINGS: Final[dict[str, str]] = {
    "pseudo-harmonic": "foldwise.agent.mappings.pseudo_harmonic_kernels:pseudo_harmonic",
    "arithmetic": "foldwise.agent.mappings.arithmetic_kernels:arithmetic",
    "geometric": "foldwise.agent.mappings.geometric_kernels:geometric",
}


class Translation(NamedTuple):
    """The name of a mapping, and whether a bet is read by chance or by the median."""

    mapping: str = "pseudo-harmonic"
    randomised: bool = True

    @property
    def number(self) -> int:
        """The number by which kernels know the mapping: its place in the table."""
        return list(MAPPINGS).index(self.mapping)

    def __str__(self) -> str:
        return self.mapping if self.randomised else f"{self.mapping} deterministic"


DEFAULT_TRANSLATION = Translation()
TRANSLATIONS = {
    str(translation): translation
    for mapping in MAPPINGS
    for translation in (Translation(mapping), Translation(mapping, False))
}


def parse_translation(text: str) -> Translation:
    """The name of a mapping, alone or followed by `deterministic`."""
    found = TRANSLATIONS.get(" ".join(text.split()))
    if found is not None:
        return found
    *others, last = MAPPINGS
    raise DefinitionError(
        f"translation {text.strip()!r}: expected {', '.join(others)} or {last}, "
        "followed by 'deterministic' to read without chance"
    )
