"""Vendored files are imported once for the same bytes, and again once that may go otherwise."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import repository

NOTE = "vendored/demo/k.py:1: note: not provable here: needs `package_that_is_not_there`\n"
Make = Callable[[str], Project]


@pytest.fixture
def imports(tmp_path: Path) -> Path:
    """A file that grows by a byte with every import of the kernel: one by itself, others with made-up packages."""
    (tmp_path / "imports").touch()
    return tmp_path / "imports"


@pytest.fixture
def make(tmp_path: Path, imports: Path) -> Make:
    def made(below: str) -> Project:
        up = repository(tmp_path / "up.git")
        kernel = f"import tilelang\n\nwith open({str(imports)!r}, 'a') as counter:\n    counter.write('.')\n{below}\n"
        up.commit({"LICENSE": MIT, "pkg/ops/k.py": kernel})
        return project(tmp_path / "proj", lock(entry(up.url, up.git("rev-parse", "main"), "[k.py]")))

    return made


def again(made: Project) -> str:
    """What a sync says that writes all files once more."""
    shutil.rmtree(made.root / "vendored")
    return made.done("--verbose", "sync").err


def test_a_proof_is_made_once(make: Make, imports: Path) -> None:
    made = make("")
    made.done("sync")
    once = imports.read_text()
    again(made)
    assert imports.read_text() == once == "....."


def test_what_was_not_provable_is_not_tried_again_as_long_as_its_package_is_missing(make: Make, imports: Path) -> None:
    made = make("import package_that_is_not_there.sub")
    assert NOTE in made.done("--verbose", "sync").err
    once = imports.read_text()
    assert NOTE in again(made)
    assert imports.read_text() == once == "......"


def test_what_needs_a_module_of_the_project_is_tried_again(make: Make, imports: Path) -> None:
    made = make("import vendored.demo.own")
    assert "needs `vendored.demo.own`" in made.done("--verbose", "sync").err
    once = imports.read_text()
    made.write({"vendored/demo/own.py": ""})
    (made.root / "vendored/demo/k.py").unlink()
    assert "note" not in made.done("--verbose", "sync").err
    assert imports.read_text() == f"{once}....."


def test_an_import_that_failed_for_a_reason_of_its_own_is_tried_again(make: Make, imports: Path) -> None:
    made = make("1 / 0")
    made.done("sync")
    once = imports.read_text()
    assert "ZeroDivisionError" in again(made)
    assert imports.read_text() == once * 2
