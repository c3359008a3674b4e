"""Who has seen a kernel compute the right thing, as it stands under `resolved: evidence:`, and whether it still counts.

One record for each kind of GPU. Pure, so that documents and rules can read it where nothing can run a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from vendor_tool.model import Resolved

KEY = "evidence"
"""Where the records stand in `Resolved.extra`."""
Record: TypeAlias = Mapping[str, Any]


def recorded(resolved: Resolved) -> tuple[Record, ...]:
    """The records that a lock holds, newest and older, current and stale."""
    found = resolved.extra.get(KEY, ())
    return tuple(item for item in found if isinstance(item, Mapping)) if isinstance(found, list | tuple) else ()


def merged(old: Sequence[Record], new: Sequence[Record]) -> list[Record]:
    """The new records, and the old ones of other kinds of GPU; sorted by GPU."""
    fresh = {record["gpu"] for record in new}
    return sorted(
        [*new, *(record for record in old if record.get("gpu") not in fresh)], key=lambda item: str(item["gpu"])
    )


def stale(evidence: Record, resolved: Resolved, on_disk: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Why one record does not speak of what is vendored now, as sentences; empty when it does.

    `on_disk` adds hashes of files that the block does not hold, the stand-ins, by local path.
    """
    now = {file.to: file.sha256 for file in resolved.files} | dict(on_disk or {})
    then = evidence.get("files", {})
    reasons = [f"`{path}` changed" for path in sorted(now.keys() & then.keys()) if now[path] != then[path]]
    known = {file.to for file in resolved.files}
    reasons += [f"`{path}` is new" for path in sorted(known - then.keys())]
    reasons += [f"`{path}` is gone" for path in sorted(then.keys() - known - set(resolved.shims))]
    if evidence.get("revision") != resolved.revision:
        reasons.append(f"the pin moved from `{str(evidence.get('revision'))[:12]}` to `{resolved.revision[:12]}`")
    if evidence.get("patches", {}) != dict(resolved.patches):
        reasons.append("the patches changed")
    if evidence.get("intent") != resolved.intent:
        reasons.append("the entry in the lock changed")
    before, after = evidence.get("tools", {}), resolved.tools
    reasons += [
        f"{tool} went from {before.get(tool, 'none')} to {after.get(tool, 'none')}"
        for tool in sorted({*before, *after})
        if before.get(tool) != after.get(tool)
    ]
    return tuple(reasons)


def sentence(record: Record) -> str:
    """On what, and when, a record's kernels were verified."""
    versions = ", ".join(f"{name} {record[name]}" for name in ("torch", "tilelang", "apache-tvm-ffi") if name in record)
    return f"verified on {record['date']} on {record['gpu']}, driver {record['driver']}, {versions}"
