"""NOTICE: everything of upstreams and their ancestors, and not a byte of the project's own lost."""

import pytest

from tests.support import rights
from vendor_tool.documents import block, notice
from vendor_tool.errors import UsageError
from vendor_tool.legal import Ancestor, Facts

NOTICE = rights.kept(
    "NOTICE", "vendored/LICENSES/mid/NOTICE", b"Mid Plugins\nCopyright 2024 Mid\n\nFirst written elsewhere.\n"
)
FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 1\n")
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={"vendored/mid/fwd.py": (rights.origin(),)})
LOCK = rights.lock(rights.upstream(FILE, notice=NOTICE, facts=FACTS))
TEXTS = {NOTICE.to: b"Mid Plugins\nCopyright 2024 Mid\n\nFirst written elsewhere.\n"}
B, A = rights.REVISION, rights.ROOT_REVISION
PART = f"""\
{block.BEGIN}
This distribution contains files from the projects below.

mid
---
Project: https://github.com/mid/plugins
Revision: {B}
Source: https://github.com/mid/plugins/tree/{B}/ops
Licence: Apache-2.0
Copyright notice: Copyright 2025 Mid Labs
Licence text: vendored/LICENSES/mid/LICENSE
Files: vendored/mid/fwd.py
NOTICE of the project, whole:

    Mid Plugins
    Copyright 2024 Mid

    First written elsewhere.

From https://github.com/roots/kern, by way of mid
Revision: {A}
Source: https://github.com/roots/kern/blob/{A}/examples/fwd.py
Licence: MIT
Copyright notice: Copyright (c) 2024 The Demo Authors
Licence text: vendored/LICENSES/mid/roots__kern/LICENSE
Files: vendored/mid/fwd.py
{block.END}
""".encode()


def test_a_new_notice_is_the_tool_s_part_alone() -> None:
    assert notice.render(LOCK, TEXTS) == {"NOTICE": PART}


@pytest.mark.parametrize(
    ("own", "joint"),
    [
        (b"Our project\nCopyright 2025 The Local Authors\n", b"\n"),
        (b"Our project", b"\n\n"),
        (b"Our project\n\n", b""),
        (b"", b""),
        ("Über uns\xa0\n".encode("latin-1"), b"\n"),
    ],
    ids=["lines", "no-line-end", "blank-line", "empty", "not-utf-8"],
)
def test_the_project_s_own_text_keeps_every_byte_and_a_second_run_changes_nothing(own: bytes, joint: bytes) -> None:
    once = notice.render(LOCK, {**TEXTS, "NOTICE": own})["NOTICE"]
    assert once == own + joint + PART
    assert notice.render(LOCK, {**TEXTS, "NOTICE": once})["NOTICE"] == once


def test_text_before_and_after_the_part_stays_where_it_is() -> None:
    current = b"Ours.\n\n" + PART.replace(b"Mid Labs", b"Somebody") + b"\nMore of ours.\n"
    assert notice.render(LOCK, {**TEXTS, "NOTICE": current})["NOTICE"] == b"Ours.\n\n" + PART + b"\nMore of ours.\n"


def test_line_ends_of_the_project_s_text_are_followed() -> None:
    once = notice.render(LOCK, {**TEXTS, "NOTICE": b"Ours\r\n"})["NOTICE"]
    assert once == b"Ours\r\n\r\n" + PART.replace(b"\n", b"\r\n")
    assert notice.render(LOCK, {**TEXTS, "NOTICE": once})["NOTICE"] == once


def test_an_upstream_notice_that_holds_our_end_line_does_not_end_the_part() -> None:
    texts = {NOTICE.to: f"Mid\n{block.END}\nlast\n".encode()}
    once = notice.render(LOCK, texts)["NOTICE"]
    assert f"    {block.END}\n    last\n".encode() in once
    assert notice.render(LOCK, {**texts, "NOTICE": once})["NOTICE"] == once


@pytest.mark.parametrize(
    "current",
    [f"{block.BEGIN}\nx\n", f"x\n{block.END}\n", f"{block.END}\n{block.BEGIN}\n", f"{block.BEGIN}\n{block.END}\n" * 2],
    ids=["no-end", "no-begin", "turned-round", "twice"],
)
def test_damaged_marks_stop_the_run_before_anything_is_lost(current: str) -> None:
    with pytest.raises(UsageError, match=r"NOTICE:\d+: the lines around the part that vendor-tool writes are damaged"):
        notice.render(LOCK, {**TEXTS, "NOTICE": current.encode()})


def test_a_text_that_is_owed_is_said_to_be_owed() -> None:
    owed = Ancestor(rights.ROOT, A, ("examples/fwd.py",), owed="the commit cannot be fetched")
    facts = Facts(ancestors=(owed,), origins=FACTS.origins)
    found = notice.render(rights.lock(rights.upstream(FILE, facts=facts)), {})["NOTICE"]
    assert b"Licence: not known\nLicence text: owed (the commit cannot be fetched)\n" in found


def test_the_part_goes_when_nothing_is_vendored_any_more() -> None:
    empty = rights.lock()
    assert notice.render(empty, {}) == {}
    assert notice.render(empty, {"NOTICE": b"Ours.\n\n" + PART}) == {"NOTICE": b"Ours.\n\n"}
    assert notice.render(empty, {"NOTICE": PART}) == {}


def test_what_is_imported_and_not_copied_is_not_in_notice() -> None:
    assert notice.render(rights.lock(rights.upstream()), {}) == {}


def test_the_files_that_are_read_are_named() -> None:
    assert notice.inputs(LOCK) == ["NOTICE", NOTICE.to]
