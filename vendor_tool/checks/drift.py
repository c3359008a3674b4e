"""Drift: what stands on the disk, or in the lock, is not what the record says. Pure and offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.findings import Finding, RuleInfo, Side
from vendor_tool.model import Lock, Recorded, Upstream
from vendor_tool.values import dataclass, field
from vendor_tool.words import command

RULES: Mapping[str, RuleInfo] = {
    rule.id: rule
    for rule in (
        RuleInfo(
            "drift-interrupted",
            "error",
            "A run was killed",
            "A run died while it swapped files. The next `sync` ends it.",
        ),
        RuleInfo(
            "drift-not-synced",
            "error",
            "Entry without a record",
            "The lock names an upstream that was never synced.",
        ),
        RuleInfo(
            "drift-revision",
            "error",
            "Revision edited",
            "`revision:` is not the one that was synced.",
        ),
        RuleInfo(
            "drift-lock",
            "error",
            "Entry edited",
            "The entry's addresses, files, rules or patches are not those that were synced.",
        ),
        RuleInfo(
            "drift-record",
            "error",
            "Record edited",
            "A `resolved:` block was changed by something else than this tool.",
        ),
        RuleInfo(
            "drift-edited",
            "error",
            "File edited",
            "A vendored file does not have the recorded bytes.",
        ),
        RuleInfo(
            "drift-missing",
            "error",
            "File missing",
            "A vendored file is not there, or is no plain file.",
        ),
        RuleInfo(
            "drift-mode",
            "error",
            "Executable bit changed",
            "A vendored file's executable bit is not the recorded one.",
        ),
        RuleInfo(
            "drift-unexpected",
            "error",
            "File that nobody vendored",
            "A file stands in a vendored folder, or among the licence texts, and no entry claims it.",
        ),
        RuleInfo(
            "drift-orphan",
            "error",
            "File whose entry is gone",
            "A provenance page accounts for a file that no entry claims any more: its entry was taken out by hand.",
        ),
        RuleInfo(
            "drift-patch",
            "error",
            "Patch edited",
            "A patch is not the one that was applied, or is not there.",
        ),
        RuleInfo(
            "drift-document",
            "error",
            "Document stale",
            "A generated document or shim is not what the lock makes of it.",
        ),
        RuleInfo(
            "drift-rebuild",
            "error",
            "Not what upstream makes",
            "Rules and patches, applied to upstream's bytes again, give other bytes.",
        ),
        RuleInfo(
            "drift-upstream-blob",
            "error",
            "Record and upstream differ",
            "The recorded blob is not what upstream holds at the recorded revision.",
        ),
    )
}

LAYOUT = "layout alone differs, as after a formatter (`vendor-tool fence --write` keeps formatters away)"


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands at a local path: digest and mode, and where the first line differs, if that can be told."""

    sha256: str | None  # None: nothing, or no plain file
    executable: bool = False
    line: int | None = None
    layout: bool = False  # it differs as a formatter's input and output do


@dataclass(frozen=True, slots=True)
class Subject:
    """What the drift rules look at."""

    lock: Lock
    names: tuple[str, ...]  # upstreams that were asked for
    disk: Mapping[str, Standing]  # of every recorded path
    legal: Mapping[str, tuple[Recorded, ...]]  # upstream -> copies of licence texts
    patches: Mapping[str, str | None]  # local path -> sha256
    stale: Mapping[str, bool] = field(default_factory=dict)  # generated path -> whether something stands there
    unexpected: Mapping[str, str] = field(default_factory=dict)  # local path -> upstream whose folder it is in
    digests: Mapping[str, str] = field(default_factory=dict)  # sha256 of stale and unexpected files that are there
    orphans: tuple[str, ...] = ()  # local paths that a provenance page names and no entry claims
    pending: bool = False


def check(subject: Subject) -> Iterator[Finding]:
    """Everything that differs, upstream by upstream, then documents."""
    if subject.pending:
        yield Finding(
            "drift-interrupted", "error", "a run was killed while it wrote files", side="local", fix="vendor-tool sync"
        )
    for name in subject.names:
        upstream = subject.lock.upstreams[name]
        yield from _lock(subject, upstream)
        yield from _files(subject, upstream)
    for path in sorted(path for path, name in subject.unexpected.items() if not name):
        yield Finding(
            "drift-unexpected", "error", f"`{path}` stands among the licence texts and no entry claims it", path, 1,
            side="local", fix="remove it, or move it elsewhere", digest=short(subject.digests.get(path)),
        )  # fmt: skip
    for path in subject.orphans:
        yield Finding(
            "drift-orphan",
            "error",
            f"`{path}` was vendored by an entry that is not in the lock any more",
            path,
            1,
            side="record",
            fix=command("git", "rm", "--", path),
        )
    for path, there in sorted(subject.stale.items()):
        what = "is not what the lock makes of it" if there else "is missing"
        yield Finding(
            "drift-document", "error", f"generated file `{path}` {what}", path, 1, side="local", fix="vendor-tool sync",
            digest=short(subject.digests.get(path)),
        )  # fmt: skip


