"""Type checkers get files of their own beside a stand-in, where vendored files import from its submodules."""

from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

PLAIN = (
    "import tilelang\nimport tilelang.language as T\n\n\n@tilelang.jit\ndef plain(n, dtype=T.float32):\n    return n\n"
)
DEEP = "from tilelang.autotuner import autotune\n\n\n@autotune(configs=[])\ndef deep(n):\n    return n\n"
GUARDED = "try:\n    import tilelang\nexcept ImportError:\n    tilelang = None\n"
FILES = {"LICENSE": MIT, "pkg/ops/plain.py": PLAIN, "pkg/ops/deep.py": DEEP, "pkg/ops/guarded.py": GUARDED}
ROOT = "vendored/_tilelang/__init__.pyi"
STUBS = [ROOT, "vendored/_tilelang/autotuner/__init__.pyi"]


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit(FILES)
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    text = entry(upstream.url, upstream.git("rev-parse", "main"), "[plain.py, deep.py]")
    return project(tmp_path / "proj", lock(text))


def stubs(consumer: Project) -> list[str]:
    return sorted(consumer.tree("vendored/_tilelang"))


def test_sync_writes_them_and_then_has_nothing_to_do(consumer: Project) -> None:
    consumer.done("sync")
    assert stubs(consumer) == STUBS
    assert b"from tilelang.autotuner import autotune as autotune\n" in consumer.read(STUBS[1])
    assert "      shim-names:\n        vendored/_tilelang.py: [autotuner.autotune]\n" in consumer.lock
    assert not any(b"_tilelang/" in consumer.read(path) for path in ("NOTICE", "vendored/PROVENANCE.md"))
    before = consumer.tree()
    assert consumer.done("sync").err == "nothing to do: 2 files as the lock says\n"
    assert consumer.tree() == before
    assert consumer.done("check").out == "no findings\n"
    assert consumer.done("check", "--rebuild").out == "no findings\n"


def test_a_project_that_needs_none_has_none(tmp_path: Path, upstream: Repository) -> None:
    text = entry(upstream.url, upstream.git("rev-parse", "main"), "[plain.py]")
    consumer = project(tmp_path / "plain", lock(text))
    consumer.done("sync")
    assert stubs(consumer) == []
    assert "shim-names" not in consumer.lock


@pytest.mark.parametrize("path", STUBS)
def test_an_edited_one_and_a_missing_one_are_drift_that_sync_mends(consumer: Project, path: str) -> None:
    consumer.done("sync")
    consumer.done("check")
    before = consumer.tree()
    consumer.write({path: before[path] + b"x: int\n"})
    found = consumer.run("check")
    assert found.code == ExitCode.FINDINGS
    assert f"generated file `{path}` is not what the lock makes of it" in found.out
    consumer.done("sync")
    assert consumer.tree() == before
    (consumer.root / path).unlink()
    assert f"generated file `{path}` is missing" in consumer.run("check").out
    consumer.done("sync")
    assert consumer.tree() == before
    assert consumer.done("check").out == "no findings\n"


def test_they_go_with_the_last_import_that_needs_them(consumer: Project) -> None:
    consumer.done("sync")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[plain.py, deep.py]", "[plain.py]")})
    consumer.done("sync")
    assert not (consumer.root / "vendored/_tilelang").exists()
    assert (consumer.root / "vendored/_tilelang.py").exists()
    assert "shim-names" not in consumer.lock
    assert consumer.done("check").out == "no findings\n"


def test_they_go_when_the_lock_gives_the_name_in_the_stand_in(consumer: Project) -> None:
    consumer.done("sync")
    shims = "tilelang: {to: vendored/_tilelang.py, names: {autotune: tilelang.autotuner.autotune}}"
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("tilelang: {to: vendored/_tilelang.py}", shims)})
    consumer.done("sync")
    assert b"from .._tilelang import autotune\n" in consumer.read("vendored/demo/deep.py")
    assert stubs(consumer) == []


def test_they_move_with_the_stand_in(consumer: Project) -> None:
    consumer.done("sync")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("{to: vendored/_tilelang.py}", "{to: vendored/_tl.py}")})
    consumer.done("sync")
    assert stubs(consumer) == []
    assert sorted(consumer.tree("vendored/_tl")) == [path.replace("_tilelang", "_tl") for path in STUBS]
    assert consumer.done("check").out == "no findings\n"


def test_two_entries_share_them_and_each_takes_its_own_away(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    one = entry(upstream.url, pin, "[deep.py]", name="one", to="vendored/one")
    two = entry(upstream.url, pin, "[guarded.py]", name="two", to="vendored/two")
    consumer = project(tmp_path / "both", lock(one, two))
    consumer.done("sync")
    guard = "vendored/_tilelang/_if_installed/__init__.pyi"
    assert stubs(consumer) == [ROOT, guard, STUBS[1]]
    text = consumer.lock
    consumer.write({"vendor.lock.yaml": text[: text.index("  two:\n")]})
    for path in consumer.tree("vendored/two", "vendored/LICENSES/two"):
        (consumer.root / path).unlink()
    consumer.done("sync")
    assert stubs(consumer) == STUBS
    assert consumer.done("check").out == "no findings\n"


def test_somebodys_own_file_in_their_place_is_left_alone(consumer: Project) -> None:
    consumer.write({ROOT: "mine: int\n"})
    said = consumer.refused(ExitCode.CONTENT, "sync")
    assert f"`{ROOT}` is in the way, and not written by this tool" in said
    consumer.done("sync", "--force")
    assert stubs(consumer) == STUBS


def test_files_beside_them_are_the_projects_own(consumer: Project) -> None:
    mine = "vendored/_tilelang/mine.pyi"
    consumer.write({mine: "mine: int\n"})
    consumer.done("sync")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[plain.py, deep.py]", "[plain.py]")})
    consumer.done("sync")
    assert stubs(consumer) == [mine]


@pytest.mark.parametrize(
    "forged", ["../out.py: [a.b]", "vendored/_tilelang.py: [../../a.b]", "vendored/_tilelang.py: [a]"]
)
def test_a_record_that_names_no_submodule_is_refused(consumer: Project, forged: str) -> None:
    consumer.done("sync")
    path, _, names = forged.partition(": ")
    text = consumer.lock.replace("vendored/_tilelang.py: [autotuner.autotune]", f'{path}: ["{names[1:-1]}"]')
    consumer.write({"vendor.lock.yaml": text})
    assert "shim-names`: not what `sync` records" in consumer.refused(ExitCode.USAGE, "check")


def test_an_edited_record_vouches_for_none_and_sync_records_anew(consumer: Project) -> None:
    consumer.done("sync")
    before = consumer.tree()
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[autotuner.autotune]", "[autotuner.other]")})
    assert "was edited by hand" in consumer.run("check").out
    consumer.done("sync")
    assert consumer.tree() == before


def test_without_a_record_they_are_made_anew(consumer: Project) -> None:
    consumer.done("sync")
    before = consumer.tree()
    resolved = consumer.lock.index("    resolved:\n")
    consumer.write({"vendor.lock.yaml": consumer.lock[:resolved]})
    consumer.done("sync")
    assert consumer.tree() == before


def test_formatters_are_kept_off_their_folder(consumer: Project) -> None:
    consumer.write({"ruff.toml": "line-length = 100\n", ".gitattributes": ""})
    consumer.done("sync")
    consumer.done("fence", "--write")
    assert b'"vendored/_tilelang.py"' in consumer.read("ruff.toml")
    assert b'"vendored/_tilelang"' in consumer.read("ruff.toml")
    consumer.done("check")
