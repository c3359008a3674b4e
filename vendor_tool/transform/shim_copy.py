"""A copy of written files, and what a process is asked that imports them from it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vendor_tool
from vendor_tool.model import ShimSpec
from vendor_tool.transform import modules
from vendor_tool.transform.shim_late import MARKS, READ_AT_CALLS
from vendor_tool.transform.shim_standin import BUNDLED

PROGRAM = str(Path(vendor_tool.__file__).parent.parent)
"""The folder that vendor-tool lies in."""

Request = Mapping[str, Any]
"""`folders` of the files, `roots` that names start at, bare `packages` and their folders, `modules`, their `files`, and
the top-level modules that are `absent`, `patient` decorators that read a function's globals at its calls only."""


def module_name(path: str, starts: tuple[str, ...]) -> str:
    """The dotted name of the file at a local path; `starts` are the folders that names start at."""
    root = max((root for root in starts if not root or path.startswith(f"{root}/")), key=len)
    return ".".join(modules.local_parts(path[len(root) :].lstrip("/")))


@contextmanager
def copied(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with the files, beside which there is room for more; gone in the end."""
    with tempfile.TemporaryDirectory(prefix="vendor-tool-") as folder:
        copy = Path(folder).resolve() / "tree"
        for path, data in files.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(data)
        yield copy


def request(
    copy: Path, files: Mapping[str, bytes], users: Sequence[str], shims: Mapping[str, ShimSpec], root: Path | None
) -> Request:
    """To import the files `users` of the copy, with the project's folder `root` behind it."""
    starts = roots(shims)
    packages = {}
    for path in files:
        folder = modules.parent(path)
        while folder not in starts and f"{folder}/__init__.py" not in files:
            places = [str(copy / folder), *([str(root / folder)] if root is not None else [])]
            packages[module_name(f"{folder}/__init__.py", starts)] = places
            folder = modules.parent(folder)
    places_of = {module_name(path, starts): str(copy / path) for path in users}
    return {
        "folders": [f"{copy}/", *([f"{root}/"] if root is not None else [])],
        "roots": [str(copy / place) for place in starts],
        "packages": sorted(packages.items()),
        "modules": list(places_of),
        "files": places_of,
        "absent": sorted(absent(shims)),
        "patient": [*sorted(READ_AT_CALLS), MARKS],
    }


def roots(shims: Mapping[str, ShimSpec]) -> tuple[str, ...]:
    """The folders that names start at, relative to the copy."""
    return tuple(sorted({"", *(_root(spec) for spec in shims.values())}))


def _root(spec: ShimSpec) -> str:
    """The folder that absolute imports of the stand-in start at."""
    place = spec.to.removesuffix(".py")
    if spec.import_ is None:
        return ""
    return place.removesuffix(spec.import_.replace(".", "/")).rstrip("/")


def absent(shims: Mapping[str, ShimSpec]) -> set[str]:
    """The top-level modules that the stand-ins stand in for."""
    return {*shims, *(name for module in shims for name in BUNDLED.get(module, ()))}
