"""Parity: which kernels somebody saw compute the right thing, when, on what, and what has changed since."""

from collections.abc import Iterator, Mapping

from vendor_tool import evidence
from vendor_tool.checks.subject import Subject, finding
from vendor_tool.evidence import Record
from vendor_tool.findings import Finding, Level, RuleInfo
from vendor_tool.known_bad import known_bad
from vendor_tool.model import Recorded, Upstream

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "PAR-1", "warning", "Evidence is stale",
            "The kernel was verified; bytes, a stand-in, the entry, a patch, a tool or the pin changed since. A note "
            "where evidence of another kind of GPU holds.",
        ),
        RuleInfo(
            "PAR-2", "note", "Kernel is not verified on a GPU",
            "The project has parity tests or evidence, and none that speaks of this kernel.",
        ),
        RuleInfo(
            "PAR-3", "note", "Kernel was verified on a GPU",
            "When and with which versions it was last seen to compute the right thing.",
        ),
    )
}  # fmt: skip


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of PAR-1 to PAR-3; none for a project without parity tests and evidence."""
    entries = [one for _name, one in sorted(subject.lock.upstreams.items()) if one.resolved]
    if not subject.tested and not any(evidence.recorded(one.resolved) for one in entries):
        return
    for upstream in entries:
        yield from _entry(subject, upstream)


def _entry(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    if upstream.resolved is None or not (upstream.resolved.files or upstream.resolved.imports):
        return
    resolved, bad = upstream.resolved, known_bad(subject.lock)
    gone = dict.fromkeys(file.to for file in resolved.files)
    hashes = evidence.digests(resolved, {**gone, **subject.local})
    hashes |= {path: subject.patches[path] for path in resolved.patches if path in subject.patches}
    records = [(record, evidence.stale(record, upstream, hashes, bad)) for record in evidence.recorded(resolved)]
    tested = [evidence.find(upstream, file) for name, file in sorted(subject.tested) if name == upstream.name]
    names = {one.path if isinstance(one, Recorded) else one.name for one in tested if one}
    names |= {name for record, _reasons in records for name in record["kernels"]}
    if not names:
        yield _told("PAR-2", upstream, None, f"nothing of {upstream.name} is verified on a GPU")
    for name in sorted(names):
        mine = [(record, reasons) for record, reasons in records if name in record["kernels"]]
        yield from _kernel(upstream, name, mine)


def _kernel(upstream: Upstream, name: str, records: list[tuple[Record, tuple[str, ...]]]) -> Iterator[Finding]:
    short = f"`{name.rpartition('/')[2]}`"
    if not records:
        yield _told("PAR-2", upstream, name, f"{short} is not verified on a GPU")
    holds = any(not reasons for _record, reasons in records)
    for record, reasons in records:
        sentence = evidence.sentence(record)
        if reasons:
            level: Level | None = "note" if holds else None
            yield _told("PAR-1", upstream, name, f"{short} was {sentence}, stale: {'; '.join(reasons)}", level)
        else:
            yield _told("PAR-3", upstream, name, f"{short} was {sentence}")


def _told(rule: str, upstream: Upstream, name: str | None, message: str, level: Level | None = None) -> Finding:
    item = evidence.find(upstream, name) if name else None
    return finding(
        RULES[rule],
        message,
        upstream=upstream,
        file=item if isinstance(item, Recorded) else None,
        level=level,
        fix=None if rule == "PAR-3" else f"vendor-tool parity {upstream.name} --update-evidence, on a GPU",
    )
