"""`adopt`: entry, patches and record for a tree that somebody vendored by hand, proven to give the very same bytes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from vendor_tool import fetch, lockfile, merge, plan, write
from vendor_tool import patch as patches
from vendor_tool.adoption import pairs
from vendor_tool.adoption.hints import hints
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.lockfile import edit, emit
from vendor_tool.lockfile.read import UPSTREAM_NAME
from vendor_tool.model import Access, At, Blob, Build, Lock, Tree, Upstream
from vendor_tool.patch import Patch
from vendor_tool.paths import revision_name, unsafe
from vendor_tool.pipeline import add, check, explaining, fitting, handmade, state, sync
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline.explaining import Draft
from vendor_tool.pipeline.sync import Done
from vendor_tool.values import dataclass, replace
from vendor_tool.words import command, count

Head: TypeAlias = Callable[[], Mapping[str, str]]
"""What gives fields of DEP-3; it may have to ask git, and may fail."""


@dataclass(frozen=True, slots=True)
class Request:
    """What `adopt` was asked for. `files` are TO or FROM:TO, FROM below `path`, TO below `folder`."""

    folder: str  # local path
    url: str
    rev: str | None = None
    name: str | None = None
    license: str | None = None
    path: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adopted:
    """What an adoption found, and what it wrote."""

    name: str
    revision: str
    date: str
    why: str  # this revision
    equal: tuple[str, ...]  # revisions that fit as well
    license: str | None
    pairs: tuple[pairs.Pair, ...]
    left: Mapping[str, str]  # local path of each file that is not adopted -> why
    rules: tuple[str, ...]  # in words
    patches: Mapping[str, str]  # local path -> what it changes, in words
    done: Done


def split_address(text: str) -> tuple[str, str | None]:
    """`URL@REV` as its two parts; an `@` that stands before a host or a path belongs to the address."""
    scheme = text.find("://")
    path = text.find("/", scheme + 3) if scheme >= 0 else 0 if text.startswith("/") else text.find(":")
    at = text.rfind("@")
    if 0 <= path < at and revision_name(text[at + 1 :]):
        return text[:at], text[at + 1 :]
    return text, None


def adopt(path: Path, request: Request, head: Head, access: Access, *, dry_run: bool = False) -> Adopted:
    """Write an entry, patches and the record for the files below a folder, which stay as they are.

    `head` gives the fields that patches have in common, where there are any. Raises UsageError for a request that makes
    no sense and for what has no licence, ContentError where the new entry does not give the files as they are; nothing
    is written then.
    """
    lockfile.read_bytes(path)
    if dry_run:
        return _adopt(path, request, head, access, dry_run=True)
    with write.exclusive(path.parent):
        return _adopt(path, request, head, access, dry_run=False)


def _adopt(path: Path, request: Request, head: Head, access: Access, *, dry_run: bool) -> Adopted:
    lock = lockfile.load(path, access.cache)
    draft = _draft(lock, request)
    disk, left = handmade.files(lock, request.folder)
    asked, given = _asked(request, disk)
    # what is not asked for may still say where its neighbours are from
    said = hints({to: blob.data for to, blob in disk.items()}, request.url)
    copies = fitting.Copies({to: blob.data for to, blob in asked.items()}, given, said)
    found = fitting.fitted(draft, request.rev, copies, access)
    chosen, refused = handmade.adoptable(found.pairing.pairs, disk)
    if not chosen:
        raise fitting.nothing_like(found.upstream, copies)
    question = _question(lock, found, chosen=chosen, disk=disk, license_=request.license, access=access)
    unreadable = explaining.unreadable(question)
    if unreadable and len(unreadable) < len(chosen):
        chosen = tuple(pair for pair in chosen if pair.local not in unreadable)
        question = _question(lock, found, chosen=chosen, disk=disk, license_=request.license, access=access)
    best = explaining.explained(question)
    series, changed = _series(lock, best, disk, head)
    build, text = _build(best, series, access)
    build = replace(build, resolved=replace(build.resolved, tag=found.tag))
    text = _with_local(lock, text, build)
    _proven(lock, build, disk)
    done = sync.apply(
        lock,
        [build],
        text=text,
        force=False,
        dry_run=dry_run,
        cache=access.cache,
        patches={one.path: Blob(one.text) for one in series},
    )
    return Adopted(
        name=draft.name,
        revision=build.snapshot.revision,
        date=build.snapshot.date,
        why=found.why,
        equal=found.equal,
        license=best.entry.get("license"),
        pairs=chosen,
        left=dict(sorted({**({} if request.files else left), **found.pairing.left, **refused, **unreadable}.items())),
        rules=tuple(_told(best.entry)),
        patches=changed,
        done=done,
    )


# ---- what was asked for -----------------------------------------------------------------------------------


def _draft(lock: Lock, request: Request) -> Upstream:
    reason = fetch.check_url(request.url)
    if reason:
        raise UsageError(f"the address after `--from` {reason}", hint="give the address of a git repository")
    name = request.name or _name(request.url)
    if not UPSTREAM_NAME.fullmatch(name):
        raise UsageError(f"`--name {name}` is not a name", hint="use letters, digits, `.`, `_` and `-`")
    if name in lock.upstreams:
        raise UsageError(
            f"upstream `{name}` is in the lock already, at line {lock.upstreams[name].at.line}",
            hint="give the new entry another name with `--name`; entries of one repository know each other's files",
        )
    folder = (request.path or "").rstrip("/")
    if folder and (fault := unsafe(folder)):
        raise UsageError(f"`--path {request.path}` {fault}", hint="name a folder below the top")
    return Upstream(name=name, url=request.url, revision="", at=At(1, 1), revision_at=At(1, 1), from_=folder)


def _name(url: str) -> str:
    last = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last).lstrip("._-") or "upstream"


def _asked(request: Request, disk: Tree) -> tuple[Tree, dict[str, str]]:
    """The files that the command line chooses, all where it names none, and the upstream paths that it gives some."""
    chosen: dict[str, Blob] = {}
    given: dict[str, str] = {}
    for text in request.files:
        path, colon, to = text.partition(":") if ":" in text else ("", "", text)
        for part in (path, to) if colon else (to,):
            fault = "is empty" if not part else unsafe(part)
            if fault:
                raise UsageError(f"`--file {text}`: `{part}` {fault}", hint="write TO or FROM:TO, below the folders")
        pattern = plan.glob(plan.join(request.folder, to))
        found = [
            local for local in disk if (local == plan.join(request.folder, to) if colon else pattern.fullmatch(local))
        ]
        if not found:
            raise UsageError(
                f"`--file {text}`: `{plan.join(request.folder, to)}` is not there, or belongs to an entry",
                hint="name a file below DIR",
            )
        chosen |= {local: disk[local] for local in found}
        given |= {local: plan.join((request.path or "").rstrip("/"), path) for local in found if colon}
    return chosen or disk, given


# ---- the entry --------------------------------------------------------------------------------------------


def _question(
    lock: Lock,
    found: fitting.Fitted,
    *,
    chosen: Sequence[pairs.Pair],
    disk: Tree,
    license_: str | None,
    access: Access,
) -> explaining.Question:
    """The entry of the chosen files without rules, and all that rules are tried on."""
    upstream = replace(
        found.upstream,
        from_=_folder([pair.path for pair in chosen]),
        to=_folder([pair.local for pair in chosen]),
    )
    text = lockfile.decode(lock.path, lockfile.read_bytes(lock.path))
    bare = add.entry_of(upstream, found.branch, None, {pair.path: pair.local for pair in chosen})
    before, _ = lockfile.parse_text(lock.path, edit.add_upstream(text, upstream.name, bare))
    (fetched,) = builds.gather(before, [(before.upstreams[upstream.name], upstream.revision)], access)
    spdx = license_ or add.license_of(fetched.legal.license, add.Reader(upstream, fetched.snapshot, access))
    entry = add.entry_of(upstream, found.branch, spdx, {pair.path: pair.local for pair in chosen})
    return explaining.Question(lock, text, upstream.name, entry, fetched, disk, access)


def _folder(paths: Sequence[str]) -> str:
    """The deepest folder that holds all paths."""
    folders = [posixpath.dirname(path) for path in paths]
    return posixpath.commonpath(folders) if all(folders) else ""


def _told(entry: Mapping[str, Any]) -> Iterator[str]:
    """The rules of an entry, one line each."""
    items = [item for item in entry["files"] if isinstance(item, dict)]
    own = sum(1 for item in items if "transforms" in item)
    for rule in entry.get("transforms", []):
        ((kind, options),) = rule.items()
        match kind:
            case "header":
                yield f"header: {count(len(options['text'].splitlines()), 'line')} above each file"
            case "imports":
                renamed = [
                    f"{old} -> {new}" if old != new else f"{old} as it is"
                    for old, new in options.get("rename", {}).items()
                ]
                yield f"imports: {', '.join(renamed) or 'those of its own modules'}"
            case "format":
                yield f"format: {emit.flow(options)}"
            case _:
                yield f"{kind}: {', '.join(options.get('modules', [])) or 'all'}"
    if own:
        yield f"header of its own: {count(own, 'file')}"
    for item in items:
        yield from (f"{key}: {', '.join(item[key])} of {item['path']}" for key in ("only", "drop") if key in item)


# ---- patches, record, proof -------------------------------------------------------------------------------


def _series(lock: Lock, draft: Draft, disk: Tree, head: Head) -> tuple[list[Patch], dict[str, str]]:
    """One patch for each file that rules do not explain, and what each of them changes."""
    upstream = draft.made.fetched.upstream
    folder = f"patches/{upstream.name}"
    series = [Patch(f"{folder}/{found.name}", {}, ()) for found in (lock.root / folder).glob("*.patch")]
    found: list[Patch] = []
    told = {}
    for file in draft.made.files:
        plain, wanted = Blob(file.plain, file.executable), disk[file.to]
        if plain == wanted:
            continue
        name = posixpath.basename(file.to)
        fields = {
            "Description": f"Local changes of {name}\nFound by `vendor-tool adopt`; why they were made is not known.",
            **head(),
        }
        text = merge.capture({file.to: plain}, {file.to: wanted}, fields)
        patch = patches.parse(merge.next_path(folder, [*series, *found], f"local changes of {name}"), text)
        found.append(patch)
        told[patch.path] = _changed(plain, wanted)
    return found, told


def _changed(plain: Blob, wanted: Blob) -> str:
    if plain.data == wanted.data:
        return "the mode alone"
    number = count(explaining.different(plain.data, wanted.data), "line")
    alike = plain.data.replace(b"\r\n", b"\n") == wanted.data.replace(b"\r\n", b"\n")
    return f"{number}, line ends alone" if alike else number


def _build(draft: Draft, series: Sequence[Patch], access: Access) -> tuple[Build, str]:
    text, name = draft.text, draft.made.fetched.upstream.name
    if series:
        text = edit.set_value(text, ("upstreams", name, "patches"), [patch.path for patch in series])
    after, _ = lockfile.parse_text(draft.lock.path, text)
    fetched = replace(draft.made.fetched, upstream=after.upstreams[name])
    return builds.build(after, fetched, access, series), text


def _with_local(lock: Lock, text: str, build: Build) -> str:
    """The lock whose entry names the files beside the copies as the project's own: `check` asks nothing of them."""
    name = build.upstream.name
    data = edit.record_resolved(text, name, build.resolved).encode()
    after = lockfile.parse_bytes(lock.path, data)
    own = check.unexpected(after, [name], loose=False)
    if not own:
        return text
    start = len(build.upstream.to) + 1
    held = {path[start:] for paths in state.owners(after).values() for path in paths if path not in own}
    patterns = dict.fromkeys(_pattern(path[start:], held) for path in sorted(own))
    return edit.set_value(text, ("upstreams", name, "local"), list(patterns))


