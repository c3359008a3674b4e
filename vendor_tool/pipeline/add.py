"""`init` and `add`: start a lock, and add an upstream or files of one together with all that they import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vendor_tool import fetch, licences, lockfile, plan, write
from vendor_tool.errors import UsageError
from vendor_tool.lockfile import edit, emit
from vendor_tool.model import Access, At, Context, FileSpec, Lock, Snapshot, Source, Upstream
from vendor_tool.paths import unsafe
from vendor_tool.transform import imports
from vendor_tool.values import dataclass, replace
from vendor_tool.words import command

MAX_FILES = 500


@dataclass(frozen=True, slots=True)
class Request:
    """What `add` was asked for. `files` are FROM or FROM:TO, below `path`."""

    name: str
    url: str | None = None
    rev: str | None = None
    license: str | None = None
    path: str | None = None
    to: str | None = None
    files: tuple[str, ...] = ()
    closure: bool = True


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` wrote."""

    name: str
    revision: str
    tag: str | None  # that the revision was asked for by
    license: str | None
    files: Mapping[str, str]  # upstream path -> local path, the new ones
    pulled: Mapping[str, str]  # those of them that only the closure asked for -> who imports them
    needs: Mapping[str, tuple[str, ...]]  # other top-level modules -> the files that import them
    shims: tuple[str, ...]  # of those, the ones under `shims:`


def init(path: Path, *, name: str | None, license_: str | None) -> None:
    """Write an empty lock. Raises UsageError where one is."""
    if path.exists():
        raise UsageError(f"`{path.name}` is there already", hint="add an upstream with `vendor-tool add NAME URL`")
    project = {"name": name or path.resolve().parent.name or "project"}
    if license_:
        project["license"] = license_
    lines = emit.block({"version": 1, "project": project, "upstreams": {}}, 0)
    text = "\n".join(
        ["# Vendored files: `vendor-tool --help`, and docs/reference/lockfile.md for the keys.", *lines, ""]
    )
    with write.exclusive(path.parent):
        write.commit(path.parent, {}, (path.name, text.encode()))


def add(path: Path, request: Request, access: Access) -> Added:
    """Add to the lock; nothing is vendored yet. Raises UsageError and UpstreamError as the parts do."""
    lockfile.read_bytes(path)
    with write.exclusive(path.parent):
        return _add(path, request, access)


def _add(path: Path, request: Request, access: Access) -> Added:
    lock = lockfile.load(path, access.cache)
    upstream, branch, tag = _upstream(lock, request, access)
    snapshot = fetch.snapshot(upstream, upstream.revision, access)
    known = plan.mapping(lock.upstreams[request.name]) if request.name in lock.upstreams else {}
    chosen = _chosen(upstream, request, snapshot, known)
    sources = Reader(upstream, snapshot, access)
    wanted, pulled = _close(upstream, snapshot, {**known, **chosen}, sources, closure=request.closure)
    new = {path: to for path, to in wanted.items() if known.get(path) != to}
    if not new:
        raise UsageError(f"`{request.name}` has these files already", hint=f"run `vendor-tool sync {request.name}`")
    found = licences.find_legal(snapshot.entries.keys(), upstream.from_)
    spdx = request.license or license_of(found.license, sources)
    entry = entry_of(upstream, branch, spdx, wanted)
    text = lockfile.decode(path, lockfile.read_bytes(path))
    if request.name in lock.upstreams:
        text = _extend(text, lock.upstreams[request.name], upstream, entry, new)
    else:
        text = edit.add_upstream(text, request.name, entry)
    after, _ = lockfile.parse_text(path, text)
    plan.targets(after.upstreams[request.name], snapshot, path.name)
    plan.clashes(after, {name: plan.listed(one) for name, one in after.upstreams.items()})
    needs = _needs(wanted, snapshot, sources)
    write.commit(lock.root, {}, (path.name, edit.write_bytes(path, text)))
    return Added(
        request.name, upstream.revision, tag, spdx, new, pulled, needs, tuple(sorted(needs.keys() & lock.shims))
    )


