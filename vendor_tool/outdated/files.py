"""Which of our files an upstream changed, moved or took away: by listing and blob ids, without reading one file."""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final, Literal

from vendor_tool import plan
from vendor_tool.model import Entry, FileSpec, Recorded, Resolved, Snapshot, Upstream
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

INIT: Final = "__init__.py"
NOTICE: Final = pattern(r"NOTICES?(?:\.(?:txt|md|rst|markdown|html))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one recorded file. `new_path` is where it is now, None where it is gone."""

    recorded: Recorded
    kind: Literal["changed", "mode", "renamed", "gone"]
    new_path: str | None
    new_blob: str | None
    candidates: tuple[str, ...] = ()  # of a file that is gone: paths that may hold what was in it


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that the pin does not have, and that an item of `files:` takes."""

    path: str  # upstream path
    to: str  # local path that it would have
    spec: FileSpec


@dataclass(frozen=True, slots=True)
class Changes:
    """An upstream's newest listing against the record."""

    files: tuple[FileChange, ...]  # sorted by local path
    elsewhere: int | None  # paths that differ and are not ours; None where the old listing is not known
    license: Literal["changed", "gone"] | None
    notice: Literal["changed", "gone", "added"] | None
    new: tuple[NewFile, ...] = ()  # sorted by local path
    legal_blobs: tuple[str, ...] = ()  # of the licence and NOTICE files as they are now, where one changed
    beside: tuple[str, ...] = ()  # upstream paths that are new in folders of which every file is ours, and not taken

    @property
    def ours(self) -> bool:
        """Whether an upgrade has other files to write, or fewer, than the record has."""
        return bool(self.files or self.new)


def compare(upstream: Upstream, new: Snapshot, old: Snapshot | None = None) -> Changes:
    """Compare the record with the newest listing; `old`, the listing at the pin, adds what happened elsewhere.

    A file counts as renamed where exactly one path that is new holds its very bytes.
    """
    resolved = upstream.resolved
    assert resolved is not None
    known = old is not None and not old.partial
    before = old.entries if old is not None and known else {}
    changes = [_change(file, new, before) for file in resolved.files if file.blob]
    ours = {file.path for file in resolved.files}
    # an item of `files:` that was edited since the sync can match what has long been there
    taken = _taken(upstream, new, {*ours, *before}) if known or upstream.intent == resolved.intent else ()
    license_ = _legal(resolved.license.path, resolved.license.blob, new) if resolved.license else None
    notice = _notice(upstream, resolved, new)
    return Changes(
        files=tuple(change for change in changes if change is not None),
        elsewhere=len(_differing(before, new.entries) - ours) if known else None,
        license=license_,
        notice=notice,
        legal_blobs=_legal_blobs(upstream, resolved, new) if license_ or notice else (),
        new=taken,
        beside=tuple(_beside(ours, before, new, _told(upstream, taken, changes))) if known else (),
    )


def _taken(upstream: Upstream, new: Snapshot, known: Collection[str]) -> tuple[NewFile, ...]:
    """What the patterns of `files:` match that is not known; of two patterns the last one counts, as in a sync."""
    patterns = [(spec, plan.glob(spec.path)) for spec in reversed(upstream.files) if plan.is_glob(spec.path)]
    prefix = f"{upstream.from_}/" if upstream.from_ else ""
    found = []
    for path in new.entries if patterns else ():
        if path not in known and path.startswith(prefix):
            below = path[len(prefix) :]
            spec = next((spec for spec, pattern in patterns if pattern.fullmatch(below)), None)
            if spec is not None:
                found.append(NewFile(path, plan.join(upstream.to, below), spec))
    return tuple(sorted(found, key=lambda file: file.to))


def _told(upstream: Upstream, taken: Collection[NewFile], changes: Collection[FileChange | None]) -> frozenset[str]:
    """Paths that are new and told otherwise: patterns take them, a file of ours went there, or `files:` names them."""
    named = {plan.join(upstream.from_, spec.path) for spec in upstream.files if not plan.is_glob(spec.path)}
    went = {
        path
        for change in changes
        if change is not None and change.kind != "changed"
        for path in (change.new_path, *change.candidates)
    }
    return frozenset({file.path for file in taken} | named | {path for path in went if path is not None})


def _beside(ours: Collection[str], before: Mapping[str, Entry], new: Snapshot, taken: Collection[str]) -> Iterator[str]:
    """Files that are new in a folder of which an entry lists every file of their kind, and more than one."""
    listed = Counter(_kind(path) for path in ours if posixpath.basename(path) != INIT)
    there = Counter(_kind(path) for path in before if posixpath.basename(path) != INIT)
    whole = {kind for kind, number in listed.items() if number == there[kind] > 1}
    for path in new.entries if whole else ():
        if path not in before and path not in taken and _kind(path) in whole and posixpath.basename(path) != INIT:
            yield path


def _kind(path: str) -> tuple[str, str]:
    folder, name = posixpath.split(path)
    return folder, posixpath.splitext(name)[1]


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
        return None if stands_beside(path, blob, new) else "gone"
    return None if entry.oid == blob else "changed"


def stands_beside(path: str, blob: str, new: Snapshot) -> bool:
    """Whether the folder of a path holds the same content under another name: `LICENSE` became `LICENSE.md`."""
    folder = posixpath.dirname(path)
    return any(entry.oid == blob for other, entry in new.entries.items() if posixpath.dirname(other) == folder)


def _legal_blobs(upstream: Upstream, resolved: Resolved, new: Snapshot) -> tuple[str, ...]:
    known = [one.path for one in (resolved.license, resolved.notice) if one is not None]
    paths = {*_notices(upstream, new), *(path for path in known if path in new.entries)}
    return tuple(new.entries[path].oid for path in sorted(paths))


def _notices(upstream: Upstream, new: Snapshot) -> list[str]:
    """The NOTICE files of the folder that ours come from and of those above it, as a sync looks for them."""
    folders = {"", upstream.from_, *(str(parent) for parent in PurePosixPath(upstream.from_).parents)}
    found = (path for path in new.entries if posixpath.dirname(path) in folders)
    return [path for path in found if NOTICE.fullmatch(posixpath.basename(path))]


def _notice(upstream: Upstream, resolved: Resolved, new: Snapshot) -> Literal["changed", "gone", "added"] | None:
    found, known = _notices(upstream, new), resolved.notice
    if known is None:
        return "added" if found else None
    # the nearest one speaks for our files
    nearer = any(
        posixpath.dirname(path).startswith(posixpath.dirname(known.path))
        for path in found
        if posixpath.dirname(path) != posixpath.dirname(known.path)
    )
    return "added" if nearer else _legal(known.path, known.blob, new)
