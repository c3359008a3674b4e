"""How the disk stands to the lock and its record: what is edited, stale, owned. Offline, without child processes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vendor_tool import documents, evidence, legal, plan, write
from vendor_tool.errors import ContentError
from vendor_tool.model import Blob, Lock, Recorded, Resolved, ShimSpec, Tree, Upstream
from vendor_tool.paths import unsafe


def up_to_date(lock: Lock, upstreams: Iterable[Upstream]) -> bool:
    """Whether nothing at all is to be done: told from the lock and the disk alone, without network or child process."""
    return all(entry_up_to_date(lock, upstream) for upstream in upstreams) and not stale(lock) and not orphans(lock)


def entry_up_to_date(lock: Lock, upstream: Upstream) -> bool:
    """Whether one entry's files, copies and patches are as recorded, and the record is that of the entry."""
    found = upstream.resolved
    if found is None or not found.sealed or found.revision != upstream.revision or found.intent != upstream.intent:
        return False
    if not legal.placed(upstream):
        return False
    if dict(found.patches) != patch_digests(lock, upstream):
        return False
    return all(as_recorded(lock, item) for item in (*found.files, *legal_files(found)))


def patch_digests(lock: Lock, upstream: Upstream) -> dict[str, str | None]:
    """Local path to sha256 of each patch; None for one that is not there."""
    found = {}
    for spec in upstream.patches:
        data = write.read(lock.root, spec.path)
        found[spec.path] = None if data is None else hashlib.sha256(data).hexdigest()
    return found


def evidence_digests(lock: Lock, found: Resolved) -> dict[str, str | None]:
    """Local path to sha256 of what evidence of parity rests on, as it is on the disk; None for what is not there."""
    paths = (*(file.to for file in found.files), *found.shims, *found.patches)
    return evidence.digests(found, {path: on_disk(lock, path)[0] for path in paths})


def legal_files(found: Resolved) -> tuple[Recorded, ...]:
    """Copies of licence and NOTICE texts as records, so that they are held to their bytes like any other file."""
    if not found.files:  # nothing is copied from an upstream that is only imported, so its licence is not either
        return ()
    once = {file.to: file for file in legal.files(found)}
    return tuple(Recorded(file.path, file.blob, file.to, file.sha256, found.at) for file in once.values())


def legal_folders(lock: Lock) -> tuple[str, ...]:
    """The folders that hold nothing but licence texts of vendored files."""
    vendored = [one for one in lock.upstreams.values() if one.resolved and one.resolved.files]
    return tuple(sorted({legal.folder(one).rpartition("/")[0] for one in vendored}))


def as_recorded(lock: Lock, item: Recorded) -> bool:
    """Whether the file at a record's local path has the record's bytes and mode."""
    data, executable = on_disk(lock, item.to)
    return data is not None and executable == item.executable and hashlib.sha256(data).hexdigest() == item.sha256


def on_disk(lock: Lock, path: str) -> tuple[bytes | None, bool]:
    """Bytes at a local path and whether they are executable; None for nothing, or for what is no plain file."""
    try:
        found = write.inspect(lock.root, path)
        data = write.read(lock.root, path) if found is not None else None
    except ContentError:
        return None, False
    return data, bool(found and found.st_mode & stat.S_IXUSR)


# ---- generated files --------------------------------------------------------------------------------------


def generated(lock: Lock, legal_texts: Mapping[str, bytes] | None = None) -> Tree:
    """Shims, their stubs and documents, all of which follow from the lock, the licence texts and the patches."""
    texts = {}
    for path in documents.inputs(lock):
        data = (legal_texts or {}).get(path)
        data = on_disk(lock, path)[0] if data is None else data
        if data is not None:
            texts[path] = data
    shims = _stand_ins(lock)
    # documents speak of the stand-ins as they will be, not as they are
    pages = documents.render(lock, texts | {path: blob.data for path, blob in shims.items()})
    return {**pages, **shims, **_stubs(lock)}


def _stand_ins(lock: Lock) -> Tree:
    used = {to for one in lock.upstreams.values() if one.resolved for to in one.resolved.shims}
    shims = {}
    for spec in lock.shims.values() if used else ():
        from vendor_tool.transform import shim_standin

        if spec.to in used:
            text = shim_standin.render(spec, known_bad=lock.known_bad, requires=_requires(lock, spec))
            shims[spec.to] = Blob(text)
    return shims


def _stubs(lock: Lock) -> dict[str, Blob]:
    """What type checkers read in the place of stand-ins, where files import from submodules of these."""
    below = _below(lock)
    if not below:
        return {}
    from vendor_tool.transform import shim_stubs

    specs = {spec.to: spec for spec in lock.shims.values()}
    made = [shim_stubs.render(specs[to], names) for to, names in below.items() if to in specs]
    return {path: Blob(data) for files in made for path, data in files.items()}


def _stub_paths(lock: Lock) -> list[str]:
    """Local paths of what type checkers read in the place of stand-ins."""
    below = _below(lock)
    if not below:
        return []
    from vendor_tool.transform import shim_stubs

    return [path for to, names in below.items() for path in shim_stubs.paths(to, names)]


