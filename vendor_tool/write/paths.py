"""What stands at a local path, asked so that no symbolic link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from vendor_tool.errors import ContentError

FOLDER = ".vendor-tool"
"""The tool's own folder in a project."""


def inspect(root: Path, path: str) -> os.stat_result | None:
    """What stands at a local path; None for nothing.

    Raises ContentError where the way there leads through a symbolic link or a file, or where the path itself is a
    link, a folder or a device: this tool neither follows nor replaces those.
    """
    current = root
    parts = path.split("/")
    for part in parts[:-1]:
        current = current / part
        found = lstat(current)
        if found is None:
            return None
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a folder"
            shown = current.relative_to(root).as_posix()
            raise ContentError(f"`{path}` cannot be written: `{shown}` is {kind}", hint=f"move `{shown}` away")
    found = lstat(current / parts[-1])
    if found is None or stat.S_ISREG(found.st_mode):
        return found
    kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a symbolic link or a device"
    raise ContentError(f"`{path}` cannot be written: {kind} stands there", hint=f"move `{path}` away")


def lstat(path: Path) -> os.stat_result | None:
    """What stands at a path itself; None for nothing. Raises ContentError where nobody may look."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise ContentError(f"`{path.name}` cannot be looked at", hint="see who may read the folder") from None


def read(root: Path, path: str) -> bytes | None:
    """Bytes at a local path; None for nothing. Raises ContentError as `inspect` does."""
    if inspect(root, path) is None:
        return None
    try:
        return (root / path).read_bytes()
    except OSError as error:
        raise ContentError(f"`{path}` cannot be read: {error.strerror}", hint="see who may read it") from None
