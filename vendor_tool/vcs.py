"""Git as a child process, cut off from the repository and the settings around it.

Sole home of GitPython, which costs more to load than most commands take: only where nobody waits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from vendor_tool.errors import UsageError
from vendor_tool.remote import Command
from vendor_tool.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:  # a command that is only asked again loads neither `typing` nor `pathlib`
    from datetime import datetime
    from pathlib import Path
    from typing import IO, Final, TypeVar

    from git.types import Lit_config_levels as Levels

    Item = TypeVar("Item")
    Made = TypeVar("Made")

WORKERS: Final = 8  # upstreams that are asked at the same time
PROTOCOLS: Final = ("file", "git", "http", "https", "ssh")

# A hook's `GIT_DIR`, `GIT_INDEX_FILE` and the like would send our commands to the consumer's repository, so only the
# variables that say how to reach an upstream pass (2389-research/tracker#399).
_ROUTING: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_TRACE"),
    *("GIT_SSH", "GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_", "GIT_CURL_"),
)

# Settings of a user that would change what we get, run code, or start work in the background.
_NEUTRAL: Final = (
    ("core.hooksPath", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.commitGraph", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.prune", "false"),
    ("fetch.pruneTags", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("fetch.all", "false"),
    ("log.showSignature", "false"),
    ("log.follow", "false"),
    ("log.mailmap", "false"),
    ("i18n.logOutputEncoding", "UTF-8"),
)

_running: set[subprocess.Popen[bytes]] = set()
_stopped = threading.Event()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a git command ended; `status` is negative where a signal ended it, None where time ran out."""

    status: int | None
    out: bytes
    err: str


_told: Mapping[Command, Ran] = {}
_asked: dict[Command, Ran | None] | None = None


@contextmanager
def watched(told: Mapping[Command, Ran]) -> Iterator[Mapping[Command, Ran | None]]:
    """Every command of the block, with its answer where that was waited for and is one; one block at a time.

    What was `told` before is not asked again.
    """
    global _told, _asked
    _told, _asked = told, {}
    try:
        yield _asked
    finally:
        _told, _asked = {}, None


def run(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    config: Sequence[tuple[str, str]] = (),
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
    keep: Sequence[int] = (),
) -> Ran:
    """Run git in `folder` to its end and give back status, output and messages. UsageError where git is missing.

    `config` holds for this command only and is seen by nobody else: it travels in the environment. After `timeout`
    seconds the command and its children are killed. `keep` are file descriptors that the command inherits.
    """
    command = Command(folder.name, arguments, tuple(config))
    known = _told.get(command) if not (stdin or variables) else None
    if known is None:
        with _started(folder, arguments, stdin, _environment(config, variables or {}), keep) as process:
            known = finish(process, timeout)
    # what answered otherwise when it was asked again has no one answer
    if _asked is not None and _asked.setdefault(command, known) != known:
        _asked[command] = None
    return known


def finish(process: subprocess.Popen[bytes], timeout: float | None = None) -> Ran:
    """How a command of `start` ends; it is killed, with its children, after `timeout` seconds."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill(process)
        out, err = process.communicate()
        return Ran(None, out, err.decode("utf-8", "replace"))
    pause(0)
    return Ran(process.returncode, out, err.decode("utf-8", "replace"))


@contextmanager
def start(
    folder: Path | str,
    *arguments: str,
    stdin: bytes = b"",
    config: Sequence[tuple[str, str]] = (),
    variables: Mapping[str, str] | None = None,
    keep: Sequence[int] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """A running git, to read its output piece by piece; it is dead and reaped when the block is left."""
    if _asked is not None:
        _asked[Command(os.path.basename(folder), arguments, tuple(config))] = None  # noqa: PTH119 - loads nothing
    with _started(folder, arguments, stdin, _environment(config, variables or {}), keep) as process:
        yield process


@contextmanager
def _started(
    folder: Path | str, arguments: Sequence[str], stdin: bytes, variables: Mapping[str, str], keep: Sequence[int]
) -> Iterator[subprocess.Popen[bytes]]:
    with _file(stdin) as given:
        pause(0)
        process = _popen(folder, arguments, given, variables, keep)
        _running.add(process)
        try:
            yield process
        finally:
            _running.discard(process)
            _kill(process)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()


@contextmanager
def _file(data: bytes) -> Iterator[IO[bytes] | None]:
    """A file to read the data from; none where there are none."""
    if not data:
        yield None
        return
    import tempfile  # what starts without input need not wait for it

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def side_by_side(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """What `work` makes of each item, several at a time, in the order of the items. Only from the main thread.

    All are worked on to their end; then the failure of the first that failed is raised. Ctrl-C ends their git commands
    too, which are no part of the terminal.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    # not the library's pool: it loads as much as a small command costs
    slots, ended = threading.Semaphore(WORKERS), threading.Condition()
    made: dict[int, Made] = {}
    failed: dict[int, BaseException] = {}

    def one(number: int, item: Item) -> None:
        with slots:
            try:
                made[number] = work(item)
            except BaseException as problem:  # noqa: BLE001  raised below, by the thread that waits for it
                failed[number] = problem
        with ended:
            ended.notify()

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(items)]

    def wait() -> None:
        # not by `join`, which an interrupt makes believe that the thread has ended
        with ended:
            ended.wait_for(lambda: len(made) + len(failed) == sum(thread.ident is not None for thread in threads))

    with _interruptible(wait):
        for thread in threads:
            thread.start()
        wait()
    if failed:
        raise failed[min(failed)]
    return [made[number] for number in range(len(items))]


