"""What an entry makes of a revision: fetch, transform, patch, record. One build for sync, rebuild, diff and upgrade."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence

from vendor_tool import fetch, legal, licences, plan, stamp, transform, vcs, write
from vendor_tool import patch as patches
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import (
    Access,
    At,
    Blob,
    Build,
    BuiltFile,
    Context,
    FileSpec,
    Header,
    LegalFile,
    Lock,
    Recorded,
    RecordedImport,
    Resolved,
    Snapshot,
    Source,
    Tree,
    Upstream,
)
from vendor_tool.pipeline import facts, places, recorded
from vendor_tool.plan import Target
from vendor_tool.values import dataclass, replace

LFS_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Fetched:
    """Everything that an entry needs from its upstream at one revision."""

    upstream: Upstream
    snapshot: Snapshot
    targets: tuple[Target, ...]
    legal: licences.Legal
    contents: Mapping[str, bytes]  # by blob id

    def data(self, path: str) -> bytes:
        return self.contents[self.snapshot.entries[path].oid]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---- fetch ------------------------------------------------------------------------------------------------


def gather(
    lock: Lock, wanted: Sequence[tuple[Upstream, str]], access: Access, *, trust: bool = True
) -> tuple[Fetched, ...]:
    """Fetch several upstreams side by side. `trust` lets the record name the blobs, which saves the listing.

    Raises UpstreamError and UsageError as `fetch` and `plan.targets` do; the first upstream of the lock that fails
    is the one that is told.
    """
    return tuple(vcs.side_by_side(lambda one: _fetch(lock, one[0], one[1], access, trust), wanted))


def _fetch(lock: Lock, upstream: Upstream, revision: str, access: Access, trust: bool) -> Fetched:
    if trust and recorded.holds(upstream, revision) and not _modes_changed(lock, upstream):
        snapshot = recorded.snapshot(upstream)
        targets = recorded.targets(upstream)
        found = recorded.legal_files(upstream)
    else:
        snapshot = fetch.snapshot(upstream, revision, access)
        targets = plan.targets(upstream, snapshot, lock.path.name)
        found = licences.find_legal(snapshot.entries.keys(), upstream.from_)
    paths = [target.path for target in targets]
    if upstream.files or not trust:
        paths += [path for path in (found.license, found.notice, *found.others) if path and _is_file(snapshot, path)]
    oids = {snapshot.entries[path].oid for path in paths}
    contents = fetch.blobs(upstream, revision, oids, access) if oids else {}
    return Fetched(upstream, snapshot, targets, found, contents)


def _modes_changed(lock: Lock, upstream: Upstream) -> bool:
    """Whether a patch may change a file's mode: the record holds the modes after the patches, and no others."""
    known = upstream.resolved.patches if upstream.resolved else {}
    texts = {spec.path: write.read(lock.root, spec.path) or b"" for spec in upstream.patches}
    return any(known.get(path) != sha256(text) or b"\nold mode " in text for path, text in texts.items())


def _is_file(snapshot: Snapshot, path: str) -> bool:
    return snapshot.entries[path].mode in {"100644", "100755"}


# ---- build ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Made:
    """The files of an entry at one revision, with what a rule may have had to fetch for them."""

    fetched: Fetched
    files: tuple[BuiltFile, ...]  # sorted by local path
    series: tuple[patches.Patch, ...]
    notes: tuple[Finding, ...]


