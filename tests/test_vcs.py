"""Git as a child: its surroundings, its end, and commits that are the same everywhere."""

import os
import shutil
import signal
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vendor_tool import vcs
from vendor_tool.errors import UsageError
from vendor_tool.remote import Command

DATE = datetime(2026, 2, 9, 11, 5, 31, tzinfo=timezone(timedelta(hours=1)))


def committed(folder: Path) -> str:
    folder.mkdir()
    (folder / "b.txt").write_bytes(b"two\r\n")
    (folder / "deep").mkdir()
    (folder / "deep/a.txt").write_bytes(b"one\n")
    vcs.run(folder, "init", "-q", "--initial-branch=main")
    return vcs.commit(folder, "All\n", author="An Author", email="author@example.com", date=DATE)


def test_a_commit_is_what_git_makes_of_the_same_files(tmp_path: Path) -> None:
    made = committed(tmp_path / "ours")
    who = {f"GIT_{role}_NAME": "An Author" for role in ("AUTHOR", "COMMITTER")}
    who |= {f"GIT_{role}_EMAIL": "author@example.com" for role in ("AUTHOR", "COMMITTER")}
    who |= {f"GIT_{role}_DATE": "2026-02-09T11:05:31+01:00" for role in ("AUTHOR", "COMMITTER")}
    shutil.copytree(tmp_path / "ours", tmp_path / "gits", ignore=shutil.ignore_patterns(".git"))
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "All")):
        assert vcs.run(tmp_path / "gits", *command, variables=who).status == 0
    assert vcs.run(tmp_path / "gits", "rev-parse", "HEAD").out.decode() == f"{made}\n"
    assert vcs.run(tmp_path / "ours", "status", "--porcelain", "--branch").out == b"## main\n"
    assert vcs.run(tmp_path / "ours", "fsck", "--strict").out == b""


def test_neither_a_hook_nor_the_users_settings_change_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = committed(tmp_path / "plain")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[i18n]\n\tcommitEncoding = latin1\n[core]\n\tautocrlf = true\n[a line of no kind\n"
    )
    monkeypatch.setenv("HOME", str(home))
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(tmp_path / "theirs"))
    assert committed(tmp_path / "inside") == made
    assert os.environ["GIT_DIR"] == str(tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()


@pytest.mark.parametrize("path", ["empty", "a file", "not executable"])
def test_missing_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    for folder in ("empty", "not executable"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a file").touch()
    (tmp_path / "not executable/git").touch()
    monkeypatch.setenv("PATH", str(tmp_path / path))
    with pytest.raises(UsageError, match="`git` was not found") as caught:
        vcs.run(tmp_path, "version")
    assert caught.value.hint == "install git 2.36 or newer and put it on the `PATH`"


def test_a_missing_folder_is_no_missing_git(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        vcs.run(tmp_path / "gone", "version")
    assert caught.value.filename == tmp_path / "gone"


def test_a_command_past_its_time_is_killed_with_its_children(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # the shell and `cat` inherit the pipe's other end: reading it ends when both are gone
    reader, writer = os.pipe()
    script = f"!cat '{tmp_path}/pipe'"
    ran = vcs.run(tmp_path, "stuck", config=[("alias.stuck", script)], timeout=0.5, keep=[writer])
    os.close(writer)
    assert ran.status is None
    assert os.read(reader, 1) == b""
    os.close(reader)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_reader_that_leaves_early_leaves_no_child(tmp_path: Path) -> None:
    with vcs.start(tmp_path, "var", "-l"):
        pass
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_work_side_by_side_comes_back_in_order_and_tells_the_first_failure(tmp_path: Path) -> None:
    meet = threading.Barrier(3)

    def work(number: int) -> int:
        meet.wait()
        if number:
            raise UsageError(f"{number} failed")
        return number

    with pytest.raises(UsageError, match="1 failed"):
        vcs.side_by_side(work, [0, 1, 2])
    assert vcs.side_by_side(lambda word: vcs.run(tmp_path, word).out, ["version", "--exec-path"]) == [
        vcs.run(tmp_path, "version").out,
        vcs.run(tmp_path, "--exec-path").out,
    ]


def test_an_interrupt_ends_the_commands_of_other_threads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "started")
    script = f"!echo > '{tmp_path}/started'; cat '{tmp_path}/pipe'"
    ended = []

    def work(stuck: bool) -> None:
        if stuck:
            try:
                vcs.run(tmp_path, "stuck", config=[("alias.stuck", script)])
            except KeyboardInterrupt as problem:
                ended.append(problem)
        else:
            (tmp_path / "started").read_text()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        vcs.side_by_side(work, [True, False])
    assert len(ended) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert vcs.run(tmp_path, "version").status == 0
    assert [ran.status for ran in vcs.side_by_side(lambda _: vcs.run(tmp_path, "version"), [1, 2])] == [0, 0]


def test_a_watch_sees_every_command_and_what_was_answered(tmp_path: Path) -> None:
    version, var = (Command(tmp_path.name, words) for words in (("version",), ("var", "-l")))
    with vcs.watched({}) as asked:
        ran = vcs.run(tmp_path, "version")
        with vcs.start(tmp_path, "var", "-l"):
            pass
    vcs.run(tmp_path, "--exec-path")
    assert asked == {version: ran, var: None}


def test_what_was_told_before_is_not_asked_again(tmp_path: Path) -> None:
    command = Command(tmp_path.name, ("version",), (("a.key", "1"),))
    told = vcs.Ran(0, b"told", "")
    with vcs.watched({command: told}) as asked:
        assert [vcs.run(tmp_path, "version", config=[("a.key", "1")]) for _ in range(2)] == [told, told]
        others = [
            vcs.run(tmp_path, "version"),
            vcs.run(tmp_path, "version", config=[("a.key", "1")], stdin=b"more"),
            vcs.run(tmp_path, "version", config=[("a.key", "1")], variables={"GIT_TRACE": "0"}),
        ]
    assert told not in others
    assert asked == {command: None, Command(tmp_path.name, ("version",)): others[0]}
    assert vcs.run(tmp_path, "version", config=[("a.key", "1")]) != told


def test_what_answered_differently_when_it_was_asked_again_has_no_one_answer(tmp_path: Path) -> None:
    vcs.run(tmp_path, "init", "-q", "--initial-branch=main")
    with vcs.watched({}) as asked:
        for _ in range(2):
            vcs.run(tmp_path, "config", "--unset", "core.bare")
    assert list(asked.values()) == [None]
