"""`check`: gather what stands on the disk, offline; `--rebuild`: derive every file again from upstream."""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from vendor_tool import evidence, legal, plan, write
from vendor_tool.checks import drift
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding, Side
from vendor_tool.known_bad import known_bad
from vendor_tool.model import Access, BuiltFile, Lock, Recorded, Upstream
from vendor_tool.pipeline import state
from vendor_tool.pipeline.disk import Folders, litter
from vendor_tool.values import replace


def known(lock: Lock, names: Collection[str]) -> tuple[str, ...]:
    """The names, all of which must be upstreams of the lock; UsageError otherwise."""
    return tuple(one.upstream.name for one in plan.select(lock, names)) if names else ()


def check(lock: Lock, names: Collection[str], cache: Path | None = None) -> list[Finding]:
    """Compare record, disk and documents, without network and without a child process."""
    chosen = tuple(name for name in lock.upstreams if not names or name in names)
    texts = {
        name: state.legal_files(found) if (found := lock.upstreams[name].resolved) else () for name in lock.upstreams
    }
    disk: dict[str, drift.Standing] = {}
    patches: dict[str, str | None] = {}
    folders = Folders(str(lock.root))
    for name in chosen:
        upstream = lock.upstreams[name]
        for item in (*(upstream.resolved.files if upstream.resolved else ()), *texts[name]):
            disk[item.to] = _standing(item, folders, cache)
        patches |= state.patch_digests(lock, upstream)
    stale = state.stale(lock) if not names else {}
    stray = unexpected(lock, chosen, loose=not names)
    contents = {**stale, **{path: standing[0] for path in stray if (standing := folders.read(path))}}
    subject = drift.Subject(
        lock=lock,
        names=chosen,
        disk=disk,
        legal=texts,
        patches=patches,
        stale={path: data is not None for path, data in stale.items()},
        unexpected=stray,
        digests={path: hashlib.sha256(data).hexdigest() for path, data in contents.items() if data is not None},
        orphans=state.orphans(lock) if not names else (),
        pending=write.pending(lock.root),
    )
    return list(drift.check(subject))


def verified(lock: Lock, names: Collection[str]) -> list[str]:
    """Who saw which kernels of the named entries, or of all, compute the right thing; nothing where nobody ever did."""
    chosen = [one for one in lock.upstreams.values() if one.resolved and (one.resolved.files or one.resolved.imports)]
    if not any(evidence.recorded(one.resolved) for one in chosen):
        return []
    lines, bad = [], known_bad(lock)
    for upstream in chosen:
        if upstream.resolved and (not names or upstream.name in names):
            hashes = state.evidence_digests(lock, upstream.resolved) if evidence.recorded(upstream.resolved) else {}
            lines.append(f"parity: {upstream.name}: {evidence.told(upstream, hashes, bad)}")
    return lines


def _standing(item: Recorded, folders: Folders, cache: Path | None) -> drift.Standing:
    found = folders.read(item.to)
    if found is None:
        return drift.Standing(None)
    data, executable = found
    digest = hashlib.sha256(data).hexdigest()
    recorded = _recorded(item, cache) if digest != item.sha256 else None
    if recorded is None:
        return drift.Standing(digest, executable)
    return drift.Standing(digest, executable, _line(recorded, data), layout=_layout(recorded, data))


def _recorded(item: Recorded, cache: Path | None) -> bytes | None:
    """The recorded bytes, where they are in the cache."""
    if cache is None:
        return None
    try:
        recorded = state.final_copy(cache, item.sha256).read_bytes()
    except OSError:
        return None
    return recorded if hashlib.sha256(recorded).hexdigest() == item.sha256 else None


def _layout(wanted: bytes, disk: bytes) -> bool:
    """Whether two versions differ as a formatter's input and output do."""
    from vendor_tool.outdated.formatting import difference

    return difference(wanted, disk) in ("format", "imports")


# ---- files that nobody vendored ---------------------------------------------------------------------------


def unexpected(lock: Lock, names: Collection[str], *, loose: bool) -> dict[str, str]:
    """Files in an entry's folder, or among the licence texts, that no entry claims: local path to upstream.

    An entry without `to:` has no folder. Texts that stand in no entry's folder belong to ""; `loose` asks for them.
    """
    claimed = {path for paths in state.owners(lock).values() for path in paths} | set(state.generated_paths(lock))
    claimed |= {lock.path.name, *(spec.to for spec in lock.shims.values())}
    found = {}
    for name in names:
        upstream = lock.upstreams[name]
        if not upstream.to or not upstream.resolved or not upstream.files:
            continue
        for path in _walk(lock.root, upstream.to):
            below = path[len(upstream.to) + 1 :]
            local = any(fnmatch.fnmatchcase(below, pattern) for pattern in upstream.local)
            if path not in claimed and not local and not _deeper(lock, upstream, path):
                found[path] = name
    for path in (path for folder in state.legal_folders(lock) for path in _walk(lock.root, folder)):
        owner = next((one.name for one in lock.upstreams.values() if path.startswith(f"{legal.folder(one)}/")), "")
        if path not in claimed and (owner in names or (loose and not owner)):
            found.setdefault(path, owner)
    return found


