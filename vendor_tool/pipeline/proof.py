"""Before anything is written: do the files import without the modules that they shim?"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

from vendor_tool import __version__, memory
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
    place = memory.place(cache, "proof", _question(contents)) if cache is not None else None
    notes = _recall(place, lock.root) if place is not None else None
    if notes is None:
        from vendor_tool.transform import shim

        found = shim.prove(contents, lock.shims, root=lock.root)
        wrong = [one for one in found if one.level == "error"]
        if wrong:
            raise UsageError(
                "\n".join(f"{one.path}{f':{one.line}' if one.line else ''}: {one.message}" for one in wrong),
                hint="move it into a function with a patch (`vendor-tool patch new`), or take it out with `drop:`",
            )
        notes = tuple(found)
        if place is not None:
            _remember(place, notes)
    names = {
        item.to: one.name for one in lock.upstreams.values() for item in (one.resolved.files if one.resolved else ())
    }
    return tuple(replace(one, upstream=names.get(one.path or "")) for one in notes)


def _question(contents: Mapping[str, bytes]) -> list[object]:
    return [
        __version__,
        sys.version,
        sorted((path, hashlib.sha256(data).hexdigest()) for path, data in contents.items()),
    ]


def _recall(place: Path, root: Path) -> tuple[Finding, ...] | None:
    """The notes of an earlier proof, as long as every module that was missing still is."""
    known = memory.recall(place)
    try:
        notes = tuple(Finding(**one) for one in known["notes"])
        return None if any(_there(name.partition(".")[0], root) for name in known["missing"]) else notes
    except (TypeError, KeyError, AttributeError):
        return None


def _there(name: str, root: Path) -> bool:
    """Whether a top-level module is installed here, or may be the project's own."""
    return importlib.util.find_spec(name) is not None or (root / name).exists() or (root / f"{name}.py").exists()


def _remember(place: Path, notes: tuple[Finding, ...]) -> None:
    from vendor_tool.transform import shim_proof

    missing = [shim_proof.missing(one) for one in notes]
    # other notes say how an import went that may go otherwise the next time
    if None not in missing:
        plain = [{name: getattr(one, name) for name in Finding.__match_args__} for one in notes]
        memory.remember(place, {"notes": plain, "missing": missing})
