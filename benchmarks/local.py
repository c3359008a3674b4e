"""G6 to G9: what is done without any network, and syncs of many files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from clock import Command, against, peak, run
from made import Upstream, make_large
from place import Place
from row import Row, counted, timed

MANY = 10_000


def _pass(place: Place) -> Command:
    return place.python("-c", "pass")


def g6(place: Place) -> list[Row]:
    """A sync with nothing to do, and a check, of six and of twelve files."""
    rows = []
    for count in (1, 2):
        project, cache = place.project(place.upstreams[:count], ""), place.fresh("cache")
        for _ in range(2):
            run(place.vendor_tool(project, "sync", cache=cache))
        for word in ("sync", "check"):
            pair = against(
                lambda word=word, project=project, cache=cache: place.vendor_tool(project, word, cache=cache),
                lambda: _pass(place),
                2 * place.rounds,
            )
            job = f"{'no-op ' if word == 'sync' else ''}{word}, {6 * count} files"
            rows.append(timed("G6", job, pair, "python -c pass", 5.0, 3.0))
            rows.append(counted("G6", f"{job}: above it", 1000 * (pair.ours - pair.theirs), 60, "at most", 1, " ms"))
    return rows


def g7(place: Place) -> list[Row]:
    """Check of 10,000 files by full hashes, the reading of the lock included."""
    upstream = _large(place)
    project, cache = place.project([upstream], "[]"), place.fresh("cache")
    run(place.vendor_tool(project, "sync", cache=cache))
    run(place.vendor_tool(project, "check", cache=cache))
    files = sorted((project / "vendored" / "large").rglob("*.py"))
    sums = place.fresh("sums") / "sums"
    sums.write_text("".join(f"{_sha256(path)}  {path}\n" for path in files), encoding="utf-8")
    checked = place.vendor_tool(project, "check", cache=cache)
    pair = against(
        lambda: checked,
        lambda: Command(["sha256sum", "--quiet", "-c", sums], project, place.environment),
        place.rounds,
    )
    return [
        timed("G7", f"check, {len(files):,} files", pair, "sha256sum -c", 3.0, 2.0),
        counted("G7", "its peak", peak(checked), 60, "at most", 1, " MiB"),
    ]


def g8(place: Place) -> list[Row]:
    """Cold sync of 10,000 files."""
    upstream = _large(place)
    script = (
        "git init -q --bare r; cd r; git fetch -q --no-tags --depth=1 $URL $REVISION\n"
        "mkdir ../tree; git archive $REVISION | tar -x -C ../tree"
    )

    def synced() -> Command:
        return place.vendor_tool(place.project([upstream], "[]"), "sync", cache=place.fresh("cache"))

    pair = against(
        synced,
        lambda: place.shell(script, place.fresh("archive"), URL=upstream.url, REVISION=upstream.revision),
        min(3, place.rounds),
    )
    return [
        timed("G8", f"cold sync, {MANY:,} files", pair, "fetch + archive", 3.0, 2.0),
        counted("G8", "its peak", peak(synced()), 100, "at most", 1, " MiB"),
    ]


def g9(place: Place) -> list[Row]:
    """Help and version."""
    rows = []
    for word in ("--help", "--version"):
        pair = against(
            lambda word=word: place.vendor_tool(place.folder, word, cache=place.folder / "none"),
            lambda: _pass(place),
            2 * place.rounds,
        )
        rows.append(timed("G9", word, pair, "python -c pass", 5.0, 3.0))
    return rows


def _large(place: Place) -> Upstream:
    served = place.folder / "served"
    if (served / "large.git").exists():
        revision = (served / "large.git" / "refs" / "heads" / "main").read_text(encoding="ascii").strip()
        return Upstream("large", f"{place.server.url}/large.git", revision, "large", ("**/*.py",))
    return make_large(served, place.server.url, MANY)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
