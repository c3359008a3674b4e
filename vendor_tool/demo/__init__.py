"""The upstreams of the demo: real git repositories, made from the package's data, the same on every machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

from vendor_tool import vcs
from vendor_tool.errors import UsageError

PINNED = 2  # the demo begins at the second commit of `tiny`: the third is a fix
BASICS = "https://github.com/vendor-tool-demo/basics"
"""The address that a comment of `tiny` names as its origin; there is no such repository but the demo's own."""


def build(name: str, folder: Path) -> tuple[str, ...]:
    """Make the repository `basics` or `tiny` in `folder`, which must not exist; the commit ids, oldest first."""
    data = Path(__file__).parent
    history = json.loads((data / "history.json").read_text(encoding="utf-8"))[name]
    folder.mkdir(parents=True)
    _git(folder, history["author"], "", "init", "-q", "--template=", "--initial-branch=main")
    commits = []
    for step in history["commits"]:
        _copy(data / name / step["folder"], folder)
        _git(folder, history["author"], step["date"], "add", "--all", "--force", ".")
        commit = ("commit", "-q", "--no-verify", "--no-gpg-sign", "-m", step["message"])
        _git(folder, history["author"], step["date"], *commit)
        commits.append(_git(folder, history["author"], "", "rev-parse", "HEAD").strip())
    return tuple(commits)


def _copy(source: Path, target: Path) -> None:
    for item in source.iterdir():
        if item.is_dir() and item.name != "__pycache__":
            (target / item.name).mkdir(exist_ok=True)
            _copy(item, target / item.name)
        elif item.is_file():
            (target / item.name).write_bytes(item.read_bytes())


def _git(folder: Path, author: str, date: str, *arguments: str) -> str:
    variables = {}
    for role in ("AUTHOR", "COMMITTER"):
        variables[f"GIT_{role}_NAME"] = f"The {author} Authors"
        variables[f"GIT_{role}_EMAIL"] = f"authors@{author.lower().replace(' ', '-')}.example"
        if date:
            variables[f"GIT_{role}_DATE"] = date
    config = (("core.autocrlf", "false"), ("core.eol", "lf"), ("core.excludesFile", os.devnull))
    ran = vcs.run(folder, *arguments, config=config, variables=variables)
    if ran.status != 0:
        raise UsageError(f"`git {arguments[0]}` failed: {ran.err.strip()}", hint="see whether git works here")
    return ran.out.decode()
