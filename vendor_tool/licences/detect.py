"""The licence of a licence file: known texts, holders, lines that are neither. Sole user of licenseclassifier."""

import hashlib
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from vendor_tool.legal import Detection
from vendor_tool.licences import texts
from vendor_tool.licences.holders import copyright_line, holders, is_placeholder
from vendor_tool.patterns import pattern
from vendor_tool.values import replace


class Region(NamedTuple):
    """A part of a text that is a known licence's; character offsets."""

    spdx: str
    start: int
    end: int


class Detector(Protocol):
    """Finds the parts of a text that are known licences."""

    def __call__(self, text: str, /) -> list[Region]: ...


TAG: Final = pattern(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+()\- ]+)", re.IGNORECASE)
_OWN: Final = pattern("|".join(f"(?:{one})" for one in texts.OWN_LINES), re.IGNORECASE)
_RULE: Final = pattern(r"[\W_]*\Z")
_WORD: Final = pattern(r"\w+")
_BARE_GPL: Final = pattern(r"(?:A|L)?GPL-\d\.\d\Z")
_LONGEST: Final = 500_000  # letters; the longest licences have a tenth of that
# a text of which less is known is somebody's prose about licences
_LEAST_COVERAGE: Final = 40.0


@lru_cache(maxsize=512)
def detect(text: str) -> Detection:
    """What a licence file says: SPDX expression, holders, and the lines that no known text accounts for.

    The expression is None where nothing was recognised or where most of the text is something else. Several texts in
    one file are joined by AND: all of them have to be kept.
    """
    if len(text) > _LONGEST:
        cut = detect(text[:_LONGEST])
        return replace(cut, extra=(*cut.extra, "(the text is longer than any licence)"))
    exact = known_texts(text)
    beside = _extra(text, exact) if exact else []
    # most licence files are one of a few texts to the word: then the matcher need not be loaded, unless what stands
    # beside the text may be another licence
    sure = bool(exact) and not any(texts.RIGHTS.search(line) for line in beside)
    regions = exact if sure else [one for one in detector()(text) if _substantial(text, one)]
    if not regions:
        return _from_tag(text)
    coverage = 100.0 if sure and not beside else _coverage(text, regions)
    names = " AND ".join(sorted({_BARE_GPL.sub(r"\g<0>-only", one.spdx) for one in regions}))
    lines = [found for found in map(copyright_line, text.splitlines()) if found]
    return Detection(
        spdx=names if coverage >= _LEAST_COVERAGE else None,
        coverage=coverage,
        holders=holders(text),
        extra=tuple(_extra(text, regions)),
        evidence="text",
        template=bool(lines) and all(is_placeholder(one) for one in lines),
    )


def detector() -> Detector:
    """The installed matcher, or the short list of known texts that ships with the tool."""
    return classifier if find_spec("licenseclassifier") else known_texts


def classifier(text: str) -> list[Region]:
    """The regions that `licenseclassifier` finds. Its own threshold is off: a long preamble would hide a licence."""
    from licenseclassifier import identify_license

    return [Region(one.id, one.start, one.end) for one in identify_license(text, 0.0)]


def known_texts(text: str) -> list[Region]:
    """The regions whose words are exactly those of a text listed in `data/texts.txt`, whatever their layout."""
    words = [(match.group().casefold(), match.start(), match.end()) for match in _WORD.finditer(text)]
    plain = [word for word, _start, _end in words]
    found: list[Region] = []
    for spdx, opening, count, digest in _known():
        for first in range(len(plain) - count + 1):
            if plain[first : first + len(opening)] == opening and _digest(plain[first : first + count]) == digest:
                found.append(Region(spdx, words[first][1], words[first + count - 1][2]))
    return sorted(found, key=lambda one: one.start)


def fingerprint(terms: str) -> tuple[int, str]:
    """Number of words of a licence's terms, and the digest of them: what a line of `data/texts.txt` holds."""
    words = [match.group().casefold() for match in _WORD.finditer(terms)]
    return len(words), _digest(words)


@lru_cache(maxsize=1)
def _known() -> list[tuple[str, list[str], int, str]]:
    lines = Path(__file__).with_name("data").joinpath("texts.txt").read_text("utf-8").splitlines()
    rows = [line.split(maxsplit=3) for line in lines if line and not line.startswith("#")]
    return [(spdx, opening.split(), int(count), digest) for spdx, count, digest, opening in rows]


def _digest(words: list[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _substantial(text: str, region: Region) -> bool:
    """A bare name or a link is a mention, not a licence."""
    return len(_WORD.findall(text[region.start : region.end])) >= 30


def _from_tag(text: str) -> Detection:
    tags = sorted({found.strip() for found in TAG.findall(text)})
    return Detection(
        spdx=" AND ".join(tags) if tags else None,
        coverage=0.0,
        holders=holders(text),
        evidence="tag" if tags else None,
    )


def _coverage(text: str, regions: list[Region]) -> float:
    total = len(_WORD.findall(text))
    known = sum(len(_WORD.findall(text[one.start : one.end])) for one in regions)
    return round(100 * known / total, 1) if total else 0.0


def _extra(text: str, regions: list[Region]) -> list[str]:
    """Lines outside the terms of every region that are neither holder, title, rule nor advice."""
    terms = [span for region in regions for span in _terms(text, region)]
    advice = [hit for one in regions if (words := texts.advice(one.spdx)) and (hit := words.search(text))]
    found: list[str] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        start, offset = offset, offset + len(line)
        left = _outside(text, start, offset, terms)
        if left and not any(start >= one.start() for one in advice if one.start() > terms[0][0]) and not _ours(left):
            found.append(left)
    return found


def _terms(text: str, region: Region) -> list[tuple[int, int]]:
    """The parts of a region that are surely the licence's: a matcher also swallows what stands among the holders."""
    words = texts.body(region.spdx)
    opening = words.search(text, region.start, region.end) if words else None
    start = opening.start() if opening else region.start
    if region.spdx != "Apache-2.0":
        return [(start, region.end)]
    end = texts.APACHE_END.search(text, start, region.end)
    header = texts.APACHE_HEADER.search(text, end.end(), region.end) if end else None
    if end is None or header is None:
        return [(start, region.end)]
    return [(start, end.end()), (header.start(), region.end)]


def _outside(text: str, start: int, end: int, terms: list[tuple[int, int]]) -> str:
    pieces = [text[start:end]]
    for first, last in terms:
        if first < end and last > start:
            pieces = [text[start : max(first, start)], text[min(last, end) : end]]
            break
    left = " ".join(piece.strip() for piece in pieces).strip()
    return "" if _RULE.match(left) else left


def _ours(line: str) -> bool:
    """Whether a line outside the terms is a usual part of a licence file."""
    plain = line.strip(" \t#*/;%-=!\"'<>`_")
    return bool(
        copyright_line(line) or is_placeholder(line) or _OWN.fullmatch(plain) or texts.APACHE_ADVICE.search(plain)
    )
