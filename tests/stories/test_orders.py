"""No line of the output is an order to the runner that copies it, whatever upstreams and files are called."""

import re
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository

ORDER = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)  # as the runners of GitHub and Azure read them
NAMES = ["x\n::error::boom", "x\n  ::error::boom", "x##[error]boom", "##vso[task.setvariable variable=A]b"]


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "def fwd(n):\n    return n\n"})
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = project(
        tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    made.done("sync")
    return made


@pytest.mark.parametrize("form", ["text", "markdown", "junit", "json", "sarif"])
@pytest.mark.parametrize("name", NAMES)
def test_a_stray_file_gives_no_orders(consumer: Project, name: str, form: str) -> None:
    consumer.write({f"vendored/demo/{name}": "x = 1\n"})
    result = consumer.run("check", "--format", form)
    assert "boom" in result.out or "variable=A" in result.out
    assert not ORDER.search(result.out), result.out


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_beside_the_findings_gives_none(consumer: Project, name: str) -> None:
    consumer.write({f"vendored/demo/{name}": "x = 1\n"})
    consumer.done("check", "--write-baseline", "base.json")
    (consumer.root / "vendored/demo" / name).unlink()
    result = consumer.done("check", "--baseline", "base.json")
    assert "fixed, to be taken out of base.json: " in result.err
    assert not ORDER.search(result.err), result.err


@pytest.mark.parametrize("name", NAMES)
def test_a_commit_gives_none(consumer: Project, upstream: Repository, name: str) -> None:
    upstream.commit({"pkg/ops/fwd.py": "def fwd(n):\n    return n + 1\n"}, name)
    result = consumer.done("outdated")
    assert not ORDER.search(result.out + result.err), result.out
    plan = consumer.done("sync", "demo@main", "--dry-run")
    assert not ORDER.search(plan.out + plan.err), plan.out
