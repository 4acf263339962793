"""Files written whole or not at all."""

import pytest

from foldwise.abstraction.storage.whole_file import bytes_written_whole, write_whole, written_whole


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "result.json"
    with written_whole(path) as file:
        file.write("new")
        file.flush()
        assert not path.exists()
    assert path.read_text() == "new"
    write_whole(path, "newer")
    with bytes_written_whole(tmp_path / "values.npy") as file:
        file.write(b"\x00\xff")
    assert path.read_text() == "newer"
    assert (tmp_path / "values.npy").read_bytes() == b"\x00\xff"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["result.json", "values.npy"]


@pytest.mark.parametrize("open_whole", [written_whole, bytes_written_whole])
def test_a_failure_leaves_what_was_there(tmp_path, open_whole):
    path = tmp_path / "result.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), open_whole(path) as file:
        file.write("half" if open_whole is written_whole else b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through_and_stays_a_link(tmp_path):
    """As /dev/stdout must, which leads to a plain file where output is redirected."""
    target, link = tmp_path / "redirected", tmp_path / "stdout"
    target.write_text("old")
    link.symlink_to(target)
    inode = target.stat().st_ino
    write_whole(link, "shown")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_ino) == ("shown", inode)


def test_folders_of_a_new_file_are_made(tmp_path):
    write_whole(tmp_path / "new" / "folder" / "page.html", "text")
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["page.html"]
