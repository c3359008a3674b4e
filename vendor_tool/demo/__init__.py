"""The upstreams of the demo: real git repositories, made from the package's data, the same on every machine."""

from __future__ import annotations

import json
from datetime import datetime
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
    author = f"The {history['author']} Authors"
    email = f"authors@{history['author'].lower().replace(' ', '-')}.example"
    folder.mkdir(parents=True)
    ran = vcs.run(folder, "init", "-q", "--template=", "--initial-branch=main")
    if ran.status != 0:
        raise UsageError(f"`git init` failed: {ran.err.strip()}", hint="see whether git works here")
    commits = []
    for step in history["commits"]:
        _copy(data / name / step["folder"], folder)
        date = datetime.fromisoformat(step["date"])
        commits.append(vcs.commit(folder, f"{step['message']}\n", author=author, email=email, date=date))
    return tuple(commits)


def _copy(source: Path, target: Path) -> None:
    for item in source.iterdir():
        if item.is_dir() and item.name != "__pycache__":
            (target / item.name).mkdir(exist_ok=True)
            _copy(item, target / item.name)
        elif item.is_file():
            (target / item.name).write_bytes(item.read_bytes())
