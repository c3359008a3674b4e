"""`check` says what differs, where, on which side, and what mends it; offline, and without writing a byte."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, Result, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "import tilelang\n\nBLOCK = 64\n\n\n@tilelang.jit\ndef fwd(n):\n    return n + BLOCK\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": FWD, "pkg/ops/bwd.py": "x = 1\n"}, "first")
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = project(tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py, bwd.py]")))
    made.done("sync")
    return made


def findings(consumer: Project, *arguments: str) -> list[dict[str, object]]:
    """What `check` reports as JSON; the tree must be as it was."""
    before = consumer.tree()
    result = consumer.run("check", "--format", "json", *arguments)
    assert consumer.tree() == before
    assert result.code == (ExitCode.FINDINGS if json.loads(result.out)["findings"] else ExitCode.CLEAN), result.err
    found: list[dict[str, object]] = json.loads(result.out)["findings"]
    return found


def line_of(consumer: Project, text: str) -> int:
    """The line of the lock that holds a text."""
    return next(n for n, line in enumerate(consumer.lock.splitlines(), 1) if text in line)


def test_a_file_among_the_licence_texts_is_told_also_where_all_was_well_before(consumer: Project) -> None:
    assert consumer.done("check").out == consumer.done("check").out == "no findings\n"
    consumer.write({"vendored/LICENSES/demo/EXTRA": "x\n", "vendored/LICENSES/loose.txt": "x\n"})
    said = consumer.run("check").out
    assert "`vendored/LICENSES/demo/EXTRA` stands in the folder of `demo` and no entry claims it" in said
    assert "`vendored/LICENSES/loose.txt` stands among the licence texts and no entry claims it" in said
    assert "loose.txt" not in consumer.run("check", "demo").out


def test_an_entry_with_a_new_name_takes_its_licence_texts_along(consumer: Project) -> None:
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("  demo:\n", "  kernels:\n")})
    assert "the entry `kernels` got its name after the last sync [drift-lock]" in consumer.run("check").out
    consumer.done("sync", "--offline")
    texts = [path for path in consumer.tree("vendored") if "LICENSES" in path]
    assert texts
    assert all(path.startswith("vendored/LICENSES/kernels/") for path in texts)
    assert consumer.done("check").out == "no findings\n"
    consumer.done("check", "--rebuild")


def test_a_fresh_tree_is_clean(consumer: Project) -> None:
    assert consumer.done("check") == Result(0, "no findings\n", "")
    assert findings(consumer, "--rebuild") == []


def test_an_edit_is_one_finding_with_its_line_its_side_and_the_way_out(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": consumer.read("vendored/demo/fwd.py").replace(b"64", b"65")})
    (found,) = findings(consumer)
    assert (found["rule"], found["path"], found["line"], found["side"], found["upstream"]) == (
        "drift-edited",
        "vendored/demo/fwd.py",
        3,
        "local",
        "demo",
    )
    assert found["lock_line"] == line_of(consumer, "to: vendored/demo/fwd.py") - 2
    assert found["fix"] == "vendor-tool patch new demo, or vendor-tool sync --force demo"


def test_without_a_cache_an_edit_is_told_at_its_first_line(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": consumer.read("vendored/demo/fwd.py").replace(b"64", b"65")})
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]))
    assert [(one["rule"], one["line"]) for one in findings(consumer)] == [("drift-edited", 1)]


@pytest.mark.parametrize("what", ["gone", "a folder", "a link"])
def test_a_file_that_is_no_file_any_more_is_missing(consumer: Project, what: str) -> None:
    path = consumer.root / "vendored/demo/bwd.py"
    content = path.read_bytes()
    path.unlink()
    if what == "a folder":
        path.mkdir()
    if what == "a link":
        (consumer.root / "elsewhere.py").write_bytes(content)
        path.symlink_to(consumer.root / "elsewhere.py")
    assert [(one["rule"], one["path"]) for one in findings(consumer)] == [("drift-missing", "vendored/demo/bwd.py")]


def test_a_linked_folder_with_the_very_bytes_is_missing_too(consumer: Project, tmp_path: Path) -> None:
    shutil.move(consumer.root / "vendored/demo", tmp_path / "moved")
    (consumer.root / "vendored/demo").symlink_to(tmp_path / "moved")
    assert {one["rule"] for one in findings(consumer)} == {"drift-missing"}


def test_the_executable_bit_counts(consumer: Project) -> None:
    (consumer.root / "vendored/demo/bwd.py").chmod(0o755)
    assert [one["rule"] for one in findings(consumer)] == ["drift-mode"]


def test_a_file_that_nobody_vendored_is_told_unless_it_is_listed(consumer: Project) -> None:
    consumer.write({"vendored/demo/sub/own.py": "x\n", "vendored/demo/__pycache__/fwd.cpython-311.pyc": "x"})
    assert [(one["rule"], one["path"]) for one in findings(consumer)] == [
        ("drift-unexpected", "vendored/demo/sub/own.py")
    ]
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("    branch:", "    local: [sub/*.py]\n    branch:")})
    assert findings(consumer) == []


@pytest.mark.parametrize("path", ["vendored/_tilelang.py", "vendored/PROVENANCE.md", "NOTICE"])
def test_a_generated_file_that_was_edited_or_lost_is_stale(consumer: Project, path: str) -> None:
    original = consumer.read(path)
    consumer.write({path: original.replace(b"demo", b"dem0").replace(b"import", b"improt")})
    assert [(one["rule"], one["path"], one["fix"]) for one in findings(consumer)] == [
        ("drift-document", path, "vendor-tool sync")
    ]
    (consumer.root / path).unlink()
    assert [(one["rule"], one["path"]) for one in findings(consumer)] == [("drift-document", path)]
    consumer.done("sync")
    assert consumer.read(path) == original


def test_an_edited_licence_text_is_drift(consumer: Project) -> None:
    path = "vendored/LICENSES/demo/LICENSE"
    consumer.write({path: MIT.replace("Demo", "Other")})
    assert [(one["rule"], one["path"]) for one in findings(consumer)] == [("drift-edited", path)]


def test_an_edited_revision_is_told_at_its_line(consumer: Project, upstream: Repository) -> None:
    new = upstream.commit({"pkg/ops/bwd.py": "x = 2\n"})
    old = upstream.git("rev-parse", "main~1")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(f"    revision: {old}", f"    revision: {new}", 1)})
    (found,) = findings(consumer)
    assert (found["rule"], found["side"], found["lock_line"]) == (
        "drift-revision",
        "record",
        line_of(consumer, "revision:"),
    )
    assert found["fix"] == f"vendor-tool sync demo@{new[:12]}"


def test_an_edited_entry_is_told(consumer: Project) -> None:
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[fwd.py, bwd.py]", "[fwd.py]")})
    rules = [one["rule"] for one in findings(consumer)]
    assert "drift-lock" in rules
    consumer.done("sync")
    assert findings(consumer) == []


def test_an_edited_record_is_told_apart_from_an_edited_file(consumer: Project) -> None:
    digest = next(line for line in consumer.lock.splitlines() if "sha256:" in line and "fwd" not in line)
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(digest, digest[:-4] + "beef")})
    sides = {one["rule"]: one["side"] for one in findings(consumer)}
    assert sides["drift-record"] == "record"
    assert sides["drift-edited"] == "both"
    consumer.done("sync")
    assert findings(consumer) == []


def test_a_record_that_was_tampered_with_together_with_the_file_is_caught_by_a_rebuild(consumer: Project) -> None:
    import hashlib
    import re

    from vendor_tool import lockfile
    from vendor_tool.lockfile import record

    path = "vendored/demo/bwd.py"
    consumer.write({path: "x = 666\n"})
    forged = hashlib.sha256(b"x = 666\n").hexdigest()
    before = hashlib.sha256(b"x = 1\n").hexdigest()
    text = consumer.lock.replace(before, forged)
    resolved = lockfile.parse_text(Path("vendor.lock.yaml"), text)[0].upstreams["demo"].resolved
    assert resolved is not None
    seal = record.seal(record.layout(resolved))
    consumer.write({"vendor.lock.yaml": re.sub("seal: .*", f"seal: {seal}", text)})
    assert findings(consumer) == []
    (found,) = findings(consumer, "--rebuild")
    assert (found["rule"], found["path"], found["line"], found["side"]) == ("drift-rebuild", path, 1, "both")


def test_a_missing_and_an_edited_patch_are_told(consumer: Project, upstream: Repository) -> None:
    patch = "Description: x\nAuthor: A <a@example.invalid>\n\n--- a/vendored/demo/bwd.py\n+++ b/vendored/demo/bwd.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    consumer.write({"patches/demo/0001-x.patch": patch})
    consumer.write(
        {
            "vendor.lock.yaml": consumer.lock.replace(
                "    branch:", "    patches: [patches/demo/0001-x.patch]\n    branch:"
            )
        }
    )
    consumer.done("sync")
    assert consumer.read("vendored/demo/bwd.py") == b"x = 2\n"
    assert findings(consumer, "--rebuild") == []
    consumer.write({"patches/demo/0001-x.patch": patch.replace("+x = 2", "+x = 3")})
    (found,) = findings(consumer)
    assert (found["rule"], found["path"]) == ("drift-patch", "patches/demo/0001-x.patch")
    (consumer.root / "patches/demo/0001-x.patch").unlink()
    assert {str(one["rule"]): one["path"] for one in findings(consumer)} == {
        "drift-patch": "patches/demo/0001-x.patch",
        "drift-document": "vendored/PROVENANCE.md",
    }
    said = consumer.refused(ExitCode.USAGE, "sync")
    assert "patch `patches/demo/0001-x.patch` of `demo` is not there" in said


def test_an_entry_that_was_never_synced_is_told(tmp_path: Path, upstream: Repository) -> None:
    made = project(tmp_path / "new", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[bwd.py]")))
    assert [(one["rule"], one["lock_line"]) for one in findings(made)] == [("drift-not-synced", 10)]


def test_only_the_named_upstream_is_checked(consumer: Project) -> None:
    assert "it holds `demo`" in consumer.refused(ExitCode.USAGE, "check", "other")
    assert findings(consumer, "demo") == []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit", "markdown"])
def test_every_format_goes_to_stdout_or_into_a_file(consumer: Project, tmp_path: Path, form: str) -> None:
    consumer.write({"vendored/demo/bwd.py": "x = 2\n"})
    shown = consumer.run("check", "--format", form)
    assert (shown.code, shown.err) == (ExitCode.FINDINGS, "")
    assert "vendored/demo/bwd.py" in shown.out
    target = tmp_path / "report"
    kept = consumer.run("check", "--format", form, "--output", str(target))
    assert (kept.code, kept.out) == (ExitCode.FINDINGS, "")
    assert target.read_text(encoding="utf-8") == shown.out


def test_one_run_writes_several_reports(consumer: Project, tmp_path: Path) -> None:
    consumer.write({"vendored/demo/bwd.py": "x = 2\n"})
    forms = ("sarif", "junit")
    run = consumer.run("check", *(part for form in forms for part in ("--also", f"{form}:{tmp_path / form}")))
    assert (run.code, run.out) == (ExitCode.FINDINGS, consumer.run("check").out)
    assert [(tmp_path / form).read_text("utf-8") for form in forms] == [
        consumer.run("check", "--format", form).out for form in forms
    ]


def test_further_report_needs_a_form_and_a_file(consumer: Project) -> None:
    for wrong in ("sarif", "sarif:", "pdf:report"):
        said = consumer.refused(ExitCode.USAGE, "check", "--also", wrong)
        assert f"argument --also: `{wrong}` is not FORMAT:FILE with one of text, json, sarif" in said


def test_clean_project_writes_a_further_report_each_time(consumer: Project, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert consumer.done("check", "--also", f"text:{tmp_path / name}").out == "no findings\n"
        assert (tmp_path / name).read_text("utf-8") == "no findings\n"


def test_the_lock_is_found_from_a_folder_below(consumer: Project) -> None:
    below = Project(consumer.root / "vendored/demo")
    assert below.run("check").out == "no findings\n"


def test_reports_name_paths_from_the_top_of_the_repository(consumer: Project, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    consumer.write({"vendored/demo/bwd.py": "x = 2\n"})
    assert "file=proj/vendored/demo/bwd.py" in consumer.run("check", "--format", "github").out
