"""Tree to disk, all or nothing: staged, synced, swapped in one go, and mended by the next run if it was killed.

What a run means to do stands in `.vendor-tool/journal.json` before the first file is touched. Once it is there, a
run that dies is finished by the next one; before that, nothing has changed. Paths that lead through a symbolic
link, or to something that is no plain file, are refused before anything is staged.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vendor_tool.errors import ContentError, UsageError
from vendor_tool.model import Blob

FOLDER = ".vendor-tool"
JOURNAL = "journal.json"
STAGE = "stage"
PATIENCE = 60.0  # seconds to wait for another run
# past this many files one sync of the whole disk is cheaper than one of each file
FSYNC_EACH = 200


# ---- one run at a time ------------------------------------------------------------------------------------


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the project's run lock; waits for another run, then raises UsageError. Ends what a killed run left."""
    folder, handle = _acquire(root)
    try:
        recover(root)
        yield
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
        found = _lstat(folder / "lock")
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


# ---- paths ------------------------------------------------------------------------------------------------


def inspect(root: Path, path: str) -> os.stat_result | None:
    """What stands at a local path; None for nothing.

    Raises ContentError where the way there leads through a symbolic link or a file, or where the path itself is a
    link, a folder or a device: this tool neither follows nor replaces those.
    """
    current = root
    parts = path.split("/")
    for part in parts[:-1]:
        current = current / part
        found = _lstat(current)
        if found is None:
            return None
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a folder"
            shown = current.relative_to(root).as_posix()
            raise ContentError(f"`{path}` cannot be written: `{shown}` is {kind}", hint=f"move `{shown}` away")
    found = _lstat(current / parts[-1])
    if found is None or stat.S_ISREG(found.st_mode):
        return found
    kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a symbolic link or a device"
    raise ContentError(f"`{path}` cannot be written: {kind} stands there", hint=f"move `{path}` away")


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read(root: Path, path: str) -> bytes | None:
    """Bytes at a local path; None for nothing. Raises ContentError as `inspect` does."""
    if inspect(root, path) is None:
        return None
    try:
        return (root / path).read_bytes()
    except OSError as error:
        raise ContentError(f"`{path}` cannot be read: {error.strerror}", hint="see who may read it") from None


# ---- the swap ---------------------------------------------------------------------------------------------


def commit(root: Path, changes: Mapping[str, Blob | None], last: tuple[str, bytes] | None = None) -> None:
    """Write, replace and (for None) remove files, all or none; `last` is written after everything else.

    Raises ContentError for a path that may not be written and UsageError where the disk refuses; then nothing has
    changed.
    """
    steps = dict(changes)
    if last is not None:
        steps[last[0]] = Blob(last[1])
    if not steps:
        return
    existing = {path: inspect(root, path) for path in steps}
    stage = root / FOLDER / STAGE
    try:
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        plan = _stage(root, steps, existing, stage)
        _write_journal(root, plan)
    except OSError as error:
        shutil.rmtree(stage, ignore_errors=True)
        raise _refused(error) from None
    try:
        _swap(root, plan)
    except OSError as error:
        _roll_back(root, plan)
        _finish(root)
        raise _refused(error) from None
    _finish(root)
    _remove_empty_folders(root, [path for path, blob in changes.items() if blob is None])


def _refused(error: OSError) -> UsageError:
    where = f" (`{error.filename}`)" if error.filename else ""
    hint = {
        errno.ENOSPC: "free some room on the disk; nothing was changed",
        errno.EXDEV: f"`{FOLDER}` and the target lie on two disks; nothing was changed",
    }.get(error.errno or 0, "see who may write there; nothing was changed")
    return UsageError(f"cannot write{where}: {error.strerror}", hint=hint)


def _stage(
    root: Path, steps: Mapping[str, Blob | None], existing: Mapping[str, os.stat_result | None], stage: Path
) -> list[dict[str, Any]]:
    plan = []
    umask = os.umask(0)
    os.umask(umask)
    each = len(steps) <= FSYNC_EACH
    for folder in {path.rpartition("/")[0] for path in steps}:
        _writable(root, folder)
    for number, (path, blob) in enumerate(steps.items()):
        old = existing[path]
        if old is not None:
            _keep(root / path, stage / f"old-{number}")
        if blob is not None:
            mode = (0o777 if blob.executable else 0o666) & ~umask
            _write_file(stage / f"new-{number}", blob.data, mode, sync=each)
        plan.append({"path": path, "new": blob is not None, "old": old is not None, "number": number})
    if not each:
        os.sync()
    return plan


