"""What is known of licences and origins, as values; and how it stands under `resolved:`."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeAlias

from vendor_tool.links import repository
from vendor_tool.model import LegalFile, Recorded, Resolved, Upstream
from vendor_tool.values import dataclass, field, replace

Evidence: TypeAlias = Literal["tag", "text", "phrase"]
Tier: TypeAlias = Literal["A", "B", "C", "R"]
LinkState: TypeAlias = Literal["pinned", "tag", "branch", "unpinned", "path", "dangling", "none"]


@dataclass(frozen=True, slots=True)
class Detection:
    """What a licence file says. `extra` holds the lines that belong to no known text, in their order."""

    spdx: str | None
    coverage: float  # share of the words that are a known text's, 0 to 100
    holders: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    evidence: Evidence | None = None
    template: bool = False  # the holder is still the text's own placeholder

    @property
    def plain(self) -> bool:
        """A known licence and nothing else."""
        return self.spdx is not None and not self.extra


@dataclass(frozen=True, slots=True)
class Mention:
    """One licence that a file's header names, and what makes us say so."""

    spdx: str
    evidence: Evidence
    line: int  # from 1


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What the first comments and the docstring of a source file say about rights."""

    mentions: tuple[Mention, ...] = ()
    copyrights: tuple[tuple[int, str], ...] = ()  # line, text without comment marks
    notices: tuple[tuple[int, str], ...] = ()  # other patent, trademark and attribution lines
    changes: tuple[tuple[int, str], ...] = ()  # lines that say who changed the file
    files: tuple[tuple[int, str], ...] = ()  # licence files that the text refers to
    text: str = ""  # the whole of it, without comment marks

    @property
    def spdx(self) -> str | None:
        """The one expression for all that is named, whatever the evidence; None where nothing is."""
        found = sorted({mention.spdx for mention in self.mentions})
        return " AND ".join(f"({one})" if " OR " in one and len(found) > 1 else one for one in found) or None


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a file about where it came from."""

    line: int  # of the verb, from 1
    tier: Tier
    verb: str
    text: str  # the target as it stands
    state: LinkState
    url: str | None = None  # of the repository, canonical
    ref: str | None = None
    path: str | None = None
    lines: tuple[int, int] | None = None
    renames: tuple[tuple[str, str], ...] = ()
    licenses: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    hop: int = 1  # 2 for the origin of the origin, where one sentence names both


@dataclass(frozen=True, slots=True)
class Origin:
    """One link of a vendored file's chain, nearest first: hop 1 is what the upstream's file itself names."""

    url: str
    revision: str
    path: str
    hop: int
    line: int
    named_in: str  # the file that says so: `path` of the hop before, in its repository
    state: LinkState = "pinned"


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A repository that an upstream took files from, at one revision, and the licence that it gave them under."""

    url: str
    revision: str
    paths: tuple[str, ...]
    license: LegalFile | None = None
    notice: LegalFile | None = None
    owed: str | None = None  # why no licence text is here
    extra_terms: bool = False  # the licence text has lines that are no known licence's


@dataclass(frozen=True, slots=True)
class Facts:
    """An upstream's further facts, as `Resolved.extra` holds them under `legal:`."""

    ancestors: tuple[Ancestor, ...] = ()  # sorted by url and revision
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)  # local path -> chain
    others: tuple[LegalFile, ...] = ()  # further legal files of the upstream, e.g. third-party notices
    extra_terms: bool = False  # of the upstream's own licence text


KEY = "legal"
"""The key of these facts in `Resolved.extra`."""


def read(resolved: Resolved | None) -> Facts:
    """The facts that a record holds; empty ones where it holds none."""
    data = _mapping(resolved.extra.get(KEY)) if resolved else {}
    return Facts(
        ancestors=tuple(_ancestor(_mapping(one)) for one in _items(data.get("ancestors"))),
        origins={
            str(path): tuple(_origin(_mapping(one)) for one in _items(chain))
            for path, chain in _mapping(data.get("origins")).items()
        },
        others=tuple(_legal(_mapping(one)) for one in _items(data.get("others"))),
        extra_terms=bool(data.get("extra-terms")),
    )


def files(resolved: Resolved | None) -> tuple[LegalFile, ...]:
    """Every licence and NOTICE text that a record names: the upstream's own, then its ancestors'."""
    facts = read(resolved)
    found = [resolved.license, resolved.notice, *facts.others] if resolved else []
    found += [one for ancestor in facts.ancestors for one in (ancestor.license, ancestor.notice)]
    return tuple(one for one in found if one)


def dump(facts: Facts) -> dict[str, object]:
    """The facts as plain values for YAML, sorted, without empty keys; `read` of it gives them back."""
    ancestors = sorted(facts.ancestors, key=lambda one: (one.url, one.revision))
    return _without_empty(
        {
            "extra-terms": facts.extra_terms,
            "ancestors": [_dump_ancestor(one) for one in ancestors],
            "origins": {path: [_dump_origin(one) for one in facts.origins[path]] for path in sorted(facts.origins)},
            "others": [_dump_legal(one) for one in sorted(facts.others, key=lambda one: one.path)],
        }
    )


def _dump_ancestor(one: Ancestor) -> dict[str, object]:
    return _without_empty(
        {
            "url": one.url,
            "revision": one.revision,
            "paths": sorted(one.paths),
            "license": _dump_legal(one.license) if one.license else None,
            "notice": _dump_legal(one.notice) if one.notice else None,
            "owed": one.owed,
            "extra-terms": one.extra_terms,
        }
    )


