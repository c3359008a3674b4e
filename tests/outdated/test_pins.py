import pytest

from vendor_tool.outdated.pins import Standing, moved_tags, standing

PIN = "a" * 40
REFS = {
    "HEAD": "c" * 40,
    "refs/heads/main": "c" * 40,
    "refs/heads/wip": "d" * 40,
    "refs/tags/v1": "e" * 40,
    "refs/pull/1045/head": PIN,
    "refs/pull/99/head": "f" * 40,
}


@pytest.mark.parametrize(
    ("branch", "containing", "expected"),
    [
        ("main", ["refs/heads/main", "refs/heads/wip"], Standing("branch", ("refs/heads/main",))),
        (None, ["HEAD", "refs/heads/main"], Standing("branch", ("HEAD",))),
        ("main", ["refs/heads/wip", "refs/tags/v1"], Standing("other-branch", ("refs/heads/wip",))),
        ("gone", ["refs/heads/main"], Standing("other-branch", ("refs/heads/main",))),
        ("main", ["refs/tags/v1"], Standing("tag", ("refs/tags/v1",))),
        ("main", ["refs/pull/99/head"], Standing("request", ("refs/pull/99/head", "refs/pull/1045/head"))),
        ("main", [], Standing("request", ("refs/pull/1045/head",))),
        ("main", None, Standing("request", ("refs/pull/1045/head",))),
    ],
)
def test_strongest_hold_counts(branch: str | None, containing: list[str] | None, expected: Standing) -> None:
    assert standing(PIN, REFS, branch=branch, containing=containing) == expected


def test_merge_requests_of_gitlab_count_as_requests() -> None:
    refs = {"refs/merge-requests/7/head": PIN}
    assert standing(PIN, refs, branch="main", containing=None) == Standing("request", ("refs/merge-requests/7/head",))


def test_nothing_holds_it_is_only_said_where_history_was_read() -> None:
    lone = "0" * 40
    assert standing(lone, REFS, branch="main", containing=None) == Standing("unknown")
    assert standing(lone, REFS, branch="main", containing=()) == Standing("nowhere")


def test_moved_and_deleted_tags_are_told_from_those_that_stay() -> None:
    before = {"v1": "e" * 40, "v0": "9" * 40, "gone": "8" * 40}
    refs = {**REFS, "refs/tags/v0": "7" * 40}
    assert moved_tags(before, refs) == {"gone": ("8" * 40, None), "v0": ("9" * 40, "7" * 40)}
