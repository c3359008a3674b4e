"""Changes of a series by its owner: capture hand edits, refresh a patch in the middle, drop one."""

import re
from collections.abc import Mapping, Sequence

from vendor_tool import patch as patches
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.merge.series import Plan, Rebase, Resolution, carry
from vendor_tool.model import Tree
from vendor_tool.patch import Patch

_NUMBER = re.compile(r"(\d+)-")


def capture(final: Tree, disk: Tree, head: Mapping[str, str]) -> bytes:
    """The patch file that turns `final`, what the series makes, into `disk`; empty where nothing was edited.

    `head` holds the DEP-3 fields. Raises ContentError for an edited file that is not text: a patch cannot hold it.
    """
    for path in sorted({*final, *disk}):
        versions = [blob for blob in (final.get(path), disk.get(path)) if blob]
        if final.get(path) != disk.get(path) and any(b"\0" in blob.data for blob in versions):
            raise ContentError(
                f"`{path}` was edited and is not text, so no patch can hold the change",
                hint=f"restore it with `vendor-tool sync --force`, or keep your own copy beside `{path}`",
            )
    return patches.render(final, disk, head)


def next_path(folder: str, series: Sequence[Patch], title: str) -> str:
    """`folder/NNNN-title.patch` with the number after the highest of the series, and `title` made fit for a path.

    Raises UsageError where nothing of the title is left.
    """
    slug = _slug(title)
    if not slug:
        raise UsageError(
            f"`{title}` holds no letter or digit to name a patch file by", hint="give it a title that holds one"
        )
    numbers = [int(m[1]) for patch in series if (m := _NUMBER.match(patch.path.rpartition("/")[2]))]
    return f"{folder}/{max(numbers, default=0) + 1:04d}-{slug}.patch"


def _slug(title: str) -> str:
    """Words of any script, lower case, in at most 60 characters; Latin letters lose their accents."""
    import unicodedata  # only a new patch needs it

    plain = re.sub(r"(?<=[a-z])[\u0300-\u036f]+", "", unicodedata.normalize("NFKD", title.casefold()))
    kept = unicodedata.normalize("NFC", plain)
    # marks of Indic scripts are parts of their words, and no `\w`
    words = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in kept).split()
    return "-".join(words)[:60].strip("-")


def refresh(
    plain: Tree,
    series: Sequence[Patch],
    number: int,
    after: Tree,
    *,
    resolutions: Mapping[int, Resolution] | None = None,
) -> Rebase:
    """Make patch `number` (from 1) lead to the tree `after`, and carry the later ones onto it.

    Conflicts of later patches are reported as those of an upgrade; indices count from the start of the series.
    Raises UsageError for a number that the series does not have.
    """
    patch = _numbered(series, number)
    label = f"the refreshed `{patch.path}`"
    replaced = {number - 1: after}
    return carry(Plan(plain, plain, tuple(series), None, replaced, dict(resolutions or {}), label))


def drop(
    plain: Tree, series: Sequence[Patch], number: int, *, resolutions: Mapping[int, Resolution] | None = None
) -> Rebase:
    """Take patch `number` (from 1) out, and carry the later ones onto what was before it.

    Raises UsageError for a number that the series does not have.
    """
    patch = _numbered(series, number)
    label = f"the series without `{patch.path}`"
    replaced = {number - 1: None}
    return carry(Plan(plain, plain, tuple(series), None, replaced, dict(resolutions or {}), label))


def _numbered(series: Sequence[Patch], number: int) -> Patch:
    if not 1 <= number <= len(series):
        count = "1 patch" if len(series) == 1 else f"{len(series)} patches"
        raise UsageError(f"there is no patch {number}, the series has {count}", hint="see `vendor-tool patch list`")
    return series[number - 1]