def _dump_origin(one: Origin) -> dict[str, object]:
    return {
        "url": one.url,
        "revision": one.revision,
        "path": one.path,
        "hop": one.hop,
        "line": one.line,
        "named-in": one.named_in,
        "state": one.state,
    }


def _dump_legal(one: LegalFile) -> dict[str, object]:
    return _without_empty(
        {
            "path": one.path,
            "blob": one.blob,
            "to": one.to,
            "sha256": one.sha256,
            "spdx": one.spdx,
            "holders": list(one.holders),
        }
    )


def _without_empty(data: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if value not in (None, False, (), [], {})}


def _ancestor(data: Mapping[str, object]) -> Ancestor:
    license_, notice = _mapping(data.get("license")), _mapping(data.get("notice"))
    owed = data.get("owed")
    return Ancestor(
        url=str(data["url"]),
        revision=str(data["revision"]),
        paths=tuple(str(one) for one in _items(data.get("paths"))),
        license=_legal(license_) if license_ else None,
        notice=_legal(notice) if notice else None,
        owed=str(owed) if owed is not None else None,
        extra_terms=bool(data.get("extra-terms")),
    )


def _origin(data: Mapping[str, object]) -> Origin:
    return Origin(
        url=str(data["url"]),
        revision=str(data["revision"]),
        path=str(data["path"]),
        hop=int(str(data["hop"])),
        line=int(str(data["line"])),
        named_in=str(data["named-in"]),
        state=_STATES.get(str(data.get("state")), "none"),
    )


_STATES: Mapping[str, LinkState] = {
    "pinned": "pinned",
    "tag": "tag",
    "branch": "branch",
    "unpinned": "unpinned",
    "path": "path",
    "dangling": "dangling",
}


def _legal(data: Mapping[str, object]) -> LegalFile:
    spdx = data.get("spdx")
    return LegalFile(
        path=str(data["path"]),
        blob=str(data["blob"]),
        to=str(data["to"]),
        sha256=str(data["sha256"]),
        spdx=str(spdx) if spdx is not None else None,
        holders=tuple(str(one) for one in _items(data.get("holders"))),
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


# ---- where copies of legal files go -----------------------------------------------------------------------


def home(upstream: Upstream) -> str:
    """The folder of the documents: the top folder of the entry's `to:`, or `vendored`, wherever the files go."""
    return upstream.to.strip("/").partition("/")[0] or "vendored"


def folder(upstream: Upstream) -> str:
    """The folder of an entry's legal texts, which is named after it."""
    return f"{home(upstream)}/LICENSES/{upstream.name}"


def placed(upstream: Upstream) -> bool:
    """Whether the recorded legal texts stand in the entry's folder: not so after the entry got another name."""
    found = upstream.resolved
    return found is None or not found.files or all(one.to.startswith(f"{folder(upstream)}/") for one in files(found))


def relocated(upstream: Upstream) -> Resolved:
    """The record with its legal texts in the entry's folder, below which they keep their places."""
    found = upstream.resolved
    assert found is not None
    if placed(upstream):
        return found

    def here(file: LegalFile | None) -> LegalFile | None:
        rest = file.to.partition("/LICENSES/")[2].partition("/")[2] if file else ""
        return replace(file, to=f"{folder(upstream)}/{rest}") if file else None

    facts = read(found)
    facts = replace(
        facts,
        ancestors=tuple(replace(one, license=here(one.license), notice=here(one.notice)) for one in facts.ancestors),
        others=tuple(one for file in facts.others if (one := here(file))),
    )
    return replace(
        found, license=here(found.license), notice=here(found.notice), extra={**found.extra, KEY: dump(facts)}
    )


def copies(upstream: Upstream, paths: Collection[str], *, of: str | None = None) -> dict[str, str]:
    """Where copies of legal files go: upstream path to `<home>/LICENSES/<upstream>/<file name>`.

    `of` names an ancestor's folder, which stands inside the upstream's own: every file has one owner.
    """
    place = folder(upstream) + (f"/{of}" if of else "")
    taken: set[str] = set()
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda one: (one.count("/"), one)):
        name = path.rpartition("/")[2]
        if name.casefold() in taken:
            name = path.replace("/", "__")
        taken.add(name.casefold())
        found[path] = f"{place}/{name}"
    return found


def ancestor_folder(url: str) -> str:
    """The folder name of an ancestor's legal files: `owner__repository`."""
    found = repository(url)
    return found.path.replace("/", "__") if found else url.strip("/").rpartition("/")[2]


# ---- what the lock says of one file -----------------------------------------------------------------------


def declared(upstream: Upstream, file: Recorded) -> str | None:
    """The licence that the lock gives for a file: the file's own `license:`, the entry's, the detected one."""
    return declarations(upstream)(file)


def declarations(upstream: Upstream) -> Callable[[Recorded], str | None]:
    """The same for any file of an entry, which may list ten thousand."""
    own = {spec.path: spec.license for spec in reversed(upstream.files) if spec.license}
    found = upstream.resolved.license.spdx if upstream.resolved and upstream.resolved.license else None
    return lambda file: own.get(file.path.removeprefix(upstream.from_).lstrip("/")) or upstream.license or found


def identifiers(expression: str | None) -> frozenset[str]:
    """The licence names of an expression, cut at its operators; `licences.expression` parses it in earnest."""
    words = re.split(r"[\s()]+", expression or "")
    return frozenset(word for word in words if word and word not in ("AND", "OR", "WITH"))
