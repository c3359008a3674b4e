"""Vendored files that the lock puts elsewhere: their patches follow, and nothing of the change is lost."""

from pathlib import Path

import pytest

from tests.stories.series import K, V, consumer_of, kernel, patched, upstream_at
from tests.support.project import Project
from tests.support.upstream import Repository
from vendor_tool.errors import ExitCode

FIRST, SECOND = "patches/demo/0001-step-1.patch", "patches/demo/0002-step-2.patch"


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return upstream_at(tmp_path / "up.git")


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = consumer_of(tmp_path / "proj", upstream)
    patched(made, kernel(5), kernel(5, 20))
    return made


def edit(consumer: Project, old: str, new: str) -> None:
    assert old in consumer.lock
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(old, new, 1)})


def test_patches_follow_an_entry_to_another_folder(consumer: Project) -> None:
    before = consumer.tree("vendored/demo", "patches")
    edit(consumer, "to: vendored/demo\n", "to: lib/kernels\n")
    said = consumer.done("sync").err
    assert f"{FIRST}: follows its files to `lib/kernels/k.py`\n" in said
    expected = {path.replace("vendored/demo/", "lib/kernels/"): data for path, data in before.items()}
    expected |= {
        path: data.replace(V.encode(), b"lib/kernels/k.py") for path, data in before.items() if "patch" in path
    }
    assert consumer.tree("lib/kernels", "vendored/demo", "patches") == expected
    assert not (consumer.root / "vendored/demo").exists()
    assert consumer.done("check").out == "no findings\n"
    consumer.done("check", "--rebuild")
    consumer.done("patch", "drop", "demo", "1")
    assert consumer.read("lib/kernels/k.py").decode() == kernel(20)


def test_no_page_stays_behind_that_tells_of_files_that_moved_away(consumer: Project) -> None:
    edit(consumer, "to: vendored/demo\n", "to: lib/kernels\n")
    consumer.done("sync")
    assert consumer.tree("vendored") == {}
    assert "kernels/k.py" in consumer.read("lib/PROVENANCE.md").decode()
    assert sorted(path for path in consumer.tree("lib") if "LICENSES" in path) == ["lib/LICENSES/demo/LICENSE"]


def test_patches_follow_one_file(consumer: Project) -> None:
    edit(consumer, "[k.py, other.py]", "[{path: k.py, to: sub/kern.py}, other.py]")
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == ["vendored/demo/other.py", "vendored/demo/sub/kern.py"]
    assert consumer.read("vendored/demo/sub/kern.py").decode() == kernel(5, 20)
    consumer.done("check", "--rebuild")


def test_two_files_that_change_places_take_their_patches_along(consumer: Project) -> None:
    edit(consumer, "[k.py, other.py]", "[{path: k.py, to: other.py}, {path: other.py, to: k.py}]")
    consumer.done("sync")
    assert consumer.read("vendored/demo/other.py").decode() == kernel(5, 20)
    assert consumer.read(V) == b"def other(x):\n    return x\n"
    consumer.done("check", "--rebuild")


def test_a_file_that_a_patch_made_goes_with_its_folder(consumer: Project) -> None:
    consumer.write({"vendored/demo/extra/own.py": "X = 1\n"})
    consumer.done("patch", "new", "demo", "--title", "Own", "vendored/demo/extra/own.py")
    edit(consumer, "to: vendored/demo\n", "to: lib/new\n")
    consumer.done("sync")
    assert sorted(consumer.tree("lib/new", "vendored/demo")) == [
        "lib/new/extra/own.py",
        "lib/new/k.py",
        "lib/new/other.py",
    ]
    consumer.done("check", "--rebuild")


def test_a_move_and_an_upgrade_go_in_one_step(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({K: kernel(30, word="theirs")})
    edit(consumer, "to: vendored/demo\n", "to: lib\n")
    consumer.done("sync", f"demo@{later}")
    expected = kernel(5, 20).replace("return x + 30\n", "return x + 30  # theirs\n")
    assert consumer.read("lib/k.py").decode() == expected
    assert not (consumer.root / V).exists()
    consumer.done("check", "--rebuild")


def test_a_move_and_a_conflict_are_settled_together(consumer: Project, upstream: Repository) -> None:
    later = upstream.commit({K: kernel(20, word="theirs")})
    edit(consumer, "to: vendored/demo\n", "to: lib\n")
    consumer.refused(ExitCode.CONFLICT, "sync", f"demo@{later}")
    consumer.write({".vendor-tool/merge/demo/lib/k.py": kernel(5, 20)})
    consumer.done("sync", "--continue")
    assert consumer.read("lib/k.py").decode() == kernel(5, 20)
    consumer.done("check", "--rebuild")


def test_a_move_and_a_change_of_rules_go_in_one_step(consumer: Project) -> None:
    edit(consumer, "to: vendored/demo\n", "to: lib\n")
    edit(consumer, "    files:", "    transforms: [{header: {text: Ours}}]\n    files:")
    consumer.done("sync")
    assert consumer.read("lib/k.py").decode() == "# Ours\n\n" + kernel(5, 20)
    consumer.done("check", "--rebuild")


def test_a_move_over_an_edit_that_no_patch_holds_is_refused(consumer: Project) -> None:
    consumer.write({V: kernel(5, 20, 30)})
    edit(consumer, "to: vendored/demo\n", "to: lib\n")
    assert "patch new" in consumer.refused(ExitCode.CONTENT, "sync")


def test_a_move_is_seen_before_it_is_carried_out(consumer: Project) -> None:
    edit(consumer, "to: vendored/demo\n", "to: lib\n")
    assert "would write lib/k.py" in consumer.done("sync", "--dry-run").err
    assert "applies  Step 1" in consumer.done("patch", "list", "demo").out
    assert "+++ b/lib/k.py" in consumer.done("diff", "demo").out


def test_a_patched_file_that_the_lock_asks_for_no_more_is_refused_with_the_ways_out(
    consumer: Project, upstream: Repository
) -> None:
    later = upstream.commit({K: None, "pkg/ops/kern.py": kernel(30, word="theirs")})
    edit(consumer, "[k.py, other.py]", "[kern.py, other.py]")
    said = consumer.refused(ExitCode.USAGE, "sync", f"demo@{later}")
    assert f"`{FIRST}` changes `{V}`, which no item of `files:` makes any more" in said
    assert "write `{path: kern.py, to: k.py}` under `files:`" in said
    edit(consumer, "[kern.py, other.py]", "[{path: kern.py, to: k.py}, other.py]")
    consumer.done("sync", f"demo@{later}")
    edit(consumer, "[{path: kern.py, to: k.py}, other.py]", "[kern.py, other.py]")
    consumer.done("sync")
    assert "# ours" in consumer.read("vendored/demo/kern.py").decode()
    edit(consumer, "[kern.py, other.py]", "[other.py]")
    assert "give the change up" in consumer.refused(ExitCode.USAGE, "sync")
