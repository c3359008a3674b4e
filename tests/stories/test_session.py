"""A merge that stopped: what is laid out, how one goes on, how one gives up, and what a kill leaves."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.stories.series import K, V, consumer_of, kernel, patched, upstream_at
from tests.support.kill import killed
from tests.support.project import Project, entry, lock, project
from tests.support.upstream import Repository
from vendor_tool.errors import ExitCode

MERGE = ".vendor-tool/merge/demo"
THEIRS = kernel(5, word="theirs")
BOTH = kernel(5, word="both")


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return upstream_at(tmp_path / "up.git")


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = consumer_of(tmp_path / "proj", upstream)
    patched(made, kernel(5), kernel(5, 20))
    return made


def stop(consumer: Project, upstream: Repository) -> str:
    """Stop an upgrade at the first patch; the revision that it goes to."""
    later = upstream.commit({K: THEIRS})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    return later


def everything(consumer: Project) -> dict[str, bytes]:
    """Every file, the tool's own folder included."""
    return {str(p.relative_to(consumer.root)): p.read_bytes() for p in sorted(consumer.root.rglob("*")) if p.is_file()}


def test_a_conflict_is_laid_out_with_its_three_versions_and_nothing_else_changes(
    consumer: Project, upstream: Repository
) -> None:
    later = upstream.commit({K: THEIRS})
    said = consumer.refused(ExitCode.CONFLICT, "sync", "demo@main")
    assert said[said.index("error:") :] == (
        f"error: upgrade of `demo` to `{later[:12]}` stops at a conflict\n"
        "patches/demo/0001-step-1.patch: conflicts\n"
        f"  `{V}`, line 22: patches/demo/0001-step-1.patch and demo@{later[:12]} differ in layout and comments only\n"
        "patches/demo/0002-step-2.patch: waits for the conflict before it\n"
        "  known when the conflict before it is resolved\n"
        f"{V}: 1 in conflict; content\n\n"
        f"hint: edit `{MERGE}/{V}`, or run `git mergetool` in `{MERGE}`; then `vendor-tool sync --continue`, or "
        "`vendor-tool sync --abort` to give up; tree and lock are as they were\n"
    )
    folder = consumer.root / MERGE
    assert {path.name: path.read_text() for path in (folder / V).parent.iterdir() if path.name != "k.py"} == {
        "k.py.base": kernel(),
        "k.py.ours": kernel(5),
        "k.py.theirs": THEIRS,
    }
    assert (folder / V).read_text() == kernel().replace(
        "    return x + 5\n",
        "<<<<<<< patches/demo/0001-step-1.patch\n    return x + 5  # ours\n||||||| before the patch\n"
        f"    return x + 5\n=======\n    return x + 5  # theirs\n>>>>>>> demo@{later[:12]}\n",
    )


def test_status_says_where_it_stopped_and_what_to_type(consumer: Project, upstream: Repository) -> None:
    later = stop(consumer, upstream)
    assert consumer.done("status").out.split("\n", 1)[1] == (
        f"demo: upgrade of `demo` to `{later[:12]}` stopped at patch 1 of 2, `patches/demo/0001-step-1.patch`\n"
        f"  {MERGE}/{V}: in conflict at lines 22-28\n"
        f"    patches/demo/0001-step-1.patch and demo@{later[:12]} differ in layout and comments only\n"
        f"  edit until no marker is left, or run `git mergetool` in `{MERGE}`; then\n"
        "  `vendor-tool sync --continue demo`, or `vendor-tool sync --abort demo` to give up\n"
    )
    consumer.write({f"{MERGE}/{V}": BOTH})
    assert f"  {MERGE}/{V}: no conflict marker left\n" in consumer.done("status").out
    (consumer.root / MERGE / V).unlink()
    assert "is not there: put it there as it should be" in consumer.done("status").out


def test_the_resolution_goes_into_the_patch_that_it_belongs_to(consumer: Project, upstream: Repository) -> None:
    later = stop(consumer, upstream)
    consumer.write({f"{MERGE}/{V}": BOTH})
    said = consumer.done("sync", "--continue").err
    assert "patches/demo/0001-step-1.patch: carried over\npatches/demo/0002-step-2.patch: applies as it is\n" in said
    assert consumer.read(V).decode() == kernel(5, 20).replace("x + 5  # ours", "x + 5  # both")
    assert b"-    return x + 5  # theirs\n+    return x + 5  # both\n" in consumer.read(
        "patches/demo/0001-step-1.patch"
    )
    assert f"    revision: {later}\n" in consumer.lock
    assert not (consumer.root / ".vendor-tool").exists()
    consumer.done("check", "--rebuild")


