"""A lock to fence: two folders, a shim, a patch, a licence text, and one file at the top with a space in its name."""

from pathlib import Path

from vendor_tool.model import At, FileSpec, LegalFile, Lock, PatchSpec, Project, Recorded, Resolved, ShimSpec, Upstream

AT = At(1, 1)
REVISION = "0123456789abcdef0123456789abcdef01234567"


def upstream(name: str, to: str, files: tuple[str, ...]) -> Upstream:
    resolved = Resolved(
        at=AT,
        revision=REVISION,
        date="2026-01-01T00:00:00+00:00",
        intent="",
        seal="",
        license=LegalFile("LICENSE", REVISION, f"vendored/LICENSES/{name}.txt", "00"),
        files=tuple(Recorded(path, REVISION, path, "00", AT) for path in files),
    )
    return Upstream(
        name=name,
        url=f"https://example.org/{name}",
        revision=REVISION,
        at=AT,
        revision_at=AT,
        to=to,
        files=(FileSpec("*.py", None, AT),),
        patches=(PatchSpec(f"patches/{name}/0001-a+b.patch", AT),),
        resolved=resolved,
    )


LOCK = Lock(
    path=Path("vendor.lock.yaml"),
    project=Project("sample"),
    shims={"tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", AT)},
    upstreams={
        "one": upstream("one", "vendored/one", ("vendored/one/a.py",)),
        "inner": upstream("inner", "vendored/one/inner", ("vendored/one/inner/b.py",)),
        "top": upstream("top", "", ("my kernel.py",)),
    },
)
