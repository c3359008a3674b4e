"""Words that many messages share."""

PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-")


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `3 patches`."""
    plural = {"patch": "patches"}.get(noun, f"{noun}s")
    return f"{number} {noun}" if number == 1 else f"{number} {plural}"


def command(*words: str) -> str:
    """A command line of these words to paste into a shell: upstream's paths and branches are words, never code."""
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """One word for a POSIX shell. What a terminal would obey becomes an escape in `$'...'`, as bash and zsh read it.

    The answer is one printable line, so that `visible` changes nothing of it.
    """
    if word and PLAIN.issuperset(word):
        return word
    if word.isprintable():
        return "'" + word.replace("'", "'\"'\"'") + "'"
    return "$'" + "".join("\\" + c if c in "\\'" else c if c.isprintable() else _ansi(c) for c in word) + "'"


def _ansi(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a name that is not UTF-8
        number -= 0xDC00
        return f"\\{number:03o}"
    # octal and \u end after a fixed count of digits: what follows is never taken in
    if number < 0x80:
        return f"\\{number:03o}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def loss(lacks: int | None, new: str) -> str | None:
    """How many commits of a pin the revision `new` lacks, None for an unknown number; None where it has them all."""
    if lacks is None:
        return f"whether `{new[:12]}` has all commits of the pin is not known"
    return f"the pin has {count(lacks, 'commit')} that `{new[:12]}` lacks" if lacks else None


def visible(text: str, kept: str = "\n") -> str:
    """Text with every character that a terminal would obey, not show, written as an escape; those of `kept` stay.

    Upstream paths and comments end up in messages: an escape sequence or a bidirectional mark in one must not
    recolour, hide or reorder what a reviewer reads, nor give orders to the runner that copies the log.
    """
    if text.isprintable() and "##" not in text:
        return text
    # GitHub's and Azure's runners obey these wherever they stand in a line
    text = text.replace("##[", "##\\x5b").replace("##vso[", "##vso\\x5b")
    return "".join(c if c.isprintable() or c in kept else _escape(c) for c in text)


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
