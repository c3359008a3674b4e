"""A recorded upstream of three files, and listings to hold it against."""

from collections.abc import Mapping

from vendor_tool.model import At, Entry, LegalFile, Recorded, Resolved, Snapshot, Upstream

PIN = "a" * 40
NEW = "b" * 40
PATHS = ("ops/fwd.py", "ops/bwd.py", "ops/index.py")


def oid(text: str) -> str:
    return (text.encode().hex() + "0" * 40)[:40]


def listing(revision: str = NEW, other: Mapping[str, str | None] | None = None) -> Snapshot:
    """The recorded files and LICENSE; `other` maps paths to contents, None takes one out."""
    contents: dict[str, str | None] = {path: path for path in (*PATHS, "LICENSE", "README.md")}
    contents.update(other or {})
    entries = {path: Entry("100644", "blob", oid(text)) for path, text in sorted(contents.items()) if text is not None}
    return Snapshot(revision, "2026-01-01T00:00:00+00:00", entries)


RESOLVED = Resolved(
    at=At(20, 5),
    revision=PIN,
    date="2025-12-01T00:00:00+00:00",
    intent="",
    seal="",
    license=LegalFile("LICENSE", oid("LICENSE"), "vendored/LICENSES/demo.txt", ""),
    files=tuple(
        Recorded(path, oid(path), f"vendored/{path[4:]}", "", At(30 + number, 7)) for number, path in enumerate(PATHS)
    ),
)

UPSTREAM = Upstream(
    name="demo",
    url="https://example.org/demo",
    revision=PIN,
    at=At(8, 3),
    revision_at=At(10, 5),
    branch="main",
    from_="ops",
    to="vendored",
    resolved=RESOLVED,
)
