"""What `outdated` told is told again only where all that it was told from is the same; upstreams are asked each time."""

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import MIT, Project, Result, entry, lock, project
from tests.support.server import Answer, Server, serve
from tests.support.upstream import Repository, repository
from tests.test_startup import marked
from vendor_tool.errors import ExitCode

KERNELS = {"first": "def first(n):\n    return n\n", "second": "import math\n\nHALF = math.pi / 2\n"}
BAD = "known-bad:\n  - {versions: {odd-kernels: '<2'}, reason: NaN}\n"


@dataclass(frozen=True)
class Place:
    """A project with two upstreams behind a server, for which `outdated` was run."""

    project: Project
    server: Server
    upstreams: dict[str, Repository]

    def run(self, *words: str) -> Result:
        """A run, held against one of the same words with the same cache but for answers: it asks the same, once."""
        cache = remembered().parent
        shutil.copytree(cache, cache.with_name("twin"))
        run = self.counted(*words)
        cache.rename(cache.with_name("aside"))
        cache.with_name("twin").rename(cache)
        forget()
        assert run == self.counted(*words)
        shutil.rmtree(cache)
        cache.with_name("aside").rename(cache)
        return run[0]

    def counted(self, *words: str) -> tuple[Result, list[tuple[str, str]]]:
        """How a run ended, and what the server was asked."""
        self.server.requests.clear()
        result = self.project.run("outdated", *words)
        return result, sorted((one.method, one.path) for one in self.server.requests)


def remembered() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "vendor-tool" / "outdated"


def forget() -> None:
    shutil.rmtree(remembered())


def kept() -> dict[str, Any]:
    (path,) = remembered().iterdir()
    found = json.loads(path.read_bytes())
    assert isinstance(found, dict)
    return found


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Place]:
    """The answer is remembered: all that it takes was fetched by the run before."""
    upstreams = {name: repository(tmp_path / "served" / f"{name}.git") for name in KERNELS}
    with serve(tmp_path / "served") as server:
        entries = []
        for name, made in upstreams.items():
            revision = made.commit({"LICENSE": MIT, "pkg/ops/k.py": KERNELS[name], "other.py": "x = 1\n"})
            made.tag("v1", revision)
            entries.append(entry(f"{server.url}/{name}.git", revision, "[k.py]", name=name, to=f"vendored/{name}"))
        consumer = project(tmp_path / "proj", lock(*entries, shims="") + BAD)
        consumer.done("sync", "first@v1", "second")
        for _ in range(2):
            assert consumer.done("outdated").out == "no findings\n"
        assert kept()["out"] == "no findings\n"
        yield Place(consumer, server, upstreams)


# ---- the same answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [[], ["--exit-code"], ["first"], ["--format", "json"], ["--format", "sarif"], ["--format=junit"]], ids=str
)
def test_an_answer_is_told_again_in_every_form_and_upstreams_are_asked_once(told: Place, words: list[str]) -> None:
    result = told.run(*words)
    assert result.code == ExitCode.CLEAN
    for _ in range(2):
        again, asked = told.counted(*words)
        assert again == result
        assert len(asked) == 2 * (1 if "first" in words else 2)


def test_what_is_told_again_needs_no_more_than_what_is_remembered(told: Place) -> None:
    (path,) = remembered().iterdir()
    path.write_text(json.dumps({**kept(), "out": "as remembered\n", "code": 1}))
    assert told.counted()[0] == Result(1, "as remembered\n", "")


def test_an_exit_code_is_told_again(told: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "site", "1.5", monkeypatch)
    for _ in range(3):
        assert told.run("--exit-code").code == ExitCode.FINDINGS
        assert told.project.run("outdated", "--exit-code").code == ExitCode.FINDINGS
        assert told.project.run("outdated").code == ExitCode.CLEAN


# ---- another answer ---------------------------------------------------------------------------------------


