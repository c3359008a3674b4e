"""`known-bad:` notes of the lock, held against pins, against this environment and against what `requires:` allows."""

from collections.abc import Callable, Iterator, Mapping

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

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
            yield _finding("known-bad-unclear", "note", message, upstream, note)
        elif inside:
            message = f"the pin `{upstream.revision[:12]}` is known to be bad: {_why(note)}"
            fix = command("vendor-tool", "sync", f"{upstream.name}@{note.until}") if note.until else None
            yield _finding("known-bad-pin", "error", message, upstream, note, fix=fix)


def _inside(note: KnownBad, upstream: Upstream, is_ancestor: IsAncestor) -> bool | None:
    pin = upstream.revision
    since = True if note.since is None else _reaches(note.since, pin, upstream.name, is_ancestor)
    until = False if note.until is None else _reaches(note.until, pin, upstream.name, is_ancestor)
    if since is False or until is True:
        return False
    return None if since is None or until is None else True


def _reaches(older: str, newer: str, name: str, is_ancestor: IsAncestor) -> bool | None:
    return True if older == newer else is_ancestor(name, older, newer)


def bad_environment(lock: Lock, installed: Mapping[str, str]) -> Iterator[Finding]:
    """Installed versions that the lock calls bad; `installed` maps distributions to versions.

    A note that names several distributions speaks of all of them together.
    """
    versions = {canonicalize_name(name): Version(version) for name, version in installed.items()}
    for note in lock.known_bad:
        ranges = _ranges(note)
        if ranges and all(name in versions and spec.contains(versions[name], True) for name, spec in ranges.items()):
            listed = " with ".join(f"`{name}` {versions[name]}" for name in ranges)
            yield Finding(
                "known-bad-version", "error", f"{listed} is known to be bad: {_why(note)}", lock_line=note.at.line
            )


def bad_requirements(lock: Lock) -> Iterator[Finding]:
    """`requires:` that let versions in which the lock calls bad."""
    for note in lock.known_bad:
        ranges = _ranges(note)
        for upstream in lock.upstreams.values():
            wanted = {canonicalize_name(name): SpecifierSet(spec) for name, spec in upstream.requires.items()}
            if not ranges or not ranges.keys() <= wanted.keys():
                continue
            shared = [_both(wanted[name], spec) for name, spec in ranges.items()]
            if all(version is not None for version in shared):
                listed = " with ".join(f"`{name}` {found}" for name, found in zip(ranges, shared, strict=True))
                message = f"`requires:` allows {listed}, known to be bad: {_why(note)}"
                yield _finding("known-bad-allowed", "warning", message, upstream, note)


def _both(one: SpecifierSet, other: SpecifierSet) -> Version | None:
    """The lowest version that both ranges hold, among those that they name and their neighbours.

    Ranges change at the versions that they name and nowhere else, so their neighbours stand for all the rest.
    """
    named = [Version(spec.version.removesuffix(".*")) for spec in (*one, *other)]
    found = {near for version in named for near in _near(version)}
    return min((v for v in found if one.contains(v, True) and other.contains(v, True)), default=None)


def _near(version: Version) -> Iterator[Version]:
    yield version
    release = list(version.release)
    yield Version(".".join(map(str, [*release[:-1], release[-1] + 1])))
    if release[-1] > 0:
        yield Version(".".join(map(str, [*release[:-1], release[-1] - 1])))


def _ranges(note: KnownBad) -> dict[NormalizedName, SpecifierSet]:
    return {canonicalize_name(name): SpecifierSet(spec) for name, spec in note.versions.items()}


def _why(note: KnownBad) -> str:
    return f"{note.reason} ({note.link})" if note.link else note.reason


def _finding(
    rule: str, level: Level, message: str, upstream: Upstream, note: KnownBad, *, fix: str | None = None
) -> Finding:
    return Finding(rule, level, message, lock_line=note.at.line, upstream=upstream.name, side="record", fix=fix)
