"""Commands that the program prints are pasted into a shell: what an upstream named is a word in them, never code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

NAMES = ["x;touch PWNED;.py", "c d.py", "it's $(touch PWNED).py"]


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "def fwd(n):\n    return n\n", "pkg/ops/bwd.py": "x = 1\n"})
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    text = lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py, bwd.py]"), shims="")
    made = project(tmp_path / "proj", text)
    made.done("sync")
    return made


def paste(consumer: Project, line: str) -> "subprocess.CompletedProcess[str]":
    """Run a line in a shell, where `vendor-tool` is this program."""
    here = Path(__file__).parent.parent.parent
    run = f'vendor-tool() {{ PYTHONPATH="{here}" "{sys.executable}" -m vendor_tool "$@"; }}\n{line}\n'
    return subprocess.run(["bash", "-c", run], cwd=consumer.root, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_that_takes_a_new_file_takes_that_file_and_runs_nothing(
    consumer: Project, upstream: Repository, name: str
) -> None:
    upstream.commit({f"pkg/ops/{name}": "y = 1\n"})
    found = json.loads(consumer.done("outdated", "--format", "json").out)["findings"]
    [fix] = [one["fix"] for one in found if one["rule"] == "upstream-file-new"]
    assert f"    fix: {fix}\n" in consumer.done("outdated").out, "what people read is what programs read"
    before = set(consumer.tree())
    ran = paste(consumer, fix)
    assert ran.returncode == 0, ran.stderr
    assert set(consumer.tree()) == before
    consumer.done("sync")
    assert consumer.read(f"vendored/demo/{name}") == b"y = 1\n"


@pytest.mark.parametrize("name", ["a:b.py", "star*.py", "bidi\u202e.py"])
def test_a_file_that_no_option_can_name_is_to_be_listed_by_hand(
    consumer: Project, upstream: Repository, name: str
) -> None:
    upstream.commit({f"pkg/ops/{name}": "y = 1\n"})
    assert "    fix: list it under `files:` of demo in the lock\n" in consumer.done("outdated").out


def test_the_command_for_a_file_that_is_imported_and_not_vendored_takes_it(
    consumer: Project, upstream: Repository
) -> None:
    upstream.commit({"pkg/ops/odd;touch PWNED;/inner.py": "", "pkg/__init__.py": "", "pkg/ops/__init__.py": ""})
    upstream.commit({"pkg/ops/more.py": "z = 1\n", "pkg/ops/fwd.py": "from .more import z\n"})
    said = consumer.refused(ExitCode.USAGE, "sync", "demo@main")
    line = said.partition("hint: run `")[2].partition("`")[0]
    assert line.startswith("vendor-tool add demo --rev ")
    assert paste(consumer, line).returncode == 0


def test_a_patch_that_is_gone_comes_back_by_the_command(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": "def fwd(n):\n    return n + 2\n"})
    consumer.done("patch", "new", "demo", "-m", "Add two")
    patch = next(path for path in consumer.tree("patches"))
    odd = "patches/demo/0001-x;touch PWNED;.patch"
    (consumer.root / patch).rename(consumer.root / odd)
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(patch, f"'{odd}'")})
    consumer.done("sync")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=consumer.root, check=True)
    (consumer.root / odd).unlink()
    out = consumer.run("check").out
    [line] = [text.partition("fix: ")[2] for text in out.splitlines() if "fix: git checkout" in text]
    paste(consumer, line)
    assert consumer.done("check").out == "no findings\n"
    assert not (consumer.root / "PWNED").exists()


def test_the_command_that_accepts_findings_names_the_file_as_one_word(consumer: Project) -> None:
    said = consumer.refused(ExitCode.USAGE, "check", "--baseline", "my base;line.json")
    line = said.partition("with `")[2].partition("`")[0]
    assert paste(consumer, line).returncode == 0
    assert (consumer.root / "my base;line.json").exists()
