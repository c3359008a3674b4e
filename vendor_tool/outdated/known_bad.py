"""`known-bad:` notes of the lock, held against pins, against this environment and against what `requires:` allows."""

from collections.abc import Callable, Iterator, Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding, Level
from vendor_tool.model import KnownBad, Lock, Upstream
from vendor_tool.words import command

IsAncestor = Callable[[str, str, str], bool | None]
"""Upstream's name, older and newer commit: whether the newer one descends from the older one, None if unknown."""


def bad_pins(lock: Lock, is_ancestor: IsAncestor) -> Iterator[Finding]:
    """Pins inside a range of commits that the lock calls bad, and those of which the history does not tell."""
    for note in lock.known_bad:
        if note.upstream is None or note.upstream not in lock.upstreams:
            continue
        upstream = lock.upstreams[note.upstream]
        inside = _inside(note, upstream, is_ancestor)
        if inside is None:
            message = f"the history does not tell whether the pin is in a range that is known to be bad: {_why(note)}"
            yield _finding(note, upstream, rule="known-bad-unclear", level="note", message=message)
        elif inside:
            message = f"the pin `{upstream.revision[:12]}` is known to be bad: {_why(note)}"
            fix = command("vendor-tool", "sync", f"{upstream.name}@{note.until}") if note.until else None
            yield _finding(note, upstream, rule="known-bad-pin", level="error", message=message, fix=fix)


def _inside(note: KnownBad, upstream: Upstream, is_ancestor: IsAncestor) -> bool | None:
    pin = upstream.revision
    since = True if note.since is None else _reaches(note.since, pin, upstream.name, is_ancestor)
    until = False if note.until is None else _reaches(note.until, pin, upstream.name, is_ancestor)
    if since is False or until is True:
        return False
    return None if since is None or until is None else True


def _reaches(older: str, newer: str, name: str, is_ancestor: IsAncestor) -> bool | None:
    return True if older == newer else is_ancestor(name, older, newer)


def bad_environment(lock: Lock, installed: Mapping[str, str | None]) -> Iterator[Finding]:
    """Installed versions that the lock calls bad; `installed` maps distributions to versions.

    A note that names several distributions speaks of all of them together. Of a version that PEP 440 cannot order, such
    as one that a distributor made up, no range tells.
    """
    found = {canonicalize_name(name): (text, _version(text)) for name, text in installed.items()}
    versions = {name: version for name, (_, version) in found.items() if version is not None}
    for note in lock.known_bad:
        ranges = _ranges(note)
        odd = [f"`{name}` {found[name][0]}" for name in ranges if name in found and name not in versions]
        if odd and ranges.keys() <= found.keys():
            message = (
                f"{', '.join(odd)}, installed here, is no version by PEP 440: nobody can tell whether it is the one"
            )
            yield Finding("known-bad-unclear", "note", f"{message} of: {_why(note)}", lock_line=note.at.line)
        elif ranges and all(name in versions and spec.contains(versions[name], True) for name, spec in ranges.items()):
            listed = " with ".join(f"`{name}` {versions[name]}" for name in ranges)
            outside = " or ".join(f"of `{name}` outside `{spec}`" for name, spec in note.versions.items())
            yield Finding(
                "known-bad-version",
                "error",
                f"{listed} is known to be bad: {_why(note)}",
                lock_line=note.at.line,
                fix=f"install a version {outside}",
            )


def bad_requirements(lock: Lock) -> Iterator[Finding]:
    """`requires:` that let versions in which the lock calls bad."""
    for note in lock.known_bad:
        ranges = _ranges(note)
        for upstream in lock.upstreams.values():
            wanted = {
                canonicalize_name(name): _range(name, spec, f"`requires:` of `{upstream.name}`", upstream.at.line)
                for name, spec in upstream.requires.items()
            }
            if not ranges or not ranges.keys() <= wanted.keys():
                continue
            shared = [_both(wanted[name], spec) for name, spec in ranges.items()]
            if all(version is not None for version in shared):
                listed = " with ".join(f"`{name}` {found}" for name, found in zip(ranges, shared, strict=True))
                message = f"`requires:` allows {listed}, known to be bad: {_why(note)}"
                fix = f"narrow `requires:` of `{upstream.name}` until it leaves that out"
                yield _finding(note, upstream, rule="known-bad-allowed", level="warning", message=message, fix=fix)


def _both(one: SpecifierSet, other: SpecifierSet) -> Version | None:
    """The lowest version that both ranges hold, among those that they name and their neighbours.

    Ranges change at the versions that they name and nowhere else, so their neighbours stand for all the rest.
    """
    named = [_version(spec.version.removesuffix(".*")) for spec in (*one, *other)]  # `===` names any text
    found = {near for version in named if version is not None for near in _near(version)}
    return min((v for v in found if one.contains(v, True) and other.contains(v, True)), default=None)


def _near(version: Version) -> Iterator[Version]:
    yield version
    release = list(version.release)
    if len(release) < 3:  # `>1` holds 1.1; few releases have four numbers
        yield Version(".".join(map(str, [*release, 1])))
    yield Version(".".join(map(str, [*release[:-1], release[-1] + 1])))
    if release[-1] > 0:
        yield Version(".".join(map(str, [*release[:-1], release[-1] - 1])))


def _ranges(note: KnownBad) -> dict[NormalizedName, SpecifierSet]:
    return {
        canonicalize_name(name): _range(name, spec, "`known-bad:`", note.at.line)
        for name, spec in note.versions.items()
    }


def _range(name: str, spec: str, where: str, line: int) -> SpecifierSet:
    try:
        return SpecifierSet(spec)
    except InvalidSpecifier:
        raise UsageError(
            f"line {line} of the lock: `{spec}` is no range of versions, for `{name}` in {where}",
            hint="write ranges as pip reads them, such as `>=0.1.9,<0.2`",
        ) from None


def _version(text: str | None) -> Version | None:
    try:
        return Version(text or "")
    except InvalidVersion:
        return None


def _why(note: KnownBad) -> str:
    return f"{note.reason} ({note.link})" if note.link else note.reason


def _finding(
    note: KnownBad, upstream: Upstream, *, rule: str, level: Level, message: str, fix: str | None = None
) -> Finding:
    # whoever accepts one pin in the range does not accept the next
    pin = None if rule == "known-bad-allowed" else upstream.revision
    return Finding(
        rule, level, message, lock_line=note.at.line, upstream=upstream.name, side="record", fix=fix, digest=pin
    )
