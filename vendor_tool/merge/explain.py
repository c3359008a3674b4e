"""Says what a clash is about where that can be told: the same fix twice, layout only, code that went away."""

import re
from collections.abc import Sequence

_ASSIGNMENT = re.compile(rb"\s*(?P<key>[\w.\[\]\"']+)\s*(?::|=)\s*(?P<value>.*?)\s*,?\s*$")
_OFF = frozenset({b"False", b"0", b"None"})


def explain(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes], us: str, them: str) -> str:
    """Why `us` and `them` changed the same lines, for a person to decide by; empty where nothing is certain."""
    switched = _switched_off(base, ours, theirs, us, them) or _switched_off(base, theirs, ours, them, us)
    if switched:
        return switched
    if base and not theirs:
        return f"{them} removed the lines that {us} changes"
    for one, other, both in ((us, them, (ours, theirs)), (us, "", (base, ours)), (them, "", (base, theirs))):
        layout = _layout(*both)
        if layout and any(both[0]) and any(both[1]):
            return f"{one} and {other} differ in {layout} only" if other else f"{one} changes {layout} only"
    if base and not ours:
        return f"{us} removes lines that {them} changes"
    if _contains(base, ours, theirs):
        return f"{them} has the lines of {us} now, and changes more around them"
    return ""


def _switched_off(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes], us: str, them: str) -> str:
    """One side deletes `flag: True`, the other sets the flag to False."""
    before, mine, other = (_assignments(lines) for lines in (base, ours, theirs))
    for key, value in before.items():
        if key in mine or other.get(key) not in _OFF or value == other.get(key):
            continue
        name = key.decode(errors="replace")
        off = (other[key]).decode(errors="replace")
        return f"the same fix twice, spelled differently: {us} takes `{name}` out, {them} sets it to `{off}`"
    return ""


def _assignments(lines: Sequence[bytes]) -> dict[bytes, bytes]:
    matches = (_ASSIGNMENT.match(line.split(b"#")[0].rstrip()) for line in lines)
    return {match["key"]: match["value"] for match in matches if match}


def _layout(one: Sequence[bytes], other: Sequence[bytes]) -> str:
    if [line.rstrip(b"\r\n") for line in one] == [line.rstrip(b"\r\n") for line in other]:
        return "line ends"
    if b"".join(b"".join(one).split()) == b"".join(b"".join(other).split()):
        return "white space"
    tokens = _tokens(one)
    return "layout and comments" if tokens is not None and tokens == _tokens(other) else ""


def _tokens(lines: Sequence[bytes]) -> list[str] | None:
    """Python's tokens without layout and comments, nor commas before a closing bracket; None for other text."""
    import io
    import tokenize  # only a clash needs it

    layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
    try:
        source = io.StringIO(b"".join(lines).decode())
        found = [token.string for token in tokenize.generate_tokens(source.readline) if token.type not in layout]
    except (tokenize.TokenError, UnicodeDecodeError, SyntaxError):
        return None
    return [t for t, after in zip(found, [*found[1:], ""], strict=True) if not (t == "," and after in (")", "]", "}"))]


def _contains(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    """All that one side adds stands on the other, in this order, and all that it removes is gone there."""
    added = [line for line in ours if line not in base and line.strip()]
    removed = [line for line in base if line not in ours and line.strip()]
    rest = iter(theirs)
    return bool(added) and all(line in rest for line in added) and not any(line in theirs for line in removed)
