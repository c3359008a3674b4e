"""`diff` shows what rules and patches do to upstream's files, and what another revision brings, as git would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stories.series import K, V, consumer_of, kernel, patched, upstream_at
from tests.support.project import Project, entry, lock, project
from tests.support.trees import check_out, git, tree
from tests.support.upstream import Repository
from vendor_tool.errors import ExitCode

HEAD = "# Vendored here\n\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return upstream_at(tmp_path / "up.git")


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = consumer_of(tmp_path / "proj", upstream, more="transforms: [header: {text: Vendored here}]")
    patched(made, HEAD + kernel(5))
    return made


def hunks(text: str) -> list[str]:
    """The changed lines of a diff."""
    return [line for line in text.split("\n") if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]


def test_by_default_it_shows_all_that_stands_between_upstreams_bytes_and_ours(consumer: Project) -> None:
    before = consumer.tree()
    shown = hunks(consumer.done("diff", "demo").out)
    assert [line for line in shown if line.strip("+-")] == [
        "+# Vendored here",
        "-    return x + 5",
        "+    return x + 5  # ours",
        "+# Vendored here",
    ]
    assert consumer.tree() == before


def test_from_plain_it_shows_the_patches_alone(consumer: Project) -> None:
    assert hunks(consumer.done("diff", "demo", "--state", "plain").out) == [
        "-    return x + 5",
        "+    return x + 5  # ours",
    ]


def test_from_final_it_shows_the_edits_that_no_patch_holds(consumer: Project) -> None:
    assert consumer.done("diff", "demo", "--state", "final").out == ""
    consumer.write({V: HEAD + kernel(5, 20)})
    assert hunks(consumer.done("diff", "demo", "--state", "final").out) == [
        "-    return x + 20",
        "+    return x + 20  # ours",
    ]


@pytest.mark.parametrize(
    ("state", "first"),
    [((), HEAD), (("--state", "plain"), HEAD), (("--state", "pristine"), "")],
)
def test_two_revisions_are_compared_in_one_state(
    consumer: Project, upstream: Repository, tmp_path: Path, state: tuple[str, ...], first: str
) -> None:
    later = upstream.commit({K: kernel(20, word="theirs")})
    shown = consumer.done("diff", "demo", "--to", "newest", *state).out
    assert (
        shown
        == consumer.done("diff", "demo", "--from", consumer.lock.split("revision: ")[1][:40], "--to", later, *state).out
    )
    check_out(tree({V: first + kernel()}), tmp_path / "checked")
    git(tmp_path / "checked", "apply", stdin=shown.encode())
    assert (tmp_path / "checked" / V).read_text() == first + kernel(20, word="theirs")


def test_final_at_another_revision_carries_the_series_over_or_says_that_it_conflicts(
    consumer: Project, upstream: Repository
) -> None:
    upstream.commit({K: kernel(20, word="theirs")})
    assert hunks(consumer.done("diff", "demo", "--to", "main", "--state", "final").out) == [
        "-    return x + 20",
        "+    return x + 20  # theirs",
    ]
    upstream.commit({K: kernel(5, word="theirs")})
    assert "conflicts at" in consumer.refused(ExitCode.CONFLICT, "diff", "demo", "--to", "main", "--state", "final")


def test_files_that_are_no_text_are_named_and_bytes_come_as_they_are(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.commit({"pkg/ops/a.bin": b"\0a", "pkg/ops/l.txt": b"caf\xe9\n"})
    consumer = project(tmp_path / "bin", lock(entry(upstream.url, pin, "[a.bin, l.txt]"), shims=""))
    consumer.done("sync")
    later = upstream.commit({"pkg/ops/a.bin": b"\0b", "pkg/ops/l.txt": b"th\xe9\n"})
    command = [sys.executable, "-m", "vendor_tool", "diff", "demo", "--to", later, "--state", "pristine"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    shown = subprocess.run(command, cwd=consumer.root, env=env, check=True, stdout=subprocess.PIPE).stdout
    assert shown == (
        b"diff --git a/vendored/demo/l.txt b/vendored/demo/l.txt\n--- a/vendored/demo/l.txt\n+++ b/vendored/demo/l.txt\n"
        b"@@ -1 +1 @@\n-caf\xe9\n+th\xe9\nBinary files a/vendored/demo/a.bin and b/vendored/demo/a.bin differ\n"
    )


def test_an_upstream_that_is_not_in_the_lock_is_named(consumer: Project) -> None:
    assert "no upstream `dmo`" in consumer.refused(ExitCode.USAGE, "diff", "dmo")
