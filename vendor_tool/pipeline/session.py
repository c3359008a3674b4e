"""A stopped merge: marked files and the three versions in `.vendor-tool/merge/<upstream>`, until it is ended.

The folder is a git repository of its own whose index holds the three versions as unmerged stages, so that
`git mergetool` and editors work in it. Neither the tree nor the lock of the project knows of it. `session.json` is what
makes it a session: it comes with the whole folder, and goes in the swap that writes the result and the mark of the end.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vendor_tool import merge, vcs, write
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.merge import Conflict, Rebase, Resolution
from vendor_tool.model import Blob, Lock, Upstream
from vendor_tool.pipeline.upgrade import Task
from vendor_tool.values import dataclass

STATE = "session.json"
END = "ended"
OLD = ".old"


@dataclass(frozen=True, slots=True)
class Open:
    """One file that a person must settle."""

    path: str
    may_go: bool  # one of the three versions is not there, so that deleting the file is an answer
    notes: tuple[str, ...]  # what is known about the conflict


@dataclass(frozen=True, slots=True)
class Session:
    """What is needed to go on: everything else follows from the lock, the patches and the upstream."""

    name: str
    task: Task
    inputs: str  # digest of the entry and the patches that the session began with
    stopped: int
    patch: str
    of: int  # how many patches the series has
    files: tuple[Open, ...]
    resolutions: Mapping[int, Resolution]

    @property
    def what(self) -> str:
        """The task in words."""
        match self.task.kind:
            case "upgrade":
                return f"upgrade of `{self.name}` to `{self.task.revision[:12]}`"
            case "refresh":
                return f"refresh of patch {self.task.number} of `{self.name}`"
            case "drop":
                return f"drop of patch {self.task.number} of `{self.name}`"

    @property
    def again(self) -> str:
        """The command that starts the task anew."""
        if self.task.kind == "upgrade":
            return f"vendor-tool sync {self.name}@{self.task.revision[:12]}"
        return f"vendor-tool patch {self.task.kind} {self.name} {self.task.number}"


def folder(root: Path, name: str) -> Path:
    """Where the files in conflict of an upstream are laid out."""
    return root / write.FOLDER / "merge" / name


def state_path(name: str) -> str:
    """Local path of the file that makes the folder a session."""
    return f"{write.FOLDER}/merge/{name}/{STATE}"


def end_path(name: str) -> str:
    """Local path of the mark that a session was carried out, and that its folder may go."""
    return f"{write.FOLDER}/merge/{name}/{END}"


def pending(root: Path) -> tuple[str, ...]:
    """Names of the upstreams whose upgrade, refresh or drop is stopped, also where its state was lost."""
    found = [path for path in (root / write.FOLDER / "merge").glob("*") if path.is_dir()]
    found = [path for path in found if (path / STATE).exists() or not (_is_old(path) or (path / END).exists())]
    return tuple(sorted({path.name.removeprefix(".").removesuffix(OLD) for path in found}))


def _is_old(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(OLD)


def mend(root: Path) -> tuple[str, ...]:
    """Clear up after a killed run; the names of upstreams whose merge it had ended. Under the run lock only."""
    ended = []
    for left in sorted((root / write.FOLDER / "merge").glob("*")):
        name = left.name.removeprefix(".").removesuffix(OLD)
        if left.name == name and not (left / END).exists():
            continue
        if left.name != name and not folder(root, name).exists():
            left.rename(folder(root, name))
            continue
        shutil.rmtree(left)
        if left.name == name:
            ended.append(name)
    return tuple(ended)


def refuse_pending(root: Path, names: Sequence[str]) -> None:
    """Nothing else may touch an entry whose merge is stopped. Raises ConflictError."""
    for name in pending(root):
        if name in names:
            raise ConflictError(
                f"a merge of `{name}` is stopped at a conflict",
                hint="see `vendor-tool status`, then run `vendor-tool sync --continue` or `vendor-tool sync --abort`",
            )


def inputs(lock: Lock, upstream: Upstream) -> str:
    """Digest of what shapes the entry and must not change between two steps; other entries may."""
    found = upstream.resolved
    facts = [upstream.intent, upstream.revision, *((found.revision, found.seal) if found else ())]
    digest = hashlib.sha256("\0".join(facts).encode())
    for spec in upstream.patches:
        digest.update(spec.path.encode() + b"\0" + (write.read(lock.root, spec.path) or b"") + b"\0")
    return digest.hexdigest()


# ---- begin ------------------------------------------------------------------------------------------------


def save(
    lock: Lock,
    upstream: Upstream,
    task: Task,
    rebase: Rebase,
    resolutions: Mapping[int, Resolution],
    told: Mapping[str, tuple[str, ...]],
) -> Session:
    """Lay out the conflict for a person. Whole or not at all: the folder is made beside and moved into place.

    `told` is what else is known, by local path.
    """
    assert rebase.stopped is not None
    session = Session(
        name=upstream.name,
        task=task,
        inputs=inputs(lock, upstream),
        stopped=rebase.stopped,
        patch=rebase.steps[rebase.stopped].patch.path,
        of=len(rebase.plan.series),
        files=tuple(_open(conflict, rebase, told.get(conflict.path, ())) for conflict in rebase.conflicts),
        resolutions=resolutions,
    )
    write.own_folder(lock.root)
    final = folder(lock.root, upstream.name)
    final.parent.mkdir(exist_ok=True)
    part = lock.root / write.FOLDER / write.STAGE
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    for conflict in rebase.conflicts:
        _lay_out(part, conflict)
    _unmerged(part, rebase.conflicts)
    (part / STATE).write_text(json.dumps(_dump(session), indent=1), encoding="utf-8")
    # the session before this one holds what was settled: it stays until its successor is there
    before = final.with_name(f".{final.name}{OLD}")
    if final.exists():
        final.rename(before)
    part.rename(final)
    shutil.rmtree(before, ignore_errors=True)
    return session


def _open(conflict: Conflict, rebase: Rebase, told: tuple[str, ...]) -> Open:
    assert rebase.stopped is not None
    gone = None in (conflict.ours, conflict.theirs)
    notes = dict.fromkeys(filter(None, [conflict.reason, *(clash.reason for clash in conflict.clashes)]))
    both = f"{rebase.steps[rebase.stopped].patch.path} and {rebase.plan.label} both change lines there"
    return Open(conflict.path, gone, (*(notes or (both,)), *told))


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
    _git(part, "commit", "-q", "--allow-empty", "--no-verify", "-m", "a stopped merge", config=names)
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
    ran = vcs.run(
        part, *arguments, stdin=stdin, config=(*config, ("core.autocrlf", "false"), ("commit.gpgSign", "false"))
    )
    if ran.status != 0:
        raise UsageError(f"`git {arguments[0]}` failed: {ran.err.strip()}", hint="see whether git works here")
    return ran.out.decode()


# ---- go on ------------------------------------------------------------------------------------------------


def load(root: Path, name: str) -> Session:
    """A stopped merge. Raises UsageError where its state cannot be read."""
    try:
        raw = json.loads((_place(root, name) / STATE).read_bytes())
        task = raw["task"]
        return Session(
            name=raw["name"],
            task=Task(
                task["kind"], task["revision"], task["number"], task["date"], _blobs(task["edits"]), task.get("tag")
            ),
            inputs=raw["inputs"],
            stopped=raw["stopped"],
            patch=raw["patch"],
            of=raw["of"],
            files=tuple(Open(one["path"], one["may-go"], tuple(one["notes"])) for one in raw["files"]),
            resolutions={
                int(step): {path: _blob(item) for path, item in files.items()}
                for step, files in raw["resolutions"].items()
            },
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            f"the stopped merge of `{name}` cannot go on: `{state_path(name)}` is gone or damaged",
            hint=f"take out of `{write.FOLDER}/merge/{name}` what you settled, run `vendor-tool sync --abort {name}`, "
            "and start anew; tree and lock are as they were",
        ) from None


def _place(root: Path, name: str) -> Path:
    """The session's folder; where a run was killed between two sessions, that of the earlier one."""
    final = folder(root, name)
    return final if final.exists() else final.with_name(f".{name}{OLD}")


