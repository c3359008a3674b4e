from collections.abc import Mapping

from tests.outdated.facts import NEW, PIN, UPSTREAM, listing
from vendor_tool.findings import Finding
from vendor_tool.model import At, Commit, FileSpec, Upstream
from vendor_tool.outdated import RULES
from vendor_tool.outdated.files import Changes, compare
from vendor_tool.outdated.pins import Standing
from vendor_tool.outdated.verdict import Facts, changed_import, findings, gone_import
from vendor_tool.values import replace

SYNC = f"vendor-tool sync demo@{NEW}"
FIX = Commit("f" * 40, "2026-01-01T00:00:00+00:00", "A", "fix NaN in the backward pass", "", ("ops/bwd.py",))
WORK = Commit("c" * 40, "2026-01-01T00:00:00+00:00", "A", "tune", "", ("ops/bwd.py", "ops/fwd.py"))


def said(found: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in found]


def changes(new: Mapping[str, str | None] | None = None) -> Changes:
    return compare(UPSTREAM, listing(other=new), listing(PIN))


def test_nothing_is_said_of_a_current_pin() -> None:
    assert findings(UPSTREAM, Facts(newest=PIN, changes=changes())) == []


def test_repository_that_moved_without_our_files_is_a_note() -> None:
    [finding] = findings(UPSTREAM, Facts(newest=NEW, changes=changes({"README.md": "new"})))
    assert finding == Finding(
        "upstream-moved",
        "note",
        "only the repository moved between `aaaaaaaaaaaa` and `bbbbbbbbbbbb`: 1 file changed, none of ours",
        lock_line=10,
        upstream="demo",
        side="upstream",
    )


def test_changed_files_are_summed_up_and_named_with_commits_and_fixes() -> None:
    facts = Facts(
        newest=NEW,
        changes=changes({"ops/fwd.py": "x", "ops/bwd.py": "y"}),
        commits=[WORK, FIX],
        fixes={FIX.sha},
        details={"ops/bwd.py": "body of `backward` changed"},
        outcome="an upgrade is clean",
    )
    found = findings(UPSTREAM, facts)
    assert said(found) == [
        (
            "upstream-changed",
            "2 of 3 files changed upstream between `aaaaaaaaaaaa` and `bbbbbbbbbbbb` in 2 commits, of which 1 reads as a "
            "fix: `ffffffffffff` fix NaN in the backward pass; an upgrade is clean",
        ),
        ("upstream-file-changed", "`ops/fwd.py` changed upstream in 1 commit: `cccccccccccc` tune"),
        (
            "upstream-file-changed",
            "`ops/bwd.py` changed upstream: body of `backward` changed, in 2 commits, of which 1 reads as a fix: "
            "`ffffffffffff` fix NaN in the backward pass",
        ),
    ]
    assert [(finding.path, finding.lock_line) for finding in found] == [
        (None, 10),
        ("vendored/fwd.py", 30),
        ("vendored/bwd.py", 31),
    ]
    assert {finding.fix for finding in found} == {SYNC}


def test_renamed_and_gone_files_name_where_they_may_be() -> None:
    new: dict[str, str | None] = {"ops/fwd.py": None, "ops/bwd.py": None, "k/front.py": "ops/fwd.py", "k/bwd.py": "z"}
    found = findings(UPSTREAM, Facts(newest=NEW, changes=changes(new)))
    assert said(found)[1:] == [
        ("upstream-file-renamed", "`ops/fwd.py` is now `k/front.py` upstream, with the same content"),
        ("upstream-file-gone", "`ops/bwd.py` is gone upstream; perhaps it is now `k/bwd.py`"),
    ]


def test_search_that_went_deeper_says_where_a_file_went() -> None:
    facts = Facts(
        newest=NEW,
        changes=changes({"ops/bwd.py": None}),
        fates={"ops/bwd.py": "`ops/bwd.py` is gone: back -> k/back.py (moved)"},
    )
    assert said(findings(UPSTREAM, facts))[1:] == [
        ("upstream-file-gone", "`ops/bwd.py` is gone: back -> k/back.py (moved)")
    ]


def listed(*paths: str) -> Upstream:
    """The same entry, which lists its files by name."""
    return replace(UPSTREAM, files=tuple(FileSpec(path, None, At(12, 9)) for path in paths))


def test_a_file_that_is_listed_and_not_there_is_mended_by_an_edit_first() -> None:
    new: dict[str, str | None] = {"ops/fwd.py": None, "ops/bwd.py": None, "ops/front.py": "ops/fwd.py"}
    upstream = listed("fwd.py", "bwd.py", "index.py")
    found = findings(upstream, Facts(newest=NEW, changes=compare(upstream, listing(other=new), listing(PIN))))
    assert {finding.rule: finding.fix for finding in found} == {
        "upstream-changed": SYNC,
        "upstream-file-renamed": (
            f"name `front.py` instead of `fwd.py` under `files:`, with `to: fwd.py` to keep its place; then run `{SYNC}`"
        ),
        "upstream-file-gone": f"say under `files:` what takes the place of `bwd.py`, or take it out; then run `{SYNC}`",
    }


def test_a_file_that_is_gone_and_not_listed_any_more_needs_no_edit() -> None:
    upstream = listed("bwd.py", "index.py")
    facts = Facts(newest=NEW, changes=compare(upstream, listing(other={"ops/fwd.py": None}), listing(PIN)))
    assert {finding.fix for finding in findings(upstream, facts)} == {SYNC}


