"""Addresses made of a repository, a revision and a path: links for people, purl and SWHID for machines."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from vendor_tool.patterns import pattern
from vendor_tool.urls import plain_url

_Value = TypeVar("_Value")
_SCP = pattern(r"^(?:[\w.-]+@)?([\w.-]+\.[A-Za-z]{2,}):(?!//)(.+)$")
_HEX = pattern(r"[0-9a-f]{40}\Z")

# what stands between repository and revision in a link to a file and to a folder
_FORGES = {
    "github.com": ("/blob/", "/tree/"),
    "gitlab.com": ("/-/blob/", "/-/tree/"),
    "huggingface.co": ("/blob/", "/tree/"),
    "bitbucket.org": ("/src/", "/src/"),
    "codeberg.org": ("/src/commit/", "/src/commit/"),
}

_COMMIT = {
    "github.com": "/commit/",
    "gitlab.com": "/-/commit/",
    "huggingface.co": "/commit/",
    "bitbucket.org": "/commits/",
    "codeberg.org": "/commit/",
}
_COMPARE = {"github.com": "/compare/", "gitlab.com": "/-/compare/", "codeberg.org": "/compare/"}


class Repository(NamedTuple):
    """Where a repository lives: host, and its path there without slashes at the ends or `.git`."""

    host: str
    path: str

    @property
    def owner(self) -> str:
        """The first part of the path; empty for a repository that has none."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def key(self) -> str:
        """What two spellings of one address share: forges do not tell upper from lower case."""
        return f"{self.host}/{self.path}".casefold()


@lru_cache(maxsize=256)  # asked for every file of a few repositories
def repository(url: str) -> Repository | None:
    """Host and path of a git address, `git@host:path` included; None for one without a host."""
    short = _SCP.match(url)
    if short:
        return Repository(short[1].casefold(), short[2].strip("/").removesuffix(".git"))
    parts = urlsplit(url)
    path = parts.path.strip("/").removesuffix(".git")
    if not parts.hostname or not path:
        return None
    return Repository(parts.hostname.casefold().removeprefix("www."), path)


@lru_cache(maxsize=256)
def key(url: str) -> str:
    """A name that is equal for two spellings of one repository's address."""
    found = repository(url)
    return found.key if found else plain_url(url).rstrip("/").removesuffix(".git")


def web(url: str) -> str | None:
    """The page of a repository, where its host is a forge that we know."""
    found = repository(url)
    return f"https://{found.host}/{found.path}" if found and _forge(found) else None


def permalink(url: str, revision: str, path: str, line: int | None = None) -> str:
    """A link to one file at one revision; `url` with revision and path behind it where the forge is unknown."""
    anchor = f"#L{line}" if line else ""
    return _link(url, revision, path, 0) + anchor


def commit(url: str, revision: str) -> str | None:
    """The page of one commit; None where the forge is unknown."""
    found = repository(url)
    middle = _forge_value(found, _COMMIT)
    return f"https://{found.host}/{found.path}{middle}{revision}" if found and middle else None


def compare(url: str, old: str, new: str) -> str | None:
    """The page that compares two commits; None where the forge is unknown or has none for any two."""
    found = repository(url)
    middle = _forge_value(found, _COMPARE)
    return f"https://{found.host}/{found.path}{middle}{old}...{new}" if found and middle else None


def tree(url: str, revision: str, path: str = "") -> str:
    """A link to one folder at one revision."""
    return _link(url, revision, path, 1)


def purl(url: str, revision: str, path: str = "") -> str:
    """The package URL (ECMA-427) of a path at a revision. `pkg:github` lower-cases owner and name, as its type asks."""
    found = repository(url)
    subpath = "#" + quote(path.strip("/"), safe="/") if path else ""
    if found and found.host in ("github.com", "bitbucket.org") and found.path.count("/") == 1:
        kind = found.host.partition(".")[0]
        return f"pkg:{kind}/{quote(found.path.lower(), safe='/')}@{revision}{subpath}"
    if found and found.host == "huggingface.co" and found.path.count("/") == 1:
        return f"pkg:huggingface/{quote(found.path, safe='/')}@{revision.lower()}{subpath}"
    name = found.name if found else plain_url(url).rstrip("/").removesuffix(".git").rpartition("/")[2]
    source = quote(f"git+{plain_url(url)}@{revision}", safe="/:")
    return f"pkg:generic/{quote(name, safe='')}@{revision}?vcs_url={source}{subpath}"


def swhid(blob: str, *, url: str, revision: str, path: str) -> str:
    """The qualified SWHID (ISO/IEC 18670) of a file's content: a git blob id is the archive's content id."""
    anchor = f";anchor=swh:1:rev:{revision}" if _HEX.match(revision) else ""
    place = quote("/" + path.strip("/"), safe="/")
    return f"swh:1:cnt:{blob};origin={quote(plain_url(url), safe='/:')}{anchor};path={place}"


def _forge(found: Repository) -> tuple[str, str] | None:
    return _forge_value(found, _FORGES)


def _forge_value(found: Repository | None, values: Mapping[str, _Value]) -> _Value | None:
    if found is None:
        return None
    return values.get("gitlab.com" if found.host.startswith("gitlab.") else found.host)


def _link(url: str, revision: str, path: str, kind: int) -> str:
    found = repository(url)
    forge = _forge(found) if found else None
    path = quote(path.strip("/"), safe="/")
    if found is None or forge is None:
        return f"{plain_url(url)}@{revision}" + (f":{path}" if path else "")
    return f"https://{found.host}/{found.path}{forge[kind]}{revision}" + (f"/{path}" if path else "")
