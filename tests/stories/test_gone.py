"""A pin that nobody gives any more, on a machine that never fetched it: there is a way on, and it loses nothing."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.server import serve
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "import math\n\n\ndef fwd(n):\n    return n + 1\n\n\ndef scale(n):\n    return n * 2\n"
BWD = "def back(n):\n    return n - 1\n"
PATCH = """\
Description: start higher
Author: Ada Example <ada@example.invalid>
Forwarded: not-needed
---
diff --git a/vendored/demo/fwd.py b/vendored/demo/fwd.py
--- a/vendored/demo/fwd.py
+++ b/vendored/demo/fwd.py
@@ -10,2 +10,2 @@
 def scale(n):
-    return n * 2
+    return n * 3
"""
HEADER = 'patches: [patches/demo/0001-higher.patch]\ntransforms: [{header: {text: "Ours"}}]'


@pytest.fixture
def consumer(tmp_path: Path) -> Project:
    """Synced with a header and a patch, at a commit of a side branch."""
    made = repository(tmp_path / "up.git")
    first = made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "x = 1\n", "pkg/ops/bwd.py": "x = 1\n"})
    pinned = made.commit({"pkg/ops/fwd.py": FWD, "pkg/ops/bwd.py": BWD}, ref="refs/heads/dev", parent=first)
    text = entry(made.url, pinned, '["*.py"]', more=HEADER)
    found = project(tmp_path / "proj", lock(text, shims=""))
    found.write({"patches/demo/0001-higher.patch": PATCH})
    found.done("sync")
    return found


@pytest.fixture
def upstream(tmp_path: Path, consumer: Project, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """What is left: the side branch was deleted and collected, and our cache with what it held is another machine's."""
    made = Repository(tmp_path / "up.git")
    made.git("update-ref", "-d", "refs/heads/dev")
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "--quiet", "--prune=now")
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
    return made


def pin(consumer: Project) -> str:
    return consumer.lock.partition("    revision: ")[2][:40]


def test_the_command_that_outdated_gives_carries_the_patches_on(consumer: Project, upstream: Repository) -> None:
    old = pin(consumer)
    newest = upstream.commit(
        {"pkg/ops/fwd.py": FWD.replace("n + 1", "n + 5"), "pkg/ops/bwd.py": BWD, "pkg/ops/z.py": ""}
    )
    findings = {one["rule"]: one for one in json.loads(consumer.run("outdated", "--format", "json").out)["findings"]}
    assert findings["upstream-changed"]["message"] == (
        f"1 of 2 files changed upstream and 1 file is new between `{old[:12]}` and `{newest[:12]}`; whether `{newest[:12]}` "
        "has all commits of the pin is not known; an upgrade meets no conflict, 1 patch carried over"
    )
    command, _, other = findings["pin-unreachable"]["fix"].partition(", or ")
    edit = "write `mirrors: [URL]` under `demo:` in the lock, of a repository that holds"
    assert other == f"{edit} `{old[:12]}`"
    said = consumer.done(*command.split()[1:]).err
    assert f"demo: upstream does not give `{old[:12]}` any more" in said
    assert consumer.read("vendored/demo/fwd.py").decode() == (
        "# Ours\n\n" + FWD.replace("n + 1", "n + 5").replace("n * 2", "n * 3")
    )
    assert pin(consumer) == newest
    assert consumer.done("check", "--rebuild").out == "no findings\n"


def test_a_plan_says_what_is_not_known(consumer: Project, upstream: Repository) -> None:
    old = pin(consumer)
    newest = upstream.commit({"pkg/ops/fwd.py": FWD.replace("n + 1", "n + 5"), "pkg/ops/bwd.py": BWD})
    assert consumer.done("sync", f"demo@{newest}", "--dry-run").out == (
        f"demo: {old[:12]} (2023-11-14) -> {newest[:12]} (2023-11-14)\n"
        "  an upgrade meets no conflict, 1 patch carried over\n"
        f"  whether `{newest[:12]}` has all commits of the pin is not known\n"
        "  1 of 2 files of ours changed\n"
        "    vendored/demo/fwd.py: changed: what is not known: nobody gives the old version any more\n"
        "  patches:\n    patches/demo/0001-higher.patch: applies as it is\n"
        f"  the commits in between are not known: nobody gives `{old[:12]}` any more\n"
    )


