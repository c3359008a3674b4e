"""`sync NAME@REV` carries patches over by a three-way merge and never loses a line: not ours, not upstream's."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stories.series import K, V, consumer_of, kernel, patched, upstream_at
from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository
from vendor_tool.errors import ExitCode

APACHE = (
    "Apache License\nVersion 2.0, January 2004\n\nSPDX-License-Identifier: Apache-2.0\nCopyright 2026 New Holders\n"
)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return upstream_at(tmp_path / "up.git")


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    return consumer_of(tmp_path / "proj", upstream)


# ---- what peers get wrong ---------------------------------------------------------------------------------


def test_a_patch_whose_line_upstream_changed_is_never_applied_by_fuzz(consumer: Project, upstream: Repository) -> None:
    """A fuzzy patch would put our line in place of upstream's new one, and exit 0."""
    patched(consumer, kernel(5))
    later = upstream.commit({K: kernel().replace("x + 5\n", "x + 5 - x * 0\n")})
    said = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert "patches/demo/0001-step-1.patch: conflicts" in said
    marked = consumer.read(f".vendor-tool/merge/demo/{V}")
    assert b"x + 5  # ours" in marked
    assert b"x + 5 - x * 0" in marked


def test_an_edit_never_lands_in_the_twin_that_upstream_puts_in_its_place(
    consumer: Project, upstream: Repository
) -> None:
    """`git merge-file` merges this clean, into the wrong function."""

    def twins(*names: str, padded: str = "") -> str:
        rows = "    rows = x.shape\n    cols = x.shape\n"
        return "\n\n".join(
            f"def {name}(x):\n{rows}{'    x = pad(x)' + chr(10) if name == padded else ''}    return x\n"
            for name in names
        )

    first = upstream.commit({K: twins("head", "fwd", "bwd")})
    consumer.done("sync", f"demo@{first}")
    patched(consumer, twins("head", "fwd", "bwd", padded="bwd"))
    later = upstream.commit({K: twins("head", "bwd", "fwd")})
    said = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    reason = "patches/demo/0001-step-1.patch changes `bwd`; merged by lines, that would land in `fwd`"
    assert reason in said
    assert reason in consumer.done("status").out
    consumer.write({f".vendor-tool/merge/demo/{V}": twins("head", "bwd", "fwd", padded="bwd")})
    consumer.done("sync", "--continue")
    assert consumer.read(V).decode() == twins("head", "bwd", "fwd", padded="bwd")
    consumer.done("check", "--rebuild")


def test_a_conflict_moves_no_record_on_and_leaves_no_marker_in_the_tree(
    consumer: Project, upstream: Repository
) -> None:
    patched(consumer, kernel(5))
    before = consumer.tree()
    later = upstream.commit({K: kernel(5, word="theirs")})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert consumer.tree() == before
    assert later not in consumer.lock
    assert not any(b"<<<<<<<" in data for data in consumer.tree().values())
    assert not [path for path in consumer.tree() if path.endswith((".rej", ".orig"))]
    assert "stopped at patch 1 of 1" in consumer.done("status").out


def test_a_patch_that_does_not_apply_leaves_the_files_where_they_are_and_a_way_back(consumer: Project) -> None:
    patched(consumer, kernel(5))
    path = "patches/demo/0001-step-1.patch"
    good = consumer.read(path)
    consumer.write({path: good.replace(b"-    return x + 5\n", b"-    return y + 5\n")})
    said = consumer.refused(ExitCode.CONFLICT, "sync")
    assert f"`{path}` does not apply: hunk 1" in said
    assert consumer.read(V).decode() == kernel(5)
    consumer.write({path: good})
    consumer.done("sync")
    consumer.done("check", "--rebuild")


def test_a_missing_patch_file_is_an_error_not_a_shorter_series(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5), kernel(5, 20))
    (consumer.root / "patches/demo/0001-step-1.patch").unlink()
    later = upstream.commit({K: kernel(30, word="theirs")})
    for command in (("sync",), ("sync", f"demo@{later}"), ("patch", "drop", "demo", "2")):
        said = consumer.refused(ExitCode.USAGE, *command)
        assert "patch `patches/demo/0001-step-1.patch` of `demo` is not there" in said
    assert "drift-patch" in consumer.run("check").out


