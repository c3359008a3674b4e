"""What is remembered of a look that found nothing to do answers only where nothing has changed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import repository

FILES = {"LICENSE": MIT, "pkg/ops/k.py": "import tilelang\n\nN = 1\n", "pkg/ops/low/data.txt": "x\n"}


@pytest.fixture
def synced(tmp_path: Path) -> Project:
    """Synced, checked and synced again, so that both answers are remembered."""
    up = repository(tmp_path / "up.git")
    up.commit(FILES)
    made = project(tmp_path / "proj", lock(entry(up.url, up.git("rev-parse", "main"), "[k.py, low/data.txt]")))
    made.done("sync")
    assert made.done("check").out == "no findings\n"
    assert made.done("sync").err == "nothing to do: 2 files as the lock says\n"
    return made


def edit(made: Project) -> None:
    made.write({"vendored/demo/k.py": b"edited\n"})


def remove(made: Project) -> None:
    (made.root / "vendored/demo/k.py").unlink()


def execute(made: Project) -> None:
    (made.root / "vendored/demo/k.py").chmod(0o755)


def link(made: Project) -> None:
    path = made.root / "vendored/demo/k.py"
    path.rename(made.root / "aside.py")
    path.symlink_to(made.root / "aside.py")


def link_the_folder(made: Project) -> None:
    path = made.root / "vendored/demo"
    path.rename(made.root / "aside")
    path.symlink_to(made.root / "aside")


def edit_a_document(made: Project) -> None:
    made.write({"NOTICE": b"mine\n"})


def remove_the_shim(made: Project) -> None:
    (made.root / "vendored/_tilelang.py").unlink()


def edit_the_licence(made: Project) -> None:
    made.write({"vendored/LICENSES/demo/LICENSE": b"do as you like\n"})


def edit_the_lock(made: Project) -> None:
    made.write({"vendor.lock.yaml": made.lock.replace("[k.py, low/data.txt]", "[k.py]")})


LOCAL: list[Callable[[Project], None]] = [
    edit,
    remove,
    execute,
    link,
    link_the_folder,
    edit_a_document,
    remove_the_shim,
    edit_the_licence,
    edit_the_lock,
]


def put_a_file_beside(made: Project) -> None:
    made.write({"vendored/demo/more.py": b"mine\n"})


def put_a_file_in_a_folder_below(made: Project) -> None:
    made.write({"vendored/demo/low/more.py": b"mine\n"})


def put_a_folder_beside(made: Project) -> None:
    made.write({"vendored/demo/new/more.py": b"mine\n"})


@pytest.mark.parametrize(
    "change",
    [*LOCAL, put_a_file_beside, put_a_file_in_a_folder_below, put_a_folder_beside],
    ids=lambda one: one.__name__,
)
def test_check_tells_every_change_as_if_nothing_were_remembered(
    synced: Project, change: Callable[[Project], None]
) -> None:
    change(synced)
    remembered = synced.run("check")
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "verdict")
    assert remembered == synced.run("check")
    assert remembered.code == 1


@pytest.mark.parametrize("change", LOCAL, ids=lambda one: one.__name__)
def test_sync_sees_every_change(synced: Project, change: Callable[[Project], None]) -> None:
    change(synced)
    assert not synced.run("sync").err.startswith("nothing to do: 2 files")


def test_a_change_undone_is_remembered_as_before(synced: Project) -> None:
    before = synced.read("vendored/demo/k.py")
    edit(synced)
    assert synced.run("check").code == 1
    synced.write({"vendored/demo/k.py": before})
    assert synced.done("check").out == "no findings\n"


def test_a_run_that_was_killed_is_not_passed_over(synced: Project) -> None:
    (synced.root / ".vendor-tool").mkdir()
    (synced.root / ".vendor-tool" / "journal.json").write_text('{"version": 1, "plan": []}')
    assert "drift-interrupted" in synced.run("check").out


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"files": 1}', b'{"files": [["a"]], "absent": [], "folders": {}}']
)
def test_a_damaged_memory_is_none(synced: Project, content: bytes) -> None:
    for path in (Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "verdict").iterdir():
        path.write_bytes(content)
    assert synced.done("check").out == "no findings\n"
    edit(synced)
    assert synced.run("check").code == 1


def test_a_cache_that_cannot_be_written_is_no_failure(synced: Project) -> None:
    folder = Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "verdict"
    shutil.rmtree(folder)
    folder.write_bytes(b"in the way")
    assert synced.done("check").out == "no findings\n"
    assert synced.done("sync").err == "nothing to do: 2 files as the lock says\n"


def test_what_a_report_of_another_form_says_is_its_own(synced: Project) -> None:
    for _ in range(2):
        assert synced.done("check").out == "no findings\n"
        assert synced.done("check", "--format", "json").out.startswith("{")
        assert synced.done("--quiet", "sync").err == ""


@pytest.mark.parametrize("content", ["[tool.ruff]\n", '[tool.ruff]\nextend-exclude = ["other"]\n'])
def test_check_sees_that_a_fence_was_taken_down(synced: Project, content: str) -> None:
    synced.write({"pyproject.toml": content})
    synced.done("fence", "--write")
    fenced = synced.read("pyproject.toml")
    assert fenced != content.encode()
    assert synced.done("check").out == "no findings\n"
    synced.write({"pyproject.toml": fenced.replace(b"vendored", b"elsewhere")})
    remembered = synced.run("check")
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "verdict")
    assert remembered == synced.run("check")
    assert remembered.code == 1


def test_paths_are_named_from_where_the_repository_begins_now(synced: Project, tmp_path: Path) -> None:
    assert json.loads(synced.done("check", "--format", "json").out)["lock"] == "vendor.lock.yaml"
    (tmp_path / ".git").mkdir()
    assert json.loads(synced.done("check", "--format", "json").out)["lock"] == "proj/vendor.lock.yaml"


def test_rebuild_is_never_answered_from_memory(synced: Project, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "up.git")
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "git")
    assert synced.done("check").out == "no findings\n"
    assert synced.run("check", "--rebuild").code == 3