def _below(lock: Lock) -> dict[str, set[str]]:
    """Local path of a stand-in to the names that files of any entry import from its submodules."""
    found: dict[str, set[str]] = {}
    for upstream in lock.upstreams.values():
        if upstream.resolved:
            for to, names in upstream.resolved.shim_names.items():
                found.setdefault(to, set()).update(names)
    return found


def _requires(lock: Lock, spec: ShimSpec) -> dict[str, str]:
    """What the entries that use a stand-in say they need: the stand-in tells it to whoever calls a kernel."""
    found: dict[str, str] = {}
    for upstream in lock.upstreams.values():
        if upstream.resolved and spec.to in upstream.resolved.shims:
            found |= upstream.requires
    return found


def stale(lock: Lock) -> dict[str, bytes | None]:
    """Generated files that are not what the lock makes of them: local path to what stands there."""
    found = {}
    for path, blob in generated(lock).items():
        data = on_disk(lock, path)[0]
        if data != blob.data:
            found[path] = data
    return found


# ---- ownership ----------------------------------------------------------------------------------------------


def owners(lock: Lock) -> dict[str, list[str]]:
    """Local paths by the upstream that writes them."""
    found = {}
    for name, upstream in lock.upstreams.items():
        paths = list(plan.listed(upstream))
        if upstream.resolved:
            paths += [item.to for item in (*upstream.resolved.files, *legal_files(upstream.resolved))]
        found[name] = list(dict.fromkeys(paths))
    return found


def documents_of(lock: Lock) -> list[str]:
    """Local paths of the documents that are generated whole."""
    return [path for path in documents.render(lock, {}) if path != "NOTICE"]


def generated_paths(lock: Lock) -> list[str]:
    """Local paths of shims, their stubs and documents."""
    used = {to for one in lock.upstreams.values() if one.resolved for to in one.resolved.shims}
    return [*documents.render(lock, {}), *used, *_stub_paths(lock)]


def recorded(lock: Lock) -> dict[str, tuple[str, str]]:
    """Local path to (upstream, sha256) of every file that the records own.

    A record that was edited by hand vouches for no bytes: its digests are empty.
    """
    found = {}
    for upstream in lock.upstreams.values():
        if upstream.resolved:
            for item in (*upstream.resolved.files, *legal_files(upstream.resolved)):
                found[item.to] = (upstream.name, item.sha256 if upstream.resolved.sealed else "")
    return found


def pages(lock: Lock) -> list[str]:
    """Where provenance pages stand, or stood before an entry was taken out."""
    homes = {legal.home(one) for one in lock.upstreams.values() if one.files} | {"vendored"}
    return [f"{home}/PROVENANCE.md" for home in sorted(homes)]


def orphans(lock: Lock) -> tuple[str, ...]:
    """Files that the documents on the disk still account for and no entry claims: their entry was taken out by hand."""
    claimed = {path for paths in owners(lock).values() for path in paths}
    claimed |= {spec.to for spec in lock.shims.values()}
    found = set()
    for page_path in pages(lock):
        home = page_path.rpartition("/")[0]
        page, _ = on_disk(lock, page_path)
        for local in documents.listed(page or b""):
            path = f"{home}/{local}"
            if not unsafe(path) and path not in claimed and on_disk(lock, path)[0] is not None:
                found.add(path)
    return tuple(sorted(found))


# ---- copies of final bytes ----------------------------------------------------------------------------------


MOST_KEPT = 500  # files


def final_copy(cache: Path, sha256: str) -> Path:
    """Where a file's final bytes are kept, so that `check` can say which line differs."""
    return cache / "final" / sha256[:2] / sha256


def keep_final(cache: Path, contents: Sequence[bytes]) -> None:
    """Keep final bytes for `check`; a cache that cannot be written is no failure.

    Of a large tree nothing is kept: a second copy of it would cost more than the line that a finding names is worth.
    """
    if len(contents) > MOST_KEPT:
        return
    made = set()
    for data in contents:
        path = str(final_copy(cache, hashlib.sha256(data).hexdigest()))
        folder = path.rpartition("/")[0]
        try:
            if folder not in made:
                os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - there may be ten thousand
                made.add(folder)
            if not os.path.lexists(path):
                temporary = f"{path}.{os.getpid()}"
                with open(temporary, "wb", buffering=0) as stream:  # noqa: PTH123
                    stream.write(data)
                os.replace(temporary, path)  # noqa: PTH105
        except OSError:
            return


# ---- words --------------------------------------------------------------------------------------------------


def edited(name: str, paths: Sequence[str]) -> ContentError:
    """Files of an entry that were edited by hand: what to type to keep the edit, and what to throw it away."""
    return ContentError(
        f"{several(paths)} edited by hand, and no patch holds the edit",
        hint=f"keep it with `vendor-tool patch new {name}`, or throw it away with `vendor-tool sync --force {name}`",
    )


def several(paths: Sequence[str]) -> str:
    """The first few of many paths, and the verb."""
    shown = ", ".join(f"`{path}`" for path in paths[:5])
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return f"{shown}{more} {'is' if len(paths) == 1 else 'are'}"
