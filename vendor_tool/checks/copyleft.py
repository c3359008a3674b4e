"""MPL-2.0: copyleft by file, so what counts is each file's own header."""

import re
from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.checks.subject import Subject, Vendored, finding, vendored
from vendor_tool.findings import Finding, RuleInfo

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "LIC-P1", "error", "MPL file lost its header or was relicensed",
            "MPL-2.0 3.1 and 1.4: a covered file keeps its notice, and stays MPL-2.0 with all local edits.",
        ),
        RuleInfo(
            "LIC-P2", "error", "A notice line of an MPL file was removed",
            "MPL-2.0 3.4: licence, patent, warranty and liability notices are not removed.",
        ),
        RuleInfo(
            "LIC-P3", "warning", "Compiled MPL files without word of their source",
            "MPL-2.0 3.2: who gets an executable form is told where the source is.",
        ),
        RuleInfo(
            "LIC-P4", "warning", "MPL file that excludes secondary licences beside a GPL file",
            "MPL-2.0, exhibit B: such a file cannot be combined with GPL files. A person has to judge.",
        ),
    )
}  # fmt: skip

_MPL = "MPL-2.0"
_NOTICE = re.compile(r"licen[cs]e|patent|warrant|liabilit|covered software|mozilla", re.IGNORECASE)
_EXCLUDES = re.compile(r"incompatible with secondary licenses", re.IGNORECASE)
_BINARY = (".so", ".pyd", ".dll", ".dylib", ".pyc", ".a")


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of LIC-P1 to LIC-P4, for files that are MPL-2.0 by their header or by the lock."""
    covered = [one for one in vendored(subject) if _is_covered(one)]
    gpl = [one.file.to for one in vendored(subject) if any("GPL" in name for name in legal.identifiers(one.license))]
    for one in covered:
        if one.local is None:
            continue
        yield from _header(one)
        yield from _notices(one)
        yield from _source(subject, one)
        if gpl and one.upstream_header and _EXCLUDES.search(one.upstream_header.text):
            yield finding(
                RULES["LIC-P4"],
                f"may not be combined with GPL files, and `{gpl[0]}` is one",
                upstream=one.upstream,
                file=one.file,
                fix="take one of the two out",
            )


def _is_covered(one: Vendored) -> bool:
    header = one.upstream_header.spdx if one.upstream_header else None
    return _MPL in legal.identifiers(header) | legal.identifiers(one.license)


def _header(one: Vendored) -> Iterator[Finding]:
    had = one.upstream_header and _MPL in legal.identifiers(one.upstream_header.spdx)
    if had and _MPL not in legal.identifiers(one.header.spdx):
        yield finding(
            RULES["LIC-P1"],
            f"upstream's `{one.file.path}` says that it is MPL-2.0, the file here does not",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix="restore the header",
        )
    if had and _MPL not in legal.identifiers(one.license):
        yield finding(
            RULES["LIC-P1"],
            f"is MPL-2.0 by its header, the lock gives {one.license}",
            upstream=one.upstream,
            file=one.file,
            fix="set `license: MPL-2.0` of the file in the lock",
        )


def _notices(one: Vendored) -> Iterator[Finding]:
    text = " ".join(one.header.text.split())
    lines = one.upstream_header.text.splitlines() if one.upstream_header else []
    gone = [line.strip() for line in lines if _NOTICE.search(line) and " ".join(line.split()) not in text]
    if gone:
        yield finding(
            RULES["LIC-P2"],
            f"{len(gone)} notice lines of upstream's `{one.file.path}` are gone, the first: `{gone[0]}`",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix="restore the lines",
        )


def _source(subject: Subject, one: Vendored) -> Iterator[Finding]:
    artefact, record = subject.artefact, one.upstream.resolved
    if artefact is None or record is None or any(path.endswith(one.file.to) for path in artefact.files):
        return
    compiled = any(path.endswith(_BINARY) for path in artefact.files)
    if compiled and not any(record.revision.encode() in data for data in artefact.texts.values()):
        yield finding(
            RULES["LIC-P3"],
            f"`{artefact.name}` holds compiled files, not this source, and no text says where it is",
            upstream=one.upstream,
            file=one.file,
            fix='add "NOTICE" to `license-files`',
        )
