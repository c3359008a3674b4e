"""Trees and patches for tests, written as text."""

import itertools
import subprocess
from collections.abc import Mapping
from pathlib import Path

from vendor_tool import patch as patches
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Patch


def tree(files: Mapping[str, str | bytes]) -> Tree:
    """Plain files, text as UTF-8."""
    return {path: Blob(text.encode() if isinstance(text, str) else text) for path, text in sorted(files.items())}


def texts(files: Tree) -> dict[str, str]:
    """The contents of a tree, to compare with what one can read."""
    return {path: blob.data.decode() for path, blob in files.items()}


def made(old: Tree, new: Tree, path: str = "patches/demo/0001-change.patch", title: str = "Change it") -> Patch:
    """The patch from `old` to `new`, as rendered and read back."""
    head = {"Description": title, "Author": "Ada <ada@example.invalid>", "Forwarded": "no"}
    return patches.parse(path, patches.render(old, new, head))


def series(*steps: Tree) -> list[Patch]:
    """The patches that lead from each tree to the next."""
    return [
        made(old, new, f"patches/demo/{number:04d}-step.patch", f"Step {number}")
        for number, (old, new) in enumerate(itertools.pairwise(steps), 1)
    ]


def check_out(files: Tree, folder: Path) -> None:
    """Write a tree and commit it to a new git repository in `folder`."""
    for path, blob in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(blob.data)
        (folder / path).chmod(0o755 if blob.executable else 0o644)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "start"]):
        git(folder, *arguments)


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git in `folder` and give back what it printed."""
    return subprocess.run(["git", *arguments], cwd=folder, input=stdin, stdout=subprocess.PIPE, check=True).stdout


def read_back(folder: Path) -> Tree:
    """The tree that stands in a folder, git's own files aside."""
    return {
        path.relative_to(folder).as_posix(): Blob(path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