def short(sha256: str | None) -> str | None:
    """A digest as findings hold it."""
    return None if sha256 is None else sha256[:16]


def _lock(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    sync = f"vendor-tool sync {upstream.name}"

    def finding(rule: str, message: str, line: int, side: Side = "record", fix: str = sync) -> Finding:
        digest = upstream.revision[:16] if rule == "drift-revision" else None
        return Finding(
            rule, "error", message, lock_line=line, upstream=upstream.name, side=side, fix=fix, digest=digest
        )

    found = upstream.resolved
    if found is None:
        yield finding("drift-not-synced", f"upstream `{upstream.name}` was never synced", upstream.at.line)
        return
    if found.revision != upstream.revision:
        yield finding(
            "drift-revision",
            f"`revision:` of `{upstream.name}` is `{upstream.revision[:12]}`, `{found.revision[:12]}` was synced",
            upstream.revision_at.line,
            fix=f"vendor-tool sync {upstream.name}@{upstream.revision[:12]}",
        )
    if found.intent != upstream.intent:
        yield finding("drift-lock", f"the entry of `{upstream.name}` was edited after the last sync", upstream.at.line)
    elif not legal.placed(upstream):
        yield finding("drift-lock", f"the entry `{upstream.name}` got its name after the last sync", upstream.at.line)
    if not found.sealed:
        yield finding("drift-record", f"the record of `{upstream.name}` was edited by hand", found.at.line)
    for spec in upstream.patches:
        digest = subject.patches.get(spec.path)
        if digest != found.patches.get(spec.path) and spec.path in found.patches:
            what = "is not there" if digest is None else "is not the one that was applied"
            yield Finding(
                "drift-patch", "error", f"patch `{spec.path}` {what}", spec.path, 1, spec.at.line, upstream.name,
                "local", command("git", "checkout", "--", spec.path) if digest is None else sync, short(digest),
            )  # fmt: skip


def _files(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    if upstream.resolved is None:
        return
    side: Side = "local" if upstream.resolved.sealed else "both"
    for item in (*upstream.resolved.files, *subject.legal[upstream.name]):
        found = _file(upstream, item, subject.disk[item.to], side)
        if found is not None:
            yield found
    for path, name in sorted(subject.unexpected.items()):
        if name == upstream.name:
            own = path.startswith(f"{upstream.to}/")
            fix = f"remove it, or list it under `local:` of `{name}` in {subject.lock.path.name}"
            yield Finding(
                "drift-unexpected", "error", f"`{path}` stands in the folder of `{name}` and no entry claims it",
                path, 1, upstream.at.line, name, "local", fix if own else "remove it, or move it elsewhere",
                short(subject.digests.get(path)),
            )  # fmt: skip


def _file(upstream: Upstream, item: Recorded, disk: Standing, side: Side) -> Finding | None:
    sync = f"vendor-tool sync {upstream.name}"

    def finding(rule: str, message: str, line: int | None, fix: str, side: Side = side) -> Finding:
        digest = short(disk.sha256) if rule == "drift-edited" else None
        return Finding(rule, "error", message, item.to, line, item.at.line, upstream.name, side, fix, digest)

    if disk.sha256 is None:
        away = f"move what stands at `{item.to}` away, if anything does, then {sync}"
        return finding("drift-missing", f"`{item.to}` is missing, or is no plain file", None, away, "local")
    if disk.sha256 != item.sha256:
        keep = f"vendor-tool sync --force {upstream.name}"
        if "/LICENSES/" not in f"/{item.to}":  # a licence text is nobody's to edit
            keep = f"vendor-tool patch new {upstream.name}, or {keep}"
        what = f"`{item.to}` does not have the recorded bytes" + (f": {LAYOUT}" if disk.layout else "")
        return finding("drift-edited", what, disk.line or 1, keep)
    if disk.executable != item.executable:
        what = "is executable" if disk.executable else "is not executable any more"
        return finding("drift-mode", f"`{item.to}` {what}", 1, f"{sync} --force", "local")
    return None
