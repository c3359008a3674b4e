"""What the head of a source file says about rights: its first comments and its docstring."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from vendor_tool.legal import Evidence, HeaderFacts, Mention
from vendor_tool.licences import texts
from vendor_tool.licences.detect import TAG, Region, detector
from vendor_tool.licences.holders import copyright_line, is_placeholder
from vendor_tool.origins.comments import SUFFIXES, Comment, comments
from vendor_tool.patterns import pattern

_LONGEST = 80  # lines
_MARKS: Final = ("#", '"""', "'''", "//", "/*")  # one of these opens every comment and docstring

_PHRASES: Final = (
    (
        "Apache-2.0",
        r"\bapache(?: software)?(?:[ -]licen[cs]e)?,?(?: version)? ?v?2(?:\.0)?\b|apache\.org/licenses/license-2\.0",
    ),
    ("MIT", r"\bmit[ -]licen[cs]e|\blicen[cs]ed? under (?:the )?(?:terms of the )?mit\b|\(mit\)|licen[cs]e: ?mit\b"),
    ("BSD-3-Clause", r"\bbsd[ -]?3[ -]?clause|\b3-clause bsd|\bbsd[ -]style|\bbsd licen[cs]e|new bsd"),
    ("BSD-2-Clause", r"\bbsd[ -]?2[ -]?clause|\b2-clause bsd|simplified bsd"),
    ("MPL-2.0", r"\bmozilla public licen[cs]e,? (?:version |v\.? ?)?2\.0|\bmpl[ -]2\.0"),
    ("GPL-3.0-or-later", r"\bgnu general public licen[cs]e.{0,120}version 3.{0,60}later"),
    ("GPL-2.0-or-later", r"\bgnu general public licen[cs]e.{0,120}version 2.{0,60}later"),
    ("ISC", r"\bisc licen[cs]e"),
    ("BSL-1.0", r"\bboost software licen[cs]e"),
    ("LicenseRef-NvidiaProprietary", r"nvidia (?:software )?(?:end user )?licen[cs]e agreement|\bnvidia eula"),
)
_CHANGES: Final = pattern(
    r"\b(?:modified|changed|edited|altered|amended)\b.{0,60}\b(?:by|for)\s+\S|"
    r"\b(?:modifications?|changes)\b.{0,40}(?:\bby\b|copyright|©|\(c\)|\bmade\b)",
    re.IGNORECASE,
)
_NOTICE: Final = pattern(r"\b(?:patents?|trademarks?|attributions?)\b", re.IGNORECASE)
_TERMS: Final = pattern(r"licen[cs]e|warrant", re.IGNORECASE)
_FILE: Final = pattern(
    r"(?i:\b(?:see|in|with|found (?:in|at)|refer to|under|to|and)\s+(?:the\s+)?(?:(?:accompanying|root|top-level)\s+)?)"
    r"[`'\"(]*((?:[\w.-]+/)*(?:[\w-]*LICEN[CS]E[\w.-]*|COPYING[\w.-]*|NOTICE[\w.-]*|third_party_licen[cs]es[\w./-]*))[`'\")]*"
)


@lru_cache(maxsize=2048)
def header(data: bytes, path: str = "x.py") -> HeaderFacts:
    """Licences named (by tag, text or phrase), copyright lines, notices, change notices and licence files referred to.

    Reads the comments and the docstring that stand before the first code, at most 80 lines of them. `path` tells the
    language by its suffix.
    """
    lines = _head(data.decode("utf-8", "replace"), path)
    if not lines:
        return HeaderFacts()
    return HeaderFacts(
        mentions=tuple(_mentions(lines)),
        copyrights=tuple(
            (one.line, found) for one in lines if (found := copyright_line(one.text)) and not is_placeholder(found)
        ),
        notices=tuple((one.line, one.text.strip()) for one in lines if _is_notice(one.text)),
        changes=tuple((one.line, one.text.strip()) for one in lines if _CHANGES.search(one.text)),
        files=tuple((one.line, found.rstrip(".")) for one in lines for found in _FILE.findall(one.text)),
        text="\n".join(one.text for one in lines),
    )


def _head(text: str, path: str) -> list[Comment]:
    first = text.lstrip().partition("\n")[0]
    if not any(mark in first for mark in _MARKS):
        return []  # code comes first
    suffix = path[path.rfind(".") :].casefold() if "." in path else ""
    found: list[Comment] = []
    source = text.split("\n", _LONGEST)
    for comment in comments(text, suffix if suffix in SUFFIXES else ".py"):
        last = found[-1].line if found else 0
        if comment.line > _LONGEST or any(line.strip() for line in source[last : comment.line - 1]):
            break
        found.append(comment)
    return found


def _mentions(lines: Sequence[Comment]) -> Iterator[Mention]:
    block = "\n".join(one.text for one in lines)
    starts = _offsets(lines)
    named: set[str] = set()
    for one in lines:
        for tag in TAG.findall(one.text):
            named.add(tag.strip())
            yield Mention(tag.strip(), "tag", one.line)
    for region in _regions(block):
        if region.spdx in named:
            continue
        named.add(region.spdx)
        words = len(block[region.start : region.end].split())
        evidence: Evidence = "text" if words >= 20 else "phrase"
        yield Mention(region.spdx, evidence, _line_at(lines, starts, region.start))
    joined = " ".join(block.split("\n"))  # one blank for each line end: offsets stay what they were
    for spdx, phrase in _compiled():
        match = phrase.search(joined)
        if match and not any(spdx in name for name in named) and not _superseded(spdx, named):
            named.add(spdx)
            yield Mention(spdx, "phrase", _line_at(lines, starts, match.start()))


@lru_cache(maxsize=512)  # the files of a project begin with the same words
def _regions(block: str) -> list[Region]:
    return detector()(block) if texts.RIGHTS.search(block) else []


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((spdx, re.compile(words, re.IGNORECASE)) for spdx, words in _PHRASES)


def _superseded(spdx: str, named: set[str]) -> bool:
    """A text of the same family says more precisely what a phrase only hints at."""
    family = spdx.partition("-")[0]
    return any(name.startswith(family) for name in named)


def _offsets(lines: Sequence[Comment]) -> list[int]:
    offsets, total = [], 0
    for one in lines:
        offsets.append(total)
        total += len(one.text) + 1
    return offsets


def _line_at(lines: Sequence[Comment], starts: Sequence[int], offset: int) -> int:
    return max((one.line for one, start in zip(lines, starts, strict=True) if start <= offset), default=1)


def _is_notice(text: str) -> bool:
    return bool(_NOTICE.search(text)) and copyright_line(text) is None and not _TERMS.search(text)
