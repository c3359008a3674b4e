"""`sync NAME@TAG` holds the entry to the tag's commit, and `outdated` watches whether the tag stays there."""

import json
import re
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.server import serve
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "def fwd(n):\n    return n + 1\n"
PATCH = """\
Description: start higher
Author: Ada Example <ada@example.invalid>
Forwarded: not-needed
---
diff --git a/vendored/demo/fwd.py b/vendored/demo/fwd.py
--- a/vendored/demo/fwd.py
+++ b/vendored/demo/fwd.py
@@ -1,2 +1,2 @@
 def fwd(n):
-    return n + 1
+    return n + 7
"""


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": FWD})
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = project(
        tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    made.done("sync")
    return made


def tag(consumer: Project) -> str | None:
    found = re.search(r"^      tag: (.*)$", consumer.lock, re.MULTILINE)
    return found[1] if found else None


def moved(consumer: Project) -> dict[str, str] | None:
    findings = json.loads(consumer.run("outdated", "--format", "json").out)["findings"]
    return next((one for one in findings if one["rule"] == "tag-moved"), None)


@pytest.mark.parametrize("annotated", [True, False])
def test_an_upgrade_to_a_tag_records_commit_and_tag(consumer: Project, upstream: Repository, annotated: bool) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD + "# more\n"})
    upstream.tag("v1.2", newest, annotated=annotated)
    consumer.done("sync", "demo@v1.2")
    assert (tag(consumer), consumer.lock.count(f"revision: {newest}\n")) == ("v1.2", 2)
    assert consumer.done("sync").err.startswith("nothing to do: ")
    assert consumer.done("check").out == "no findings\n"
    assert moved(consumer) is None


def test_a_tag_at_the_locked_commit_is_recorded_without_touching_a_file(
    consumer: Project, upstream: Repository
) -> None:
    pin = upstream.git("rev-parse", "main")
    upstream.tag("v1", pin)
    before = consumer.tree("vendored")
    assert consumer.done("sync", "demo@v1").err.splitlines()[0] == f"demo: `{pin[:12]}` recorded as tag `v1`"
    assert (tag(consumer), consumer.tree("vendored")) == ("v1", before)


@pytest.mark.parametrize("name", ["{pin}", "{short}", "main"])
def test_the_same_commit_by_its_id_or_a_branch_drops_the_tag(
    consumer: Project, upstream: Repository, name: str
) -> None:
    pin = upstream.git("rev-parse", "main")
    start = consumer.lock
    upstream.tag("v1", pin)
    consumer.done("sync", "demo@v1")
    said = consumer.done("sync", "demo@" + name.format(pin=pin, short=pin[:12])).err
    assert said.splitlines()[0] == f"demo: `{pin[:12]}` no longer held to tag `v1`"
    assert consumer.lock == start


@pytest.mark.parametrize("rev", ["main", "{newest}"])
def test_another_commit_drops_the_tag(consumer: Project, upstream: Repository, rev: str) -> None:
    upstream.tag("v1", "main")
    consumer.done("sync", "demo@v1")
    newest = upstream.commit({"pkg/ops/fwd.py": FWD + "# more\n"})
    consumer.done("sync", "demo@" + rev.format(newest=newest))
    assert tag(consumer) is None


def test_a_revision_that_was_edited_in_the_lock_drops_the_tag(consumer: Project, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    upstream.tag("v1", pin)
    consumer.done("sync", "demo@v1")
    newest = upstream.commit({"pkg/ops/fwd.py": FWD + "# more\n"})
    consumer.write(
        {
            "vendor.lock.yaml": consumer.lock.replace(
                f"    revision: {pin}\n    from", f"    revision: {newest}\n    from"
            )
        }
    )
    consumer.done("sync")
    assert tag(consumer) is None


def test_a_sync_that_changes_the_rules_keeps_the_tag(consumer: Project, upstream: Repository) -> None:
    upstream.tag("v1", "main")
    consumer.done("sync", "demo@v1")
    header = '    transforms: [{header: {text: "Ours"}}]\n'
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("    files:", f"{header}    files:", 1)})
    consumer.done("sync")
    assert tag(consumer) == "v1"


