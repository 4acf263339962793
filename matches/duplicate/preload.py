"""Imported by the fork server of `processes`, nowhere else: what is loaded here, every child has at once."""

from foldwise.matches.duplicate.process_entry import load

load()
