"""G13: what `outdated` costs where nothing of ours changed upstream."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clock import Command, against, run
from made import Upstream
from place import Place, lock
from row import Row, timed

from tests.support.upstream import Repository

# of the real ones: kernels that are the same in their newest revision, and its commit
STILL = {
    "slime": ("624b824a898ab0ec1fcb4d373004c7f3852bf515", ("tilelang_indexer_bwd.py", "tilelang_indexer_fwd.py")),
    "miles": (
        "31f1ca961a94cb860cec3b2dea34ec332bfa8f76",
        ("kernel/tilelang_indexer_bwd.py", "kernel/tilelang_indexer_fwd.py"),
    ),
}


def g13(place: Place) -> list[Row]:
    """`outdated` of three upstreams, nothing of ours changed, store warm."""
    rows = [_row(place, "made, current", place.upstreams)]
    for one in place.upstreams:
        Repository(place.folder / "served" / f"{one.name}.git").commit({"README.md": "news"})
    rows.append(_row(place, "made, moved elsewhere", place.upstreams))
    if place.real:
        pinned = [replace(one, revision=STILL.get(one.name, (one.revision, ()))[0]) for one in place.real]
        rows.append(_row(place, "real, current", [_still(one) for one in pinned]))
        rows.append(_row(place, "real, at the pins", [_still(one) for one in place.real if one.name != "miles"]))
    return rows


def _still(one: Upstream) -> Upstream:
    return replace(one, files=STILL[one.name][1]) if one.name in STILL else one


def _row(place: Place, label: str, upstreams: Sequence[Upstream]) -> Row:
    project, cache = _project(place, upstreams), place.fresh("cache")
    run(place.vendor_tool(project, "sync", cache=cache))
    run(place.vendor_tool(project, "outdated", cache=cache))
    pair = against(
        lambda: place.vendor_tool(project, "outdated", "--exit-code", cache=cache),
        lambda: _listings(place, upstreams),
        2 * place.rounds,
    )
    return timed("G13", f"outdated, {label}", pair, f"{len(upstreams)} ls-remote at once", 2.0)


def _project(place: Place, upstreams: Sequence[Upstream]) -> Path:
    project = place.fresh("project")
    text = lock(upstreams, "")
    for one in upstreams:
        text = text.replace(f"    revision: {one.revision}\n", f"    branch: main\n    revision: {one.revision}\n", 1)
    (project / "vendor.lock.yaml").write_text(text, encoding="utf-8")
    return project


def _listings(place: Place, upstreams: Sequence[Upstream]) -> Command:
    each = [f"git ls-remote -q --heads {shlex.quote(one.url)} main &" for one in upstreams]
    return place.shell("\n".join([*each, "wait"]) + "\n", place.folder)