def test_patches_apply_in_the_order_of_the_lock_not_of_the_folder(consumer: Project) -> None:
    patched(consumer, kernel(5), kernel(5).replace("x + 5  # ours", "x + 5  # ours twice"))
    for old, new in (("0001-step-1", "9-first"), ("0002-step-2", "1-second")):
        (consumer.root / f"patches/demo/{old}.patch").rename(consumer.root / f"patches/demo/{new}.patch")
        consumer.write(
            {"vendor.lock.yaml": consumer.lock.replace(f"patches/demo/{old}.patch", f"patches/demo/{new}.patch")}
        )
    consumer.done("sync")
    assert "x + 5  # ours twice" in consumer.read(V).decode()
    assert list(consumer.tree("patches")) == ["patches/demo/1-second.patch", "patches/demo/9-first.patch"]
    consumer.done("check", "--rebuild")


# ---- a merge that goes well -------------------------------------------------------------------------------


def test_patches_are_carried_over_and_stay_apart(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5), kernel(5, 20))
    pin = upstream.git("rev-parse", "main")
    later = upstream.commit({K: "LIMIT = 1\n\n\n" + kernel(35, word="theirs")})
    said = consumer.done("sync", f"demo@{later[:9]}").err
    assert said[said.index("demo: " + pin[:12]) :] == (
        f"demo: {pin[:12]} -> {later[:12]}\n"
        "patches/demo/0001-step-1.patch: applies as it is\n"
        "  hunk 1 of `vendored/demo/k.py` fits at line 22, recorded at 19\n"
        "patches/demo/0002-step-2.patch: applies as it is\n"
        "  hunk 1 of `vendored/demo/k.py` fits at line 82, recorded at 79\n"
        "wrote NOTICE\nwrote vendored/PROVENANCE.md\nwrote vendored/demo/k.py\n3 files written\n"
    )
    assert consumer.read(V).decode() == "LIMIT = 1\n\n\n" + kernel(35, word="theirs").replace(
        "x + 5\n", "x + 5  # ours\n"
    ).replace("x + 20\n", "x + 20  # ours\n")
    consumer.done("check", "--rebuild")


def test_a_patch_beside_an_upstream_change_is_rendered_anew(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5))
    later = upstream.commit({K: kernel().replace("def f6(x):", "def f6(x, scale=1):")})
    assert "patches/demo/0001-step-1.patch: carried over" in consumer.done("sync", f"demo@{later}").err
    assert b" def f6(x, scale=1):\n" in consumer.read("patches/demo/0001-step-1.patch")
    assert b"Description: Step 1\n" in consumer.read("patches/demo/0001-step-1.patch")
    consumer.done("check", "--rebuild")


def test_the_same_fix_on_both_sides_is_said_and_the_patch_goes(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5), kernel(5, 20))
    later = upstream.commit({K: kernel(5)})
    said = consumer.done("sync", f"demo@{later}").err
    assert f"patches/demo/0001-step-1.patch: dropped: demo@{later[:12]} has this now\n" in said
    assert "removed patches/demo/0001-step-1.patch\n" in said
    assert "    patches: [patches/demo/0002-step-2.patch]\n" in consumer.lock
    assert consumer.read(V).decode() == kernel(5, 20)
    consumer.done("check", "--rebuild")


def test_a_change_of_rules_or_our_own_rewriting_is_no_conflict(tmp_path: Path, upstream: Repository) -> None:
    start = "from pkg.ops.other import other\nimport tilelang\n\n\n"
    pin = upstream.commit({K: start + kernel()})
    consumer = project(tmp_path / "ruled", lock(entry(upstream.url, pin, "[k.py, other.py]")))
    consumer.done("sync")
    mine = consumer.read(V).decode().replace("\n\n\n", "\n\nSCALE = 2\n\n\n", 1)
    consumer.write({V: mine})
    consumer.done("patch", "new", "demo", "--title", "Scale")
    later = upstream.commit({K: start.replace("other\n", "other, other as again\n", 1) + kernel()})
    rules = "    transforms: [header: {text: Vendored}, imports, shim: {modules: [tilelang]}]\n    files:"
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("    files:", rules, 1)})
    consumer.done("sync", f"demo@{later}")
    text = consumer.read(V).decode()
    assert text.startswith("# Vendored\n")
    assert "SCALE = 2" in text
    assert "other as again" in text
    consumer.done("check", "--rebuild")


