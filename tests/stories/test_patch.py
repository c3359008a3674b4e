"""`patch`: hand edits become patches, and a series is changed by its owner without losing a line."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stories.series import K, V, consumer_of, kernel, patched, upstream_at
from tests.support.project import Project
from tests.support.trees import git
from tests.support.upstream import Executable, Repository
from vendor_tool.errors import ExitCode

LIST = "demo: 3 patches on {pin}\n" + "".join(
    f"  {n}  patches/demo/000{n}-step-{n}.patch  applies  Step {n}\n" for n in (1, 2, 3)
)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return upstream_at(tmp_path / "up.git")


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    return consumer_of(tmp_path / "proj", upstream)


# ---- new --------------------------------------------------------------------------------------------------


def test_a_hand_edit_becomes_the_first_patch_and_all_is_as_the_lock_says(consumer: Project) -> None:
    consumer.write({V: kernel(5)})
    said = consumer.done(
        "patch", "new", "demo", "-m", "Mark five\n\nIt was not marked.", "--bug", "https://x.org/1"
    ).err
    assert said == (
        "patches/demo/0001-mark-five.patch: vendored/demo/k.py\n"
        "wrote patches/demo/0001-mark-five.patch\nwrote vendored/PROVENANCE.md\n2 files written\n"
    )
    assert consumer.read("patches/demo/0001-mark-five.patch").decode() == (
        "Description: Mark five\n .\n It was not marked.\nBug: https://x.org/1\nForwarded: no\n"
        "Author: Ada Example <ada@example.invalid>\nLast-Update: 2026-01-01\n\n"
        "diff --git a/vendored/demo/k.py b/vendored/demo/k.py\n--- a/vendored/demo/k.py\n+++ b/vendored/demo/k.py\n"
        "@@ -19,7 +19,7 @@ def f4(x):\n \n \n def f5(x):\n-    return x + 5\n+    return x + 5  # ours\n \n \n def f6(x):\n"
    )
    assert "    patches: [patches/demo/0001-mark-five.patch]\n    resolved:\n" in consumer.lock
    consumer.done("check", "--rebuild")
    assert consumer.done("sync").err == "nothing to do: 2 files as the lock says\n"


def test_a_fresh_clone_replays_the_series(consumer: Project, tmp_path: Path) -> None:
    patched(consumer, kernel(5), kernel(5, 20))
    clone = Project(tmp_path / "clone")
    clone.write({"vendor.lock.yaml": consumer.lock, **consumer.tree("patches")})
    clone.done("sync")
    assert clone.tree() == consumer.tree()


def test_comments_in_the_lock_survive_new_and_drop(consumer: Project) -> None:
    consumer.write({V: kernel(5)})
    consumer.done("patch", "new", "demo", "--title", "One")
    own = "    # ours\n    patches:  # in order\n      # why one\n      - patches/demo/0001-one.patch  # one\n"
    text = consumer.lock.replace("    patches: [patches/demo/0001-one.patch]\n", own)
    consumer.write({"vendor.lock.yaml": text, V: kernel(5, 20)})
    consumer.done("patch", "new", "demo", "--title", "Two")
    assert own + "      - patches/demo/0002-two.patch\n" in consumer.lock
    consumer.done("patch", "drop", "demo", "2")
    assert own + "    resolved:" in consumer.lock
    consumer.done("check", "--rebuild")


def test_only_the_named_files_are_taken_in(consumer: Project) -> None:
    other = "def other(x):\n    return x + 1\n"
    consumer.write({V: kernel(5), "vendored/demo/other.py": other})
    said = consumer.done("patch", "new", "demo", "--title", "Five", V).err
    assert "vendored/demo/other.py is edited too, and not taken in" in said
    assert consumer.read("vendored/demo/other.py").decode() == other
    assert "`vendored/demo/other.py` is edited by hand" in consumer.refused(ExitCode.CONTENT, "sync")
    consumer.done("patch", "new", "demo", "--title", "Other")
    consumer.done("check", "--rebuild")


def test_a_new_file_is_taken_in_where_it_is_named(consumer: Project) -> None:
    consumer.write({"vendored/demo/extra.py": "EXTRA = 1\n"})
    assert "no file of `demo` was edited" in consumer.refused(ExitCode.USAGE, "patch", "new", "demo")
    consumer.done("patch", "new", "demo", "--title", "Add extra", "vendored/demo/extra.py")
    consumer.done("check", "--rebuild")
    assert "+EXTRA = 1\n" in consumer.done("patch", "show", "demo", "1").out


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("vendored/demo/k.py", "is as it was recorded"),
        ("vendored/demo/none.py", "is not there"),
        ("elsewhere.py", "is not in `vendored/demo`"),
        ("../outside.py", "leaves its folder"),
    ],
)
def test_a_file_that_cannot_be_taken_in_is_refused(consumer: Project, path: str, said: str) -> None:
    consumer.write({"elsewhere.py": "x = 1\n"})
    assert said in consumer.refused(ExitCode.USAGE, "patch", "new", "demo", path)


def test_a_deleted_file_is_no_edit_that_a_patch_holds(consumer: Project) -> None:
    (consumer.root / V).unlink()
    for command in (("new", "demo"), ("new", "demo", V), ("refresh", "demo")):
        said = consumer.refused(ExitCode.USAGE, "patch", *command)
        assert f"`{V}` is deleted: patches change contents, they take no file away" in said
        assert "vendor-tool sync demo" in said
    consumer.write({"vendored/demo/other.py": "def other(x):\n    return -x\n"})
    said = consumer.done("patch", "new", "demo", "--title", "Negate").err
    assert f"{V} is deleted, which no patch takes in\n" in said
    assert not (consumer.root / V).exists()
    assert "drift-missing" in consumer.run("check").out


def test_a_title_in_any_script_names_its_patch(consumer: Project) -> None:
    consumer.write({V: kernel(5)})
    consumer.done("patch", "new", "demo", "--title", "修正 マスク")
    assert "0001-修正-マスク.patch  applies  修正 マスク\n" in consumer.done("patch", "list").out
    consumer.done("check", "--rebuild")
    consumer.done("patch", "drop", "demo", "1")


def test_a_mode_alone_is_an_edit_that_a_patch_holds(consumer: Project) -> None:
    (consumer.root / V).chmod(0o755)
    consumer.done("patch", "new", "demo", "--title", "Make it run")
    assert "old mode 100644\nnew mode 100755\n" in consumer.done("patch", "show", "demo", "1").out
    assert consumer.executable(V)
    assert "0001-make-it-run.patch  applies  Make it run\n" in consumer.done("patch", "list", "demo").out
    assert consumer.done("diff", "demo").out.splitlines()[1:] == ["old mode 100644", "new mode 100755"]
    consumer.done("check", "--rebuild")
    consumer.done("patch", "drop", "demo", "1")
    assert not consumer.executable(V)
    consumer.done("check", "--rebuild")


def test_a_mode_patch_is_obsolete_only_once_upstream_has_the_mode(consumer: Project, upstream: Repository) -> None:
    (consumer.root / V).chmod(0o755)
    consumer.done("patch", "new", "demo", "--title", "Make it run")
    other = upstream.commit({K: kernel(3, word="theirs")})
    assert "applies, then applies" in consumer.done("patch", "list", "demo", "--against", other).out
    same = upstream.commit({K: Executable(kernel().encode())})
    assert "applies, then obsolete" in consumer.done("patch", "list", "demo", "--against", same).out
    consumer.done("sync", f"demo@{same}")
    assert "patches: []" in consumer.lock
    assert consumer.executable(V)


def test_a_mode_goes_with_the_patch_text_that_asks_for_it(consumer: Project) -> None:
    (consumer.root / V).chmod(0o755)
    consumer.write({V: kernel(5)})
    consumer.done("patch", "new", "demo", "--title", "Both")
    path = "patches/demo/0001-both.patch"
    consumer.write({path: consumer.read(path).replace(b"old mode 100644\nnew mode 100755\n", b"")})
    consumer.done("sync")
    assert not consumer.executable(V)
    consumer.done("check", "--rebuild")


def test_binary_edits_are_refused(consumer: Project) -> None:
    consumer.write({V: b"x = 1\n\0"})
    assert "is not text" in consumer.refused(ExitCode.CONTENT, "patch", "new", "demo", "--title", "Bin")


def test_an_edit_over_changed_rules_is_told_apart_or_refused(consumer: Project) -> None:
    consumer.write({V: kernel(5)})
    consumer.write(
        {"vendor.lock.yaml": consumer.lock.replace("    files:", "    transforms: [header: {text: Us}]\n    files:", 1)}
    )
    said = consumer.refused(ExitCode.CONTENT, "patch", "new", "demo", "--title", "Five")
    assert "the two cannot be told apart" in said


def test_an_edit_can_be_taken_in_while_the_lock_asks_for_another_revision(
    consumer: Project, upstream: Repository
) -> None:
    pin = upstream.git("rev-parse", "main")
    later = upstream.commit({K: kernel(20, word="theirs")})
    consumer.write({V: kernel(5), "vendor.lock.yaml": consumer.lock.replace(pin, later, 1)})
    assert "vendor-tool patch new demo" in consumer.refused(ExitCode.CONTENT, "sync")
    said = consumer.done("patch", "new", "demo", "--title", "Five").err
    assert f"`vendor-tool sync demo` goes on to `{later[:12]}`" in said
    assert f"    revision: {later}\n" in consumer.lock
    consumer.done("sync")
    text = consumer.read(V).decode()
    assert "x + 5  # ours" in text
    assert "x + 20  # theirs" in text
    consumer.done("check", "--rebuild")


def test_the_author_is_gits_user_where_the_environment_names_none(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    consumer.write({V: kernel(5)})
    said = consumer.refused(ExitCode.USAGE, "patch", "new", "demo", "--title", "Five")
    assert "--author" in said
    settings = Path(os.environ["GIT_CONFIG_GLOBAL"])
    settings.write_text(settings.read_text() + "[user]\n\tname = Grace\n\temail = g@example.invalid\n")
    consumer.done("patch", "new", "demo", "--title", "Five", "--origin", "backport, https://x.org/2")
    head = consumer.read("patches/demo/0001-five.patch").decode().split("\n\n")[0]
    assert "Author: Grace <g@example.invalid>" in head
    assert "Origin: backport, https://x.org/2" in head
    assert "Forwarded" not in head


def test_a_terminal_is_asked_for_what_the_options_leave_open(consumer: Project) -> None:
    consumer.write({V: kernel(5)})
    parent, child = pty.openpty()
    os.write(parent, b"Mark five, it was not marked\nnot-needed\nhttps://x.org/3\n")
    command = [sys.executable, "-m", "vendor_tool", "patch", "new", "demo"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    ran = subprocess.run(command, cwd=consumer.root, env=env, stdin=child, stderr=child, check=False)
    os.close(child)
    os.close(parent)
    assert ran.returncode == ExitCode.CLEAN
    head = consumer.read("patches/demo/0001-mark-five-it-was-not-marked.patch").decode()
    assert head.startswith(
        "Description: Mark five, it was not marked\nBug: https://x.org/3\nForwarded: not-needed\nAuthor: Ada"
    )


# ---- refresh and drop -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("named", [False, True])
def test_any_patch_of_the_series_can_be_refreshed(consumer: Project, number: int, named: bool) -> None:
    patched(consumer, kernel(5), kernel(5, 15), kernel(5, 15, 25))
    before = consumer.tree("patches")
    consumer.write({V: kernel(5, 15, 25, 35)})
    consumer.done("patch", "refresh", "demo", f"000{number}-step-{number}.patch" if named else str(number))
    assert consumer.read(V).decode() == kernel(5, 15, 25, 35)
    changed = [path for path, data in consumer.tree("patches").items() if data != before[path]]
    assert changed == [f"patches/demo/000{number}-step-{number}.patch"]
    assert b"+    return x + 35  # ours" in consumer.read(changed[0])
    consumer.done("check", "--rebuild")


def test_refresh_takes_the_last_patch_where_none_is_named_and_dates_it(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched(consumer, kernel(5), kernel(5, 15))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1798761600")
    consumer.write({V: kernel(5, 15, 25)})
    consumer.done("patch", "refresh", "demo")
    assert b"Last-Update: 2027-01-01" in consumer.read("patches/demo/0002-step-2.patch")
    assert b"Last-Update: 2026-01-01" in consumer.read("patches/demo/0001-step-1.patch")


def test_an_edit_of_what_a_later_patch_made_is_sent_to_that_one(consumer: Project) -> None:
    patched(consumer, kernel(5), kernel(5, 15))
    consumer.write({V: kernel(5, 15).replace("x + 15  # ours", "x + 15  # edited")})
    said = consumer.refused(ExitCode.CONFLICT, "patch", "refresh", "demo", "1")
    assert "touches what a later patch changes: `patches/demo/0002-step-2.patch`" in said
    consumer.done("patch", "refresh", "demo", "2")
    consumer.done("check", "--rebuild")


def test_nothing_edited_is_nothing_to_refresh(consumer: Project) -> None:
    assert "was edited by hand" in consumer.refused(ExitCode.USAGE, "patch", "refresh", "demo")
    consumer.write({V: kernel(5)})
    assert "`demo` has no patches" in consumer.refused(ExitCode.USAGE, "patch", "refresh", "demo")


def test_a_refresh_that_undoes_the_patch_drops_it_and_says_so(consumer: Project) -> None:
    patched(consumer, kernel(5), kernel(5, 15))
    consumer.write({V: kernel(5)})
    said = consumer.done("patch", "refresh", "demo").err
    assert "patches/demo/0002-step-2.patch: dropped: nothing of it is left" in said
    assert list(consumer.tree("patches")) == ["patches/demo/0001-step-1.patch"]
    consumer.done("check", "--rebuild")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_patch_can_be_dropped_and_the_others_stay(consumer: Project, number: int) -> None:
    places = {1: 5, 2: 15, 3: 25}
    patched(consumer, kernel(5), kernel(5, 15), kernel(5, 15, 25))
    consumer.done("patch", "drop", "demo", str(number))
    assert consumer.read(V).decode() == kernel(*(place for n, place in places.items() if n != number))
    assert len(consumer.tree("patches")) == 2
    consumer.done("check", "--rebuild")


def test_the_last_drop_leaves_upstreams_file(consumer: Project) -> None:
    before = {path: data for path, data in consumer.tree().items() if path != "vendor.lock.yaml"}
    patched(consumer, kernel(5))
    consumer.done("patch", "drop", "demo", "1")
    assert {path: data for path, data in consumer.tree().items() if path != "vendor.lock.yaml"} == before
    assert "    patches: []\n" in consumer.lock
    consumer.done("check", "--rebuild")


def test_a_drop_over_edits_is_refused(consumer: Project) -> None:
    patched(consumer, kernel(5))
    consumer.write({V: kernel(5, 20)})
    assert "vendor-tool patch new demo" in consumer.refused(ExitCode.CONTENT, "patch", "drop", "demo", "1")


def test_a_patch_that_is_not_there_is_named_with_those_that_are(consumer: Project) -> None:
    patched(consumer, kernel(5))
    said = consumer.refused(ExitCode.USAGE, "patch", "drop", "demo", "7")
    assert "`demo` has no patch `7`" in said
    assert "1 is `patches/demo/0001-step-1.patch`" in said


# ---- list, show, export -----------------------------------------------------------------------------------


def test_list_says_how_each_patch_fares(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5), kernel(5, 15), kernel(5, 15, 25))
    pin = upstream.git("rev-parse", "main")
    assert consumer.done("patch", "list").out == LIST.format(pin=pin[:12])
    later = upstream.commit({K: kernel(5).replace("x + 15\n", "x + 15  # theirs\n")})
    assert consumer.done("patch", "list", "demo", "--against", "newest").out == (
        f"demo: 3 patches on {pin[:12]}, against {later[:12]}\n"
        "  1  patches/demo/0001-step-1.patch  applies, then obsolete  Step 1\n"
        f"     demo@{later[:12]} has this now: without the patch the files are the same\n"
        "  2  patches/demo/0002-step-2.patch  applies, then conflicts  Step 2\n"
        f"     `vendored/demo/k.py`, line 62: patches/demo/0002-step-2.patch and demo@{later[:12]} differ in layout and"
        " comments only\n"
        "  3  patches/demo/0003-step-3.patch  applies, then unknown  Step 3\n"
        "     known when the conflict before it is resolved\n"
    )


def test_list_is_written_for_programs_too(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5))
    later = upstream.commit({K: kernel(5)})
    consumer.done("patch", "list", "demo", "--against", "newest", "--format", "json", "--output", "series.json")
    [found] = json.loads(consumer.read("series.json"))["series"]
    assert (found["upstream"], found["against"]) == ("demo", later)
    assert [(one["title"], one["status"], one["against"]) for one in found["patches"]] == [
        ("Step 1", "applies", "obsolete")
    ]
    assert consumer.done("patch", "list", "--format", "markdown").out.startswith("### demo: 1 patch on")


def test_list_of_a_series_that_does_not_apply_says_where(consumer: Project) -> None:
    patched(consumer, kernel(5), kernel(5, 15))
    path = "patches/demo/0001-step-1.patch"
    consumer.write({path: consumer.read(path).replace(b"-    return x + 5\n", b"-    return y + 5\n")})
    said = consumer.done("patch", "list", "demo").out
    assert f"  1  {path}  conflicts\n     `{path}` does not apply: hunk 1 (line 9 of the patch) expects" in said
    (consumer.root / path).unlink()
    assert f"  1  {path}  missing\n     the file is not there\n" in consumer.done("patch", "list", "demo").out


def test_show_prints_the_very_bytes(consumer: Project) -> None:
    patched(consumer, kernel(5))
    assert consumer.done("patch", "show", "demo", "1").out.encode() == consumer.read("patches/demo/0001-step-1.patch")


@pytest.mark.parametrize("which", [(), ("2",)])
def test_exported_patches_apply_to_pristine_upstream(
    consumer: Project, upstream: Repository, tmp_path: Path, which: tuple[str, ...]
) -> None:
    patched(consumer, kernel(5), kernel(5, 7))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(upstream.path), str(clone)], check=True)
    consumer.done("patch", "export", "demo", *which, "-o", str(tmp_path / "mails"))
    mails = sorted((tmp_path / "mails").iterdir())
    assert [mail.name for mail in mails] == ["0001-step-1.patch", "0002-step-2.patch"][-1 if which else 0 :]
    git(clone, "am", "-q", *map(str, mails))
    assert (clone / K).read_text() == (kernel(7) if which else kernel(5, 7))
    both = consumer.done("patch", "export", "demo", *which).out
    assert both.encode() == b"".join(mail.read_bytes() for mail in mails)


def test_a_whole_series_is_exported_step_by_step_where_patches_build_on_each_other(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    patched(consumer, kernel(5), kernel(5).replace("x + 5  # ours", "x + 5  # twice ours"))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(upstream.path), str(clone)], check=True)
    git(clone, "am", "-q", stdin=consumer.done("patch", "export", "demo").out.encode())
    assert (clone / K).read_text() == kernel(5).replace("x + 5  # ours", "x + 5  # twice ours")
    assert "an earlier patch changed" in consumer.refused(ExitCode.CONFLICT, "patch", "export", "demo", "2")
