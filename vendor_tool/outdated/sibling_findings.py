"""What `outdated` says of copies of one file: where they differ, and what one has that another lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from vendor_tool.findings import Finding
from vendor_tool.model import Commit
from vendor_tool.outdated.verdict import history
from vendor_tool.words import command, count

if TYPE_CHECKING:
    from vendor_tool.outdated.formatting import Difference
    from vendor_tool.outdated.siblings import Copy, Siblings

SHOWN: Final = 12
"""Lines that one finding names before the rest is counted."""
ALONE: Final[dict[Difference, str]] = {
    "format": "layout alone",
    "imports": "layout and order of imports alone",
    "comments": "comments alone",
}


def differing(pairs: Sequence[Siblings]) -> list[Finding]:
    """One note for each pair of copies that differ, at the first local path."""
    found = []
    for pair in pairs:
        if pair.kind == "none":
            continue
        alone = f", in their {ALONE[pair.kind]}" if pair.kind in ALONE else ""
        message = (
            f"`{pair.left.to}` ({pair.left.upstream}) and `{pair.right.to}` ({pair.right.upstream}) are copies of one "
            f"file and differ in {count(len(pair.hunks), 'place')}{alone}"
        )
        found.append(
            Finding(
                "sibling-differs",
                "note",
                message,
                path=pair.left.to,
                line=1,
                upstream=pair.left.upstream,
                side="upstream",
                fix=command("vendor-tool", "--verbose", "outdated", pair.left.upstream),
                digest=_digest(pair.left.data, pair.right.data),
            )
        )
    return found


def _digest(*contents: bytes) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in contents)).hexdigest()


def lacking(
    sibling: Copy,
    changed: Copy,
    lines: Sequence[int],
    *,
    by: str,
    kind: Difference = "code",
    commits: Sequence[Commit] = (),
    fixes: Collection[str] = (),
) -> Finding:
    """That a copy still has what the upstream of another copy has since changed; a note where no code changed.

    `lines` are those of the vendored file at which the old lines stand, one for each place, `by` is the revision of
    `changed`'s upstream that has the change, in words, `commits` those that touch its file.
    """
    what = f"the {ALONE[kind]} of its copy" if kind in ALONE else "its copy"
    shown = ", ".join(str(line) for line in lines[:SHOWN])
    rest = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    message = (
        f"{changed.upstream} changed {what} of this file by {by}, and {sibling.upstream}'s still has the old lines in "
        f"{count(len(lines), 'place')}: {'line' if len(lines) == 1 else 'lines'} {shown}{rest}"
    )
    if commits:
        message += f". It changed{history(commits, fixes)}"
    return Finding(
        "sibling-lacks",
        "note" if kind in ALONE else "warning",
        message,
        path=sibling.to,
        line=lines[0],
        upstream=sibling.upstream,
        side="upstream",
        fix=f"{command('vendor-tool', 'patch', 'new', sibling.upstream)}, once the lines are changed in the file",
        digest=_digest(changed.data, sibling.data),
    )


def unclear(upstream: str, message: str) -> Finding:
    """That copies, or their history, could not be read: what they lack is not known."""
    return Finding(
        "sibling-unclear",
        "note",
        f"copies of one file are not compared with what `{upstream}` has: {message}",
        upstream=upstream,
        side="upstream",
    )
