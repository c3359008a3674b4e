"""`outdated` says what upstreams did since the pins, and `sync NAME@REV --dry-run` what an upgrade would do."""

import json
import re
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.server import Answer, Server, serve
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "import math\n\n\ndef fwd(n):\n    return n + 1\n\n\ndef scale(n):\n    return n * 2\n"
FWD_NEW = FWD.replace("n + 1", "n + 2").replace("import math\n", "import math\nimport torch\n")
BWD = "def back(n):\n    return n - 1\n"
FILES: dict[str, str | bytes | None] = {
    "LICENSE": MIT,
    "pkg/ops/fwd.py": FWD,
    "pkg/ops/bwd.py": BWD,
    "other.py": "x = 1\n",
}


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit(FILES, "first")
    return made


def synced(root: Path, *entries: str) -> Project:
    made = project(root, lock(*entries, shims=""))
    made.done("sync")
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    return synced(tmp_path / "proj", entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py, bwd.py]"))


def found(consumer: Project, *arguments: str, code: int = 0) -> dict[str, dict[str, str]]:
    """The findings of a run by rule and path."""
    result = consumer.run("outdated", *arguments, "--format", "json")
    assert result.code == code, result.err + result.out
    return {" ".join(filter(None, (one["rule"], one["path"]))): one for one in json.loads(result.out)["findings"]}


def patch(consumer: Project, name: str, path: str, old: str, new: str) -> None:
    """Put a patch into the series of `demo`, and sync."""
    text = consumer.read(path).decode()
    assert old in text
    number = text[: text.index(old)].count("\n") + 1
    before, after = (part.split("\n") for part in (old, new))
    hunk = [
        f"@@ -{number},{len(before)} +{number},{len(after)} @@",
        *(f"-{x}" for x in before),
        *(f"+{x}" for x in after),
    ]
    head = "Description: ours\nAuthor: Ada Example <ada@example.invalid>\nForwarded: not-needed\n---\n"
    diff = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n" + "\n".join(hunk) + "\n"
    consumer.write({f"patches/demo/{name}": head + diff})
    held = consumer.lock
    at = held.index("    files: [")
    consumer.write({"vendor.lock.yaml": f"{held[:at]}    patches: [patches/demo/{name}]\n{held[at:]}"})
    consumer.done("sync")


# ---- what changed -----------------------------------------------------------------------------------------


def test_nothing_is_said_of_an_upstream_that_stands_at_the_pin(consumer: Project) -> None:
    result = consumer.done("outdated", "--exit-code")
    assert result.out == "no findings\n"


def test_a_change_elsewhere_is_a_note_and_no_reason_to_fail(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"other.py": "x = 2\n"}, "fix other")
    assert consumer.done("outdated", "--exit-code").out == (
        "demo\n"
        f"vendor.lock.yaml:10: note: only the repository moved between `{pin(consumer)[:12]}` and `{newest[:12]}`: "
        "1 file changed, none of ours [upstream-moved]\n"
        "    side: upstream changed\n\n1 note in 1 upstream\n"
    )


def test_a_change_of_ours_names_commits_fixes_symbols_and_the_upgrade(consumer: Project, upstream: Repository) -> None:
    commented = upstream.commit({"pkg/ops/bwd.py": f"{BWD}# more\n"}, "comment")
    newest = upstream.commit({"pkg/ops/fwd.py": FWD_NEW}, "Fix NaN in the forward pass\n\nlong story")
    result = consumer.run("outdated", "--exit-code")
    fix = f"    side: upstream changed\n    fix: vendor-tool sync demo@{newest}\n"
    assert result.code == ExitCode.FINDINGS
    said = f"`{newest[:12]}` Fix NaN in the forward pass"
    assert re.sub(r"lock: vendor.lock.yaml:\d+", "lock: vendor.lock.yaml:N", result.out) == (
        "demo\n"
        f"vendor.lock.yaml:10: warning: 2 of 2 files changed upstream between `{pin(consumer)[:12]}` and "
        f"`{newest[:12]}` in 2 commits, of which 1 reads as a fix: {said}; an upgrade is clean [upstream-changed]\n"
        f"{fix}"
        "vendored/demo/bwd.py:1: note: `pkg/ops/bwd.py` changed upstream: comments only, in 1 commit: "
        f"`{commented[:12]}` comment [upstream-file-changed]\n    lock: vendor.lock.yaml:N\n{fix}"
        "vendored/demo/fwd.py:1: note: `pkg/ops/fwd.py` changed upstream: new import of `torch`; `fwd` with another body; "
        f"2 lines added, 1 removed, in 1 commit, of which 1 reads as a fix: {said} [upstream-file-changed]\n"
        f"    lock: vendor.lock.yaml:N\n{fix}\n"
        "1 warning, 2 notes in 1 upstream\n"
    )


def test_without_exit_code_changes_are_told_and_the_run_is_clean(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/fwd.py": FWD_NEW})
    assert consumer.run("outdated").code == ExitCode.CLEAN


def test_nothing_is_written(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/fwd.py": FWD_NEW})
    before = consumer.tree()
    consumer.run("outdated")
    assert consumer.tree() == before


def test_the_fix_of_a_changed_upstream_is_the_command_that_the_action_reads(
    consumer: Project, upstream: Repository
) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD_NEW})
    fix = found(consumer)["upstream-changed"]["fix"]
    assert fix == f"vendor-tool sync demo@{newest}"
    consumer.done(*fix.split()[1:])
    assert found(consumer) == {}


