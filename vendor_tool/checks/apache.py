"""Apache-2.0, section 4: the text, change notices, holders and NOTICE of files that came under it."""

import re
from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.checks.bodies import folded, similarity
from vendor_tool.checks.carried import names_holder
from vendor_tool.checks.subject import Subject, Vendored, finding, vendored
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import LegalFile, Upstream
from vendor_tool.urls import plain_url

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "LIC-A1", "error", "Apache licence text is missing",
            "Apache-2.0 4(a): recipients get a copy of the licence. A whole, unmodified text must be in the tree "
            "and in what is built from it.",
        ),
        RuleInfo(
            "LIC-A2", "error", "Changed file carries no change notice",
            "Apache-2.0 4(b): a modified file says prominently that it was changed. The header needs a line that says "
            "who changed it.",
        ),
        RuleInfo(
            "LIC-A3", "error", "Copyright or attribution notice is gone",
            "Apache-2.0 4(c): copyright, patent, trademark and attribution notices of the source stay. Lines of the "
            "upstream file's header must be in the local file, the licence's holder there or in NOTICE.",
        ),
        RuleInfo(
            "LIC-A4", "error", "Upstream NOTICE is not carried",
            "Apache-2.0 4(d): the attribution notices of an upstream NOTICE file are part of every distribution.",
        ),
        RuleInfo(
            "LIC-A5", "warning", "Header names only the local holder",
            "The code is mostly upstream's, and the header names nobody but the local company.",
        ),
    )
}  # fmt: skip

