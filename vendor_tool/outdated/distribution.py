"""The files of a published package, installed or as a wheel: read, never imported.

`listing` and `read` are what `transform.symbols.find` asks for.
"""

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

    `folders` are searched instead of this interpreter's path. An editable install, whose record lists no module, is
    not found.
    """
    found = metadata.distributions() if folders is None else metadata.distributions(path=list(folders))
    for distribution in found:
        files = {path.as_posix(): path for path in distribution.files or () if path.suffix == ".py"}
        if any(PurePosixPath(path).parts[0] in (module, f"{module}.py") for path in files):
            places = {path: Path(str(distribution.locate_file(file))) for path, file in files.items()}
            return Distribution(distribution.name, distribution.version, frozenset(places), _from_disk(places))
    return None


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
