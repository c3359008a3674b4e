import pytest

from vendor_tool.patch import dep3_check, dep3_head, parse

DIFF = "diff --git a/v/k.py b/v/k.py\n--- a/v/k.py\n+++ b/v/k.py\n@@ -1 +1 @@\n-a\n+b\n"


def head_of(text: str) -> dict[str, str]:
    return dict(parse("p.patch", (text + DIFF).encode()).head)


def test_fields_keep_their_order_and_continuation_lines_are_joined() -> None:
    text = "Description: Pad short rows\n The card reads whole tiles.\n .\n See the table.\nAuthor: Ada <ada@example.invalid>\n\n"
    head = head_of(text)
    assert list(head.items()) == [
        ("Description", "Pad short rows\nThe card reads whole tiles.\n\nSee the table."),
        ("Author", "Ada <ada@example.invalid>"),
    ]
    assert dep3_head(head) == text.encode()


def test_a_mail_of_git_is_a_head() -> None:
    text = (
        "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\n"
        "From: Ada <ada@example.invalid>\n"
        "Subject: [PATCH] Pad short rows\n\nNote: this is prose.\nForwarded: no\n---\n v/k.py | 2 +-\n\n"
    )
    assert head_of(text) == {
        "From": "Ada <ada@example.invalid>",
        "Subject": "[PATCH] Pad short rows",
        "Forwarded": "no",
    }


def test_no_head_is_no_fields() -> None:
    assert head_of("") == {}


def test_a_head_that_says_why_by_whom_and_where_to_is_sound() -> None:
    assert dep3_check({"Description": "x", "Author": "Ada", "Forwarded": "no", "Last-Update": "2026-01-31"}) == ()
    assert dep3_check({"Subject": "x", "Origin": "upstream, commit 1234567"}) == ()


@pytest.mark.parametrize(
    ("head", "word"),
    [
        ({"Author": "Ada", "Forwarded": "no"}, "`Description:`"),
        ({"Description": " ", "Author": "Ada", "Forwarded": "no"}, "`Description:`"),
        ({"Description": "x", "Forwarded": "no"}, "`Author:`"),
        ({"Description": "x", "Author": "Ada"}, "`Forwarded:`"),
        ({"Description": "x", "Origin": "y", "Last-Update": "31.1.2026"}, "`Last-Update: 31.1.2026`"),
    ],
)
def test_a_head_that_leaves_something_out_is_told_what(head: dict[str, str], word: str) -> None:
    (problem,) = dep3_check(head)
    assert word in problem
