"""What a project says of itself: its pyproject.toml, and the wheels and sdists that were built from it."""

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path

from vendor_tool.checks.subject import Artefact, ProjectFacts, Requirement
from vendor_tool.errors import UsageError

_LEGAL = re.compile(r"(?:^|/)(?:[\w.-]*licen[cs]e[\w.-]*|copying[\w.-]*|notice[\w.-]*|authors[\w.-]*)$", re.IGNORECASE)
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_LARGEST = 2_000_000  # bytes of a legal text


def pyproject(data: bytes, path: str = "pyproject.toml") -> ProjectFacts | None:
    """Licence, licence files, classifiers and dependencies of a `[project]` table; None where there is none.

    Raises UsageError where the file is not TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found]  # a dependency on Python 3.10 only
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text).get("project")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: not TOML: {error}", hint="mend the file") from error
    if not isinstance(table, dict):
        return None
    lines = text.splitlines()
    license_ = table.get("license")
    globs = table.get("license-files")
    return ProjectFacts(
        path=path,
        license=license_ if isinstance(license_, str) else None,
        license_line=next((number for number, line in enumerate(lines, 1) if re.match(r"\s*license\s*=", line)), None),
        license_files=tuple(map(str, globs)) if isinstance(globs, list) else None,
        classifiers=tuple(map(str, table.get("classifiers", ()))),
        requirements=tuple(_requirements(table, lines)),
    )


def _requirements(table: Mapping[str, object], lines: list[str]) -> Iterator[Requirement]:
    groups: list[tuple[str | None, object]] = [(None, table.get("dependencies"))]
    extras = table.get("optional-dependencies")
    if isinstance(extras, dict):
        groups += [(str(name), value) for name, value in extras.items()]
    for extra, values in groups:
        for text in values if isinstance(values, list) else ():
            line = next((number for number, one in enumerate(lines, 1) if str(text) in one), None)
            yield Requirement(str(text), line, extra)


def artefact(path: Path) -> Artefact:
    """A wheel's or an sdist's metadata and legal texts. Raises UsageError where the file is neither."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as wheel:
                names = wheel.namelist()
                wanted = [one for one in names if _is_legal(one) and wheel.getinfo(one).file_size <= _LARGEST]
                metadata = next((one for one in names if one.endswith(".dist-info/METADATA")), None)
                found = {one: wheel.read(one) for one in wanted}
                head = wheel.read(metadata) if metadata else None
            return _artefact(path, head, found, names, wheel=True)
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as sdist:
                members = {one.name: one for one in sdist.getmembers() if one.isfile()}
                wanted = [one for one, member in members.items() if _is_legal(one) and member.size <= _LARGEST]
                metadata = next((one for one in members if one.count("/") == 1 and one.endswith("/PKG-INFO")), None)
                found = {one: _member(sdist, members[one]) for one in wanted}
                head = _member(sdist, members[metadata]) if metadata else None
            return _artefact(path, head, found, list(members), wheel=False)
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise UsageError(f"`{path.name}` cannot be read: {error}", hint="build it anew") from error
    raise UsageError(f"`{path.name}` is neither a wheel nor an sdist", hint="give a `.whl` or a `.tar.gz`")


def _artefact(path: Path, head: bytes | None, texts: Mapping[str, bytes], names: list[str], *, wheel: bool) -> Artefact:
    if head is None:
        raise UsageError(f"`{path.name}` holds no metadata", hint="build it anew")
    metadata = HeaderParser().parsestr(head.decode("utf-8", "replace"))
    return Artefact(
        name=path.name,
        kind="wheel" if wheel else "sdist",
        license=metadata.get("License-Expression"),
        license_files=tuple(metadata.get_all("License-File", ())),
        classifiers=tuple(metadata.get_all("Classifier", ())),
        requirements=tuple(_required(one) for one in metadata.get_all("Requires-Dist", ())),
        texts=texts,
        files=frozenset(names),
    )


def _required(text: str) -> Requirement:
    extra = _EXTRA.search(text)
    return Requirement(text, None, extra[1] if extra else None)


def _member(sdist: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = sdist.extractfile(member)
    return stream.read() if stream else b""


def _is_legal(path: str) -> bool:
    return "/licenses/" in path or (bool(_LEGAL.search(path)) and not path.endswith((".py", ".pyc", ".so")))