def test_a_conflict_is_foretold_with_the_patch_that_it_is_in(consumer: Project, upstream: Repository) -> None:
    patch(consumer, "0001-ours.patch", "vendored/demo/fwd.py", "    return n + 1", "    return n + 3")
    upstream.commit({"pkg/ops/fwd.py": FWD.replace("n + 1", "n + 2")})
    message = found(consumer)["upstream-changed"]["message"]
    assert message.endswith("; an upgrade stops at 1 conflict in `patches/demo/0001-ours.patch`")


def test_a_patch_that_upstream_took_is_foretold_to_be_obsolete(consumer: Project, upstream: Repository) -> None:
    patch(consumer, "0001-ours.patch", "vendored/demo/fwd.py", "    return n + 1", "    return n + 2")
    upstream.commit({"pkg/ops/fwd.py": FWD.replace("n + 1", "n + 2")})
    assert found(consumer)["upstream-changed"]["message"].endswith("; an upgrade is clean, 1 patch obsolete")


def test_a_file_that_is_gone_is_followed_to_where_its_functions_went(consumer: Project, upstream: Repository) -> None:
    moved = FWD.partition("\n\n\n")[2].partition("\n\n\n")
    upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/kernel/fwd.py": moved[0] + "\n", "pkg/ops/size.py": moved[2]})
    findings = found(consumer)
    assert findings["upstream-changed"]["message"].endswith("; an upgrade is refused: 1 mapped file is not there")
    assert findings["upstream-file-gone vendored/demo/fwd.py"]["message"] == (
        "`pkg/ops/fwd.py` is gone: fwd -> kernel/fwd.py (moved), scale -> size.py (moved)"
    )


