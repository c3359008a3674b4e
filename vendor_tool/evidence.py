"""Who has seen a kernel compute the right thing, as it stands under `resolved: evidence:`, and whether it still counts.

One record for each kind of GPU. Pure, so that documents and rules can read it where nothing can run a kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from vendor_tool import known_bad
from vendor_tool.known_bad import Bad
from vendor_tool.model import Recorded, RecordedImport, Resolved, Upstream

KEY = "evidence"
"""Where the records stand in `Resolved.extra`."""
TESTS = "tests/parity"
"""The folder of a project's parity tests."""
NEVER = "not verified on a GPU"
Record: TypeAlias = Mapping[str, Any]

_WORDS = ("gpu", "driver", "date", "revision", "intent")
_TABLES = ("tools", "patches", "files", "kernels")
_MOST = 3  # reasons that a sentence gives


def recorded(resolved: Resolved | None) -> tuple[Record, ...]:
    """The records that a lock holds, newest and older, current and stale. What has not a record's form is none."""
    found = resolved.extra.get(KEY, ()) if resolved else ()
    return tuple(item for item in found if _sound(item)) if isinstance(found, list | tuple) else ()


def merged(old: Sequence[Record], new: Sequence[Record]) -> list[Record]:
    """The new records, and the old ones of other kinds of GPU; sorted by GPU."""
    fresh = {record["gpu"] for record in new}
    return sorted([*new, *(record for record in old if record["gpu"] not in fresh)], key=lambda item: str(item["gpu"]))


def digests(resolved: Resolved, contents: Mapping[str, bytes | None]) -> dict[str, str | None]:
    """sha256 by local path of what a record rests on, of those in `contents`: files, stand-ins, patches.

    None for a path whose content is None: it is gone.
    """
    paths = (*(file.to for file in resolved.files), *resolved.shims, *resolved.patches)
    found = ((path, contents[path]) for path in paths if path in contents)
    return {path: None if data is None else hashlib.sha256(data).hexdigest() for path, data in found}


def inputs(upstream: Upstream) -> dict[str, Any]:
    """What a record of an entry rests on, but for the bytes of files: as the lock has it when the kernels run."""
    resolved = upstream.resolved
    return {
        "revision": resolved.revision if resolved else upstream.revision,
        "intent": upstream.intent,
        "requires": dict(upstream.requires),
        "tools": dict(resolved.tools) if resolved else {},
        "patches": dict(resolved.patches) if resolved else {},
    }


def stale(
    record: Record, upstream: Upstream, hashes: Mapping[str, str | None], bad: Sequence[Bad] = ()
) -> tuple[str, ...]:
    """Why one record does not speak of what is vendored now, as sentences; empty when it does, or nothing was synced.

    Causes come before what they did to bytes. `hashes` are what stands on the disk (see `digests`): the stand-ins, and
    what else was looked at; the lock is believed for the rest. `bad` are the combinations of versions known to be bad.
    """
    resolved = upstream.resolved
    if resolved is None:
        return ()
    moved = [one for one in dict.fromkeys((resolved.revision, upstream.revision)) if one != record["revision"]]
    reasons = [f"the pin moved from `{record['revision'][:12]}` to `{one[:12]}`" for one in moved]
    if {resolved.intent, upstream.intent} != {record["intent"]}:
        reasons.append("the entry in the lock changed")
    reasons += _changes("`requires:` of ", record.get("requires", {}), upstream.requires)
    patches = {path: hashes.get(path, digest) for path, digest in resolved.patches.items()}
    if record["patches"] != patches:
        reasons.append("the patches changed")
    reasons += _changes("", record["tools"], resolved.tools)
    now = {file.to: file.sha256 for file in resolved.files} | {k: v for k, v in hashes.items() if k not in patches}
    versions = {name: value for name, value in record.items() if isinstance(value, str) and name not in _WORDS}
    return (*reasons, *_bytes(record["files"], now), *refused(versions, bad))


def _bytes(then: Mapping[str, str], now: Mapping[str, str | None]) -> Iterator[str]:
    there = {path for path, digest in now.items() if digest is not None}
    yield from (f"`{path}` changed" for path in sorted(there & then.keys()) if now[path] != then[path])
    yield from (f"`{path}` is new" for path in sorted(there - then.keys()))
    yield from (f"`{path}` is gone" for path in sorted(then.keys() - there))


def refused(versions: Mapping[str, str], bad: Sequence[Bad]) -> Iterator[str]:
    """Which of these versions, by distribution in any spelling, are known to be bad now, as sentences."""
    here = {known_bad.canonical(name): version for name, version in versions.items()}
    for one in bad:
        if known_bad.matches(one.versions, here):
            pair = " with ".join(f"{name} {here[name]}" for name in one.versions)
            yield f"{pair} is known to be bad: {one.reason}"


def sentence(record: Record) -> str:
    """On what, and when, a record's kernels were verified."""
    versions = ", ".join(f"{name} {record[name]}" for name in ("torch", "tilelang", "apache-tvm-ffi") if name in record)
    return f"verified on {record['date']} on {record['gpu']}, driver {record['driver']}, {versions}"


def told(upstream: Upstream, hashes: Mapping[str, str | None], bad: Sequence[Bad] = ()) -> str:
    """Who saw which kernels of an entry compute the right thing; "not verified" where nobody did.

    `hashes` and `bad` as above.
    """
    current, old = [], []
    for record in recorded(upstream.resolved):
        reasons = stale(record, upstream, hashes, bad)
        if reasons:
            more = f" and {len(reasons) - _MOST} more" if len(reasons) > _MOST else ""
            why = ", ".join(reasons[:_MOST]) + more
            old.append(f"what was seen on {record['date']} on {record['gpu']} is stale: {why}")
        else:
            current.append(f"{sentence(record)}: {', '.join(f'`{name}`' for name in _shown(record, upstream))}")
    if current:
        return "; ".join(current)
    return NEVER + (f" ({'; '.join(old)})" if old else "")


def find(upstream: Upstream, wanted: str) -> Recorded | RecordedImport | None:
    """The file or run-time import that a parity test names: by its path below `from`, its whole path, a dotted name."""
    resolved = upstream.resolved
    items: tuple[Recorded | RecordedImport, ...] = (*resolved.files, *resolved.imports) if resolved else ()
    path = str(PurePosixPath(upstream.from_, wanted))
    named = (one for one in items if wanted in (one.path, getattr(one, "name", None)) or one.path == path)
    return next(named, None)


def marked(test: bytes) -> Iterator[tuple[str, str]]:
    """Upstream and file of each `kernel(upstream, file)` marker in a test's source; nothing where that is no Python."""
    import ast

    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "kernel":
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(words) == 2:
                yield words[0], words[1]


def _changes(of: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return [
        f"{of}{name} went from {before.get(name, 'none')} to {after.get(name, 'none')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _shown(record: Record, upstream: Upstream) -> list[str]:
    """A record's kernels as people know them: local paths, dotted names."""
    found = [(name, find(upstream, name)) for name in record["kernels"]]
    return [item.to if isinstance(item, Recorded) else name for name, item in found]


def _sound(item: object) -> bool:
    return (
        isinstance(item, Mapping)
        and all(isinstance(item.get(name), str) for name in _WORDS)
        and all(isinstance(item.get(name), Mapping) for name in _TABLES)
    )