def installed(site: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = site / f"odd_kernels-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: odd-kernels\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(site))


def move_elsewhere(place: Place) -> None:
    place.upstreams["first"].commit({"other.py": "x = 2\n"})


def move_ours(place: Place) -> None:
    place.upstreams["second"].commit({"pkg/ops/k.py": "HALF = 2\n"})


def move_the_tag(place: Place) -> None:
    place.upstreams["first"].git(
        "tag", "-f", "v1", place.upstreams["first"].commit({"other.py": "x = 3\n"}, ref="refs/heads/side")
    )


def drop_the_branch(place: Place) -> None:
    place.upstreams["second"].git("update-ref", "-d", "refs/heads/main")


def follow_another_branch(place: Place) -> None:
    place.upstreams["first"].commit({"other.py": "x = 4\n"}, ref="refs/heads/next")
    edit(place, "branch: main", "branch: next")


def move_a_line_of_the_lock(place: Place) -> None:
    edit(place, "upstreams:", "# a remark\nupstreams:")
    move_elsewhere(place)


def warn_of_a_commit(place: Place) -> None:
    pin = place.upstreams["first"].git("rev-parse", "main")
    edit(place, "known-bad:\n", f"known-bad:\n  - {{upstream: first, since: {pin}, reason: NaN}}\n")


def lose_one(place: Place) -> None:
    shutil.rmtree(place.upstreams["second"].path)


def edit(place: Place, old: str, new: str) -> None:
    assert old in place.project.lock
    place.project.write({"vendor.lock.yaml": place.project.lock.replace(old, new, 1)})


CHANGES: list[Callable[[Place], None]] = [
    move_elsewhere,
    move_ours,
    move_the_tag,
    drop_the_branch,
    follow_another_branch,
    move_a_line_of_the_lock,
    warn_of_a_commit,
    lose_one,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_every_change_is_told_as_if_nothing_were_remembered(told: Place, change: Callable[[Place], None]) -> None:
    change(told)
    assert told.run().out != "no findings\n"


def test_an_edited_copy_changes_what_check_says_and_not_what_upstreams_did(told: Place) -> None:
    told.project.write({"vendored/first/k.py": "edited\n"})
    assert told.run().out == "no findings\n"


def test_an_upstream_that_is_lost_is_asked_once_and_the_other_is_told(told: Place) -> None:
    told.server.plain["/second.git/info/refs?service=git-upload-pack"] = Answer(status=403)
    result, asked = told.counted()
    assert result.code == ExitCode.UPSTREAM
    assert [path for _, path in asked if "second" in path] == ["/second.git/info/refs?service=git-upload-pack"]


def test_an_upstream_that_is_busy_is_asked_again(told: Place) -> None:
    told.server.first.append(Answer(status=503))
    assert told.project.done("outdated").out == "no findings\n"


def test_a_distribution_that_comes_or_changes_is_seen(
    told: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "bad", "1.5", monkeypatch)
    assert "`odd-kernels` 1.5 is known to be bad" in told.run().out
    installed(tmp_path / "good", "2.0", monkeypatch)
    assert told.run().out == "no findings\n"


def test_a_runtime_import_that_comes_is_seen_and_then_looked_at_each_time(
    told: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = told.upstreams["first"].git("rev-parse", "main")
    lines = (f"url: {told.server.url}/first.git", "branch: main", f"revision: {pin}", "imports: [pkg.ops.k.first]")
    edit(told, "known-bad:\n", "".join(("  third:\n", *(f"    {line}\n" for line in lines), "known-bad:\n")))
    told.project.done("sync")
    for _ in range(2):
        assert told.run().out == "no findings\n"
    assert kept()["modules"] == ["pkg"]
    package = tmp_path / "site" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert "[import-unclear]" in told.project.done("outdated").out
    forget()
    assert "[import-unclear]" in told.project.done("outdated").out
    assert not remembered().exists()


def test_paths_are_named_from_where_the_repository_begins_now(told: Place, tmp_path: Path) -> None:
    assert json.loads(told.run("--format", "json").out)["lock"] == "vendor.lock.yaml"
    (tmp_path / ".git").mkdir()
    assert json.loads(told.run("--format", "json").out)["lock"] == "proj/vendor.lock.yaml"


def test_another_state_of_the_program_answers_anew(told: Place) -> None:
    (path,) = remembered().iterdir()
    found = kept()
    found["state"][0][0][2] += 1
    path.write_text(json.dumps({**found, "out": "of another program\n"}))
    assert told.counted()[0].out == "no findings\n"


# ---- what is not remembered -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["--output", "report"], ["--also", "json:report"], ["--write-baseline", "base"]], ids=" ".join
)
def test_a_run_that_writes_a_file_writes_it_each_time(told: Place, words: list[str]) -> None:
    forget()
    for _ in range(2):
        told.project.done("outdated", *words)
        (told.project.root / words[1].rpartition(":")[2]).unlink()
    assert not remembered().exists()


def test_a_baseline_is_read_each_time(told: Place) -> None:
    told.project.done("outdated", "--write-baseline", "empty")
    move_elsewhere(told)
    told.project.done("outdated", "--write-baseline", "base")
    for _ in range(2):
        assert told.project.done("outdated", "--baseline", "base").out == "no findings\n"
    told.project.write({"base": told.project.read("empty")})
    assert "[upstream-moved]" in told.project.done("outdated", "--baseline", "base").out


def test_an_answer_that_took_more_than_listings_is_not_remembered(told: Place) -> None:
    forget()
    move_ours(told)
    for _ in range(2):
        told.project.done("outdated")
    assert not remembered().exists()


def test_a_token_of_the_users_routing_is_not_remembered(told: Place) -> None:
    forget()
    host = told.server.url.removeprefix("http://")
    with Path(os.environ["GIT_CONFIG_GLOBAL"]).open("a") as file:
        file.write(f'[url "http://bot:tok3n-SECRET@{host}/"]\n\tinsteadOf = https://nowhere.invalid/\n')
    edit(told, f"http://{host}/first.git", "https://nowhere.invalid/first.git")
    told.project.done("sync")
    for _ in range(2):
        assert told.project.done("outdated").out == "no findings\n"
    urls = {url for _, url, *_ in kept()["listings"]}
    assert urls == {"https://nowhere.invalid/first.git", f"http://{host}/second.git"}
    assert b"SECRET" not in b"".join(path.read_bytes() for path in remembered().iterdir())


def test_an_address_with_a_password_is_refused_and_not_remembered(told: Place) -> None:
    forget()
    edit(told, "http://", "http://bot:tok3n-SECRET@")
    for _ in range(2):
        assert "holds credentials" in told.project.refused(ExitCode.USAGE, "outdated")
    assert not remembered().exists()


# ---- a memory that is none --------------------------------------------------------------------------------


def damaged(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda found: {**found, key: value}


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: [],
        damaged("asked", None),
        damaged("listings", None),
        damaged("listings", [["a"]]),
        damaged("listings", [[1, 2, 3, 4]]),
        damaged("listings", [["../first.git", "http://", [], ""]]),
        damaged("listings", [["first.git", "http://elsewhere.invalid/", [], ""]]),
        damaged("listings", [["first.git", "http://", ["--upload-pack=touch ran"], ""]]),
        damaged("code", 99),
        damaged("code", "no"),
        damaged("modules", 1),
        damaged("distributions", None),
        damaged("state", None),
    ],
)
def test_what_this_program_would_not_have_written_is_no_answer(
    told: Place, damage: Callable[[dict[str, Any]], object]
) -> None:
    (path,) = remembered().iterdir()
    path.write_text(json.dumps(damage({**kept(), "out": "forged\n"})))
    assert told.run() == Result(0, "no findings\n", "")


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_memory_that_was_cut_is_no_answer(told: Place, size: int) -> None:
    (path,) = remembered().iterdir()
    path.write_bytes(path.read_bytes()[:size])
    assert told.run() == Result(0, "no findings\n", "")


def test_a_memory_that_is_nested_too_deeply_is_no_answer(told: Place) -> None:
    (path,) = remembered().iterdir()
    path.write_text("[" * 200_000)
    assert told.run() == Result(0, "no findings\n", "")


@pytest.mark.parametrize("command", ["outdated", "check", "audit"])
def test_a_closed_stdout_is_told(told: Place, command: str) -> None:
    path = str(Path(__file__).parent.parent.parent)
    line = f"exec {sys.executable} -m vendor_tool {command} >&-"
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(
        ["sh", "-c", line], cwd=told.project.root, env=environment, check=False, stderr=subprocess.PIPE
    )
    assert (ended.returncode, ended.stderr.decode().splitlines()[0]) == (2, "error: stdout is closed")


def test_a_cache_that_cannot_be_written_is_no_failure(told: Place) -> None:
    forget()
    remembered().write_bytes(b"in the way")
    for _ in range(2):
        assert told.project.done("outdated").out == "no findings\n"


def test_stores_that_were_deleted_are_made_again(told: Place) -> None:
    shutil.rmtree(remembered().parent / "git")
    assert told.project.done("outdated").out == "no findings\n"


# ---- an end before the end --------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")
def test_an_interrupt_ends_the_questions_too(told: Place, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    os.mkfifo(tmp_path / "started")
    os.mkfifo(tmp_path / "never")
    git.write_text(f"#!/bin/sh\necho > '{tmp_path}/started'\nread line < '{tmp_path}/never'\n")
    git.chmod(0o755)
    env = {**os.environ, "VENDOR_TOOL_MARK": mark, "PATH": f"{git.parent}:{os.environ['PATH']}"}
    env["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "vendor_tool", "outdated"]
    started = os.open(tmp_path / "started", os.O_RDWR)
    with subprocess.Popen(command, cwd=told.project.root, env=env, stderr=subprocess.PIPE, text=True) as process:
        for _ in KERNELS:
            assert os.read(started, 1) == b"\n"
        while Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0] != "S":
            pass  # it has not come to waiting for them
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1].startswith("error: interrupted\n")
    os.close(started)
    assert process.returncode == ExitCode.INTERRUPTED
    assert marked(mark) == []
