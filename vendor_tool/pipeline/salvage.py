"""The old side of an upgrade where nobody gives the pinned revision any more: from the tree, the patches, the record.

The vendored files are what the rules made of upstream's, and then the patches. With the patches taken back they are as
good a base for a merge as the upstream's own, as long as neither rules nor files were changed since.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from vendor_tool import legal, write
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, GoneError, UsageError
from vendor_tool.model import Blob, BuiltFile, Lock, Recorded, Tree, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import recorded, state
from vendor_tool.pipeline.build import Fetched, Made
from vendor_tool.values import replace


def made(lock: Lock, upstream: Upstream, gone: GoneError) -> Made:
    """The recorded revision through the recorded rules, without patches; of upstream's own bytes licences are left.

    Raises GoneError, with what `gone` says and the way out, where the tree is not as recorded.
    """
    found = upstream.resolved
    assert found is not None
    if not state.entry_up_to_date(lock, _as_recorded(upstream)):
        raise GoneError(
            gone.message,
            hint="the vendored files could stand in for it, but the entry, a patch or a file is not as recorded: undo "
            f"that change, or name a mirror or fork that has the revision under `mirrors` of `{upstream.name}`",
        )
    plain = _plain(lock, upstream, gone)
    files = tuple(_file(item, plain[item.to]) for item in found.files if item.path)
    texts = {one.blob: write.read(lock.root, one.to) or b"" for one in legal.files(found)}
    contents = {**{file.blob: file.plain for file in files}, **texts}
    legal_paths = recorded.legal_files(upstream)
    return Made(
        Fetched(upstream, recorded.snapshot(upstream), recorded.targets(upstream), legal_paths, contents),
        files,
        (),
        (),
    )


def among(whole: Made, places: Collection[str]) -> Made:
    """The same with the files at these local paths alone."""
    targets = tuple(target for target in whole.fetched.targets if target.to in places)
    files = tuple(file for file in whole.files if file.to in places)
    return replace(whole, fetched=replace(whole.fetched, targets=targets), files=files)


def _as_recorded(upstream: Upstream) -> Upstream:
    assert upstream.resolved is not None
    return replace(upstream, revision=upstream.resolved.revision)


def _plain(lock: Lock, upstream: Upstream, gone: GoneError) -> Mapping[str, Blob]:
    try:
        return trees(lock, upstream)[1]
    except (ConflictError, UsageError) as problem:
        raise GoneError(
            f"{gone.message}\n  a patch cannot be taken back from the vendored files: {problem.message}", hint=gone.hint
        ) from None


def trees(lock: Lock, upstream: Upstream) -> tuple[Tree, Tree]:
    """The vendored files of an entry that has a record, as they stand and with the patches taken back.

    Raises ConflictError or UsageError where a patch is not there, or does not fit.
    """
    assert upstream.resolved is not None
    final = {item.to: Blob(write.read(lock.root, item.to) or b"", item.executable) for item in upstream.resolved.files}
    plain: Tree = final
    for patch in reversed(builds.read_series(lock, upstream)):
        plain = patches.apply(patches.reverse(patch), plain)
    return final, plain


def _file(item: Recorded, plain: Blob) -> BuiltFile:
    # what is compared of upstream's own bytes is the licence that the head of a file names
    head = f"# SPDX-License-Identifier: {item.license}\n".encode() if item.license else b""
    return BuiltFile(
        path=item.path,
        to=item.to,
        blob=item.blob,
        executable=plain.executable,
        pristine=head,
        plain=plain.data,
        final=plain.data,
        names=item.names,
        executable_before=plain.executable,
    )
