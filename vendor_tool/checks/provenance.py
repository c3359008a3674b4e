"""Where vendored files say they are from, against where the lock and the upstreams say they are from."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from vendor_tool import legal
from vendor_tool.checks.bodies import same_code, similarity
from vendor_tool.checks.subject import Subject, Vendored, finding, vendored
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.links import key, permalink, repository
from vendor_tool.model import Lock, Upstream
from vendor_tool.origins.comments import SUFFIXES

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "PROV-1", "error", "Origin that the lock does not know",
            "A comment, of the file or of the upstream file behind it, names a repository that is neither an upstream "
            "nor a recorded ancestor: its licence was never looked at.",
        ),
        RuleInfo(
            "PROV-2", "warning", "Origin is a path that leads nowhere here",
            "A path inside the upstream's repository means nothing in this one. A link with the pin does.",
        ),
        RuleInfo(
            "PROV-3", "warning", "Origin link is not pinned",
            "A branch, a repository's front page or a pull request shows something else tomorrow.",
        ),
        RuleInfo(
            "PROV-4", "warning", "Pin is on no branch or tag",
            "A commit that nothing refers to can disappear. Archive it, or pin one that is reachable.",
        ),
        RuleInfo(
            "PROV-5", "warning", "File has little in common with what it is mapped to",
            "Less than half of the code is upstream's: the mapping says more than is true.",
        ),
        RuleInfo(
            "PROV-6", "error", "File is not what rules and patches make of upstream",
            "An edit in place is lost with the next sync, and nobody knows why it was made.",
        ),
        RuleInfo(
            "PROV-7", "warning", "Unlisted file among vendored ones",
            "Nobody can tell own files from vendored ones by looking.",
        ),
        RuleInfo(
            "PROV-8", "warning", "Header does not name upstream and revision",
            "A file that is copied on without its folder loses its origin.",
        ),
        RuleInfo(
            "PROV-9", "note", "File is gone upstream",
            "The path is not at the branch's head any more: it was deleted, renamed or split.",
        ),
        RuleInfo(
            "PROV-10", "warning", "Two addresses for one project",
            "A fork's address beside the project's own, or an old owner's: say which one counts.",
        ),
        RuleInfo(
            "PROV-11", "warning", "Prose on local changes is not the whole truth",
            "The package docstring speaks of changed imports only, while the code differs in more.",
        ),
    )
}  # fmt: skip

_CHANGES = re.compile(r"^local (?:modifications?|changes)\b", re.IGNORECASE)
_IMPORTS = re.compile(r"\bimports?\b|\bshim\b", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:adapt|fix|pad|chunk|clamp|layout|dispatch|logic|behaviou?r|rewr|rewor|extend|reformat|masks?|dtype|parity|select)",
    re.IGNORECASE,
)
# a package needs them, and they come from nowhere
_PROSE = (".md", ".rst", ".txt", ".html", ".css")
_PLAIN = ("__init__.py", "py.typed", ".gitignore", ".gitattributes")


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of PROV-1 to PROV-11."""
    for one in vendored(subject):
        yield from _unknown(subject, one)
        yield from _links(subject, one)
        yield from _bytes(subject, one)
        yield from _unnamed(one)
    yield from _unlisted(subject)
    for _name, upstream in sorted(subject.lock.upstreams.items()):
        yield from _head(subject, upstream)
        yield from _prose(subject, upstream)
    yield from _spellings(subject)


def _unknown(subject: Subject, one: Vendored) -> Iterator[Finding]:
    known = _known(subject.lock, one.upstream)
    told: set[str] = set()
    for origin in subject.chains.get(one.file.to, ()):
        if key(origin.url) not in known | told:
            told.add(key(origin.url))
            yield finding(
                RULES["PROV-1"],
                f"comes from {origin.url} by way of `{origin.named_in}`, which the lock does not record",
                upstream=one.upstream,
                file=one.file,
                line=1,
                fix=f"vendor-tool sync {one.upstream.name}",
            )
    for claim in subject.claims.get(one.file.to, ()):
        if claim.tier == "A" and claim.url and key(claim.url) not in known | told:
            told.add(key(claim.url))
            yield finding(
                RULES["PROV-1"],
                f"says that it comes from {claim.url}, which the lock does not record",
                upstream=one.upstream,
                file=one.file,
                line=claim.line,
                fix=f"add `{claim.url}` as an upstream, or mend the comment by a patch",
            )


