"""Plain data as YAML text, in the one form that this tool writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

WIDTH = 110

# safe without quotes in YAML 1.1 and 1.2: begins with a letter, `/` or `_`, holds nothing that YAML gives a meaning
_PLAIN = re.compile(r"[A-Za-z_/0-9][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+()-]+)*")
# what some reader takes for a number (octal, sexagesimal, infinity), a date, a truth value or nothing
AMBIGUOUS = re.compile(
    r"[-+.]?[0-9][0-9_,.]*(?:[eE][-+]?[0-9]*)?|0[xob][0-9a-fA-F_]+|[0-9-]+(?:[Tt ].*)?|\.(?:inf|nan)"
    r"|y|n|yes|no|on|off|true|false|null|none|nan|inf|~",
    re.IGNORECASE,
)
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def scalar(value: Any) -> str:
    """One value on one line. Text that any YAML reader could take for something else is quoted."""
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    # YAML 1.1 takes `2e-05` for text: a number needs its point
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


@lru_cache(maxsize=64)  # the same few of every record
def _key(name: str) -> str:
    return scalar(name)


def _text(value: str) -> str:
    if value == "none" or (_PLAIN.fullmatch(value) and not AMBIGUOUS.fullmatch(value)):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _SPECIAL.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def flow(value: Any) -> str:
    """Any plain data on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def block(value: Any, indent: int) -> list[str]:
    """Lines of a non-empty map or list in block form; each line begins with `indent` spaces."""
    pad = " " * indent
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str):
                lines += _lines(f"{pad}{_key(key)}:", item, indent)
            else:
                lines += _entry(f"{pad}{_key(key)}:", item, indent)
        return lines
    for item in value:
        if isinstance(item, Mapping) and item and (len(item) > 2 or _wide(item, WIDTH - indent)):
            inner = block(item, indent + 2)
            lines += [f"{pad}- {inner[0][indent + 2 :]}", *inner[1:]]
        else:
            lines.append(f"{pad}- {flow(item)}")
    return lines


def _wide(value: Any, room: int) -> bool:
    """Whether a value is better laid out over several lines than on one."""
    line = flow(value)
    return len(line) > room or "\\n" in line


def _lines(head: str, text: str, indent: int) -> list[str]:
    """A text behind its key; one of several lines that YAML would give back as they are stands line by line."""
    if "\n" not in text:
        return [f"{head} {_text(text)}"]
    parts = text.split("\n")
    plain = parts[0][:1].strip() and parts[-1] and all(part.isprintable() and part == part.rstrip() for part in parts)
    if not plain:
        return [f"{head} {_text(text)}"]
    return [f"{head} |-", *(f"{' ' * (indent + 2)}{part}".rstrip() for part in parts)]


def _entry(head: str, item: Any, indent: int) -> list[str]:
    if not isinstance(item, Mapping | list | tuple):
        return [f"{head} {scalar(item)}"]
    if item and (isinstance(item, Mapping) or _of_maps(item)):
        return [head, *block(item, indent + 2)]
    line = f"{head} {flow(item)}"
    return [head, *block(item, indent + 2)] if item and len(line) > WIDTH else [line]


def _of_maps(item: Any) -> bool:
    return any(isinstance(part, Mapping | list | tuple) for part in item)