def headed(tmp_path: Path, upstream: Repository, *steps: str) -> Project:
    """A project whose header is context of its patches; each step is what stands in place of `return x + 0`."""
    pin = upstream.git("rev-parse", "main")
    rules = "transforms: [header: {text: Vendored once}]"
    consumer = project(tmp_path / "headed", lock(entry(upstream.url, pin, "[k.py, other.py]", more=rules), shims=""))
    consumer.done("sync")
    plain = consumer.read(V).decode()
    patched(consumer, *(plain.replace("    return x + 0\n", step, 1) for step in steps))
    return consumer


def test_a_header_that_changes_under_its_patches_carries_them_over(tmp_path: Path, upstream: Repository) -> None:
    consumer = headed(tmp_path, upstream, "    return x\n", "    return x  # twice\n")
    first, second = "patches/demo/0001-step-1.patch", "patches/demo/0002-step-2.patch"
    assert b" # Vendored once\n" in consumer.read(first)
    before = consumer.read(V)
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("Vendored once", "Vendored anew")})
    said = consumer.done("sync").err
    assert f"{first}: carried over\n" in said
    assert f"{second}: carried over\n" in said
    assert consumer.read(V) == before.replace(b"Vendored once", b"Vendored anew")
    assert b" # Vendored anew\n" in consumer.read(first)
    assert b"Description: Step 1\n" in consumer.read(first)
    assert b" # Vendored anew\n" in consumer.read(second)
    consumer.done("check", "--rebuild")


def test_a_change_of_rules_that_a_patch_contradicts_changes_nothing_and_tells_the_ways_out(
    tmp_path: Path, upstream: Repository
) -> None:
    consumer = headed(tmp_path, upstream)
    patched(consumer, consumer.read(V).decode().replace("Vendored once", "Vendored once, by us"))
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("Vendored once", "Vendored anew")})
    before = consumer.tree()
    said = consumer.refused(ExitCode.CONFLICT, "sync")
    assert "the rules of `demo` were changed under its patches, and the two do not merge" in said
    assert "`vendor-tool patch drop demo 1`" in said
    assert consumer.tree() == before


def test_a_revision_edited_by_hand_is_an_upgrade_from_the_recorded_one(consumer: Project, upstream: Repository) -> None:
    """As Renovate does it."""
    patched(consumer, kernel(5))
    pin = upstream.git("rev-parse", "main")
    later = upstream.commit({K: kernel(20, word="theirs")})
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(pin, later, 1)})
    assert f"{pin[:12]} -> {later[:12]}" in consumer.done("sync").err
    text = consumer.read(V).decode()
    assert "x + 5  # ours" in text
    assert "x + 20  # theirs" in text
    consumer.done("check", "--rebuild")


def test_an_upgrade_over_an_edit_that_no_patch_holds_prints_the_command_for_it(
    consumer: Project, upstream: Repository
) -> None:
    later = upstream.commit({K: kernel(20, word="theirs")})
    consumer.write({V: kernel(5)})
    said = consumer.refused(ExitCode.CONTENT, "sync", f"demo@{later}")
    assert "keep it with `vendor-tool patch new demo`" in said
    consumer.done("patch", "new", "demo")
    consumer.done("sync", f"demo@{later}")
    assert "x + 5  # ours" in consumer.read(V).decode()


def test_back_to_the_revision_before_is_an_upgrade_too(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5))
    pin = upstream.git("rev-parse", "main")
    before = consumer.tree()
    later = upstream.commit({K: kernel(20, word="theirs")})
    consumer.done("sync", f"demo@{later}")
    said = consumer.done("sync", f"demo@{pin}").err
    assert f"`{pin[:12]}` does not descend from `{later[:12]}`" in said
    assert consumer.tree() == before


# ---- files that moved -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pkg/ops/k.py": None, "pkg/new/kernel.py": kernel()}, "`pkg/new/kernel.py` holds 100 % of it"),
        ({"pkg/ops/k.py": None}, "`pkg/ops/k.py` is gone, and nothing like it was found"),
        (
            {
                "pkg/ops/k.py": None,
                "pkg/ops/low.py": kernel(size=14),
                "pkg/ops/high.py": kernel()[len(kernel(size=14)) + 2 :] + "\n\nMORE = 1\n" * 200,
            },
            "f13 -> low.py (moved), f14 -> high.py (moved)",
        ),
    ],
    ids=["renamed", "deleted", "split"],
)
def test_a_mapped_file_that_is_gone_is_a_conflict_with_a_proposal(
    consumer: Project, upstream: Repository, change: dict[str, str | None], said: str
) -> None:
    patched(consumer, kernel(5))
    later = upstream.commit(dict(change))
    told = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert said in told
    assert "change `files:` (line 13 of vendor.lock.yaml)" in told
    assert not (consumer.root / ".vendor-tool").exists()