def _writable(root: Path, folder: str) -> None:
    """Find a folder that refuses before anything is swapped; a rename needs leave of the folder, not of the file."""
    parent = root / folder
    while not parent.exists():
        parent = parent.parent
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(parent.relative_to(root.parent)))


def _keep(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)


def _write_file(path: Path, data: bytes, mode: int, *, sync: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def _write_journal(root: Path, plan: list[dict[str, Any]]) -> None:
    folder = root / FOLDER
    temporary = folder / f"{JOURNAL}.part"
    temporary.unlink(missing_ok=True)
    _write_file(temporary, json.dumps({"version": 1, "plan": plan}).encode(), 0o666, sync=True)
    _sync_folder(folder / STAGE)
    temporary.replace(folder / JOURNAL)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(root: Path, plan: list[dict[str, Any]]) -> None:
    """Carry out the plan; steps that were done before are passed over, so that it can be run again."""
    stage = root / FOLDER / STAGE
    for folder in {step["path"].rpartition("/")[0] for step in plan if step["new"]}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    folders = set()
    for step in plan:
        target = root / step["path"]
        if not step["new"]:
            target.unlink(missing_ok=True)
            continue
        with contextlib.suppress(FileNotFoundError):  # done before
            (stage / f"new-{step['number']}").replace(target)
            folders.add(step["path"].rpartition("/")[0])
    for folder in folders:
        _sync_folder(root / folder)


def _roll_back(root: Path, plan: list[dict[str, Any]]) -> None:
    stage = root / FOLDER / STAGE
    for step in plan:
        target = root / step["path"]
        if step["old"]:
            with contextlib.suppress(OSError):
                _keep_back(stage / f"old-{step['number']}", target)
        elif step["new"] and not (stage / f"new-{step['number']}").exists():
            target.unlink(missing_ok=True)
    _remove_empty_folders(root, [step["path"] for step in plan])


def _keep_back(copy: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    copy.replace(target)


def _finish(root: Path) -> None:
    folder = root / FOLDER
    (folder / JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(folder / STAGE, ignore_errors=True)


def _remove_empty_folders(root: Path, paths: list[str]) -> None:
    for path in paths:
        parent = (root / path).parent
        while parent != root:
            try:
                parent.rmdir()
            except OSError:
                break
            parent = parent.parent


def pending(root: Path) -> bool:
    """Whether a run was killed after it began to swap files."""
    return (root / FOLDER / JOURNAL).exists()


def left_over(root: Path) -> bool:
    """Whether a killed run left anything behind, of whatever age: the next run takes it away."""
    try:
        names = {entry.name for entry in os.scandir(root / FOLDER)}
    except OSError:
        return False
    if "merge" not in names or names - {"merge", ".gitignore", "lock"}:
        return True
    stopped = [entry.path for entry in os.scandir(root / FOLDER / "merge")]
    return not stopped or not all(os.path.exists(f"{path}/session.json") for path in stopped)  # noqa: PTH110


def recover(root: Path) -> bool:
    """End what a killed run began: finish it where its journal is whole, else throw its stage away."""
    folder = root / FOLDER
    journal = folder / JOURNAL
    if not journal.exists():
        shutil.rmtree(folder / STAGE, ignore_errors=True)
        (folder / f"{JOURNAL}.part").unlink(missing_ok=True)
        return False
    try:
        content = json.loads(journal.read_bytes())
        plan = content["plan"]
    except (ValueError, KeyError, OSError):
        raise UsageError(
            f"`{FOLDER}/{JOURNAL}` cannot be read", hint=f"see `git status`, then remove `{FOLDER}` and run this again"
        ) from None
    for step in plan:
        inspect(root, step["path"])
    try:
        _swap(root, plan)
    except OSError as error:
        raise _refused(error) from None
    _finish(root)
    return True
