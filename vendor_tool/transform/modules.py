"""Dotted module names and the files of a source tree: which file a name means, and how another file names it."""

import functools
import keyword
import sys
from collections.abc import Collection, Iterator, Mapping

from vendor_tool.errors import UsageError
from vendor_tool.values import dataclass

SOURCE_FOLDERS = frozenset({"src", "python", "lib"})
"""Folders that hold packages by custom, wherever they stand."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a dotted name means in a listing."""

    path: str | None  # the file; None for a folder without `__init__.py`, or where the file is not there
    folder: str | None  # the package's folder; None for a plain module
    owned: bool  # False: nothing says that this name belongs to the tree


@dataclass(frozen=True, slots=True)
class _Layout:
    folders: frozenset[str]  # those with Python files somewhere below
    sources: tuple[str, ...]  # the SOURCE_FOLDERS among them
    names: Mapping[str, frozenset[str]]  # folder to the modules and folders that stand in it


@functools.lru_cache(maxsize=16)
def _layout(listing: frozenset[str]) -> _Layout:
    folders = set()
    for path in listing:
        folder = parent(path) if path.endswith((".py", ".pyi")) else ""
        while folder and folder not in folders:
            folders.add(folder)
            folder = parent(folder)
    names: dict[str, set[str]] = {}
    for place in (*folders, *(path[:-3] for path in listing if path.endswith(".py"))):
        names.setdefault(parent(place), set()).add(place.rpartition("/")[2])
    sources = sorted(f for f in folders if f.rpartition("/")[2] in SOURCE_FOLDERS)
    return _Layout(frozenset(folders), tuple(sources), {f: frozenset(inside) for f, inside in names.items()})


def parent(path: str) -> str:
    """The folder that a path stands in; the root is the empty string."""
    return path.rpartition("/")[0]


def join(folder: str, name: str) -> str:
    """One path below another; either may be empty."""
    return f"{folder}/{name}" if folder and name else folder or name


def roots(path: str, listing: frozenset[str], *, script: bool) -> tuple[str, ...]:
    """Where absolute imports of the file may start: folders above it that are not packages, nearest first, then
    `src` and its like. Its own folder counts for a `script`, a file without relative imports.
    """
    found = []
    folder = parent(path)
    while True:
        if join(folder, "__init__.py") not in listing and (script or folder != parent(path) or not folder):
            found.append(folder)
        if not folder:
            break
        folder = parent(folder)
    return (*found, *(f for f in _layout(listing).sources if f not in found and join(f, "__init__.py") not in listing))


def tops(path: str, listing: frozenset[str]) -> frozenset[str]:
    """First words of dotted names that may mean files of the tree when the file at `path` imports them."""
    names = _layout(listing).names
    starts = roots(path, listing, script=True)
    return frozenset().union(*(names.get(start, frozenset()) for start in starts)) - sys.stdlib_module_names


def locate(dotted: str, folder: str, listing: frozenset[str]) -> Found:
    """What a dotted name means below one folder. An empty name means the folder itself."""
    place = join(folder, dotted.replace(".", "/"))
    if (package := join(place, "__init__.py")) in listing:
        return Found(package, place, owned=True)
    if dotted and f"{place}.py" in listing:
        return Found(f"{place}.py", None, owned=True)
    if place in _layout(listing).folders or not place:
        return Found(None, place, owned=False)
    top = dotted.partition(".")[0]
    is_package = top != dotted and join(join(folder, top), "__init__.py") in listing
    return Found(None, None, owned=is_package)


def resolve(dotted: str, starts: Collection[str], listing: frozenset[str]) -> Found:
    """What an absolute dotted name means, from the first root that holds its file.

    A folder without `__init__.py` counts only where no root has a file: an installed package wins over it in Python.
    """
    if dotted.partition(".")[0] in sys.stdlib_module_names:
        return Found(None, None, owned=False)
    best = Found(None, None, owned=False)
    for found in (locate(dotted, start, listing) for start in starts):
        if found.path is not None:
            return found
        if found.owned or (best.folder is None and not best.owned):
            best = found
    return best


def dotted_names(place: str, starts: Collection[str]) -> Iterator[str]:
    """The absolute names of a path without suffix, as seen from each root above it."""
    for start in starts:
        if not start or place == start or place.startswith(f"{start}/"):
            yield place[len(start) :].strip("/").replace("/", ".")


def local_parts(path: str) -> tuple[str, ...]:
    """The local module that a local path makes, as the parts of a dotted name from the lockfile's folder."""
    place = parent(path) if path.rpartition("/")[2] == "__init__.py" else path.rpartition(".")[0]
    return tuple(place.split("/")) if place else ()


def relative(importer: str, target: tuple[str, ...]) -> str:
    """The module part of `from ... import`, relative to the local path `importer`, for a local module or package.

    Raises UsageError where a folder or file on the way has a name that Python cannot import.
    """
    here = tuple(parent(importer).split("/")) if parent(importer) else ()
    shared = 0
    while shared < min(len(here), len(target)) and here[shared] == target[shared]:
        shared += 1
    for part in target[shared:]:
        check_name(part, "/".join(target))
    return "." * (len(here) - shared + 1) + ".".join(target[shared:])


def check_name(part: str, place: str) -> None:
    """Raises UsageError where Python cannot import a module or folder of this name."""
    if not part.isidentifier() or keyword.iskeyword(part):
        raise UsageError(
            f"`{place}` cannot be imported: `{part}` is not a Python name",
            hint="give it a name of letters, digits and underscores with `to:` in the lockfile",
        )
