"""What the audit rules look at: plain data that the pipeline gathers. A fact that could not be had is left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from vendor_tool import legal
from vendor_tool.findings import Finding, Level, RuleInfo, Side
from vendor_tool.legal import Ancestor, Claim, Detection, HeaderFacts, Origin
from vendor_tool.links import key
from vendor_tool.model import LegalFile, Lock, Recorded, Upstream
from vendor_tool.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Requirement:
    """One dependency of the project, as its pyproject.toml or metadata states it."""

    text: str
    line: int | None = None
    extra: str | None = None  # the optional group that it belongs to


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What the project's pyproject.toml says of rights and dependencies."""

    path: str = "pyproject.toml"
    license: str | None = None  # PEP 639 expression
    license_line: int | None = None
    license_files: tuple[str, ...] | None = None  # globs; None: not stated, so the build tool's own default
    classifiers: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Artefact:
    """A built wheel or sdist."""

    name: str  # the file's own name
    kind: Literal["wheel", "sdist"]
    license: str | None  # License-Expression
    license_files: tuple[str, ...]  # as the metadata lists them
    classifiers: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    texts: Mapping[str, bytes]  # licence and NOTICE files in it, by path
    files: frozenset[str] = frozenset()  # every path in it


@dataclass(frozen=True, slots=True)
class Head:
    """Where an upstream stands now, compared with the pin; what is not known is None."""

    reachable: bool | None = None  # the pin, from a branch or tag of the canonical repository
    gone: tuple[str, ...] = ()  # upstream paths of ours that the head has no more
    license_blob: str | None = None
    notice_blob: str | None = None
    canonical: str | None = None  # address of the repository that this one was forked from or moved to


@dataclass(frozen=True, slots=True)
class Subject:
    """One project as the rules see it."""

    lock: Lock
    local: Mapping[str, bytes]  # local path: files in vendored folders, legal files, NOTICE, README
    headers: Mapping[str, HeaderFacts] = field(default_factory=dict)  # local path -> head of the vendored file
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)  # local path -> what the file says
    pristine: Mapping[str, bytes] = field(default_factory=dict)  # git blob id -> upstream's bytes
    upstream_headers: Mapping[str, HeaderFacts] = field(default_factory=dict)  # git blob id -> head
    chains: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)  # local path -> chain as found now
    derived: Mapping[str, bytes] = field(default_factory=dict)  # local path -> what rules and patches make
    texts: Mapping[str, Detection] = field(default_factory=dict)  # local path of a legal file -> what it says
    verdicts: Mapping[str, str] = field(default_factory=dict)  # SPDX expression -> why the project refuses it
    heads: Mapping[str, Head] = field(default_factory=dict)  # upstream -> where it stands now
    environment: Mapping[str, str] = field(default_factory=dict)  # distribution -> installed version
    project: ProjectFacts | None = None
    artefact: Artefact | None = None
    patches: Mapping[str, str | None] = field(default_factory=dict)  # local path -> sha256; None for one that is gone
    tested: frozenset[tuple[str, str]] = frozenset()  # upstream and file that the project's parity tests name


@dataclass(frozen=True, slots=True)
class Vendored:
    """One vendored file with what is known of it."""

    upstream: Upstream
    file: Recorded
    local: bytes | None
    pristine: bytes | None
    header: HeaderFacts
    upstream_header: HeaderFacts | None
    ancestors: tuple[Ancestor, ...]  # of this file
    license: str | None  # as the lock has it for this very file

    @property
    def changed(self) -> bool:
        """Whether a byte differs from upstream, as far as that can be told."""
        return self.local is not None and self.pristine is not None and self.local != self.pristine


def vendored(subject: Subject) -> Iterator[Vendored]:
    """Every recorded file, by upstream and local path."""
    recorded = [one for up in subject.lock.upstreams.values() for one in legal.read(up.resolved).ancestors]
    for _name, upstream in sorted(subject.lock.upstreams.items()):
        known, declared = legal.read(upstream.resolved), legal.declarations(upstream)
        for file in upstream.resolved.files if upstream.resolved else ():
            chain = subject.chains.get(file.to) or known.origins.get(file.to, ())
            yield Vendored(
                upstream=upstream,
                file=file,
                local=subject.local.get(file.to),
                pristine=subject.pristine.get(file.blob),
                header=subject.headers.get(file.to, HeaderFacts()),
                upstream_header=subject.upstream_headers.get(file.blob),
                ancestors=_behind(chain, [*known.ancestors, *recorded]),
                license=declared(file),
            )


def _behind(chain: Sequence[Origin], ancestors: Sequence[Ancestor]) -> tuple[Ancestor, ...]:
    """The ancestors that a chain leads to. One that another entry recorded tells the licence just as well."""
    found: dict[int, Ancestor] = {}
    for origin in chain:
        same = [one for one in ancestors if key(one.url) == key(origin.url)]
        exact = [one for one in same if one.revision == origin.revision]
        for one in (exact or same)[:1]:
            found[id(one)] = one
    return tuple(found.values())


def sources(subject: Subject) -> Iterator[tuple[Upstream, str, LegalFile | None, Ancestor | None]]:
    """Every licence that came in: of an upstream of which files are vendored, and of each of its ancestors."""
    for _name, upstream in sorted(subject.lock.upstreams.items()):
        if upstream.resolved and upstream.resolved.files:
            yield upstream, upstream.url, upstream.resolved.license, None
            for ancestor in legal.read(upstream.resolved).ancestors:
                yield upstream, ancestor.url, ancestor.license, ancestor


def finding(
    rule: RuleInfo,
    message: str,
    *,
    upstream: Upstream | None = None,
    file: Recorded | None = None,
    path: str | None = None,
    line: int | None = None,
    level: Level | None = None,
    side: Side | None = None,
    fix: str | None = None,
) -> Finding:
    """A finding at a local path and at the lock's line for the file or, without one, for the entry.

    `side` says who changed something; most findings are of a state that never was any better.
    """
    lock_line = file.at.line if file else upstream.at.line if upstream else None
    return Finding(
        rule=rule.id,
        level=level or rule.level,
        message=message,
        path=path or (file.to if file else None),
        line=line,
        lock_line=lock_line,
        upstream=upstream.name if upstream else None,
        side=side,
        fix=fix,
    )
