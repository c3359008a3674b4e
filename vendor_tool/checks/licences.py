"""Licences of what was vendored: texts that must travel, terms nobody agreed to, and what the project allows."""

import re
from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.checks.carried import in_artefact, in_tree
from vendor_tool.checks.subject import Subject, Vendored, finding, sources, vendored
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.legal import Ancestor
from vendor_tool.links import repository
from vendor_tool.model import LegalFile, Upstream
from vendor_tool.urls import plain_url

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "LIC-M1", "error", "MIT text or holder does not travel",
            "MIT and ISC: the copyright notice and the permission notice are in all copies. Upstream's own omission is "
            "no excuse: the text is owed for every ancestor.",
        ),
        RuleInfo(
            "LIC-B1", "error", "BSD text is missing from the source tree",
            "BSD clause 1: redistributions of source keep copyright notice, conditions and disclaimer.",
        ),
        RuleInfo(
            "LIC-B2", "error", "BSD text is missing from the wheel",
            "BSD clause 2: redistributions in binary form reproduce the same three.",
        ),
        RuleInfo(
            "LIC-B3", "note", "A holder's name stands beside a word of endorsement",
            "BSD-3-Clause, clause 3: names of holders and contributors do not endorse or promote products without "
            "permission. A person has to read the sentence.",
        ),
        RuleInfo(
            "LIC-X1", "error", "File header and lock name different licences",
            "The header of a vendored file names a licence that the lock does not give for it, or the lock's licence "
            "is not the one of the licence file.",
        ),
        RuleInfo(
            "LIC-X2", "error", "Licence text holds further terms",
            "Lines of a licence file belong to no known licence: somebody has to read them, and say so in the lock.",
        ),
        RuleInfo(
            "LIC-X3", "error", "Licence or NOTICE changed upstream",
            "The licence or NOTICE file at the branch's head is not the one at the pin: read the difference before an "
            "upgrade.",
        ),
        RuleInfo(
            "LIC-X4", "error", "No licence text at the pinned revision",
            "Without a licence text there is no permission to copy.",
        ),
        RuleInfo(
            "LIC-X5", "error", "Licence is not allowed here",
            "The expression does not satisfy `project: allow:`, or is no SPDX expression.",
        ),
        RuleInfo(
            "LIC-X6", "error", "A licence file that a header refers to is not there",
            "The file sends its reader to a licence text that is neither in the tree nor in the artefact.",
        ),
        RuleInfo(
            "LIC-X7", "warning", "Own LICENSE still holds a template's placeholder",
            "The line for the holder was never filled in.",
        ),
    )
}  # fmt: skip