def test_a_renamed_file_is_told_with_its_new_path(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": FWD})
    assert found(consumer)["upstream-file-renamed vendored/demo/fwd.py"]["message"] == (
        "`pkg/ops/fwd.py` is now `pkg/ops/forward.py` upstream, with the same content"
    )


def test_a_changed_licence_and_a_new_notice_are_told_although_no_file_of_ours_changed(
    consumer: Project, upstream: Repository
) -> None:
    upstream.commit({"LICENSE": MIT.replace("2025", "2026"), "NOTICE": "This product\n"})
    findings = found(consumer, "--exit-code", code=1)
    assert {"upstream-licence-changed", "upstream-notice-changed", "upstream-moved"} == set(findings)


def test_another_revision_can_be_asked_about(consumer: Project, upstream: Repository) -> None:
    wanted = upstream.commit({"pkg/ops/fwd.py": FWD_NEW})
    upstream.commit({"pkg/ops/fwd.py": FWD})
    assert found(consumer) == {"upstream-moved": found(consumer)["upstream-moved"]}
    assert found(consumer, f"demo@{wanted[:12]}")["upstream-changed"]["fix"] == f"vendor-tool sync demo@{wanted}"


def test_a_pin_ahead_of_the_branch_has_nothing_to_upgrade_to(tmp_path: Path, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    fixed = upstream.commit({"pkg/ops/fwd.py": FWD_NEW}, "Fix NaN", ref="refs/heads/fix", parent=first)
    consumer = synced(tmp_path / "proj", entry(upstream.url, fixed, "[fwd.py]"))
    findings = found(consumer, "--exit-code")
    assert set(findings) == {"pin-off-branch"}
    assert findings["pin-off-branch"]["message"] == (
        f"the pin `{fixed[:12]}` is not on branch `main`, only on `fix`; it is ahead by 1 commit, so that there is nothing "
        "to upgrade to"
    )


def test_a_pin_on_another_line_is_never_said_to_upgrade_cleanly(tmp_path: Path, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/fwd.py": FWD_NEW}, ref="refs/heads/fix", parent=first)
    fixed = upstream.commit({"pkg/ops/fwd.py": f"{FWD_NEW}# more\n"}, ref="refs/heads/fix")
    newest = upstream.commit({"pkg/ops/bwd.py": f"{BWD}# more\n"}, "go on")
    consumer = synced(tmp_path / "proj", entry(upstream.url, fixed, "[fwd.py, bwd.py]"))
    assert found(consumer, "--exit-code", code=1)["upstream-changed"]["message"].endswith(
        f"; the pin has 2 commits that `{newest[:12]}` lacks; an upgrade meets no conflict, and does not go on from the pin"
    )


def test_a_plan_that_goes_back_says_what_it_takes_back(tmp_path: Path, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    consumer = synced(tmp_path / "proj", entry(upstream.url, upstream.commit({"pkg/ops/fwd.py": FWD_NEW}), "[fwd.py]"))
    target = f"demo@{first}"
    loss = f"the pin has 1 commit that `{first[:12]}` lacks"
    assert f"  {loss}\n" in consumer.done("sync", target, "--dry-run").out
    assert f"⚠️ **T{loss[1:]}.**\n" in consumer.done("sync", target, "--dry-run", "--format", "markdown").out
    [plan] = json.loads(consumer.done("sync", target, "--dry-run", "--format", "json").out)["plans"]
    assert (plan["verdict"], plan["lacks"]) == ("aside", 1)
    schema = json.loads(files("vendor_tool.reports").joinpath("plan.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(
        {"schema": "vendor-tool/plan", "version": 1, "tool": {"name": "vendor-tool", "version": ""}, "plans": [plan]}
    )
    assert loss in found(consumer, target)["upstream-changed"]["message"]


def test_a_revision_that_the_upstream_does_not_have_is_a_wrong_argument(consumer: Project) -> None:
    assert consumer.refused(ExitCode.USAGE, "outdated", "demo@nope").startswith(
        "error: upstream `demo` has no branch or tag `nope`\n\nhint: there are `main`; "
    )


def test_a_renamed_file_is_not_told_as_new_too(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": FWD})
    assert not any(name.startswith("upstream-file-new") for name in found(consumer))


def globbed(tmp_path: Path, upstream: Repository, files: str = '["*.py"]') -> Project:
    return synced(tmp_path / "glob", entry(upstream.url, upstream.git("rev-parse", "main"), files))


@pytest.mark.parametrize("cached", [True, False])
def test_a_new_file_that_a_pattern_matches_is_a_change_of_ours(
    tmp_path: Path, upstream: Repository, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = globbed(tmp_path, upstream)
    newest = upstream.commit({"pkg/ops/more.py": "y = 1\n", "pkg/ops/more.md": "no kernel\n"}, "fix by a new kernel")
    if not cached:
        monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "empty"))
    fix = f"vendor-tool sync demo@{newest}"
    for _ in range(2):
        findings = found(consumer, "--exit-code", code=1)
        assert set(findings) == {"upstream-changed", "upstream-file-new"}
        history = f"in 1 commit, of which 1 reads as a fix: `{newest[:12]}` fix by a new kernel"
        assert findings["upstream-changed"]["message"] == (
            f"1 file is new upstream between `{pin(consumer)[:12]}` and `{newest[:12]}` {history}; an upgrade is clean"
        )
        new = findings["upstream-file-new"]
        assert new["message"] == (
            f"new: `pkg/ops/more.py` matches `*.py` {history}; an upgrade would take it as `vendored/demo/more.py`"
        )
        assert new["fix"] == fix
        assert consumer.lock.splitlines()[int(new["lock_line"]) - 1].strip() == 'files: ["*.py"]'
    consumer.done(*fix.split()[1:])
    assert consumer.read("vendored/demo/more.py") == b"y = 1\n"
    assert found(consumer) == {}


def test_changed_and_new_files_are_counted_apart(tmp_path: Path, upstream: Repository) -> None:
    consumer = globbed(tmp_path, upstream)
    upstream.commit({"pkg/ops/fwd.py": FWD_NEW, "pkg/ops/more.py": "y = 1\n", "pkg/ops/most.py": "y = 2\n"})
    assert found(consumer)["upstream-changed"]["message"].startswith(
        "1 of 2 files changed upstream and 2 files are new "
    )


def test_a_new_file_that_no_upgrade_can_take_is_told_with_the_refusal(tmp_path: Path, upstream: Repository) -> None:
    consumer = globbed(tmp_path, upstream)
    newest = upstream.commit({"pkg/ops/more.py": "from pkg.deep import x\n", "pkg/deep.py": "x = 1\n"})
    findings = found(consumer, "--exit-code", code=1)
    assert "; an upgrade is refused: " in findings["upstream-changed"]["message"]
    assert "upstream-file-new" in findings
    plan = consumer.run("sync", f"demo@{newest}", "--dry-run", "--format", "markdown")
    assert plan.code == ExitCode.USAGE
    assert "| `vendored/demo/more.py` | new | `pkg/ops/more.py` matches `*.py` |\n" in plan.out


def test_a_new_file_beside_a_list_of_all_is_noted_with_the_command_that_takes_it(
    consumer: Project, upstream: Repository
) -> None:
    newest = upstream.commit({"pkg/ops/more.py": "y = 1\n"})
    first, findings = found(consumer, "--exit-code"), found(consumer, "--exit-code")
    assert set(findings) == {"upstream-moved", "upstream-file-new"}
    assert findings == first
    new = findings["upstream-file-new"]
    assert new["message"] == (
        "new: `pkg/ops/more.py` stands in `pkg/ops`, of which `files:` lists every other file; no upgrade takes it by "
        "itself"
    )
    assert new["fix"] == f"vendor-tool add demo --rev {newest} --file more.py"
    consumer.done(*new["fix"].split()[1:])
    consumer.done("sync")
    assert consumer.read("vendored/demo/more.py") == b"y = 1\n"
    assert found(consumer) == {}


# ---- what is asked of the upstream ------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path: Path, upstream: Repository) -> Iterator[tuple[Server, Project]]:
    with serve(tmp_path) as server:
        url = f"{server.url}/up.git"
        yield server, synced(tmp_path / "http", entry(url, upstream.git("rev-parse", "main"), "[fwd.py, bwd.py]"))


def test_an_upstream_at_the_pin_costs_one_listing_of_branches(served: tuple[Server, Project]) -> None:
    server, consumer = served
    server.requests.clear()
    consumer.done("outdated")
    assert [request.method for request in server.requests] == ["GET", "POST"]
    body = server.requests[1].body
    assert (b"command=ls-refs" in body, b"refs/heads/" in body, b"refs/tags/" in body) == (True, True, False)


def test_a_known_newest_revision_costs_no_more(served: tuple[Server, Project], upstream: Repository) -> None:
    server, consumer = served
    upstream.commit({"other.py": "x = 2\n"})
    consumer.done("outdated")
    server.requests.clear()
    consumer.done("outdated")
    assert [request.method for request in server.requests] == ["GET", "POST"]


def test_no_file_is_fetched_while_none_of_ours_changed(served: tuple[Server, Project], upstream: Repository) -> None:
    server, consumer = served
    upstream.commit({"other.py": "x = 2\n"})
    server.requests.clear()
    consumer.done("outdated")
    blob = upstream.blob("main", "other.py").encode()
    assert [request for request in server.requests if blob in request.body] == []


def test_a_renamed_repository_is_told_with_its_new_address(
    served: tuple[Server, Project], upstream: Repository
) -> None:
    server, consumer = served
    query = "info/refs?service=git-upload-pack"
    upstream.path.rename(upstream.path.with_name("new.git"))
    server.plain[f"/up.git/{query}"] = Answer(status=301, headers=(("Location", f"{server.url}/new.git/{query}"),))
    message = found(consumer, "--exit-code", code=1)["repository-renamed"]["message"]
    assert message == f"`{server.url}/up.git` is `{server.url}/new.git` now: write that under `url:`"


def test_what_a_server_says_cannot_steer_the_terminal(served: tuple[Server, Project]) -> None:
    server, consumer = served
    words = b"ERR \x1b[31m\xe2\x80\xaegone\x00\n"
    body = b"001e# service=git-upload-pack\n0000" + f"{len(words) + 4:04x}".encode() + words
    kind = ("Content-Type", "application/x-git-upload-pack-advertisement")
    server.plain["/up.git/info/refs?service=git-upload-pack"] = Answer(body=body, headers=(kind,))
    result = consumer.run("outdated")
    assert result.code == ExitCode.UPSTREAM
    for said in (result.out, result.err):
        assert re.search(r"fatal: remote error: (\?|\\x1b)\[31m\\u202egone( \[upstream-unreachable\])?\n", said)
        assert all(character.isprintable() or character == "\n" for character in said)


def test_an_upstream_that_is_gone_keeps_no_other_from_being_told(tmp_path: Path, upstream: Repository) -> None:
    lost = repository(tmp_path / "lost.git")
    lost.commit(FILES)
    consumer = synced(
        tmp_path / "proj",
        entry(lost.url, lost.git("rev-parse", "main"), "[fwd.py]", name="lost", to="vendored/lost"),
        entry(upstream.url, upstream.git("rev-parse", "main"), "[bwd.py]"),
    )
    upstream.commit({"pkg/ops/bwd.py": f"{BWD}\n\nx = 1\n"})
    lost.path.rename(tmp_path / "elsewhere.git")
    result = consumer.run("outdated", "--format", "json")
    assert result.code == ExitCode.UPSTREAM
    rules = {one["rule"]: one["upstream"] for one in json.loads(result.out)["findings"]}
    assert (rules["upstream-unreachable"], rules["upstream-changed"]) == ("lost", "demo")
    assert "error: upstream `lost`: the list of branches and tags could not be fetched\n" in result.err
    assert "\nhint: " in result.err


def test_a_mirror_that_answers_instead_is_told(tmp_path: Path, upstream: Repository) -> None:
    mirror = repository(tmp_path / "mirror.git")
    mirror.commit(FILES, "first")
    assert mirror.git("rev-parse", "main") == upstream.git("rev-parse", "main")
    consumer = synced(
        tmp_path / "proj",
        entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]", more=f"mirrors: [{mirror.url}]"),
    )
    upstream.path.rename(tmp_path / "elsewhere.git")
    message = found(consumer)["repository-mirror"]["message"]
    assert message == f"`{upstream.url}` gives no answer; `{mirror.url}` does"


def test_offline_is_refused_and_not_offered(consumer: Project) -> None:
    assert "--offline" not in consumer.child("outdated", "--help").stdout
    assert consumer.refused(ExitCode.USAGE, "outdated", "--offline") == (
        "error: `outdated` asks upstreams, which `--offline` forbids\n\nhint: `vendor-tool check` needs no network\n"
    )


def test_an_entry_that_was_never_synced_is_told(tmp_path: Path, upstream: Repository) -> None:
    consumer = project(
        tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    assert found(consumer)["drift-not-synced"]["fix"] == "vendor-tool sync demo"


# ---- the pin ----------------------------------------------------------------------------------------------


def pin(consumer: Project) -> str:
    return str(re.findall(r"revision: ([0-9a-f]{40})", consumer.lock)[0])


def aside(tmp_path: Path, upstream: Repository, ref: str, *, branch: str = "main") -> Project:
    """A project whose pin is one commit below `ref`, which left the main branch before its last commit."""
    first = upstream.git("rev-parse", "main")
    pinned = upstream.commit({"pkg/ops/bwd.py": f"{BWD}\n\nx = 1\n"}, "aside", ref=ref, parent=first)
    upstream.commit({"other.py": "x = 3\n"}, "on top", ref=ref)
    upstream.commit({"other.py": "x = 2\n"}, "go on")
    text = entry(upstream.url, pinned, "[fwd.py, bwd.py]").replace("branch: main", f"branch: {branch}")
    return synced(tmp_path / "aside", text)


def test_a_pin_below_the_branch_is_in_order(consumer: Project, upstream: Repository) -> None:
    upstream.tag("v1", "main")
    upstream.commit({"other.py": "x = 2\n"})
    assert set(found(consumer)) == {"upstream-moved"}


def test_a_pin_on_another_branch_is_noted(tmp_path: Path, upstream: Repository) -> None:
    consumer = aside(tmp_path, upstream, "refs/heads/dev")
    assert found(consumer)["pin-off-branch"]["message"] == (
        f"the pin `{pin(consumer)[:12]}` is not on branch `main`, only on `dev`"
    )


def test_a_pin_under_a_pull_request_alone_is_a_warning(tmp_path: Path, upstream: Repository) -> None:
    consumer = aside(tmp_path, upstream, "refs/pull/1045/head")
    assert found(consumer, "--exit-code", code=1)["pin-on-request"]["message"] == (
        f"the pin `{pin(consumer)[:12]}` is on no branch, only under pull request 1045: whoever opened it can take it away"
    )


def test_a_pin_that_nothing_holds_is_a_warning(tmp_path: Path, upstream: Repository) -> None:
    consumer = aside(tmp_path, upstream, "refs/heads/dev")
    upstream.git("update-ref", "-d", "refs/heads/dev")
    assert found(consumer, "--exit-code", code=1)["pin-unreachable"]["message"] == (
        f"the pin `{pin(consumer)[:12]}` is on no branch, tag or pull request: the upstream still gives it by its id, until "
        "it clears up"
    )


@pytest.mark.parametrize("cached", [True, False])
def test_a_pin_that_was_forced_away_and_collected_is_a_warning_with_the_way_out(
    tmp_path: Path, upstream: Repository, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = upstream.git("rev-parse", "main")
    pinned = upstream.commit({"pkg/ops/fwd.py": FWD_NEW}, "to be forced away")
    consumer = synced(tmp_path / "proj", entry(upstream.url, pinned, "[fwd.py]"))
    upstream.git("update-ref", "refs/heads/main", first)
    newest = upstream.commit({"other.py": "x = 4\n"}, "instead")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    if not cached:
        monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "empty"))
    for _ in range(2):
        findings = found(consumer, "--exit-code", code=1)
        assert set(findings) == {"pin-unreachable", "upstream-changed", "upstream-file-changed vendored/demo/fwd.py"}
        lost = findings["pin-unreachable"]
        assert lost["message"] == (
            f"the pin `{pinned[:12]}` is on no branch, tag or pull request, and the upstream does not give it by its id any "
            "more: the history was rewritten, or its branch deleted"
        )
        assert lost["fix"] == (
            f"vendor-tool sync demo@{newest}, or write `mirrors: [URL]` under `demo:` in the lock, of a repository "
            f"that holds `{pinned[:12]}`"
        )


def test_a_branch_that_is_gone_is_told_and_nothing_is_followed_in_its_place(
    tmp_path: Path, upstream: Repository
) -> None:
    consumer = aside(tmp_path, upstream, "refs/pull/7/head", branch="deepseek")
    findings = found(consumer, "--exit-code", code=1)
    assert set(findings) == {"branch-gone", "pin-on-request"}
    assert findings["branch-gone"]["message"] == (
        "branch `deepseek` is not there (any more), so that nothing is followed; there is `main`"
    )
    command = findings["branch-gone"]["fix"].split()
    assert command == ["vendor-tool", "outdated", "demo@HEAD"]
    newest = upstream.git("rev-parse", "main")
    assert found(consumer, *command[2:])["upstream-changed"]["fix"] == f"vendor-tool sync demo@{newest}"


def test_a_tag_that_is_followed_and_moved_is_a_warning(tmp_path: Path, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.tag("v1", first)
    consumer = synced(tmp_path / "proj", entry(upstream.url, first, "[fwd.py]").replace("branch: main", "branch: v1"))
    assert found(consumer) == {}
    newest = upstream.commit({"other.py": "x = 2\n"})
    upstream.git("tag", "-f", "v1", newest)
    moved = found(consumer)["tag-moved"]
    assert moved["message"] == f"tag `v1` was `{first[:12]}` and is now `{newest[:12]}`; the lock keeps the commit"
    assert moved["fix"] == f"vendor-tool sync demo@{newest}"


def test_a_pin_in_a_range_that_is_known_to_be_bad_is_an_error(tmp_path: Path, upstream: Repository) -> None:
    bad = upstream.git("rev-parse", "main")
    good = upstream.commit({"pkg/ops/bwd.py": f"{BWD}\n\nx = 1\n"}, "mend")
    note = f"known-bad:\n  - {{upstream: demo, since: {bad}, until: {good}, reason: NaN gradients}}\n"
    consumer = project(tmp_path / "proj", lock(entry(upstream.url, bad, "[fwd.py]"), shims="") + note)
    consumer.done("sync")
    finding = found(consumer, "--exit-code", code=1)["known-bad-pin"]
    assert (finding["message"], finding["fix"]) == (
        f"the pin `{bad[:12]}` is known to be bad: NaN gradients",
        f"vendor-tool sync demo@{good}",
    )


# ---- copies of one file -----------------------------------------------------------------------------------

LONG = "".join(f"def part_{number}(n):\n    return n * {number} + 1\n\n\n" for number in range(20))


def two_copies(tmp_path: Path) -> tuple[Repository, Project]:
    """Two upstreams with copies of one file, which differ in a line."""
    one, two = repository(tmp_path / "one.git"), repository(tmp_path / "two.git")
    one.commit({"LICENSE": MIT, "pkg/ops/k.py": LONG})
    two.commit({"LICENSE": MIT, "pkg/ops/k.py": LONG.replace("n * 3 + 1", "n * 3 + 2")})
    entries = [
        entry(r.url, r.git("rev-parse", "main"), "[k.py]", name=name, to=f"vendored/{name}")
        for name, r in (("one", one), ("two", two))
    ]
    return one, synced(tmp_path / "proj", *entries)


def test_copies_that_differ_are_noted_again_and_again(tmp_path: Path) -> None:
    _, consumer = two_copies(tmp_path)
    expected = "`vendored/one/k.py` (one) and `vendored/two/k.py` (two) are copies of one file and differ in 1 place"
    for _ in range(2):
        assert found(consumer)["sibling-differs vendored/one/k.py"]["message"] == expected


def test_a_fix_in_one_copy_is_what_the_other_lacks(tmp_path: Path) -> None:
    one, consumer = two_copies(tmp_path)
    newest = one.commit({"pkg/ops/k.py": LONG.replace("n * 7 + 1", "n * 7 + 5")}, "fix overflow")
    lacks = found(consumer)["sibling-lacks vendored/two/k.py"]
    assert lacks["message"] == (
        f"one changed its copy of this file by `{newest[:12]}`, and two's still has the old lines in 1 place: "
        f"line 30. It changed in 1 commit, of which 1 reads as a fix: `{newest[:12]}` fix overflow"
    )
    assert consumer.read("vendored/two/k.py").splitlines()[int(lacks["line"]) - 1] == b"    return n * 7 + 1"
    assert "k.py" in consumer.lock.splitlines()[int(lacks["lock_line"]) - 1]
    assert (lacks["side"], lacks["fix"]) == (
        "upstream",
        "vendor-tool patch new two, once the lines are changed in the file",
    )
    assert (
        "--- two:pkg/ops/k.py\n+++ one:pkg/ops/k.py\n@@ -30,1 +30,1 @@\n-    return n * 7 + 1\n+    return n * 7 + 5\n"
        in consumer.done("--verbose", "outdated").err
    )


@pytest.mark.parametrize("name", ["one", "two"])
def test_either_name_alone_tells_what_the_other_lacks(tmp_path: Path, name: str) -> None:
    one, consumer = two_copies(tmp_path)
    one.commit({"pkg/ops/k.py": LONG.replace("n * 7 + 1", "n * 7 + 5")}, "fix overflow")
    for _ in range(2):
        findings = found(consumer, name, "--exit-code", code=1)
        assert {"sibling-differs vendored/one/k.py", "sibling-lacks vendored/two/k.py"} <= set(findings)


def test_a_fix_that_came_with_an_upgrade_is_still_what_the_other_copy_lacks(tmp_path: Path) -> None:
    one, consumer = two_copies(tmp_path)
    newest = one.commit({"pkg/ops/k.py": LONG.replace("n * 7 + 1", "n * 7 + 5")}, "fix overflow")
    consumer.done("sync", f"one@{newest}")
    for _ in range(2):
        findings = found(consumer, "--exit-code", code=1)
        assert set(findings) == {"sibling-differs vendored/one/k.py", "sibling-lacks vendored/two/k.py"}
        lacks = findings["sibling-lacks vendored/two/k.py"]
        assert (lacks["level"], int(lacks["line"])) == ("warning", 30)
        assert lacks["message"] == (
            f"one changed its copy of this file by `{newest[:12]}`, its pin, and two's still has the old lines in 1 place: "
            f"line 30. It changed in 1 commit, of which 1 reads as a fix: `{newest[:12]}` fix overflow"
        )


def test_a_fix_that_was_taken_as_a_patch_is_not_lacking(tmp_path: Path) -> None:
    one, consumer = two_copies(tmp_path)
    newest = one.commit({"pkg/ops/k.py": LONG.replace("n * 7 + 1", "n * 7 + 5")}, "fix overflow")
    text = consumer.read("vendored/two/k.py").decode().replace("n * 7 + 1", "n * 7 + 5")
    consumer.write({"vendored/two/k.py": text})
    consumer.done("patch", "new", "two", "--title", "overflow")
    assert "sibling-lacks vendored/two/k.py" not in found(consumer)
    consumer.done("sync", f"one@{newest}")
    assert set(found(consumer, "--exit-code")) == {"sibling-differs vendored/one/k.py"}


def test_a_change_of_layout_alone_is_a_note_that_says_so(tmp_path: Path) -> None:
    one, consumer = two_copies(tmp_path)
    newest = one.commit({"pkg/ops/k.py": LONG.replace("n * 7 + 1", "n*7 + 1")}, "format")
    lacks = found(consumer)["sibling-lacks vendored/two/k.py"]
    assert (lacks["level"], lacks["message"].split(",")[0]) == (
        "note",
        f"one changed the layout alone of its copy of this file by `{newest[:12]}`",
    )


def test_a_sibling_that_gives_no_answer_is_told(tmp_path: Path) -> None:
    one, consumer = two_copies(tmp_path)
    consumer.done("outdated")
    one.path.rename(tmp_path / "elsewhere.git")
    assert found(consumer, "two")["sibling-unclear"]["message"].startswith(
        "copies of one file are not compared with what `one` has: upstream `one`: "
    )


def test_the_hunks_are_shown_when_asked_for(tmp_path: Path) -> None:
    _, consumer = two_copies(tmp_path)
    result = consumer.done("--verbose", "outdated")
    assert (
        "--- one:pkg/ops/k.py\n+++ two:pkg/ops/k.py\n@@ -14,1 +14,1 @@\n-    return n * 3 + 1\n+    return n * 3 + 2\n"
        in result.err
    )


# ---- imports at run time ----------------------------------------------------------------------------------


@pytest.fixture
def importing(tmp_path: Path) -> tuple[Repository, Project]:
    """A project that imports `kern.ops.norm` of an upstream at run time."""
    made = repository(tmp_path / "kern.git")
    made.commit({"LICENSE": MIT, "kern/__init__.py": "", "kern/ops.py": "def norm(x):\n    return x\n"})
    text = (
        f"  kern:\n    url: {made.url}\n    branch: main\n    revision: {made.git('rev-parse', 'main')}\n"
        "    imports: [kern.ops.norm]\n"
    )
    return made, synced(tmp_path / "proj", text)


def wheel(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_an_import_that_upstreams_newest_lacks_is_a_warning(importing: tuple[Repository, Project]) -> None:
    upstream, consumer = importing
    newest = upstream.commit({"kern/ops.py": "def layer_norm(x):\n    return x\n"})
    message = found(consumer, "--exit-code", code=1)["import-gone"]["message"]
    assert message.startswith(f"`kern.ops.norm` is not in `{newest[:12]}`: ")


def test_an_import_with_another_signature_is_noted(importing: tuple[Repository, Project]) -> None:
    upstream, consumer = importing
    newest = upstream.commit({"kern/ops.py": "def norm(x, eps=0):\n    return x\n"})
    assert found(consumer)["import-changed"]["message"] == (
        f"`kern.ops.norm` is another one in `{newest[:12]}`: its signature was `(x)` and is `(x, eps=0)`"
    )


def test_a_published_package_that_lacks_the_import_is_found_without_importing_it(
    importing: tuple[Repository, Project], tmp_path: Path
) -> None:
    _, consumer = importing
    bad = wheel(tmp_path / "kern-2.1.0-py3-none-any.whl", {"kern/__init__.py": "1 / 0\n", "kern/ops.py": "x = 1\n"})
    good = wheel(
        tmp_path / "kern-1.0.0-py3-none-any.whl",
        {"kern/__init__.py": "1 / 0\n", "kern/ops.py": "def norm(x):\n    return x\n"},
    )
    assert found(consumer, "--wheel", str(good)) == {}
    gone = found(consumer, "--wheel", str(bad))["import-gone"]
    assert gone["message"].startswith("`kern.ops.norm` is not in `kern` 2.1.0, in the wheel: ")
    assert gone["fix"] == "write the versions of `kern` that have it under `requires:`"
    consumer.write(
        {"vendor.lock.yaml": consumer.lock.replace("    imports:", "    requires: {kern: ==1.*}\n    imports:", 1)}
    )
    assert found(consumer, "--wheel", str(bad))["import-gone"]["fix"] == "pip install 'kern==1.*'"


def test_a_module_that_no_package_accounts_for_is_told(
    importing: tuple[Repository, Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, consumer = importing
    (tmp_path / "site" / "kern").mkdir(parents=True)
    (tmp_path / "site" / "kern" / "__init__.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert found(consumer, "--exit-code")["import-unclear"]["message"] == (
        f"`kern`: what imports find at `{tmp_path / 'site' / 'kern'}` could not be looked at: no installed package accounts "
        "for it"
    )


def test_an_import_whose_source_at_the_pin_is_lost_is_told(
    importing: tuple[Repository, Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream, consumer = importing
    first = upstream.git("rev-parse", "main")
    upstream.git("update-ref", "-d", "refs/heads/main")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    upstream.commit({"LICENSE": MIT, "kern/__init__.py": "", "kern/ops.py": "def norm(x):\n    return x + 1\n"})
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "empty"))
    assert upstream.git("rev-parse", "main") != first
    message = found(consumer, "--exit-code", code=1)["import-unclear"]["message"]
    assert message.startswith("`kern.ops.norm`: it could not be compared with the pin: upstream `kern`: ")


# ---- the plan of an upgrade -------------------------------------------------------------------------------


def test_a_plan_as_text_tells_files_patches_imports_symbols_licence_and_commits(
    consumer: Project, upstream: Repository
) -> None:
    patch(consumer, "0001-ours.patch", "vendored/demo/fwd.py", "    return n * 2", "    return n * 3")
    old = pin(consumer)
    newest = upstream.commit(
        {"pkg/ops/fwd.py": FWD_NEW, "pkg/ops/bwd.py": "x = 1\n", "LICENSE": MIT.replace("2025", "2026")}, "fix the NaN"
    )
    before = consumer.tree()
    result = consumer.run("sync", f"demo@{newest[:12]}", "--dry-run")
    assert result.code == ExitCode.CONTENT, "as the upgrade would end: another licence text is to be accepted first"
    assert consumer.tree() == before
    assert result.out == (
        f"demo: {old[:12]} (2023-11-14) -> {newest[:12]} (2023-11-14)\n"
        "  an upgrade is clean, 1 patch carried over, once the licence that changed is accepted\n"
        "  2 of 2 files of ours changed, 1 elsewhere in the repository\n"
        "    vendored/demo/bwd.py: changed: `back` removed; 1 line added, 2 removed\n"
        "    vendored/demo/fwd.py: changed: new import of `torch`; `fwd` with another body; 2 lines added, "
        "1 removed\n"
        "  the upstream's licence file has changed\n"
        "  patches:\n"
        "    patches/demo/0001-ours.patch: applies as it is\n"
        "      hunk 1 of `vendored/demo/fwd.py` fits at line 10, recorded at 9\n"
        "  new import: torch (at module level) in vendored/demo/fwd.py, upstream line 2\n"
        "  gone: back (vendored/demo/bwd.py)\n"
        "  1 commit touches our files, of which 1 reads as a fix\n"
        f"    {newest[:12]} 2023-11-14 fix the NaN  [fix: fix]\n"
    )
    accepted = consumer.done("sync", f"demo@{newest[:12]}", "--dry-run", "--accept-license")
    assert accepted.out == result.out
    assert "would write vendored/demo/fwd.py\n" in accepted.err
    assert consumer.tree() == before


def test_a_plan_as_json_fits_its_schema(consumer: Project, upstream: Repository) -> None:
    patch(consumer, "0001-ours.patch", "vendored/demo/fwd.py", "    return n + 1", "    return n + 3")
    newest = upstream.commit({"pkg/ops/fwd.py": FWD_NEW, "LICENSE": "Apache License\n"}, "fix the NaN")
    result = consumer.run("sync", f"demo@{newest}", "--dry-run", "--format", "json")
    assert result.code == ExitCode.CONTENT
    schema = json.loads(files("vendor_tool.reports").joinpath("plan.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    document = json.loads(result.out)
    Draft202012Validator(schema).validate(document)
    [plan] = document["plans"]
    assert (plan["verdict"], plan["conflicts"]) == (
        "conflict",
        [{"path": "vendored/demo/fwd.py", "patch": "patches/demo/0001-ours.patch", "kind": "content", "places": 1}],
    )
    assert plan["commits"][0]["fix"] == "fix"


def test_a_plan_as_markdown_lets_nothing_of_the_upstream_notify_or_break_out(
    consumer: Project, upstream: Repository
) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": FWD_NEW}, "fix #12 for @ada | <b>")
    result = consumer.done("sync", f"demo@{newest}", "--dry-run", "--format", "markdown", "--output", "plan.md")
    assert result.out == ""
    assert consumer.read("plan.md").decode() == (
        f"### demo: `{pin(consumer)[:12]}` → `{newest[:12]}`\n\n"
        f"<{upstream.url}>, from 2023-11-14 to 2023-11-14\n\n"
        "**An upgrade is clean.** 1 of 2 files of ours changed, 0 elsewhere in the repository.\n\n"
        "| file |  | what |\n|---|---|---|\n"
        "| `vendored/demo/fwd.py` | changed | new import of `torch`; `fwd` with another body; 2 lines added, 1 removed |\n\n"
        "| new import | where | file |\n|---|---|---|\n"
        "| `torch` | at module level | `vendored/demo/fwd.py`, line 2 |\n\n"
        "1 commit touches our files, of which 1 reads as a fix.\n\n"
        "| commit | date | subject | fix |\n|---|---|---|---|\n"
        f"| `{newest[:12]}` | 2023-11-14 | fix #&#8203;12 for @&#8203;ada \\| \\<b\\> | **fix** |\n"
    )


def test_a_plan_of_a_refused_upgrade_says_what_to_edit(consumer: Project, upstream: Repository) -> None:
    newest = upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": FWD})
    result = consumer.run("sync", f"demo@{newest}", "--dry-run", "--format", "json")
    assert result.code == ExitCode.CONFLICT
    [plan] = json.loads(result.out)["plans"]
    assert plan["verdict"] == "refused"
    assert plan["files"][0]["now"] == "pkg/ops/forward.py"
    assert "change `files:`" in plan["refusal"]["hint"]


def test_a_new_file_that_a_pattern_matches_is_in_the_plan(tmp_path: Path, upstream: Repository) -> None:
    consumer = synced(tmp_path / "proj", entry(upstream.url, upstream.git("rev-parse", "main"), '["*.py"]'))
    newest = upstream.commit({"pkg/ops/more.py": "y = 1\n"})
    plan = consumer.done("sync", f"demo@{newest}", "--dry-run").out
    assert "    vendored/demo/more.py: new: `pkg/ops/more.py` matches `*.py`\n" in plan


def test_a_form_without_a_plan_is_refused(consumer: Project) -> None:
    assert consumer.refused(ExitCode.USAGE, "sync", "--format", "json") == (
        "error: `--format`, `--output` and `--also` are for upgrade plans\n\nhint: run `vendor-tool sync NAME@REV --dry-run`\n"
    )
