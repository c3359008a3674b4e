"""An HTML page as a strict parser reads it, and what makes it sound for people, screen readers and printers."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

import html5lib

Page: TypeAlias = Element
"""The document's root element."""
ACTIVE = {
    "script",
    "img",
    "iframe",
    "object",
    "embed",
    "link",
    "base",
    "form",
    "svg",
    "math",
    "video",
    "audio",
    "input",
}


@lru_cache(maxsize=8)  # a strict parser takes its time
def read(page: str) -> Page:
    """The page's tree; html5lib raises for every mistake that a browser would mend in silence."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: Page = parser.parse(page)
    return tree


def words(node: Element) -> str:
    """Everything that is read, with single blanks."""
    return " ".join("".join(node.itertext()).split())


def rows(table: Element) -> list[list[str]]:
    """The cells of a table's body."""
    return [[words(cell) for cell in row] for row in table.iterfind("tbody/tr")]


def table(page: Page, caption: str) -> list[list[str]]:
    """The rows of the table with this caption."""
    (found,) = [one for one in page.iter("table") if words(one[0]) == caption]
    return rows(found)


def section(page: Page, name: str) -> str:
    """What is read in a part of the page."""
    (found,) = [one for one in page.iter() if len(one) and one[0].get("id") == name and str(one[0].tag)[0] == "h"]
    return words(found)


def problems(page: Page) -> Iterator[str]:
    """What keeps a page from being whole by itself, harmless, and usable without eyes or mouse."""
    if page.get("lang") != "en" or not words(page.find("head/title") or page):
        yield "no language or no title"
    ids = [name for one in page.iter() if (name := one.get("id"))]
    yield from (f"two elements are `{one}`" for one in sorted(set(ids)) if ids.count(one) > 1)
    levels = [int(one.tag[1]) for one in page.iter() if re.fullmatch("h[1-6]", str(one.tag))]
    if levels.count(1) != 1 or any(after > before + 1 for before, after in pairwise(levels)):
        yield f"headings of levels {levels}"
    places = [one.get("aria-label") or words(one[0]) for one in page.iter() if one.get("role") or one.tag == "section"]
    yield from (f"two places are called `{one}`" for one in sorted(set(places)) if places.count(one) > 1)
    for one in page.iter():
        yield from _problems(one, ids)


def _problems(one: Element, ids: list[str]) -> Iterator[str]:
    if one.tag in ACTIVE or any(name.startswith("on") or name in ("src", "style") for name in one.attrib):
        yield f"`{one.tag}` with {one.attrib} loads or does something"
    target = one.get("href")
    if target is not None:
        inside = target.startswith("#") and target[1:] in ids
        if not inside and (urlsplit(target).scheme not in ("http", "https") or "@" in target):
            yield f"a link to `{target}`"
        if not words(one):
            yield f"a link to `{target}` without words"
    if one.tag == "table":
        heads = [cell.get("scope") for cell in one.iterfind("thead/tr/th")]
        names = [row[0].tag for row in one.iterfind("tbody/tr")]
        widths = {len(row) for row in one.iterfind("tbody/tr")} | {len(heads)}
        if one[0].tag != "caption" or set(heads) != {"col"} or set(names) != {"th"} or len(widths) != 1:
            yield f"table `{words(one)[:40]}` has no caption, no heads, or rows of several lengths"
    if one.tag == "section" and (
        one.get("aria-labelledby") not in ids or one[0].get("id") != one.get("aria-labelledby")
    ):
        yield "a part without a heading"
