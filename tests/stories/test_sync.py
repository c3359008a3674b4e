"""`sync` makes the tree what the lock says, from upstream's bytes, and touches nothing else."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Executable, Link, Repository, Submodule, repository
from vendor_tool.errors import ExitCode

FWD = '"""Forward."""\nimport tilelang\nfrom tilelang import language as T\n\nfrom pkg.ops.bwd import back\n\nBLOCK = 64\n\n\n@tilelang.jit\ndef fwd(n, dtype=T.float32):\n    return back(n)\n'
FWD_VENDORED = FWD.replace("import tilelang\nfrom tilelang import", "from .._tilelang import tilelang\nfrom .._tilelang import").replace("pkg.ops.bwd", ".bwd")  # fmt: skip
BWD = "def back(n):\n    return n - 1\n"
FILES: dict[str, str | bytes] = {
    "LICENSE": MIT,
    "pkg/ops/fwd.py": FWD,
    "pkg/ops/bwd.py": BWD,
    "pkg/ops/data.bin": b"\0\r\n\xff",
    "other.py": "x = 1\n",
}


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit(FILES, "first")
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    return project(tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py, bwd.py]")))


def test_documents_of_entries_without_a_folder_stand_in_vendored(tmp_path: Path, upstream: Repository) -> None:
    files = "[{path: bwd.py, to: src/lib/bwd.py}]"
    one = project(
        tmp_path / "loose", lock(entry(upstream.url, upstream.git("rev-parse", "main"), files, to=""), shims="")
    )
    for _ in range(2):
        one.done("sync", "--force")
        assert "vendored/PROVENANCE.md" in one.tree()
        assert "vendored/LICENSES/demo/LICENSE" in one.tree()
        assert not any(path.endswith("PROVENANCE.md") for path in one.tree("src"))
        assert one.done("check").out == "no findings\n"


def test_a_first_sync_writes_files_shim_licence_documents_and_record(consumer: Project, upstream: Repository) -> None:
    before = consumer.lock
    consumer.done("sync")
    tree = consumer.tree()
    assert sorted(tree) == [
        "NOTICE",
        "vendor.lock.yaml",
        "vendored/LICENSES/demo/LICENSE",
        "vendored/PROVENANCE.md",
        "vendored/_tilelang.py",
        "vendored/demo/bwd.py",
        "vendored/demo/fwd.py",
    ]
    assert tree["vendored/demo/fwd.py"].decode() == FWD_VENDORED
    assert tree["vendored/demo/bwd.py"].decode() == BWD
    assert tree["vendored/LICENSES/demo/LICENSE"].decode() == MIT
    assert consumer.lock.startswith(before)
    record = consumer.lock[len(before) :]
    for fact in (
        upstream.blob("main", "pkg/ops/fwd.py"),
        upstream.blob("main", "LICENSE"),
        "spdx: MIT",
        "holders: [Copyright (c) 2025 The Demo Authors]",
        "notice: none",
        "libcst:",
    ):
        assert fact in record


def test_the_same_inputs_give_the_same_bytes(consumer: Project, tmp_path: Path) -> None:
    consumer.done("sync")
    other = project(tmp_path / "other", re.sub(r"    resolved:\n(      .*\n)*", "", consumer.lock))
    other.done("sync")
    assert other.tree() == consumer.tree()


def test_a_second_sync_needs_neither_git_nor_upstream_nor_cache(consumer: Project, upstream: Repository) -> None:
    consumer.done("sync")
    before = {path: (consumer.root / path).stat().st_mtime_ns for path in consumer.tree()}
    shutil.rmtree(upstream.path)
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]))
    result = consumer.child("sync", PATH="")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "nothing to do: 2 files as the lock says\n"
    assert {path: (consumer.root / path).stat().st_mtime_ns for path in consumer.tree()} == before
    assert not (consumer.root / ".vendor-tool").exists()


def test_a_fresh_clone_gets_the_same_tree_from_the_lock(consumer: Project, tmp_path: Path) -> None:
    consumer.done("sync")
    clone = project(tmp_path / "clone", consumer.lock)
    clone.done("sync")
    assert clone.tree() == consumer.tree()


def test_a_fresh_clone_can_be_filled_offline_from_the_cache(consumer: Project, tmp_path: Path) -> None:
    consumer.done("sync")
    clone = project(tmp_path / "clone", consumer.lock)
    clone.done("sync", "--offline")
    assert clone.tree() == consumer.tree()


def test_offline_without_a_cache_says_what_is_missing(consumer: Project) -> None:
    said = consumer.refused(ExitCode.UPSTREAM, "sync", "--offline")
    assert "demo" in said
    assert "--offline" in said


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(consumer: Project) -> None:
    said = consumer.refused(ExitCode.CLEAN, "sync", "--dry-run")
    assert "would write vendored/demo/fwd.py" in said
    assert "7 files would be written" not in said
    assert not (consumer.root / ".vendor-tool").exists()


def test_only_the_named_upstream_is_synced(tmp_path: Path, upstream: Repository) -> None:
    revision = upstream.git("rev-parse", "main")
    both = lock(
        entry(upstream.url, revision, "[fwd.py, bwd.py]"),
        entry(upstream.url, revision, "[other.py]", name="side", from_="", to="vendored/side"),
    )
    consumer = project(tmp_path / "proj", both)
    consumer.done("sync", "side")
    assert sorted(consumer.tree("vendored")) == [
        "vendored/LICENSES/side/LICENSE",
        "vendored/PROVENANCE.md",
        "vendored/side/other.py",
    ]


def test_an_unknown_upstream_is_a_usage_error(consumer: Project) -> None:
    assert "it holds `demo`" in consumer.refused(ExitCode.USAGE, "sync", "dmo")


def test_bytes_of_every_kind_are_kept(tmp_path: Path, upstream: Repository) -> None:
    kinds = {
        "crlf.py": b"x = 1\r\ny = 2\r\n",
        "latin.py": b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n",
        "bom.py": b"\xef\xbb\xbfx = 1\n",
        "lone.txt": b"a\rb\rc",
        "open.py": b"x = 1",
        "ident.txt": b"$Id$ $Format:%H$\n",
        "eol.txt": b"one\ntwo\n",
        "empty.py": b"",
        "binary.dat": bytes(range(256)),
        "run.sh": b"#!/bin/sh\n",
    }
    files = {f"pkg/kinds/{name}": data for name, data in kinds.items()}
    attributes = "*.txt eol=crlf ident export-subst\nident.txt ident\n*.dat filter=lfs export-ignore\n"
    revision = upstream.commit({**files, "pkg/kinds/run.sh": Executable(kinds["run.sh"]), ".gitattributes": attributes})
    consumer = project(
        tmp_path / "proj", lock(entry(upstream.url, revision, "['*']", from_="pkg/kinds", to="vendored/kinds"))
    )
    consumer.done("sync")
    assert consumer.tree("vendored/kinds") == {f"vendored/kinds/{name}": data for name, data in sorted(kinds.items())}
    assert [name for name in kinds if consumer.executable(f"vendored/kinds/{name}")] == ["run.sh"]
    consumer.done("check", "--rebuild")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (Link("/etc/passwd"), "is a symbolic link, not a file"),
        (Submodule("1" * 40), "is a submodule, not a file"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
            "of upstream `demo` is a pointer of Git LFS",
        ),
    ],
)
def test_what_is_no_file_of_the_repository_is_refused_by_name(
    tmp_path: Path, upstream: Repository, content: Link | Submodule | bytes, said: str
) -> None:
    revision = upstream.commit({"pkg/ops/odd.py": content})
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, revision, "[bwd.py, odd.py]")))
    output = consumer.refused(ExitCode.USAGE, "sync")
    assert said in output
    assert "pkg/ops/odd.py" in output


@pytest.mark.parametrize("path", ["a\\b.py", "tab\there.py", "del\x7f.py", ".git\u200c"])
def test_a_hostile_upstream_path_is_refused(tmp_path: Path, upstream: Repository, path: str) -> None:
    revision = upstream.commit({f"pkg/bad/{path}": "x = 1\n"})
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, revision, "['*']", from_="pkg/bad")))
    assert "vendor.lock.yaml:" in consumer.refused(ExitCode.USAGE, "sync")


def test_a_missing_file_names_the_near_one(tmp_path: Path, upstream: Repository) -> None:
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd2.py]")))
    said = consumer.refused(ExitCode.USAGE, "sync")
    assert "vendor.lock.yaml:15:13: `pkg/ops/fwd2.py` is not in upstream `demo`" in said
    assert "did you mean `pkg/ops/fwd.py`" in said


def test_a_glob_is_recorded_file_by_file_and_must_match(tmp_path: Path, upstream: Repository) -> None:
    revision = upstream.git("rev-parse", "main")
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, revision, "['*.py']")))
    consumer.done("sync")
    assert re.findall(r"to: (vendored/demo/\S+)", consumer.lock) == ["vendored/demo/bwd.py", "vendored/demo/fwd.py"]
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("'*.py'", "'*.cu'")})
    assert "`*.cu` matches no file" in consumer.refused(ExitCode.USAGE, "sync")


def test_the_removed_and_the_renamed_follow_the_lock_and_nothing_else_goes(consumer: Project) -> None:
    consumer.done("sync")
    consumer.write({"vendored/demo/own.py": "ours = 1\n"})
    renamed = consumer.lock.replace("files: [fwd.py, bwd.py]", "files: [fwd.py, {path: bwd.py, to: deep/back.py}]")
    consumer.write({"vendor.lock.yaml": renamed})
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == [
        "vendored/demo/deep/back.py",
        "vendored/demo/fwd.py",
        "vendored/demo/own.py",
    ]
    assert b"from .deep.back import back" in consumer.read("vendored/demo/fwd.py")


def test_an_import_of_a_file_that_is_not_vendored_names_it(tmp_path: Path, upstream: Repository) -> None:
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]")))
    said = consumer.refused(ExitCode.USAGE, "sync")
    assert "pkg/ops/fwd.py:5" in said
    assert "pkg/ops/bwd.py" in said


def test_a_rule_that_does_nothing_is_an_error(tmp_path: Path, upstream: Repository) -> None:
    text = entry(upstream.url, upstream.git("rev-parse", "main"), "[bwd.py]", more="transforms: [shim]")
    consumer = project(tmp_path / "proj", lock(text))
    assert "the rule `shim` for `tilelang`" in consumer.refused(ExitCode.USAGE, "sync")


def test_an_upstream_without_a_licence_is_refused(tmp_path: Path) -> None:
    bare = repository(tmp_path / "bare.git")
    revision = bare.commit({"pkg/ops/bwd.py": BWD})
    consumer = project(tmp_path / "proj", lock(entry(bare.url, revision, "[bwd.py]")))
    assert "has no licence file" in consumer.refused(ExitCode.USAGE, "sync")


# ---- edits and foreign files ------------------------------------------------------------------------------


def test_an_edit_that_no_patch_holds_is_never_overwritten(consumer: Project) -> None:
    consumer.done("sync")
    consumer.write({"vendored/demo/bwd.py": BWD + "# ours\n", "vendored/demo/fwd.py": FWD_VENDORED.replace("64", "65")})
    said = consumer.refused(ExitCode.CONTENT, "sync")
    assert "`vendored/demo/bwd.py`, `vendored/demo/fwd.py` are edited by hand" in said
    assert "vendor-tool patch new demo" in said
    consumer.done("sync", "--force")
    assert consumer.read("vendored/demo/bwd.py").decode() == BWD


def test_a_foreign_file_in_the_way_is_not_overwritten(consumer: Project) -> None:
    consumer.write({"vendored/demo/bwd.py": "mine = 1\n"})
    said = consumer.refused(ExitCode.CONTENT, "sync")
    assert "`vendored/demo/bwd.py` is in the way" in said
    consumer.done("sync", "--force")
    assert consumer.read("vendored/demo/bwd.py").decode() == BWD


def test_a_foreign_file_with_the_very_bytes_is_taken_as_it_is(consumer: Project) -> None:
    consumer.write({"vendored/demo/bwd.py": BWD})
    consumer.done("sync")
    consumer.done("check")


def test_an_edited_shim_and_document_are_written_anew(consumer: Project) -> None:
    consumer.done("sync")
    before = consumer.tree()
    for path, old in (
        ("vendored/_tilelang.py", b"import"),
        ("vendored/PROVENANCE.md", b"Revision"),
        ("NOTICE", b"Project"),
    ):
        assert old in before[path]
        consumer.write({path: before[path].replace(old, b"edited")})
    consumer.done("sync")
    assert consumer.tree() == before


def test_text_of_ours_in_notice_survives(consumer: Project) -> None:
    consumer.write({"NOTICE": "Our product\nCopyright 2026 Us\n"})
    consumer.done("sync")
    consumer.write({"NOTICE": consumer.read("NOTICE") + b"\nMore of ours\n"})
    before = consumer.tree()
    consumer.done("sync")
    assert consumer.tree() == before
    assert consumer.read("NOTICE").startswith(b"Our product\nCopyright 2026 Us\n")
    assert b"Copyright (c) 2025 The Demo Authors" in consumer.read("NOTICE")


def test_a_document_of_somebody_else_is_in_the_way(consumer: Project) -> None:
    consumer.write({"vendored/PROVENANCE.md": "# Our own notes\n"})
    assert "`vendored/PROVENANCE.md` is in the way" in consumer.refused(ExitCode.CONTENT, "sync")


def test_a_folder_where_a_file_goes_stops_the_whole_run(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py/keep.txt": "keep"})
    assert "vendored/demo/fwd.py" in consumer.refused(ExitCode.CONTENT, "sync")
    assert "vendored/demo/fwd.py" in consumer.refused(ExitCode.CONTENT, "sync", "--force")


def test_a_target_through_a_linked_folder_is_refused(consumer: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (consumer.root / "vendored").symlink_to(outside)
    assert "is a symbolic link" in consumer.refused(ExitCode.CONTENT, "sync")
    assert list(outside.iterdir()) == []


def test_paths_that_differ_only_in_case_are_refused(tmp_path: Path, upstream: Repository) -> None:
    revision = upstream.commit({"pkg/ops/Bwd.py": "x = 1\n"})
    consumer = project(
        tmp_path / "proj",
        lock(
            entry(upstream.url, revision, "[bwd.py]"),
            entry(upstream.url, revision, "[Bwd.py]", name="twin"),
        ),
    )
    said = consumer.refused(ExitCode.USAGE, "sync")
    assert "vendored/demo/bwd.py" in said
    assert "vendored/demo/Bwd.py" in said
    assert "twin" in said


# ---- interrupted ------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
left = [{number}]
def hook(event, args):
    if event in ("os.rename", "os.link", "os.remove", "os.mkdir") and {root!r} in str(args[0]):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from vendor_tool.cli import main
sys.exit(main(["sync"]))
"""


