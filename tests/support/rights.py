"""Locks with records of rights, built from a few facts: one upstream, its files, its ancestors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1, sha256
from pathlib import Path
from typing import TypeAlias

from vendor_tool import legal
from vendor_tool.legal import Ancestor, Facts, Origin
from vendor_tool.model import (
    At,
    FileSpec,
    LegalFile,
    Lock,
    Project,
    Recorded,
    Resolved,
    ShimSpec,
    Upstream,
)

TEXTS = Path(__file__).parents[1] / "licences" / "texts"
MIT = (TEXTS / "MIT.txt").read_bytes()
BSD = (TEXTS / "BSD-3-Clause.txt").read_bytes()
APACHE_TEMPLATE = (TEXTS / "Apache-2.0.txt").read_bytes()
APACHE = APACHE_TEMPLATE.replace(b"[yyyy] [name of copyright owner]", b"2025 Mid Labs")
MIT_HOLDER, APACHE_HOLDER = "Copyright (c) 2024 The Demo Authors", "Copyright 2025 Mid Labs"
MID, ROOT = "https://github.com/mid/plugins", "https://github.com/roots/kern"
REVISION, ROOT_REVISION = "b" * 40, "a" * 40
DATE = "2026-03-04T05:06:07+01:00"


Trees: TypeAlias = Mapping[tuple[str, str], Mapping[str, bytes]]


@dataclass
class Repositories:
    """What every repository holds: (url, revision) to path to bytes."""

    trees: Trees
    tags: Mapping[str, str] = field(default_factory=dict)

    def listing(self, url: str, revision: str) -> Mapping[str, str] | None:
        found = self.trees.get((url, revision))
        return None if found is None else {path: blob(data) for path, data in found.items()}

    def read(self, url: str, revision: str, path: str) -> bytes | None:
        return self.trees.get((url, revision), {}).get(path)

    def resolve(self, url: str, ref: str) -> str | None:
        commit = self.tags.get(ref, "")
        return commit if (url, commit) in self.trees else None


def blob(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def kept(path: str, to: str, data: bytes, spdx: str | None = None, *holders: str) -> LegalFile:
    """The record of a legal file and its copy."""
    return LegalFile(path, blob(data), to, sha256(data).hexdigest(), spdx, holders)


def recorded(path: str, to: str, upstream: bytes, local: bytes, line: int = 10) -> Recorded:
    return Recorded(path, blob(upstream), to, sha256(local).hexdigest(), At(line, 9))


MID_LICENSE = kept("LICENSE", "vendored/LICENSES/mid/LICENSE", APACHE, "Apache-2.0", APACHE_HOLDER)
ROOT_LICENSE = kept("LICENSE", "vendored/LICENSES/mid/roots__kern/LICENSE", MIT, "MIT", MIT_HOLDER)
ANCESTOR = Ancestor(ROOT, ROOT_REVISION, ("examples/fwd.py",), license=ROOT_LICENSE)


def origin(path: str = "examples/fwd.py", *, hop: int = 1, named_in: str = "ops/fwd.py") -> Origin:
    return Origin(ROOT, ROOT_REVISION, path, hop, 1, named_in)


def upstream(
    *files: Recorded,
    name: str = "mid",
    url: str = MID,
    facts: Facts | None = None,
    license_: LegalFile | None = MID_LICENSE,
    notice: LegalFile | None = None,
    declared: str | None = "Apache-2.0",
    to: str = "vendored/mid",
) -> Upstream:
    """An entry with a record of these files."""
    record = Resolved(
        at=At(9, 5),
        revision=REVISION,
        date=DATE,
        intent="",
        seal="",
        license=license_,
        notice=notice,
        files=files,
        extra={legal.KEY: legal.dump(facts)} if facts else {},
    )
    specs = tuple(FileSpec(file.path.removeprefix("ops/"), None, file.at) for file in files)
    return Upstream(
        name=name,
        url=url,
        revision=REVISION,
        at=At(5, 3),
        revision_at=At(6, 15),
        branch="main",
        license=declared,
        from_="ops",
        to=to,
        files=specs,
        resolved=record,
    )


def lock(*upstreams: Upstream, shims: Mapping[str, ShimSpec] | None = None, project: Project | None = None) -> Lock:
    own = project or Project("demo", "Apache-2.0", ("Apache-2.0", "MIT"))
    return Lock(Path("vendor.lock.yaml"), own, shims or {}, {one.name: one for one in upstreams})


def with_facts(one: Upstream, facts: Facts) -> Upstream:
    assert one.resolved is not None
    return replace(one, resolved=replace(one.resolved, extra={legal.KEY: legal.dump(facts)}))