def test_a_first_sync_to_a_tag_records_it(tmp_path: Path, upstream: Repository) -> None:
    upstream.tag("v1", "main")
    fresh = project(
        tmp_path / "new", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    fresh.done("sync", "demo@v1")
    assert tag(fresh) == "v1"


def test_an_upgrade_that_stops_records_the_tag_when_it_goes_on(consumer: Project, upstream: Repository) -> None:
    consumer.write({"patches/demo/0001-higher.patch": PATCH})
    patches = "    patches: [patches/demo/0001-higher.patch]\n"
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("    files:", f"{patches}    files:", 1)})
    consumer.done("sync")
    upstream.tag("v2", upstream.commit({"pkg/ops/fwd.py": FWD.replace("n + 1", "n + 2")}), annotated=True)
    consumer.refused(ExitCode.CONFLICT, "sync", "demo@v2")
    consumer.write({".vendor-tool/merge/demo/vendored/demo/fwd.py": FWD.replace("n + 1", "n + 9")})
    consumer.done("sync", "--continue")
    assert (tag(consumer), consumer.read("vendored/demo/fwd.py")) == ("v2", b"def fwd(n):\n    return n + 9\n")


def test_a_tag_that_was_moved_is_told_with_both_ways_out(consumer: Project, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    upstream.tag("v1", pin, annotated=True)
    consumer.done("sync", "demo@v1")
    newest = upstream.commit({"pkg/ops/fwd.py": FWD + "# more\n"})
    upstream.git("tag", "-f", "-a", "-m", "again", "v1", newest)
    found = moved(consumer)
    assert found is not None
    keep, take = f"vendor-tool sync demo@{pin}", f"vendor-tool sync demo@{newest}"
    assert (found["message"], found["fix"]) == (
        f"tag `v1` was `{pin[:12]}` and is now `{newest[:12]}`; the lock keeps the commit; `{take}` goes with the tag",
        keep,
    )
    for command, revision in ((keep, pin), (take, newest)):
        consumer.done(*command.split()[1:])
        assert consumer.lock.count(f"revision: {revision}\n") == 2
        assert moved(consumer) is None


def test_a_tag_that_was_deleted_is_told_with_the_way_out(consumer: Project, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    upstream.tag("v1", pin)
    consumer.done("sync", "demo@v1")
    upstream.git("tag", "-d", "v1")
    assert consumer.run("outdated", "--exit-code").code == ExitCode.FINDINGS
    found = moved(consumer)
    assert found is not None
    assert found["message"] == f"tag `v1` was `{pin[:12]}` and is not there any more; the lock keeps the commit"
    assert found["fix"] == f"vendor-tool sync demo@{pin}"
    consumer.done("sync", f"demo@{pin}")
    assert moved(consumer) is None


def test_tags_are_listed_for_entries_that_have_one_alone(tmp_path: Path, upstream: Repository) -> None:
    upstream.tag("v1", "main")
    with serve(tmp_path) as server:
        text = lock(entry(f"{server.url}/up.git", upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
        consumer = project(tmp_path / "http", text)
        asked = {}
        for name in ("demo@main", "demo@v1"):
            consumer.done("sync", name)
            server.requests.clear()
            consumer.done("outdated")
            assert [request.method for request in server.requests] == ["GET", "POST"]
            asked[name] = b"refs/tags/" in server.requests[1].body
    assert asked == {"demo@main": False, "demo@v1": True}


def test_add_at_a_tag_names_the_sync_that_records_it(tmp_path: Path, upstream: Repository) -> None:
    upstream.tag("v1", "main", annotated=True)
    fresh = project(tmp_path / "new")
    fresh.done("init")
    said = fresh.done("add", "demo", upstream.url, "--rev", "v1", "--path", "pkg/ops").err.splitlines()[-1]
    assert said == "next: vendor-tool sync demo@v1"
    fresh.done(*said.split()[2:])
    assert tag(fresh) == "v1"
