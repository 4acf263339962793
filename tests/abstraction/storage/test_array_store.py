"""Arrays of a folder, mapped."""

import numpy as np

from foldwise.abstraction.storage.array_store import map_file


def test_a_parser_that_stumbles_is_asked_again(tmp_path, monkeypatch):
    """Seen with Python 3.11.7 on a busy machine: "AST constructor recursion depth mismatch" for a whole file."""
    np.save(tmp_path / "a.npy", np.arange(3))
    open_memmap = np.lib.format.open_memmap
    stumbles = iter([SystemError("AST constructor recursion depth mismatch (before=60, after=58)")])

    def stumbling(*words, **options):
        for error in stumbles:
            raise error
        return open_memmap(*words, **options)

    monkeypatch.setattr(np.lib.format, "open_memmap", stumbling)
    assert map_file(tmp_path / "a.npy").tolist() == [0, 1, 2]
