"""Which files of an upstream are its licence and its NOTICE, told by their names."""

import re
from collections.abc import Collection
from typing import NamedTuple

from vendor_tool.patterns import pattern

_TEXT = r"(?:\.(?:txt|md|rst|markdown|html))?"
_SOURCE = r"(?!.*\.(?:pyi?|c|h|cc|cpp|js|ts|go|rs|json|ya?ml|toml)\Z)"
_LICENSE = pattern(
    rf"{_SOURCE}(?:licen[cs]e|copying|unlicen[cs]e)(?P<kind>[-_.][\w.+-]+)?{_TEXT}\Z",
    re.IGNORECASE,
)
_NOTICE = pattern(rf"notices?{_TEXT}\Z", re.IGNORECASE)
_OTHER = pattern(
    r"(?:third[-_ ]?party[-_ ]?(?:notices?|licen[cs]es?)|(?:notices?|licen[cs]es?)[-_ ]third[-_ ]?party|"
    rf"patents|copyrights?){_TEXT}\Z",
    re.IGNORECASE,
)
_ORDER = ("license", "licence", "copying", "unlicense")


class Legal(NamedTuple):
    """The legal files that speak for a folder, as upstream paths."""

    license: str | None
    notice: str | None
    others: tuple[str, ...]


def find_legal(listing: Collection[str], below: str) -> Legal:
    """The licence and NOTICE nearest to the folder `below`, looked for upwards to the root, whatever their case.

    `others` are further legal files of the folders passed on the way: second licences, third-party notices, and
    what a `LICENSES` folder holds.
    """
    folders = _upwards(below)
    rank = {folder: place for place, folder in enumerate(folders)}
    licenses: list[tuple[int, int, str, str]] = []
    notices: list[tuple[int, str, str]] = []
    others: list[str] = []
    for path in listing:
        folder, _, name = path.rpartition("/")
        if folder.rpartition("/")[2] == "LICENSES" and folder.rpartition("/")[0] in rank:
            others.append(path)
        elif folder not in rank:
            continue
        elif _OTHER.match(name):
            others.append(path)
        elif _NOTICE.match(name):
            notices.append((rank[folder], name.casefold(), path))
        elif found := _LICENSE.match(name):
            licenses.append((rank[folder], _preference(name, found["kind"]), name.casefold(), path))
    # the layout of REUSE has no file at the top: the first text of its folder speaks for the project
    reuse = sorted(one for one in others if one.rpartition("/")[0].rpartition("/")[2] == "LICENSES")
    best = min(licenses)[3] if licenses else next(iter(reuse), None)
    notice = min(notices)[2] if notices else None
    others = [one for one in others if one != best]
    others += [one[3] for one in licenses if one[3] != best] + [one[2] for one in notices if one[2] != notice]
    return Legal(best, notice, tuple(sorted(others)))


def _upwards(folder: str) -> list[str]:
    folder = folder.strip("/")
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found


def _preference(name: str, kind: str | None) -> int:
    """Plain LICENSE before LICENCE and COPYING, all of them before LICENSE-MIT and its kind."""
    stem = re.split(r"[-_.]", name.casefold())[0]
    base = _ORDER.index(stem) if stem in _ORDER else len(_ORDER)
    plain = kind is None or re.fullmatch(r"\.(?:txt|md|rst|markdown|html)", kind, re.IGNORECASE)
    return base if plain else base + len(_ORDER) + 1