def _deeper(lock: Lock, upstream: Upstream, path: str) -> bool:
    """Whether another entry's folder, inside this one's, holds the path."""
    return any(
        other.to.startswith(f"{upstream.to}/") and path.startswith(f"{other.to}/") for other in lock.upstreams.values()
    )


def _walk(root: Path, folder: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if litter(entry.name):
            continue
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, path)
        else:
            yield path


# ---- codegen ----------------------------------------------------------------------------------------------


def codegen(lock: Lock, names: Collection[str], access: Access) -> tuple[list[Finding], list[str]]:
    """Trace and lower the kernels that `codegen:` names from upstream's files and from ours, and compare.

    Also gives a line for each kernel that was proven equal.

    Raises ParityNotRun where the runtime is not installed, UsageError where no entry has `codegen:`.
    """
    from vendor_tool import codegen as proof
    from vendor_tool.pipeline import build as builds

    chosen = [one for one in lock.upstreams.values() if (not names or one.name in names) and one.codegen is not None]
    if not chosen:
        raise UsageError("no entry has `codegen:`", hint="see `codegen` in docs/explanation/shim.md")
    made = state.generated(lock)
    stand_ins = {spec.to: made[spec.to].data for spec in lock.shims.values() if spec.to in made}
    found: list[Finding] = []
    equal: list[str] = []
    for fetched in builds.gather(lock, [(one, one.resolved.revision) for one in chosen if one.resolved], access):
        upstream = fetched.upstream
        assert upstream.codegen is not None
        spec = proof.read(upstream.codegen, upstream.from_)
        results = proof.compare(builds.make(lock, fetched, access).files, stand_ins, spec)
        found += [replace(one, upstream=upstream.name, lock_line=upstream.at.line) for one in proof.findings(results)]
        equal += proof.told(results)
    return found, equal


# ---- rebuild ----------------------------------------------------------------------------------------------


def rebuild(lock: Lock, names: Collection[str], access: Access) -> list[Finding]:
    """Derive every file again from upstream's own listing and bytes; compare them with the disk and with the record."""
    from vendor_tool.pipeline import build as builds

    chosen = [one for one in lock.upstreams.values() if (not names or one.name in names) and one.resolved]
    wanted = [(one, one.resolved.revision) for one in chosen if one.resolved]
    findings: list[Finding] = []
    for fetched in builds.gather(lock, wanted, access, trust=False):
        findings += _compare(lock, fetched.upstream, builds.make(lock, fetched, access).files)
    return findings


def _compare(lock: Lock, upstream: Upstream, files: Sequence[BuiltFile]) -> Iterator[Finding]:
    from vendor_tool import transform
    from vendor_tool.outdated.formatting import explained

    assert upstream.resolved is not None
    recorded = {item.to: item for item in upstream.resolved.files}
    force = f"vendor-tool sync --force {upstream.name}"
    tools = explained(upstream.resolved.tools, transform.versions(upstream.rules, upstream.files, lock.shims))

    def finding(rule: str, message: str, path: str, line: int | None, side: Side) -> Finding:
        known = recorded.get(path)
        place = known.at.line if known else upstream.at.line
        data = state.on_disk(lock, path)[0] if rule == "drift-rebuild" else None
        digest = drift.short(hashlib.sha256(data).hexdigest()) if data is not None else None
        return Finding(rule, "error", message, path, line, place, upstream.name, side, force, digest)

    for file in files:
        known = recorded.get(file.to)
        disk = state.on_disk(lock, file.to)[0]
        if known is not None and known.blob != file.blob:
            what = f"`{file.path}` is `{file.blob[:12]}` upstream, the record says `{known.blob[:12]}`"
            yield finding("drift-upstream-blob", what, file.to, 1, "record")
        true_record = known is not None and known.sha256 == hashlib.sha256(file.final).hexdigest()
        if disk == file.final and true_record:
            continue
        side: Side = "record" if disk == file.final else "local" if true_record else "both"
        what = f"`{file.to}` is not what `{file.path}` gives with the entry's rules and patches"
        if disk is not None and disk != file.final and _layout(file.final, disk):
            what += f": {drift.LAYOUT}" + (f"; {tools}" if tools else "")
        yield finding("drift-rebuild", what, file.to, _line(file.final, disk), side)
    for to in sorted(recorded.keys() - {file.to for file in files}):
        yield finding("drift-rebuild", f"`{to}` is recorded, and the entry does not make it", to, 1, "record")


def _line(wanted: bytes, disk: bytes | None) -> int:
    if disk is None:
        return 1
    old, new = wanted.split(b"\n"), disk.split(b"\n")
    return next(
        (n for n, pair in enumerate(zip(old, new, strict=False), 1) if pair[0] != pair[1]), min(len(old), len(new))
    )
