"""G1 to G5: what a sync costs where upstreams have to be asked."""

from __future__ import annotations

import functools
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from clock import Command, against, run
from made import Upstream
from peers import PEERS
from place import Place
from row import Row, absent, counted, timed

NONE = "[]"  # no transforms
BASE = """\
git init -q {name}; cd {name}; git remote add origin {url}
git fetch -q --no-tags --depth=1 --filter=blob:none origin {revision}
git sparse-checkout set --no-cone {paths}
git checkout -q FETCH_HEAD
cd ..
"""


def base(place: Place, upstreams: Sequence[Upstream]) -> Command:
    """What git alone needs: one shallow fetch without blobs, one batch of blobs, a sparse checkout."""
    scripts = [
        BASE.format(
            name=one.name,
            url=one.url,
            revision=one.revision,
            paths=" ".join(shlex.quote(f"/{path}") for path in one.paths),
        )
        for one in upstreams
    ]
    return place.shell("".join(scripts), place.fresh("base"))


def cold(place: Place, upstreams: Sequence[Upstream], rules: str) -> Callable[[], Command]:
    """A first sync: no record, no cache."""
    return lambda: place.vendor_tool(place.project(upstreams, rules), "sync", cache=place.fresh("cache"))


def kinds(place: Place) -> list[tuple[str, Upstream]]:
    """The upstream that is made here, which leads to no other, and the real one, whose claims of origin do."""
    return [("made", place.upstreams[0]), *(("slime", one) for one in place.real[:1])]


def g1(place: Place) -> list[Row]:
    """Cold sync of six files without transforms."""
    rows = []
    for label, one in kinds(place):
        pair = against(cold(place, [one], NONE), lambda one=one: base(place, [one]), place.rounds)
        rows.append(timed("G1", f"cold sync, six files, {label}", pair, "base", 3.5, 2.5))
    return rows


def g2(place: Place) -> list[Row]:
    """Sync from the lock's blob ids: nothing of the upstream is cached, the transforms' results are."""
    rows = []
    for label, one in kinds(place):
        synced, warm = place.project([one], ""), place.fresh("cache")
        run(place.vendor_tool(synced, "sync", cache=warm))

        def again(synced: Path = synced, warm: Path = warm) -> Command:
            project, cache = place.fresh("project"), place.fresh("cache")
            shutil.copy(synced / "vendor.lock.yaml", project)
            for kept in ("plain", "parsed", "proof"):
                if (warm / kept).is_dir():
                    shutil.copytree(warm / kept, cache / kept)
            return place.vendor_tool(project, "sync", cache=cache)

        pair = against(again, lambda one=one: base(place, [one]), place.rounds)
        ours, theirs = traffic(place, again), traffic(place, lambda one=one: base(place, [one]))
        rows.append(timed("G2", f"sync by blob ids, {label}", pair, "base", 3.0, 2.0))
        rows.append(counted("G2", f"requests a repository, {label}", ours[0] / ours[2], 2, "at most", 1))
        rows.append(counted("G2", f"its bytes, {label}", ours[1], theirs[1], "base", 0.5, " B"))
    return rows


def g3(place: Place) -> list[Row]:
    """Cold sync with everything on, against plain copies by other tools; dfetch's is the goal."""
    rows = []
    for name, plain_copy in PEERS.items():
        tool = place.peer(name)
        if tool is None:
            rows.append(absent("G3", "cold sync, everything on", f"{name}: not installed"))
            continue
        limits = (1.0, 0.7) if name == "dfetch" else (None, None)
        for label, one in kinds(place):
            theirs = functools.partial(plain_copy, place, tool, one)
            pair = against(cold(place, [one], ""), theirs, place.rounds)
            rows.append(timed("G3", f"cold sync, everything on, {label}", pair, name, *limits))
    return rows


def g4(place: Place) -> list[Row]:
    """Requests and bytes of a cold sync."""
    rows = []
    for label, one in kinds(place):
        ours = traffic(place, cold(place, [one], NONE))
        listed = sum(b"command=ls-refs" in request.body for request in place.server.requests)
        theirs = traffic(place, lambda one=one: base(place, [one]))
        whole = f"{ours[2]} repositories asked" if ours[2] > 1 else ""
        rows.append(counted("G4", f"bytes of a cold sync, {label}", ours[1], theirs[1], "base", 1.2, " B", whole))
        rows.append(
            counted(
                "G4", f"requests a repository, {label}", ours[0] / ours[2], 4, "at most", 1, note=f"base {theirs[0]}"
            )
        )
        rows.append(counted("G4", f"listings of refs, {label}", listed, 1, "below", 0))
    return rows


def g5(place: Place) -> list[Row]:
    """Three upstreams side by side, against git one after another."""
    rows = []
    for label, three in (("made", place.upstreams), ("real", place.real)):
        if three:
            pair = against(cold(place, three, NONE), lambda three=three: base(place, three), place.rounds)
            rows.append(timed("G5", f"three upstreams, {label}", pair, "base x 3", 2.0, 1.2))
    return rows


def traffic(place: Place, prepare: Callable[[], Command]) -> tuple[int, int, int]:
    """Requests and bytes of answers that one run costs, and of how many repositories."""
    command = prepare()
    place.server.requests.clear()
    run(command)
    paths = {request.path.partition("?")[0] for request in place.server.requests}
    repositories = {path.removesuffix("/info/refs").removesuffix("/git-upload-pack") for path in paths}
    return len(place.server.requests), place.server.sent, len(repositories)
