"""A power cut at any moment: what is written is recorded, and the disk laid out as a cut may have left it.

The model is weaker than any journalling file system. Of a file, what its last `fsync` saw is sure, and of what was
written since any beginning may be there. Of a folder, the names at its last `fsync` are sure, and of the changes since
(a new name, a rename, a removal) any selection may be. A rename is one change: it takes the old name along.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_MOST_CHANGES = 5  # more of them are not tried in all selections, but in beginnings, and with one left out


class Change(NamedTuple):
    """In a folder, `name` now leads to `inode`, or nowhere, and `old_name` nowhere."""

    folder: int
    name: str
    inode: int | None
    old_name: str | None = None


Names = dict[int, dict[str, int]]  # folder -> name -> inode; folder 0 is the one that is watched
Contents = dict[int, bytes]  # file -> bytes


@dataclass(frozen=True)
class Disk:
    """What is on the device for sure, and what may be."""

    names: Names
    changes: tuple[Change, ...]  # since their folders' last fsync
    sure: Contents
    written: Contents  # as the process sees its files

    def cuts(self) -> Iterator[tuple[Names, Contents]]:
        """What a cut at this moment may leave."""
        unsure = any(self.written.get(number, sure) != sure for number, sure in self.sure.items())
        for chosen in self._selections():
            names = {folder: _applied(sure, chosen, folder) for folder, sure in self.names.items()}
            for share in (0.0, 0.5, 1.0) if unsure else (1.0,):
                yield names, {n: _torn(sure, self.written.get(n, sure), share) for n, sure in self.sure.items()}

    def _selections(self) -> Iterator[tuple[Change, ...]]:
        count = len(self.changes)
        if count <= _MOST_CHANGES:
            for size in range(count + 1):
                yield from combinations(self.changes, size)
            return
        for size in range(count + 1):
            yield self.changes[:size]
        for left_out in range(count):
            yield self.changes[:left_out] + self.changes[left_out + 1 :]


def _applied(names: dict[str, int], changes: tuple[Change, ...], folder: int) -> dict[str, int]:
    names = dict(names)
    for change in changes:
        if change.folder == folder:
            names.pop(change.name, None)
            if change.old_name is not None:
                names.pop(change.old_name, None)
            if change.inode is not None:
                names[change.name] = change.inode
    return names


def _torn(sure: bytes, written: bytes, share: float) -> bytes:
    """What was sure and a share of what was appended since; of a file that was cut or changed, one or the other."""
    if written.startswith(sure):
        return written[: len(sure) + round(share * (len(written) - len(sure)))]
    return written if share == 1.0 else sure


@dataclass
class Recorder:
    """The disk after every operation below `root`, with what was promised by then."""

    root: Path
    moments: list[tuple[Disk, Any]] = field(default_factory=list)
    promised: Any = None

    def __post_init__(self) -> None:
        self._inodes = {self.root: 0}  # by path, as the process sees them
        self._count = 1
        self._disk = Disk({0: {}}, (), {}, {})
        self._keep(self._disk)

    def promise(self, what: Any) -> None:
        """From now on a power cut must leave this."""
        self.promised = what
        self._keep(self._disk)

    def created(self, path: Path, is_folder: bool = False) -> None:
        if path.parent not in self._inodes or path in self._inodes:
            return
        number, self._count = self._count, self._count + 1
        self._inodes[path] = number
        if is_folder:
            self._disk = replace(self._disk, names={**self._disk.names, number: {}})
        else:
            self._disk = replace(self._disk, sure={**self._disk.sure, number: b""})
        self._change(Change(self._inodes[path.parent], path.name, number))

    def removed(self, path: Path) -> None:
        if self._inodes.pop(path, None) is not None:
            self._change(Change(self._inodes[path.parent], path.name, None))

    def renamed(self, old: Path, new: Path) -> None:
        if old not in self._inodes:
            return
        assert old.parent == new.parent, "a rename into another folder is not modelled"
        moved = {path: number for path, number in self._inodes.items() if path.is_relative_to(old)}
        for path, number in moved.items():
            del self._inodes[path]
            self._inodes[new / path.relative_to(old)] = number
        self._change(Change(self._inodes[new.parent], new.name, moved[old], old.name))

    def synced(self, path: Path) -> None:
        number = self._inodes.get(path)
        if number is None:
            return
        disk = replace(self._disk, written=self._contents())
        if number in disk.names:
            names = {**disk.names, number: _applied(disk.names[number], disk.changes, number)}
            left = tuple(change for change in disk.changes if change.folder != number)
            self._keep(replace(disk, names=names, changes=left))
        else:
            self._keep(replace(disk, sure={**disk.sure, number: disk.written[number]}))

    def _change(self, change: Change) -> None:
        self._keep(replace(self._disk, changes=(*self._disk.changes, change), written=self._contents()))

    def _contents(self) -> Contents:
        return {number: path.read_bytes() for path, number in self._inodes.items() if number in self._disk.sure}

    def _keep(self, disk: Disk) -> None:
        self._disk = disk
        self.moments.append((disk, self.promised))


@contextmanager
def recorded(root: Path) -> Iterator[Recorder]:
    """Record what this process does in a new folder: opens that create, fsync, rename, unlink, rmdir, mkdir."""
    root.mkdir()
    recorder = Recorder(root.resolve())
    with pytest.MonkeyPatch.context() as patch:

        def watch(module: Any, name: str, tell: Callable[..., None]) -> None:
            original = getattr(module, name)

            def call(*arguments: Any, **options: Any) -> Any:
                result = original(*arguments, **options)
                below = options.get("dir_fd")
                where = Path.cwd() if below is None else Path(f"/proc/self/fd/{below}").readlink()
                tell(*(where / os.fsdecode(argument) if _is_path(argument) else argument for argument in arguments))
                return result

            patch.setattr(module, name, call)

        def opened(path: Any, *_: Any) -> None:
            if isinstance(path, Path):
                recorder.created(path)

        watch(io, "open", opened)
        watch(os, "open", opened)
        watch(os, "mkdir", lambda path, *_: recorder.created(path, is_folder=True))
        watch(os, "fsync", lambda descriptor: recorder.synced(Path(f"/proc/self/fd/{descriptor}").readlink()))
        for name in ("rename", "replace"):
            watch(os, name, recorder.renamed)
        for name in ("unlink", "remove", "rmdir"):
            watch(os, name, recorder.removed)
        yield recorder


def _is_path(argument: Any) -> bool:
    return isinstance(argument, str | bytes | os.PathLike)


def lay_out(names: Names, contents: Contents, folder: Path, number: int = 0) -> Path:
    """Write what a cut left into a new folder."""
    folder.mkdir()
    for name, inode in names[number].items():
        if inode in names:
            lay_out(names, contents, folder / name, inode)
        else:
            (folder / name).write_bytes(contents[inode])
    return folder