def _extend(text: str, known: Upstream, upstream: Upstream, entry: Mapping[str, Any], new: Mapping[str, str]) -> str:
    """A known entry with further files: those that are listed keep their lines, unless `from` has to change."""
    place = ("upstreams", known.name)
    if upstream.revision != known.revision:
        text = edit.set_value(text, (*place, "revision"), upstream.revision)
    if entry.get("from", "") == known.from_:
        numbers = {spec.path: number for number, spec in enumerate(known.files) if not plan.is_glob(spec.path)}
        for path, to in sorted(new.items()):
            item = _item(known.from_, known.to, path, to)
            below = item if isinstance(item, str) else item["path"]
            if below in numbers:
                text = edit.place_file(text, known.name, numbers[below], to[len(known.to) + 1 :] if known.to else to)
            else:
                text = edit.append_item(text, (*place, "files"), item)
        return text
    if known.files != tuple(FileSpec(spec.path, spec.to, spec.at) for spec in known.files) or any(
        plan.is_glob(spec.path) for spec in known.files
    ):
        outside = next(path for path in new if not path.startswith(f"{known.from_}/"))
        raise UsageError(
            f"`{outside}` is not below `{known.from_}`, and items of `{known.name}` hold more than paths",
            hint="change `from:` and the items by hand, or add it as an upstream of another name",
        )
    for key in ("from", "files"):
        if key in entry:
            text = edit.set_value(text, (*place, key), entry[key])
    return text


def _upstream(lock: Lock, request: Request, access: Access) -> tuple[Upstream, str | None, str | None]:
    """The entry, the branch that it follows, and the tag that its revision was asked for by."""
    known = lock.upstreams.get(request.name)
    if known is not None:
        if request.url not in (None, known.url):
            raise UsageError(
                f"upstream `{request.name}` is in the lock already, at `{known.revision[:12]}` of {known.url}",
                hint="leave URL out to add files",
            )
        if request.to is not None and request.to.rstrip("/") != known.to:
            raise UsageError(
                f"files of `{request.name}` go to `{known.to or '.'}`, not to `{request.to}`",
                hint=f"write `--file FROM:TO`; or give the entry (line {known.at.line}) another `to:`, and "
                f"`vendor-tool sync {request.name}` moves all of it",
            )
        revision, tag = fetch.named(known, request.rev, access) if request.rev else (known.revision, None)
        return replace(known, from_=request.path or known.from_, revision=revision), known.branch, tag
    if request.url is None:
        raise UsageError(
            f"no upstream `{request.name}` in the lock",
            hint=f"write `{command('vendor-tool', 'add', request.name)} URL`",
        )
    reason = fetch.check_url(request.url)
    if reason:
        raise UsageError(f"address of upstream `{request.name}` {reason}", hint="give the address of a git repository")
    for option, value in (("--path", request.path), ("--to", request.to)):
        if value and (fault := unsafe(value.rstrip("/"))):
            raise UsageError(f"`{option} {value}` {fault}", hint="name a folder below the top")
    draft = Upstream(
        name=request.name,
        url=request.url,
        revision="",
        at=At(1, 1),
        revision_at=At(1, 1),
        from_=(request.path or "").rstrip("/"),
        to=(request.to or f"vendored/{request.name.replace('-', '_').replace('.', '_')}").rstrip("/"),
    )
    branch, revision, tag = pinned(draft, request.rev, access)
    return replace(draft, revision=revision, branch=branch), branch, tag


def pinned(upstream: Upstream, rev: str | None, access: Access) -> tuple[str | None, str, str | None]:
    """The branch to follow, where one was named or is the default one, the commit, and the tag that named it.

    Without `rev` it is the default branch's newest. Raises UsageError where there is none, and what `named` raises.
    """
    if rev is not None and len(rev) == 40:
        return None, fetch.resolve(upstream, rev, access), None
    refs = fetch.refs(upstream, access, ("HEAD", "refs/heads/*"))
    if rev is None:
        head = refs.get("HEAD")
        if head is None:
            raise UsageError(f"upstream `{upstream.name}` names no default branch", hint="name one with `--rev`")
        names = [name.removeprefix("refs/heads/") for name, oid in refs.items() if oid == head and name != "HEAD"]
        return next((name for name in ("main", "master") if name in names), names[0] if names else None), head, None
    return (rev if f"refs/heads/{rev}" in refs else None), *fetch.named(upstream, rev, access)


def _chosen(upstream: Upstream, request: Request, snapshot: Snapshot, known: Mapping[str, str]) -> dict[str, str]:
    """Upstream path to local path of what was asked for. A known file moves only where FROM:TO says so."""
    specs = []
    for text in request.files or ("**/*.py",):
        path, _, to = text.partition(":")
        for part in filter(None, (path, to)):
            if fault := unsafe(part):
                raise UsageError(f"`--file {text}`: `{part}` {fault}", hint="write FROM or FROM:TO, below the folders")
        specs.append(FileSpec(path, to or None, At(1, 1)))
    targets = plan.targets(replace(upstream, files=tuple(specs)), snapshot, "command line")
    if len(targets) > MAX_FILES:
        raise UsageError(
            f"{len(targets)} files match", hint="choose with `--path` and `--file`, or write a glob into the lock"
        )
    return {target.path: target.to if target.spec.to else known.get(target.path, target.to) for target in targets}


