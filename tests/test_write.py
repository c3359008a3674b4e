"""Writing is all or nothing: a refusal, a full disk and a kill at any moment leave the tree as before or as after."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vendor_tool import write
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.model import Blob

BEFORE = {
    "lock": b"old lock",
    "v/a.py": b"a = 1\n",
    "v/b.py": b"b = 1\n",
    "v/sub/gone.py": b"gone\n",
    "own.txt": b"own",
}
CHANGES = {
    "v/a.py": Blob(b"a = 2\n"),
    "v/new/deep.py": Blob(b"deep\n", executable=True),
    "v/sub/gone.py": None,
    "v/b.py": Blob(b"b = 2\n"),
}
AFTER = {"lock": b"new lock", "v/a.py": b"a = 2\n", "v/b.py": b"b = 2\n", "v/new/deep.py": b"deep\n", "own.txt": b"own"}
LAST = ("lock", b"new lock")


def make(root: Path) -> None:
    for path, data in BEFORE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def tree(root: Path) -> dict[str, bytes]:
    """Every file but those of the tool's own folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith(".vendor-tool"):
            found[name] = path.read_bytes()
    return found


def test_everything_is_written_and_nothing_else(tmp_path: Path) -> None:
    make(tmp_path)
    with write.exclusive(tmp_path):
        write.commit(tmp_path, CHANGES, LAST)
    assert tree(tmp_path) == AFTER
    assert os.access(tmp_path / "v/new/deep.py", os.X_OK)
    assert not os.access(tmp_path / "v/a.py", os.X_OK)
    assert not (tmp_path / "v/sub").exists()
    assert not (tmp_path / ".vendor-tool").exists()


# an audit hook sees every open, rename, link, unlink and mkdir before it happens
KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {repository!r})
from vendor_tool import write
from tests.test_write import CHANGES, LAST
root, left = Path({root!r}), [{number}]
def hook(event, args):
    if event in ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir") and {root!r} in str(args[0]):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
with write.exclusive(root):
    sys.addaudithook(hook)
    write.commit(root, CHANGES, LAST)
"""


def test_a_kill_at_any_step_leaves_before_or_after_once_the_next_run_began(tmp_path: Path) -> None:
    repository = str(Path(__file__).parent.parent)
    ends = []
    for number in range(1, 200):
        root = tmp_path / str(number)
        make(root)
        script = KILLED.format(repository=repository, root=str(root), number=number)
        done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        with write.exclusive(root):
            assert not write.pending(root)
        found = tree(root)
        assert found in (BEFORE, AFTER)
        ends.append(found == AFTER)
        assert not (root / ".vendor-tool").exists()
    assert ends == sorted(ends), "once a kill no longer undoes the run, no later one may"
    assert True in ends
    assert False in ends
    assert number > 15


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_failure_at_any_swap_puts_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    make(tmp_path)
    swaps: list[str] = []

    def failing(source: str | Path, target: str | Path) -> None:
        if Path(source).name.startswith("new-"):
            swaps.append(str(target))
            if len(swaps) == number:
                raise OSError(28, "No space left on device")
        os.rename(source, target)  # noqa: PTH104

    monkeypatch.setattr(os, "replace", failing)
    with write.exclusive(tmp_path), pytest.raises(UsageError, match="No space left on device"):
        write.commit(tmp_path, CHANGES, LAST)
    assert len(swaps) == number
    assert tree(tmp_path) == BEFORE
    assert not (tmp_path / "v/new").exists()


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    script = f"""
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from vendor_tool import write
from vendor_tool.model import Blob
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
with write.exclusive(Path({str(tmp_path)!r})):
    write.commit(Path({str(tmp_path)!r}), {{"v/a.py": Blob(b"2"), "v/b.py": Blob(b"x" * 10000)}}, ("lock", b"new"))
