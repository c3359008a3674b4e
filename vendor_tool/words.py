"""Words that many messages share."""


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `3 patches`."""
    plural = {"patch": "patches"}.get(noun, f"{noun}s")
    return f"{number} {noun}" if number == 1 else f"{number} {plural}"


def visible(text: str, kept: str = "\n") -> str:
    """Text with every character that a terminal would obey, not show, written as an escape; those of `kept` stay.

    Upstream paths and comments end up in messages: an escape sequence or a bidirectional mark in one must not
    recolour, hide or reorder what a reviewer reads.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escape(c) for c in text)


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
