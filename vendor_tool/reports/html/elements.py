"""HTML elements out of text: whatever lock, upstream or patch wrote is text, never markup.

Only what this module makes is `Html`, so the type checker finds text that was not escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NewType
from urllib.parse import urlsplit

from vendor_tool.reports.wording import visible
from vendor_tool.urls import redacted

Html = NewType("Html", str)
"""Finished markup."""
NOTHING: Final = Html("")
BREAK: Final = Html("<br>")

# whoever writes the page takes credentials out once more, from `://` to `@` and behind `?`: these signs stand in the
# markup as numbers, so that no tag between two texts is taken for a part of an address
_SIGNS: Final = str.maketrans({"@": "&#64;", "?": "&#63;"})


def element(name: str, *content: Html, **attributes: str) -> Html:
    """One element. Attribute values are text; `class_` stands for `class`, an underscore elsewhere for a hyphen."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>{''.join(content)}</{name}>")


def text(words: str) -> Html:
    """Words as they are, without credentials, and without what would steer a terminal or reorder a line."""
    return Html(html.escape(redacted(visible(words))).translate(_SIGNS))


def block(words: str) -> Html:
    """A text of several lines in a fixed pitch, tabs as they are, lines without what some editors put at their ends."""
    plain = words.removeprefix("\ufeff").replace("\r\n", "\n").replace("\f", "")
    return element("pre", joined(map(text, plain.split("\t")), "\t"), tabindex="0")


def prose(words: str) -> Html:
    """A message: parts in back-ticks are code, lines stay lines."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return joined(map(text, words.split("\n")), BREAK)
    shown = [code(part) if at % 2 else joined(map(text, part.split("\n")), BREAK) for at, part in enumerate(parts)]
    return joined(shown)


def code(words: str) -> Html:
    """A name for machines, which may be broken behind each slash; nothing where there is none."""
    return element("code", Html(text(words).replace("/", "/<wbr>"))) if words else NOTHING


def short(revision: str) -> Html:
    """The beginning of a commit's id."""
    return element("code", text(revision[:12]), class_="short")


def link(words: Html, address: str | None) -> Html:
    """Words that lead to a page of the web; the words alone where the address is none, or of another scheme."""
    safe = _web(address) if address else None
    return element("a", words, href=safe) if safe else words


def address(words: str) -> Html:
    """An address that leads to itself, where it can."""
    return link(text(words), words)


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Parts one after the other; `between` is markup."""
    return Html(between.join(parts))


def lines(items: Iterable[Html]) -> Html:
    """Items of a table's cell, one below the other."""
    return joined(items, BREAK)


def listed(items: Iterable[Html]) -> Html:
    """A list; nothing where it would be empty."""
    found = [element("li", item) for item in items]
    return element("ul", *broken(found)) if found else NOTHING


def facts(pairs: Iterable[tuple[str, Html]]) -> Html:
    """Labels with their values; a label that comes several times in a row is given once."""
    found: list[Html] = []
    last = None
    for label, value in pairs:
        if label != last:
            found.append(element("dt", text(label)))
        found.append(element("dd", value))
        last = label
    return element("dl", *broken(found)) if found else NOTHING


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Html]]) -> Html:
    """A table whose first column names its rows; nothing where there is no row. One too wide can be scrolled.

    `caption` is prose.
    """
    body = [_row(cells) for cells in rows]
    if not body:
        return NOTHING
    head = element("tr", *(element("th", text(one), scope="col") for one in heads))
    whole = element(
        "table", element("caption", prose(caption)), element("thead", head), Html("\n"), element("tbody", *broken(body))
    )
    # what scrolls must be reached by keyboard, and then says what it is
    named = caption.replace("`", "")
    return element("div", whole, class_="wide", role="region", tabindex="0", aria_label=named)


def section(title: Html, name: str, *content: Html, level: int = 2) -> Html:
    """A part of the page with its heading, to be linked by its name; nothing where it would be empty."""
    if not any(content):
        return NOTHING
    head = element(f"h{level}", title, id=name)
    if level > 2:  # the parts of every upstream are called alike, so they are no landmarks
        return element("div", head, *broken(content))
    return element("section", head, *broken(content), aria_labelledby=name)


def _row(cells: Sequence[Html]) -> Html:
    first, *others = cells
    return element("tr", element("th", first, scope="row"), *(element("td", one) for one in others))


def broken(parts: Iterable[Html]) -> Iterator[Html]:
    """Each part on a line of its own, so that two pages can be compared."""
    yield Html("\n")
    for part in parts:
        if part:
            yield Html(f"{part}\n")


def _web(address: str) -> str | None:
    """The address without credentials where a browser may follow it."""
    shown = redacted(visible(address))
    try:
        parts = urlsplit(shown)
        host = parts.hostname
    except ValueError:
        return None
    return shown if parts.scheme in ("http", "https") and host and not any(c.isspace() for c in shown) else None
