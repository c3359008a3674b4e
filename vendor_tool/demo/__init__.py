"""The upstream of the demo: a real git repository, made from the package's data, the same on every machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

from vendor_tool import vcs
from vendor_tool.errors import UsageError

AUTHOR = "Tiny Kernels"
MAIL = "authors@tiny-kernels.example"
PINNED = 2  # the demo begins at the second commit: the third is a fix


def build_upstream(folder: Path) -> tuple[str, ...]:
    """Make the repository in `folder`, which must not exist; the commit ids, oldest first."""
    data = Path(__file__).parent
    history = json.loads((data / "history.json").read_text(encoding="utf-8"))
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "--template=", "--initial-branch=main")
    commits = []
    for step in history:
        _copy(data / "upstream" / step["folder"], folder)
        _git(folder, "add", "--all", "--force", ".")
        date = {"GIT_AUTHOR_DATE": step["date"], "GIT_COMMITTER_DATE": step["date"]}
        _git(folder, "commit", "-q", "--no-verify", "--no-gpg-sign", "-m", step["message"], variables=date)
        commits.append(_git(folder, "rev-parse", "HEAD").strip())
    return tuple(commits)


def _copy(source: Path, target: Path) -> None:
    for item in source.iterdir():
        if item.is_dir():
            (target / item.name).mkdir(exist_ok=True)
            _copy(item, target / item.name)
        elif item.suffix != ".pyc":
            (target / item.name).write_bytes(item.read_bytes())


def _git(folder: Path, *arguments: str, variables: dict[str, str] | None = None) -> str:
    names = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", AUTHOR), ("EMAIL", MAIL))
    }
    config = (("core.autocrlf", "false"), ("core.eol", "lf"), ("core.excludesFile", os.devnull))
    ran = vcs.run(folder, *arguments, config=config, variables={**names, **(variables or {})})
    if ran.status != 0:
        raise UsageError(f"`git {arguments[0]}` failed: {ran.err.strip()}", hint="see whether git works here")
    return ran.out.decode()
