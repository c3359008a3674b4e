"""Tool versions: what is installed and what the project's own pins admit, against `requires:` and known-bad pairs.

Metadata only: a bad pair can abort the process on import, and then nobody is left to report it.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from vendor_tool.checks.subject import Requirement, Subject, finding
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.known_bad import Bad, canonical, known_bad, shipped
from vendor_tool.model import FileSpec, Lock, Upstream
from vendor_tool.values import replace
from vendor_tool.words import command

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "REQ-1", "error", "Installed version does not meet `requires:`",
            "What is installed here is not what the vendored files were made for.",
        ),
        RuleInfo(
            "REQ-2", "error", "Installed versions are known to be bad together",
            "The combination is in the lock's `known-bad:` or in the list that ships with the tool.",
        ),
        RuleInfo(
            "REQ-3", "error", "The project's pins admit a known-bad combination",
            "An installer may choose these versions: every resolver is content, and the import fails.",
        ),
        RuleInfo(
            "REQ-4", "warning", "The project's pins admit versions outside `requires:`",
            "The project may be installed with a version that the vendored files were not made for.",
        ),
        RuleInfo(
            "REQ-5", "error", "`requires:` itself admits a known-bad combination",
            "The lock asks for versions of which some are known to be bad together.",
        ),
        RuleInfo(
            "REQ-6", "error", "Installed version does not meet a file's `valid-with:`",
            "This file was made for other versions than what is installed here, whatever the entry requires.",
        ),
        RuleInfo(
            "REQ-7", "warning", "`requires:` admits versions outside a file's `valid-with:`",
            "Whoever installs what the entry requires may get a version that this file was not made for.",
        ),
    )
}  # fmt: skip


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of REQ-1 to REQ-7."""
    lock = subject.lock
    users = [one for _name, one in sorted(lock.upstreams.items()) if one.requires]
    for upstream in users:
        yield from _installed(subject, upstream)
        yield from _required(upstream, known_bad(lock))
    for _name, upstream in sorted(lock.upstreams.items()):
        for spec in upstream.files:
            yield from _valid(subject, upstream, spec)
    names = {name for one in users for name in one.requires} | {name for one in lock.known_bad for name in one.versions}
    for bad in known_bad(lock):
        if names & set(bad.versions):
            yield from _pair(subject, bad, users)
    yield from _pins(subject, users)


def distributions(lock: Lock) -> list[str]:
    """The distributions whose installed versions the rules want to know."""
    files = (spec.valid_with for one in lock.upstreams.values() for spec in one.files)
    requires = (one.requires for one in lock.upstreams.values())
    rows = itertools.chain(requires, files, (one.versions for one in known_bad(lock)))
    return sorted({name for row in rows for name in row})


def _installed(subject: Subject, upstream: Upstream) -> Iterator[Finding]:
    for name, wanted in sorted(upstream.requires.items()):
        version = subject.environment.get(canonical(name))
        if version is not None and not holds(wanted, version):
            yield finding(
                RULES["REQ-1"],
                f"{name} {version} is installed, {upstream.name} requires {name} {wanted}",
                upstream=upstream,
                fix=command("pip", "install", f"{name}{wanted}"),
            )


def _required(upstream: Upstream, rows: Sequence[Bad]) -> Iterator[Finding]:
    specs = {canonical(name): spec for name, spec in upstream.requires.items()}
    for bad in rows:
        chosen = _admitted(bad, specs) if set(bad.versions) <= set(specs) else None
        if chosen:
            yield finding(
                RULES["REQ-5"],
                f"`requires:` of {upstream.name} admits {chosen}: {_reason(bad)}",
                upstream=upstream,
                fix=f"narrow `requires:` of {upstream.name} in the lock",
            )


def _valid(subject: Subject, upstream: Upstream, spec: FileSpec) -> Iterator[Finding]:
    """What one item of `files:` is valid with, against what is installed and what its entry requires."""
    required = {canonical(name): versions for name, versions in upstream.requires.items()}
    for name, valid in sorted(spec.valid_with.items()):
        made_for = f"`{spec.path}` is valid with {name} {valid}"
        version = subject.environment.get(canonical(name))
        told = []
        if version is not None and not holds(valid, version):
            fix = command("pip", "install", f"{name}{valid}")
            told.append(
                finding(RULES["REQ-6"], f"{name} {version} is installed, {made_for}", upstream=upstream, fix=fix)
            )
        wanted = required.get(canonical(name))
        outside = [one for one in _candidates(canonical(name), [wanted or "", valid]) if not holds(valid, one)]
        outside = [one for one in outside if holds(wanted or "", one)]
        if wanted is None or outside:
            admits = f"admits {name} {outside[-1]}" if wanted is not None else f"does not name {name}"
            message = f"`requires:` of {upstream.name} {admits}, {made_for}"
            fix = f'write `{name}: "{valid}"` under `requires:`'
            told.append(finding(RULES["REQ-7"], message, upstream=upstream, fix=fix))
        yield from (replace(one, lock_line=spec.at.line) for one in told)