"""
    make(tmp_path)
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert "UsageError: cannot write" in done.stderr
    assert tree(tmp_path) == BEFORE
    assert not (tmp_path / ".vendor-tool").exists()


def test_a_folder_that_refuses_is_found_before_anything_is_swapped(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*command, "true"], check=False, capture_output=True).returncode:
            pytest.skip("root, and `setpriv` cannot give that up here")
    else:
        command = []
    make(tmp_path)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o777)
    (tmp_path / "v/sub").chmod(0o555)
    (tmp_path / "v").chmod(0o777)
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\nfrom pathlib import Path\n"
        "from vendor_tool import write\nfrom tests.test_write import CHANGES, LAST\n"
        f"root = Path({str(tmp_path)!r})\nwith write.exclusive(root): write.commit(root, CHANGES, LAST)\n"
    )
    done = subprocess.run([*command, sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "UsageError: cannot write" in done.stderr or "PermissionError" in done.stderr
    assert tree(tmp_path) == BEFORE


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("v/folder.py", "a folder stands there"),
        ("v/link.py", "a symbolic link or a device stands there"),
        ("linked/a.py", "`linked` is a symbolic link"),
        ("own.txt/a.py", "`own.txt` is not a folder"),
    ],
)
def test_what_is_no_plain_way_to_a_plain_file_is_refused(tmp_path: Path, path: str, message: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    make(root)
    (root / "v/folder.py").mkdir()
    (root / "v/folder.py/keep").write_bytes(b"keep")
    (root / "v/link.py").symlink_to(root / "own.txt")
    (root / "linked").symlink_to(outside)
    before = tree(root)
    with write.exclusive(root), pytest.raises(ContentError, match=message):
        write.commit(root, {"v/a.py": Blob(b"2"), path: Blob(b"3")}, LAST)
    assert tree(root) == before
    assert list(outside.iterdir()) == []


def test_a_read_only_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "v/a.py").chmod(0o444)
    with write.exclusive(tmp_path):
        write.commit(tmp_path, CHANGES, LAST)
    assert tree(tmp_path) == AFTER


def test_many_files_are_all_or_nothing_too(tmp_path: Path) -> None:
    many = {f"v/{n}.py": Blob(str(n).encode()) for n in range(write.FSYNC_EACH + 50)}
    with write.exclusive(tmp_path):
        write.commit(tmp_path, many)
    assert tree(tmp_path) == {path: blob.data for path, blob in sorted(many.items())}


def test_a_second_run_waits_for_the_first(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from pathlib import Path
from vendor_tool import write
from vendor_tool.model import Blob
for n in range(20):
    with write.exclusive(Path({str(tmp_path)!r})):
        log = Path({str(tmp_path)!r}) / "log"
        text = log.read_bytes() if log.exists() else b""
        write.commit(log.parent, {{"log": Blob(text + b"x")}})
"""
    runs = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE) for _ in range(3)]
    said = [one.communicate()[1].decode() for one in runs]
    assert [one.returncode for one in runs] == [0, 0, 0], said
    assert (tmp_path / "log").read_bytes() == b"x" * 60


@pytest.mark.parametrize(
    "journal",
    [
        b"{",
        b"[]",
        b'{"plan": [1]}',
        b'{"version": 1, "plan": [{"path": "../evil", "number": 0, "new": true, "old": false}]}',
        b'{"version": 1, "stage": [1, 2], "plan": [{"path": "own.txt", "number": 0, "new": true, "old": false}]}',
    ],
)
def test_a_journal_that_no_run_here_wrote_is_told_and_kept(tmp_path: Path, journal: bytes) -> None:
    root = tmp_path / "root"
    make(root)
    (root / ".vendor-tool/stage").mkdir(parents=True)
    (root / ".vendor-tool/stage/new-0").write_bytes(b"evil")
    (root / ".vendor-tool/journal.json").write_bytes(journal)
    with pytest.raises(UsageError, match="was not written by a run in this folder"), write.exclusive(root):
        pass
    assert (root / ".vendor-tool/journal.json").read_bytes() == journal
    assert tree(root) == BEFORE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]


def test_an_interrupt_during_the_swap_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path)
    swaps: list[str] = []

    def interrupted(source: str | Path, target: str | Path) -> None:
        if Path(source).name.startswith("new-"):
            swaps.append(str(target))
            if len(swaps) == 3:
                raise KeyboardInterrupt
        os.rename(source, target)  # noqa: PTH104

    monkeypatch.setattr(os, "replace", interrupted)
    with write.exclusive(tmp_path), pytest.raises(KeyboardInterrupt):
        write.commit(tmp_path, CHANGES, LAST)
    assert tree(tmp_path) == BEFORE
    assert not write.pending(tmp_path)
