"""The documentation says what the program does: help, exit codes, keys, rules and links."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import Project, project
from vendor_tool.errors import ExitCode

TOP = Path(__file__).parent.parent
DOCS = sorted(
    [TOP / "README.md", TOP / "CONTRIBUTING.md", *TOP.glob("docs/**/*.md"), *TOP.glob("examples/*/README.md")]
)


def text(path: str) -> str:
    return (TOP / path).read_text(encoding="utf-8")


def blocks(path: Path, language: str) -> Iterator[str]:
    """Fenced blocks of one language."""
    yield from re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_help_in_the_readme_is_the_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    env = {"COLUMNS": "80", "PATH": "", "PYTHONPATH": str(TOP)}
    command = [sys.executable, "-m", "vendor_tool", "--help"]
    shown = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    quoted = next(block for block in blocks(TOP / "README.md", "console") if "--help" in block)
    # Python 3.13 and newer lay the usage line out differently
    assert quoted.split("\n\n", 1)[1].rstrip() == shown.split("\n\n", 1)[1].rstrip()


def test_every_command_stands_in_the_help_of_its_own(tmp_path: Path) -> None:
    from vendor_tool.cli.arguments import COMMANDS

    for name in COMMANDS:
        result = subprocess.run(
            [sys.executable, "-m", "vendor_tool", name, "--help"],
            env={"PYTHONPATH": str(TOP), "PATH": ""},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0
        assert f"usage: vendor-tool {name}" in result.stdout


def test_exit_codes_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", text("docs/reference/exit-codes.md"), re.MULTILINE)
    assert [(int(code), name) for code, name in rows] == [(code.value, code.name) for code in ExitCode]


def test_every_key_of_the_lock_is_documented() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in sorted((TOP / "vendor_tool/lockfile").glob("re*d.py"))
    )
    keys = set(re.findall(r'fields\["([a-z-]+)"\]', source)) | set(
        re.findall(r'^    "([a-z]+)",', source, re.MULTILINE)
    )
    documented = set(re.findall(r"`([a-z0-9-]+)(?:`|:)", text("docs/reference/lockfile.md")))
    assert len(keys) > 40
    assert (
        keys
        - documented
        - {
            "intent",
            "seal",
            "path",
            "blob",
            "to",
            "sha256",
            "spdx",
            "holders",
            "line",
            "executable",
            "origins",
            "names",
        }
        == set()
    )


def test_the_lock_of_the_reference_reads(tmp_path: Path) -> None:
    from vendor_tool import lockfile

    (block,) = blocks(TOP / "docs/reference/lockfile.md", "yaml")
    lock = lockfile.parse_text(tmp_path / "vendor.lock.yaml", block)[0]
    assert sorted(lock.upstreams) == ["slime", "tilekernels"]


def test_relative_links_lead_somewhere() -> None:
    broken = []
    for path in DOCS:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                broken.append(f"{path.relative_to(TOP)}: {target}")
    assert broken == []


def test_the_output_in_the_readme_is_that_of_the_demo(tmp_path: Path) -> None:
    said = project(tmp_path / "here").done("demo", str(tmp_path / "demo")).out
    for block in blocks(TOP / "README.md", "console"):
        if not block.startswith(("$ vendor-tool sync\n", "$ vendor-tool check\n")):
            continue
        command, output = block.split("\n", 1)
        shown = said.split(f"{command}\n", 1)[1]
        lines = [line for line in shown.splitlines() if "fetching the listing" not in line]
        assert "\n".join(lines).startswith(output.rstrip("\n"))
    (lock,) = blocks(TOP / "README.md", "yaml")
    real = Project(tmp_path / "demo/project").lock
    for line in lock.splitlines():
        if "url:" not in line and "revision:" not in line:
            assert line in real.splitlines()


def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    here = project(tmp_path / "here")
    here.done("--quiet", "demo", "play")
    mine = project(tmp_path / "here/mine")
    mine.done("init", "--license", "Apache-2.0")
    url = (tmp_path / "here/play/tiny").as_uri()
    mine.done("add", "tiny", url, "--path", "tiny_kernels/ops", "--to", "vendored/tiny", "--file", "fused.py")
    shim = "shims:\n  tilelang: {to: vendored/_tilelang.py}\n"
    assert shim in text("docs/tutorial.md")
    mine.write({"vendor.lock.yaml": mine.lock.replace("upstreams:\n", f"{shim}upstreams:\n")})
    mine.done("sync")
    assert mine.done("check").out == "no findings\n"
    mine.done("sync", "tiny@main")
    assert sorted(mine.tree("vendored/tiny")) == [f"vendored/tiny/{name}.py" for name in ("axpy", "fused", "row_sum")]