def _known(lock: Lock, upstream: Upstream) -> set[str]:
    urls = [upstream.url, *upstream.mirrors, *(one.url for one in legal.read(upstream.resolved).ancestors)]
    return {key(url) for url in urls} | {key(one.url) for one in lock.upstreams.values()}


def _links(subject: Subject, one: Vendored) -> Iterator[Finding]:
    inside = {origin.path for origin in subject.chains.get(one.file.to, ()) if key(origin.url) == key(one.upstream.url)}
    revision = one.upstream.resolved.revision if one.upstream.resolved else one.upstream.revision
    said = subject.claims.get(one.file.to, ())
    pinned = {key(claim.url) for claim in said if claim.url and claim.state == "pinned"}
    for claim in said:
        path = claim.path or ""
        if claim.tier == "B" and claim.url is None and "/" in path and path not in subject.local:
            where = f"is a path of {one.upstream.name}'s repository" if path in inside else "is no path here"
            yield finding(
                RULES["PROV-2"],
                f"the origin `{path}` {where}",
                upstream=one.upstream,
                file=one.file,
                line=claim.line,
                fix=f"write {permalink(one.upstream.url, revision, path)}",
            )
        if claim.tier == "A" and claim.state in ("branch", "unpinned") and key(claim.url or "") not in pinned:
            yield finding(
                RULES["PROV-3"],
                f"the origin `{claim.text}` is not pinned to a commit",
                upstream=one.upstream,
                file=one.file,
                line=claim.line,
                fix="replace the branch by a full commit id",
            )


def _bytes(subject: Subject, one: Vendored) -> Iterator[Finding]:
    made = subject.derived.get(one.file.to)
    if one.local is None:
        return
    if made is None and hashlib.sha256(one.local).hexdigest() != one.file.sha256:
        yield finding(
            RULES["PROV-6"],
            "was edited since it was written: its bytes are not the recorded ones",
            upstream=one.upstream,
            file=one.file,
            side="local",
            fix=f"vendor-tool patch new {one.upstream.name}",
        )
    if made is not None and made != one.local:
        yield finding(
            RULES["PROV-6"],
            f"was edited: it is not what the rules and patches make of `{one.file.path}`",
            upstream=one.upstream,
            file=one.file,
            line=_first_difference(made, one.local),
            side="local",
            fix=f"vendor-tool patch new {one.upstream.name}",
        )
    if one.pristine is None:
        return
    share = similarity(one.local, one.pristine)
    if share < 0.5:
        yield finding(
            RULES["PROV-5"],
            f"has {share:.0%} of its code in common with `{one.file.path}` of {one.upstream.name}",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix="list it under `local:` and say in its header what it is based on",
        )


def _first_difference(made: bytes, local: bytes) -> int:
    pairs = zip(made.splitlines(), local.splitlines(), strict=False)
    same = next((number for number, (left, right) in enumerate(pairs, 1) if left != right), None)
    return same or min(made.count(b"\n"), local.count(b"\n")) + 1


def _unnamed(one: Vendored) -> Iterator[Finding]:
    if one.local is None or one.upstream.resolved is None or not _can_say(one.file.to, one.local):
        return
    found = repository(one.upstream.url)
    name = found.path if found else one.upstream.name
    text = one.header.text
    missing = [
        what
        for what, there in (
            ("upstream", name.casefold() in text.casefold()),
            ("revision", one.upstream.resolved.revision in text),
        )
        if not there
    ]
    if missing:
        yield finding(
            RULES["PROV-8"],
            f"the header names no {' and no '.join(missing)}",
            upstream=one.upstream,
            file=one.file,
            line=1,
            fix=f"write {permalink(one.upstream.url, one.upstream.resolved.revision, one.file.path)} into it",
        )


def _can_say(path: str, data: bytes) -> bool:
    """Whether a person can write a line for people into a file: not into JSON, tables or what is no text."""
    if b"\0" in data:
        return False
    return path.casefold().endswith((*SUFFIXES, *_PROSE)) or data.startswith(b"#!")


