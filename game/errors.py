"""The errors foldwise raises on purpose. A message says what came, what was expected and what to do."""


class DefinitionError(ValueError):
    """A game definition, game name or configuration that cannot be used."""


class TreeSizeError(DefinitionError):
    """A game whose public tree is too large to store."""


class IllegalActionError(ValueError):
    """An action the rules do not allow in the given state."""


class FormatError(ValueError):
    """Text or a file that does not have the promised form."""


class ProtocolError(RuntimeError):
    """A peer that does not keep to the ACPC protocol."""
