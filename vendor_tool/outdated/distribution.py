"""The files of a published package, installed or as a wheel: read, never imported.

`listing` and `read` are what `transform.symbols.find` asks for.
"""

import json
import zipfile
from collections.abc import Callable, Collection, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath

from vendor_tool.errors import UsageError
from vendor_tool.values import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """One version of a package, and how to read its Python files by their path in it."""

    name: str
    version: str
    listing: frozenset[str]
    read: Callable[[Collection[str]], Mapping[str, bytes]]


def installed(module: str, folders: Collection[str] | None = None) -> Distribution | None:
    """The installed distribution that holds a top-level module, from its record of files; None where there is none.

    `folders` are searched instead of this interpreter's path. Of an editable install, whose record lists no module,
    the folder counts that it stands for.
    """
    known = list(metadata.distributions() if folders is None else metadata.distributions(path=list(folders)))
    for distribution in known:
        files = {path.as_posix(): path for path in distribution.files or () if path.suffix == ".py"}
        if any(PurePosixPath(path).parts[0] in (module, f"{module}.py") for path in files):
            places = {path: Path(str(distribution.locate_file(file))) for path, file in files.items()}
            return Distribution(distribution.name, distribution.version, frozenset(places), _from_disk(places))
    for distribution in known:
        project = _editable(distribution)
        place = _within(project, module) if project is not None else None
        if place is not None:
            places = {path.relative_to(place.parent).as_posix(): path for path in _sources(place)}
            return Distribution(distribution.name, distribution.version, frozenset(places), _from_disk(places))
    return None


def _editable(distribution: metadata.Distribution) -> Path | None:
    """The folder of a project that is installed in place, as PEP 610 records it."""
    from urllib.parse import unquote, urlsplit

    try:
        record = json.loads(distribution.read_text("direct_url.json") or "{}")
        editable = record["dir_info"]["editable"] is True and record["url"].startswith("file://")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # most packages come from an index, and have no such record
    return Path(unquote(urlsplit(record["url"]).path)) if editable else None


def _within(project: Path, module: str) -> Path | None:
    """Where a project keeps a top-level module: at its root, or in a folder of its own for sources."""
    places = (folder / name for folder in (project, *_folders(project)) for name in (module, f"{module}.py"))
    return next((place for place in places if place.exists()), None)


def _folders(project: Path) -> list[Path]:
    usual = [project / name for name in ("src", "lib", "python")]
    return [folder for folder in usual if folder.is_dir()]


def _sources(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def importable(module: str) -> str | None:
    """Where an import would find a top-level module that is not the project's own; told without importing it."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None  # not there, or something that was put into `sys.modules` by hand
    if spec is None or spec.origin in ("built-in", "frozen"):
        return None
    place = next(iter(spec.submodule_search_locations or ()), spec.origin)
    return place if place is not None and not Path(place).is_relative_to(Path.cwd()) else None


def _from_disk(places: Mapping[str, Path]) -> Callable[[Collection[str]], Mapping[str, bytes]]:
    def read(paths: Collection[str]) -> Mapping[str, bytes]:
        return {path: places[path].read_bytes() for path in paths}

    return read


def wheel(path: Path) -> Distribution:
    """A wheel on disk.

    Raises UsageError where the file is no wheel.
    """
    hint = f"download it again, as with `pip download --no-deps {path.name.partition('-')[0]}`"
    if path.suffix != ".whl" or not zipfile.is_zipfile(path):
        raise UsageError(f"`{path.name}` is not a wheel", hint=hint)
    name, version = path.name.split("-")[:2]
    with zipfile.ZipFile(path) as archive:
        listing = frozenset(name for name in archive.namelist() if name.endswith(".py"))

    def read(paths: Collection[str]) -> Mapping[str, bytes]:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in paths}

    return Distribution(name.replace("_", "-"), version, listing, read)
