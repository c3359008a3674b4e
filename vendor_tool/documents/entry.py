"""What documents say of one lock entry: every sentence is derived from the entry, its record, or a patch's head."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vendor_tool import evidence as seen
from vendor_tool import legal
from vendor_tool.known_bad import canonical, known_bad
from vendor_tool.links import permalink, tree, web
from vendor_tool.model import Format, Header, Imports, Lock, Rule, Shim, Upstream
from vendor_tool.patterns import pattern
from vendor_tool.urls import plain_url

EXTRA_TERMS = ", with further terms in its text"

_DESCRIPTION = pattern(r"^(?:Description|Subject):[ \t]*(.*)$", re.MULTILINE)


class Fact(NamedTuple):
    """One statement: a label, its value in words, and a link for it if there is one."""

    label: str
    value: str
    link: str | None = None
    code: bool = False  # the value is a name for machines, set in a fixed pitch


def facts(upstream: Upstream) -> Iterator[Fact]:
    """Project, revision, source tree, licence, copyright and NOTICE of an entry."""
    record = upstream.resolved
    revision = record.revision if record else upstream.revision
    yield Fact("Project", plain_url(upstream.url), web(upstream.url))
    if upstream.branch:
        yield Fact("Branch", upstream.branch, code=True)
    yield Fact("Revision" if upstream.files else "Revision validated against", revision, code=True)
    if record:
        yield Fact("Date of the revision", record.date)
    if upstream.files or upstream.from_:
        source = tree(upstream.url, revision, upstream.from_)
        yield Fact("Source tree", source, source if web(upstream.url) else None)
    yield from _rights(upstream, revision)


def link(url: str, revision: str, path: str, line: int | None = None) -> str | None:
    """A link for people, where the repository's host is a forge that we know."""
    return permalink(url, revision, path, line) if web(url) else None


def _rights(upstream: Upstream, revision: str) -> Iterator[Fact]:
    record = upstream.resolved
    license_ = record.license if record else None
    spdx = upstream.license or (license_.spdx if license_ else None) or "not recognised"
    yield Fact("Licence", spdx + (EXTRA_TERMS if legal.read(record).extra_terms else ""))
    if record is None:
        return
    if license_:
        if upstream.files:
            yield Fact("Licence text", license_.to, code=True)
        yield Fact("Licence file", license_.path, link(upstream.url, revision, license_.path), code=True)
        for line in license_.holders or ("none in the licence file",):
            yield Fact("Copyright notice", line)
    else:
        yield Fact("Licence text", "none at this revision")
    notice = record.notice
    if notice:
        yield Fact("NOTICE file", notice.path, link(upstream.url, revision, notice.path), code=True)
    else:
        yield Fact("NOTICE file", "none at this revision")


class Row(NamedTuple):
    """One vendored file in the table."""

    local: str
    upstream: str  # empty for a file that a patch brought
    link: str | None
    license: str
    origins: tuple[legal.Origin, ...]


def rows(upstream: Upstream) -> Iterator[Row]:
    """The file mapping, sorted by local path."""
    record = upstream.resolved
    if record is None:
        return
    known, declared = legal.read(record), legal.declarations(upstream)
    for file in record.files:
        address = link(upstream.url, record.revision, file.path) if file.path else None
        own = declared(file) or file.license or ""
        yield Row(file.to, file.path, address, own, known.origins.get(file.to, ()))


def modifications(upstream: Upstream, lock: Lock, texts: Mapping[str, bytes]) -> Iterator[str]:
    """Every local change as the lock has it: rules in order, what single files leave out, patches by their heads."""
    rules: tuple[Rule, ...] = upstream.rules if upstream.rules is not None else _default(lock)
    yield from (sentence for rule in rules if (sentence := _rule(rule, lock)))
    for spec in upstream.files:
        names = [
            f"only {', '.join(spec.only)}" if spec.only else "",
            f"without {', '.join(spec.drop)}" if spec.drop else "",
        ]
        if any(names):
            yield f"{spec.path}: {' and '.join(name for name in names if name)}"
        yield from (f"{spec.path}: {sentence}" for rule in spec.rules if (sentence := _rule(rule, lock)))
    for patch in upstream.patches:
        yield f"{patch.path}: {description(texts[patch.path]) if patch.path in texts else 'patch file missing'}"


def _default(lock: Lock) -> tuple[Rule, ...]:
    return (Imports(), Shim(tuple(lock.shims))) if lock.shims else (Imports(),)


def _rule(rule: Rule, lock: Lock) -> str:
    match rule:
        case Header():
            return f"header: a comment of {len(rule.text.splitlines())} lines stands above the file"
        case Imports():
            renamed = ", ".join(f"{old} as {new}" for old, new in sorted(rule.rename.items()))
            base = "imports: modules of the project itself are imported from their vendored copies"
            return f"{base}; further {renamed}" if renamed else base
        case Shim():
            places = [f"{one} through {lock.shims[one].to}" for one in rule.modules if one in lock.shims]
            return f"shim: imports of {', '.join(places)}, loaded at the first call" if places else ""
        case Format():
            tool = f"{rule.tool} {rule.version}" if rule.version else rule.tool
            return f"format: {tool}, line length {rule.line_length}" + (", imports sorted" if rule.isort else "")


def description(patch: bytes) -> str:
    """What a patch says of itself in its DEP-3 head; its first line of text where it has no head."""
    head = patch.decode("utf-8", "replace")
    head = re.split(r"^(?:---|diff --git) ", head, maxsplit=1, flags=re.MULTILINE)[0]
    found = _DESCRIPTION.search(head)
    first = found[1] if found else next((line for line in head.splitlines() if line.strip()), "")
    return first.strip() or "no description"


def requirements(upstream: Upstream, lock: Lock) -> Iterator[str]:
    """Tool versions that an entry requires, and the combinations that the lock knows to be bad."""
    for name, versions in sorted(upstream.requires.items()):
        yield f"{name} {versions}".strip() + ": required"
    names = {canonical(name) for name in upstream.requires}
    for known in known_bad(lock):
        # of the list that ships only what is about these tools among themselves; of the lock's own, all that names one
        if set(known.versions) & names if known.line else set(known.versions) <= names:
            pair = " with ".join(f"{name} {versions}" for name, versions in sorted(known.versions.items()))
            yield f"{pair}: known to be bad, {known.reason}" + (f" ({known.link})" if known.link else "")


def evidence(upstream: Upstream, lock: Lock, texts: Mapping[str, bytes]) -> str | None:
    """Who saw the very files that are vendored compute the right thing; "not verified" where nobody did.

    None where there is nothing to say: nothing is vendored, and no run-time import was ever verified. `texts` holds the
    stand-ins that the files use.
    """
    if upstream.resolved is None or not (upstream.files or seen.recorded(upstream.resolved)):
        return None
    return seen.told(upstream, seen.digests(upstream.resolved, texts), known_bad(lock))


def license_line(ancestor: legal.Ancestor) -> str:
    """Licence and holders of an ancestor in one line."""
    if ancestor.license is None:
        return "licence not known"
    spdx = (ancestor.license.spdx or "not recognised") + (EXTRA_TERMS if ancestor.extra_terms else "")
    return "; ".join([spdx, *ancestor.license.holders])
