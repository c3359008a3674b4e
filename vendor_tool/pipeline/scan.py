"""`audit --scan`: claims of origin as findings; `sbom`: the bill of materials of what is on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from vendor_tool.documents import cyclonedx, spdx
from vendor_tool.findings import Finding, Level, RuleInfo
from vendor_tool.links import permalink
from vendor_tool.model import Lock
from vendor_tool.origins.scan import Located
from vendor_tool.origins.scan import cover as covered
from vendor_tool.origins.scan import scan as located
from vendor_tool.pipeline import state

RULES: Mapping[str, RuleInfo] = {
    rule.id: rule
    for rule in (
        RuleInfo(
            "origin-uncovered",
            "warning",
            "Code from elsewhere that no entry covers",
            "A comment says that the code was taken from another repository, and no entry of the lock says so: its "
            "licence may ask for a notice. Vendor the file with `vendor-tool add`, or record where it came from.",
        ),
        RuleInfo(
            "origin-covered",
            "note",
            "Code from elsewhere that an entry covers",
            "A comment says where the code was taken from, and an entry of the lock accounts for it.",
        ),
        RuleInfo(
            "origin-mentioned",
            "note",
            "Another place is named",
            "A comment names a path, a project or a reference without saying clearly that code was copied.",
        ),
    )
}


def scan(folder: Path, lock: Lock | None) -> list[Finding]:
    """Every claim of origin below a folder, by path and line; a claim with a link that no entry covers is a warning."""
    found = located(folder)
    if lock is not None:
        found = covered(found, lock)
    return [*_findings(found)]


def _findings(found: list[Located]) -> Iterator[Finding]:
    for one in found:
        claim = one.claim
        rule, level = _rank(one)
        where = permalink(claim.url, claim.ref or "HEAD", claim.path) if claim.url and claim.path else claim.url
        what = f"{claim.verb} {where or claim.text}"
        yield Finding(
            rule,
            level,
            f"tier {claim.tier}, link {claim.state}: {what}",
            path=one.path,
            line=claim.line,
            upstream=one.covered_by,
        )


def _rank(one: Located) -> tuple[str, Level]:
    if one.covered_by:
        return "origin-covered", "note"
    return ("origin-uncovered", "warning") if one.claim.tier == "A" else ("origin-mentioned", "note")


def sbom(lock: Lock, form: str) -> bytes:
    """The bill of materials as `cyclonedx` or `spdx` JSON, over the files as they are on the disk."""
    texts = {}
    for path in cyclonedx.inputs(lock):
        data = state.on_disk(lock, path)[0]
        if data is not None:
            texts[path] = data
    return cyclonedx.render(lock, texts) if form == "cyclonedx" else spdx.render(lock, texts)