def resolution(root: Path, session: Session) -> Resolution:
    """What a person made of the files in conflict; None for one that was deleted, where that is an answer."""
    found: dict[str, Blob | None] = {}
    for one in session.files:
        file = _place(root, session.name) / one.path
        if file.is_symlink():
            raise ConflictError(f"`{one.path}` of the stopped merge is a symbolic link", hint="write the file itself")
        if file.is_file():
            found[one.path] = Blob(file.read_bytes(), bool(file.stat().st_mode & 0o100))
        elif one.may_go:
            found[one.path] = None
        else:
            where = f"{write.FOLDER}/merge/{session.name}"
            raise ConflictError(
                f"`{one.path}` is not in `{where}`",
                hint="put it there as it should be; the versions beside it end in `.base`, `.ours` and `.theirs`",
            )
    return found


def marked(root: Path, session: Session) -> dict[str, tuple[tuple[int, int], ...] | None]:
    """Stretches of lines that hold conflict markers still, by path, from 1; None for a file that is not there."""
    found: dict[str, tuple[tuple[int, int], ...] | None] = {}
    for one in session.files:
        file = _place(root, session.name) / one.path
        beside = [file.with_name(f"{file.name}.{suffix}") for suffix in ("base", "ours", "theirs")]
        versions = [version.read_bytes() if version.is_file() else b"" for version in beside]
        found[one.path] = _stretches(file.read_bytes(), versions) if file.is_file() else None
    return found


def _stretches(data: bytes, versions: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    lines = data.split(b"\n")
    stretches: list[tuple[int, int]] = []
    ended = True
    for number in merge.markers_left(data, *versions):
        if ended or lines[number - 1].startswith(b"<"):
            stretches.append((number, number))
        stretches[-1] = (stretches[-1][0], number)
        ended = lines[number - 1].startswith(b">")
    return tuple(stretches)


def drop(root: Path, name: str) -> None:
    """End a stopped merge and leave no trace of it. Under the run lock only."""
    gone = root / write.FOLDER / write.STAGE
    shutil.rmtree(gone, ignore_errors=True)
    _place(root, name).rename(gone)  # at once: half a session would be one that cannot be ended
    shutil.rmtree(gone)


def _dump(session: Session) -> dict[str, Any]:
    task = session.task
    return {
        "version": 1,
        "name": session.name,
        "task": {
            "kind": task.kind,
            "revision": task.revision,
            "number": task.number,
            "date": task.date,
            "edits": {path: _text(blob) for path, blob in task.edits.items()},
            "tag": task.tag,
        },
        "inputs": session.inputs,
        "stopped": session.stopped,
        "patch": session.patch,
        "of": session.of,
        "files": [{"path": one.path, "may-go": one.may_go, "notes": list(one.notes)} for one in session.files],
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


def _blobs(items: Mapping[str, Any]) -> dict[str, Blob]:
    return {path: blob for path, item in items.items() if (blob := _blob(item)) is not None}
