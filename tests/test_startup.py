"""What a command costs where no clock is needed to tell: what it loads, what it starts, what it asks upstreams for."""

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.server import Server, serve
from tests.support.upstream import Repository, repository

HEAVY = ("git", "libcst", "requests", "rich", "yaml", "torch")
# of Python's own: each costs as much as all that a small command does
LARGE = ("concurrent.futures", "logging", "importlib.metadata", "email", "dataclasses", "inspect")
VALUES = ("dataclasses", "vendor_tool.model", "vendor_tool.lockfile", "vendor_tool.documents")
FILES = {"LICENSE": MIT, **{f"pkg/ops/k{n}.py": f"import tilelang\n\nN = {n}\n" for n in range(6)}}
WATCHED = """\
import os, sys
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "socket.connect"}
sys.addaudithook(lambda event, _: event in STARTS and os.write(2, f"started: {event}\\n".encode()))
from vendor_tool.cli import main
sys.exit(main())
"""


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "served" / "up.git")
    made.commit(FILES)
    return made


@pytest.fixture
def server(upstream: Repository) -> Iterator[Server]:
    with serve(upstream.path.parent) as running:
        yield running


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository, server: Server) -> Project:
    made = entry(f"{server.url}/up.git", upstream.git("rev-parse", "main"), '["*.py"]')
    return project(tmp_path / "proj", lock(made))


@pytest.fixture
def synced(consumer: Project) -> Project:
    """Synced, and with the parsed copy of the finished lock in the cache."""
    consumer.done("sync")
    consumer.done("check")
    return consumer


def python(consumer: Project, *arguments: str) -> "subprocess.CompletedProcess[str]":
    path = str(Path(__file__).parent.parent)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=consumer.root,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )


def loaded(consumer: Project, *arguments: str, code: int = 0) -> set[str]:
    """The modules that a command loads."""
    result = python(consumer, "-X", "importtime", "-m", "vendor_tool", *arguments)
    assert result.returncode == code, result.stderr + result.stdout
    return {line.rpartition("|")[2].strip() for line in result.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_load_neither_heavy_packages_nor_values(consumer: Project, word: str) -> None:
    assert loaded(consumer, word).isdisjoint({*HEAVY, *VALUES})


@pytest.mark.parametrize("word", ["check", "sync"])
def test_where_nothing_is_to_be_done_no_heavy_package_is_loaded(synced: Project, word: str) -> None:
    assert loaded(synced, word).isdisjoint(HEAVY)


@pytest.mark.parametrize("word", ["check", "sync"])
def test_where_nothing_has_changed_since_not_even_the_lock_is_read_as_values(synced: Project, word: str) -> None:
    synced.done(word)
    assert loaded(synced, word).isdisjoint({*HEAVY, *VALUES})


def test_a_cold_sync_loads_of_the_heavy_packages_only_the_reader_of_the_lock(consumer: Project) -> None:
    found = loaded(consumer, "sync")
    assert found & {*HEAVY} == {"yaml"}
    assert found.isdisjoint({*LARGE, "licenseclassifier"})


def test_a_sync_by_the_record_loads_neither_heavy_packages_nor_what_reads_licences(synced: Project) -> None:
    shutil.rmtree(synced.root / "vendored")
    found = loaded(synced, "sync")
    assert found.isdisjoint({*HEAVY, *LARGE, "licenseclassifier"})


@pytest.mark.parametrize("change", [{}, {"README.md": "news\n"}], ids=["nothing", "another file"])
def test_outdated_loads_no_heavy_package_where_nothing_of_ours_changed(
    tmp_path: Path, upstream: Repository, server: Server, change: dict[str, str]
) -> None:
    revision = upstream.git("rev-parse", "main")
    entries = [
        entry(f"{server.url}/up.git", revision, f"[k{n}.py]", name=f"up{n}", to=f"vendored/up{n}") for n in range(2)
    ]
    synced = project(tmp_path / "proj", lock(*entries))
    synced.done("sync")
    if change:
        upstream.commit(change)
    synced.done("outdated")
    assert loaded(synced, "outdated").isdisjoint({*HEAVY, *LARGE, "tempfile", "shutil", "vendor_tool.documents"})


def test_outdated_in_the_same_words_asks_before_the_words_are_even_read(synced: Project) -> None:
    for _ in range(2):
        assert synced.child("outdated").stdout == "no findings\n"
    found = loaded(synced, "outdated")
    assert found.isdisjoint({*HEAVY, *LARGE, *VALUES, "argparse", "pathlib", "hashlib", "vendor_tool.cli.arguments"})
    assert "vendor_tool.pipeline.again" in found


@pytest.mark.parametrize("before", [1, 2, 3])
@pytest.mark.parametrize("change", [{}, {"README.md": "news\n"}], ids=["nothing", "another file"])
def test_outdated_starts_one_git_for_each_upstream_where_nothing_of_ours_changed(
    synced: Project, upstream: Repository, server: Server, before: int, change: dict[str, str]
) -> None:
    if change:
        upstream.commit(change)
    for _ in range(before):
        synced.done("outdated")
    server.requests.clear()
    result = python(synced, "-c", WATCHED, "outdated")
    assert result.returncode == 0
    assert result.stderr.count("started: subprocess.Popen\n") == 1
    assert sum(b"command=ls-refs" in request.body for request in server.requests) == 1


def test_a_check_with_findings_loads_no_heavy_package(synced: Project) -> None:
    synced.write({"vendored/demo/k0.py": b"edited\n"})
    assert loaded(synced, "check", code=1).isdisjoint(HEAVY)


@pytest.mark.parametrize("word", ["check", "sync"])
@pytest.mark.parametrize("before", [0, 1])
def test_where_nothing_is_to_be_done_no_process_and_no_connection_is_started(
    synced: Project, server: Server, word: str, before: int
) -> None:
    for _ in range(before):
        synced.done(word)
    server.requests.clear()
    result = python(synced, "-c", WATCHED, word)
    assert result.returncode == 0
    assert "started:" not in result.stderr
    assert server.requests == []


def test_the_watch_for_processes_sees_those_of_a_cold_sync(consumer: Project) -> None:
    assert "started: subprocess.Popen" in python(consumer, "-c", WATCHED, "sync").stderr


def test_a_cold_sync_asks_for_one_listing_and_one_batch_of_blobs(consumer: Project, server: Server) -> None:
    assert consumer.child("sync").returncode == 0
    assert len(server.requests) == 4
    assert not any(b"command=ls-refs" in request.body for request in server.requests)


def test_a_locked_sync_asks_for_the_blobs_alone_and_takes_half_the_bytes(consumer: Project, server: Server) -> None:
    assert consumer.child("sync").returncode == 0
    cold = server.sent
    server.requests.clear()
    shutil.rmtree(consumer.root / "vendored")
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "git")
    assert consumer.child("sync").returncode == 0
    assert len(server.requests) == 2
    assert server.sent < cold


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")
def test_no_process_is_left_behind(consumer: Project) -> None:
    mark = uuid.uuid4().hex
    assert consumer.child("sync", VENDOR_TOOL_MARK=mark).returncode == 0
    assert marked(mark) == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")
def test_the_search_for_processes_left_behind_finds_one() -> None:
    mark = uuid.uuid4().hex
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={**os.environ, "VENDOR_TOOL_MARK": mark}) as process:
        assert marked(mark) == [process.pid]


def marked(mark: str) -> list[int]:
    """Processes whose environment holds the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:  # ended meanwhile, or somebody else's
            continue
    return found
