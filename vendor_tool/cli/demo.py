"""`demo`: the whole story, told by running the real commands on the upstream that ships with the tool."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vendor_tool.cli import main, output
from vendor_tool.errors import ExitCode, UsageError

TEMPLATE = """\
version: 1
project:
  name: demo
  license: Apache-2.0
  allow: [Apache-2.0, MIT]
shims:
  tilelang: {{to: vendored/_tilelang.py}}
upstreams:
  tiny:
    url: {url}
    branch: main
    revision: {revision}
    license: MIT
    from: tiny_kernels/ops
    to: vendored/tiny
    files: [axpy.py, fused.py, row_sum.py]
    requires: {{tilelang: ">=0.1.11", apache-tvm-ffi: "==0.1.11"}}
"""

CALL = """\
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "")
import vendored.tiny.fused as fused
print("imported", fused.__name__, "without tilelang")
class Vector:
    shape = (4,)
try:
    fused.axpy(2.0, Vector(), Vector())
except ImportError as error:
    print("calling a kernel:", error)
"""


def demo(arguments: argparse.Namespace) -> ExitCode:
    """Build the project, then sync, import, edit, check, upgrade; leaves the project to be looked at."""
    from vendor_tool import demo as data

    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="vendor-tool-demo-"))
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"`{folder}` is not empty", hint="name a new folder: `vendor-tool demo DIR`")
    folder = folder.resolve()
    project = folder / "project"
    project.mkdir(parents=True)
    data.build("basics", folder / "basics")
    commits = data.build("tiny", folder / "tiny")
    # the origin that a comment of `tiny` names lies beside it: the demo is offline
    routes = f'[url "{(folder / "basics").as_uri()}"]\n\tinsteadOf = {data.BASICS}\n[safe]\n\tdirectory = *\n'
    (folder / "gitconfig").write_text(routes, encoding="utf-8")
    pinned, fix = commits[data.PINNED - 1], commits[data.PINNED]
    lock = TEMPLATE.format(url=(folder / "tiny").as_uri(), revision=pinned)
    (project / "vendor.lock.yaml").write_text(lock, encoding="utf-8")
    variables = {"VENDOR_TOOL_CACHE": str(folder / "cache"), "GIT_CONFIG_GLOBAL": str(folder / "gitconfig")}
    with _inside(project), _environment(variables):
        return _story(fix)


def _story(fix: str) -> ExitCode:
    _tell("A lock names an upstream, a revision and three of its files. `sync` makes the tree what it says.")
    _run("sync")
    _tell("The vendored package imports where tilelang is not installed; a kernel says what to install.")
    _python(CALL)
    _tell("Nothing to do the second time: no network, no child process.")
    _run("sync")
    _tell("Somebody edits a vendored file.")
    edited = Path("vendored/tiny/axpy.py")
    edited.write_bytes(edited.read_bytes().replace(b"block=256", b"block=128"))
    _shell("sed -i s/block=256/block=128/ vendored/tiny/axpy.py")
    _run("check", expect=ExitCode.FINDINGS)
    _tell("An upgrade would lose the edit, so it is refused.")
    _run("sync", f"tiny@{fix[:12]}", expect=ExitCode.CONTENT)
    _tell("Keep the edit as a patch, and upgrade to the upstream's fix: the patch is carried over.")
    author = "Dana Demo <dana@demo.example>"
    _run("patch", "new", "tiny", "-m", "Halve the blocks of axpy", "--author", author, "--forwarded", "not-needed")
    _run("sync", f"tiny@{fix[:12]}")
    _run("check")
    _run("check", "--rebuild")
    _tell(f"Look around in {Path.cwd()}: vendor.lock.yaml, NOTICE, vendored/PROVENANCE.md.")
    return ExitCode.CLEAN


def _tell(text: str) -> None:
    print(f"\n# {text}", flush=True)


def _shell(text: str) -> None:
    print(f"$ {text}", flush=True)


def _run(*arguments: str, expect: ExitCode = ExitCode.CLEAN) -> None:
    """One command of this program, shown as it would be typed, with its real output and exit code."""
    _shell(shlex.join(["vendor-tool", *arguments]))
    sys.stdout.flush()
    with _stderr_to_stdout():
        code = main(arguments)
    if code:
        print(f"(exit code {code})", flush=True)
    if code != expect:
        raise UsageError(f"the demo went wrong: exit code {code}, {int(expect)} was expected", hint="report it")


def _python(script: str) -> None:
    _shell("python -c 'import vendored.tiny.fused ...'")
    # without site-packages there is no kernel runtime, on any machine
    command = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    output.document(done.stdout, None)
    if done.returncode:
        raise UsageError(f"the demo went wrong: {done.stderr.strip()}", hint="report it")


@contextmanager
def _stderr_to_stdout() -> Iterator[None]:
    """The story is one stream, in the order in which things were said."""
    before = sys.stderr
    sys.stderr = sys.stdout
    try:
        yield
    finally:
        sys.stderr = before


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