def test_a_conflict_stops_and_goes_on_as_ever(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD.replace("n * 2", "n * 4"), "pkg/ops/bwd.py": BWD})
    said = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{newest}")
    assert "vendored/demo/fwd.py: 1 in conflict; content\n" in said
    settled = "# Ours\n\n" + FWD.replace("n * 2", "n * 12")
    consumer.write({".vendor-tool/merge/demo/vendored/demo/fwd.py": settled})
    consumer.done("sync", "--continue")
    assert consumer.read("vendored/demo/fwd.py").decode() == settled


def test_a_file_that_went_is_proposed_by_what_is_vendored(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": FWD, "pkg/ops/bwd.py": BWD})
    said = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{newest}")
    assert "  `pkg/ops/fwd.py` is gone: `pkg/ops/forward.py` holds " in said
    plan = consumer.run("sync", f"demo@{newest}", "--dry-run").out
    assert "    vendored/demo/fwd.py: renamed: `pkg/ops/fwd.py` is gone: `pkg/ops/forward.py` holds " in plan


def test_another_licence_is_held_back(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD, "pkg/ops/bwd.py": BWD, "LICENSE": MIT.replace("2025", "2026")})
    said = consumer.refused(ExitCode.CONTENT, "sync", f"demo@{newest}")
    assert "LICENCE of `demo` changed: MIT as before, with another text\n" in said
    consumer.done("sync", f"demo@{newest}", "--accept-license")


CANNOT = (
    "hint: the vendored files could stand in for it, but the entry, a patch or a file is not as recorded: undo that "
)


def test_what_was_edited_by_hand_cannot_stand_in(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD, "pkg/ops/bwd.py": BWD + "# more\n"})
    consumer.write({"vendored/demo/bwd.py": "edited = 1\n"})
    said = consumer.refused(ExitCode.UPSTREAM, "sync", f"demo@{newest}", "--force")
    assert "this server does not hold it (any more)" in said
    assert CANNOT in said


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("vendor.lock.yaml", 'files: ["*.py"]', "files: [fwd.py, bwd.py]"),
        ("patches/demo/0001-higher.patch", "n * 3", "n * 4"),
    ],
    ids=["entry", "patch"],
)
def test_what_was_made_by_other_rules_or_patches_cannot_stand_in(
    consumer: Project, upstream: Repository, path: str, old: str, new: str
) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD, "pkg/ops/bwd.py": BWD + "# more\n"})
    text = consumer.read(path).decode()
    consumer.write({path: text.replace(old, new)})
    assert CANNOT in consumer.refused(ExitCode.UPSTREAM, "sync", f"demo@{newest}")


def aside(tmp_path: Path, url: str, made: Repository) -> Project:
    """A project whose pin is below a pull request of an upstream that neither filters nor gives commits by their id."""
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        made.configure(key, "false")
    first = made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": FWD})
    pinned = made.commit({"pkg/ops/fwd.py": BWD}, ref="refs/pull/9/head", parent=first)
    made.commit({"pkg/ops/other.py": ""}, ref="refs/pull/9/head")
    made.commit({"pkg/ops/more.py": ""})
    found = project(tmp_path / "aside", lock(entry(url, pinned, "[fwd.py]"), shims=""))
    found.done("sync")
    return found


def pins(consumer: Project) -> dict[str, dict[str, str]]:
    findings = json.loads(consumer.run("outdated", "--format", "json").out)["findings"]
    return {one["rule"]: one for one in findings if one["rule"].startswith("pin-")}