def test_markers_that_are_left_are_refused_and_the_session_stays(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    said = consumer.refused(ExitCode.CONFLICT, "sync", "--continue")
    assert "still holds conflict markers at lines 22, 24, 26, 28" in said
    consumer.write({f"{MERGE}/{V}": BOTH})
    consumer.done("sync", "--continue")


def test_a_file_that_is_gone_from_the_folder_is_no_answer(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    (consumer.root / MERGE / V).unlink()
    assert f"`{V}` is not in `{MERGE}`" in consumer.refused(ExitCode.CONFLICT, "sync", "--continue")


def test_text_that_looks_like_a_marker_and_was_there_before_is_none(tmp_path: Path, upstream: Repository) -> None:
    title = '"""Kernels\n=======\n"""\n'
    upstream.commit({K: title + kernel()})
    consumer = consumer_of(tmp_path / "titled", upstream)
    patched(consumer, title + kernel(5))
    later = upstream.commit({K: title + THEIRS})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert "in conflict at lines 25-31\n" in consumer.done("status").out
    consumer.write({f"{MERGE}/{V}": title + BOTH})
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == title + BOTH


def test_a_resolution_that_leaves_nothing_of_the_patch_drops_it_and_says_so(
    consumer: Project, upstream: Repository
) -> None:
    stop(consumer, upstream)
    consumer.write({f"{MERGE}/{V}": THEIRS})
    said = consumer.done("sync", "--continue").err
    assert "patches/demo/0001-step-1.patch: dropped: nothing of it is left\n" in said
    assert "removed patches/demo/0001-step-1.patch\n" in said
    assert list(consumer.tree("patches")) == ["patches/demo/0002-step-2.patch"]
    consumer.done("check", "--rebuild")


def test_one_conflict_after_another_keeps_what_was_settled(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({K: kernel(5, 20, word="theirs")})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    first = kernel(5, 20, word="theirs").replace("x + 5  # theirs", "x + 5  # both")
    consumer.write({f"{MERGE}/{V}": first})
    said = consumer.refused(ExitCode.CONFLICT, "sync", "--continue")
    assert "patches/demo/0002-step-2.patch: conflicts" in said
    assert "stopped at patch 2 of 2" in consumer.done("status").out
    consumer.write({f"{MERGE}/{V}": kernel(5, 20, word="both")})
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == kernel(5, 20, word="both")
    consumer.done("check", "--rebuild")


# ---- tools ------------------------------------------------------------------------------------------------


def test_git_mergetool_works_in_the_folder(consumer: Project, upstream: Repository, tmp_path: Path) -> None:
    stop(consumer, upstream)
    tool = tmp_path / "tool.sh"
    seen = tmp_path / "seen"
    # what a person does in a merge tool: look at the three versions, write the fourth
    tool.write_text(f'#!/bin/sh\ncat "$1" "$2" "$3" >{seen}\nsed "s/# theirs/# both/" "$3" >"$4"\n')
    tool.chmod(0o755)
    command = f'{tool} "$BASE" "$LOCAL" "$REMOTE" "$MERGED"'
    options = ["-c", f"mergetool.x.cmd={command}", "-c", "mergetool.x.trustExitCode=true", "-c", "merge.tool=x"]
    ran = subprocess.run(
        ["git", *options, "mergetool", "--no-prompt"], cwd=consumer.root / MERGE, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode() + ran.stdout.decode()
    assert seen.read_text() == kernel() + kernel(5) + THEIRS
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == kernel(5, 20).replace("x + 5  # ours", "x + 5  # both")


def test_git_shows_what_is_unmerged(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    ran = subprocess.run(["git", "status", "--porcelain"], cwd=consumer.root / MERGE, capture_output=True, check=True)
    assert ran.stdout.decode() == f"AA {V}\n".replace("AA", "UU")


# ---- give up ----------------------------------------------------------------------------------------------


def test_abort_leaves_no_trace(consumer: Project, upstream: Repository) -> None:
    before = everything(consumer)
    stop(consumer, upstream)
    assert consumer.done("sync", "--abort").err == "demo: given up; the tree and the lock are as they were\n"
    assert everything(consumer) == before
    assert consumer.done("sync").err == "nothing to do: 2 files as the lock says\n"


def test_continue_after_abort_changes_nothing(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    consumer.done("sync", "--abort")
    assert "nothing is stopped" in consumer.refused(ExitCode.USAGE, "sync", "--continue")
    assert "nothing is stopped" in consumer.refused(ExitCode.USAGE, "sync", "--abort")


@pytest.mark.parametrize(
    "command", [("sync",), ("sync", "demo@main"), ("patch", "new", "demo"), ("patch", "drop", "demo", "1")]
)
def test_nothing_else_touches_an_entry_whose_merge_is_stopped(
    consumer: Project, upstream: Repository, command: tuple[str, ...]
) -> None:
    stop(consumer, upstream)
    if "new" in command:
        consumer.write({V: kernel(5, 20, 30)})
    assert "a merge of `demo` is stopped at a conflict" in consumer.refused(ExitCode.CONFLICT, *command)


def test_a_change_of_the_entry_is_refused_with_a_way_out(consumer: Project, upstream: Repository) -> None:
    later = stop(consumer, upstream)
    before = consumer.lock
    consumer.write({f"{MERGE}/{V}": BOTH, "vendor.lock.yaml": before.replace("[k.py, other.py]", "[k.py]", 1)})
    said = consumer.refused(ExitCode.USAGE, "sync", "--continue")
    assert "began with another lock: the entry or a patch was changed since" in said
    assert f"`vendor-tool sync --abort demo` and `vendor-tool sync demo@{later[:12]}`" in said
    consumer.write({"vendor.lock.yaml": before})
    consumer.done("sync", "--continue")


def test_a_changed_patch_is_refused_too(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    path = "patches/demo/0002-step-2.patch"
    consumer.write({f"{MERGE}/{V}": BOTH, path: consumer.read(path).replace(b"# ours", b"# hours")})
    assert "a patch was changed since" in consumer.refused(ExitCode.USAGE, "sync", "--continue")


def test_an_edit_made_in_between_is_not_overwritten(consumer: Project, upstream: Repository) -> None:
    stop(consumer, upstream)
    consumer.write({f"{MERGE}/{V}": BOTH, V: kernel(5, 20, 30)})
    assert f"`{V}` is edited by hand" in consumer.refused(ExitCode.CONTENT, "sync", "--continue")


def test_status_says_what_keeps_a_stopped_merge_from_going_on(consumer: Project, upstream: Repository) -> None:
    later = stop(consumer, upstream)
    assert "cannot go on" not in consumer.done("status").out
    before = consumer.lock
    consumer.write({"vendor.lock.yaml": before.replace("[k.py, other.py]", "[k.py]", 1)})
    assert (
        f"  it cannot go on as it is: the upgrade of `demo` to `{later[:12]}` began with another lock: "
        "the entry or a patch was changed since\n    undo that change, or run `vendor-tool sync --abort demo`"
    ) in consumer.done("status").out
    consumer.write({"vendor.lock.yaml": before, "vendored/demo/other.py": "x = 1\n"})
    assert "cannot go on as it is: `vendored/demo/other.py` is edited by hand" in consumer.done("status").out


def test_a_session_whose_state_was_lost_claims_nothing_and_keeps_what_was_settled(
    consumer: Project, upstream: Repository
) -> None:
    stop(consumer, upstream)
    consumer.write({f"{MERGE}/{V}": BOTH})
    (consumer.root / MERGE / "session.json").unlink()
    lost = f"the stopped merge of `demo` cannot go on: `{MERGE}/session.json` is gone or damaged"
    assert lost in consumer.done("status").out
    assert lost in consumer.refused(ExitCode.USAGE, "sync", "--continue")
    assert "is stopped at a conflict" in consumer.refused(ExitCode.CONFLICT, "sync", "demo@main")
    assert consumer.read(f"{MERGE}/{V}").decode() == BOTH
    consumer.done("sync", "--abort")
    assert "stopped" not in consumer.done("status").out
    assert not (consumer.root / MERGE).exists()


def test_a_patched_function_that_upstream_split_off_is_told_with_its_new_place(
    consumer: Project, upstream: Repository
) -> None:
    head, mark, tail = kernel().partition("def f20(")
    later = upstream.commit({K: f"{head.rstrip()}\n", "pkg/ops/late.py": mark + tail})
    where = "`pkg/ops/k.py` lost `f20`, `f21`, `f22`, `f23`, `f24` and 15 more to `pkg/ops/late.py`\n"
    said = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}", "--dry-run")
    assert f"demo@{later[:12]} removed the lines that patches/demo/0002-step-2.patch changes" in said
    assert where in said
    assert where in consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert where in consumer.done("status").out


def test_status_names_both_sides_where_nothing_more_can_be_said(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.commit({"pkg/ops/k.py": ""})
    consumer = project(tmp_path / "empty", lock(entry(upstream.url, pin, "[k.py]"), shims=""))
    consumer.done("sync")
    consumer.write({V: "X = 1\n"})
    consumer.done("patch", "new", "demo", "--title", "One")
    later = upstream.commit({"pkg/ops/k.py": "Y = 2\n"})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    both = f"    patches/demo/0001-one.patch and demo@{later[:12]} both change lines there\n"
    assert both in consumer.done("status").out


def test_two_stopped_upgrades_end_one_by_one(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    text = lock(
        *(entry(upstream.url, pin, "[k.py]", name=name, to=f"vendored/{name}") for name in ("one", "two")), shims=""
    )
    consumer = project(tmp_path / "both", text)
    consumer.done("sync")
    for name in ("one", "two"):
        consumer.write({f"vendored/{name}/k.py": kernel(5)})
        consumer.done("patch", "new", name, "--title", "Five")
    later = upstream.commit({K: THEIRS})
    for name in ("one", "two"):
        consumer.refused(ExitCode.CONFLICT, "sync", f"{name}@{later}")
    assert "more than one merge is stopped: one, two" in consumer.refused(ExitCode.USAGE, "sync", "--continue")
    consumer.write({".vendor-tool/merge/one/vendored/one/k.py": BOTH})
    consumer.done("sync", "--continue", "one")
    assert "stopped at patch 1 of 1" in consumer.done("status").out
    consumer.write({".vendor-tool/merge/two/vendored/two/k.py": BOTH})
    consumer.done("sync", "--continue", "two")
    assert consumer.read("vendored/one/k.py") == consumer.read("vendored/two/k.py") == BOTH.encode()
    consumer.done("check", "--rebuild")


# ---- refresh and drop stop too ----------------------------------------------------------------------------


def twice(consumer: Project) -> None:
    """A third patch on the very line of the first."""
    consumer.write({V: kernel(5, 20).replace("x + 5  # ours", "x + 5  # ours twice")})
    consumer.done("patch", "new", "demo", "--title", "Step 3")


def test_a_drop_under_a_later_patch_stops_and_goes_on(consumer: Project) -> None:
    twice(consumer)
    said = consumer.refused(ExitCode.CONFLICT, "patch", "drop", "demo", "1")
    assert "drop of patch 1 of `demo` stops at a conflict" in said
    assert "drop of patch 1 of `demo` stopped at patch 3 of 3" in consumer.done("status").out
    consumer.write({f"{MERGE}/{V}": kernel(5, 20).replace("x + 5  # ours", "x + 5  # once")})
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == kernel(5, 20).replace("x + 5  # ours", "x + 5  # once")
    assert sorted(consumer.tree("patches")) == ["patches/demo/0002-step-2.patch", "patches/demo/0003-step-3.patch"]
    consumer.done("check", "--rebuild")


def test_a_refresh_that_brings_a_line_back_which_a_later_patch_takes_out_stops_and_goes_on(consumer: Project) -> None:
    mine = kernel(5, 20) + "\n\ndef again(x):\n    return x + 20\n"
    consumer.write({V: mine})
    before = everything(consumer)
    said = consumer.refused(ExitCode.CONFLICT, "patch", "refresh", "demo", "1")
    assert "refresh of patch 1 of `demo` stops at a conflict" in said
    assert "refresh of patch 1 of `demo` stopped at patch 2 of 2" in consumer.done("status").out
    consumer.done("sync", "--abort")
    assert everything(consumer) == before
    consumer.refused(ExitCode.CONFLICT, "patch", "refresh", "demo", "1")
    consumer.write({f"{MERGE}/{V}": mine})
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == mine
    assert b"+def again(x):\n" in consumer.read("patches/demo/0001-step-1.patch")
    consumer.done("check", "--rebuild")


def test_a_drop_that_stopped_is_given_up_without_a_trace(consumer: Project) -> None:
    twice(consumer)
    before = everything(consumer)
    consumer.refused(ExitCode.CONFLICT, "patch", "drop", "demo", "1")
    consumer.done("sync", "--abort")
    assert everything(consumer) == before


# ---- killed -----------------------------------------------------------------------------------------------


def copy(consumer: Project, path: Path) -> Project:
    shutil.copytree(consumer.root, path)
    return Project(path)


def test_a_kill_while_the_conflict_is_laid_out_leaves_all_of_it_or_none(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    later = upstream.commit({K: THEIRS})
    before = everything(consumer)
    outcomes = set()
    for number in range(1, 60):
        victim = copy(consumer, tmp_path / f"victim{number}")
        code = killed(victim, number, "sync", f"demo@{later}")
        if code == ExitCode.CONFLICT:
            break
        assert code == -signal.SIGKILL
        assert victim.tree() == consumer.tree()
        stopped = (victim.root / MERGE).exists()
        outcomes.add(stopped)
        if stopped and number % 2:
            victim.done("sync", "--abort")
        elif stopped:
            victim.write({f"{MERGE}/{V}": BOTH})
            victim.done("sync", "--continue")
            victim.done("check", "--rebuild")
            continue
        victim.done("sync")
        assert everything(victim) == before
    else:
        pytest.fail("never came to an end")
    assert outcomes == {True, False}


def test_a_killed_continue_can_be_continued_and_given_up(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    before = everything(consumer)
    stop(consumer, upstream)
    consumer.write({f"{MERGE}/{V}": BOTH})
    done = copy(consumer, tmp_path / "done")
    done.done("sync", "--continue")
    after = everything(done)
    given_up = set()
    for number in range(1, 80):
        # a copy of a killed run's folder is not mended: each way on gets a run that was killed in place
        victims = {then: copy(consumer, tmp_path / f"victim{number}{then}") for then in ("--continue", "--abort")}
        codes = {killed(one, number, "sync", "--continue") for one in victims.values()}
        if codes == {ExitCode.CLEAN}:
            break
        assert codes == {-signal.SIGKILL}
        for then, one in victims.items():
            result = one.run("sync", then)
            ended = everything(one)
            assert ended == after or (then == "--abort" and ended == before)
            assert result.code == ExitCode.CLEAN or (ended == after and "nothing is stopped" in result.err)
            given_up |= {ended == before} if then == "--abort" else set()
    else:
        pytest.fail("never came to an end")
    assert given_up == {True, False}


def test_a_kill_between_two_conflicts_loses_nothing_that_was_settled(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    later = upstream.commit({K: kernel(5, 20, word="theirs")})
    first = kernel(5, 20, word="theirs").replace("x + 5  # theirs", "x + 5  # both")
    last = kernel(5, 20, word="both")
    consumer.run("sync", f"demo@{later}")
    consumer.write({f"{MERGE}/{V}": first})
    for number in range(1, 80):
        victim = copy(consumer, tmp_path / f"victim{number}")
        code = killed(victim, number, "sync", "--continue")
        assert "stopped at patch" in victim.done("status").out
        if code == ExitCode.CONFLICT:
            break
        assert code == -signal.SIGKILL
        result = victim.run("sync", "--continue")
        assert result.code == ExitCode.CONFLICT, result.err
        if json.loads(victim.read(f"{MERGE}/session.json"))["stopped"] == 0:
            pytest.fail(f"step {number} lost the first resolution")
        victim.write({f"{MERGE}/{V}": last})
        victim.done("sync", "--continue")
        assert victim.read(V).decode() == last
        assert not (victim.root / ".vendor-tool").exists()
    else:
        pytest.fail("never came to an end")


def test_a_killed_move_of_patched_files_is_ended_by_the_same_command(tmp_path: Path, upstream: Repository) -> None:
    for number in (1, 12, 20, 28, 36):
        consumer = consumer_of(tmp_path / str(number), upstream)
        patched(consumer, kernel(5))
        consumer.write({"vendor.lock.yaml": consumer.lock.replace("to: vendored/demo\n", "to: lib/k\n")})
        killed(consumer, number, "sync")
        consumer.done("sync")
        assert consumer.read("lib/k/k.py").decode() == kernel(5)
        assert consumer.tree("vendored") == {}
        assert b"a/lib/k/k.py" in consumer.read("patches/demo/0001-step-1.patch")
        consumer.done("check", "--rebuild")
