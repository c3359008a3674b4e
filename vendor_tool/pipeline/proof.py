"""Before anything is written: do the files import without the modules that they shim?"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from vendor_tool import __version__
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import Lock, Tree
from vendor_tool.values import replace


def demand(lock: Lock, files: Tree, stand_ins: Mapping[str, bytes], cache: Path | None) -> tuple[Finding, ...]:
    """Import every file that uses a stand-in, once for the same bytes; the notes that are left.

    Raises UsageError, with every place, for what cannot be put off until the first call: better told now than by a
    machine without the runtime later.
    """
    if not stand_ins:
        return ()
    contents = {path: blob.data for path, blob in files.items()} | dict(stand_ins)
    key = _key(contents)
    notes = _recall(cache, key)
    if notes is None:
        from vendor_tool.transform import shim

        found = shim.prove(contents, lock.shims, root=lock.root)
        wrong = [one for one in found if one.level == "error"]
        if wrong:
            raise UsageError(
                "\n".join(f"{one.path}:{one.line}: {one.message}" for one in wrong),
                hint="move it into a function with a patch (`vendor-tool patch new`), or take it out with `drop:`",
            )
        notes = tuple(found)
        _keep(cache, key, notes)
    names = {
        item.to: one.name for one in lock.upstreams.values() for item in (one.resolved.files if one.resolved else ())
    }
    return tuple(replace(one, upstream=names.get(one.path or "")) for one in notes)


def _key(contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{__version__}\0{sys.version}\0".encode())
    for path, data in sorted(contents.items()):
        digest.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\0".encode())
    return digest.hexdigest()


def _recall(cache: Path | None, key: str) -> tuple[Finding, ...] | None:
    if cache is None:
        return None
    try:
        return tuple(Finding(**one) for one in json.loads((cache / "proof" / key).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _keep(cache: Path | None, key: str, notes: tuple[Finding, ...]) -> None:
    """A note says what was missing on this machine today: only a proof without one is kept."""
    if cache is None or notes:
        return
    path = cache / "proof" / key
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{key}.{os.getpid()}")
        temporary.write_text("[]", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return
