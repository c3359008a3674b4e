"""Where vendored files stand by the lock, against where the last sync put them: patches follow their files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence

from vendor_tool import patch as patches
from vendor_tool.errors import UsageError
from vendor_tool.model import Tree, Upstream
from vendor_tool.plan import Target


def moved(upstream: Upstream, targets: Sequence[Target]) -> dict[str, str]:
    """Recorded local path to the one that the lock gives the same upstream file now, of those that stand elsewhere.

    A file that only a patch makes goes with the folder that it stands in.
    """
    known = upstream.resolved.files if upstream.resolved else ()
    wanted: dict[str, set[str]] = {}
    for target in targets:
        wanted.setdefault(target.path, set()).add(target.to)
    places: dict[str, str] = {}
    stay: set[str] = set()
    for item in known:
        now = wanted.get(item.path, set())
        if item.to in now or not now:
            stay.add(item.to)
        elif len(now) == 1:
            places[item.to] = next(iter(now))
    made = [item.to for item in known if not item.path]
    found = {path: _with_its_folder(path, places, stay - {*made}) for path in made}
    return places | {path: to for path, to in found.items() if to is not None}


def follow(series: Sequence[patches.Patch], upstream: Upstream, targets: Sequence[Target]) -> tuple[patches.Patch, ...]:
    """The series as it is for the places of `targets`. The texts of patches on files that were moved are other ones."""
    places = moved(upstream, targets)
    return tuple(patches.moved(one, places) for one in series)


def require_files(
    upstream: Upstream,
    series: Sequence[patches.Patch],
    tree: Tree,
    now: Callable[[str], str | None] = lambda _path: None,
) -> None:
    """Refuse a patch on a recorded file that the lock asks for no more. Raises UsageError with the ways out.

    `tree` is what the series starts from; `now` tells the upstream path that has the content of one that is gone.
    """
    known = {item.to: item.path for item in upstream.resolved.files} if upstream.resolved else {}
    made = set(tree)
    for patch in series:
        lacking = next((file.old for file in patch.files if file.old and file.old not in made), None)
        if lacking in known:
            raise UsageError(
                f"`{patch.path}` changes `{lacking}`, which no item of `files:` makes any more",
                hint=f"{_kept(upstream, lacking, now(known[lacking]))}; or give the change up: take the patch out of "
                f"`patches:` of `{upstream.name}`",
            )
        made |= {file.new for file in patch.files if file.new}


def _kept(upstream: Upstream, place: str, path: str | None) -> str:
    """How to keep a file where it is, now that upstream has it at `path`."""
    if path is None:
        return f"take the file back under `files:` with `to: {_below(upstream.to, place)}`"
    item = f"{{path: {_below(upstream.from_, path)}, to: {_below(upstream.to, place)}}}"
    return f"write `{item}` under `files:`, and give it another `to:` once that is synced: patches follow"


def _below(folder: str, path: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def said(before: Sequence[patches.Patch], after: Sequence[patches.Patch]) -> tuple[str, ...]:
    """Which patches follow their files, in words."""
    return tuple(
        f"{new.path}: follows its files to {', '.join(f'`{path}`' for path in sorted(new.paths - old.paths))}"
        for old, new in zip(before, after, strict=True)
        if old.paths != new.paths
    )


def _with_its_folder(path: str, places: Mapping[str, str], stay: set[str]) -> str | None:
    """The place of a file whose neighbours, in the nearest folder that has any, all went the same way."""
    folder = posixpath.dirname(path)
    while True:
        near = f"{folder}/" if folder else ""
        gone = {old: new for old, new in places.items() if old.startswith(near)}
        if gone or any(old.startswith(near) for old in stay):
            break
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    if any(old.startswith(near) for old in stay):
        return None
    ends = {new.removesuffix(old[len(near) :]) if new.endswith(old[len(near) :]) else None for old, new in gone.items()}
    home = ends.pop() if len(ends) == 1 else None
    return None if home is None else home + path[len(near) :]