def test_a_killed_sync_is_mended_by_the_next_one(consumer: Project, tmp_path: Path) -> None:
    """Every step of the whole program, from the first one to the last."""
    done = project(tmp_path / "done", consumer.lock)
    done.done("sync")
    before, after = consumer.tree(), done.tree()
    seen = set()
    for number in range(1, 100):
        victim = project(tmp_path / f"victim{number}", consumer.lock)
        script = KILLED.format(number=number, root=str(victim.root))
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
        ran = subprocess.run([sys.executable, "-c", script], cwd=victim.root, env=env, check=False, capture_output=True)
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL, ran.stderr.decode()
        interrupted = victim.tree()
        if interrupted not in (before, after):
            assert "drift-interrupted" in victim.run("check").out
        seen.add(interrupted == before)
        victim.done("sync")
        assert victim.tree() == after
        assert not (victim.root / ".vendor-tool").exists()
    else:
        pytest.fail("never came to an end")
    assert seen == {True, False}


def test_two_syncs_at_once_leave_one_whole_tree(consumer: Project, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    command = [sys.executable, "-m", "vendor_tool", "sync"]
    runs = [subprocess.Popen(command, cwd=consumer.root, env=env, stderr=subprocess.PIPE) for _ in range(3)]
    said = [one.communicate()[1].decode() for one in runs]
    assert [one.returncode for one in runs] == [0, 0, 0], said
    consumer.done("check", "--rebuild")


# ---- run-time imports -------------------------------------------------------------------------------------


def imports_only(upstream: Repository, name: str) -> str:
    revision = upstream.git("rev-parse", "main")
    return lock(f"  kernels:\n    url: {upstream.url}\n    revision: {revision}\n    imports: [{name}]\n", shims="")


def test_a_run_time_import_is_found_through_re_exports_without_running_it(tmp_path: Path, upstream: Repository) -> None:
    upstream.commit(
        {
            "kernels/__init__.py": "raise SystemExit('never run')\n",
            "kernels/ops/__init__.py": "from .norm import normalize as fast_normalize\n",
            "kernels/ops/norm.py": "import absent_module\n\n\ndef normalize(x):\n    return x\n",
        }
    )
    consumer = project(tmp_path / "proj", imports_only(upstream, "kernels.ops.fast_normalize"))
    consumer.done("sync")
    assert sorted(consumer.tree()) == ["vendor.lock.yaml", "vendored/PROVENANCE.md"]
    blob = upstream.blob("main", "kernels/ops/norm.py")
    assert (
        f"        - name: kernels.ops.fast_normalize\n          path: kernels/ops/norm.py\n          blob: {blob}\n"
        "          line: 4\n" in consumer.lock
    )
    assert "nothing to do" in consumer.done("sync").err
    consumer.done("check")


def test_a_run_time_import_that_is_gone_names_the_first_missing_step(tmp_path: Path, upstream: Repository) -> None:
    upstream.commit({"kernels/__init__.py": "", "kernels/ops.py": "def normalise(x):\n    return x\n"})
    consumer = project(tmp_path / "proj", imports_only(upstream, "kernels.ops.normalize"))
    said = consumer.refused(ExitCode.UPSTREAM, "sync")
    assert "kernels.ops.normalize" in said
    assert "normalise" in said


# ---- what was found by trying to break it -----------------------------------------------------------------


def test_a_removed_entry_is_not_forgotten_with_its_files(tmp_path: Path, upstream: Repository) -> None:
    revision = upstream.git("rev-parse", "main")
    side = entry(upstream.url, revision, "[other.py]", name="side", from_="", to="vendored/side")
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, revision, "[fwd.py, bwd.py]"), side))
    consumer.done("sync")
    start, end = consumer.lock.index("  side:"), len(consumer.lock)
    consumer.write({"vendor.lock.yaml": consumer.lock[:start] + consumer.lock[end:]})
    found = consumer.run("check").out
    assert "vendored/side/other.py:1: error: `vendored/side/other.py` was vendored by an entry" in found
    assert "git rm -- vendored/side/other.py" in consumer.refused(ExitCode.CONTENT, "sync")
    (consumer.root / "vendored/side/other.py").unlink()
    consumer.done("sync")
    assert b"side" not in consumer.read("vendored/PROVENANCE.md")


