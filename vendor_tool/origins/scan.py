"""Every claim of origin in a folder, and whether a lock entry accounts for it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from vendor_tool import legal
from vendor_tool.legal import Claim
from vendor_tool.links import key
from vendor_tool.model import Lock
from vendor_tool.origins import SUFFIXES, claims
from vendor_tool.values import dataclass, replace

_SKIPPED = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache", ".tox", ".vendor-tool"}
)
_LARGEST = 2_000_000  # bytes: what is larger was generated


@dataclass(frozen=True, slots=True)
class Located:
    """A claim and the file that makes it."""

    path: str  # below the scanned folder
    claim: Claim
    covered_by: str | None = None  # the lock entry that accounts for it


def scan(root: Path) -> list[Located]:
    """Every claim in the source files below a folder, by path and line; links and generated giants are passed over.

    A path that is not there below the folder is `dangling`.
    """
    found: list[Located] = []
    for path in _sources(root):
        for claim in claims((root / path).read_bytes(), path):
            if claim.tier == "B" and claim.path and "/" in claim.path and not (root / claim.path).exists():
                claim = replace(claim, state="dangling")
            found.append(Located(path, claim))
    return found


def cover(found: list[Located], lock: Lock) -> list[Located]:
    """The claims, each with the lock entry that accounts for it: its file's own, or one that names the repository."""
    owners = {file.to: name for name, one in lock.upstreams.items() if one.resolved for file in one.resolved.files}
    known: dict[str, str] = {}
    for name, upstream in lock.upstreams.items():
        for url in (upstream.url, *upstream.mirrors, *(one.url for one in legal.read(upstream.resolved).ancestors)):
            known.setdefault(key(url), name)
    return [
        replace(
            one,
            covered_by=known.get(key(one.claim.url)) if one.claim.url else owners.get(one.path),
        )
        for one in found
    ]


def _sources(root: Path) -> Iterator[str]:
    top = str(root)  # a repository may hold many thousand files: plain text costs a tenth of paths
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        below = folder[len(top) :].strip("/")
        for name in sorted(files):
            if not name.endswith(SUFFIXES):
                continue
            found = os.lstat(f"{folder}/{name}")
            if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
                yield f"{below}/{name}" if below else name