@pytest.mark.parametrize("old", [False, True], ids=["protocol 2", "protocol 0"])
def test_a_server_that_gives_little_is_told_apart_from_one_that_dropped_the_pin(
    tmp_path: Path, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = repository(tmp_path / "poor.git")
    with serve(tmp_path) as server:
        server.old_protocol = old
        consumer = aside(tmp_path, f"{server.url}/poor.git", made)
        assert set(pins(consumer)) == {"pin-on-request"}
        made.git("update-ref", "-d", "refs/pull/9/head")
        monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
        [lost] = pins(consumer).values()
    why = {
        False: ": the upstream still gives it by its id, until it clears up",
        True: ", and the upstream gives no commit by its id: nobody can fetch it there",
    }
    assert lost["rule"] == "pin-unreachable"
    assert lost["message"] == f"the pin `{pin(consumer)[:12]}` is on no branch, tag or pull request{why[old]}"
    assert lost["fix"].startswith(f"vendor-tool sync demo@{made.git('rev-parse', 'main')}, or write `mirrors: [URL]` ")


def test_a_server_whose_copy_lacks_objects_leaves_the_pin_unclear_and_says_what_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = repository(tmp_path / "poor.git")
    consumer = aside(tmp_path, made.url, made)
    for pack in (made.path / "objects/pack").glob("*.pack"):
        taken = pack.rename(tmp_path / pack.name)
        made.git("unpack-objects", "-q", stdin=taken.read_bytes())
    first = made.git("rev-parse", "main~1")
    (made.path / "objects" / first[:2] / first[2:]).unlink()
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
    [unclear] = pins(consumer).values()
    assert unclear["rule"] == "pin-unclear"
    assert f"{made.url}: this server's copy is damaged\n" in unclear["message"]
    assert "possible repository corruption on the remote side" in unclear["message"]
    assert unclear["fix"] == "tell the people who run the server, or name a mirror under `mirrors` of `demo`"


ROOTS, MIDDLE = "https://github.com/roots/kern", "https://github.com/middle/kern"


@pytest.fixture
def descendant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Repository, Project]:
    """Synced from an upstream whose file has a chain of two ancestors, which are deleted since; the cache is cold."""
    roots, middle, made = (repository(tmp_path / f"{name}.git") for name in ("roots", "middle", "up"))
    routes = "".join(f'[url "{one.url}"]\n\tinsteadOf = {url}\n' for one, url in ((roots, ROOTS), (middle, MIDDLE)))
    (tmp_path / "routes").write_text(routes)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "routes"))
    oldest = roots.commit({"LICENSE": MIT.replace("Demo", "Root"), "NOTICE": "Root\n", "k.py": FWD})
    cited = f"# Adapted from {ROOTS}/blob/{oldest}/k.py\n"
    between = middle.commit({"LICENSE": MIT.replace("Demo", "Middle"), "m.py": cited + FWD})
    claim = f"# Adapted from {MIDDLE}/blob/{between}/m.py\n"
    pinned = made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": claim + FWD})
    consumer = project(tmp_path / "proj", lock(entry(made.url, pinned, "[fwd.py]"), shims=""))
    consumer.done("sync")
    for one in (roots, middle):
        shutil.rmtree(one.path)
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
    made.commit({"pkg/ops/fwd.py": "# ours\n" + claim + FWD.replace("n + 1", "n + 5")})
    return made, consumer


CHAIN = {
    "vendored/LICENSES/demo/middle__kern/LICENSE",
    "vendored/LICENSES/demo/roots__kern/LICENSE",
    "vendored/LICENSES/demo/roots__kern/NOTICE",
}


def test_licence_texts_outlive_the_repositories_that_they_came_from(descendant: tuple[Repository, Project]) -> None:
    made, consumer = descendant
    before = consumer.tree("vendored/LICENSES")
    consumer.done("sync", "demo@main")
    assert b"n + 5" in consumer.read("vendored/demo/fwd.py")
    assert consumer.tree("vendored/LICENSES") == before
    assert before.keys() >= CHAIN
    consumer.done("check")
    assert "LIC-" not in consumer.run("audit").out
    consumer.done("sync", "--force")
    assert consumer.tree("vendored/LICENSES") == before


def test_a_fresh_clone_syncs_without_the_repositories_of_its_licence_texts(
    descendant: tuple[Repository, Project],
) -> None:
    _made, consumer = descendant
    before = consumer.tree()
    (consumer.root / "vendored/demo/fwd.py").unlink()
    consumer.done("sync")
    assert consumer.tree() == before
    (consumer.root / "vendored/LICENSES/demo/roots__kern/LICENSE").unlink()
    assert "roots/kern" in consumer.run("sync").err