@contextmanager
def _interruptible(wait: Callable[[], None]) -> Iterator[None]:
    """While other threads run git: Ctrl-C in this one ends their commands, then waits for the threads."""
    _stopped.clear()
    try:
        yield
    except KeyboardInterrupt:
        _stopped.set()
        for process in tuple(_running):
            _kill(process)
        wait()
        raise


def pause(seconds: float) -> None:
    """Wait. KeyboardInterrupt in a thread whose work was interrupted, see `side_by_side`."""
    if threading.current_thread() is threading.main_thread():
        time.sleep(seconds)  # Ctrl-C comes here by itself
    elif _stopped.wait(seconds):
        raise KeyboardInterrupt


def commit(folder: Path, message: str, *, author: str, email: str, date: datetime) -> str:
    """Record every file of a repository's folder as its next commit; the commit's id. Not while other threads run.

    GitPython writes the objects itself: no hook, filter or setting has a part in them, so that they are the same on
    every machine.
    """
    with _nothing_foreign():
        # without this, importing GitPython fails where no git is installed
        os.environ["GIT_PYTHON_REFRESH"] = "quiet"
        import git

        class Repository(git.Repo):
            def config_reader(self, config_level: Levels | None = "repository") -> git.GitConfigParser:
                return super().config_reader(config_level)

        who = git.Actor(author, email)
        with Repository(folder) as repository:
            files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
            repository.index.add([str(path) for path in files if path.parts[0] != ".git"])
            made = repository.index.commit(
                message, author=who, committer=who, author_date=date, commit_date=date, skip_hooks=True, head=False
            )
            repository.head.commit = made
            return made.hexsha


@contextmanager
def _nothing_foreign() -> Iterator[None]:
    """GitPython reads the environment itself: a hook's objects would be written into the consumer's repository."""
    taken = {name: os.environ.pop(name) for name in tuple(os.environ) if _foreign(name)}
    try:
        yield
    finally:
        os.environ.update(taken)


def _popen(
    folder: Path | str,
    arguments: Sequence[str],
    stdin: IO[bytes] | None,
    variables: Mapping[str, str],
    keep: Sequence[int],
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["git", *arguments],
            cwd=folder,
            env={**{name: value for name, value in os.environ.items() if not _foreign(name)}, **variables},
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # no terminal to ask on, and one group to kill: git leaves its transport helpers behind
            start_new_session=True,
            pass_fds=tuple(keep),
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        if error.filename != "git":  # but the folder
            raise
        raise UsageError("`git` was not found", hint="install git 2.36 or newer and put it on the `PATH`") from None


def _foreign(name: str) -> bool:
    return name.startswith("GIT_") and not name.startswith(_ROUTING)


def _environment(config: Sequence[tuple[str, str]], variables: Mapping[str, str]) -> dict[str, str]:
    opened = os.environ.get("GIT_ALLOW_PROTOCOL")
    allowed = [name for name in PROTOCOLS if opened is None or name in opened.split(":")]
    entries = (*_NEUTRAL, *config)
    environment = {
        "LANGUAGE": "C",
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
        "GIT_ALLOW_PROTOCOL": ":".join(allowed),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(entries)),
    }
    for number, (key, value) in enumerate(entries):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**environment, **variables}


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
