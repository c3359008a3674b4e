"""`audit`: gather what the rules look at, from the disk, the cache and the installed metadata; offline unless asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from vendor_tool import evidence, fetch, legal, licences, origins, write
from vendor_tool.checks import (
    apache,
    copyleft,
    distribution,
    levels,
    packages,
    parity,
    provenance,
    requirements,
)
from vendor_tool.checks import licences as texts
from vendor_tool.checks.subject import Artefact, Subject
from vendor_tool.errors import ContentError, UpstreamError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.known_bad import canonical
from vendor_tool.licences import expression
from vendor_tool.licences.facts import walk
from vendor_tool.model import Access, Lock
from vendor_tool.pipeline import state
from vendor_tool.pipeline.heads import heads
from vendor_tool.values import replace

AUDITS = (apache, texts, copyleft, provenance, distribution, requirements, parity)
RULES: Mapping[str, RuleInfo] = {name: rule for audit in AUDITS for name, rule in audit.RULES.items()}


def audit(lock: Lock, access: Access, *, wheel: Path | None = None, online: bool = False) -> list[Finding]:
    """Every finding of the audit rules, with the project's levels, by path and line.

    `wheel` is a built wheel or sdist to look into; `online` asks upstreams where they stand now, which PROV-4, PROV-9,
    PROV-10 and LIC-X3 need. UsageError where it is neither, or where the lock sets a level for
    a rule that does not exist.
    """
    found = subject(lock, access, artefact=packages.artefact(wheel) if wheel else None)
    if online:
        found = replace(found, heads=heads(lock, access))
    return judged(found)


def judged(found: Subject) -> list[Finding]:
    """Every finding about a project, with its own levels, by path and line. UsageError for levels of no rule."""
    findings = levels.apply((one for rules in AUDITS for one in rules.check(found)), found.lock, RULES)
    return sorted(findings, key=lambda one: (one.path or "", one.line or 0, one.rule, one.message))


def subject(lock: Lock, access: Access, *, artefact: Artefact | None = None) -> Subject:
    """The project as the rules see it. Upstream bytes come from the cache; those that it lacks are left out."""
    local = dict(_local(lock))
    files = [file for one in lock.upstreams.values() if one.resolved for file in one.resolved.files]
    pristine = _pristine(lock, access)
    toml = local.get("pyproject.toml")
    return Subject(
        lock=lock,
        local=local,
        headers={one.to: licences.header(local[one.to], one.to) for one in files if one.to in local},
        claims={one.to: tuple(origins.claims(local[one.to], one.to)) for one in files if one.to in local},
        pristine=pristine,
        upstream_headers={
            one.blob: licences.header(pristine[one.blob], one.path) for one in files if one.blob in pristine
        },
        chains=dict(_chains(lock, pristine)),
        texts={
            path: licences.detect(data.decode("utf-8", "replace")) for path, data in local.items() if _is_legal(path)
        },
        verdicts=_verdicts(lock),
        environment=dict(_environment(lock)),
        project=packages.pyproject(toml) if toml is not None else None,
        artefact=artefact,
        patches={k: v for one in lock.upstreams.values() for k, v in state.patch_digests(lock, one).items()},
        tested=_tested(lock),
    )


def _local(lock: Lock) -> Iterator[tuple[str, bytes]]:
    """Everything in folders that hold vendored files, legal texts wherever they are, and the project's own papers."""
    paths = {"NOTICE", "pyproject.toml"}
    folders = {""}
    for upstream in lock.upstreams.values():
        if upstream.resolved:
            paths |= {*(file.to for file in upstream.resolved.files), *upstream.resolved.shims}
            folders |= {file.to.rpartition("/")[0] for file in upstream.resolved.files}
            paths |= {file.to for file in legal.files(upstream.resolved)}
            paths |= {f"{legal.home(upstream)}/PROVENANCE.md", f"{upstream.to}/__init__.py".lstrip("/")}
    for folder in folders:
        names = sorted((lock.root / folder).iterdir()) if (lock.root / folder).is_dir() else []
        paths |= {
            f"{folder}/{one.name}".lstrip("/")
            for one in names
            if one.is_file() and (folder or _is_legal(one.name) or one.name.startswith("README"))
        }
    for path in sorted(paths):
        try:
            data = write.read(lock.root, path)
        except ContentError:
            continue  # a link or a folder where a file should be: `check` says so
        if data is not None:
            yield path, data


def _tested(lock: Lock) -> frozenset[tuple[str, str]]:
    tests = sorted((lock.root / evidence.TESTS).rglob("test_*.py"))
    return frozenset(named for path in tests if path.is_file() for named in evidence.marked(path.read_bytes()))


def _is_legal(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    found = licences.find_legal([name], "")
    return "LICENSES/" in path or (not folder and bool(found.license or found.notice or found.others))


def _pristine(lock: Lock, access: Access) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for upstream in lock.upstreams.values():
        record = upstream.resolved
        wanted = {file.blob for file in record.files if file.blob} if record else set()
        if record is None or not wanted:
            continue
        try:
            found |= fetch.blobs(upstream, record.revision, wanted, replace(access, offline=True))
        except UpstreamError:
            continue  # rules that compare with upstream stay silent; `check --rebuild` fetches
    return found


def _chains(lock: Lock, pristine: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[legal.Origin, ...]]]:
    """The recorded chain of each file, and before it what the upstream file names beyond that."""
    for upstream in lock.upstreams.values():
        record = upstream.resolved
        known = legal.read(record).origins
        for file in record.files if record else ():
            chain = known.get(file.to, ())
            places = {(one.url, one.path) for one in chain}
            if record and file.blob in pristine:
                source = licences.Vendored(file.path, file.to, pristine[file.blob])
                new = [
                    one for one in walk(upstream, record.revision, source, None) if (one.url, one.path) not in places
                ]
                chain = (*new, *chain)
            if chain:
                yield file.to, chain


def _verdicts(lock: Lock) -> dict[str, str]:
    """Every expression of lock and records that the project refuses, and why."""
    found: set[str] = set()
    for upstream in lock.upstreams.values():
        named = [upstream.license, *(spec.license for spec in upstream.files)]
        named += [one.spdx for one in legal.files(upstream.resolved)]
        found |= {one for one in named if one}
    problems = {one: expression.problem(one, lock.project.allow) for one in sorted(found)}
    return {one: problem for one, problem in problems.items() if problem}


def _environment(lock: Lock) -> Iterator[tuple[str, str]]:
    for name in requirements.distributions(lock):
        try:
            yield canonical(name), metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