class Reader:
    """Contents of upstream paths, fetched once each and many at a time."""

    def __init__(self, upstream: Upstream, snapshot: Snapshot, access: Access) -> None:
        self.upstream, self.snapshot, self.access = upstream, snapshot, access
        self.known: dict[str, bytes] = {}

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Contents by path. Raises UsageError for a path that is not there."""
        wanted = list(paths)
        gone = next((path for path in wanted if path not in self.snapshot.entries), None)
        if gone is not None:
            raise UsageError(
                f"`{gone}` of `{self.upstream.name}` is not there at `{self.snapshot.revision[:12]}`",
                hint=f"`vendor-tool sync {self.upstream.name}@{self.snapshot.revision[:12]}` says where it went",
            )
        oids = {path: self.snapshot.entries[path].oid for path in wanted}
        missing = {oid for oid in oids.values() if oid not in self.known}
        if missing:
            self.known |= fetch.blobs(self.upstream, self.upstream.revision, missing, self.access)
        return {path: self.known[oid] for path, oid in oids.items()}


def _close(
    upstream: Upstream, snapshot: Snapshot, chosen: Mapping[str, str], reader: Reader, *, closure: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Follow imports inside the upstream until nothing new is needed."""
    wanted, pulled = dict(chosen), {}
    todo = list(chosen)
    while todo:
        contents = reader.read(todo)
        context = Context(upstream.name, wanted, frozenset(snapshot.entries), {})
        new: dict[str, str] = {}
        for path in todo:
            source = Source(path, wanted[path], snapshot.entries[path].oid, contents[path])
            for need in imports.needs(source, context):
                if need.path not in wanted and need.path not in new:
                    new[need.path] = f"{path}:{need.line}"
        if not closure and new:
            first, by = next(iter(new.items()))
            raise UsageError(f"`{first}` is imported by `{by}`", hint="add it too, or leave `--no-closure` out")
        for path, by in new.items():
            wanted[path] = _place(upstream, path, wanted)
            pulled[path] = by
        todo = list(new)
    return wanted, pulled


def _place(upstream: Upstream, path: str, taken: Mapping[str, str]) -> str:
    """A local path for a file that was not named: as below `from`, else by its last folders until it is free."""
    prefix = f"{upstream.from_}/" if upstream.from_ else ""
    if path.startswith(prefix):
        return plan.join(upstream.to, path[len(prefix) :])
    parts = path.split("/")
    used = {to.casefold() for to in taken.values()}
    places = [plan.join(upstream.to, "/".join(parts[-n:])) for n in range(1, len(parts) + 1)]
    return next((place for place in places if place.casefold() not in used), places[-1])


def license_of(path: str | None, reader: Reader) -> str | None:
    """The licence that an upstream's licence file is recognised as."""
    if path is None:
        return None
    return licences.detect(reader.read([path])[path].decode("utf-8", "replace")).spdx


def entry_of(upstream: Upstream, branch: str | None, spdx: str | None, wanted: Mapping[str, str]) -> dict[str, Any]:
    """A new entry as plain values: address, branch, revision, licence, folders and files (upstream to local path)."""
    from_ = _common(upstream.from_, wanted)
    entry: dict[str, Any] = {"url": upstream.url}
    if branch:
        entry["branch"] = branch
    entry["revision"] = upstream.revision
    if spdx:
        entry["license"] = spdx
    if from_:
        entry["from"] = from_
    entry["to"] = upstream.to
    entry["files"] = [_item(from_, upstream.to, path, to) for path, to in sorted(wanted.items())]
    return entry


def _common(from_: str, paths: Collection[str]) -> str:
    """The deepest folder, `from_` or above it, that holds all paths."""
    while from_ and not all(path.startswith(f"{from_}/") for path in paths):
        from_ = from_.rpartition("/")[0]
    return from_


def _item(from_: str, to: str, path: str, local: str) -> Any:
    below = path[len(from_) + 1 :] if from_ else path
    target = local[len(to) + 1 :] if to else local
    return below if below == target else {"path": below, "to": target}


def _needs(wanted: Mapping[str, str], snapshot: Snapshot, reader: Reader) -> dict[str, tuple[str, ...]]:
    """Top-level modules that are neither the upstream's own nor the standard library's, and who imports them."""
    own = {path.partition("/")[0].removesuffix(".py") for path in snapshot.entries}
    found: dict[str, list[str]] = {}
    for path, data in reader.read(path for path in wanted if path.endswith(".py")).items():
        for name in _imported(data):
            if name not in own and name not in sys.stdlib_module_names:
                found.setdefault(name, []).append(path)
    return {name: tuple(paths) for name, paths in sorted(found.items())}


def _imported(data: bytes) -> set[str]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return set()
    names: Sequence[str] = [
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    ] + [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names if name}
