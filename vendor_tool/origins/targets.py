"""What a claim of origin points to: a link into a forge, a path, a dotted name, or a repository's short name."""

import re
from collections.abc import Collection
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from vendor_tool.legal import LinkState
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass, replace

Kind: TypeAlias = Literal["file", "tree", "repository", "commit", "pull", "gist", "other", "path", "dotted", "short"]

URL = pattern(r"(?:git\+)?(?:https?://|(?<![\w/.])(?=(?:github|gitlab|huggingface)\.com?/))[^\s<>()\[\]{}\"'`|,;]+")
SHA = pattern(r"(?<![0-9a-fA-F/])([0-9a-f]{40})(?![0-9a-fA-F])")
_FULL = pattern(r"[0-9a-f]{40}\Z")
_SHORT = pattern(r"(?=[0-9a-f]*\d)[0-9a-f]{7,39}\Z")
_TAG = pattern(r"(?:[\w-]+-)?v?\d+(?:\.\w+)+(?:[-.]?\w+)*\Z")
_LINES = pattern(r"L(\d+)(?:C\d+)?(?:-L?(\d+))?")
_CODE = r"(?:pyi?|pyx|cu|cuh|cpp|cc|cxx|c|hpp|hh|h|js|ts|rs|go|java|sh|ya?ml|toml|md|jl|metal|ipynb|inc|td)"
PATH = pattern(rf"(?<![\w/:.])((?:\.{{0,2}}/)?(?:[\w.+-]+/)*[\w.+-]+\.{_CODE})(?![\w/])(?:(?:#L|:)(\d+)(?:-L?(\d+))?)?")
FOLDER = pattern(r"(?<![\w/:.])((?:[\w.+-]+/){2,}[\w.+-]*)(?![\w/])")
DOTTED = pattern(r"(?<![\w./:-])((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?![\w/]|\.\w)")
SHORT = pattern(r"(?<![\w./:@-])([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*[A-Za-z0-9])(?![\w/])")