def make(lock: Lock, fetched: Fetched, access: Access, series: Sequence[patches.Patch] | None = None) -> Made:
    """Rules, then patches. `series` stands in for the entry's patch files, which follow files that the lock moves.

    Raises UsageError for a rule that does nothing, ConflictError for a patch that does not apply.
    """
    upstream = fetched.upstream
    series = places.follow(read_series(lock, upstream), upstream, fetched.targets) if series is None else tuple(series)
    sources = [_source(fetched, target, lock.path.name) for target in fetched.targets]
    plain, fetched = _transform(lock, fetched, sources, access)
    before: Tree = {item.source.to: Blob(item.data, item.source.executable) for item in plain}
    places.require_files(upstream, series, before)
    after = patches.replay(series, before)[-1] if series else before
    _nothing_taken_away(upstream, before, after)
    files = [
        BuiltFile(
            path=item.source.path,
            to=item.source.to,
            blob=item.source.blob,
            executable=after[item.source.to].executable,
            pristine=item.source.data,
            plain=item.data,
            final=after[item.source.to].data,
            names=item.names,
            executable_before=item.source.executable,
        )
        for item in plain
    ]
    # a file that only a patch makes has no upstream path
    files += [
        BuiltFile("", path, "", blob.executable, b"", b"", blob.data)
        for path, blob in after.items()
        if path not in before
    ]
    notes = tuple(note for item in plain for note in item.notes)
    return Made(fetched, tuple(sorted(files, key=lambda file: file.to)), series, notes)


def build(lock: Lock, fetched: Fetched, access: Access, series: Sequence[patches.Patch] | None = None) -> Build:
    """What `make` makes, with the record of it. UsageError where no licence says that anybody may copy the files."""
    if fetched.upstream.files and fetched.legal.license is None:
        raise UsageError(
            f"upstream `{fetched.upstream.name}` has no licence file at `{fetched.snapshot.revision[:12]}`: "
            "nobody may copy from it",
            hint="ask its authors for one, or vendor a revision that has one",
        )
    made = make(lock, fetched, access, series)
    copies, resolved = _record(lock, made, access)
    return Build(made.fetched.upstream, made.fetched.snapshot, made.files, copies, resolved, made.notes)


def _nothing_taken_away(upstream: Upstream, before: Tree, after: Tree) -> None:
    gone = sorted(before.keys() - after.keys())
    if gone:
        raise UsageError(
            f"a patch of upstream `{upstream.name}` deletes or renames `{gone[0]}`",
            hint="take the file out of `files:`, or give it another `to:`; patches change contents",
        )


def _source(fetched: Fetched, target: Target, lock_name: str) -> Source:
    entry = fetched.snapshot.entries[target.path]
    data = fetched.contents[entry.oid]
    if data.startswith(LFS_POINTER):
        raise UsageError(
            f"{plan.place(lock_name, target.spec.at)}: `{target.path}` of upstream `{fetched.upstream.name}` is "
            "a pointer of Git LFS, not the file itself",
            hint="remove it from `files:`; content kept outside the repository has no git id to hold it to",
        )
    return Source(target.path, target.to, entry.oid, data, entry.mode == "100755")


def _transform(
    lock: Lock, fetched: Fetched, sources: Sequence[Source], access: Access
) -> tuple[tuple[transform.Plain, ...], Fetched]:
    """Apply the rules. They may need to know paths that a record does not name: then the listing is fetched."""
    upstream = fetched.upstream
    if not sources:
        return (), fetched
    items = [
        (source, _stamped(lock, fetched, source, target.spec))
        for source, target in zip(sources, fetched.targets, strict=True)
    ]
    cache, revision = access.cache / "plain", fetched.snapshot.revision
    if fetched.snapshot.partial:
        known = transform.cached(items, upstream.rules, _context(lock, fetched), revision, cache)
        if known is not None:
            return known, fetched
        fetched = replace(fetched, snapshot=fetch.snapshot(upstream, revision, access))
    return transform.apply(items, upstream.rules, _context(lock, fetched), revision, cache), fetched


def _stamped(lock: Lock, fetched: Fetched, source: Source, spec: FileSpec) -> FileSpec:
    """A file's item with the header's fields filled in, where the entry or the file has a header with fields."""
    upstream = fetched.upstream
    own = [rule for rule in spec.rules if isinstance(rule, Header)]
    headers = own or [rule for rule in upstream.rules or () if isinstance(rule, Header)]
    if not any(stamp.fields(header.text) for header in headers):
        return spec
    filled = [
        Header(
            stamp.fill(
                header.text,
                project=lock.project,
                upstream=upstream,
                revision=fetched.snapshot.revision,
                path=source.path,
                license_=_license(fetched),
            )
        )
        for header in headers
    ]
    return replace(spec, rules=(*filled, *(rule for rule in spec.rules if not isinstance(rule, Header))))


