"""Imported only by the fork server of `processes`: whatever is loaded here is already loaded in every child."""

from foldwise.matches.duplicate.process_entry import load

load()