def test_a_renamed_file_is_carried_over_once_the_lock_names_it(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5))
    later = upstream.commit({K: None, "pkg/ops/kernel.py": kernel(20, word="theirs")})
    text = consumer.lock.replace("[k.py, other.py]", "[{path: kernel.py, to: k.py}, other.py]", 1)
    consumer.write({"vendor.lock.yaml": text})
    consumer.done("sync", f"demo@{later}")
    merged = consumer.read(V).decode()
    assert "x + 5  # ours" in merged
    assert "x + 20  # theirs" in merged
    consumer.done("check", "--rebuild")


def test_a_file_that_a_glob_no_longer_finds_is_told(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    consumer = project(tmp_path / "globbed", lock(entry(upstream.url, pin, "['*.py']"), shims=""))
    consumer.done("sync")
    later = upstream.commit({"pkg/ops/other.py": None})
    said = consumer.done("sync", f"demo@{later}").err
    assert "demo: `pkg/ops/other.py` is gone, and nothing like it was found" in said
    assert "removed vendored/demo/other.py" in said


def test_a_patched_file_that_a_glob_no_longer_finds_is_a_conflict_with_a_proposal(
    tmp_path: Path, upstream: Repository
) -> None:
    pin = upstream.git("rev-parse", "main")
    consumer = project(tmp_path / "globbed", lock(entry(upstream.url, pin, "['*.py']"), shims=""))
    consumer.done("sync")
    patched(consumer, kernel(5))
    later = upstream.commit({K: None, "pkg/ops/kernel.py": kernel(20, word="theirs")})
    before = consumer.tree()
    told = consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    assert f"1 mapped, and not in `demo` at `{later[:12]}`:\n  `{K}`" in told
    assert "`pkg/ops/kernel.py`" in told
    assert "or give up its patch with `vendor-tool patch drop demo N`" in told
    assert consumer.tree() == before
    text = consumer.lock.replace("['*.py']", "['*.py', {path: kernel.py, to: k.py}]", 1)
    consumer.write({"vendor.lock.yaml": text})
    consumer.done("sync", f"demo@{later}")
    assert "x + 5  # ours" in consumer.read(V).decode()
    assert "x + 20  # theirs" in consumer.read(V).decode()
    consumer.done("check", "--rebuild")


def test_a_patched_file_that_a_glob_no_longer_finds_goes_with_its_patch(tmp_path: Path, upstream: Repository) -> None:
    pin = upstream.git("rev-parse", "main")
    consumer = project(tmp_path / "globbed", lock(entry(upstream.url, pin, "['*.py']"), shims=""))
    consumer.done("sync")
    patched(consumer, kernel(5))
    later = upstream.commit({K: None})
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    consumer.done("patch", "drop", "demo", "1")
    assert f"removed {V}" in consumer.done("sync", f"demo@{later}").err
    consumer.done("check", "--rebuild")


def test_a_file_that_is_now_imported_is_named_with_the_command_to_add_it(
    consumer: Project, upstream: Repository
) -> None:
    patched(consumer, kernel(5))
    files = {
        K: "from pkg.ops.helper import helper\n\n\n" + kernel(),
        "pkg/ops/helper.py": "def helper(x):\n    return x\n",
    }
    later = upstream.commit(dict(files))
    said = consumer.refused(ExitCode.USAGE, "sync", f"demo@{later}")
    assert "pkg/ops/k.py:1: `from pkg.ops.helper import helper` needs `pkg/ops/helper.py`" in said
    command = f"vendor-tool add demo --rev {later[:12]} --file helper.py"
    assert f"hint: run `{command}`, then `vendor-tool sync demo`" in said
    consumer.done(*command.split()[1:])
    consumer.done("sync", "demo")
    assert b"from .helper import helper" in consumer.read(V)
    assert b"x + 5  # ours" in consumer.read(V)
    consumer.done("check", "--rebuild")


# ---- terms ------------------------------------------------------------------------------------------------


def test_another_licence_is_refused_until_it_is_accepted(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({"LICENSE": APACHE, K: kernel(20)})
    said = consumer.refused(ExitCode.CONTENT, "sync", f"demo@{later}")
    assert "LICENCE of `demo` changed: MIT -> Apache-2.0" in said
    assert "  holders before: Copyright (c) 2025 The Demo Authors\n  holders now: Copyright 2026 New Holders\n" in said
    assert f"vendor-tool sync demo@{later[:12]} --accept-license" in said
    said = consumer.done("sync", f"demo@{later}", "--accept-license").err
    assert "LICENCE of `demo` changed: MIT -> Apache-2.0" in said
    assert consumer.read("vendored/LICENSES/demo/LICENSE").decode() == APACHE


def test_an_accepted_licence_is_said_again_when_a_stopped_upgrade_ends(consumer: Project, upstream: Repository) -> None:
    patched(consumer, kernel(5))
    later = upstream.commit({"LICENSE": APACHE, K: kernel(5, word="theirs")})
    consumer.refused(ExitCode.CONTENT, "sync", f"demo@{later}")
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}", "--accept-license")
    consumer.write({f".vendor-tool/merge/demo/{V}": kernel(5, word="both")})
    assert "LICENCE of `demo` changed: MIT -> Apache-2.0" in consumer.done("sync", "--continue").err


def test_another_text_of_the_same_licence_is_refused_too(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({"LICENSE": MIT.replace("The Demo Authors", "Somebody Else")})
    said = consumer.refused(ExitCode.CONTENT, "sync", f"demo@{later}")
    assert "LICENCE of `demo` changed: MIT as before, with another text" in said
    consumer.done("sync", f"demo@{later}", "--accept-license")


def test_a_licence_file_that_only_moved_needs_no_leave(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({"LICENSE": None, "LICENSE.txt": MIT})
    consumer.done("sync", f"demo@{later}")


def test_a_header_with_another_licence_is_refused(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({K: "# SPDX-License-Identifier: BSD-3-Clause\n" + kernel()})
    said = consumer.refused(ExitCode.CONTENT, "sync", f"demo@{later}")
    assert "LICENCE in the header of `pkg/ops/k.py` changed: none -> BSD-3-Clause" in said


def test_a_notice_that_came_is_said(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({"NOTICE": "Demo\nCopyright 2025 The Demo Authors\n"})
    assert "NOTICE of `demo` was added\n" in consumer.done("sync", f"demo@{later}").err


# ---- upstreams that moved ---------------------------------------------------------------------------------


def test_a_pin_that_was_forced_away_upgrades_from_the_copy_that_is_held(
    consumer: Project, upstream: Repository
) -> None:
    patched(consumer, kernel(5))
    pin = upstream.git("rev-parse", "main")
    tree = upstream.git("rev-parse", "main^{tree}")
    fresh = upstream.git("commit-tree", tree, "-m", "rewritten")
    upstream.git("update-ref", "refs/heads/main", fresh)
    later = upstream.commit({K: kernel(20, word="theirs")})
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "-q", "--prune=now")
    said = consumer.done("sync", f"demo@{later}").err
    assert (
        f"demo: upstream does not give `{pin[:12]}` any more; `{pin[:12]}` was merged from the copy held here" in said
    )
    text = consumer.read(V).decode()
    assert "x + 5  # ours" in text
    assert "x + 20  # theirs" in text
    consumer.done("check", "--rebuild")


def test_a_branch_that_was_renamed_is_told(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({K: kernel(20, word="theirs")})
    upstream.git("branch", "-m", "main", "trunk")
    said = consumer.done("sync", f"demo@{later}").err
    assert "demo: upstream has no branch `main` any more, but `trunk`: mend `branch:` in the lock" in said


def test_a_home_that_moved_and_lost_the_pin_upgrades_from_the_old_store(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    patched(consumer, kernel(5))
    moved = upstream_at(tmp_path / "moved.git")
    later = moved.commit({K: kernel(20, word="theirs"), "pkg/more.py": ""}, parent="")
    old = upstream.url
    shutil.rmtree(upstream.path)
    mirrors = f"    url: {moved.url}\n    mirrors: [{old}]\n"
    text = consumer.lock.replace(f"    url: {old}\n", mirrors, 1)
    consumer.write({"vendor.lock.yaml": text})
    consumer.done("sync", f"demo@{later}")
    assert b"x + 5  # ours" in consumer.read(V)
    assert b"x + 20  # theirs" in consumer.read(V)


# ---- any edits at all -------------------------------------------------------------------------------------

PLACES = st.sets(st.integers(0, 11), max_size=4)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ours=st.lists(PLACES.filter(bool), min_size=1, max_size=2), theirs=PLACES, gone=PLACES)
def test_no_line_is_lost_and_none_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ours: list[set[int]], theirs: set[int], gone: set[int]
) -> None:
    """Either a conflict is reported, or every added line is there and no removed one; and the lock replays."""
    folder = tmp_path_factory.mktemp("any")
    upstream = upstream_at(folder / "up.git")
    upstream.commit({K: kernel(size=12)})
    consumer = consumer_of(folder / "proj", upstream)
    marked: set[int] = set()
    for number, step in enumerate(ours):
        marked |= step
        text = kernel(*marked, size=12)
        if text.encode() != consumer.read(V):
            consumer.write({V: text})
            consumer.done("patch", "new", "demo", "--title", f"Step {number}")
    new = "".join(
        line
        for n, line in enumerate(kernel(*theirs, size=12, word="theirs").splitlines(keepends=True))
        if n // 4 not in gone
    )
    later = upstream.commit({K: new or "EMPTY = 1\n"})
    before = consumer.tree()
    result = consumer.run("sync", f"demo@{later}")
    if result.code == ExitCode.CONFLICT:
        assert consumer.tree() == before
        consumer.done("sync", "--abort")
        assert consumer.tree() == before
        return
    assert result.code == ExitCode.CLEAN, result.err
    merged = consumer.read(V).decode()
    wanted = {f"    return x + {n}  # ours\n" for n in marked} | {
        f"    return x + {n}  # theirs\n" for n in theirs - gone
    }
    assert all(line in merged for line in wanted)
    assert not any(f"def f{n}(x):\n" in merged for n in gone)
    consumer.done("check", "--rebuild")
    clone = Project(folder / "clone")
    clone.write({"vendor.lock.yaml": consumer.lock, **consumer.tree("patches")})
    clone.done("sync")
    assert clone.tree() == consumer.tree()


def test_of_several_upgrades_none_is_carried_out_where_one_conflicts(tmp_path: Path) -> None:
    from tests.support.project import MIT, entry, lock, project
    from tests.support.upstream import repository

    patch = "Description: ours\nAuthor: A <a@example.invalid>\n\n--- a/vendored/b/k.py\n+++ b/vendored/b/k.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    ups = {name: repository(tmp_path / f"{name}.git") for name in ("a", "b")}
    old = {name: one.commit({"LICENSE": MIT, "k.py": "x = 1\n"}) for name, one in ups.items()}
    text = lock(
        *(
            entry(
                one.url, old[name], "[k.py]", name=name, from_="", to=f"vendored/{name}",
                more="patches: [patches/b/0001-x.patch]" if name == "b" else "",
            )
            for name, one in ups.items()
        ),
        shims="",
    )  # fmt: skip
    consumer = project(tmp_path / "proj", text)
    consumer.write({"patches/b/0001-x.patch": patch})
    consumer.done("sync")
    for one in ups.values():
        one.commit({"k.py": "x = 3\n"})
    before = consumer.tree()
    assert consumer.run("sync", "a@main", "b@main").code == ExitCode.CONFLICT
    assert consumer.tree() == before
    consumer.done("sync", "--abort")
    assert consumer.tree() == before
    assert not (consumer.root / ".vendor-tool").exists()


def test_a_dry_run_ends_as_the_upgrade_would_where_the_licence_changed(tmp_path: Path) -> None:
    from tests.support.project import MIT, entry, lock, project
    from tests.support.upstream import repository

    up = repository(tmp_path / "up.git")
    old = up.commit({"LICENSE": MIT, "k.py": "x = 1\n"})
    consumer = project(tmp_path / "proj", lock(entry(up.url, old, "[k.py]", from_=""), shims=""))
    consumer.done("sync")
    up.commit({"LICENSE": "Acme Internal Source Licence\n\nAll rights reserved. No copying.\n", "k.py": "x = 2\n"})
    changed = "LICENCE of `demo` changed: MIT -> not recognised"
    assert changed in consumer.refused(ExitCode.CONTENT, "sync", "demo@main")
    said = consumer.refused(ExitCode.CONTENT, "sync", "demo@main", "--dry-run")
    assert changed in said
    assert "once the licence that changed is accepted" in said
    consumer.done("sync", "demo@main", "--accept-license")
    audit = consumer.run("audit")
    assert audit.code == ExitCode.FINDINGS
    assert "is no licence text that is known" in audit.out
