"""Imported by the fork server of `matches.processes`, nowhere else: what is loaded here, every child has at once."""

from foldwise.matches.children import load

load()
