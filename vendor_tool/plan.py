"""From what people wrote to what is to be done: which upstream file goes where. Pure; clashes end here."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping

from vendor_tool.errors import UsageError
from vendor_tool.model import At, Entry, FileSpec, Lock, Snapshot, Upstream
from vendor_tool.paths import unsafe
from vendor_tool.values import dataclass
from vendor_tool.words import command


@dataclass(frozen=True, slots=True)
class Target:
    """One vendored file: the upstream path, the local path, and the item of `files:` that asks for it."""

    path: str
    to: str
    spec: FileSpec


@dataclass(frozen=True, slots=True)
class Selection:
    """One upstream of a command line, with the revision that was asked for; None: the locked one."""

    upstream: Upstream
    rev: str | None


def select(lock: Lock, names: Iterable[str]) -> tuple[Selection, ...]:
    """The upstreams that `NAME` or `NAME@REV` arguments name, in the lock's order; all of them where none is named.

    Raises UsageError for an unknown name, and for one upstream at two revisions.
    """
    wanted: dict[str, str | None] = {}
    for argument in names:
        name, at, rev = argument.partition("@")
        if name not in lock.upstreams:
            raise UsageError(f"no upstream `{name}` in `{lock.path.name}`", hint=_known(lock, name))
        if at and not rev:
            raise UsageError(f"`{argument}` names no revision", hint=f"write `{name}@REV` or `{name}`")
        if name in wanted and wanted[name] != (rev or None):
            raise UsageError(f"`{name}` is asked for at two revisions", hint="name it once")
        wanted[name] = rev or None
    chosen = wanted or dict.fromkeys(lock.upstreams)
    return tuple(Selection(item, chosen[name]) for name, item in lock.upstreams.items() if name in chosen)


def _known(lock: Lock, name: str) -> str:
    if not lock.upstreams:
        return f"the lock holds none yet: `{command('vendor-tool', 'add', name)} URL`"
    return "it holds " + ", ".join(f"`{known}`" for known in lock.upstreams)


def join(prefix: str, path: str) -> str:
    """Two parts of a path, of which the first may be empty."""
    return f"{prefix}/{path}" if prefix else path


def targets(upstream: Upstream, snapshot: Snapshot, lock_name: str) -> tuple[Target, ...]:
    """Every file of an entry, sorted by local path; globs are looked up in the snapshot.

    Raises UsageError with the lock's line for a file or a glob that the revision does not hold, for one file that
    two items take, and for what is no plain file (symbolic link, submodule).
    """
    found: dict[str, Target] = {}
    for spec in upstream.files:
        for target in _expand(upstream, spec, snapshot, lock_name):
            entry = snapshot.entries[target.path]
            _plain_file(upstream, target, entry, snapshot, lock_name)
            other = found.get(target.to)
            if other is not None and other.path != target.path:
                raise UsageError(
                    f"{place(lock_name, spec.at)}: `{other.path}` and `{target.path}` of upstream `{upstream.name}` "
                    f"both go to `{target.to}`",
                    hint="give one of them another `to:`",
                )
            if other is not None and not is_glob(other.spec.path) and not is_glob(spec.path):
                raise UsageError(
                    f"{place(lock_name, spec.at)}: `{target.path}` of upstream `{upstream.name}` is listed twice",
                    hint=f"remove one; the other is on line {other.spec.at.line}",
                )
            if other is None or is_glob(other.spec.path):
                found[target.to] = target
    return tuple(found[to] for to in sorted(found))


def _expand(upstream: Upstream, spec: FileSpec, snapshot: Snapshot, lock_name: str) -> list[Target]:
    wanted = join(upstream.from_, spec.path)
    if not is_glob(spec.path):
        if wanted not in snapshot.entries:
            raise UsageError(_missing(upstream, spec, wanted, snapshot, lock_name), hint=_near(wanted, snapshot))
        return [Target(wanted, join(upstream.to, spec.to or spec.path), spec)]
    prefix = f"{upstream.from_}/" if upstream.from_ else ""
    matches = glob(spec.path)
    hits = [path for path in snapshot.entries if path.startswith(prefix) and matches.fullmatch(path[len(prefix) :])]
    if not hits:
        raise UsageError(
            f"{place(lock_name, spec.at)}: `{spec.path}` matches no file below `{upstream.from_ or '.'}` of upstream "
            f"`{upstream.name}` at `{snapshot.revision[:12]}`",
            hint="mend the glob, or remove it: a rule that does nothing hides a mistake",
        )
    # a file that is listed by name stands where that item says, and not in a second place too
    named = {join(upstream.from_, one.path) for one in upstream.files if not is_glob(one.path)}
    return [Target(path, join(upstream.to, path[len(prefix) :]), spec) for path in hits if path not in named]


def glob(pattern: str) -> re.Pattern[str]:
    """A glob as an expression: `*` and `?` stay within one folder, `**/` spans any number of them."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    special = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if "[" in pattern:
        text = "/".join(fnmatch.translate(part)[4:-3] for part in pattern.split("/"))
        return re.compile(text, re.DOTALL)
    return re.compile("".join(special.get(part, re.escape(part)) for part in parts), re.DOTALL)


def is_glob(path: str) -> bool:
    return any(letter in path for letter in "*?[")


def place(lock_name: str, at: At) -> str:
    """`vendor.lock.yaml:LINE:COLUMN`."""
    return f"{lock_name}:{at.line}:{at.column}"


def _missing(upstream: Upstream, spec: FileSpec, wanted: str, snapshot: Snapshot, lock_name: str) -> str:
    where = f"upstream `{upstream.name}` at `{snapshot.revision[:12]}`"
    if any(path.startswith(f"{wanted}/") for path in snapshot.entries):
        return f"{place(lock_name, spec.at)}: `{wanted}` is a folder in {where}"
    return f"{place(lock_name, spec.at)}: `{wanted}` is not in {where}"


def _near(wanted: str, snapshot: Snapshot) -> str:
    import difflib

    if any(path.startswith(f"{wanted}/") for path in snapshot.entries):
        return f"take its files with a glob, such as `{wanted.rpartition('/')[2]}/*.py`"
    name = wanted.rpartition("/")[2]
    same = [path for path in snapshot.entries if path.rpartition("/")[2] == name]
    close = same or difflib.get_close_matches(wanted, list(snapshot.entries)[:20000], 3, 0.8)
    if close:
        return "did you mean " + " or ".join(f"`{path}`" for path in close[:3]) + "?"
    return "see what is there with `vendor-tool diff`, and mend `from:` or the path"


def _plain_file(upstream: Upstream, target: Target, entry: Entry, snapshot: Snapshot, lock_name: str) -> None:
    kinds = {"120000": "a symbolic link", "160000": "a submodule"}
    kind = kinds.get(entry.mode)
    reason = unsafe(target.to) or (None if target.to.isprintable() else "holds a character that cannot be shown")
    if reason:
        raise UsageError(
            f"{place(lock_name, target.spec.at)}: {target.path!a} of upstream `{upstream.name}` {reason}",
            hint="list the files that you want one by one, with a plain `to:` each",
        )
    if kind is None:
        return
    raise UsageError(
        f"{place(lock_name, target.spec.at)}: `{target.path}` of upstream `{upstream.name}` at "
        f"`{snapshot.revision[:12]}` is {kind}, not a file",
        hint="name the file that it stands for: links and submodules are not followed",
    )


# ---- clashes ----------------------------------------------------------------------------------------------


def clashes(lock: Lock, owners: Mapping[str, Iterable[str]], documents: Iterable[str] = ()) -> None:
    """Refuse two owners of one local path. `owners` maps an upstream's name to the local paths it writes.

    Raises UsageError for equal paths, for paths that differ only in case (one file on some disks), for a file where
    another entry has a folder, and for files that this tool writes itself.
    """
    seen: dict[str, tuple[str, str]] = {}
    reserved = {path: "the tool's own documents" for path in documents}
    reserved |= {spec.to: f"the shim of `{spec.module}`" for spec in lock.shims.values()}
    reserved[lock.path.name] = "the lockfile"
    for path, owner in reserved.items():
        seen[path.casefold()] = (path, owner)
    for name, paths in owners.items():
        for path in paths:
            other = seen.setdefault(path.casefold(), (path, f"upstream `{name}`"))
            if other != (path, f"upstream `{name}`"):
                raise _clash(lock, name, path, other)
    folders = {parent: path for path, _ in seen.values() for parent in _parents(path)}
    for path, owner in seen.values():
        below = folders.get(path.casefold())
        if below is not None:
            raise UsageError(
                f"`{path}` of {owner} is a file, and `{below}` of {seen[below.casefold()][1]} needs a folder there",
                hint="give one of them another `to:`",
            )


def _parents(path: str) -> list[str]:
    parts = path.casefold().split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _clash(lock: Lock, name: str, path: str, other: tuple[str, str]) -> UsageError:
    where = place(lock.path.name, lock.upstreams[name].at)
    same = "write" if path == other[0] else "differ only in the case of their letters:"
    message = f"{where}: {other[1]} and upstream `{name}` both {same} `{path}`"
    if path != other[0]:
        message = f"{where}: `{other[0]}` of {other[1]} and `{path}` of upstream `{name}` {same[:-1]}"
    return UsageError(message, hint="give one of them another `to:`")


def listed(upstream: Upstream) -> tuple[str, ...]:
    """The local paths that can be told without the upstream: those that are no globs, and those recorded."""
    named = {join(upstream.to, spec.to or spec.path) for spec in upstream.files if not is_glob(spec.path)}
    if upstream.resolved and any(is_glob(spec.path) for spec in upstream.files):
        named |= {item.to for item in upstream.resolved.files}
    return tuple(sorted(named))


def spec_of(upstream: Upstream, path: str) -> FileSpec | None:
    """The item of `files:` that asks for an upstream path: one that names it, or else the last glob that meets it."""
    prefix = f"{upstream.from_}/" if upstream.from_ else ""
    below = path[len(prefix) :] if path.startswith(prefix) else None
    found = None
    for spec in upstream.files:
        if spec.path == below:
            return spec
        if below is not None and is_glob(spec.path) and glob(spec.path).fullmatch(below):
            found = spec
    return found


def mapping(upstream: Upstream) -> dict[str, str]:
    """Upstream path to local path, as far as an entry tells without its upstream."""
    named = {
        join(upstream.from_, spec.path): join(upstream.to, spec.to or spec.path)
        for spec in upstream.files
        if not is_glob(spec.path)
    }
    recorded = upstream.resolved.files if upstream.resolved else ()
    return {item.path: item.to for item in recorded if item.path} | named