def test_a_record_that_was_edited_by_hand_vouches_for_no_bytes(consumer: Project) -> None:
    import hashlib

    consumer.done("sync")
    ours = BWD + "# ours\n"
    before, after = (hashlib.sha256(text.encode()).hexdigest() for text in (BWD, ours))
    consumer.write({"vendored/demo/bwd.py": ours, "vendor.lock.yaml": consumer.lock.replace(before, after)})
    assert "vendor-tool patch new demo" in consumer.refused(ExitCode.CONTENT, "sync")


def test_a_document_that_only_names_the_tool_is_somebody_elses(consumer: Project) -> None:
    consumer.write({"vendored/PROVENANCE.md": "# Notes\n\nWe use vendor-tool.\n"})
    assert "`vendored/PROVENANCE.md` is in the way" in consumer.refused(ExitCode.CONTENT, "sync")


def test_a_lock_with_a_byte_order_mark_keeps_it(consumer: Project) -> None:
    consumer.write({"vendor.lock.yaml": "\ufeff" + consumer.lock})
    consumer.done("sync")
    assert consumer.lock.startswith("\ufeffversion: 1\n")
    consumer.done("check")


def test_an_alias_in_itself_ends_in_an_error(consumer: Project) -> None:
    consumer.write({"vendor.lock.yaml": "version: 1\nproject: &x {name: *x}\n"})
    assert "vendor.lock.yaml:2:10: an alias stands in itself" in consumer.refused(ExitCode.USAGE, "sync")


@pytest.mark.parametrize("content", [b"{}", b'{"root": []}', b'{"root": ["map", 1], "files": {}, "seals": {}}', b"[]"])
def test_a_parsed_copy_of_another_shape_is_passed_over(consumer: Project, content: bytes) -> None:
    consumer.done("sync")
    for copy in (Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool/parsed").iterdir():
        copy.write_bytes(content)
    consumer.done("sync")
    consumer.done("check")


@pytest.mark.parametrize(
    "url", ["https://h.example/x?private_token=S3CRET", "https://S3CRET@h.example/x", "https://h.example/x#S3CRET"]
)
def test_an_address_with_a_secret_anywhere_is_refused_and_not_repeated(consumer: Project, url: str) -> None:
    text = re.sub("url: .*", f"url: {url}", consumer.lock)
    consumer.write({"vendor.lock.yaml": text})
    assert "S3CRET" not in consumer.refused(ExitCode.USAGE, "sync")
