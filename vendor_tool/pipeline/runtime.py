"""Run-time imports of an entry: whether upstream's newest revision, and the packages at hand, still define them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, RecordedImport, Snapshot, Upstream
from vendor_tool.outdated import distribution
from vendor_tool.outdated.verdict import changed_import, gone_import, unclear_import
from vendor_tool.transform import symbols
from vendor_tool.values import dataclass
from vendor_tool.words import command


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a name stands for: its signature, empty for what is no function or class, and a digest of its source."""

    signature: str
    digest: str


def upstream(entry: Upstream, new: Snapshot, access: Access) -> list[Finding]:
    """Imports that the newer revision lacks, or defines otherwise. UpstreamError where its files are not to be had."""

    read = fetch.reader(entry, new, access)
    stay = "keep the pin, or name what took its place under `imports:`"
    return list(_compare(entry, f"`{new.revision[:12]}`", new.entries.keys(), read, access, stay))


def packaged(entries: Sequence[Upstream], wheels: Sequence[Path], access: Access) -> list[Finding]:
    """Imports that an installed package, or a wheel, lacks or defines otherwise than the pin. Nothing is imported."""
    found: list[Finding] = []
    held = [(distribution.wheel(path), "in the wheel") for path in wheels]
    for entry in entries:
        modules = {name.partition(".")[0] for name in entry.imports}
        installed = {module: distribution.installed(module) for module in sorted(modules)}
        here = [(one, "installed here") for one in installed.values() if one is not None]
        for module, one in installed.items():
            if one is None and (place := distribution.importable(module)) is not None:
                message = f"what imports find at `{place}` could not be looked at: no installed package accounts for it"
                found.append(unclear_import(entry, module, message))
        for package, where in [*here, *held]:
            if modules & {path.partition("/")[0].removesuffix(".py") for path in package.listing}:
                holder = f"`{package.name}` {package.version}, {where}"
                gone = f"write the versions of `{package.name}` that have it under `requires:`"
                if spec := entry.requires.get(package.name):
                    gone = command("pip", "install", f"{package.name}{spec}")
                found += _compare(entry, holder, package.listing, package.read, access, gone)
    return found


def _compare(
    entry: Upstream, holder: str, listing: Collection[str], read: symbols.Read, access: Access, gone: str
) -> Iterator[Finding]:
    recorded = {item.name: item for item in entry.resolved.imports} if entry.resolved else {}
    for name in entry.imports:
        try:
            definition = symbols.find(name, listing, read)
        except UpstreamError as problem:
            yield gone_import(entry, name, holder=holder, reason=problem.message, fix=gone)
            continue
        try:
            before = _recorded(entry, recorded[name], access) if name in recorded else None
        except UpstreamError as problem:
            yield unclear_import(entry, name, f"it could not be compared with the pin: {problem.message}")
            continue
        after = _meaning(read([definition.path])[definition.path], definition.line)
        if before is not None and before != after:
            yield changed_import(
                entry, name, holder=holder, before=before.signature, after=after.signature, digest=after.digest
            )


def _recorded(entry: Upstream, item: RecordedImport, access: Access) -> _Meaning:
    """What the name stands for at the pin. UpstreamError where that cannot be read now."""
    assert entry.resolved is not None
    data = fetch.blobs(entry, entry.resolved.revision, {item.blob}, access)[item.blob]
    return _meaning(data, item.line)


def _meaning(data: bytes, line: int) -> _Meaning:
    whole = _Meaning("", hashlib.sha256(data).hexdigest())
    try:
        found = symbols.outline(data).values()
    except (SyntaxError, ValueError):
        return whole
    around = [one for one in found if one.line <= line <= one.end_line]
    if not around:
        return whole
    inner = min(around, key=lambda one: one.end_line - one.line)
    return _Meaning(inner.signature, inner.digest)
