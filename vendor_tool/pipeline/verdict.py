"""That nothing was to be done, remembered together with the bytes that it was told from.

`check`, and a `sync` with nothing to do, follow from the lock, from the files and folders that they look at, and from
this program. Where all of these are the same, so is the answer, and neither the lock's values nor the documents are
made again. Every file is read and hashed all the same. What is remembered lies in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import json
import os

from vendor_tool import __version__
from vendor_tool.pipeline import program
from vendor_tool.pipeline.disk import Folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from vendor_tool.model import Lock

FORMAT = 1
OWN = ".vendor-tool"  # stands there while a run is at work, was killed or has stopped at a conflict


def recall(lock: Path, cache: Path, *, question: str) -> tuple[str, str] | None:
    """What was said to stdout and stderr when all was well, where nothing has changed since; None otherwise.

    `question` is the command with all that shapes its answer but files.
    """
    root = str(lock.parent)
    if os.path.lexists(f"{root}/{OWN}"):
        return None
    try:
        memory = json.loads(_place(cache, lock.read_bytes(), question).read_bytes())
        files, absent, names = memory["files"], memory["absent"], memory["folders"]
        said = str(memory["out"]), str(memory["err"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    folders = Folders(root)
    for path, sha256, executable in files:
        found = folders.read(path)
        if found is None or executable not in (found[1], None) or hashlib.sha256(found[0]).hexdigest() != sha256:
            return None
    if any(os.path.lexists(f"{root}/{path}") for path in absent):
        return None
    return said if all(folders.names(folder) == inside for folder, inside in names.items()) else None


def remember(lock: Lock, cache: Path, *, question: str, out: str = "", err: str = "") -> None:
    """Keep an answer that says that all is as `lock` has it. A cache that cannot be written is no failure."""
    import contextlib

    path = _place(cache, lock.path.read_bytes(), question)
    content = json.dumps({**_evidence(lock), "out": out, "err": err}, separators=(",", ":"))
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(path)


def _place(cache: Path, data: bytes, question: str) -> Path:
    key = hashlib.sha256(f"{FORMAT}\0{__version__}\0{program.files()}\0{question}\0".encode() + data).hexdigest()
    return cache / "verdict" / key[:40]


def _evidence(lock: Lock) -> dict[str, object]:
    """What the answer rests on: from the record and from what the lock makes, and the names that stand beside it.

    Every file that `check` looks at must be in it, also those that are not there.
    """
    from vendor_tool import documents, fence
    from vendor_tool.pipeline import state

    files: dict[str, tuple[str, bool | None]] = {}
    for path, blob in state.generated(lock).items():
        files[path] = (hashlib.sha256(blob.data).hexdigest(), None)
    for upstream in lock.upstreams.values():
        found = upstream.resolved
        for item in (*found.files, *state.legal_files(found)) if found else ():
            files[item.to] = (item.sha256, item.executable)
        files |= {path: (sha256, None) for path, sha256 in state.patch_digests(lock, upstream).items() if sha256}
    absent = []
    for path in (*documents.inputs(lock), *fence.CONFIGS, *state.pages(lock)):
        if path not in files:
            data = state.on_disk(lock, path)[0]
            if data is None:
                absent.append(path)
            else:
                files[path] = (hashlib.sha256(data).hexdigest(), None)
    return {
        "files": [(path, *facts) for path, facts in files.items()],
        "absent": absent,
        "folders": _names(
            Folders(str(lock.root)),
            [*state.legal_folders(lock), *(one.to for one in lock.upstreams.values() if one.files and one.to)],
        ),
    }


def _names(folders: Folders, tops: list[str]) -> dict[str, list[str] | None]:
    """The names in folders and in all folders below them."""
    found: dict[str, list[str] | None] = {}
    left = list(tops)
    while left:
        folder = left.pop()
        names = found[folder] = folders.names(folder)
        left += [below for name in names or () if folders.real(below := f"{folder}/{name}")]
    return found