_ENDORSED = re.compile(r"\b(?:endors\w*|recommend\w*|official(?:ly)?|approved|certified)\b", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of LIC-M1, LIC-B1 to LIC-B3 and LIC-X1 to LIC-X7, for direct upstreams and ancestors."""
    for one in vendored(subject):
        yield from _travels(subject, one)
        yield from _header(one)
        yield from _referred(subject, one)
    told: set[tuple[str, str]] = set()
    for upstream, url, license_, ancestor in sources(subject):
        yield from _text(upstream, url, license_, ancestor, told)
        yield from _extra(subject, upstream, url, license_, ancestor, told)
        yield from _endorsement(subject, upstream, license_)
    for _name, upstream in sorted(subject.lock.upstreams.items()):
        if upstream.resolved is None:
            yield finding(
                RULES["LIC-X4"],
                f"{upstream.name} was never synced, so nothing is known of its licence",
                upstream=upstream,
                fix=f"vendor-tool sync {upstream.name}",
            )
        yield from _allowed(subject, upstream)
        yield from _declared(upstream)
        yield from _moved(subject, upstream)
    yield from _template(subject)


def _travels(subject: Subject, one: Vendored) -> Iterator[Finding]:
    """MIT and BSD texts with their holders, of the upstream and of every ancestor of the file."""
    record = one.upstream.resolved
    owed = [(one.upstream.url, record.license if record else None)]
    owed += [(ancestor.url, ancestor.license) for ancestor in one.ancestors]
    seen: set[str] = set()
    for url, license_ in owed:
        if license_ is None or license_.sha256 in seen:
            continue
        seen.add(license_.sha256)
        names = legal.identifiers(license_.spdx)
        if names & {"MIT", "ISC", "X11"} and not (in_tree(subject, license_) and in_artefact(subject, license_)):
            yield _missing(subject, "LIC-M1", one, url, license_)
        if any(name.startswith("BSD-") for name in names):
            if not in_tree(subject, license_):
                yield _missing(subject, "LIC-B1", one, url, license_)
            elif not in_artefact(subject, license_):
                yield _missing(subject, "LIC-B2", one, url, license_)


def _missing(subject: Subject, rule: str, one: Vendored, url: str, license_: LegalFile) -> Finding:
    place = (
        "the project" if not in_tree(subject, license_) or subject.artefact is None else f"`{subject.artefact.name}`"
    )
    holder = f" of `{license_.holders[0]}`" if license_.holders else ""
    glob = f'add "{license_.to}" to `license-files`'
    return finding(
        RULES[rule],
        f"comes from {_short(url)}, and {place} holds no copy of its {license_.spdx} text{holder}",
        upstream=one.upstream,
        file=one.file,
        line=1,
        fix="vendor-tool sync" if place == "the project" else glob,
    )


def _header(one: Vendored) -> Iterator[Finding]:
    known = legal.identifiers(one.license) | legal.identifiers(
        " ".join(found.license.spdx or "" for found in one.ancestors if found.license)
    )
    for facts, whose in ((one.upstream_header, f"upstream's `{one.file.path}`"), (one.header, "the header")):
        strange = sorted(legal.identifiers(facts.spdx) - known) if facts and known else []
        if facts and strange:
            line = next((item.line for item in facts.mentions if item.spdx in strange), 1)
            yield finding(
                RULES["LIC-X1"],
                f"{whose} names {' and '.join(strange)}, the lock gives {one.license}",
                upstream=one.upstream,
                file=one.file,
                line=line if whose == "the header" else 1,
                fix=f"set `license:` of the file in the lock to {facts.spdx}, or take the file out",
            )
            return


def _referred(subject: Subject, one: Vendored) -> Iterator[Finding]:
    record = one.upstream.resolved
    copies = [record.license, record.notice, *legal.read(record).others] if record else []
    here = {file.path.rpartition("/")[2].casefold() for file in copies if file and file.to in subject.local}
    here |= {path.rpartition("/")[2].casefold() for path in subject.texts}
    for line, name in one.header.files:
        if name.rpartition("/")[2].casefold() not in here and not any(path.startswith(name) for path in subject.local):
            yield finding(
                RULES["LIC-X6"],
                f"refers to `{name}`, which is not in the project",
                upstream=one.upstream,
                file=one.file,
                line=line,
                fix=f"add `{name}` of {one.upstream.name} to the project",
            )


def _text(
    upstream: Upstream, url: str, license_: LegalFile | None, ancestor: Ancestor | None, told: set[tuple[str, str]]
) -> Iterator[Finding]:
    if license_ is not None or ("LIC-X4", url) in told:
        return
    told.add(("LIC-X4", url))
    revision = ancestor.revision if ancestor else upstream.revision
    why = f": {ancestor.owed}" if ancestor and ancestor.owed else ""
    yield finding(
        RULES["LIC-X4"],
        f"no licence text of {_short(url)} at {revision[:12]}{why}",
        upstream=upstream,
        fix="ask its authors for a licence, or take out the files that come from it",
    )


def _extra(
    subject: Subject,
    upstream: Upstream,
    url: str,
    license_: LegalFile | None,
    ancestor: Ancestor | None,
    told: set[tuple[str, str]],
) -> Iterator[Finding]:
    if license_ is None or license_.sha256 in upstream.acknowledge or (upstream.name, license_.sha256) in told:
        return
    if license_.spdx is None:
        told.add((upstream.name, license_.sha256))
        declared = f", and the lock says {upstream.license}" if upstream.license and not ancestor else ""
        yield finding(
            RULES["LIC-X2"],
            f"`{license_.path}` of {_short(url)} is no licence text that is known{declared}",
            upstream=upstream,
            path=license_.to if license_.to in subject.local else None,
            fix=f"read it, then add `{{sha256: {license_.sha256}, reason: ...}}` to `acknowledge:` of {upstream.name}",
        )
        return
    recorded = ancestor.extra_terms if ancestor else legal.read(upstream.resolved).extra_terms
    text = subject.texts.get(license_.to)
    if recorded or (text and text.extra):
        told.add((upstream.name, license_.sha256))
        words = f": `{text.extra[0]}`" if text and text.extra else ""
        yield finding(
            RULES["LIC-X2"],
            f"`{license_.path}` of {_short(url)} holds more than the {license_.spdx} text{words}",
            upstream=upstream,
            path=license_.to if license_.to in subject.local else None,
            fix=f"read it, then add `{{sha256: {license_.sha256}, reason: ...}}` to `acknowledge:` of {upstream.name}",
        )


def _endorsement(subject: Subject, upstream: Upstream, license_: LegalFile | None) -> Iterator[Finding]:
    if license_ is None or "BSD-3-Clause" not in legal.identifiers(license_.spdx):
        return
    words = [
        word for holder in license_.holders for word in re.findall(r"[A-Z][\w-]{3,}", holder) if word != "Copyright"
    ]
    for path in sorted(one for one in subject.local if one.startswith("docs/") or one.startswith("README")):
        for number, line in enumerate(subject.local[path].decode("utf-8", "replace").splitlines(), 1):
            if _ENDORSED.search(line) and any(word in line for word in words):
                yield finding(
                    RULES["LIC-B3"],
                    f"a holder of {upstream.name} is named beside a word of endorsement",
                    upstream=upstream,
                    path=path,
                    line=number,
                    fix="read the sentence",
                )


def _allowed(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    record = upstream.resolved
    found = [upstream.license, *(spec.license for spec in upstream.files)]
    if record:
        found += [record.license.spdx if record.license and not upstream.license else None]
        found += [one.license.spdx for one in legal.read(record).ancestors if one.license]
    for expression in dict.fromkeys(one for one in found if one):
        if expression in subject.verdicts:
            yield finding(
                RULES["LIC-X5"],
                f"{upstream.name}: {expression}: {subject.verdicts[expression]}",
                upstream=upstream,
                fix="add it to `project: allow:` in the lock, or take the entry out",
            )


def _declared(upstream: Upstream) -> Iterator[Finding]:
    record = upstream.resolved
    license_ = record.license if record else None
    if license_ is None or not license_.spdx or not upstream.license:
        return
    if _texts(upstream.license) != _texts(license_.spdx):
        yield finding(
            RULES["LIC-X1"],
            f"`{license_.path}` of {upstream.name} is {license_.spdx}, the lock says {upstream.license}",
            upstream=upstream,
            fix=f"set `license: {license_.spdx}` of {upstream.name} in the lock",
        )


def _texts(expression: str) -> set[str]:
    """The texts that an expression stands for: the GNU texts do not say whether later versions are meant."""
    return {re.sub(r"-(?:only|or-later)\Z", "", name) for name in legal.identifiers(expression)}


def _moved(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    head, record = subject.heads.get(upstream.name), upstream.resolved
    if head is None or record is None:
        return
    for kept, now, what in (
        (record.license, head.license_blob, "licence"),
        (record.notice, head.notice_blob, "NOTICE"),
    ):
        if now is not None and now != (kept.blob if kept else None):
            yield finding(
                RULES["LIC-X3"],
                f"the {what} file of {upstream.name} changed since {record.revision[:12]}",
                upstream=upstream,
                side="upstream",
                fix=f"vendor-tool outdated {upstream.name}",
            )


def _template(subject: Subject) -> Iterator[Finding]:
    for path, found in sorted(subject.texts.items()):
        if "/" not in path and found.template:
            yield finding(
                RULES["LIC-X7"],
                f"`{path}` still holds the placeholder of its template for the holder",
                path=path,
                fix="write year and holder there",
            )


def _short(url: str) -> str:
    found = repository(url)
    return found.path if found else plain_url(url)
