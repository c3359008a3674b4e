"""Files that the lock maps and another revision lacks: refused, with a proposal where their content went."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from vendor_tool import fetch, moves, plan
from vendor_tool.errors import ConflictError
from vendor_tool.model import Access, FileSpec, Lock, Snapshot, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.values import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """From one revision of an upstream to another, and how to read them."""

    upstream: Upstream
    old: Snapshot
    new: Snapshot
    access: Access
    held: Mapping[str, bytes] | None = None  # by blob id, what to take for the contents of an old revision that is gone


def require_mapped(lock: Lock, way: Way) -> None:
    """Refuse a revision that lacks a mapped file, named or taken by a glob and patched: a silent drop is a loss."""
    upstream, new = way.upstream, way.new
    specs = [spec for spec in upstream.files if not plan.is_glob(spec.path)]
    specs = [spec for spec in specs if plan.join(upstream.from_, spec.path) not in new.entries]
    gone = [(plan.join(upstream.from_, spec.path), spec) for spec in specs]
    globbed = _patched_and_gone(lock, upstream, new)
    if not gone and not globbed:
        return
    gone += globbed
    lines = [f"{len(gone)} mapped, and not in `{upstream.name}` at `{new.revision[:12]}`:"]
    lines += [moves.describe(one) for one in proposals(way, [path for path, _ in gone])]
    drop = f", or give up its patch with `vendor-tool patch drop {upstream.name} N`" if globbed else ""
    raise ConflictError(
        "\n  ".join(lines),
        hint=f"change `files:` (line {gone[0][1].at.line} of {lock.path.name}){drop}, then run "
        f"`vendor-tool sync {upstream.name}@{new.revision[:12]}` again; nothing was changed",
    )


def split_off(way: Way, path: str, removed: Collection[str]) -> tuple[str, ...]:
    """Where functions and classes went that the new revision took out of a file and put into others, in words."""
    found: dict[str, list[str]] = {}
    for one in proposals(way, [path]):
        for fate in one.fates:
            if fate.name in removed and fate.path not in (None, path):
                found.setdefault(str(fate.path), []).append(fate.name)
    return tuple(f"`{path}` lost {_names(names)} to `{place}`" for place, names in found.items())


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"`{name}`" for name in names[:5]) + more


def _patched_and_gone(lock: Lock, upstream: Upstream, new: Snapshot) -> list[tuple[str, FileSpec]]:
    """Recorded files that a glob took, that a patch changes and that `new` lacks, each with its glob."""
    named = {
        plan.join(upstream.to, spec.to or spec.path) for spec in upstream.files if not plan.is_glob(spec.path)
    }  # what a name puts in the place of a file that went is what the patch changes from now on
    known = upstream.resolved.files if upstream.resolved else ()
    lacking = [item for item in known if item.path and item.path not in new.entries and item.to not in named]
    if not lacking:
        return []
    patched = frozenset[str]().union(*(one.paths for one in builds.read_series(lock, upstream)))
    found = [(item.path, plan.spec_of(upstream, item.path)) for item in lacking if item.to in patched]
    return [(path, spec) for path, spec in found if spec is not None]


def proposals(way: Way, paths: Sequence[str]) -> tuple[moves.Proposal, ...]:
    """Where the content of mapped files went that the new revision lacks."""
    old, new, access = way.old, way.new, way.access
    known = [path for path in paths if path in old.entries]
    oids = {old.entries[path].oid for path in known}
    contents = way.held
    if contents is None:
        contents = fetch.blobs(way.upstream, old.revision, oids, access) if oids else {}
    missing = {path: contents[old.entries[path].oid] for path in known}
    # of a revision that nobody gives any more there is nothing to read
    before = fetch.reader(way.upstream, old, access) if way.held is None else None
    return moves.propose(missing, old.entries, new.entries, fetch.reader(way.upstream, new, access), before)