_APACHE = "Apache-2.0"
_SECTION = re.compile(r"^([^\n]+)\n-+\n", re.MULTILINE)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of LIC-A1 to LIC-A5, for direct upstreams and ancestors."""
    yield from _text(subject)
    for one in vendored(subject):
        if one.local is None:
            continue
        if _APACHE in legal.identifiers(one.license):
            yield from _changes(one)
            yield from _holders(subject, one)
        yield from _only_local(one)
    for _name, upstream in sorted(subject.lock.upstreams.items()):
        if upstream.resolved and upstream.resolved.files:
            yield from _notice(subject, upstream)


def _text(subject: Subject) -> Iterator[Finding]:
    users = sorted({one.upstream.name for one in vendored(subject) if _APACHE in _licenses(one)})
    if not users:
        return
    here = [
        path for path, found in subject.texts.items() if found.spdx == _APACHE and found.coverage >= 99 and found.plain
    ]
    if not here:
        yield finding(
            RULES["LIC-A1"],
            f"no unmodified Apache-2.0 text in the project, though {_names(users)} came under it",
            fix="vendor-tool sync",
        )
    elif subject.artefact and not any(
        "terms and conditions for use, reproduction" in folded(data) for data in subject.artefact.texts.values()
    ):
        yield finding(
            RULES["LIC-A1"],
            f"`{subject.artefact.name}` holds no Apache-2.0 text, though {_names(users)} came under it",
            path="pyproject.toml",
            fix=f'add "{here[0]}" to `license-files`',
        )


def _licenses(one: Vendored) -> set[str]:
    own = {one.license or ""} | {found.license.spdx or "" for found in one.ancestors if found.license}
    return {name for expression in own for name in legal.identifiers(expression)}


def _changes(one: Vendored) -> Iterator[Finding]:
    if not one.changed:
        return
    known = {text for _line, text in one.upstream_header.changes} if one.upstream_header else set()
    if not any(text not in known for _line, text in one.header.changes):
        yield finding(
            RULES["LIC-A2"],
            f"differs from `{one.file.path}` of {one.upstream.name}, and its header does not say who changed it",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix="add a line such as `Modified by <you>` to `header:` in the lock, then `vendor-tool sync`",
        )


def _holders(subject: Subject, one: Vendored) -> Iterator[Finding]:
    text = " ".join(one.header.text.split())
    header = one.upstream_header
    for line, notice in (*header.copyrights, *header.notices) if header else ():
        if " ".join(notice.split()) not in text:
            yield finding(
                RULES["LIC-A3"],
                f"line {line} of upstream's `{one.file.path}` is gone: `{notice}`",
                upstream=one.upstream,
                file=one.file,
                line=1,
                fix=f"restore `{notice}` in the header",
            )
    section = _section(subject, one.upstream)
    record = one.upstream.resolved
    owners = [record.license if record else None, *(found.license for found in one.ancestors)]
    for license_ in owners:
        yield from _named(one, license_, text, section)


def _named(one: Vendored, license_: LegalFile | None, text: str, section: str) -> Iterator[Finding]:
    if license_ is None or _APACHE not in legal.identifiers(license_.spdx):
        return
    missing = [holder for holder in license_.holders if not names_holder(f"{text} {section}", holder)]
    for holder in missing:
        yield finding(
            RULES["LIC-A3"],
            f"`{holder}` of the licence is named neither in the file nor in NOTICE under {one.upstream.name}",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix="vendor-tool sync",
        )


def _section(subject: Subject, upstream: Upstream) -> str:
    """What NOTICE says of one upstream: under its name, or in the paragraphs that give its address."""
    text = subject.local.get("NOTICE", b"").decode("utf-8", "replace")
    starts = list(_SECTION.finditer(text))
    for number, start in enumerate(starts):
        if start[1].strip() == upstream.name:
            return text[start.start() : starts[number + 1].start() if number + 1 < len(starts) else len(text)]
    address = plain_url(upstream.url).casefold().removesuffix(".git")
    return "\n".join(one for one in re.split(r"\n\s*\n", text) if address in one.casefold())


def _notice(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    record = upstream.resolved
    if record is None:
        return
    found = [record.notice, *(one.notice for one in legal.read(record).ancestors)]
    ours = folded(subject.local.get("NOTICE", b""))
    for notice in found:
        data = subject.local.get(notice.to) or subject.pristine.get(notice.blob) if notice else None
        if notice is None or data is None:
            continue
        for paragraph in re.split(rb"\n\s*\n", data):
            if paragraph.strip() and folded(paragraph) not in ours:
                first = paragraph.strip().splitlines()[0].decode("utf-8", "replace").strip()
                yield finding(
                    RULES["LIC-A4"],
                    f"NOTICE lacks a paragraph of `{notice.path}` of {upstream.name}: `{first}`",
                    upstream=upstream,
                    path="NOTICE",
                    fix="vendor-tool sync",
                )
    if record.notice is None and not _says_none(subject, upstream):
        yield finding(
            RULES["LIC-A4"],
            f"no document says whether {upstream.name} has a NOTICE file at {record.revision[:12]}",
            upstream=upstream,
            level="note",
            fix="vendor-tool sync",
        )


def _says_none(subject: Subject, upstream: Upstream) -> bool:
    """Whether a document that names the revision also speaks of the upstream's NOTICE file."""
    revision = upstream.resolved.revision if upstream.resolved else upstream.revision
    places = [f"{legal.home(upstream)}/PROVENANCE.md", f"{upstream.to}/__init__.py".lstrip("/"), "NOTICE"]
    texts = [subject.local.get(path, b"").decode("utf-8", "replace") for path in places]
    return any(revision in text and re.search(r"\bNOTICE\b", text) for text in texts)


def _only_local(one: Vendored) -> Iterator[Finding]:
    record = one.upstream.resolved
    license_ = record.license if record else None
    theirs = [*(license_.holders if license_ else ())]
    theirs += [text for _line, text in one.upstream_header.copyrights] if one.upstream_header else []
    if not one.header.copyrights or not theirs or one.pristine is None or one.local is None:
        return
    if any(names_holder(one.header.text, holder) for holder in theirs):
        return
    share = similarity(one.local, one.pristine)
    if share >= 0.5:
        line, ours = one.header.copyrights[0]
        yield finding(
            RULES["LIC-A5"],
            f"the header names only `{ours}`, though {share:.0%} of the code is {one.upstream.name}'s",
            upstream=one.upstream,
            file=one.file,
            line=line,
            fix=f"put `{theirs[0]}` above it",
        )


def _names(names: list[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{len(names)} upstreams"
