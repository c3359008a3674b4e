"""What the well-known licence texts look like: where their terms begin, and which lines around them are theirs too."""

import re
from typing import Final

from vendor_tool.patterns import pattern

# the first words of the terms: what stands before them in a recognised text is title, holders, or an addition
BODY: Final = {
    "Apache-2.0": r"terms and conditions for use|\b1\.\s+definitions|licensed under the apache license",
    "MIT": r"permission is hereby granted",
    "MIT-0": r"permission is hereby granted",
    "X11": r"permission is hereby granted",
    "BSD": r"redistribution and use",
    "ISC": r"permission to use, copy",
    "0BSD": r"permission to use, copy",
    "Unlicense": r"this is free and unencumbered",
    "Zlib": r"this software is provided",
    "MPL-2.0": r"1\.\s+definitions",
    "BSL-1.0": r"permission is hereby granted",
    "PSF": r"1\.\s+this license agreement",
    "Python": r"1\.\s+this license agreement",
}

# lines of the texts themselves that a matcher leaves outside the terms
OWN_LINES: Final = (
    r"(?:the\s+)?(?:mit|isc|x11|zlib|apache|bsd|boost software|mozilla public|academic free|unlicense|expat)\b"
    r"[\w\s./,()\"'-]{0,40}licen[cs]e[\s\w.,():/-]{0,40}",
    r"(?:simplified |new |modified |revised )?bsd (?:[23]|two|three)-clause [\"'“]?.{0,40}",
    r"(?:bsd|mit|isc|apache)(?: [23]-clause| 2\.0)? licen[cs]e",
    r"boost software license - version 1\.0 - .{3,6} 17th,? 2003",
    r"(?:gnu (?:lesser |affero |library )?general public license|mozilla public license,? version \d.*)",
    r"creative commons (?:legal code|cc0 1\.0 universal)?",
    r"cc0 1\.0 universal",
    r"version \d(?:\.\d)*,? [a-z]+ \d{4}",
    r"https?://(?:www\.)?(?:apache\.org/licenses/?|opensource\.org/\S*|spdx\.org/\S*|mit-license\.org/?)(?:\S*)?",
    r"portions copyright .*",
    r"all rights reserved\.?",
    r"end of terms and conditions",
    r"licen[cs]e(?:\s+(?:text|agreement))?:?",
    r"spdx-\S+:.*",
)

# the advice of the GPL family and of Creative Commons about how to use the text is no term
_ADVICE: Final = {
    "GPL": r"how to apply these terms to your new programs",
    "CC": r"creative commons corporation is not a law firm",
}

# without one of these words no licence is named, and the matcher need not be asked
RIGHTS: Final = pattern(r"licen[cs]e|copyright|permission|redistribut|warrant", re.IGNORECASE)

APACHE_ADVICE: Final = pattern(
    r"appendix: how to apply|to apply the apache license to your work|boilerplate notice, with the fields|"
    r"replaced with your own identifying|the brackets!|comment syntax for the file format|"
    r"file or class name and description|same \"?printed page\"? as the copyright|"
    r"identification within third-party archives|do(?:n't| not) include",
    re.IGNORECASE,
)
APACHE_END: Final = pattern(r"end of terms and conditions", re.IGNORECASE)
APACHE_HEADER: Final = pattern(r"licensed under the apache license", re.IGNORECASE)


def body(spdx: str) -> re.Pattern[str] | None:
    """The first words of a licence's terms; None where we know none."""
    family = "BSD" if re.match(r"BSD-[1-4]", spdx) else spdx.partition("-")[0]
    words = BODY.get(spdx) or BODY.get(family)
    return re.compile(words, re.IGNORECASE) if words else None


def advice(spdx: str) -> re.Pattern[str] | None:
    """Words that open the part of a text, outside its terms, that speaks to authors."""
    for family, words in _ADVICE.items():
        if spdx.startswith((family, "L" + family, "A" + family)):
            return re.compile(words, re.IGNORECASE)
    return None