def _pattern(path: str, held: Collection[str]) -> str:
    """What lets a path be the project's own: the topmost folder above it that holds nothing of an entry, or itself."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        if not any(one.startswith(f"{folder}/") for one in held):
            return f"{_escaped(folder)}/*"
    return _escaped(path)


def _escaped(path: str) -> str:
    """A pattern for one path; what a lock cannot show may be any letter."""
    shown = re.sub(r"([*?[])", r"[\1]", path)
    return "".join(letter if letter.isprintable() else "?" for letter in shown)


def _proven(lock: Lock, build: Build, disk: Tree) -> None:
    """Raises ContentError where the entry does not give what is there, and where that is not what was looked at."""
    made = {file.to: Blob(file.final, file.executable) for file in build.files}
    moved = sorted(path for path in made if state.on_disk(lock, path) != (disk[path].data, disk[path].executable))
    if moved:
        raise ContentError(
            f"{state.several(moved)} not what it was when it was looked at: nothing was written",
            hint="run the command again once nothing else writes there",
        )
    wrong = sorted(path for path, blob in made.items() if disk.get(path) != blob)
    if wrong:
        raise ContentError(
            f"{state.several(wrong)} not what the new entry makes: nothing was written",
            hint=f"report it; `{command('vendor-tool', 'add', build.upstream.name)} URL` takes upstream's own files",
        )
