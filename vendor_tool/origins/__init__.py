"""Claims of origin in comments and docstrings: 34 shapes of "adapted from", with their targets, tiers and link states.

Tier A is a verb with a link to code, B a verb with a path, dotted name or `owner/repository`, C a verb with prose, R a
mere reference. What the words look like is in `verbs`, what they point to in `targets`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from vendor_tool.legal import Claim, Tier
from vendor_tool.origins import verbs
from vendor_tool.origins.comments import SUFFIXES, Comment, comments
from vendor_tool.origins.targets import URL, Target, link, named, with_refs
from vendor_tool.patterns import pattern
from vendor_tool.values import replace

__all__ = ["SUFFIXES", "claims", "link", "with_refs"]

Names: TypeAlias = Literal["all", "paths", "link"] | None
"""What a verb may point to beside links: dotted names too, paths and short names; "link": one that follows at once."""

_HOLDER = pattern(r"(?:copyright|©|\(c\)\s)\s*.*\b(?:19|20)\d\d\b.*", re.IGNORECASE)
_LICENSE_FILE = pattern(r"(?:^|/)(?:licen[cs]e|copying|notice)[^/]*$", re.IGNORECASE)
_LINK_FIRST = pattern(r"\W*https?://")
_FOLLOW = pattern(r"^\W*(?:and\s+)?(?=https?://)", re.IGNORECASE)
_BEFORE = 5  # lines before an "original source" that may say the same
_FARTHEST = 30  # lines that a list of links under one verb may have
_NEAR = 3  # lines after a verb that may say revision, licence and holder of what it names


def claims(data: bytes, path: str) -> list[Claim]:
    """What a source file says of its origins, in the order of its lines; empty for kinds of files that we cannot read.

    `path` tells the language by its suffix.
    """
    suffix = path[path.rfind(".") :].casefold() if "." in path else ""
    if suffix not in SUFFIXES:
        return []
    text = data.decode("utf-8", "replace")
    lowered = text.lower()
    hints = _hints(lowered)
    tables = any(sign in lowered for sign in verbs.TABLE_SIGNS) and verbs.TABLES.search(lowered)
    if not hints and not tables:
        return []
    lines = [
        one._replace(text="") if one.line in hints and verbs.BOILERPLATE.search(one.text) else one
        for one in comments(text, suffix, None if tables else _around(hints))
    ]
    found: list[Claim] = []
    taken: set[int] = set()  # lines whose link already belongs to a verb above
    for index, line in enumerate(lines):
        if line.line in hints:
            for one in _line(lines, index, taken):
                found.append(_hop(one, found, line))
    return found + (list(_tables(lines)) if tables else [])


def _hints(lowered: str) -> set[int]:
    """Lines that may hold a verb: those with a word of one, and the line above a link, whose verb may be a weak one."""
    links = set(_starts(lowered, "://"))
    linked = links or ".co" in lowered  # people leave the scheme of `github.com/...` out
    # without a link anywhere only "from" something is a claim, and a marked snippet
    prepositions, others = (("from", " of"), verbs.WEAK) if linked else (("from",), verbs.WEAK[:1])
    spoken = {start for word in prepositions for start in _starts(lowered, word)}
    weak = {start for word in others for start in _starts(lowered, word)}
    found: set[int] = set()
    number, last = 1, 0
    for start in sorted(spoken | links | weak):
        number += lowered.count("\n", last, start)
        last = start
        end = lowered.find("\n", start)
        line = lowered[start : end if end >= 0 else len(lowered)]
        stems = verbs.SPOKEN_STEMS if start in spoken else verbs.STEMS
        if stems.search(line) and not verbs.USUAL.search(line):
            found |= {number - 1, number} if start in links else {number}
    return found


def _starts(text: str, word: str) -> Iterator[int]:
    """Where the lines that hold a word begin, once each."""
    position = text.find(word)
    while position >= 0:
        yield text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        position = text.find(word, end) if end >= 0 else -1


def _around(hints: set[int]) -> set[int]:
    """The lines that a claim on one of these lines may draw on."""
    return {line + offset for line in hints for offset in range(-_BEFORE, _FARTHEST + 1)}


def _hop(claim: Claim, before: Sequence[Claim], line: Comment) -> Claim:
    """A claim that opens with "which was" speaks of the origin that the claim before it named."""
    if claim.hop == 1 or not before or line.line - before[-1].line > _NEAR:
        return replace(claim, hop=1)
    return replace(claim, hop=before[-1].hop + 1)


def _line(lines: Sequence[Comment], index: int, taken: set[int]) -> Iterator[Claim]:
    text = lines[index].text
    if not text:
        return
    if verbs.SNIPPET.search(text):
        yield _snippet(lines, index)
        return
    matches = list(verbs.STRONG.finditer(text))
    if not matches:
        weak = next((m for one in (verbs.PORTIONS, verbs.BASED, verbs.LABEL) if (m := one.search(text))), None)
        matches = [weak] if weak else []
    for number, match in enumerate(matches):
        stop = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        yield from _claim(lines, index, match, stop, taken)
    if not matches and index not in taken:
        reference = verbs.REFERENCE.search(text)
        if reference:
            yield from _reference(lines, index, reference)


def _claim(lines: Sequence[Comment], index: int, match: re.Match[str], stop: int, taken: set[int]) -> Iterator[Claim]:
    text = lines[index].text
    tail = text[match.end() : stop]
    # "a copy of" is prose unless a link follows
    strong = match.re == verbs.PORTIONS or (match.re == verbs.STRONG and match["prep"].casefold() != "of")
    hop = 2 if verbs.HOP.search(_lead(lines, index, match.start())) else 1
    verb = " ".join(match["verb"].split()).casefold()
    targets, last = _targets(lines, index, tail, names=_names(match, verb))
    if not targets:
        if strong and tail.strip(" .:`\"'") and not re.match(r"\s*(?:\d|the (?:above|following))", tail):
            prose = _fill(lines, index, Claim(lines[index].line, "C", verb, tail.strip(), "none", hop=hop))
            if not verbs.LOOSE.match(verb) or prose.licenses or prose.holders:
                yield prose
        return
    taken.update(range(index, last + 1))
    for target in targets:
        yield _fill(lines, index, _of(target, lines[index].line, verb, hop))


def _names(match: re.Match[str], verb: str) -> Names:
    if match.re != verbs.STRONG:
        return None
    if match["prep"].casefold() == "of":
        return "link"
    return "paths" if verbs.LOOSE.match(verb) else "all"


def _lead(lines: Sequence[Comment], index: int, start: int) -> str:
    """The words before a verb: of its line, and of the line above where the verb opens its own."""
    here = lines[index].text[:start]
    above = index > 0 and lines[index - 1].block == lines[index].block
    return f"{lines[index - 1].text} {here}" if above and not here.strip() else here


def _targets(lines: Sequence[Comment], index: int, tail: str, *, names: Names) -> tuple[list[Target], int]:
    """What a verb points to, in its own line or the next two, and the last line that belongs to it."""
    found = [link(one.group()) for one in URL.finditer(tail)][:1]
    last = index
    if not found and names in ("all", "paths") and (target := named(tail, dotted=names == "all")):
        after = _next(lines, index)
        follows = URL.search(after.text) if after and target.kind == "short" else None
        found = [link(follows.group())] if follows else [target]
        last = index + 1 if follows else index
    if not found and not re.search(r"[.;]\s+\w", tail) and len(tail) < 80:
        found, last = _below(lines, index, tail, names=names)
    while found and (after := _next(lines, last)) and _FOLLOW.match(after.text) and found[-1].url:
        follow = URL.search(after.text)
        if follow is None:
            break
        found.append(link(follow.group()))
        last += 1
    return found, last


def _below(lines: Sequence[Comment], index: int, tail: str, *, names: Names) -> tuple[list[Target], int]:
    last = index
    for _ in range(2):
        after = _next(lines, last)
        if after is None or not after.text.strip() or verbs.STRONG.search(after.text):
            break
        last += 1
        address = URL.search(after.text)
        if address and (names != "link" or not tail.strip() or _LINK_FIRST.match(after.text)):
            return [link(address.group())], last
        if (
            names in ("all", "paths")
            and not tail.strip(" :.`")
            and (target := named(after.text, dotted=names == "all"))
        ):
            return [target], last
    return [], index


def _next(lines: Sequence[Comment], index: int) -> Comment | None:
    after = lines[index + 1] if index + 1 < len(lines) else None
    return after if after and after.block == lines[index].block else None


def _snippet(lines: Sequence[Comment], index: int) -> Claim:
    """A snippet that is marked by tags says licence and holder, not where it is from."""
    near = [one.text for one in lines[index : index + 6] if one.block == lines[index].block]
    return Claim(
        line=lines[index].line,
        tier="C",
        verb="snippet",
        text="SPDX snippet",
        state="none",
        licenses=tuple(found[1].strip() for one in near if (found := verbs.SNIPPET_LICENSE.search(one))),
        holders=tuple(found[1].strip() for one in near if (found := verbs.SNIPPET_HOLDER.search(one))),
    )


def _of(target: Target, line: int, verb: str, hop: int = 1) -> Claim:
    tier: Tier = "A"
    if target.path and _LICENSE_FILE.search(target.path):
        target = replace(target, ref=None, path=None, lines=None)  # where the rights are, not where the code is
    if target.kind in ("path", "dotted", "short"):
        tier = "B"
    elif target.kind == "other":
        tier = "R"
    return Claim(
        line=line,
        tier=tier,
        verb=verb,
        text=target.text,
        state=target.state,
        url=target.url,
        ref=target.ref,
        path=target.path,
        lines=target.lines,
        hop=hop,
    )


def _fill(lines: Sequence[Comment], index: int, claim: Claim) -> Claim:
    """The claim with renames, and with revision, licence and holder that stand near it."""
    block = lines[index].block
    label = re.match(r"original|source|upstream|origin|project", claim.verb)
    first = max(0, index - _BEFORE) if label else index
    near = [one.text for one in lines[first : index + _NEAR + 1] if one.block == block]
    here = " ".join(one.text for one in lines[index : index + 3] if one.block == block)
    renamed = verbs.RENAMES.search(here)
    holders = [match.group().strip() for one in near if (match := _HOLDER.search(one))]
    licenses = [verbs.license_id(one) for text in near for one in verbs.LICENSE.findall(text)]
    claim = replace(
        claim,
        renames=tuple(verbs.RENAME.findall(renamed[1])) if renamed else (),
        licenses=tuple(dict.fromkeys(licenses)),
        holders=tuple(dict.fromkeys(holders)),
    )
    if claim.ref or claim.tier == "R" or claim.url is None:
        return claim
    revision = next((found[1] for one in near if (found := verbs.REVISION.search(one))), None)
    if revision is None:
        return claim
    return replace(claim, ref=revision, state="pinned" if len(revision) == 40 else "unpinned")


def _reference(lines: Sequence[Comment], index: int, match: re.Match[str]) -> Iterator[Claim]:
    tail = lines[index].text[match.end() :]
    address = URL.search(tail)
    if not address and not tail.strip(" :.") and (after := _next(lines, index)):
        address = URL.search(after.text)
    if address:
        target = link(address.group())
        verb = " ".join(match["verb"].split()).casefold()
        yield replace(_of(target, lines[index].line, verb), tier="R")


def _tables(lines: Sequence[Comment]) -> Iterator[Claim]:
    """Maps of local to upstream files: rows of a table under "Local file, Upstream file", and `a <- b` lines."""
    tree: Target | None = None
    below = ""
    inside: int | None = None  # the block whose lines are rows
    revision: str | None = None
    for line in lines:
        stated = verbs.REVISION.search(line.text)
        revision = stated[1] if stated and len(stated[1]) == 40 else revision
        address = URL.search(line.text)
        if address and (target := link(address.group())).kind in ("tree", "repository"):
            tree = target if tree is None or target.kind == "tree" or target.url != tree.url else tree
        head = verbs.TABLE_HEAD.search(line.text)
        if head:
            inside, below = line.block, (head[1] or "").strip("/ ")
        row = verbs.ARROW.match(line.text) or (verbs.TABLE_ROW.match(line.text) if inside == line.block else None)
        if row:
            yield _row(line.line, row[2], below, tree, revision)


def _row(line: int, file: str, below: str, tree: Target | None, revision: str | None) -> Claim:
    base = tree.path if tree and tree.path and "/" not in file.removeprefix("./") else ""
    prefix = below or base
    path = f"{prefix}/{file}" if prefix and not file.startswith(prefix) else file
    if tree is None:
        return Claim(line, "B", "mapped to", file, "path", path=path)
    ref = tree.ref or revision
    state = replace(tree, ref=ref).state
    return Claim(line, "A", "mapped to", file, state, url=tree.url, ref=ref, path=path)
