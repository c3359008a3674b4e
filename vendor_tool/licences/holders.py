"""Copyright lines: which lines of a text name a holder, and which only speak of copyright."""

import re

from vendor_tool.patterns import pattern

_MARK = r"(?:copyrights?\b|©|\(c\)(?=\s*(?:copyright|\d{4}))|spdx-filecopyrighttext:|spdx-snippetcopyrighttext:)"
_LINE = pattern(rf"^[^\w©(\[]*(?P<all>{_MARK}\s*:?\s*(?P<rest>.*\S))\s*$", re.IGNORECASE)
_SIGN = pattern(r"^(?:copyright\s*)?(?:\((?:c|C)\)|©|&copy;)\s*", re.IGNORECASE)
_YEAR = pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NAME = pattern(r"^(?:by\s+)?[^\W\d_][\w.&'’-]*", re.UNICODE)
# "copyright" opens a sentence of these words, never a holder's name
_PROSE = pattern(
    r"^(?:and|or|in|as|of|to|for|on|is|are|the\s+(?:above|following)|holders?|owners?|owned|notices?|licen[cs]es?|laws?|"
    r"statements?|interests?|permission|disclaimers?|headers?|protection|protected|lines?|text|status|information|"
    r"infringement|claims?|rights?|file|years?|check\w*|update\w*|terms|treaty|control|act|patent|trademark|here|"
    r"symbol|comments?|blocks?|banner|string|ownership|assignments?|mark\w*|attribution|provisions?|section)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = pattern(
    r"\[(?:yyyy|year|fullname|name of copyright owner)\]|"
    r"<(?:year|owner|name of author|copyright holders?|organization)>|"
    r"\{(?:yyyy|year|name of copyright owner)\}|\byyyy\b",
    re.IGNORECASE,
)
_TRAIL = pattern(r"\s*(?:\*/|-->|#+|\*+)\s*$")


def copyright_line(line: str) -> str | None:
    """The line without comment marks if it names a holder or is a template's line for one, else None."""
    found = _LINE.match(line)
    if not found:
        return None
    text = _TRAIL.sub("", found["all"]).strip()
    rest = _TRAIL.sub("", found["rest"])
    if _PLACEHOLDER.search(rest):
        return text
    sign = _SIGN.match(rest)
    body = rest[sign.end() :] if sign else rest
    if _PROSE.match(body) or not body:
        return None
    if _YEAR.search(body):
        return text
    named = _NAME.match(body)
    # with neither year nor sign only a capital letter tells a name from a sentence
    return text if named and (sign or text[0] == "©" or body[0].isupper()) and not _shouting(text) else None


def holders(text: str) -> tuple[str, ...]:
    """Every line of a text that names a copyright holder, once, in the order of the text; placeholders left out."""
    found = (copyright_line(line) for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in found if line and not is_placeholder(line)))


def is_placeholder(line: str) -> bool:
    """Whether a copyright line is a licence template's own, with no holder filled in."""
    return _PLACEHOLDER.search(line) is not None


def _shouting(text: str) -> bool:
    """The disclaimers in capitals: COPYRIGHT HOLDERS BE LIABLE."""
    return text.isupper() and len(text.split()) > 3
