"""Which of our files an upstream changed, moved or took away: by listing and blob ids, without reading one file."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final, Literal

from vendor_tool.model import Entry, Recorded, Resolved, Snapshot
from vendor_tool.values import dataclass

NOTICE: Final = re.compile(r"NOTICE(?:\.(?:txt|md|rst))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one recorded file. `new_path` is where it is now, None where it is gone."""

    recorded: Recorded
    kind: Literal["changed", "mode", "renamed", "gone"]
    new_path: str | None
    new_blob: str | None
    candidates: tuple[str, ...] = ()  # of a file that is gone: paths that may hold what was in it


@dataclass(frozen=True, slots=True)
class Changes:
    """An upstream's newest listing against the record."""

    files: tuple[FileChange, ...]  # sorted by local path
    elsewhere: int | None  # paths that differ and are not ours; None where the old listing is not known
    license: Literal["changed", "gone"] | None
    notice: Literal["changed", "gone", "added"] | None


def compare(resolved: Resolved, new: Snapshot, old: Snapshot | None = None) -> Changes:
    """Compare the record with the newest listing; `old`, the listing at the pin, adds what happened elsewhere.

    A file counts as renamed where exactly one path that is new holds its very bytes.
    """
    known = old is not None and not old.partial
    before = old.entries if old is not None and known else {}
    changes = [_change(file, new, before) for file in resolved.files if file.blob]
    ours = {file.path for file in resolved.files}
    return Changes(
        files=tuple(change for change in changes if change is not None),
        elsewhere=len(_differing(before, new.entries) - ours) if known else None,
        license=_legal(resolved.license.path, resolved.license.blob, new) if resolved.license else None,
        notice=_notice(resolved, new),
    )


def _change(file: Recorded, new: Snapshot, before: Mapping[str, Entry]) -> FileChange | None:
    entry = new.entries.get(file.path)
    if entry is None:
        same = [path for path, other in new.entries.items() if other.oid == file.blob and path not in before]
        if len(same) == 1:
            return FileChange(file, "renamed", same[0], file.blob)
        return FileChange(file, "gone", None, None, tuple(same) or _namesakes(file.path, new, before))
    if entry.oid != file.blob:
        return FileChange(file, "changed", file.path, entry.oid)
    if entry.mode != ("100755" if file.executable else "100644"):
        return FileChange(file, "mode", file.path, entry.oid)
    return None


def _namesakes(path: str, new: Snapshot, before: Mapping[str, Entry]) -> tuple[str, ...]:
    """Paths with the file's name, in the folders nearest to it first; new ones alone where the old ones are known."""
    wanted = PurePosixPath(path)
    found = [PurePosixPath(p) for p in new.entries if p not in before and PurePosixPath(p).name == wanted.name]
    return tuple(str(p) for p in sorted(found, key=lambda p: (-_shared(p, wanted), str(p)))[:5])


def _shared(one: PurePosixPath, other: PurePosixPath) -> int:
    return len(set(one.parents) & set(other.parents))


def _differing(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> set[str]:
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


def _legal(path: str, blob: str, new: Snapshot) -> Literal["changed", "gone"] | None:
    entry = new.entries.get(path)
    if entry is None:
        return "gone"
    return None if entry.oid == blob else "changed"


def _notice(resolved: Resolved, new: Snapshot) -> Literal["changed", "gone", "added"] | None:
    if resolved.notice is not None:
        return _legal(resolved.notice.path, resolved.notice.blob, new)
    return "added" if any(NOTICE.fullmatch(path) for path in new.entries) else None
