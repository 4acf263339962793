"""foldwise: a heads-up hold'em bot. The rooms are `foldwise.game`, `foldwise.abstraction`, `foldwise.solver`,
`foldwise.postprocess`, `foldwise.agent`, `foldwise.search`, `foldwise.matches` and `foldwise.cli`.

In a checkout the rooms stand at the top level and are linked from here; in a wheel they stand here.
"""
