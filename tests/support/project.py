"""A consumer project in a temporary folder, and the program run in it for real."""

import contextlib
import io
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vendor_tool.cli import main
from vendor_tool.errors import ExitCode

SHIMS = "shims:\n  tilelang: {to: vendored/_tilelang.py}\n"


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a lock."""

    root: Path

    def run(self, *arguments: str) -> Result:
        """Run a command in this process, as it would be typed in the project's folder."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline=""), io.StringIO()
        with inside(self.root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
        out.seek(0)
        return Result(code, out.read(), err.getvalue())

    def done(self, *arguments: str) -> Result:
        """Run a command that must end clean."""
        result = self.run(*arguments)
        assert result.code == ExitCode.CLEAN, result.err + result.out
        return result

    def refused(self, code: ExitCode, *arguments: str) -> str:
        """Run a command that must end with `code` and leave every file as it was; what it said."""
        before = self.tree()
        result = self.run(*arguments)
        assert result.code == code, result.err + result.out
        assert self.tree() == before
        return result.err + result.out

    def child(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in a process of its own."""
        command = [sys.executable, "-m", "vendor_tool", *arguments]
        path = str(Path(__file__).parent.parent.parent)
        env = {**os.environ, "PYTHONPATH": path, **variables}
        return subprocess.run(command, cwd=self.root, env=env, check=False, capture_output=True, text=True)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Put files into the project."""
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    @property
    def lock(self) -> str:
        return (self.root / "vendor.lock.yaml").read_text(encoding="utf-8")

    def tree(self, *below: str) -> dict[str, bytes]:
        """Every file by path, or those below some folders, without the tool's own folder and Python's caches."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if name.startswith(".vendor-tool/") or "__pycache__" in name or path.is_dir():
                continue
            if not below or name.startswith(tuple(f"{folder}/" for folder in below)):
                found[name] = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        return found

    def executable(self, path: str) -> bool:
        return bool((self.root / path).stat().st_mode & stat.S_IXUSR)


def project(root: Path, lock: str = "") -> Project:
    """A project with a lock."""
    root.mkdir(parents=True, exist_ok=True)
    made = Project(root)
    if lock:
        made.write({"vendor.lock.yaml": lock})
    return made


def lock(*entries: str, shims: str = SHIMS, license_: str = "Apache-2.0") -> str:
    """The text of a lock with these entries."""
    head = f"version: 1\nproject:\n  name: consumer\n  license: {license_}\n  allow: [Apache-2.0, MIT]\n"
    return f"{head}{shims}upstreams:\n{''.join(entries)}"


def entry(
    url: str,
    revision: str,
    files: str,
    *,
    name: str = "demo",
    from_: str = "pkg/ops",
    to: str = "vendored/demo",
    more: str = "",
) -> str:
    """The text of one entry. `files` is a flow list, `more` further lines at the entry's indentation."""
    places = "".join(f"    {key}: {value}\n" for key, value in (("from", from_), ("to", to)) if value)
    extra = "".join(f"    {line}\n" for line in more.splitlines())
    return f"  {name}:\n    url: {url}\n    branch: main\n    revision: {revision}\n{places}    files: {files}\n{extra}"


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


MIT = """\
MIT License

Copyright (c) 2025 The Demo Authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""