def test_a_new_file_is_listed_by_hand_while_others_that_are_listed_are_gone() -> None:
    upstream = listed("fwd.py", "bwd.py", "index.py")
    new: dict[str, str | None] = {"ops/more.py": "m"}
    for changed, start in ((new, "vendor-tool add demo "), ({**new, "ops/fwd.py": None}, "list it under `files:`")):
        facts = Facts(newest=NEW, changes=compare(upstream, listing(other=changed), listing(PIN)))
        [told] = [one for one in findings(upstream, facts) if one.rule == "upstream-file-new"]
        assert str(told.fix).startswith(start)


def test_a_pin_off_the_tag_that_is_followed_is_said_so() -> None:
    facts = Facts(newest=PIN, changes=changes(), follows_tag=True, standing=Standing("tag", ("refs/tags/v1",)))
    assert said(findings(UPSTREAM, facts)) == [
        ("pin-off-branch", "the pin `aaaaaaaaaaaa` is not on tag `main`, only on `v1`")
    ]


def test_licence_and_notice_changes_are_said_even_where_no_file_changed() -> None:
    found = findings(UPSTREAM, Facts(newest=NEW, changes=changes({"LICENSE": "new", "NOTICE": "new"})))
    assert said(found)[1:] == [
        (
            "upstream-licence-changed",
            "the upstream's licence file has changed at `bbbbbbbbbbbb`: read it before an upgrade",
        ),
        (
            "upstream-notice-changed",
            "the upstream's NOTICE file was added at `bbbbbbbbbbbb`: read it before an upgrade",
        ),
    ]
    assert [finding.fix for finding in found[1:]] == [f"{SYNC} --accept-license", SYNC]


def test_weak_hold_on_a_pin_is_said_at_its_line() -> None:
    messages = {}
    for standing in (
        Standing("branch", ("refs/heads/main",)),
        Standing("unknown"),
        Standing("other-branch", ("refs/heads/a/b",)),
        Standing("request", ("refs/pull/1045/head",)),
        Standing("nowhere"),
        Standing("gone"),
        Standing("refused"),
    ):
        found = findings(UPSTREAM, Facts(newest=PIN, changes=changes(), standing=standing))
        assert [finding.lock_line for finding in found] == [10] * len(found)
        messages[standing.kind] = said(found)
    assert messages == {
        "branch": [],
        "unknown": [],
        "other-branch": [("pin-off-branch", "the pin `aaaaaaaaaaaa` is not on branch `main`, only on `a/b`")],
        "request": [
            (
                "pin-on-request",
                "the pin `aaaaaaaaaaaa` is on no branch, only under pull request 1045: whoever opened it can take it away",
            )
        ],
        "nowhere": [
            (
                "pin-unreachable",
                "the pin `aaaaaaaaaaaa` is on no branch, tag or pull request: the upstream still gives it by its id, until "
                "it clears up",
            )
        ],
        "gone": [
            (
                "pin-unreachable",
                "the pin `aaaaaaaaaaaa` is on no branch, tag or pull request, and the upstream does not give it by its id "
                "any more: the history was rewritten, or its branch deleted",
            )
        ],
        "refused": [
            (
                "pin-unreachable",
                "the pin `aaaaaaaaaaaa` is on no branch, tag or pull request, and the upstream gives no commit by its id: "
                "nobody can fetch it there",
            )
        ],
    }


def test_moved_tags_are_said_with_both_commits() -> None:
    facts = Facts(newest=PIN, changes=changes(), moved_tags={"v1": ("1" * 40, "2" * 40), "v2": ("3" * 40, None)})
    assert said(findings(UPSTREAM, facts)) == [
        (
            "tag-moved",
            "tag `v1` was `111111111111` and is now `222222222222`; the lock keeps the commit; `vendor-tool sync demo@"
            f"{'2' * 40}` goes with the tag",
        ),
        ("tag-moved", "tag `v2` was `333333333333` and is not there any more; the lock keeps the commit"),
    ]


def test_run_time_imports_that_are_gone_or_changed_are_said_with_who_holds_them() -> None:
    holder = "`tile-demo` 2.1.0, installed here"
    gone = gone_import(UPSTREAM, "tile_demo.f", holder=holder, reason="`tile_demo/__init__.py` defines no `f`")
    other = changed_import(UPSTREAM, "tile_demo.g", holder=holder, before="(x)", after="(x, y)")
    same = changed_import(UPSTREAM, "tile_demo.h", holder=holder, before="(x)", after="(x)")
    assert said([gone, other, same]) == [
        (
            "import-gone",
            "`tile_demo.f` is not in `tile-demo` 2.1.0, installed here: `tile_demo/__init__.py` defines no `f`",
        ),
        (
            "import-changed",
            "`tile_demo.g` is another one in `tile-demo` 2.1.0, installed here: its signature was `(x)` and is `(x, y)`",
        ),
        ("import-changed", "`tile_demo.h` is another one in `tile-demo` 2.1.0, installed here: its source changed"),
    ]
    assert {finding.rule for finding in (gone, other)} <= set(RULES)


def test_every_rule_is_described_under_its_own_id() -> None:
    assert [rule.id for rule in RULES.values()] == list(RULES)
