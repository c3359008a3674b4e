"""The files below a folder that may be copies of an upstream's, and those that a lock cannot hold."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from vendor_tool import licences, plan
from vendor_tool.adoption import pairs
from vendor_tool.errors import UsageError
from vendor_tool.model import Blob, Lock, Tree
from vendor_tool.paths import unsafe
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import state
from vendor_tool.pipeline.disk import Folders, litter

MOST = 2000  # files below the folder
LARGEST = 5_000_000  # bytes of one file
ALL = 200_000_000  # bytes of all of them
SKIPPED = (".git", ".vendor-tool", ".venv", "node_modules")


def files(lock: Lock, folder: str) -> tuple[dict[str, Blob], dict[str, str]]:
    """The files below a folder that may be copies, and why others are none.

    Raises UsageError for a folder that is not there, has too many files, or none that no entry owns.
    """
    owned = {path: name for name, paths in state.owners(lock).items() for path in paths}
    patches = [spec.path for one in lock.upstreams.values() for spec in one.patches]
    owned |= dict.fromkeys([*state.generated_paths(lock), *patches, lock.path.name], "")
    found: dict[str, Blob] = {}
    left: dict[str, str] = {}
    folders, size = Folders(str(lock.root)), 0
    for path in _walk(lock.root, folder):
        if path in owned:
            continue
        if len(found) + len(left) >= MOST:
            raise UsageError(
                f"there are more than {MOST} files below `{folder or '.'}`",
                hint="name the folder that holds the copies",
            )
        read = _read(folders, path)
        if isinstance(read, str):
            left[path] = read
        else:
            found[path] = read
            size += len(read.data)
        if size > ALL:
            raise UsageError(
                f"the files below `{folder or '.'}` hold more than {ALL:,} bytes",
                hint="name the folder that holds the copies",
            )
    if not found:
        below = f"{folder}/" if folder else ""
        mine = sorted({name for path, name in owned.items() if name and path.startswith(below)})
        whose = f": all belong to {', '.join(f'`{name}`' for name in mine)}" if mine else ""
        raise UsageError(f"there is no file to adopt below `{folder or '.'}`{whose}", hint="name another folder")
    return found, left


def _read(folders: Folders, path: str) -> Blob | str:
    """A plain file of moderate size, or what it is instead."""
    fault = unsafe(path) or (None if path.isprintable() else "holds a character that cannot be shown")
    if fault:
        return fault
    # looked at before it is read: a folder may hold a data set
    if os.lstat(f"{folders.root}/{path}").st_size > LARGEST:
        return f"is larger than {LARGEST:,} bytes"
    read = folders.read(path)
    return "is a symbolic link, or no plain file" if read is None else Blob(*read)


def _walk(root: Path, folder: str) -> Iterator[str]:
    place = root / folder if folder else root
    try:
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise UsageError(f"`{folder}` is no folder", hint="name the folder that holds the copies")
    except FileNotFoundError:
        raise UsageError(f"`{folder}` is not there", hint="name the folder that holds the copies") from None
    for here, names, files in os.walk(place):
        below = Path(here).relative_to(root).as_posix()
        links = [name for name in names if os.path.islink(f"{here}/{name}")]  # noqa: PTH114 - there may be many
        names[:] = sorted(name for name in names if name not in links and not (litter(name) or name in SKIPPED))
        for name in sorted([*files, *links]):
            if not litter(name):
                yield name if below == "." else f"{below}/{name}"


def adoptable(found: Sequence[pairs.Pair], disk: Tree) -> tuple[tuple[pairs.Pair, ...], dict[str, str]]:
    """The pairs that a lock can hold, and why it cannot hold the others."""
    chosen, refused = [], {}
    for pair in found:
        if plan.is_glob(pair.path) or unsafe(pair.path):
            refused[pair.local] = f"is `{pair.path}`, a name that a lock cannot list"
        elif licences.find_legal([pair.path], posixpath.dirname(pair.path)) != (None, None, ()):
            refused[pair.local] = f"is upstream's `{pair.path}`: the entry keeps its own copies of such texts"
        elif disk[pair.local].data.startswith(builds.LFS_POINTER):
            refused[pair.local] = "is a pointer of Git LFS, not the file itself"
        else:
            chosen.append(pair)
    return tuple(chosen), refused