def _unlisted(subject: Subject) -> Iterator[Finding]:
    lock = subject.lock
    owners = {one.file.to.rpartition("/")[0]: one.upstream for one in vendored(subject)}
    listed = {one.file.to for one in vendored(subject)} | {spec.to for spec in lock.shims.values()}
    for path in sorted(subject.local):
        folder, _, name = path.rpartition("/")
        upstream = owners.get(folder)
        if upstream is None or path in listed or name in _PLAIN or path in subject.texts or _is_document(path, lock):
            continue
        below = path.removeprefix(upstream.to).lstrip("/")
        mine = (pattern for one in lock.upstreams.values() if one.to == upstream.to for pattern in one.local)
        if not any(fnmatchcase(below, pattern) for pattern in mine):
            yield finding(
                RULES["PROV-7"],
                f"stands among files of {upstream.name}, and the lock lists it neither under `files:` nor `local:`",
                upstream=upstream,
                path=path,
                fix=f"add `{below}` to `local:` of {upstream.name} in the lock",
            )


def _is_document(path: str, lock: Lock) -> bool:
    homes = {legal.home(one) for one in lock.upstreams.values()}
    return "/LICENSES/" in path or path in {f"{home}/PROVENANCE.md" for home in homes} | {"NOTICE"}


def _head(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    head, record = subject.heads.get(upstream.name), upstream.resolved
    if head is None or record is None:
        return
    if head.reachable is False:
        yield finding(
            RULES["PROV-4"],
            f"{record.revision[:12]} of {upstream.name} is on no branch and no tag of {head.canonical or upstream.url}",
            upstream=upstream,
            fix=f"vendor-tool outdated {upstream.name}",
        )
    for file in record.files:
        if file.path in head.gone:
            yield finding(
                RULES["PROV-9"],
                f"`{file.path}` is gone from the head of {upstream.name}",
                upstream=upstream,
                file=file,
                side="upstream",
                fix=f"vendor-tool outdated {upstream.name}",
            )
    if head.canonical and key(head.canonical) != key(upstream.url):
        yield finding(
            RULES["PROV-10"],
            f"{upstream.url} is a fork or an old address of {head.canonical}",
            upstream=upstream,
            fix=f"set `url: {head.canonical}` and keep the other one under `mirrors:`",
        )


def _spellings(subject: Subject) -> Iterator[Finding]:
    """Repositories of one name and different owners, among upstreams and what files say."""
    owners: dict[str, dict[str, Upstream]] = {}
    for one in vendored(subject):
        urls = [one.upstream.url, *(claim.url for claim in subject.claims.get(one.file.to, ()) if claim.url)]
        for url in urls:
            found = repository(url)
            if found and key(url) not in {key(mirror) for mirror in one.upstream.mirrors}:
                owners.setdefault(found.name.casefold(), {}).setdefault(found.path.casefold(), one.upstream)
    for name, paths in sorted(owners.items()):
        if len(paths) > 1:
            yield finding(
                RULES["PROV-10"],
                f"`{name}` is cited under {' and '.join(f'`{path}`' for path in sorted(paths))}",
                upstream=next(iter(paths.values())),
                fix="name the other one under `mirrors:`, or mend the comments by a patch",
            )


def _prose(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    path = f"{upstream.to}/__init__.py".lstrip("/")
    lines = subject.local.get(path, b"").decode("utf-8", "replace").splitlines()
    start = next((number for number, line in enumerate(lines) if _CHANGES.match(line.strip())), None)
    if start is None or any("written by vendor-tool" in line for line in lines):
        return
    end = next((number for number in range(start, len(lines)) if not lines[number].strip()), len(lines))
    prose = " ".join(lines[start:end])
    if not _IMPORTS.search(prose) or _MORE.search(prose):
        return
    more = [
        one.file.to.rpartition("/")[2]
        for one in vendored(subject)
        if one.upstream is upstream and one.local and one.pristine and same_code(one.local, one.pristine) is False
    ]
    if more:
        yield finding(
            RULES["PROV-11"],
            f"speaks of changed imports only, and {', '.join(f'`{name}`' for name in more)} differ in more",
            upstream=upstream,
            path=path,
            line=start + 1,
            fix=f"set `docstring: true` of {upstream.name} in the lock, then `vendor-tool sync`",
        )