def _pair(subject: Subject, bad: Bad, users: Sequence[Upstream]) -> Iterator[Finding]:
    upstream = next((one for one in users if {canonical(name) for name in one.requires} & set(bad.versions)), None)
    here = {name: subject.environment.get(canonical(name)) for name in bad.versions}
    if all(version and holds(bad.versions[name], version) for name, version in here.items()):
        pair = " with ".join(f"{name} {version}" for name, version in sorted(here.items()))
        yield finding(
            RULES["REQ-2"],
            f"{pair} is installed: {_reason(bad)}",
            upstream=upstream,
            fix=_way_out(upstream, bad),
        )
    for extra, specs in _groups(subject).items():
        known = {name: spec for name, (spec, _one) in specs.items()}
        first = next((one for name, (_spec, one) in sorted(specs.items()) if name in bad.versions), None)
        chosen = _admitted(bad, known) if first else None
        if first and chosen:
            where = f" with `[{extra}]`" if extra else ""
            yield finding(
                RULES["REQ-3"],
                f"the project's dependencies{where} admit {chosen}: {_reason(bad)}",
                upstream=upstream,
                path=subject.project.path if subject.project else None,
                line=first.line,
                fix=_way_out(upstream, bad),
            )
            if extra is None:
                return  # every extra stands on top of these, and would be told for the same pins


def _pins(subject: Subject, users: Sequence[Upstream]) -> Iterator[Finding]:
    for requirement, name, spec in _parsed(subject):
        for upstream in users:
            wanted = next((value for key, value in upstream.requires.items() if canonical(key) == name), None)
            outside = [one for one in _candidates(name, [spec, wanted or ""]) if holds(spec, one)]
            outside = [one for one in outside if wanted and not holds(wanted, one)]
            if outside:
                yield finding(
                    RULES["REQ-4"],
                    f"`{requirement.text}` admits {name} {outside[-1]}, {upstream.name} requires {name} {wanted}",
                    upstream=upstream,
                    path=subject.project.path if subject.project else None,
                    line=requirement.line,
                    fix=f'write "{name}{wanted}"',
                )


def _groups(subject: Subject) -> dict[str | None, dict[str, tuple[str, Requirement]]]:
    """The specifiers that hold together: the plain dependencies, and each extra on top of them."""
    parsed = list(_parsed(subject))
    plain = {name: (spec, one) for one, name, spec in parsed if one.extra is None}
    groups: dict[str | None, dict[str, tuple[str, Requirement]]] = {None: plain}
    for one, name, spec in parsed:
        if one.extra is not None:
            group = groups.setdefault(one.extra, dict(plain))
            group[name] = (",".join(filter(None, (group[name][0] if name in group else "", spec))), one)
    return groups


def _parsed(subject: Subject) -> Iterator[tuple[Requirement, str, str]]:
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    facts = subject.artefact or subject.project
    for one in facts.requirements if facts else ():
        try:
            parsed = Parsed(one.text)
        except InvalidRequirement:
            continue  # what a build tool cannot read either is that tool's to report
        yield one, canonical(parsed.name), str(parsed.specifier)


def _admitted(bad: Bad, specs: Mapping[str, str]) -> str | None:
    """A bad combination that specifiers admit, in words; None if they admit none.

    A distribution that is not pinned but needed by another may have every version that the other lets through.
    """
    names = sorted(bad.versions)
    choices = [
        [one for one in _candidates(name, [specs.get(name, ""), bad.versions[name]])
         if holds(bad.versions[name], one) and holds(specs.get(name, ""), one)]
        for name in names
    ]  # fmt: skip
    for versions in itertools.product(*(reversed(one) for one in choices)):
        chosen = dict(zip(names, versions, strict=True))
        asked = {other for name, version in chosen.items() for other in _asks(name, version)}
        if (
            all(_lets_in(name, version, chosen) for name, version in chosen.items())
            and chosen.keys() <= asked | specs.keys()
        ):
            return " with ".join(f"{name} {version}" for name, version in chosen.items())
    return None


def _lets_in(name: str, version: str, chosen: Mapping[str, str]) -> bool:
    return all(holds(spec, chosen[other]) for other, spec in _asks(name, version).items() if other in chosen)


def _asks(name: str, version: str) -> Mapping[str, str]:
    return shipped().needs.get(name, {}).get(version, {})


def _candidates(name: str, specs: Sequence[str]) -> list[str]:
    """Releases that we know of, and the versions that specifiers speak of, oldest first."""
    from packaging.version import Version

    spoken = {found.removesuffix(".*") for spec in specs for found in re.findall(r"\d[\w.*!+]*", spec)}
    return sorted({*shipped().releases.get(name, ()), *spoken}, key=Version)


def holds(spec: str, version: str) -> bool:
    """Whether a version meets a PEP 440 specifier; pre-releases count like any other."""
    return _specifier(spec).contains(version, prereleases=True)


@lru_cache(maxsize=256)
def _specifier(spec: str) -> "SpecifierSet":
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(spec)
    except InvalidSpecifier as error:
        raise UsageError(f"`{spec}` is no version range", hint="write it like `>=0.1.11,<0.2`") from error


def _reason(bad: Bad) -> str:
    return bad.reason + (f" ({bad.link})" if bad.link else "")


def _way_out(upstream: Upstream | None, bad: Bad) -> str:
    wanted = {canonical(name): spec for name, spec in upstream.requires.items()} if upstream else {}
    pins = [f"{name}{wanted[name]}" for name in sorted(bad.versions) if wanted.get(name)]
    return f"pin {' and '.join(f'`{one}`' for one in pins)}" if pins else "pin versions outside these ranges"
