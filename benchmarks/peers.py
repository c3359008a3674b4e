"""The same files, taken by other tools: each writes its configuration, untimed, and is one command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from clock import Command
from made import Upstream
from place import Place


def dfetch(place: Place, tool: Path, one: Upstream) -> Command:
    """A plain copy of the folder."""
    folder = place.fresh("dfetch")
    (folder / "dfetch.yaml").write_text(
        "manifest:\n  version: '0.0'\n  projects:\n"
        f"    - name: {one.name}\n      url: {one.url}\n      revision: {one.revision}\n"
        f"      src: {one.folder}\n      dst: vendored/{one.name}\n",
        encoding="utf-8",
    )
    return Command([tool, "update"], folder, place.environment)


def peru(place: Place, tool: Path, one: Upstream) -> Command:
    """A plain copy of the files; it clones the whole history."""
    folder = place.fresh("peru")
    picked = "".join(f"    - {path}\n" for path in one.paths)
    (folder / "peru.yaml").write_text(
        f"imports:\n  {one.name}: vendored/{one.name}\n"
        f"git module {one.name}:\n  url: {one.url}\n  rev: {one.revision}\n  pick:\n{picked}  export: {one.folder}\n",
        encoding="utf-8",
    )
    return Command([tool, "sync"], folder, place.environment)


def pl_vendor(place: Place, tool: Path, one: Upstream) -> Command:
    """A plain copy of the files into a repository, which it demands."""
    folder = place.fresh("pl-vendor")
    subprocess.run(["git", "init", "-q", folder], check=True, env=dict(place.environment))
    (folder / "pyproject.toml").write_text(
        f"[tool.pl-vendor]\nschema-version = 1\n\n[tool.pl-vendor.packages.{one.name}]\n"
        f'path = "vendored/{one.name}"\nurl = "{one.url}"\ncommit = "{one.revision}"\n'
        f"sources = {json.dumps(one.paths)}\n",
        encoding="utf-8",
    )
    return Command([tool, "update"], folder, place.environment)


PEERS: Mapping[str, Callable[[Place, Path, Upstream], Command]] = {
    "dfetch": dfetch,
    "peru": peru,
    "pl-vendor": pl_vendor,
}
