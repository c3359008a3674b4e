"""One run at a time in a project."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from vendor_tool.errors import UsageError
from vendor_tool.write.journal import recover
from vendor_tool.write.paths import FOLDER, lstat

PATIENCE = 60.0  # seconds to wait for another run


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[bool]:
    """Hold the project's run lock; waits for another run, then raises UsageError. Ends what a killed run left: the
    value says whether there was anything to end.
    """
    folder, handle = _acquire(root)
    try:
        yield recover(root)
    finally:
        _tidy(folder)
        os.close(handle)


def _acquire(root: Path) -> tuple[Path, int]:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            folder = own_folder(root)
            handle = _open_lock(folder)
        except FileNotFoundError:  # the run before took the folder away in between
            continue
        _wait(handle, until)
        found = lstat(f"{folder}/lock")
        # the run before may have removed the file that this one waited on: then nobody else would wait on it
        if found is not None and found.st_ino == os.fstat(handle).st_ino:
            return folder, handle
        os.close(handle)


def own_folder(root: Path) -> Path:
    """The tool's own folder in a project, made where it is missing, and kept out of git."""
    folder = root / FOLDER
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"`{FOLDER}` in `{root}` is not a folder", hint=f"remove `{FOLDER}`")
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except FileNotFoundError:
        if root.is_dir():
            raise
        raise UsageError(f"`{root}` is not there", hint="name a lock in a folder that exists") from None
    except OSError as error:
        raise UsageError(f"cannot write in `{root}`: {error.strerror}", hint="see who owns the folder") from None
    return folder


def _open_lock(folder: Path) -> int:
    try:
        return os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"cannot open `{FOLDER}/lock`: {error.strerror}", hint="see who owns the folder") from None


def _wait(handle: int, until: float) -> None:
    import fcntl

    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > until:
                raise UsageError(
                    "another vendor-tool run holds this project", hint="wait for it to end, then run this again"
                ) from None
            time.sleep(0.05)


def _tidy(folder: Path) -> None:
    """Leave no folder behind where nothing of use lies in it."""
    with contextlib.suppress(OSError):
        (folder / "merge").rmdir()
    with contextlib.suppress(OSError):
        if {entry.name for entry in folder.iterdir()} <= {".gitignore", "lock"}:
            (folder / "lock").unlink(missing_ok=True)
            (folder / ".gitignore").unlink(missing_ok=True)
            folder.rmdir()
