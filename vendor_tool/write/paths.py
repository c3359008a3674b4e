"""What stands at a local path, asked so that no symbolic link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from vendor_tool.errors import ContentError

FOLDER = ".vendor-tool"
"""The tool's own folder in a project."""


def inspect(root: Path, path: str, folders: dict[str, bool] | None = None) -> os.stat_result | None:
    """What stands at a local path; None for nothing. `folders` remembers for the next path which ones are there.

    Raises ContentError where the way there leads through a symbolic link or a file, or where the path itself is a
    link, a folder or a device: this tool neither follows nor replaces those.
    """
    top = str(root)
    if not _inside(top, path.rpartition("/")[0], path, {} if folders is None else folders):
        return None
    found = lstat(f"{top}/{path}")
    if found is None or stat.S_ISREG(found.st_mode):
        return found
    kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a symbolic link or a device"
    raise ContentError(f"`{path}` cannot be written: {kind} stands there", hint=f"move `{path}` away")


def _inside(top: str, folder: str, path: str, folders: dict[str, bool]) -> bool:
    """Whether a folder on the way to `path` is there, and a folder."""
    if not folder:
        return True
    if folder not in folders:
        found = lstat(f"{top}/{folder}") if _inside(top, folder.rpartition("/")[0], path, folders) else None
        if found is not None and not stat.S_ISDIR(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a folder"
            raise ContentError(f"`{path}` cannot be written: `{folder}` is {kind}", hint=f"move `{folder}` away")
        folders[folder] = found is not None
    return folders[folder]


def lstat(path: str) -> os.stat_result | None:
    """What stands at a path itself; None for nothing. Raises ContentError where nobody may look."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        name = path.rpartition("/")[2]
        raise ContentError(f"`{name}` cannot be looked at", hint="see who may read the folder") from None


def read(root: Path, path: str) -> bytes | None:
    """Bytes at a local path; None for nothing. Raises ContentError as `inspect` does."""
    if inspect(root, path) is None:
        return None
    try:
        return (root / path).read_bytes()
    except OSError as error:
        raise ContentError(f"`{path}` cannot be read: {error.strerror}", hint="see who may read it") from None
