"""The words that claim an origin, and the words around them that do not."""

import re
from typing import Final

from vendor_tool.patterns import pattern

_ADVERB = (
    r"(?:heavily|partly|partially|mostly|lightly|slightly|originally|directly|loosely|largely|initially|verbatim|"
    r"minimally|mainly|shamelessly|code|also|then|further|literally)"
)
_VERB = (
    r"(?:cop(?:y|ied)|adapt(?:ed|ation)?|adopted|modif(?:y|ied)|modification|edited|taken|borrowed|port(?:ed)?|vendored|"
    r"forked|derived|extracted|lifted|translated|converted|backport(?:ed)?|cherry-?picked|pulled|reused|"
    r"re-?implement(?:ation|ed)|rewritten|stolen|sourced|refactored|simplified|optimi[sz]ed|extended)"
)
_JOIN = r"(?:\s*(?:,|/|&|\band\b|\bor\b|\bthen\b)+\s*)"
_AFTER = (
    r"(?:\s+(?:verbatim|directly|as[- ]is|unchanged|over|in\s+part|code|files?|version|wholesale|"
    r"with\s+(?:minor\s+)?(?:modifications?|changes)|\(with[^)]{0,40}\)))*"
)

STRONG: Final = pattern(
    rf"(?<![\w'’-])(?:{_ADVERB}\s+)*(?P<verb>{_VERB}(?:{_JOIN}(?:{_ADVERB}\s+)*{_VERB})*){_AFTER}"
    rf"\s*\(?(?P<prep>\bfrom\b|\bof\b|:(?=\s*https?://))\s*:?",
    re.IGNORECASE,
)
# what these are "from" is as often a variable as a file
LOOSE: Final = pattern(r"derived|extracted|translated|converted|pulled|picked|reused|sourced|simplified|implement")
BASED: Final = pattern(
    r"(?<![\w-])(?P<verb>based)\s+(?:(?:heavily|loosely|largely|partly)\s+)?(?:up)?on\b\s*:?", re.IGNORECASE
)
PORTIONS: Final = pattern(
    r"(?P<verb>(?:portions?|parts?|some|most|much) of (?:this|the) (?:code|file|module|implementation)s?"
    r"(?:\s+(?:below|here))?\s+(?:is|are|was|were|come|comes)(?:\s+(?:taken|adapted|copied))?)\s+from\b\s*:?",
    re.IGNORECASE,
)
LABEL: Final = pattern(
    r"^\W*(?P<verb>original\s+(?:source|code|implementation|file|version)|source(?:\s+code)?|code\s+source|"
    r"upstream(?:\s+(?:source(?:\s+tree)?|file|project|references?|implementation))?|origin|from)\s*(?::|(?=https?://)|\s(?=https?://))",
    re.IGNORECASE,
)
REFERENCE: Final = pattern(
    r"(?<![\w-])(?P<verb>inspired\s+(?:by|from)|references?(?:\s+(?:implementation|code))?|ref(?:\s+code)?|see(?:\s+also)?|"
    r"following|follows|refer\s+to|described\s+in|according\s+to|similar\s+to|cf\.?)\b\s*(?:from|in|at|to|:|\.)?\s*",
    re.IGNORECASE,
)
HOP: Final = pattern(r"\b(?:which|that|itself|who|in\s+turn)\b[^.]{0,30}$", re.IGNORECASE)
RENAMES: Final = pattern(r"\bwith\s+((?:[\w.]+\s*->\s*[\w.]+\s*(?:,|and)?\s*)+)")
RENAME: Final = pattern(r"([\w.]+)\s*->\s*([\w.]+)")
ARROW: Final = pattern(r"^\W*([\w./+-]+\.\w+)\s*<-+\s*([\w./+-]+\.\w+)")
TABLE_HEAD: Final = pattern(r"local file\s{2,}upstream file(?:\s*\(([^)]+)\))?", re.IGNORECASE)
TABLE_ROW: Final = pattern(r"^\W*([\w./+-]+\.\w+)\W+\s\W*([\w./+-]+\.\w+)\W*$")
REVISION: Final = pattern(
    r"(?:\b(?:at|commit|revision|rev|sha|hash)\b\W{0,4}|@\s?)([0-9a-f]{7,40})(?![0-9a-zA-Z])", re.IGNORECASE
)
LICENSE: Final = pattern(
    r"\b(Apache[- ](?:License,?\s*)?(?:Version\s*)?2(?:\.0)?|MIT(?=\W|$)|BSD[- ]?[23][- ]Clause|BSD(?=\s+licen)|"
    r"MPL[- ]2\.0|ISC(?=\s+licen)|LGPL[- ]?v?\d(?:\.\d)?|GPL[- ]?v?\d(?:\.\d)?)\b",
    re.IGNORECASE,
)
SNIPPET: Final = pattern(r"SPDX-SnippetBegin", re.IGNORECASE)
SNIPPET_LICENSE: Final = pattern(r"SPDX-License-Identifier:\s*(.+)", re.IGNORECASE)
SNIPPET_HOLDER: Final = pattern(r"SPDX-SnippetCopyrightText:\s*(.+)", re.IGNORECASE)

# sentences of licences that are full of the verbs
BOILERPLATE: Final = pattern(
    r"obtain a copy of the license|copies of the software|copy of this software|redistributions? (?:of|in)|"
    r"derived from this software|substantial portions|without specific prior written|to use, copy, modify|"
    r"license for the specific|permission notice|derivative works|required by applicable law|may not use this file",
    re.IGNORECASE,
)


def _any(*words: str) -> re.Pattern[str]:
    return pattern("|".join(map(re.escape, words)))


# of a line in lower case: one without any of these holds no verb
_STEMS: Final = (
    "based on", "based upon", "based heavily", "based loosely", "based largely", "based partly", "portion",
    "part of the", "parts of the", "parts of this", "some of", "most of", "much of", "original source",
    "original code", "original impl", "original file", "original version", "upstream", "spdx-snippetbegin", "://",
)  # fmt: skip
# these are verbs of an origin only in a line that says from, or of, or has a link: code is full of them otherwise
_STRONG_STEMS: Final = (
    "copied", "copy", "adapt", "adopted", "modif", "edited", "taken", "borrow", "ported", "port from", "port of",
    "vendored", "forked", "derived", "extracted", "lifted", "translated", "converted", "picked", "pulled", "reused",
    "implement", "rewritten", "stolen", "sourced", "refactored", "simplified", "optimi", "extended",
)  # fmt: skip
STEMS: Final = _any(*_STEMS)
SPOKEN_STEMS: Final = _any(*_STEMS, *_STRONG_STEMS)
# in the licence header of nearly every file there is
USUAL: Final = _any("copy of the license", "apache.org/licenses", "opensource.org/licenses")
# words of STEMS without a preposition; the first needs no link
WEAK: Final = ("spdx-snippetbegin", "based", "portion", "original ", "upstream")
# of a text in lower case
TABLES: Final = pattern(r"<-+ ?[\w./+-]+\.\w|local file\s")
TABLE_SIGNS: Final = ("<-", "local file")


def license_id(words: str) -> str:
    """The SPDX identifier of a licence as people write it in a sentence."""
    plain = words.casefold().replace(" ", "-")
    if plain.startswith("apache"):
        return "Apache-2.0"
    if plain.startswith("bsd"):
        number = re.search(r"[23]", plain)
        return f"BSD-{number[0]}-Clause" if number else "BSD-3-Clause"
    return {"mit": "MIT", "mpl-2.0": "MPL-2.0", "isc": "ISC"}.get(plain, words)
