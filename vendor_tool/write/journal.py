"""Tree to disk, all or nothing: staged, synced, swapped in one go, and mended by the next run if it was killed.

What a run means to do stands in `.vendor-tool/journal.json` before the first file is touched. Once it is there, a
run that dies is finished by the next one; before that, nothing has changed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vendor_tool.errors import UsageError
from vendor_tool.model import Blob
from vendor_tool.paths import unsafe
from vendor_tool.write.paths import FOLDER, inspect

JOURNAL = "journal.json"
STAGE = "stage"
# past this many files one sync of the whole disk is cheaper than one of each file
FSYNC_EACH = 200


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
    folders: dict[str, bool] = {}
    existing = {path: inspect(root, path, folders) for path in steps}
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
    except KeyboardInterrupt:
        _roll_back(root, plan)
        _finish(root)
        raise
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
    top, beside = str(root), str(stage)
    umask = os.umask(0)
    os.umask(umask)
    each = len(steps) <= FSYNC_EACH
    for folder in {path.rpartition("/")[0] for path in steps}:
        _writable(root, folder)
    for number, (path, blob) in enumerate(steps.items()):
        old = existing[path]
        if old is not None:
            _keep(f"{top}/{path}", f"{beside}/old-{number}")
        if blob is not None:
            mode = (0o777 if blob.executable else 0o666) & ~umask
            _write_file(f"{beside}/new-{number}", blob.data, mode, sync=each)
        plan.append({"path": path, "new": blob is not None, "old": old is not None, "number": number})
    if not each:
        _sync_disk(stage)
    return plan


def _writable(root: Path, folder: str) -> None:
    """Find a folder that refuses before anything is swapped; a rename needs leave of the folder, not of the file."""
    parent = root / folder
    while not parent.exists():
        parent = parent.parent
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(parent.relative_to(root.parent)))


def _keep(source: str, copy: str) -> None:
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)


def _write_file(path: str, data: bytes, mode: int, *, sync: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def _sync_disk(folder: Path) -> None:
    """Wait for all that was written to the disk that a folder lies on, and for no other disk where the system can."""
    import ctypes  # slow to load

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        os.sync()
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(handle) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    finally:
        os.close(handle)


def _write_journal(root: Path, plan: list[dict[str, Any]]) -> None:
    folder = root / FOLDER
    temporary = folder / f"{JOURNAL}.part"
    temporary.unlink(missing_ok=True)
    _write_file(
        str(temporary),
        json.dumps({"version": 1, "stage": _identity(folder / STAGE), "plan": plan}).encode(),
        0o666,
        sync=True,
    )
    _sync_folder(folder / STAGE)
    temporary.replace(folder / JOURNAL)
    _sync_folder(folder)


def _identity(stage: Path) -> list[int]:
    """What no clone of a repository can know: a journal that came with one must not be carried out."""
    found = stage.lstat()
    return [found.st_dev, found.st_ino]


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
    top, beside = str(root), str(stage)
    folders = set()
    for step in plan:
        target = f"{top}/{step['path']}"
        try:
            if step["new"]:
                os.replace(f"{beside}/new-{step['number']}", target)  # noqa: PTH105 - there may be ten thousand
                folders.add(step["path"].rpartition("/")[0])
            else:
                os.unlink(target)  # noqa: PTH108
        except FileNotFoundError:  # done before
            continue
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


def _read_journal(root: Path, journal: Path) -> list[dict[str, Any]]:
    """The plan of a killed run. Raises UsageError for what this tool did not write here."""
    plan: list[dict[str, Any]] = []
    try:
        content = json.loads(journal.read_bytes())
        plan = [
            {
                "path": str(step["path"]),
                "new": step["new"] is True,
                "old": step["old"] is True,
                "number": int(step["number"]),
            }
            for step in content["plan"]
        ]
        known = content["stage"] == _identity(root / FOLDER / STAGE)
    except (ValueError, KeyError, TypeError, OSError):
        known = False
    sound = all(not unsafe(step["path"].removeprefix(f"{FOLDER}/merge/")) for step in plan)
    if not known or not sound:
        raise UsageError(
            f"`{FOLDER}/{JOURNAL}` was not written by a run in this folder",
            hint=f"see `git status`, then remove `{FOLDER}` and run this again",
        )
    return plan


def recover(root: Path) -> bool:
    """End what a killed run began: finish it where its journal is whole, else throw its stage away."""
    folder = root / FOLDER
    journal = folder / JOURNAL
    if not journal.exists():
        shutil.rmtree(folder / STAGE, ignore_errors=True)
        (folder / f"{JOURNAL}.part").unlink(missing_ok=True)
        return False
    plan = _read_journal(root, journal)
    for step in plan:
        inspect(root, step["path"])
    try:
        _swap(root, plan)
    except OSError as error:
        raise _refused(error) from None
    _finish(root)
    return True