def _license(fetched: Fetched) -> LegalFile | None:
    """The licence file's facts, for headers: from a record that holds, else from its text."""
    if fetched.snapshot.partial:
        return fetched.upstream.resolved.license if fetched.upstream.resolved else None
    path = fetched.legal.license
    if path is None:
        return None
    data = fetched.data(path)
    return facts.legal_file(path, fetched.snapshot.entries[path].oid, data)


def _context(lock: Lock, fetched: Fetched) -> Context:
    files: dict[str, str] = {}
    for other in lock.upstreams.values():
        if other.name != fetched.upstream.name and other.url == fetched.upstream.url:
            files |= plan.mapping(other)
    files |= {target.path: target.to for target in fetched.targets}
    return Context(fetched.upstream.name, files, frozenset(fetched.snapshot.entries), lock.shims)


def read_series(lock: Lock, upstream: Upstream) -> tuple[patches.Patch, ...]:
    """The entry's patches, parsed. Raises UsageError for one that is not there: a series is whole or it is wrong."""
    series = []
    for spec in upstream.patches:
        data = write.read(lock.root, spec.path)
        if data is None:
            raise UsageError(
                f"{plan.place(lock.path.name, spec.at)}: patch `{spec.path}` of `{upstream.name}` is not there",
                hint="restore it, for example with `git checkout`, or take it out of `patches:`",
            )
        series.append(patches.parse(spec.path, data))
    return tuple(series)


# ---- record -----------------------------------------------------------------------------------------------


def _record(lock: Lock, made: Made, access: Access) -> tuple[Tree, Resolved]:
    fetched, files = made.fetched, made.files
    upstream, snapshot = fetched.upstream, fetched.snapshot
    found = facts.gather(lock.root, upstream, snapshot, fetched.contents, files, access)
    before = upstream.resolved
    kept = before.extra if before else {}
    shims = transform.shims_used((item.final for item in files), lock.shims)
    return found.legal, Resolved(
        at=At(0, 0),
        revision=snapshot.revision,
        date=snapshot.date,
        intent=upstream.intent,
        seal="",
        tag=before.tag if before and before.revision == snapshot.revision else None,
        license=found.license,
        notice=found.notice,
        tools=transform.versions(upstream.rules, upstream.files, lock.shims) if files else {},
        files=tuple(_recorded(item, found) for item in files),
        imports=_imports(upstream, snapshot, access),
        shims=tuple(sorted(shims)),
        shim_names=_shim_names(lock, files, shims),
        patches={one.path: sha256(one.text) for one in made.series},
        # evidence outlives a change of what it was won on: it is then stale, and says so
        extra={**{key: value for key, value in kept.items() if key != legal.KEY}, **found.extra},
    )


def _shim_names(lock: Lock, files: Sequence[BuiltFile], used: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    if not used:
        return {}
    from vendor_tool.transform import shim_stubs

    return shim_stubs.imported(files, {name: spec for name, spec in lock.shims.items() if spec.to in used})


def _recorded(item: BuiltFile, found: licences.Gathered) -> Recorded:
    return Recorded(
        path=item.path,
        blob=item.blob,
        to=item.to,
        sha256=sha256(item.final),
        at=At(0, 0),
        executable=item.executable,
        names=item.names,
        origins=found.links.get(item.to, ()),
        license=found.headers.get(item.to),
    )


def _imports(upstream: Upstream, snapshot: Snapshot, access: Access) -> tuple[RecordedImport, ...]:
    """Where the upstream's source defines each run-time import, read and never run."""
    if snapshot.partial and upstream.resolved:
        return upstream.resolved.imports
    if not upstream.imports:
        return ()
    from vendor_tool.transform import symbols

    read = fetch.reader(upstream, snapshot, access)
    found = []
    for name in upstream.imports:
        definition = symbols.find(name, snapshot.entries.keys(), read)
        found.append(RecordedImport(name, definition.path, snapshot.entries[definition.path].oid, definition.line))
    return tuple(found)
