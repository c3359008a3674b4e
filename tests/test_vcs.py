"""Git as a child: its surroundings, its end, and merges byte for byte."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vendor_tool import vcs
from vendor_tool.errors import UsageError

LABELS = ("base", "ours", "theirs")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
        (b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n", b"a\r\nb\r\nC\r\n", b"A\r\nb\r\nC\r\n"),
        (b"a\nb\nc", b"A\nb\nc", b"a\nb\nc", b"A\nb\nc"),
        (b"a\nb\nc", b"a\nb\nc", b"a\nb\nc\n\n", b"a\nb\nc\n\n"),
        (b"caf\xe9\nb\n", b"caf\xe9\nB\n", b"caf\xe9\nb\n", b"caf\xe9\nB\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\nb\n"),
        (b"", b"", b"new\n", b"new\n"),
        (b"a\rb\n", b"a\rb\n", b"a\rB\n", b"a\rB\n"),
    ],
    ids=["lines", "crlf", "no newline", "newlines added", "latin-1", "bom", "empty", "lone cr"],
)
def test_a_merge_without_conflict_keeps_bytes(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> None:
    assert vcs.merge_file(base, ours, theirs, LABELS) == (merged, 0)


def test_conflicts_are_counted_and_show_all_three_sides() -> None:
    far = b"".join(b"%d\n" % number for number in range(10))
    merged, conflicts = vcs.merge_file(b"a\n" + far + b"z\n", b"b\n" + far + b"y\n", b"c\n" + far + b"x\n", LABELS)
    assert conflicts == 2
    assert merged == (
        b"<<<<<<< ours\nb\n||||||| base\na\n=======\nc\n>>>>>>> theirs\n"
        + far
        + b"<<<<<<< ours\ny\n||||||| base\nz\n=======\nx\n>>>>>>> theirs\n"
    )


def test_markers_have_the_line_ends_of_the_file_and_labels_may_look_like_options() -> None:
    merged, conflicts = vcs.merge_file(b"a\r\n", b"b\r\n", b"c\r\n", ("-base", "--ours", "-L"))
    assert (merged, conflicts) == (
        b"<<<<<<< --ours\r\nb\r\n||||||| -base\r\na\r\n=======\r\nc\r\n>>>>>>> -L\r\n",
        1,
    )


def test_more_conflicts_than_a_status_holds_are_no_failure() -> None:
    def text(letter: str) -> bytes:
        return "".join(f"{letter}\n" + "".join(f"{n} {m}\n" for m in range(9)) for n in range(200)).encode()

    merged, conflicts = vcs.merge_file(text("a"), text("b"), text("c"), LABELS)
    assert merged.count(b"<<<<<<< ours\n") == 200
    assert conflicts == 127


def test_binary_sides_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        vcs.merge_file(b"\0a", b"\0b", b"\0c", LABELS)
    assert caught.value.message == "`ours` and `theirs` cannot be merged: error: Cannot merge binary files: ours"
    assert caught.value.hint == "merge the two files by hand, or take one of them whole"


def test_a_repository_around_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    vcs.run(tmp_path, "init", "-q", ".")
    (tmp_path / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n")
    assert vcs.merge_file(b"a\n", b"b\n", b"a\n", LABELS) == (b"b\n", 0)


def test_missing_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="`git` was not found") as caught:
        vcs.run(tmp_path, "version")
    assert caught.value.hint == "install git 2.36 or newer and put it on the `PATH`"


def test_missing_git_is_told_inside_a_hook_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "elsewhere")
    (tmp_path / "env").symlink_to(shutil.which("env") or "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="`git` was not found"):
        vcs.run(tmp_path, "version")


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


def test_an_interrupt_ends_the_commands_of_other_threads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "started")
    script = f"!echo > '{tmp_path}/started'; cat '{tmp_path}/pipe'"
    with ThreadPoolExecutor() as pool:
        stuck = pool.submit(vcs.run, tmp_path, "stuck", config=[("alias.stuck", script)])
        (tmp_path / "started").read_text()
        with pytest.raises(KeyboardInterrupt), vcs.interruptible():
            raise KeyboardInterrupt
        assert isinstance(stuck.exception(), KeyboardInterrupt)
        assert isinstance(pool.submit(vcs.run, tmp_path, "version").exception(), KeyboardInterrupt)
        assert vcs.run(tmp_path, "version").status == 0
        with vcs.interruptible():
            assert pool.submit(vcs.run, tmp_path, "version").result().status == 0