# "either/or" has the shape of a repository's short name too
_UNLIKE_PROSE = pattern(r"[A-Z\d_-]")
_AFTER_SHORT = pattern(r"[`'\"]?\s*(?:@|\(|PR\b|at\s+[`'\"]?[0-9a-f]{7})")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a claim points."""

    kind: Kind
    text: str
    url: str | None = None  # of the repository
    ref: str | None = None
    path: str | None = None
    lines: tuple[int, int] | None = None

    @property
    def state(self) -> LinkState:
        """How well the target is nailed down."""
        if self.kind in ("path", "dotted"):
            return "path"
        if self.ref is None or self.kind in ("pull", "gist", "other", "short"):
            return "pinned" if self.ref and _FULL.match(self.ref) else "unpinned"
        if _FULL.match(self.ref):
            return "pinned"
        if _SHORT.match(self.ref):
            return "unpinned"
        return "tag" if _TAG.match(self.ref) else "branch"


def link(text: str) -> Target:
    """What an address points to. `ref` is taken as one path segment; see `with_refs` for those with more."""
    bare = text.rstrip(".,;:!?*_").removesuffix(".git").removeprefix("git+")
    parts = urlsplit(bare if "://" in bare else f"https://{bare}")
    host = (parts.hostname or "").removeprefix("www.")
    segments = [unquote(one) for one in parts.path.split("/") if one]
    lines = _lines(parts.fragment)
    if host == "raw.githubusercontent.com" and len(segments) > 3:
        ref, *path = segments[4:] if segments[2:4] == ["refs", "heads"] else segments[2:]
        return Target("file", bare, _repository("github.com", segments), ref, "/".join(path), lines)
    if host == "gist.github.com":
        return Target("gist", bare, f"https://{host}/{'/'.join(segments)}")
    if host in ("github.com", "codeberg.org", "bitbucket.org") and len(segments) >= 2:
        return _forge(bare, host, segments[:2], segments[2:], lines)
    if host.startswith("gitlab.") and len(segments) >= 2:
        cut = segments.index("-") if "-" in segments else len(segments)
        return _forge(bare, host, segments[:cut], segments[cut + 1 :], lines)
    if host == "huggingface.co":
        return _hugging_face(bare, segments, lines)
    return Target("other", bare)


def with_refs(target: Target, refs: Collection[str]) -> Target:
    """The target with its ref taken from a repository's own: the longest that the link's path begins with."""
    if target.ref is None or target.path is None or target.ref in refs:
        return target
    whole = f"{target.ref}/{target.path}"
    fitting = [ref for ref in refs if whole == ref or whole.startswith(ref + "/")]
    if not fitting:
        return target
    ref = max(fitting, key=len)
    return replace(target, ref=ref, path=whole[len(ref) :].strip("/"))


def named(text: str, *, dotted: bool = True) -> Target | None:
    """The path, dotted name or `owner/repository` that a text begins with, quotes and back-ticks aside."""
    start = text.lstrip(" \t`'\"(*:")
    for kind, shape in (("path", PATH), ("path", FOLDER), ("dotted", DOTTED), ("short", SHORT)):
        found = shape.match(start)
        if not found:
            continue
        if kind == "path":
            numbers = found.groups()[1:]
            lines = (int(numbers[0]), int(numbers[1] or numbers[0])) if numbers and numbers[0] else None
            return Target("path", found[1], path=found[1].removeprefix("./"), lines=lines)
        if kind == "dotted" and dotted and not re.match(r"(?:e\.g|i\.e|cf|etc)\b", found[1]):
            return Target("dotted", found[1], path=found[1])
        if kind == "short" and (_UNLIKE_PROSE.search(found[1]) or _AFTER_SHORT.match(start, found.end())):
            return Target("short", found[1], url=f"https://github.com/{found[1]}")
    return None


def _forge(text: str, host: str, repository: list[str], rest: list[str], lines: tuple[int, int] | None) -> Target:
    url = _repository(host, repository, whole=True)
    kind = rest[0] if rest else ""
    if kind in ("blob", "raw", "blame", "tree", "src", "edit") and len(rest) > 1:
        rest = rest[1:] if kind == "src" and rest[1] in ("commit", "branch", "tag") else rest
        path = "/".join(rest[2:])
        named_file = kind != "tree" and (kind != "src" or "." in rest[-1])
        return Target("file" if named_file and path else "tree", text, url, rest[1], path or None, lines)
    if kind == "commit" and len(rest) > 1:
        return Target("commit", text, url, rest[1])
    if kind in ("pull", "pulls", "merge_requests"):
        return Target("pull", text, url)
    if kind == "releases" and len(rest) > 2 and rest[1] == "tag":
        return Target("tree", text, url, rest[2])
    if not rest:
        # pip writes revisions as owner/name@ref
        name, _, ref = url.partition("@")
        return Target("repository", text, name.removesuffix(".git"), ref or None)
    return Target("other", text, url)


def _hugging_face(text: str, segments: list[str], lines: tuple[int, int] | None) -> Target:
    if len(segments) < 2 or segments[0] in ("papers", "docs", "blog", "learn", "collections", "join"):
        return Target("other", text)
    size = 3 if segments[0] in ("spaces", "datasets") else 2
    rest = segments[size:]
    url = f"https://huggingface.co/{'/'.join(segments[:size])}"
    if len(rest) > 1 and rest[0] in ("blob", "resolve", "raw", "tree"):
        return Target("tree" if rest[0] == "tree" else "file", text, url, rest[1], "/".join(rest[2:]) or None, lines)
    if len(rest) > 1 and rest[0] == "commit":
        return Target("commit", text, url, rest[1])
    return Target("repository" if not rest else "other", text, url)


def _repository(host: str, segments: list[str], *, whole: bool = False) -> str:
    path = "/".join(segments if whole else segments[:2])
    return f"https://{host}/{path}".removesuffix(".git")


def _lines(fragment: str) -> tuple[int, int] | None:
    found = _LINES.match(fragment)
    return (int(found[1]), int(found[2] or found[1])) if found else None
