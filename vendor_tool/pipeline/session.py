"""A stopped upgrade: marked files and the three versions in `.vendor-tool/merge/<upstream>`, until it is ended.

The folder is a git repository of its own whose index holds the three versions as unmerged stages, so that
`git mergetool` and editors work in it. Neither the tree nor the lock of the project knows of it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vendor_tool import vcs, write
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.merge import Conflict, Rebase, Resolution
from vendor_tool.model import Blob, Lock, Upstream
from vendor_tool.values import dataclass

STATE = "session.json"


@dataclass(frozen=True, slots=True)
class Session:
    """What is needed to go on: everything else follows from the lock, the patches and the upstream."""

    name: str
    revision: str
    inputs: str  # digest of the lock and the patches that the session began with
    stopped: int
    patch: str
    paths: tuple[str, ...]  # files that a person must settle
    resolutions: Mapping[int, Resolution]


def folder(root: Path, name: str) -> Path:
    return root / write.FOLDER / "merge" / name


def pending(root: Path) -> tuple[str, ...]:
    """Names of the upstreams whose upgrade is stopped."""
    merge = root / write.FOLDER / "merge"
    if not merge.is_dir():
        return ()
    return tuple(sorted(path.parent.name for path in merge.glob(f"*/{STATE}")))


def refuse_pending(root: Path, names: Sequence[str]) -> None:
    """Nothing else may touch an entry whose upgrade is stopped. Raises ConflictError."""
    for name in pending(root):
        if name in names:
            raise ConflictError(
                f"an upgrade of `{name}` is stopped at a conflict",
                hint="see `vendor-tool status`, then run `vendor-tool sync --continue` or `vendor-tool sync --abort`",
            )


def inputs(lock: Lock, upstream: Upstream) -> str:
    """Digest of what people may change between two steps of an upgrade, and must not."""
    digest = hashlib.sha256(lock.path.read_bytes())
    for spec in upstream.patches:
        digest.update(spec.path.encode() + b"\0" + (write.read(lock.root, spec.path) or b""))
    return digest.hexdigest()


# ---- begin ------------------------------------------------------------------------------------------------


def save(
    lock: Lock, upstream: Upstream, revision: str, rebase: Rebase, resolutions: Mapping[int, Resolution]
) -> Session:
    """Lay out the conflict for a person. Whole or not at all: the folder is made beside and moved into place."""
    assert rebase.stopped is not None
    session = Session(
        name=upstream.name,
        revision=revision,
        inputs=inputs(lock, upstream),
        stopped=rebase.stopped,
        patch=rebase.steps[rebase.stopped].patch.path,
        paths=tuple(conflict.path for conflict in rebase.conflicts),
        resolutions=resolutions,
    )
    write.own_folder(lock.root)
    final = folder(lock.root, upstream.name)
    part = final.with_name(f"{final.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for conflict in rebase.conflicts:
        _lay_out(part, conflict)
    _unmerged(part, rebase.conflicts)
    (part / STATE).write_text(json.dumps(_dump(session), indent=1), encoding="utf-8")
    shutil.rmtree(final, ignore_errors=True)
    part.rename(final)
    return session


def _lay_out(part: Path, conflict: Conflict) -> None:
    target = part / conflict.path
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix, version in (("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs)):
        if version is not None:
            target.with_name(f"{target.name}.{suffix}").write_bytes(version.data)
    if conflict.marked is not None:
        target.write_bytes(conflict.marked)
    if conflict.ours is not None and conflict.ours.executable and target.exists():
        target.chmod(0o755)


def _unmerged(part: Path, conflicts: Sequence[Conflict]) -> None:
    """An index with the three versions as stages 1, 2 and 3 of each path."""
    _git(part, "init", "-q", "--template=", "--initial-branch=merge")
    names = (("user.name", "vendor-tool"), ("user.email", "vendor-tool@localhost"))
    _git(part, "commit", "-q", "--allow-empty", "--no-verify", "-m", "a stopped upgrade", config=names)
    lines = []
    for conflict in conflicts:
        for stage, version in enumerate((conflict.base, conflict.ours, conflict.theirs), 1):
            if version is not None:
                oid = _git(part, "hash-object", "-w", "--no-filters", "--stdin", stdin=version.data).strip()
                mode = "100755" if version.executable else "100644"
                lines.append(f"{mode} {oid} {stage}\t{conflict.path}\0")
    _git(part, "update-index", "-z", "--index-info", stdin="".join(lines).encode())
    (part / ".git" / "info").mkdir(exist_ok=True)
    (part / ".git" / "info" / "exclude").write_text(f"*.base\n*.ours\n*.theirs\n{STATE}\n", encoding="utf-8")


def _git(part: Path, *arguments: str, stdin: bytes = b"", config: Sequence[tuple[str, str]] = ()) -> str:
    ran = vcs.run(part, *arguments, stdin=stdin, config=config)
    if ran.status != 0:
        raise UsageError(f"`git {arguments[0]}` failed: {ran.err.strip()}", hint="see whether git works here")
    return ran.out.decode()


# ---- go on ------------------------------------------------------------------------------------------------


def load(root: Path, name: str) -> Session:
    """A stopped upgrade. Raises UsageError where its state cannot be read."""
    try:
        raw = json.loads((folder(root, name) / STATE).read_bytes())
        resolutions = {
            int(step): {path: _blob(item) for path, item in files.items()} for step, files in raw["resolutions"].items()
        }
        return Session(
            name=raw["name"],
            revision=raw["revision"],
            inputs=raw["inputs"],
            stopped=raw["stopped"],
            patch=raw["patch"],
            paths=tuple(raw["paths"]),
            resolutions=resolutions,
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            f"the stopped upgrade of `{name}` cannot be read", hint="end it with `vendor-tool sync --abort`"
        ) from None


def resolution(root: Path, session: Session) -> Resolution:
    """What a person made of the files in conflict; None for one that was deleted."""
    found: dict[str, Blob | None] = {}
    for path in session.paths:
        file = folder(root, session.name) / path
        if file.is_symlink():
            raise ConflictError(f"`{path}` of the stopped upgrade is a symbolic link", hint="write the file itself")
        found[path] = Blob(file.read_bytes(), bool(file.stat().st_mode & 0o100)) if file.is_file() else None
    return found


def drop(root: Path, name: str) -> None:
    """End a stopped upgrade and leave no trace of it."""
    final = folder(root, name)
    shutil.rmtree(final.with_name(f"{final.name}.part"), ignore_errors=True)
    shutil.rmtree(final, ignore_errors=True)
    for empty in (final.parent, final.parent.parent):
        if empty.name == "merge" and empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()


def _dump(session: Session) -> dict[str, Any]:
    return {
        "version": 1,
        "name": session.name,
        "revision": session.revision,
        "inputs": session.inputs,
        "stopped": session.stopped,
        "patch": session.patch,
        "paths": list(session.paths),
        "resolutions": {
            str(step): {path: _text(blob) for path, blob in files.items()}
            for step, files in session.resolutions.items()
        },
    }


def _text(blob: Blob | None) -> Any:
    # latin-1 maps every byte to one character and back
    return None if blob is None else [blob.data.decode("latin-1"), blob.executable]


def _blob(item: Any) -> Blob | None:
    return None if item is None else Blob(item[0].encode("latin-1"), item[1])
